"""Several processes of one run, as torchrun or `accelerate launch` start them.

Each has a rank from 0 on and a share of the examples. The first one alone writes and speaks; what
it finds or says no to, all do. What is exchanged here are words and small records, over gloo:
gradients go their own way, through the trainer.
"""

import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from fieldtruth.faults import Fault, Usage
from fieldtruth.pretrained import load_torch

T = TypeVar("T")
# The others wait while one writes or validates; torch's own ten minutes would end the run.
PATIENCE = timedelta(days=1)
SHARDED = ("ACCELERATE_USE_DEEPSPEED", "ACCELERATE_USE_FSDP")

_group: list[Any] = []  # the group of this process, once it has joined


def rank() -> int:
    """Of this process, from 0 on."""
    return int(os.environ.get("RANK", "0"))


def count() -> int:
    """How many processes there are; 1 without a launcher."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def leads() -> bool:
    """Whether this is the process that writes and speaks."""
    return rank() == 0


def alone(what: str) -> None:
    """Raise `Usage` where there are several processes: what is asked for is done by one."""
    if count() > 1:
        raise Usage(f"{what}: expected one process, got several; start it without a launcher")


def join(device: str) -> str:
    """Meet the others; returns the device of this process: of several GPUs, its own.

    Raises `Usage` where the launcher would cut up the weights: checkpoints are of whole ones.
    """
    if count() == 1:
        return device
    for name in SHARDED:
        if os.environ.get(name, "false").lower() == "true":
            raise Usage(
                f"{name}: expected every process to hold all weights (data parallel), got a "
                "launcher that shards them; start it with torchrun, or accelerate launch "
                "--multi_gpu"
            )
    torch = load_torch()
    on_gpu = device.startswith("cuda")
    if on_gpu:
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
        torch.cuda.set_device(device)
    if not _group:
        dist = torch.distributed
        if not dist.is_initialized():
            dist.init_process_group("nccl" if on_gpu else "gloo", timeout=PATIENCE)
        _group.append(dist.new_group(backend="gloo", timeout=PATIENCE))
    return device


def wait() -> None:
    """Until all are here."""
    if count() > 1:
        load_torch().distributed.barrier(group=_group[0])


def first(work: Callable[[], T]) -> T:
    """What `work` comes to in the first process, in all of them.

    Where it raises a fault the first process does, and the others end as it will, without a word.
    """
    if count() == 1:
        return work()
    told: list[Any] = [None, None]
    if leads():
        try:
            told = [work(), None]
        except Fault as fault:
            _broadcast([None, fault.exit_code])
            raise
    told = _broadcast(told)
    if told[1] is not None:
        raise SystemExit(told[1])
    made: T = told[0]
    return made


def _broadcast(told: list[Any]) -> list[Any]:
    load_torch().distributed.broadcast_object_list(told, src=0, group=_group[0])
    return told


def shared(whole: Sequence[T]) -> Sequence[T]:
    """This process's share: every so manieth, from its rank on."""
    return whole[rank() :: count()]


def gathered(share: Sequence[T], total: int) -> list[T]:
    """All shares of `total` in the order they were cut from, in every process."""
    if count() == 1:
        return list(share)
    shares: list[Any] = [None] * count()
    load_torch().distributed.all_gather_object(shares, list(share), group=_group[0])
    return [shares[place % count()][place // count()] for place in range(total)]
