"""The arguments of a debate: values by key with their sources, from any surface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from disputatio.config.document import expand_seat
from disputatio.config.environment import Environment
from disputatio.config.keys import Vocabulary, find_key
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean, quote
from disputatio.formats.options import read_debaters
from disputatio.options import Given, Option, Options, options_in
from disputatio.options.reading import KeyPath, dotted
from disputatio.request.model import Criterion, DebateRequest

_SEATED = ("seats", "personality")
"""The keys whose second level is a seat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """Values by key, each with its source. Nothing in them has been checked yet.

    Attributes:
        given: the values by key, as text or in a file's own types.
        base_url: the server's address for the seats that need one.
        config: a configuration file instead of the one in the working directory, or its content as a table.
        remote: whether a remote caller gives them. ``resolve`` then refuses addresses, files and commands.
    """

    given: tuple[tuple[KeyPath, Given], ...] = field(default=(), repr=False)
    base_url: str | None = None
    config: str | Mapping[str, Any] | None = None
    remote: bool = False

    def value(self, *path: str) -> Any:
        """The value given for a key, or None."""
        return next((given.value for key, given in self.given if key == path), None)

    def seated(self) -> tuple[tuple[str, Any], ...]:
        """The seats that get a whole model as PROVIDER:MODEL, each with it."""
        return tuple((path[1], given.value) for path, given in self.given if path[0] == "seats" and len(path) == 2)

    def with_seats(self, seats: Iterable[tuple[str, Any]], source: str = "--seat") -> Arguments:
        """Replace the named seats by ``seats``."""
        rest = [row for row in self.given if row[0][0] != "seats" or row[0][2:] == ("tools",)]
        new = [(("seats", seat), Given(who, source)) for seat, who in seats]
        return replace(self, given=(*new, *rest))

    def only(self, keep: Callable[[KeyPath], bool]) -> Arguments:
        """Keep the keys for which ``keep`` is true."""
        return replace(self, given=tuple((path, given) for path, given in self.given if keep(path)))

    def with_values(self, values: Mapping[KeyPath, object], source: str = "the command") -> Arguments:
        """Add values, which replace earlier ones of the same keys."""
        new = tuple((path, Given(value, source)) for path, value in values.items())
        return replace(self, given=(*new, *(row for row in self.given if row[0] not in values)))


def arguments_of(
    request: DebateRequest, *, remote: bool = False, directory: Path | None = None, **more: Any
) -> Arguments:
    """The arguments of a typed request, without the options that it leaves out.

    Args:
        request: the request.
        remote: whether a remote caller sent it.
        directory: where its paths start from.
        **more: see ``Arguments``.
    """
    place = directory or Path.cwd()
    return Arguments(given=tuple(_rows(request, place)), remote=remote, **more)


def _rows(request: DebateRequest, directory: Path) -> Iterator[tuple[KeyPath, Given]]:
    groups: list[Options] = [request, request.format, request.judging, request.budget, request.limits, request.tools]
    for group in groups:
        for row in options_in(type(group)):
            value = getattr(group, row.name) if row.owner is type(group) else None
            if row.key and row.name in group.model_fields_set and value is not None and not callable(value):
                yield from option_rows(row, value, f"{row.place} of the request", directory)


def option_rows(row: Option, value: Any, source: str, directory: Path) -> Iterator[tuple[KeyPath, Given]]:
    """The value of one option by key: one key for each name of a mapping."""
    if not row.is_mapping:
        yield tuple(row.key.split(".")), Given(list(value) if isinstance(value, tuple) else value, source, directory)
        return
    for name, each in value.items():
        path = tuple(
            part for level in row.key.split(".") for part in (name.split(".") if level == "<rule>" else [level])
        )
        path = tuple(name if part.startswith("<") else part for part in path)
        where = f"{source.partition(' of ')[0]}.{name} of the request" if " of the request" in source else source
        if isinstance(each, Criterion):
            yield (*path, "weight"), Given(each.weight, where, directory)
            if each.question is not None:
                yield (*path, "question"), Given(each.question, where, directory)
        else:
            yield path, Given(list(each) if isinstance(each, tuple) else each, where, directory)


def read_arguments(arguments: Arguments, vocabulary: Vocabulary) -> dict[KeyPath, Given]:
    """All values of ``arguments``, by key.

    Raises:
        InvalidInputError: a name does not exist, or a key has two different values.
    """
    found: dict[KeyPath, Given] = {}
    for path, given in _named(arguments.given, vocabulary):
        before = found.get(path)
        if before is not None and before.value != given.value:
            sources = " and ".join(dict.fromkeys((before.source, given.source)))
            raise InvalidInputError(
                f"{dotted(path)} is given twice with different values (from {sources}).", "Give it once."
            )
        found[path] = given
    return found


def _named(given: Iterable[tuple[KeyPath, Given]], vocabulary: Vocabulary) -> Iterator[tuple[KeyPath, Given]]:
    for path, row in given:
        named = (path[0], _seat(path[1], row.source, vocabulary), *path[2:]) if path[0] in _SEATED else path
        key, goes_on = find_key(named, vocabulary, row.source)
        if key is None:
            more = " It contains other keys." if goes_on else ""
            raise InvalidInputError(
                f"{dotted(named)} (from {row.source.partition(' ')[0]}) is not a key with a value.{more}",
                "Give the whole key, such as budget.usd=0.50.",
            )
        yield from expand_seat(named, row)


def _seat(name: str, source: str, vocabulary: Vocabulary) -> str:
    seat, known = name.strip().lower(), vocabulary.scope_names()
    if seat not in known:
        raise InvalidInputError(
            f"There is no seat {quote(seat)} (from {source}) in this format.",
            f"{did_you_mean(seat, known)}Allowed are: {', '.join(known)}.",
        )
    return seat


VARIABLE = "DISPUTATIO_DEBATERS"
KEY = "debaters"


def name_seats(
    default: Sequence[str], arguments: Arguments, environment: Environment, in_file: Given | None
) -> tuple[str, ...]:
    """The debaters of a panel, in the order in which they speak.

    Seats, models and weights refer to these names, so they are read first. The highest source wins: ``--debaters`` (or
    ``--set debaters=...``), the seats that ``--seat`` names, ``DISPUTATIO_DEBATERS``, the key ``debaters`` of the file,
    the format's own names.

    Raises:
        InvalidInputError: a name is not allowed or is repeated, or there is no name.
    """
    given = _given(arguments, environment.directory) or environment.get(VARIABLE) or in_file
    return read_debaters(KEY, given) if given is not None else tuple(default)


def debater_names(given: Given | None) -> frozenset[str]:
    """The debaters that a file names. In formats without debaters, settings for them have no effect."""
    return frozenset(read_debaters(KEY, given)) if given is not None else frozenset()


def _given(arguments: Arguments, directory: Path) -> Given | None:
    for path, given in arguments.given:
        if path == (KEY,):
            return given
    seated = [seat.strip().lower() for seat, _ in arguments.seated()]
    seated = [name for name in dict.fromkeys(seated) if name not in {"all", ""}]
    source = next((given.source.partition(" ")[0] for path, given in arguments.given if path[0] == "seats"), "")
    return Given(seated, source, directory) if seated else None
