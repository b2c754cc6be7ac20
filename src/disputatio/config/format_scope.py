"""What the configuration may decide about a format, read from its rules.

A configuration file may serve several formats, so the names of the others are known too. They are looked up when a file
first names what this format does not have, because that imports every format there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import fields
from functools import cached_property
from typing import Any

from disputatio.config.settings import FormatScope
from disputatio.formats.format import Format
from disputatio.formats.registry import FORMATS
from disputatio.kernel import Limits

_SET_ELSEWHERE = {"minimum_arguments", "maximum_arguments", "closing_words", "rubric", "bench", "brief", "cast"}
_SET_ELSEWHERE |= {"speaker_selected_by"}


class _Later(Set[str]):
    """Names that are looked up when somebody asks for one."""

    def __init__(self, look_up: Callable[[], Iterable[str]]) -> None:
        self._look_up = look_up

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self._look_up())

    @classmethod
    def _from_iterable(cls, names: Iterable[str]) -> frozenset[str]:  # type: ignore[override]
        return frozenset(names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def format_scope(form: Format) -> FormatScope:
    """What the configuration may decide about ``form``."""
    from disputatio.formats.custom_debate import OF_THE_FILE
    from disputatio.judging.scoring import RUBRICS

    defaults = form.rules()
    recorded = getattr(form.rules, "ABSENT", {})
    elsewhere = {*_SET_ELSEWHERE, *form.options.model_fields, *OF_THE_FILE, *recorded}
    limits = {row.name for row in fields(defaults) if isinstance(getattr(defaults, row.name), Limits)}
    own = {
        row.name: getattr(defaults, row.name)
        for row in fields(defaults)
        if row.name not in limits and row.name not in elsewhere
    }
    phases = _phases(form)
    own_seats = {*form.seats, *form.further_seats}
    return FormatScope(
        name=form.name,
        phases=tuple(sorted(phases)),
        rubrics=tuple(RUBRICS),
        rules=own,
        other_seats=_Later(lambda: _every(_seats, form) - own_seats),
        repeatable={str(seat): most for seat, most in form.repeatable.items()},
        further_seats=form.further_seats,
        other_phases=_Later(lambda: _every(_phases, form) - phases),
        other_rules=_Later(lambda: _every(_rules, form) - set(own)),
        free_seats=form.free_seats,
        personalities=hasattr(defaults, "cast"),
        usual_provider=form.usual_provider,
    )


def any_format() -> FormatScope:
    """What the configuration may say where no debate is held: whatever one of the formats takes."""
    return FormatScope(
        other_seats=_Later(lambda: _every(_seats)),
        other_phases=_Later(lambda: _every(_phases)),
        other_rules=_Later(lambda: _every(_rules)),
    )


def _every(names: Callable[[Format], Iterable[str]], besides: Format | None = None) -> set[str]:
    """The names that any format has, ``besides`` left out."""
    others = (row for name, row in FORMATS.items() if besides is None or name != besides.name)
    return {name for row in others for name in names(row)}


def _seats(form: Format) -> Iterator[str]:
    yield from (str(seat) for seat in (*form.seats, *form.further_seats))


def _rules(form: Format) -> Iterator[str]:
    yield from (row.name for row in fields(form.rules))


def _phases(form: Format) -> frozenset[str]:
    """The phases whose token limits and temperatures can be set."""
    rules: Any = form.rules()
    return frozenset(
        row.name.replace("_", "-") for row in fields(rules) if isinstance(getattr(rules, row.name), Limits)
    )
