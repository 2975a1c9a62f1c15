"""`python -m fieldtruth` is the command line."""

from fieldtruth.cli import main

main()
