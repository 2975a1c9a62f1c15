"""Find the one file that answers to a name: `sources/coffee.py` is `ingest coffee`.

A room is a package in which every module but `contract` offers one thing; the file's name is
its registration. There is no list to edit and no decorator.
"""

import pkgutil
from importlib import import_module
from types import ModuleType

from fieldtruth.faults import Usage


def names(room: ModuleType) -> list[str]:
    """What a room offers, in alphabetical order, without importing what lies behind it."""
    found = {module.name for module in pkgutil.iter_modules(room.__path__)}
    return sorted(found - {"contract"})


def open_room(room: ModuleType, name: str) -> ModuleType:
    """Import the file of that name; `Usage` names what the room has instead."""
    if name not in names(room):
        where = room.__name__.rpartition(".")[2]
        raise Usage(f"{where} has no {name!r}; it has: {', '.join(names(room))}")
    return import_module(f"{room.__name__}.{name}")
