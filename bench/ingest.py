"""Raw release to targets beside a script of json and regular expressions: time and memory.

    python bench/ingest.py [--quick] [--rows N]

The release is drawn in CDDM's form: 1.27 million rows of some 260 bytes about 137,000 photos
(empty files: nobody opens them), once with as few distinct answers as CDDM has (some thousand) and
once with none repeated. Ours is `ingest` and `label`, with every record written, read back and in
the books. Three peers, each reading the same files with `json.load` and writing a line of JSON for
every row:

    rules      105 word-bounded, case-blind expressions, each tried on every answer
    first hit  the same lists of expressions, each left at its first hit
    published  AgroGround's CDDM handler (substrings), path check and prompt lookup (reference,
               sections 1.3, 1.10 and 2.5: the synonym file is parsed for every sample)

The peers are timed on a part and scaled up, which is said: their `json.load` is timed on the whole.
Each way runs in a process of its own, by turns in three rounds; time is that of its processor after
the imports (and of its children, of which ours has none), memory the peak of the process. The ratio
is the median of the rounds, with the least and the most; that of the clock stands beside it. Exits
1 when a stated target is missed: 25 times `rules` (12 times where no answer repeats), under 0.5 GB.
"""

import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROWS, PHOTOS, FILES, ROUNDS = 1_270_000, 137_000, 6, 3
PART = {"rules": 10_000, "first hit": 20_000, "published": 10_000}


def words(text: str) -> list[str]:
    """A list, without its quotes."""
    return text.split()


CROPS = words(
    "apple apricot avocado banana barley basil bean beet blackberry blueberry broccoli cabbage "
    "canola carrot cauliflower celery cherry chili citrus coconut coffee corn cotton cucumber "
    "eggplant fig garlic ginger grape grapefruit hemp kale lemon lettuce lime maize mango melon "
    "millet oat okra olive onion orange papaya pea peach peanut pear pepper pineapple plum potato "
    "pumpkin raspberry rice rose sorghum soybean spinach squash strawberry sunflower tea tobacco "
    "tomato watermelon wheat"
)
PESTS = words(
    "aphid mite scale fly worm bug beetle moth thrips weevil borer larva locust mealybug hopper "
    "caterpillar nematode"
)
WEEDS = words("weed thistle dandelion crabgrass pigweed ragweed bindweed nutsedge foxtail")
HEALTHY = ("healthy", "no disease", "normal", "no issue")
STRESS = ("drought", "frost", "deficiency", "burn", "scald", "injury", "toxicity")
LISTS = (CROPS, PESTS, WEEDS, HEALTHY, STRESS)
CLASSES = {
    "Apple": ("Scab", "Black Rot", "Cedar Rust", "Alternaria Blotch", "Brown Spot", "Grey Spot"),
    "Tomato": ("Leaf Mold", "Late Blight", "Early Blight", "Septoria Leaf Spot", "Target Spot",
               "Bacterial Spot", "Mosaic Virus", "Yellow Leaf Curl Virus", "Powdery Mildew"),
    "Corn": ("Common Rust", "Northern Leaf Blight", "Gray Leaf Spot"),
    "Grape": ("Black Rot", "Esca", "Leaf Blight"), "Potato": ("Early Blight", "Late Blight"),
    "Rice": ("Blast", "Brown Spot", "Tungro", "Leaf Smut", "Bacterial Blight"),
    "Wheat": ("Leaf Rust", "Stem Rust", "Stripe Rust", "Loose Smut", "Root Rot"),
    "Strawberry": ("Leaf Scorch", "Gray Mold", "Angular Leafspot"), "Orange": ("Greening",),
    "Pepper": ("Bacterial Spot",), "Soybean": ("Frogeye Leaf Spot",), "Cherry": ("Powdery Mildew",),
}  # fmt: skip
ILL = (
    ("What is wrong with this plant?", "This {c} leaf is affected by {d}."),
    ("What is the content of this picture?", "This image shows a {c} leaf affected by {d}."),
    ("Which disease does this leaf have?", "The {c} leaf in the picture is infected with {d}."),
    ("Is this leaf diseased?", "Yes, this {c} leaf exhibits symptoms of {d}, a common disease."),
    ("Describe this photo.", "A {c} plant in the field that has {d}."),
)
WELL = (
    ("What is the content of this picture?", "This image shows a healthy {c} leaf."),
    ("Is this leaf diseased?", "No, this {c} leaf is healthy."),
)
OTHER = (
    ("Is this leaf from a grapevine?", "No, this is a {c} leaf."),
    ("What crop is shown here?", "This is a {c} leaf photographed in the field."),
    ("What measures can be taken to control {d}?",
     "(1) Select resistant varieties of {c}. (2) Remove infected leaves. (3) Rotate fungicides."),
    ("How can {d} be prevented?", "Keep the {c} plants dry, prune them and clear fallen leaves."),
    ("What are its symptoms?", "Small yellow spots on the {c} leaf that grow and turn brown."),
)  # fmt: skip
CLOSING = ("", " It was seen in the field.", " The photo was taken in daylight.",
           " The leaf fills most of the photo.", " Look at the underside as well.")  # fmt: skip


def release(root: Path, count: int, photos: int, *, repeated: bool) -> None:
    """`count` rows in CDDM's form below `root`."""
    rng = random.Random(5)
    classes = [(c, d) for c, names in CLASSES.items() for d in (*names, "Healthy")]
    places: list[tuple[str, str, str]] = []
    for number in range(photos):
        crop, disease = classes[number % len(classes)]
        folder = root / "dataset/images" / f"{crop},{disease}"
        if number < len(classes):
            folder.mkdir(parents=True)
        (folder / f"plant_{number}.jpg").touch()
        places.append((crop, disease, f"/dataset/images/{crop},{disease}/plant_{number}.jpg"))
    (root / "dataset/VQA").mkdir()
    for at in range(FILES):
        rows = []
        for number in range(at, count, FILES):
            crop, disease, image = places[rng.randrange(photos)]
            right = WELL if disease == "Healthy" else ILL
            question, answer = rng.choice(right if rng.random() < 0.62 else OTHER)
            name = "disease" if disease == "Healthy" else disease
            answer = answer.format(c=crop.lower(), d=name) + rng.choice(CLOSING)
            rows.append({
                "question_id": f"train_conv_{number:07}",
                "question": question.format(d=name),
                "image": image,
                "answer": answer if repeated else f"{answer} (Note {number}.)",
            })  # fmt: skip
        path = root / f"dataset/VQA/train_{at}.json"
        path.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def read(root: Path, limit: int) -> Iterator[dict[str, str]]:
    """The first rows with `json.load`, file by file."""
    for path in sorted((root / "dataset/VQA").glob("*.json")):
        with path.open(encoding="utf-8") as file:
            for row in json.load(file):
                yield row
                limit -= 1
                if not limit:
                    return


def ours(root: Path, out: Path, _: int) -> None:
    """`ingest` and `label`."""
    from fieldtruth.run import workspace

    workspace.ingest("cddm", root, out)
    workspace.label(out)


def rules(root: Path, out: Path, limit: int) -> None:
    """Every rule on every answer."""
    compiled = [
        (word, re.compile(rf"\b{re.escape(word)}s?\b", re.IGNORECASE))
        for words in LISTS
        for word in words
    ]
    with (out / "rules.jsonl").open("w", encoding="utf-8") as file:
        for row in read(root, limit):
            said = [word for word, rule in compiled if rule.search(row["answer"])]
            file.write(json.dumps({**row, "labels": said}) + "\n")


def first_hit(root: Path, out: Path, limit: int) -> None:
    """The rules of each list until one hits."""
    compiled = [
        [(word, re.compile(rf"\b{re.escape(word)}s?\b", re.IGNORECASE)) for word in words]
        for words in LISTS
    ]
    with (out / "first.jsonl").open("w", encoding="utf-8") as file:
        for row in read(root, limit):
            text = row["answer"]
            said = [
                next((word for word, rule in words if rule.search(text)), None)
                for words in compiled
            ]
            file.write(json.dumps({**row, "labels": said}) + "\n")


AFTER = re.compile(
    r"(?:afflicted with|affected by|infected with|exhibits symptoms of|has)\s+"
    r"([A-Z][A-Za-z\s]*?)(?:\.|,|$)"
)


def published(root: Path, out: Path, limit: int) -> None:
    """What the reference says of the handler, the path check and the prompt lookup."""
    from fieldtruth.taxonomy import names

    prompts = {name: f"{name} on leaf" for name in names()}
    synonyms = out / "synonyms.json"
    synonyms.write_text(json.dumps({f"name {n}": f"label {n}" for n in range(21)}))
    with (out / "published.jsonl").open("w", encoding="utf-8") as file:
        for row in read(root, limit):
            found = handle(row["answer"])
            if found is None or found[0] != "disease":
                file.write(json.dumps({**row, "reason": found and found[0]}) + "\n")
                continue
            if not (root / row["image"][1:]).exists():
                continue
            prompt = lookup(found[1].lower(), prompts, synonyms)
            file.write(json.dumps({**row, "label": found[1], "prompt": prompt}) + "\n")


def handle(answer: str) -> tuple[str, str] | None:
    """Healthy, a disease after a lead-in, or a plant."""
    lower = answer.lower()
    crop = next((word for word in CROPS if word in lower), "")
    if "healthy" in lower:
        return "healthy", crop
    hit = AFTER.search(answer)
    if hit:
        return "disease", hit[1].strip()
    return ("plant_id", answer) if lower.startswith(("this is", "no, this is")) else None


def lookup(label: str, prompts: dict[str, str], synonyms: Path) -> str:
    """Exact, by synonym, by the longest contained name, or the label itself."""
    if label in prompts:
        return prompts[label]
    with synonyms.open(encoding="utf-8") as file:
        other = json.load(file).get(label)
    if other:
        return prompts.get(other, label)
    best = max((n for n in prompts if len(n) >= 10 and n in label), key=len, default="")
    return prompts[best] if len(best) * 2 >= len(label) else label


WAYS: dict[str, Callable[[Path, Path, int], None]] = {
    "ours": ours, "rules": rules, "first hit": first_hit, "published": published,
}  # fmt: skip


class Spent(NamedTuple):
    """Seconds of the processor and of the clock, and the peak of memory in bytes."""

    cpu: float
    wall: float
    peak: float = 0.0


def clocked(work: Callable[[], object]) -> Spent:
    """What some work takes in this process and its children."""
    before, start = os.times(), time.perf_counter()
    work()
    after = os.times()
    cpu = sum(after[:4]) - sum(before[:4])
    return Spent(cpu, time.perf_counter() - start)


def child(way: str, root: str, out: str, limit: str) -> int:
    """One way in this process; what it took as JSON."""
    import fieldtruth.run.workspace  # noqa: F401  so that starting counts for none

    spent = clocked(lambda: WAYS[way](Path(root), Path(out), int(limit)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([spent.cpu, spent.wall, peak]))
    return 0


def timed(way: str, root: Path, out: Path, limit: int) -> Spent:
    """One way in a process of its own."""
    out.mkdir(exist_ok=True)
    arguments = [sys.executable, __file__, "child", way, str(root), str(out), str(limit)]
    said = subprocess.run(arguments, stdout=subprocess.PIPE, check=True).stdout
    return Spent(*json.loads(said))


def load(paths: list[Path]) -> None:
    """Every file with `json.load`."""
    for path in paths:
        with path.open(encoding="utf-8") as file:
            json.load(file)


def scaled(root: Path, folder: Path, way: str, part: int, count: int) -> Spent:
    """A peer: `json.load` of all files, and the rest of its work on a part, for as many rows."""
    files = sorted((root / "dataset/VQA").glob("*.json"))
    whole, first = clocked(lambda: load(files)), clocked(lambda: load(files[:1]))
    took = timed(way, root, folder / f"{root.name}-{way}", part)
    rest = (took.cpu - first.cpu, took.wall - first.wall)
    return Spent(whole.cpu + rest[0] * count / part, whole.wall + rest[1] * count / part)


def spread(values: list[float], unit: str) -> str:
    """The median, with the least and the most."""
    return f"{median(values):.1f}{unit} [{min(values):.1f}, {max(values):.1f}]"


def compare(folder: Path, count: int, photos: int, *, repeated: bool) -> bool:
    """One kind of release: the table, and whether the target holds."""
    root = folder / ("repeated" if repeated else "unrepeated")
    release(root, count, photos, repeated=repeated)
    size = sum(path.stat().st_size for path in (root / "dataset/VQA").iterdir())
    what = "answers repeat" if repeated else "no answer repeats"
    print(f"{what}: {count} rows, {size / 1e6:.0f} MB, {photos} photos, one process each")
    mine: list[Spent] = []
    theirs: dict[str, list[Spent]] = {way: [] for way in PART}
    for _ in range(ROUNDS):
        mine.append(timed("ours", root, folder / f"{root.name}-ours", 0))
        for way, part in PART.items():
            theirs[way].append(scaled(root, folder, way, min(part, count // FILES), count))
    peak = max(each.peak for each in mine)
    print(f"  ours       CPU {spread([each.cpu for each in mine], ' s')}, wall "
          f"{spread([each.wall for each in mine], ' s')}, peak {peak / 1e6:.0f} MB")  # fmt: skip
    ratios = {}
    for way, all_of in theirs.items():
        pairs = list(zip(all_of, mine, strict=True))
        ratios[way] = [peer.cpu / own.cpu for peer, own in pairs]
        wall = [peer.wall / own.wall for peer, own in pairs]
        print(f"  {way:<10} CPU {spread([each.cpu for each in all_of], ' s')} scaled up from "
              f"{min(PART[way], count // FILES)} rows: {spread(ratios[way], '')} times ours, by "
              f"the clock {spread(wall, '')}")  # fmt: skip
    target = 25 if repeated else 12
    good = median(ratios["rules"]) >= target and peak < 0.5e9
    print(f"  target: {target} times the rules, under 500 MB: {'ok' if good else 'MISSED'}")
    return good


def main(arguments: list[str]) -> int:
    """Measure, print, and say whether the targets hold."""
    if arguments[:1] == ["child"]:
        return child(*arguments[1:])
    count = int(arguments[arguments.index("--rows") + 1]) if "--rows" in arguments else ROWS
    if "--quick" in arguments:
        count = ROWS // 10
    photos = max(100, PHOTOS * count // ROWS)
    with tempfile.TemporaryDirectory() as folder:
        good = [
            compare(Path(folder), count, photos, repeated=repeated) for repeated in (True, False)
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
