"""Makes the format that an installed package brings, from one generator function and its class of options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from dataclasses import field, make_dataclass
from functools import partial
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.formats.custom_debate import JUDGE, OWN, CustomRules, own_debate
from disputatio.formats.format import Format
from disputatio.formats.options import FormatOptions
from disputatio.kernel import Seat


def format_of(function: Callable[..., Generator[Any, Any, Any]], options: type[FormatOptions]) -> Format:
    """The format whose rules ``function`` is; a package names it as an entry point of ``disputatio.formats``.

    Args:
        function: a generator function as in a file of rules. Its parameters are ``motion``, where it wants it, and the
            seats; those after a ``*`` are rules with their defaults.
        options: what may be asked of the format. Its ``name`` is what people type, and the first line of its docstring
            stands in lists of formats. An option and a rule of one name are the same.

    Raises:
        InvalidInputError: the options have no name, or a rule has no default.
    """
    name = options.model_fields["name"].default
    rows = list(inspect.signature(function).parameters.values())
    rules = [row for row in rows if row.kind is row.KEYWORD_ONLY]
    without = next((row.name for row in rules if row.default is row.empty), None)
    if not name or without is not None:
        what = f"the rule {without} has no default" if name else f"{options.__name__} has no default for its name"
        raise InvalidInputError(f"The format of {function.__module__} cannot be used: {what}.", "Give it one.")
    names = [row.name for row in rows if row.kind is not row.KEYWORD_ONLY]
    wants_motion = names[:1] == ["motion"]
    seats = tuple(Seat(row) for row in names[wants_motion:])
    own = {"file": function.__module__, "function": function.__name__, "seats": tuple(map(str, seats))}
    settings = {row.name: row.default for row in rules}
    body = [(key, type(value), field(default=value)) for key, value in {**settings, **own}.items()]

    def make(motion: str, speakers: list[Any], rules: Any) -> Generator[Any, Any, Any]:
        given = [motion, *speakers] if wants_motion else speakers
        return function(*given, **{key: getattr(rules, key) for key in settings})

    return Format(
        name=name,
        about=(options.__doc__ or name).strip().partition("\n")[0],
        seats=seats,
        rules=make_dataclass("InstalledRules", body, bases=(CustomRules,), frozen=True),
        rulebook=partial(own_debate, make, seats, _send),
        judges=frozenset({JUDGE} & set(seats)),
        options=options,
        prompts=OWN,
    )


def _send(rulebook: Generator[Any, Any, Any], brought: Any) -> Any:
    return rulebook.send(brought)
