"""The commands that are killed: what each is given, and what of its folder a reader would trust.

A road is prepared in a folder of its own, where `in/` is never written to. `before` leaves what an
earlier run of the same command left, made of other input, where a command may run twice.
"""

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from tests.books import fill
from tests.builders import (
    HIT,
    class_folders,
    example,
    examples_folder,
    four,
    frozen,
    healthy_row,
    leaf,
    question,
    replies,
    row,
    table,
)  # fmt: skip
from tests.papers import by_fpdf2
from tests.sources.talks import RELEASES as TALKS
from tests.stages import talks, tuned

from fieldtruth import store
from fieldtruth.records import Fact, Target
from fieldtruth.run import (
    answers,
    asking,
    composing,
    execute,
    extracting,
    figuring,
    questioning,
    recipe,
    results,
    screening,
    splitting,
    verifying,
    workspace,
)
from fieldtruth.sources import drawn
from fieldtruth.stages.freeze import Settings, freeze
from fieldtruth.stages.questions import Settings as Asking
from fieldtruth.stages.review import blind, sending
from fieldtruth.stages.score import Options
from fieldtruth.stages.score_questions import Settings as Answering
from fieldtruth.stages.screen import Settings as Screening
from fieldtruth.stages.split import Settings as Splitting

Tree = Mapping[str, bytes]
View = Callable[[Tree], Tree]  # the part of a tree that a reader sees and takes for one whole
WORKSPACE = ("samples", "targets", "healthy", "annotations")
ASKED = ("p0", "p1", "h0", "h1")


@dataclass(frozen=True)
class Road:
    """A command; each of `views` of what it leaves is of before, of after, or nothing."""

    words: str
    prepare: Callable[[Path], None]
    views: tuple[View, ...]
    kills: int = 66


def alone(name: str) -> View:
    """A file that is whole by itself."""
    return lambda tree: {name: tree[name]} if name in tree else {}


def together(first: str, *others: str) -> View:
    """Files that belong to the first: where that is there, they are of its time."""

    def view(tree: Tree) -> Tree:
        return {name: tree.get(name, b"") for name in (first, *others)} if first in tree else {}

    return view


def under(folder: str) -> View:
    """A folder that appears at once."""
    return lambda tree: {name: raw for name, raw in tree.items() if name.startswith(folder + "/")}


def counted(folder: str) -> View:
    """The files that the manifest of a source's folder counts; the others are refused."""

    def view(tree: Tree) -> Tree:
        raw = tree.get(f"{folder}/manifest.json")
        books = json.loads(raw) if raw else {"counts": {}}
        names = [f"{folder}/{name}.jsonl" for name in WORKSPACE if name in books["counts"]]
        seen = {name: tree[name] for name in names if name in tree}
        return seen | ({"root": books["root"].encode()} if seen else {})

    return view


def _release(folder: Path, name: str) -> Path:
    """Photos in class folders; another name gives other photos, as many and as they are called."""
    root = class_folders(folder / "in" / name, each=2, healthy=2)
    for number, path in enumerate(sorted(root.rglob("*.png"))):
        leaf(path, [(40, 50, 70, 60 + number % 3)], shade=number + 100 * (name == "old"))
        path.rename(path.with_name(f"{name}-{path.name}"))
    return root


def _ingest(folder: Path) -> None:
    _release(folder, "new")
    workspace.ingest("folder", _release(folder, "old"), folder / "set")
    workspace.label(folder / "set")


def _ingest_archive(folder: Path) -> None:
    for name in ("old", "new"):
        root = _release(folder, name)
        with zipfile.ZipFile(folder / "in" / f"{name}.zip", "w") as packed:
            for path in sorted(root.rglob("*.png")):
                packed.write(path, f"top/{path.relative_to(root)}")
    workspace.ingest("folder", folder / "in" / "old.zip", folder / "set")


def looked_at(tree: Tree) -> Tree:
    """The dialogues, where the manifest says that somebody looked for personal data in them."""
    raw = tree.get("set/manifest.json")
    looked = json.loads(raw)["personal"] if raw else None
    return {"set/dialogues.jsonl": tree.get("set/dialogues.jsonl", b"")} if looked else {}


def _scrub(folder: Path) -> None:
    """Talks with a name, a telephone number and a mail, and facts of the words as they came."""
    release = TALKS["mirage_dialogues"](folder / "in" / "release")
    path = release.root / "mmmt_direct_test.json"
    said = "Is it rust? Hi Zoe, call 410-555-0134 or mail zoe.poe@example.org."
    path.write_text(path.read_text().replace("Is it rust?", said))
    workspace.ingest("mirage_dialogues", release.root, folder / "set")
    (folder / "set" / "facts.jsonl").write_text("")


def _label(folder: Path) -> None:
    """As if another version had labelled the same samples."""
    workspace.ingest("folder", _release(folder, "new"), folder / "set")
    workspace.label(folder / "set")
    path = folder / "set" / "targets.jsonl"
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b'"organ":null', b'"organ":"old"'))
    assert path.read_bytes() != raw
    workspace.annotate(folder / "set", "leaf_box")
    assert sum(1 for _ in store.read(path, Target)) == 8


def _annotate(folder: Path) -> None:
    workspace.ingest("folder", _release(folder, "new"), folder / "set")
    workspace.label(folder / "set")
    workspace.annotate(folder / "set", "leaf_box")
    path = folder / "set" / "annotations.jsonl"
    path.write_bytes(path.read_bytes().replace(b"checked by a person", b"checked, by an old rule"))


def _compose(folder: Path) -> None:
    workspace.ingest("folder", _release(folder, "new"), folder / "set")
    workspace.label(folder / "set")
    workspace.annotate(folder / "set", "leaf_box")
    composing.compose_items(folder / "set", folder / "items.jsonl", split="all")


def _split(folder: Path) -> None:
    """Two sources, split before with another seed."""
    for name in ("old", "new"):
        workspace.ingest("folder", _release(folder, name), folder / name)
    splitting.split([folder / "old", folder / "new"], Splitting(seed=1))


def of_one_split(tree: Tree) -> Tree:
    """The splits of two folders are of one run, where both are there."""
    names = [f"{name}/splits.jsonl" for name in ("old", "new")]
    return {name: tree[name] for name in names} if all(name in tree for name in names) else {}


def _select(folder: Path) -> None:
    source = folder / "in" / "set"
    workspace.ingest("folder", _release(folder, "new"), source)
    workspace.label(source)
    workspace.annotate(source, "leaf_box")
    composing.compose_items(source, folder / "in" / "items.jsonl", split="all")


def _freeze(folder: Path) -> None:
    frozen(folder / "in" / "bench", [row("p0"), row("p1"), healthy_row("h0")])


def _ablation(folder: Path) -> None:
    four(folder / "in" / "bench")
    rows = "".join(
        f'[rows.{name}]\nmodel = "scripted"\nask = {{ space = "pixel" }}\n'
        f'files = {{ table = "{name}.jsonl" }}\n'
        for name in ("right", "half")
    )
    table(folder / "in" / "right.jsonl", dict.fromkeys(ASKED, HIT))
    table(folder / "in" / "half.jsonl", dict.fromkeys(ASKED, "[]"))
    (folder / "in" / "recipe.toml").write_text(
        'name = "small"\nwork = "../work"\nout = "../kept"\n[benchmarks.hand]\npath = "bench"\n'
        f'protocols = ["known_target"]\n{rows}versus = ["right"]\n'
    )


def _train(folder: Path) -> None:
    drawn.draw(folder / "in" / "leaves", leaves=8, seed=1, held_out_share=0.0)
    workspace.ingest("drawn", folder / "in" / "leaves", folder / "in" / "set")
    workspace.label(folder / "in" / "set")
    workspace.annotate(folder / "in" / "set")
    items = folder / "in" / "items.jsonl"
    composing.compose_items(folder / "in" / "set", items, "train")
    settings = Settings(name="leaves", version="1", split="train")
    freeze(items, folder / "in" / "leaves", folder / "in" / "bench", settings)
    (folder / "colour.json").write_text("{}")


def _scratch(folder: Path) -> None:
    train = tuned.examples(folder / "in", 4)
    (folder / "in" / "recipe.toml").write_text(
        f'[scratch]\ntrain = ["{train.name}"]\nout = "../base"\ndevice = "cpu"\n'
        "width = 48\nlayers = 1\nheads = 2\neyes = 16\neye_layers = 1\neye_heads = 2\n"
        "side = 64\nsteps = 2\nbatch = 2\n"
    )


def _bench(folder: Path) -> Path:
    return four(folder / "in" / "bench")


def _predict(folder: Path) -> None:
    _bench(folder)
    table(folder / "in" / "table.jsonl", {name: f"{HIT} to {name}" for name in ASKED})


def _predict_again(folder: Path) -> None:
    """Half of the calls failed in an earlier run."""
    _predict(folder)
    options = {"table": str(folder / "in" / "table.jsonl"), "space": "pixel", "dies_after": "2"}
    job = asking.Job(
        benchmark=folder / "in" / "bench", model="scripted", protocol="candidates", options=options
    )
    assert asking.predict(job, folder / "replies.jsonl").failed == 2


def _score(folder: Path) -> None:
    bench = _bench(folder)
    words = dict.fromkeys(ASKED, HIT)
    replies(folder / "in" / "a.jsonl", "a", words)
    replies(folder / "in" / "b.jsonl", "b", words | {"h0": "[]", "h1": "[]"})
    paths = [folder / "in" / f"{name}.jsonl" for name in "ab"]
    results.score(bench, paths[:1], Options(resamples=10), folder / "results")


def _report(folder: Path) -> None:
    bench = _bench(folder)
    words = dict.fromkeys(ASKED, HIT)
    path = replies(folder / "in" / "a.jsonl", "a", words)
    results.score(bench, [path], Options(), folder / "in" / "results")
    (folder / "page.html").write_text("an older page")


def _describe(folder: Path) -> None:
    names = ("rust", "scab", "wilt", "mildew")
    table(folder / "in" / "cues.jsonl", {f"{name}@apple": f"{name}, brown" for name in names})
    (folder / "cues.toml").write_bytes(b"")


def _experts(folder: Path) -> None:
    (folder / "in").mkdir()
    for name, said in (("a", "ABC"), ("b", "ACD"), ("key", "ACE")):
        rows = [{"id": str(at), "answer": letter} for at, letter in enumerate(said)]
        lines = "".join(json.dumps(each) + "\n" for each in rows)
        (folder / "in" / f"{name}.jsonl").write_text(lines)


def _sent(folder: Path) -> None:
    """Two items with their photos sent to people, and one of them back from a server."""
    bench = frozen(folder / "in" / "bench", [row("p0"), healthy_row("h0")])
    sending.send(bench, None, folder / "in" / "sent", sending.Settings())
    (task, _) = json.loads((folder / "in" / "sent" / "tasks.json").read_text())
    verdict = {"from_name": "verdict", "type": "choices", "value": {"choices": ["absent"]}}
    told = {"id": 1, "completed_by": 1, "result": [verdict], "updated_at": "2026"}
    exported = [{"data": task["data"], "annotations": [told]}]
    (folder / "in" / "export.json").write_text(json.dumps(exported))


def _audited(folder: Path) -> None:
    workspace.ingest("folder", _release(folder, "new"), folder / "in" / "set")
    workspace.label(folder / "in" / "set")
    workspace.annotate(folder / "in" / "set", "leaf_box")
    splitting.split([folder / "in" / "set"], Splitting(shares={"train": 1.0}))


def _blind(folder: Path) -> None:
    """Two questions at two experts, their answers from a server, and as files for `adjudicate`."""
    _experts(folder)
    rows = [question(str(at), images=["a.png"], group=str(at)) for at in range(3)]
    frozen(folder / "in" / "asked", rows)
    bench = store.open_bench(folder / "in" / "asked")
    blind.send(bench.questions, bench.folder, folder / "in" / "sent", blind.Settings())
    exported = []
    for task in json.loads((folder / "in" / "sent" / "tasks.json").read_text()):
        picked = {"from_name": "answer", "type": "choices", "value": {"choices": ["A"]}}
        told = [{"id": who, "completed_by": who, "result": [picked]} for who in (1, 2)]
        exported.append({"data": task["data"], "annotations": told})
    (folder / "in" / "export.json").write_text(json.dumps(exported))


def _silver(folder: Path) -> None:
    frozen(folder / "in" / "silver", [question("q", images=["a.png"])], "train")


def _guesses(folder: Path) -> None:
    frozen(folder / "in" / "bench", [question("q", images=["a.png"])])
    asked: dict[str, Any] = {"protocol": "choice+textonly", "space": None}
    replies(folder / "in" / "replies.jsonl", "m", {"q": "A"}, **asked)
    (folder / "guessed.jsonl").write_text("")


def _questions(folder: Path) -> None:
    """Four questions, two passes over them, and a score of other answers from before."""
    names = ("a", "b", "c", "d")
    bench = frozen(folder / "in" / "bench", [question(name, images=["a.png"]) for name in names])
    table(folder / "in" / "table.jsonl", {name: f"{name.upper()} it is" for name in names})
    for protocol, words in (("choice", "B"), ("reasoned_choice", "Answer: A"), ("open", "A")):
        said = dict.fromkeys(names, words)
        asked = "choice" if protocol == "open" else protocol
        changes: dict[str, Any] = {"protocol": asked, "space": None}
        replies(folder / "in" / f"{protocol}.jsonl", "m", said, **changes)
    wanted = answers.Request(settings=Answering(resamples=10))
    before = [folder / "in" / "open.jsonl"]
    results.score_answers(bench, before, wanted, folder / "results")
    (folder / "errors.jsonl").write_text("")


def _page_of_questions(folder: Path) -> None:
    _questions(folder)
    paths, wanted = [folder / "in" / "choice.jsonl"], answers.Request(settings=Answering())
    results.score_answers(folder / "in" / "bench", paths, wanted, folder / "in" / "results")
    (folder / "page.html").write_text("an older page")


def _nothing(folder: Path) -> None:
    (folder / "in").mkdir()


def _training(folder: Path) -> None:
    rows = [example("e"), example("c", licence="unknown", image="b.png"), example("w", crop=None)]
    examples_folder(folder / "in", rows)


def _recipe(folder: Path) -> None:
    """Everything at once, over a run of the recipe as it was before."""
    (folder / "in").mkdir()
    path = folder / "in" / "recipe.toml"
    path.write_text(RECIPE)
    execute.execute(recipe.read(path, ["seed=5"]), quiet=True)


RECIPE = """
name = "tiny"
seed = 3
out = "../run"
[draw]
leaves = 8
[ingest]
source = "drawn"
[freeze.training]
split = "train"
version = "1"
[freeze.benchmark]
split = "test"
version = "1"
[predict]
benchmark = "benchmark"
protocols = ["known_target"]
[models.leaf]
backend = "leaf_box"
majority_of = "training"
[score]
[report]
"""


def _recipe_of_several(folder: Path) -> None:
    """Two sources split and composed together, over a run of the recipe as it was before."""
    for seed, name in enumerate(("old", "new")):
        _release(folder, name)
        drawn.draw(folder / "in" / f"{name}-leaves", leaves=8, seed=seed)
    path = folder / "in" / "recipe.toml"
    path.write_text(SEVERAL)
    old = ["seed=5", "sources.folder.path=old", "sources.drawn.path=old-leaves"]
    execute.execute(recipe.read(path, old), quiet=True)


SEVERAL = """
name = "several"
seed = 3
out = "../run"
[sources.drawn]
path = "new-leaves"
[sources.folder]
path = "new"
annotate = { model = "leaf_box" }
[split]
shares = { train = 0.9, val = 0.1 }
[compose.mixture]
"""


def _talks(folder: Path) -> None:
    """Three talks of which another version took other facts."""
    (folder / "set").mkdir()
    rows = [
        {
            "id": f"d:{name}", "source": "d", "group": name, "licence": "CC0",
            "turns": [
                {"speaker": "grower", "text": "What ails my phlox?"},
                {"speaker": "expert", "text": f"This is {name}. Thin the stems in early spring."},
            ],
        }
        for name in ("rust", "powdery mildew", "nothing")
    ]  # fmt: skip
    (folder / "set" / "dialogues.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    books = workspace.Books(
        source="d", root="../in", licence="CC0", paper="", counts={"dialogues": 3}, drops={}
    )
    (folder / "set" / "manifest.json").write_bytes(msgspec.json.encode(books))
    extracting.extract(folder / "set", extracting.Job())
    path = folder / "set" / "facts.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"rules 1"', b'"rules 0"'))


def facts_counted(tree: Tree) -> Tree:
    """The facts, where the manifest counts them; before that they are of no command's end."""
    raw = tree.get("set/manifest.json")
    told = raw is not None and "facts" in json.loads(raw)["counts"]
    return {"facts": tree["set/facts.jsonl"]} if told else {}


def _pdfs(folder: Path) -> None:
    """Two papers, one of them of two panels."""
    (folder / "in/pdfs").mkdir(parents=True)
    (folder / "in/pdfs/a.pdf").write_bytes(by_fpdf2.supplement())
    (folder / "in/pdfs/b.pdf").write_bytes(by_fpdf2.beside())


def _screened(folder: Path) -> None:
    """What `screen` leaves of them."""
    _pdfs(folder)
    screening.screen(folder / "in/pdfs", folder / "in/papers", Screening(any_kind=True))


def _cut_out(folder: Path) -> None:
    """What `figures` leaves of them."""
    _screened(folder)
    figuring.figures(folder / "in/papers", folder / "in/figures", 50)


def _figures_sent(folder: Path) -> None:
    """Figures at two people, who differ on the first."""
    _cut_out(folder)
    job = verifying.Job(questions=folder / "in/figures", annotators=("anna", "ben"), third="cora")
    verifying.send(job, folder / "in/sent")
    fill(folder / "in/sent/anna.xlsx")
    fill(folder / "in/sent/ben.xlsx", [(1, "quality")])


def any_of_its_cues(tree: Tree) -> Tree:
    """A file that grows by whole cues: those before and after are its least and its most."""
    parts = [part.strip() for part in tree.get("cues.toml", b"").split(b"\n\n")]
    return {str(part): part for part in parts if part}


_FREEZE = "freeze in/bench.rows.jsonl --images in/photos --name leaves --version 2"
_PREDICT = "predict in/bench --model scripted --model-args table=in/table.jsonl,space=pixel"
_REPLIES = together("replies.jsonl", "replies.manifest.json")


def _facts(folder: Path) -> None:
    """What `questions` leaves: facts of six talks, a photo each."""
    rows = []
    for number in range(6):
        leaf(folder / "in/release" / f"{number}.png", [(60, 50, 80, 60)], number)
        rows.append(
            Fact(
                id=f"d:{number}", dialogue=f"d:{number}", category="disease",
                knowledge="disease/issue identification", statement="rust", turn=1, words="rust",
                species="bean", images=(f"{number}.png",), group=f"g{number}", source="d",
                licence="CC0", extractor="hand",
            )
        )  # fmt: skip
    store.write(folder / "in/facts.jsonl", rows)


def _talks_asked(folder: Path) -> None:
    """Talks with their facts, the questions of another seed, and workbooks filled by nobody."""
    dialogues, facts = talks.all_talks()
    some = dialogues[:6]
    kept = [each for each in facts if each.dialogue in {one.id for one in some}]
    where = talks.folder(folder / "in", some, kept)
    questioning.questions(where, folder / "in/asked", Asking(seed=1), questioning.Writer())
    job = verifying.Job(questions=folder / "in/asked", annotators=("anna", "ben"), seed=1)
    verifying.send(job, folder / "in/sent")


ROADS = {
    "draw": Road("draw leaves --leaves 2", _nothing, (under("leaves"),), kills=40),
    "ingest": Road("ingest folder in/new --out set", _ingest, (counted("set"),)),
    "ingest an archive": Road(
        "ingest folder in/new.zip --out set", _ingest_archive, (counted("set"),)
    ),
    "label": Road("label set", _label, (counted("set"),)),
    "annotate": Road("annotate set --model leaf_box", _annotate, (counted("set"),)),
    "compose": Road(
        "compose set --out items.jsonl --split train", _compose,
        (together("items.jsonl", "items.drops.jsonl"),),
    ),
    "compose a mixture": Road(
        "compose set --training --out mix --healthy 0.2", _compose, (under("mix"),)
    ),
    "split": Road(
        "split old new", _split,
        (
            together("old/splits.jsonl", "old/leakage.json"),
            together("new/splits.jsonl", "new/leakage.json"), of_one_split,
        ),
        kills=40,
    ),
    "select": Road(
        "select in/items.jsonl --images in/new --want object=3,healthy=1 --out chosen", _select,
        (under("chosen"),), kills=40,
    ),
    "screen": Road(
        "screen in/pdfs --any-kind --out papers", _pdfs, (under("papers"),), kills=20
    ),
    "figures": Road(
        "figures in/papers --dpi 50 --out figures", _screened, (under("figures"),), kills=20
    ),
    "evidence": Road(
        "evidence in/figures --out evidence", _cut_out, (under("evidence"),), kills=20
    ),
    "scrub": Road("scrub set --names rules", _scrub, (looked_at,), kills=40),
    "facts": Road("facts set", _talks, (facts_counted,), kills=40),
    "knowledge": Road(
        "knowledge in/facts.jsonl --images in/release --out base", _facts, (under("base"),),
        kills=40,
    ),
    "questions": Road(
        "questions in/talks --out asked --options 4,5", _talks_asked, (under("asked"),), kills=20
    ),
    "review questions": Road(
        "review questions in/asked --dialogues in/talks --annotator anna --annotator ben "
        "--out sent",
        _talks_asked, (under("sent"),), kills=20,
    ),
    "review verified": Road(
        "review verified in/sent/anna.xlsx in/sent/ben.xlsx --sent in/sent --out back",
        _talks_asked, (under("back"),), kills=20,
    ),
    "review figures": Road(
        "review questions in/figures --annotator anna --annotator ben --third cora --out sent",
        _cut_out, (under("sent"),), kills=20,
    ),
    "review figures back": Road(
        "review verified in/sent/anna.xlsx in/sent/ben.xlsx --sent in/sent --out back",
        _figures_sent, (under("back"),), kills=20,
    ),
    "review export": Road(
        "review export in/bench --out sent --blind 0.5", _sent, (under("sent"),)
    ),
    "review import": Road(
        "review import in/export.json --sent in/sent --out back", _sent, (under("back"),)
    ),
    "review sample": Road(
        "review sample in/set --out audit --number 4", _audited, (under("audit"),), kills=20
    ),
    "adjudicate": Road(
        "adjudicate in/a.jsonl in/b.jsonl --generated in/key.jsonl --out gold", _experts,
        (under("gold"),),
    ),
    "review blind": Road(
        "review blind in/asked --out sent", _blind, (under("sent"),), kills=20
    ),
    "review answers": Road(
        "review answers in/export.json --sent in/sent --questions in/asked --out back", _blind,
        (under("back"),), kills=20,
    ),
    "adjudicate to gold and silver": Road(
        "adjudicate in/a.jsonl in/b.jsonl --generated in/key.jsonl --questions in/asked --out gold",
        _blind, (under("gold"),), kills=20,
    ),
    "guessable": Road(
        "guessable in/bench in/replies.jsonl --out guessed.jsonl", _guesses,
        (alone("guessed.jsonl"),), kills=20,
    ),
    "freeze": Road(f"{_FREEZE} --out bench", _freeze, (under("bench"),)),
    "train ablation": Road(
        "train ablation in/recipe.toml --quiet", _ablation,
        (
            together(
                "kept/half-seed0/scores.json", "kept/half-seed0/predictions.jsonl.gz",
            ),
            alone("kept/benchmarks/hand.jsonl.gz"), alone("kept/table.json"),
            alone("kept/table.md"), alone("kept/report.html"),
        ),
        kills=40,
    ),
    "train colour": Road("train colour in/bench --out colour.json", _train, (alone("colour.json"),),
                         kills=5),
    "train scratch": Road("train scratch in/recipe.toml --quiet", _scratch, (under("base"),),
                          kills=4),
    "predict": Road(
        f"{_PREDICT} --protocol candidates --out replies.jsonl", _predict, (_REPLIES,), kills=160
    ),
    "predict what failed": Road(
        f"{_PREDICT} --protocol candidates --out replies.jsonl", _predict_again, (_REPLIES,)
    ),
    "predict a control": Road(
        f"{_PREDICT} --protocol candidates+blank --out replies.jsonl", _predict, (_REPLIES,)
    ),
    "score": Road(
        "score in/bench in/a.jsonl in/b.jsonl --out results", _score, (alone("results/score.json"),)
    ),
    "predict questions": Road(
        "predict in/bench --model scripted --model-args table=in/table.jsonl --protocol choice "
        "--out replies.jsonl",
        _questions, (_REPLIES,), kills=40,
    ),
    "score answers": Road(
        "score in/bench in/choice.jsonl --out results", _questions,
        (together("results/score.json", "results/graded.jsonl"),), kills=40,
    ),
    "errors": Road(
        "errors in/bench in/choice.jsonl in/reasoned_choice.jsonl --out errors.jsonl", _questions,
        (alone("errors.jsonl"),), kills=20,
    ),
    "report of questions": Road(
        "report in/results --out page.html", _page_of_questions, (alone("page.html"),), kills=20
    ),
    "report": Road(
        "report in/results --out page.html", _report, (alone("page.html"),), kills=40
    ),
    "taxonomy describe": Road(
        "taxonomy describe rust scab wilt mildew --crop apple --out cues.toml --model scripted "
        "--model-args table=in/cues.jsonl",
        _describe, (any_of_its_cues,),
    ),
    "export coco": Road("export coco in/bench --out made", _predict, (under("made"),)),
    "export voc": Road("export voc in/bench --out made", _predict, (under("made"),)),
    "export parquet": Road(
        "export parquet in/bench --out made", _predict, (under("made"),), kills=20
    ),
    "export yolo": Road("export yolo in/bench --out made", _predict, (under("made"),), kills=20),
    "export by licence": Road(
        "export trl in/training --out made --by-licence", _training, (under("made"),), kills=40
    ),
    "export verl": Road(
        "export verl in/training --out made", _training, (under("made"),), kills=20
    ),
    "export questions": Road(
        "export llama_factory in/silver --out made --model m --template t", _silver,
        (under("made"),), kills=20,
    ),
    "run": Road(
        "run in/recipe.toml", _recipe,
        (
            counted("run/source"), under("run/leaves"), under("run/bench/benchmark"),
            together("run/items/benchmark.jsonl", "run/items/benchmark.drops.jsonl"),
            alone("run/replies/leaf.known_target.jsonl"), alone("run/results/score.json"),
            alone("run/report.html"),
        ),
        kills=24,
    ),
    "run over several sources": Road(
        "run in/recipe.toml", _recipe_of_several,
        (
            counted("run/sources/drawn"), counted("run/sources/folder"),
            together("run/sources/drawn/splits.jsonl", "run/sources/drawn/leakage.json"),
            under("run/training/mixture"),
        ),
        kills=24,
    ),
}  # fmt: skip
