"""A process that has everything imported and forks a child for every command it is given.

    stdin   one JSON line a command: {"words", "cwd", "event", "bytes", "full"}
    stdout  one JSON line a command: {"code", "out", "err", "events", "files"}

The child is the command line itself, with its exit codes. It watches, through Python's audit
events, whatever the command does to files below `cwd`, and nothing of the command is replaced:

- `event` n without `bytes`: SIGKILL just before the n-th of these;
- with `bytes` b: from the n-th on, the system lets no file grow beyond b bytes (RLIMIT_FSIZE), so
  the process is killed by SIGXFSZ in the middle of a write, at that very byte;
- with `full` as well: the write fails at that byte (EFBIG), as on a disk that is full.

`events` counts what happened; `files` are [event that opened it, bytes it got] for every file.

With a folder as its argument, the process mounts a disk of its own there (a tmpfs that nobody
else sees) and says `ready`, or why it may not. `disk` in a command are the mount options while it
runs, as `size=40k,nr_inodes=12`: then that disk is really full (ENOSPC).
"""

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import resource
import selectors
import signal
import sys
import traceback
from contextlib import redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from typing import Any

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Watch:
    """Counts what a command does to files, and carries out the plan at its event."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._home = plan["cwd"].rstrip("/") + "/"
        self._event: int | None = plan.get("event")
        self._bytes: int | None = plan.get("bytes")
        self._full = bool(plan.get("full"))
        self.count = 0
        self._opened: dict[str, int] = {}
        self.files: list[tuple[int, int]] = []

    def __call__(self, name: str, args: tuple[Any, ...]) -> None:
        if name == "open":
            path, flags = args[0], args[2]
            if flags & _WRITES and self._ours(path):
                self._opened[self._whole(path)] = self.count
                self._happens()
        elif name in _CHANGES and self._ours(args[0]):
            if name in ("os.rename", "os.remove"):
                self._close(self._whole(args[0]))
            self._happens()

    def end(self) -> None:
        """Enter the files that are still there under the name they were opened by."""
        for path in list(self._opened):
            self._close(path)

    def _happens(self) -> None:
        if self.count == self._event:
            if self._bytes is None:
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN if self._full else signal.SIG_DFL)
                hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
                resource.setrlimit(resource.RLIMIT_FSIZE, (self._bytes, hard))
        self.count += 1

    def _ours(self, path: Any) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        name = os.fsdecode(path)
        return not name.startswith("/") or name.startswith(self._home)

    def _whole(self, path: Any) -> str:
        return os.path.join(self._home, os.fsdecode(path))  # noqa: PTH118

    def _close(self, path: str) -> None:
        below = [each for each in self._opened if each == path or each.startswith(path + "/")]
        for each in below:
            event = self._opened.pop(each)
            if os.path.isfile(each):  # noqa: PTH113
                self.files.append((event, os.path.getsize(each)))  # noqa: PTH202


def child(plan: dict[str, Any], out: int, err: int, told: int) -> None:
    """Be the command; never returns."""
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.chdir(plan["cwd"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.argv = ["fieldtruth", *plan["words"]]
    watch = Watch(plan)
    sys.addaudithook(watch)
    code = 0
    try:
        from fieldtruth.cli import main

        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        code = 1
    watch.end()
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(told, json.dumps([watch.count, watch.files]).encode())
    os._exit(code)


def serve(plan: dict[str, Any]) -> dict[str, Any]:
    """Fork, listen until the child is gone, and say how it ended."""
    pipes = [os.pipe() for _ in range(3)]
    pid = os.fork()
    if pid == 0:
        child(plan, *(write for _, write in pipes))
    heard: dict[int, bytes] = {}
    with selectors.DefaultSelector() as waiting:
        for read, write in pipes:
            os.close(write)
            heard[read] = b""
            waiting.register(read, selectors.EVENT_READ)
        while waiting.get_map():
            for key, _ in waiting.select():
                chunk = os.read(key.fd, 65536)
                heard[key.fd] += chunk
                if not chunk:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    out, err, told = (heard[read] for read, _ in pipes)
    events, files = json.loads(told) if told else (0, [])
    return {
        "code": status,
        "out": out.decode(errors="replace"),
        "err": err.decode(errors="replace"),
        "events": events,
        "files": files,
    }


def warm_up() -> None:
    """Import all that any command may import later."""
    import fieldtruth.cli

    for module in pkgutil.walk_packages(fieldtruth.__path__, "fieldtruth."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in ("scipy.ndimage", "scipy.optimize", "jinja2", "pyarrow.parquet", "aiohttp"):
        importlib.import_module(name)
    from PIL import Image

    Image.init()
    with suppress(SystemExit), redirect_stderr(StringIO()):  # typer imports more when it first runs
        sys.argv = ["fieldtruth", "verify", os.devnull]
        fieldtruth.cli.main()
    gc.collect()
    gc.freeze()


class Disk:
    """A tmpfs in a namespace of users and mounts of this process's own; needs no rights."""

    _NEW_USERS, _NEW_MOUNTS, _REMOUNT = 0x10000000, 0x00020000, 32  # linux/sched.h, linux/mount.h
    ROOM = "size=64m,nr_inodes=100000"

    def __init__(self, place: str) -> None:
        self._place = place.encode()
        self._system = ctypes.CDLL(None, use_errno=True)
        users, groups = os.getuid(), os.getgid()
        self._check(self._system.unshare(self._NEW_USERS | self._NEW_MOUNTS))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {users} 1")
        Path("/proc/self/gid_map").write_text(f"0 {groups} 1")
        self._mount(self.ROOM, 0)

    def resize(self, options: str) -> None:
        """Make room, or take it away; what lies there stays."""
        self._mount(options, self._REMOUNT)

    def _mount(self, options: str, how: int) -> None:
        kind = b"tmpfs"
        self._check(self._system.mount(kind, self._place, kind, how, options.encode()))

    def _check(self, failed: int) -> None:
        if failed:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def main() -> None:
    """Commands in, endings out, until stdin closes."""
    commands, endings = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def tell(what: object) -> None:
        endings.write(json.dumps(what) + "\n")
        endings.flush()

    disk = None
    if len(sys.argv) > 1:
        try:
            disk = Disk(sys.argv[1])
        except OSError as error:
            tell(str(error))
            return
        tell("ready")
    warm_up()
    for line in commands:
        plan = json.loads(line)
        if disk is not None:
            disk.resize(plan.get("disk", disk.ROOM))
        end = serve(plan)
        if disk is not None:
            disk.resize(disk.ROOM)
        tell(end)


if __name__ == "__main__":
    sys.path = [each for each in sys.path if Path(each) != Path(__file__).parent]
    main()
