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

The peers are timed on a part and scaled up, which is said. Each runs in a process of its own; time
is that of its processor after the imports, memory the peak of the process. Exits 1 when a stated
target is missed: 25 times `rules` (12 times where no answer repeats), under 0.5 GB.
"""

import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROWS, PHOTOS, FILES = 1_270_000, 137_000, 6
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
    made = workspace.label(out)
    print(made.counts, made.drops, file=sys.stderr)


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


def child(way: str, root: str, out: str, limit: str) -> int:
    """One way in this process; its seconds and its peak memory as JSON."""
    import fieldtruth.run.workspace  # noqa: F401  so that starting counts for none

    start = time.process_time()
    WAYS[way](Path(root), Path(out), int(limit))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": time.process_time() - start, "peak": peak}))
    return 0


def timed(way: str, root: Path, out: Path, limit: int) -> dict[str, Any]:
    """One way in a process of its own."""
    out.mkdir(exist_ok=True)
    arguments = [sys.executable, __file__, "child", way, str(root), str(out), str(limit)]
    said = subprocess.run(arguments, stdout=subprocess.PIPE, check=True).stdout
    seen: dict[str, Any] = json.loads(said)
    return seen


def loading(root: Path) -> float:
    """Seconds to read every file with `json.load`: what a peer's part leaves out."""
    start = time.process_time()
    for path in sorted((root / "dataset/VQA").glob("*.json")):
        with path.open(encoding="utf-8") as file:
            json.load(file)
    return time.process_time() - start


def one_file(root: Path) -> float:
    """Seconds to read the first file: what a peer's part has of it."""
    start = time.process_time()
    with min((root / "dataset/VQA").glob("*.json")).open(encoding="utf-8") as file:
        json.load(file)
    return time.process_time() - start


def compare(folder: Path, count: int, photos: int, *, repeated: bool) -> bool:
    """Both kinds of release: the table, and whether the target holds."""
    root = folder / ("repeated" if repeated else "unrepeated")
    release(root, count, photos, repeated=repeated)
    size = sum(path.stat().st_size for path in (root / "dataset/VQA").iterdir())
    what = "answers repeat" if repeated else "no answer repeats"
    print(f"{what}: {count} rows, {size / 1e6:.0f} MB, {photos} photos")
    mine = timed("ours", root, folder / f"{root.name}-ours", 0)
    print(f"  ours       {mine['seconds']:8.1f} s   peak {mine['peak'] / 1e6:.0f} MB")
    whole, first = loading(root), one_file(root)
    print(f"  json.load  {whole:8.1f} s   alone")
    ratios = {}
    for way, part in PART.items():
        part = min(part, count // FILES)
        took = timed(way, root, folder / f"{root.name}-{way}", part)["seconds"]
        seconds = whole + (took - first) * count / part
        ratios[way] = seconds / mine["seconds"]
        print(f"  {way:<10} {seconds:8.1f} s   scaled up from {part} rows; "
              f"{ratios[way]:.1f} times ours")  # fmt: skip
    target = 25 if repeated else 12
    good: bool = ratios["rules"] >= target and mine["peak"] < 0.5e9
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
