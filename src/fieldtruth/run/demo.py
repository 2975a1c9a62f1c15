"""The whole loop on a small set: photos, a frozen benchmark, models, numbers, a report.

What it does is written in `demo.toml`, a recipe like any other. With a folder of photos it uses
those in place of drawn leaves. The model of photos and words that comes with this program is asked
about drawn leaves too, where what it runs on is installed. After the numbers it shows what becomes
of them when the calls that a dying server failed are taken for empty answers.
"""

import shutil
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path

from msgspec.structs import replace

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Prediction
from fieldtruth.run import execute, recipe, results, terminal, workspace
from fieldtruth.run.execute import Done
from fieldtruth.run.progress import Track
from fieldtruth.run.steps import Places
from fieldtruth.stages.score import Options, score

MARK = ".fieldtruth-demo"  # a folder that holds it may be made anew

TINY = "tiny"
TINY_NEEDS = ("torch", "transformers")
TINY_NOTE = (
    "The model tiny learned on other leaves that this program draws, smaller photos with larger "
    "symptoms and none of these greens, shapes and grounds: here it is on foreign ground, and its "
    "card tells what it does at home."
)
LEAF_NOTE = (
    "Your photos came with class folders and without boxes. The truth here is one box around the "
    "leaf, found by machine and checked by nobody, which is what one-leaf-box answers: read "
    "abstention, and recognition where your classes make lists of four names, and take nothing "
    "from the columns about boxes. The model colour learned on drawn leaves what a lesion looks "
    "like."
)
PLANTED_NOTE = (
    "Your photos came without classes, so symptoms were drawn on half and more of them: the truth "
    "is exact for what was drawn, and only for that. Photos left as they were count as healthy; "
    "where yours are not, abstention and precision are worse here than they should be."
)


def demo(
    out: Path,
    photos: Path | None,
    tell: Callable[[str], None],
    *,
    leaves: int | None = None,
    quiet: bool = False,
) -> Path:
    """Everything in `out`; returns the report's path. `tell` gets the lines meant for a terminal.

    `leaves` are drawn where there are no photos, as many as the recipe says if not given. Raises
    `Usage` where `out` holds something that no demo made, or the photos cannot serve.
    """
    _begin(out)
    with as_file(files("fieldtruth.run") / "demo.toml") as path:
        settings = [] if leaves is None else [f"draw.leaves={leaves}"]
        plain = recipe.read(path, settings).recipe
    if photos is None:
        made, told = with_tiny(plain, [name for name in TINY_NEEDS if find_spec(name) is None])
        if told:
            tell(told)
    else:
        made = _on(photos, plain, out, quiet=quiet)
    places = Places(out)

    def each(done: Done) -> None:
        if photos is not None and done.stage in ("annotate", "compose"):
            tell(done.said)  # how many of them were read, left out and why
        if done.step == "freeze benchmark":
            bench = places.bench("benchmark")
            manifest, _ = store.read_manifest(bench)
            tell(f"{manifest.items} photos frozen in {bench}")
        elif done.stage == "train":
            tell(done.said)
        elif done.stage == "score":
            tell(f"\n{done.said}")

    execute.execute(recipe.Opened(made, Path()), out, each=each, quiet=quiet)
    _show_naive(places, tell)
    tell(f"\n{made.report.note if made.report else ''}\nThe report, with the photos:")
    return places.page


def with_tiny(plain: recipe.Recipe, lacks: Sequence[str]) -> tuple[recipe.Recipe, str]:
    """The recipe with the model of photos and words; without it, and why, where packages lack."""
    if lacks:
        return plain, (
            f"{TINY}, the model of photos and words that comes with this program, is not asked: it "
            f"needs {' and '.join(lacks)} (pip install 'fieldtruth[transformers]')"
        )
    note = f"{plain.report.note} {TINY_NOTE}" if plain.report and plain.report.note else TINY_NOTE
    models = {**plain.models, TINY: recipe.Model(backend=TINY)}
    return replace(plain, models=models, report=recipe.Report(note=note)), ""


def _begin(out: Path) -> None:
    if out.exists() and any(out.iterdir()) and not (out / MARK).is_file():
        raise Usage(
            f"{out}: expected an empty folder or one of an earlier demo; name another --out"
        )
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).touch()  # first and never removed: a demo killed at any moment can be made anew
    for path in out.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARK:
            path.unlink()
    (out / execute.STAMPS).mkdir()


def _on(photos: Path, plain: recipe.Recipe, out: Path, *, quiet: bool) -> recipe.Recipe:
    """The recipe for the user's photos: by their classes, or with symptoms drawn where none are."""
    if not photos.is_dir():
        raise Usage(f"{photos}: expected a folder of leaf photos, got none there")
    looked = out / "photos"
    workspace.ingest("folder", photos, looked, Track("look at photos", quiet=quiet))
    whole = str(photos.resolve())
    if not workspace.label(looked).counts["targets"]:
        onto = recipe.Draw(onto=whole)
        return replace(plain, draw=onto, report=recipe.Report(note=PLANTED_NOTE))
    return replace(
        plain,
        draw=None,
        ingest=recipe.Ingest(source="folder", path=whole),
        annotate=recipe.Annotate(model="leaf_box"),
        freeze={
            name: replace(bench, name=f"folder-{bench.split}")
            for name, bench in plain.freeze.items()
        },
        train={
            name: replace(fit, also=str(Places(_lessons(plain, out, quiet=quiet)).bench(fit.on)))
            for name, fit in plain.train.items()
        },
        report=recipe.Report(note=LEAF_NOTE),
    )


def _lessons(plain: recipe.Recipe, out: Path, *, quiet: bool) -> Path:
    """Drawn leaves, frozen to train on: they teach what a lesion is where only classes tell."""
    folder = (out / "lessons").resolve()
    execute.execute(recipe.Opened(plain, Path()), folder, execute.Part(until="freeze"), quiet=quiet)
    return folder


def _show_naive(places: Places, tell: Callable[[str], None]) -> None:
    """The same replies scored as scripts do that take an error for an empty answer."""
    scores = results.load(places.results)
    bench = store.open_bench(places.bench("benchmark"))
    rows = [
        row
        for entry in scores["inputs"].predictions
        for row in store.read(places.results / entry.path, Prediction)
    ]
    naive = score(bench, rows, Options(as_published=True))
    tell("\nThe same replies, scored naively: a failed call is taken for an empty answer.")
    tell(terminal.naive_table(scores, naive))
