"""Resolve settings in the environment and working directory of this process. Every surface begins here.

A configuration file may serve several formats, so names of other formats are allowed in it. They are looked up only
when a file uses a name that this format lacks, because that imports every format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from disputatio.config.arguments import Arguments
from disputatio.config.resolve import resolve
from disputatio.config.settings import FormatScope, Settings
from disputatio.formats.format import Format
from disputatio.formats.registry import FORMATS
from disputatio.kernel import Limits


def settings_for(
    form: Format,
    arguments: Arguments | None = None,
    *,
    scope: FormatScope | None = None,
    seats: Sequence[str] | None = None,
) -> Settings:
    """Resolve the settings of a debate of this format.

    Args:
        form: its format.
        arguments: the arguments of the request.
        scope: what the configuration may set, if it differs from what the format says.
        seats: the seats that models take, if they are not all seats of the format.

    Raises:
        InvalidInputError: a value cannot be used or does not exist.
    """
    return resolve(
        format_name=form.name,
        seats=tuple(form.seats if seats is None else seats),
        environ=os.environ,
        directory=Path.cwd(),
        arguments=arguments or Arguments(),
        options=scope or format_scope(form),
    )


def configured_store(arguments: Arguments) -> Settings:
    """Settings that name the store. Settings of seats and formats are ignored.

    Raises:
        InvalidInputError: the configuration cannot be read.
    """
    return resolve(
        format_name="structured",
        seats=(),
        environ=os.environ,
        directory=Path.cwd(),
        arguments=replace(arguments.only(lambda path: path[0] != "seats"), base_url=None),
        options=any_format(),
    )


_SET_ELSEWHERE = {"minimum_arguments", "maximum_arguments", "closing_words", "rubric", "bench", "brief", "cast"}
_SET_ELSEWHERE |= {"speaker_selected_by"}


class _LazySet(Set[str]):
    """A set of names that is computed on first use."""

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
    """What the configuration may set about ``form``."""
    from disputatio.formats.custom_debate import FILE_RULES
    from disputatio.judging.scoring import RUBRICS

    defaults = form.rules()
    recorded = getattr(form.rules, "ABSENT", {})
    elsewhere = {*_SET_ELSEWHERE, *form.options.model_fields, *FILE_RULES, *recorded}
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
        other_seats=_LazySet(lambda: _names_of_all(_seats, form) - own_seats),
        repeatable={str(seat): most for seat, most in form.repeatable.items()},
        further_seats=form.further_seats,
        other_phases=_LazySet(lambda: _names_of_all(_phases, form) - phases),
        other_rules=_LazySet(lambda: _names_of_all(_rules, form) - set(own)),
        free_seats=form.free_seats,
        personalities=hasattr(defaults, "cast"),
        usual_provider=form.usual_provider,
    )


def any_format() -> FormatScope:
    """What the configuration may set if no debate is run: anything that any format has."""
    return FormatScope(
        other_seats=_LazySet(lambda: _names_of_all(_seats)),
        other_phases=_LazySet(lambda: _names_of_all(_phases)),
        other_rules=_LazySet(lambda: _names_of_all(_rules)),
    )


def _names_of_all(names: Callable[[Format], Iterable[str]], besides: Format | None = None) -> set[str]:
    """The names that any format has, except ``besides``."""
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
