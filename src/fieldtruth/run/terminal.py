"""Scores as plain tables for a terminal: values with intervals and n, and every outcome."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fieldtruth.grading import OUTCOMES, open_protocol
from fieldtruth.grading.few_groups import marked
from fieldtruth.stages.report.numbers import Measured, digits
from fieldtruth.stages.report.questions import CUTS, FEW
from fieldtruth.stages.report.sentence import sentence
from fieldtruth.stages.report.view import probes


def table(scores: Mapping[str, Any]) -> str:
    """Under every protocol: the headline metrics, what replies were read as, and the sentence.

    Last, where a list was shown in several orders, what its places have to do with the answers.
    """
    scores = marked(scores)
    asked = dict.fromkeys(name for entry in scores["models"].values() for name in entry)
    return "\n\n".join([*(_protocol(scores, name) for name in asked), *_orders(scores)])


def naive_table(scores: Mapping[str, Any], naive: Mapping[str, Any]) -> str:
    """The same replies scored naively (as published) beside ours: who is said to abstain."""
    scores, naive = marked(scores), marked(naive)
    rows = [("model", "protocol", "abstention, naively", "abstention, here", "failed calls")]
    for model, protocols in scores["models"].items():
        for protocol, entry in protocols.items():
            theirs = naive["models"][model][protocol]["metrics"]["abstention"]
            ours = entry["metrics"]["abstention"]
            lost = entry["outcomes"]["error"] + entry["outcomes"]["missing"]
            rows.append((model, protocol, _cell(theirs), _cell(ours), str(lost)))
    return _columns(rows)


def answers(scores: Mapping[str, Any]) -> str:
    """The scores of questions: under every protocol each model over all, and type by type."""
    scores = marked(scores)
    asked = dict.fromkeys(name for entry in scores["models"].values() for name in entry)
    tables = [_answers(scores, name) for name in asked]
    tables += [*_runs(scores.get("runs", {})), *_parts(scores.get("paired_parts", ()))]
    for row in scores.get("agreement", ()):
        kappa = _cell(row["kappa"])
        tables.append(
            f"{row['model']} under {row['protocol']}, grades here and by hand: kappa {kappa}, "
            f"the same in {digits(row['agreement'])}"
        )
    return "\n\n".join(tables)


def _answers(scores: Mapping[str, Any], protocol: str) -> str:
    counted = ("correct", "partial", "incorrect", "not_attempted", "unscored", "n")
    rows = [("model", "type", "accuracy", "harmonic", *counted)]
    for model, entry in scores["models"].items():
        if protocol not in entry:
            continue
        mine = entry[protocol]
        for name, part in (("all", mine["all"]), *mine["types"].items()):
            values = (_cell(part["accuracy"]), _cell(part["harmonic"]))
            rows.append((model, name, *values, *(f"{part[each]:.4g}" for each in counted)))
        for cut in CUTS:
            for name, part in mine.get(cut, {}).items() if cut != "types" else ():
                values = (_cell(part["accuracy"]), _cell(part["harmonic"]))
                told = (f"{part[each]:.4g}" for each in counted)
                rows.append((model, f"{cut[:-1]}: {name}{_few(part['accuracy'])}", *values, *told))
        mean = mine["type_mean"]
        values = (_cell(mean["accuracy"]), _cell(mean["harmonic"]))
        rows.append((model, "mean of types", *values, *("" for _ in counted)))
    return f"{protocol}: values with 95 % intervals and n, then counts\n{_columns(rows)}"


def _few(metric: Mapping[str, Any]) -> str:
    """What stands beside a cell that too few questions stand behind to be quoted or ranked."""
    return f" (under {FEW})" if metric["n"] < FEW else ""


def _runs(runs: Mapping[str, Any]) -> Iterator[str]:
    rows = [("model", "protocol", "of", "accuracy", "sd over runs", "runs")]
    for model, protocols in runs.items():
        for protocol, told in protocols.items():
            cells = [("all", told["all"])]
            cells += [
                (f"{cut[:-1]}: {name}", each)
                for cut in CUTS
                for name, each in told.get(cut, {}).items()
            ]
            for name, each in cells:
                of = f"{name}{_few(each)}"
                spread = digits(each["sd"])
                rows.append((model, protocol, of, _cell(each), spread, str(len(told["runs"]))))
    if len(rows) > 1:
        yield "mean over runs, its interval over questions\n" + _columns(rows)


def _parts(paired: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = [("protocol", "of", "b - a", "accuracy")]
    for row in paired:
        of = "all" if row["cut"] == "all" else f"{row['cut'][:-1]}: {row['part']}"
        cell = _cell({"value": row["difference"], **row})
        rows.append((row["protocol"], f"{of}{_few(row)}", f"{row['b']} - {row['a']}", cell))
    if len(rows) > 1:
        yield "paired differences, part by part\n" + _columns(rows)


def _protocol(scores: Mapping[str, Any], protocol: str) -> str:
    models = {
        name: entry[protocol] for name, entry in scores["models"].items() if protocol in entry
    }
    headline = open_protocol(protocol).headline
    values = [("model", *headline)]
    counts = [("model", *OUTCOMES)]
    for name, entry in models.items():
        values.append((name, *(_cell(entry["metrics"][metric]) for metric in headline)))
        counts.append((name, *(str(entry["outcomes"][each]) for each in OUTCOMES)))
    return "\n".join([
        f"{protocol}: values with 95 % intervals and n", _columns(values),
        "  replies read as", _columns(counts), f"  {sentence(scores, protocol, headline)}",
    ])  # fmt: skip


def _orders(scores: Mapping[str, Any]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = []
    for each in probes(scores):
        same, orders = each.same, f"{each.orders} of 4"
        told = (f"{digits(same.value)} n={same.n}", "")
        lines = (("names given here", each.answers), ("right, the truth here", each.accuracy))
        for (what, cells), last in zip(lines, told, strict=True):
            shares = [f"{digits(cell.value)} n={cell.n}" for cell in cells]
            rows.append((each.model, each.protocol, orders, what, *shares, last))
    if rows:
        head = ("model", "protocol", "orders", "of", "1", "2", "3", "4", "same in every order")
        yield "places on the list, over all orders\n" + _columns([head, *rows])


def _cell(metric: Mapping[str, Any]) -> str:
    got = Measured.of(metric)
    if got.value is None:
        return digits(None)
    return f"{digits(got.value)} {got.interval} n={got.n}" + (f" of {got.few}" if got.few else "")


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  " + "  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
