"""Weights that others trained: opened from a local folder or by a hub name, and which they are.

Only `safetensors` are read, and no code that comes with them: a pickle may run anything. What is
imported here is imported inside functions, so that nothing heavy loads before a model is asked for.
"""

import logging
import os
import socket
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from fieldtruth.faults import Usage

EXTRA = "transformers"
TRAINING = "train"
CONFIG = "config.json"
_WEIGHTS = ("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors")
_PRECISIONS = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}  # safetensors' names

T = TypeVar("T")


def load_torch() -> ModuleType:
    """torch, with warnings of a missing extra turned into `Usage`."""
    try:
        import torch
    except ImportError:
        raise Usage(
            f"this needs torch and transformers; install them with `pip install "
            f"'fieldtruth[{EXTRA}]'` (`pip install torch` for your machine first)"
        ) from None
    module: ModuleType = torch
    return module


def load_transformers() -> ModuleType:
    """transformers, silent but for errors; `Usage` where it or torch is not installed."""
    load_torch()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        import transformers
    except ImportError:
        raise Usage(
            f"this needs transformers; install it with `pip install 'fieldtruth[{EXTRA}]'`"
        ) from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    module: ModuleType = transformers
    return module


def load_peft() -> ModuleType:
    """peft, which holds LoRA; `Usage` where it is not installed."""
    load_transformers()
    try:
        import peft
    except ImportError:
        raise Usage(
            f"LoRA needs peft; install it with `pip install 'fieldtruth[{TRAINING}]'`"
        ) from None
    module: ModuleType = peft
    return module


def load_trl() -> ModuleType:
    """trl, the trainer; `Usage` where it or what it stands on is not installed."""
    load_peft()
    try:
        import accelerate  # noqa: F401
        import datasets
        import trl
    except ImportError as error:
        raise Usage(
            f"training needs trl, accelerate and datasets, and {error.name} is not there; install "
            f"them with `pip install 'fieldtruth[{TRAINING}]'`"
        ) from None
    datasets.disable_progress_bars()
    trl_module: ModuleType = trl
    return trl_module


@contextmanager
def hushed() -> Iterator[None]:
    """Libraries keep to themselves what they will change in a later version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def pick_device(said: str) -> str:
    """`auto` is a GPU where there is one; `Usage` where one is named that is not there."""
    torch = load_torch()
    if said == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if said != "cpu" and not said.startswith(("cuda", "mps", "xpu")):
        raise Usage(f"device: expected auto, cpu, cuda, cuda:N, mps or xpu, got {said!r}")
    try:
        torch.empty(0, device=said)
    except (RuntimeError, AssertionError):  # each kind has its own way of saying so
        there = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        there += ["mps"] if torch.backends.mps.is_available() else []
        there += [f"xpu:{number}" for number in range(torch.xpu.device_count())]
        raise Usage(
            f"device: expected one that this machine has, got {said!r}; it has: "
            f"{', '.join(['cpu', *there])}"
        ) from None
    return said


def no_memory(error: BaseException) -> bool:
    """Whether a GPU, or the machine, had no memory left."""
    if isinstance(error, (MemoryError, load_torch().OutOfMemoryError)):
        return True
    return "can't allocate memory" in str(error) or "out of memory" in str(error).lower()


def opened(place: str, how: Callable[[str], T]) -> T:
    """What `how` loads from `place`; `Usage` says why where it cannot.

    A path that is a folder is never looked up at the hub, and a missing one that looks like a
    path is refused instead of being asked for there.
    """
    if place.startswith((".", "/", "~")) and not Path(place).expanduser().is_dir():
        raise Usage(f"{place}: expected a folder with a model, got nothing there")
    there = Path(place).expanduser()
    expected = f"{place}: expected the folder or hub name of a model that transformers reads, got"
    if not there.is_dir() and _unreachable(place):
        raise Usage(
            f"{expected}: no such folder, nothing of it in the cache and no network; where there "
            "is no network, give a folder"
        )
    from safetensors import SafetensorError

    # Of imports: a library that only this kind of model asks for.
    faults = (ImportError, OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError)
    try:
        return how(str(there) if there.is_dir() else place)
    except faults as error:
        why = str(error).strip().splitlines() or [type(error).__name__]
        hint = "" if there.is_dir() else "; where there is no network, give a folder"
        raise Usage(f"{expected}: {why[0]}{hint}") from error


def whole(kind: Any, place: str, **options: Any) -> Any:
    """The model in a folder or under a hub name, by one of transformers' own classes.

    Raises `Usage` where it cannot be loaded, is not in safetensors, or lacks a weight or has one of
    another shape: the library draws at random what is not there, and says so in a log alone.
    """
    load = partial(kind.from_pretrained, use_safetensors=True, output_loading_info=True, **options)
    # Of shapes it would say nothing but to look at a log.
    model, told = opened(place, partial(load, ignore_mismatched_sizes=True))
    learnt = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    if misfits := sorted(told["mismatched_keys"]):
        name, *shapes = misfits[0]
        got, expected = (" x ".join(map(str, shape)) for shape in shapes)
        raise Usage(
            f"{place}: expected the weights that its {CONFIG} tells of, got {len(misfits):,} of "
            f"another shape, such as {name} of {got} in place of {expected}; the two do not belong "
            "together"
        )
    lacking = sorted(learnt & set(told["missing_keys"]))
    if lacking:
        raise Usage(
            f"{place}: expected all weights of a {type(model).__name__}, got none for "
            f"{len(lacking):,} of its parts, such as {lacking[0]}; the folder is not whole, or it "
            "was saved under names that transformers does not know"
        )
    return model


def _unreachable(name: str) -> bool:
    """Whether a hub name is certain to fail, without the minute of tries that the hub makes."""
    import huggingface_hub

    if any(os.environ.get(proxy) for proxy in ("https_proxy", "HTTPS_PROXY", "ALL_PROXY")):
        return False
    try:
        cached = huggingface_hub.try_to_load_from_cache(name, CONFIG)
        host = urlsplit(huggingface_hub.constants.ENDPOINT).hostname
        return not isinstance(cached, str) and not socket.getaddrinfo(host, 443)
    except ValueError:  # no name of a repository: the loader says so
        return False
    except OSError:
        return True


def fingerprint(place: str, model: Any) -> str:
    """16 hex digits that differ where weights, tokenizer or settings do.

    Of a folder: a hash of its files' names and contents. Of a hub name: the commit that was loaded.
    """
    folder = Path(place).expanduser()
    if not folder.is_dir():
        commit = getattr(model.config, "_commit_hash", None)
        return sha256(f"{place}@{commit}".encode()).hexdigest()[:16]
    return _digest({path for pattern in _WEIGHTS for path in folder.glob(pattern)})


def folder_of(place: str) -> Path:
    """The folder itself, or the one in the hub's cache that holds what was loaded of a name."""
    here = Path(place).expanduser()
    if here.is_dir():
        return here
    config = opened(place, partial(load_transformers().utils.cached_file, filename=CONFIG))
    return Path(str(config)).parent


def weights_of(place: str) -> str:
    """16 hex digits of the weights alone: the same for a copy elsewhere, or under a hub name."""
    return _digest(folder_of(place).glob("*.safetensors"))


def precision_of(place: str) -> str:
    """What most numbers of the weights are held in, as `bfloat16`.

    The files say so themselves; of settings, Qwen3-VL's tell it of their parts alone. Raises
    `Usage` for one that torch has no name for here.
    """
    from safetensors import safe_open

    counted = Counter[str]()
    for path in folder_of(place).glob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            for part in map(file.get_slice, file.keys()):
                counted[part.get_dtype()] += prod(part.get_shape())
    found = max(counted, key=lambda each: (counted[each], each), default="none")
    if found not in _PRECISIONS:
        raise Usage(
            f"{place}: expected weights in {', '.join(_PRECISIONS.values())}, got {found}; say in "
            "what to write them, as --dtype bfloat16"
        )
    return _PRECISIONS[found]


def _digest(paths: Iterable[Path]) -> str:
    """Of the files' names and contents."""
    whole = sha256()
    for path in sorted(paths):
        with path.open("rb") as file:
            whole.update(path.name.encode() + b"\0")
            while block := file.read(1 << 22):
                whole.update(block)
    return whole.hexdigest()[:16]


def settings_file(place: str, *names: str) -> dict[str, Any]:
    """The first of these JSON files that lies with the weights; `Usage` where none does."""
    cached_file = load_transformers().utils.cached_file
    for name in names:
        seek = partial(cached_file, filename=name, _raise_exceptions_for_missing_entries=False)
        found = opened(place, seek)
        if found:
            try:
                read: dict[str, Any] = msgspec.json.decode(Path(found).read_bytes(), type=dict)
            except msgspec.DecodeError as error:
                raise Usage(f"{found}: expected JSON, got: {error}") from None
            return read
    raise Usage(f"{place}: expected {' or '.join(names)} beside the weights, got neither")
