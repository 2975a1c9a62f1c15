"""An ablation: models trained alike but for one thing, asked the same, and set side by side.

settings   the recipe: rows, what they share, the benchmarks they are asked about
doing      one row with one seed: trained, asked, scored, and kept in a small folder
kept       what is kept of a row, and of the benchmarks
table      values, paired differences, controls: of all that is done
seeds      what the seeds of a row say together
summary    the table as JSON, in Markdown and as a page; view is what that page shows

Each row that is done stands for itself: a second process takes the next one, and whoever has the
folder of rows goes on from there. The table is made from that folder alone.
"""

from fieldtruth.run.ablation.doing import Done, do, told_of
from fieldtruth.run.ablation.settings import Ablation, Opened, read
from fieldtruth.run.ablation.summary import line, summarise

__all__ = ["Ablation", "Done", "Opened", "do", "line", "read", "summarise", "told_of"]
