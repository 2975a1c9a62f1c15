"""`fieldtruth` and `python -m fieldtruth`: the command line, and a Ctrl-C while it still loads."""

import sys


def main() -> None:
    """Run the command line; ends the process with the exit code the design gives."""
    try:
        from fieldtruth import cli

        cli.main()
    except KeyboardInterrupt:  # once a command runs, it is the command line that answers it
        sys.stderr.write(
            "fieldtruth: interrupted; nothing was begun. Give the same command again\n"
        )
        sys.exit(130)


if __name__ == "__main__":
    main()
