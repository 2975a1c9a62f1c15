"""What was trained made ready to ship: half precision, only the files that are read, and hashes.

python -m fieldtruth.models.tiny.packing OUT/best
"""

import sys
from pathlib import Path

import msgspec

from fieldtruth import pretrained, store
from fieldtruth.faults import Refused
from fieldtruth.models.tiny import SUMS, WEIGHTS
from fieldtruth.models.transformers import loading
from fieldtruth.models.transformers.card import read_card, write_card
from fieldtruth.models.transformers.saving import copy_processor

MOST = 16_000_000  # bytes


def pack(trained: Path, out: Path = WEIGHTS, most: int = MOST) -> int:
    """Write `out`, in place of what is there; returns how many bytes it takes.

    Raises `Refused` where that is more than `most`.
    """
    torch = pretrained.load_torch()
    model = loading.load(str(trained), "cpu", "float32").model
    with store.drafting(out) as part:
        model.to(torch.float16).save_pretrained(part)
        copy_processor(str(trained), part)
        card = read_card(trained)
        if card is not None:
            write_card(part, msgspec.structs.replace(card, base="fieldtruth train scratch"))
        files = sorted(path for path in part.iterdir() if path.is_file())
        for path in files:
            path.chmod(0o644)  # some are written for their owner alone
        whole = sum(path.stat().st_size for path in files)
        if whole > most:
            raise Refused(f"{trained}: expected at most {most:,} bytes to ship, got {whole:,}")
        lines = [f"{store.sha256(path)}  {path.name}\n" for path in files]
        (part / SUMS).write_text("".join(lines), encoding="utf-8")
        for old in out.iterdir() if out.is_dir() else ():
            old.unlink()
        store.publish(part, out)
    return whole


if __name__ == "__main__":
    sys.stdout.write(f"{pack(Path(sys.argv[1])):,} bytes in {WEIGHTS}\n")
