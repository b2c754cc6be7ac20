"""Check that a remote request reaches only what the configuration of this process reaches.

The rules:

1. a request sets no option that is declared as ``local``;
2. for a seat it chooses a provider and the name of a model. Everything else (address, key, persona, fallback) is what
   the configuration gives that model in that seat without a request;
3. weights other than the default (a file, a repository, a model to fetch), and a rules table in a file, must be what
   the configuration names for the seat;
4. a seat may use the tools in ``TOOLS``, and those that the configuration gives it.

Rule 1 is checked before any value is read, since reading some values opens files. The others are checked on the result:
the seat is resolved again from the configuration alone, and both results must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from disputatio.config.arguments import Arguments
from disputatio.config.keys import Key, scopes
from disputatio.config.levels import Level
from disputatio.config.seats import ResolvedSeat
from disputatio.errors import InvalidInputError
from disputatio.options import Given
from disputatio.options.reading import KeyPath, dotted
from disputatio.participants.local_models import EMBEDDED_MODEL
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import TEXTBOOK
from disputatio.request.model import ADDRESS, OPERATOR

TOOLS = frozenset({"search", "calculate"})
IN_FILES: Mapping[str, str] = {"embedded": EMBEDDED_MODEL, "rules": TEXTBOOK}
"""Providers whose models are files or are fetched, each with the one model that every request may name."""


def check_keys(arguments: Arguments, asked: Mapping[KeyPath, Given], keys: Sequence[Key]) -> None:
    """Check rule 1, before values are read.

    Raises:
        InvalidInputError: names the first key that a remote caller may not set.
    """
    open_keys = {key.parts[0] for key in keys if key.row is not None and not key.row.local}
    for name in ("base_url", "config"):
        if getattr(arguments, name) is not None:
            raise refused_option(name, ADDRESS)
    for path in asked:
        if path[0] == "seats" and path[-1] == "base_url":
            raise refused_address(path[1])
        fits = [key for key in keys if _fits(key, path)]
        local = next((key.row.local for key in fits if key.row is not None and key.row.local), "")
        if local or path[0] not in open_keys or not fits:
            raise refused_option(dotted(path), local or OPERATOR)


def _fits(key: Key, path: KeyPath) -> bool:
    if key.parts[0] == "rules":
        return path[0] == "rules"
    return len(key.parts) == len(path) and all(
        part == level or part.startswith("<") for part, level in zip(key.parts, path, strict=True)
    )


def refused_option(key: str, why: str) -> InvalidInputError:
    """The error for an option that only the machine's user may set."""
    return InvalidInputError(
        f"A remote request may not set {key}: it is {why}.",
        "Leave it out. The operator of the server sets it there.",
    )


def refused_address(seat: str) -> InvalidInputError:
    """The error for a request that gives ``seat`` an address."""
    return InvalidInputError(
        f"The seat {seat} names an address, which a remote request may not.",
        "The operator of the server sets addresses, with LLM_BASE_URL or in its configuration.",
    )


def refused_file(seat: str, provider: str) -> InvalidInputError:
    """The error for a request that gives ``seat`` a file or a repository."""
    if provider == "rules":
        return InvalidInputError(
            f"The seat {seat} names a file of rules, which a remote request may not.",
            f"Allowed is rules:{TEXTBOOK}, the table that comes with the package.",
        )
    return InvalidInputError(
        f"The seat {seat} names weights (a file, a repository or a model to fetch), which a remote request may not.",
        f"Allowed is embedded, which is {EMBEDDED_MODEL}; the operator of the server sets others.",
    )


def most_specific(asked: Mapping[KeyPath, Given], seat: str) -> Mapping[KeyPath, Given]:
    """``asked`` with only the most specific model it names for ``seat``.

    Each name is a level of its own on a command line, and a level with another provider drops the address from below
    it. So ``all`` and ``pro`` together could bypass the address that the configuration has for ``pro``.
    """
    scope = next((name for name in reversed(scopes(seat)) if ("seats", name, "provider") in asked), None)
    others = {("seats", name, part) for name in scopes(seat) if name != scope for part in ("provider", "model")}
    return {path: given for path, given in asked.items() if path not in others}


def own_level(seating: ModelSeating, given: Given) -> Level:
    """The level that is added to the configuration to resolve a seat again without the request.

    Args:
        seating: what the request resolved to.
        given: carries the source and the directory.
    """
    level = {"provider": Given(seating.provider, given.source, given.directory)}
    if seating.model == IN_FILES.get(seating.provider, seating.model):
        level["model"] = Given(seating.model, given.source, given.directory)
    return level


def check_reach(seat: str, found: ResolvedSeat, own: ResolvedSeat) -> None:
    """Check rules 2 to 4 for one seat.

    Args:
        seat: its name.
        found: what the request resolved to.
        own: the same seat from the configuration alone, by ``own_level``.

    Raises:
        InvalidInputError: the seat would reach something that this configuration does not name for it.
    """
    if found.seating.model != own.seating.model:
        raise refused_file(seat, found.seating.provider)
    if found.seating.base_url != own.seating.base_url:
        raise refused_address(seat)
    if (found.seating, found.key, found.fallback_key) != (own.seating, own.key, own.fallback_key):
        raise InvalidInputError(
            f"The seat {seat} would not be what this server's configuration makes of it.",
            "Name PROVIDER:MODEL for it, or leave it out.",
        )
    strange = sorted(set(found.tools) - TOOLS - set(own.tools))
    if strange:
        raise InvalidInputError(
            f"The seat {seat} has tools that a remote request may not give it: {', '.join(strange)}.",
            f"Allowed are {' and '.join(sorted(TOOLS))}; the operator of the server sets others.",
        )
