"""Compose: annotated targets and healthy photos become what is asked about them.

sources    what a source's folder holds; a photo's group and split
pools      the names that may stand beside each other in a list
items      one benchmark item a record, with both ways of asking
training   one example a positive, and the share of prompts whose right answer is empty
negatives  the photos on which nothing that is asked can be
"""

from fieldtruth.stages.compose.items import REASONS, compose
from fieldtruth.stages.compose.sources import SHARES, Labelled, keyed_split, slim
from fieldtruth.stages.compose.training import TRAINING_REASONS, Mix, Mixed, mix

__all__ = [
    "REASONS", "SHARES", "TRAINING_REASONS", "Labelled", "Mix", "Mixed", "compose", "keyed_split",
    "mix", "slim",
]  # fmt: skip
