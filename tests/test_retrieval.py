"""Sentence embeddings and the index: the packaged weights, known cosines, exact search."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldtruth import retrieval
from fieldtruth.faults import Usage
from fieldtruth.retrieval import Embedder, Index

HERE = find_spec(retrieval.PACKAGE) is not None
packaged = pytest.mark.skipif(not HERE, reason="the extra `retrieve` is not installed")

BUGS = "Squash bugs suck the sap of zucchini leaves."
SOAP = "Drop the insects into soapy water."
RINGS = "Early blight makes dark rings on the lower leaves of tomatoes."


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


@packaged
@pytest.mark.slow
def test_what_is_near_what(embedder: Embedder) -> None:
    index = Index(embedder.vectors([BUGS, SOAP, RINGS]))
    asked = ["brown circles on my tomato plant", "How do I kill bugs?", RINGS]
    [rings, kill, same] = index.nearest(embedder.vectors(asked), 3)
    assert rings[0][0] == 2
    assert {row for row, _ in kill[:2]} == {0, 1}
    assert same[0][0] == 2
    assert same[0][1] == pytest.approx(1, abs=1e-5)


@packaged
@pytest.mark.slow
def test_a_sentence_is_the_same_in_any_company(embedder: Embedder) -> None:
    alone = embedder.vectors([BUGS])
    long = " ".join([RINGS] * 60)  # more tokens than are read
    among = embedder.vectors([long, SOAP, BUGS, ""])
    assert among.shape == (4, 384)
    np.testing.assert_allclose(among[2], alone[0], atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(among, axis=1), 1, atol=1e-5)
    assert embedder.vectors([]).shape == (0, 384)


@packaged
@pytest.mark.slow
def test_the_numbers_of_the_published_model(embedder: Embedder) -> None:
    """What its makers' own library (sentence-transformers 6.2.0) gives for the same weights."""
    one, other = embedder.vectors(["This is an example sentence", "Each sentence is converted"])
    assert float(one @ other) == pytest.approx(0.4045593, abs=1e-5)
    assert one[:4].tolist() == pytest.approx(
        [0.06765691, 0.06349594, 0.04871314, 0.07930505], abs=1e-5
    )


def test_a_folder_that_is_none() -> None:
    pytest.importorskip("transformers")
    with pytest.raises(Usage, match="expected a folder with a model"):
        Embedder("./nowhere")


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 50))
def test_the_index_finds_what_looking_at_all_finds(seed: int, rows: int, k: int) -> None:
    pytest.importorskip("faiss")
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(rows, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[: min(3, rows)]
    found = Index(vectors).nearest(queries, k)
    for query, pairs in zip(queries, found, strict=True):
        cosines = [float(np.dot(query, each)) for each in vectors]
        best = sorted(cosines, reverse=True)[:k]
        assert [cosine for _, cosine in pairs] == pytest.approx(best, abs=1e-5)


def test_ties_go_to_the_earlier_row() -> None:
    pytest.importorskip("faiss")
    same = np.tile(np.array([[1.0, 0.0]], np.float32), (5, 1))
    [[*rows]] = Index(same).nearest(same[:1], 4)
    assert [row for row, _ in rows] == sorted(row for row, _ in rows)
