"""Packages whose modules are imported when a name of theirs is first used (PEP 562).

Whoever imports one module of a package imports the package before it, and should not wait for all its other modules.
Such a package takes ``__getattr__`` and ``__dir__`` from a module ``_front`` beside its ``__init__``, and shows type
checkers the names themselves. No name may be that of a module of the package: the import system puts modules where the
name would be.

``typing`` takes longer to import than an interpreter to start, so neither this module nor ``disputatio`` itself does.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    Front: TypeAlias = tuple[Callable[[str], object], Callable[[], list[str]]]


def front(package: str, rooms: Mapping[str, Sequence[str]]) -> Front:
    """The ``__getattr__`` and the ``__dir__`` of ``package``.

    Args:
        package: its dotted name.
        rooms: the names that each of its modules has; modules by what follows the package's name.
    """
    room_of = {name: room for room, names in rooms.items() for name in names}

    def fetched(name: str) -> object:
        """What the package lists as ``name``, from its module, and kept."""
        from importlib import import_module

        if name not in room_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{room_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        """What the package lists."""
        return sorted(room_of)

    return fetched, listed
