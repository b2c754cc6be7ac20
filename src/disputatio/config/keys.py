"""Every key that can be configured, derived from the options of requests and of the configuration.

A key's pattern has dots between its levels. ``<seat>``, ``<phase>``, ``<criterion>``, ``<model>`` and ``<rule>`` are
placeholders for names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from disputatio.config.settings import FormatScope
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean, quote
from disputatio.options import Option, Reader, options_in
from disputatio.options.reading import KeyPath, dotted
from disputatio.participants.providers import parse_seat_value
from disputatio.request.configuration import Configuration, Price
from disputatio.request.formats import options_of, options_of_formats
from disputatio.request.model import Criterion, DebateRequest, SeatOptions
from disputatio.request.reading import question

SERVER_NAME = r"(?!(?:search|calculate|none|search_sources|read_passage)\Z)[a-z][a-z0-9_-]{0,31}"
"""It may not be the name of a packaged tool, so that every name is unambiguous."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    Attributes:
        pattern: its place in a configuration file.
        read: turns the given value into its type.
        variable: the environment variable that sets it, for a seat from ``LLM_`` on; or empty.
        option: the command-line option that sets it, besides ``--set``; or empty.
        row: the declaration it comes from.
    """

    pattern: str
    read: Reader = field(repr=False)
    variable: str = ""
    option: str = ""
    row: Option | None = field(default=None, repr=False)

    @property
    def parts(self) -> KeyPath:
        """The levels of the pattern."""
        return tuple(self.pattern.split("."))


KEY_VARIABLES: Mapping[str, str] = {"api_key": "LLM_API_KEY", "fallback_api_key": "LLM_FALLBACK_API_KEY"}
"""The variables that hold keys. A file has no keys for them. There ``..._env`` names a variable instead."""


def _key_of(row: Option) -> Key:
    return Key(row.key, row.read, row.variable, row.flag, row)


def keys_of_options(rows: Iterable[Option]) -> tuple[Key, ...]:
    """The keys of options, each pattern once."""
    found: dict[str, Key] = {}
    for row in rows:
        if row.key:
            found.setdefault(row.key, _key_of(row))
            for part in options_in(Criterion) if row.name == "criteria" else ():
                read = row.read if part.name == "weight" else question
                found[f"{row.key}.{part.name}"] = Key(f"{row.key}.{part.name}", read)
    return tuple(found.values())


SEAT_KEYS: tuple[Key, ...] = keys_of_options(options_in(SeatOptions))
_COMMON: tuple[Key, ...] = keys_of_options(
    [*options_in(DebateRequest), *options_in(SeatOptions), *options_in(Configuration), *options_in(Price)]
)


def keys_of(format_name: str) -> tuple[Key, ...]:
    """Every key that can be configured. ``format_name`` decides if several formats have the same one."""
    first = list(options_of(format_name)) if format_name else []
    rest = [row for name in options_of_formats() if name != format_name for row in options_of(name)]
    taken = {key.pattern for key in _COMMON}
    return _COMMON + tuple(key for key in keys_of_options([*first, *rest]) if key.pattern not in taken)


SEAT_FIELDS: Mapping[str, Key] = {key.parts[2]: key for key in SEAT_KEYS if len(key.parts) > 2}


def sides(seats: Iterable[str]) -> dict[str, str]:
    """The side of each numbered seat: ``pro`` for ``pro_2``. Seats without a number have none."""
    matches = {seat: re.fullmatch(r"(.+)_\d+", seat) for seat in seats}
    return {seat: match[1] for seat, match in matches.items() if match}


def scopes(seat: str) -> tuple[str, ...]:
    """The names whose settings apply to a seat, widest first: ``all``, its side, itself."""
    side = sides([seat]).get(seat)
    return ("all", side, seat) if side else ("all", seat)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that may replace the placeholders."""

    seats: tuple[str, ...]
    options: FormatScope
    other_formats: bool = False
    """Whether names of other formats are allowed, as in a file."""

    def scope_names(self) -> tuple[str, ...]:
        """The names that may replace ``<seat>``."""
        seats = [
            *self.seats,
            *self.options.further_seats,
            *(sorted(self.options.other_seats) if self.other_formats else ()),
        ]
        return tuple(dict.fromkeys(["all", *seats, *sides(seats).values()]))

    def known(self, placeholder: str) -> tuple[str, ...] | None:
        """The names that may replace ``placeholder``; None if any well-formed name may."""
        if placeholder == "<seat>":
            return self.scope_names()
        if placeholder == "<phase>":
            others = self.options.other_phases if self.other_formats else frozenset()
            return (*self.options.phases, *sorted(others - set(self.options.phases))) or None
        if placeholder == "<rule>":
            others = self.options.other_rules if self.other_formats else frozenset()
            return tuple(sorted({*self.options.rules, *others}))
        return None

    def has_own(self, placeholder: str, name: str) -> bool:
        """Whether this format has ``name`` for ``placeholder``. Then there is no need to look at other formats."""
        return name in (replace(self, other_formats=False).known(placeholder) or ())


_WELL_FORMED = {
    "<phase>": ("a phase in small letters, such as cross-examination", r"[a-z][a-z0-9_-]{0,59}"),
    "<server>": ("a name in small letters, such as files", SERVER_NAME),
    "<criterion>": ("a name in small letters, such as logic", r"[a-z][a-z0-9_]{0,39}"),
}


def find_key(path: KeyPath, vocabulary: Vocabulary, source: str) -> tuple[Key | None, bool]:
    """The key at ``path``, and whether longer keys begin with it.

    Raises:
        InvalidInputError: there is no such key; suggests a similar one.
    """
    fitting = list(keys_of(vocabulary.options.name))
    for place, part in enumerate(path):
        here = [key for key in fitting if len(key.parts) > place]
        if here and here[0].parts[place] == "<rule>":
            return _find_rule(path, here[0], vocabulary, source)
        fitting = [key for key in here if key.parts[place] == part]
        if not fitting:
            fitting = [key for key in here if key.parts[place].startswith("<")]
            words = sorted({key.parts[place] for key in here if not key.parts[place].startswith("<")})
            if not fitting:
                raise _unknown(path, place, part, words, source)
            _check_name(fitting[0].parts[place], path, place, vocabulary, source)
    exact = [key for key in fitting if len(key.parts) == len(path)]
    return (exact[0] if exact else None), any(len(key.parts) > len(path) for key in fitting)


def _find_rule(path: KeyPath, key: Key, vocabulary: Vocabulary, source: str) -> tuple[Key | None, bool]:
    name = ".".join(path[1:])
    rules = vocabulary.options.rules if vocabulary.has_own("<rule>", name) else vocabulary.known("<rule>") or ()
    inner = any(rule.startswith(f"{name}.") for rule in rules)
    if name in rules or inner:
        return (key if name in rules else None), inner
    raise _unknown(path, len(path) - 1, name, rules, source)


def _check_name(placeholder: str, path: KeyPath, place: int, vocabulary: Vocabulary, source: str) -> None:
    name = path[place]
    if vocabulary.has_own(placeholder, name):
        return
    known = vocabulary.known(placeholder)
    if known is not None and name not in known:
        raise _unknown(path, place, name, known, source)
    if placeholder == "<model>":
        value = parse_seat_value(name, source=source)
        if value.model is None or value.base_url is not None:
            raise InvalidInputError(
                f"{source} gives a price for {quote(name)}, which names no model.",
                'Allowed is a table such as [price."openai:gpt-5"], with provider and model.',
            )
    elif known is None and placeholder in _WELL_FORMED:
        allowed, pattern = _WELL_FORMED[placeholder]
        if not re.fullmatch(pattern, name):
            raise InvalidInputError(
                f"{dotted(path)} (from {source}) has the name {quote(name)} in it, which cannot be used.",
                f"Allowed is {allowed}.",
            )


def _unknown(path: KeyPath, place: int, word: str, known: Iterable[str], source: str) -> InvalidInputError:
    known = list(known)
    if path[0] == "seats" and word in {"api_key", "key", "fallback_api_key"}:
        named = "fallback_api_key_env" if word.startswith("fallback") else "api_key_env"
        return InvalidInputError(
            f"{dotted(path)} (from {source}) would put a key where it gets copied and shared.",
            f"Set it in the environment or in .env, as LLM_API_KEY or a name of your own that {named} gives.",
        )
    what = "seat" if path[0] == "seats" and place == 1 else "key"
    allowed = f"Allowed are: {', '.join(known)}." if known else "This format has none."
    return InvalidInputError(
        f"There is no {what} {dotted(path[: place + 1])} (from {source}).",
        f"{did_you_mean(word, known)}{allowed}",
    )
