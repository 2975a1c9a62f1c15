"""Files that can be trusted: records whole or not at all, locks, journals, frozen benchmarks.

lines      JSONL read and written as records; one broken line is one clear error
any_rows   rows of any JSON, where a bad one is told and reading goes on
explain    why a line is not the record it should be
licences   what a licence is called elsewhere, and what it lets be handed on
journal    work that goes on after a crash
locks      one process at a time
room       a disk that takes no more
folders    a folder made whole or not at all
paths      paths from outside stay inside their folder; hashes
photos     where a photo goes that is handed on
references photos that may not be handed on, by their hashes
examples   training examples and where their photos lie
cache      replies that were paid for once
bench      the manifest, and a frozen benchmark verified and opened
"""

from fieldtruth.store.bench import (
    ITEMS,
    QUESTIONS,
    Bench,
    Difference,
    TrainingSet,
    open_bench,
    open_training,
    verify,
)
from fieldtruth.store.cache import Cache, Kept, Key
from fieldtruth.store.examples import EXAMPLES, ExampleSet, ExamplesManifest, open_examples
from fieldtruth.store.folders import drafting, publish
from fieldtruth.store.journal import Journal
from fieldtruth.store.lines import (
    LINE_LIMIT,
    fields_once,
    open_existing,
    read,
    read_unique,
    replacing,
    write,
    writing,
    writing_lists,
)
from fieldtruth.store.locks import lock
from fieldtruth.store.manifest import (
    MANIFEST,
    Audit,
    Manifest,
    Reference,
    read_manifest,
    root_beside,
)
from fieldtruth.store.paths import inside, same_name, sha256, unsafe
from fieldtruth.store.room import make_folder, new_or_there, room

__all__ = [
    "EXAMPLES",
    "ITEMS",
    "LINE_LIMIT",
    "MANIFEST",
    "QUESTIONS",
    "Audit",
    "Bench",
    "Cache",
    "Difference",
    "ExampleSet",
    "ExamplesManifest",
    "Journal",
    "Kept",
    "Key",
    "Manifest",
    "Reference",
    "TrainingSet",
    "drafting",
    "fields_once",
    "inside",
    "lock",
    "make_folder",
    "new_or_there",
    "open_bench",
    "open_examples",
    "open_existing",
    "open_training",
    "publish",
    "read",
    "read_manifest",
    "read_unique",
    "replacing",
    "room",
    "root_beside",
    "same_name",
    "sha256",
    "unsafe",
    "verify",
    "write",
    "writing",
    "writing_lists",
]
