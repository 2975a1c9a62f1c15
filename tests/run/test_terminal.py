"""Tables for a terminal: every number with its interval and n, every outcome counted."""

from pathlib import Path

from tests.builders import HIT, four, replies

from fieldtruth.run import results, terminal
from fieldtruth.stages.score import Options

RIGHT = {"p0": HIT, "p1": HIT, "h0": "[]", "h1": "[]"}


def test_a_table_under_every_protocol(tmp_path: Path) -> None:
    bench = four(tmp_path / "bench")
    files = [
        replies(tmp_path / "a.jsonl", "right", RIGHT),
        replies(tmp_path / "b.jsonl", "silent", dict.fromkeys(RIGHT, "[]")),
        replies(tmp_path / "c.jsonl", "right", RIGHT, protocol="known_target"),
    ]
    told = terminal.table(results.score(bench, files, Options()))
    one, two = told.split("\n\n")
    head, columns, right, silent, counted, names, first, second, sentence = one.splitlines()
    assert head == "candidates: values with 95 % intervals and n"
    assert columns.split() == [
        "model", "recognition", "region_iou", "joint", "abstention", "first_option_share",
    ]  # fmt: skip
    assert right.split("n=")[0].split() == ["right", "1.000", "one", "group"]
    assert right.count("n=2") == 5
    assert silent.split()[:2] == ["silent", "0.000"]
    assert counted.strip() == "replies read as"
    assert names.split()[:6] == ["model", "boxes", "empty", "prose", "unreadable", "error"]
    assert first.split() == ["right", "2", "2", *["0"] * 7]
    assert second.split() == ["silent", "0", "4", *["0"] * 7]
    assert sentence.strip()
    assert two.startswith("known_target: values with 95 % intervals and n\n")
    assert "silent" not in two
    assert len({line.index("one group") for line in (right, silent)}) == 1


def test_a_dead_server_abstains_only_where_it_is_scored_naively(tmp_path: Path) -> None:
    bench = four(tmp_path / "bench")
    rows = [
        replies(tmp_path / "a.jsonl", "dead", {"p0": HIT, "p1": HIT}),
        replies(
            tmp_path / "b.jsonl", "dead", {"h0": "", "h1": ""}, finish="error", error="refused"
        ),
    ]
    ours = results.score(bench, rows, Options(allow_missing=1))
    naive = results.score(bench, rows, Options(as_published=True))
    head, dead = terminal.naive_table(ours, naive).splitlines()
    assert head.split("  ")[-1] == "failed calls"
    assert dead.split()[:3] == ["dead", "candidates", "1.000"]
    assert dead.split()[-1] == "2"
    assert ours["models"]["dead"]["candidates"]["metrics"]["abstention"]["n"] == 0
    assert dead.count("n=") == 1


def test_controls_and_orders_have_tables_too(tmp_path: Path) -> None:
    bench = four(tmp_path / "bench")
    orders = ("candidates", "candidates+rotate1", "candidates+rotate2", "candidates+rotate3")
    files = [
        replies(tmp_path / f"{name}.jsonl", "right", RIGHT, protocol=name)
        for name in (*orders, "candidates+blank", "open_set")
    ]
    told = terminal.table(results.score(bench, files, Options(resamples=20)))
    parts = told.split("\n\n")
    assert len(parts) == 7
    assert parts[4].splitlines()[1].split()[:2] == ["model", "false_abstention"]
    assert parts[5].splitlines()[1].split()[:3] == ["model", "open_strict", "open_lenient"]
    head, names, given, right = parts[6].splitlines()
    assert head == "places on the list, over all orders"
    assert names.split()[:4] == ["model", "protocol", "orders", "of"]
    assert given.split("given here")[1].split() == [
        "0.250", "n=8", "0.250", "n=8", "0.250", "n=8", "0.250", "n=8", "1.000", "n=2",
    ]  # fmt: skip
    assert right.split("truth here")[1].split() == ["1.000", "n=2"] * 4
