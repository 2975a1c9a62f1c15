"""Frozen benchmarks: freeze, verify, diff, export."""

from pathlib import Path
from typing import Annotated

import typer

from fieldtruth.cli.group import Json, Out, app, say


@app.command()
def freeze(
    records: Annotated[Path, typer.Argument(help="Items or questions, one JSON object a line.")],
    *,
    images: Annotated[Path, typer.Option(help="The folder that image paths are relative to.")],
    name: Annotated[str, typer.Option(help="The benchmark's name.")],
    version: Annotated[str, typer.Option(help="Its version.")],
    out: Out,
    split: Annotated[
        str, typer.Option(help="train, val or test; a trainer cannot open a test split.")
    ] = "test",
    published: Annotated[str | None, typer.Option(help="The day it is given out.")] = None,
    creator: Annotated[str | None, typer.Option(help="The lab that gives it out.")] = None,
    url: Annotated[str | None, typer.Option(help="Where it is given out.")] = None,
    cite: Annotated[str | None, typer.Option(help="How to cite it: BibTeX or a line.")] = None,
    audit: Annotated[
        Path | None, typer.Option(help="What `audit --json` printed of these photos.")
    ] = None,
    accept: Annotated[
        str | None, typer.Option(help="Why to freeze though the audit says no; frozen too.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Items or questions to a frozen benchmark."""
    from fieldtruth.stages import freeze as freezing

    about = freezing.About(published=published, creator=creator, url=url, cite=cite)
    settings = freezing.Settings(
        name=name, version=version, split=split, about=about, audited=audit, accept=accept
    )
    made = freezing.freeze(records, images, out, settings)
    say(made, freezing.line(made, out), as_json=as_json)


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="A frozen benchmark.")], *, as_json: Json = False
) -> None:
    """Whether a frozen benchmark is what its manifest says; names every file that is not."""
    from fieldtruth import store

    found = store.verify(folder)
    lines = [f"{each.path}: {each.what}" for each in found] or [f"{folder}: verified"]
    say(found, "\n".join(lines), as_json=as_json)
    raise typer.Exit(4 if found else 0)


@app.command()
def diff(
    a: Annotated[Path, typer.Argument(help="A frozen benchmark.")],
    b: Annotated[Path, typer.Argument(help="Another, or a later version of it.")],
    *,
    every: Annotated[bool, typer.Option("--all", help="Name every record that differs.")] = False,
    as_json: Json = False,
) -> None:
    """Items added, removed and changed from one frozen benchmark to another."""
    from fieldtruth.stages import diff as comparing

    found = comparing.diff(a, b)
    told = comparing.line(found, None if every else comparing.MOST)
    say(found, told, as_json=as_json)


ExportFormat = Annotated[
    str,
    typer.Argument(
        metavar="FORMAT",
        help="Of a benchmark: coco, yolo, voc, parquet, label_studio. Of training examples and "
        "questions: trl, llama_factory, ms_swift, verl. A file of formats/.",
    ),
]
Exportable = Annotated[
    Path,
    typer.Argument(
        help="A frozen benchmark, what `compose --training` made, or a file of questions."
    ),
]
Fetched = Annotated[
    bool,
    typer.Option("--fetched", help="With photos that may not be handed on: keep it to yourself."),
]
ByLicence = Annotated[
    bool, typer.Option("--by-licence", help="A folder for each licence, with an index.")
]
OtherSpace = Annotated[
    str | None,
    typer.Option(help="Ask and answer examples in this box space, in place of their own."),
]
PhotosOf = Annotated[
    Path | None,
    typer.Option(
        help="The folder of examples' photos, where they are elsewhere now; of a file of questions."
    ),
]
SplitOf = Annotated[
    str | None, typer.Option(help="Of a file of questions: train or val, never test.")
]
AskedHow = Annotated[
    str | None, typer.Option(help="How questions are asked; choice and open by form, else.")
]
TunedModel = Annotated[
    str | None, typer.Option(help="Write lora.yaml for LLaMA-Factory: this model, --template.")
]
Template = Annotated[
    str, typer.Option(help="LLaMA-Factory's name of the model's template: qwen3_vl_nothink.")
]
Length = Annotated[int, typer.Option(help="Tokens of a row at most, in lora.yaml.")]


@app.command()
def export(
    file_format: ExportFormat,
    source: Exportable,
    *,
    out: Out,
    fetched: Fetched = False,
    by_licence: ByLicence = False,
    space: OtherSpace = None,
    images: PhotosOf = None,
    split: SplitOf = None,
    protocol: AskedHow = None,
    model: TunedModel = None,
    template: Template = "",
    length: Length = 4096,
    as_json: Json = False,
) -> None:
    """A frozen benchmark, training examples or questions, in a format that other tools read."""
    from fieldtruth.stages import export as exporting

    tuned = model and exporting.Tuned(model=model, template=template, length=length)
    options = exporting.Options(
        fetched=fetched, by_licence=by_licence, space=space, images=images, split=split,
        protocol=protocol, tuned=tuned or None,
    )  # fmt: skip
    made = exporting.export(file_format, source, out, options)
    say(made, exporting.line(made, out), as_json=as_json)
