"""Names of what is wrong with a plant, and when two of them are one thing.

One label identity (design, section 2, rule 9): prompts, answers, candidate lists, truth and
scoring all meet in `label_id`.

    spelling    one form for every way a name is written; the crops' other names
    synonyms    what we know about names and the data do not say
    data        the shipped labels with kind, hosts, organisms, synonyms, sources
    resolve     from a name to its label, and why
    conflicts   what may stand beside what in a list; the lenient rule for open answers
    prompts     what a detector is asked for, with the organ and the look of the symptom
    giveaways   words of an answer that stand in a question
    collisions  one name, two meanings: where the sources disagree
    lexicon     which crops, pests, measures ... the words of a question or an answer name
    wordlists   the lists behind it
    build       makes the shipped file from the gathered vocabularies
"""

from fieldtruth.taxonomy.conflicts import akin, conflict, rivals, same
from fieldtruth.taxonomy.data import Label, label, names
from fieldtruth.taxonomy.resolve import Resolution, crop_id, label_id, resolve
from fieldtruth.taxonomy.spelling import CROPS, normalise
from fieldtruth.taxonomy.synonyms import SYNONYMS

__all__ = [
    "CROPS", "SYNONYMS", "Label", "Resolution", "akin", "conflict", "crop_id", "label", "label_id",
    "names", "normalise", "resolve", "rivals", "same",
]  # fmt: skip
