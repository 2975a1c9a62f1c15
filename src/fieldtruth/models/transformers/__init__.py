"""Any model of photos and words that transformers reads: Qwen3-VL and its like.

    --model transformers --model-args "path=Qwen/Qwen3-VL-2B-Instruct,max_pixels=50176"
    --model transformers --model-args "path=../base,adapter=out/sft/best"

`path` is a local folder or a hub name, `adapter` a folder with LoRA weights for it. Neither runs
code of its own, and only safetensors are read.

    settings   the options, and the box space of each kind of model
    loading    weights, adapter, precision, pixel caps
    processor  the stock processor, also where torchvision is not installed
    card       what is written beside trained weights: their base, their space, their caps
    encoding   photos and words -> tensors, one request at a time; requests -> a batch
    templates  how VisionReasoner and Seg-Zero are asked
    answering  batches in, words out
    on_cpu     the same arithmetic in an order that a CPU is quick at
    muon       how a small model learns all of its weights
"""

from collections.abc import Mapping

from fieldtruth.models.contract import Opener, settings_of
from fieldtruth.models.transformers.answering import Transformers
from fieldtruth.models.transformers.settings import Settings


def _open(options: Mapping[str, str]) -> Transformers:
    return Transformers(settings_of("transformers", options, Settings))


ACCELERATED = True  # a worker of it wants a GPU where there is one
OPEN: Opener = _open
