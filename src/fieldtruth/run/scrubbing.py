"""Personal data out of a folder of dialogues, and the gate before anything made of it is given out.

    dialogues.jsonl -> dialogues.jsonl (placeholders for what was found)  manifest.json (who looked)

The words as they came are in the release and nowhere else. The dialogues take their place first
and the manifest last: a folder whose `scrub` was killed counts as one that nobody looked at, and
the same command goes on, since placeholders are found by nobody.
"""

from collections import Counter
from os.path import normpath
from pathlib import Path

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.privacy import faces, names, talks
from fieldtruth.privacy.talks import Looked
from fieldtruth.records import Dialogue, Drop
from fieldtruth.run import migrations
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.run.workspace import Books

RULES = "rules"


def scrub(out: Path, by: str = "auto", track: Track = SILENT, *, look: bool = False) -> Books:
    """Hide personal data in a folder's dialogues; with `look` flag photos that may show a face.

    `by` is who looks for names: `presidio` (extra `privacy`), `rules` alone, or `auto`, which is
    presidio where it is installed. Raises `Usage` where an extra is missing, `Refused` where the
    dialogues are not those that were counted.
    """
    books = of_dialogues(out)
    finder = names if _asks_presidio(by) else None
    root = _release(out, books) if look else None
    before, hidden = books.personal, Counter[str]()
    seen = {"photos": 0, "flagged": 0}
    with store.lock(out):
        with store.writing(out / "dialogues.jsonl") as put:
            count = 0
            rows = store.read(out / "dialogues.jsonl", Dialogue)
            for dialogue in track(rows, books.counts["dialogues"]):
                clean = talks.scrub(dialogue, finder)
                if root is not None:
                    clean = _flagged(clean, root, seen)
                hidden += talks.hidden(clean.notes)
                count += 1
                put(clean)
            if count != books.counts["dialogues"]:
                raise Refused(
                    f"{out / 'dialogues.jsonl'}: expected {books.counts['dialogues']} dialogues as "
                    f"`ingest` counted, got {count}; ingest again"
                )
            books = _undone(out, books)
        looked = Looked(
            detectors=_detectors(before, finder is not None, look),
            names=finder is not None or (before is not None and before.names),
            hidden=dict(sorted(hidden.items())),
            faces=seen if look else (before.faces if before is not None else None),
        )
        return _close(out, msgspec.structs.replace(books, personal=looked))


def gate(out: Path, because: str | None = None) -> Looked:
    """Who looked for personal data in a folder's dialogues; `Refused` where that is not enough.

    Enough is that rules and names were looked for, or a reason why not (`because`), which belongs
    into what is given out. Each dialogue has its own gate besides: `privacy.still_personal`.
    """
    looked = of_dialogues(out).personal
    if looked is None:
        raise Refused(
            f"{out}: expected dialogues in which personal data was looked for, got them as they "
            f"came; run `fieldtruth scrub {out}`"
        )
    if not looked.names and not (because or "").strip():
        raise Refused(
            f"{out}: expected that names of people were looked for, got only "
            f"{', '.join(looked.detectors)}; pip install 'fieldtruth[privacy]' and scrub again, or "
            "say why they need not be"
        )
    return looked


def line(books: Books, out: Path) -> str:
    """What a person reads when it ends: what was hidden, by kind, and who looked."""
    looked = books.personal
    if looked is None:
        return f"{books.source}: nobody looked for personal data. In {out}"
    hidden = ", ".join(f"{kind} {count}" for kind, count in looked.hidden.items())
    said = f"{books.source}: hidden: {hidden or 'nothing'}; by {', '.join(looked.detectors)}"
    if not looked.names:
        said += " (names in running text were not looked for: pip install 'fieldtruth[privacy]')"
    if looked.faces is not None:
        said += f"; {looked.faces['flagged']} of {looked.faces['photos']} photos may show a face"
    return f"{said}. In {out}"


def of_dialogues(out: Path) -> Books:
    """The books of a folder of dialogues; `Usage` where it is none, `Refused` where cut short."""
    path = out / store.MANIFEST
    if not path.is_file() or not (out / "dialogues.jsonl").is_file():
        raise Usage(
            f"{out}: expected dialogues.jsonl and {store.MANIFEST}; run `fieldtruth ingest` with a "
            "source of talks first"
        )
    raw = migrations.document(path.read_bytes(), path, "ingest")
    try:
        books = msgspec.convert(raw, Books)
    except msgspec.ValidationError as error:
        raise BadRecord(f"{path}: expected what `ingest` writes, got: {error}") from None
    if "dialogues" not in books.counts:
        raise Refused(f"{out}: `ingest` did not come to its end there; run it again")
    return books


def _undone(out: Path, books: Books) -> Books:
    """The books as `ingest` left them, without what hangs on the words that change now."""
    (out / "facts.jsonl").unlink(missing_ok=True)
    path = out / "drops.jsonl"
    store.write(path, [drop for drop in store.read(path, Drop) if drop.stage == "ingest"])
    counts = {name: books.counts[name] for name in ("rows", "dialogues")}
    drops = {why: n for why, n in books.drops.items() if why.startswith("ingest: ")}
    return _close(out, msgspec.structs.replace(books, counts=counts, drops=drops, personal=None))


def _close(out: Path, books: Books) -> Books:
    with store.replacing(out / store.MANIFEST) as file:
        file.write(msgspec.json.format(msgspec.json.encode(books), indent=1) + b"\n")
    return books


def _release(out: Path, books: Books) -> Path:
    root = Path(normpath(out.resolve() / books.root))
    if not root.is_dir():
        raise Usage(f"{out}: expected the release that was ingested, got nothing at {root}")
    return root


def _asks_presidio(by: str) -> bool:
    if by not in ("auto", "presidio", "rules"):
        raise Usage(f"--names: expected auto, presidio or rules, got {by!r}")
    if by == "presidio" and not names.installed():
        raise Usage("--names presidio: expected it there; pip install 'fieldtruth[privacy]'")
    return by == "presidio" or (by == "auto" and names.installed())


def _detectors(before: Looked | None, by_names: bool, look: bool) -> tuple[str, ...]:  # noqa: FBT001
    """Who looked this time or before: what they hid is hidden still."""
    new = [RULES, *([names.DETECTOR] if by_names else []), *([faces.DETECTOR] if look else [])]
    return tuple(dict.fromkeys([*(before.detectors if before else ()), *new]))


def _flagged(dialogue: Dialogue, root: Path, seen: dict[str, int]) -> Dialogue:
    """With the photos that may show a face; those that are not there nobody can look at."""
    there = [image for image in dialogue.images if image not in dialogue.missing]
    shown = tuple(image for image in there if faces.may_show(store.inside(root, image)))
    seen["photos"] += len(there)
    seen["flagged"] += len(shown)
    return msgspec.structs.replace(dialogue, faces=shown)
