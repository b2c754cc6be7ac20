"""The table that a rule-based analyst argues from: signals, conditions, wording, sources, published rates.

The packaged table is ``textbook.toml``; a file of the same form can take its place. Everything is read and checked
before a debate starts, so that a slip in a file is one sentence and no failure in the middle.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.formats.market import ANALYSTS
from disputatio.formats.turns.market_arguments import LONGEST_CLAIM, ChallengeType
from disputatio.market.knowledge import blind_pointer as plain_pointers

TEXTBOOK = "textbook"
_CONDITION = re.compile(r"([a-z][a-z0-9_]*) +(>=|<=|>|<|is not|is) +(-?\d+(?:\.\d+)?|[a-z_]+)")
_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class Strength(StrEnum):
    """How much weight the literature gives a signal; the strongest is argued first."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"


@dataclass(frozen=True, slots=True)
class Condition:
    """One line of ``when``: a figure's name, how it is compared, and with what: a number or a word."""

    name: str
    test: str
    against: float | str


@dataclass(frozen=True, slots=True)
class Rate:
    """A published rate. ``steps``, highest first, give it by the value of the figure ``figure``."""

    source: str
    value: float = 0.5
    figure: str = ""
    steps: tuple[tuple[float, float], ...] = ()
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A signal and the argument that it makes."""

    seat: str
    name: str
    indicator: str
    figures: tuple[tuple[str, str], ...]
    when: tuple[Condition, ...]
    strength: Strength
    claim: str
    counterpoint: str
    assumes: str
    source: str
    rate: Rate


@dataclass(frozen=True, slots=True)
class Objection:
    """An objection to an argument whose pointers begin with ``against``."""

    seat: str
    against: str
    figures: tuple[tuple[str, str], ...]
    when: tuple[Condition, ...]
    kind: ChallengeType
    says: str
    source: str


@dataclass(frozen=True, slots=True)
class Textbook:
    """A whole table. ``text`` is the file it was read from."""

    name: str
    rules: tuple[Rule, ...]
    objections: tuple[Objection, ...]
    text: str = field(repr=False)

    def rules_of(self, seat: str) -> tuple[Rule, ...]:
        """The rules of one seat, the strongest first, else in the order of the table."""
        order = list(Strength)
        own = [row for row in self.rules if row.seat == seat]
        return tuple(sorted(own, key=lambda row: order.index(row.strength)))


@cache
def packaged_text() -> str:
    """The packaged table, as a file."""
    return files("disputatio.participants.analyst").joinpath("textbook.toml").read_text("utf-8")


@lru_cache(maxsize=8)
def read_textbook(text: str, where: str = "textbook.toml") -> Textbook:
    """The table in ``text``.

    Raises:
        InvalidInputError: it is no such table; names the rule and what is wrong with it.
    """
    try:
        body = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise unusable(where, f"it is no TOML: {error}") from None
    if body.get("version") != 1:
        raise unusable(where, f"its version is {body.get('version')!r}, and this program reads version 1")
    rates, steps = _table(body.get("rates")), _table(body.get("steps"))
    rules = tuple(_rule(row, rates, steps, where) for row in _rows(body.get("rule")))
    objections = tuple(_objection(row, where) for row in _rows(body.get("objection")))
    if not rules:
        raise unusable(where, "it has no rule")
    names = [(row.seat, row.name) for row in rules]
    twice = next((row for row in names if names.count(row) > 1), None)
    if twice:
        raise unusable(where, f"{twice[0]} has two rules called {twice[1]!r}")
    return Textbook(str(body.get("name") or where), rules, objections, text)


_WORDING = (("federal funds rate", "policy rate"), ("VIX", "fear index"), ("corporate America", "the listed companies"))


@lru_cache(maxsize=8)
def in_plain_words(book: Textbook) -> Textbook:
    """The same table for a knowledge base without names: other words for what is looked at, the same conditions."""
    text = plain_pointers(book.text)
    for named, plain in _WORDING:
        text = text.replace(named, plain)
    return read_textbook(text, book.name)


def _rule(row: Mapping[str, Any], rates: Mapping[str, Any], steps: Mapping[str, Any], where: str) -> Rule:
    name = f"the rule {row.get('name')!r} of {row.get('seat')!r}"
    figures = _figures(row, name, where)
    claim = _word(row, "claim", name, where)
    _check_places(claim, figures, name, where)
    shown = _PLACE.sub("00000000", claim)
    if len(shown) > LONGEST_CLAIM + 20:
        raise unusable(where, f"the claim of {name} has {len(claim)} characters; under 100 are allowed")
    strength = _word(row, "strength", name, where)
    if strength not in list(Strength):
        raise unusable(where, f"the strength of {name} is {strength!r}; allowed are {', '.join(Strength)}")
    return Rule(
        seat=_seat(row, name, where),
        name=_word(row, "name", name, where),
        indicator=_word(row, "indicator", name, where),
        figures=figures,
        when=_conditions(row, figures, name, where),
        strength=Strength(strength),
        claim=claim,
        counterpoint=_word(row, "counterpoint", name, where),
        assumes=_word(row, "assumes", name, where),
        source=_word(row, "source", name, where),
        rate=_rate(row, figures, rates, steps, name, where),
    )


def _objection(row: Mapping[str, Any], where: str) -> Objection:
    name = f"the objection of {row.get('seat')!r} against {row.get('against')!r}"
    figures = _figures(row, name, where)
    says, kind = _word(row, "says", name, where), _word(row, "type", name, where)
    _check_places(says, figures, name, where)
    if kind not in list(ChallengeType):
        raise unusable(where, f"the type of {name} is {kind!r}; allowed are {', '.join(ChallengeType)}")
    return Objection(
        seat=_seat(row, name, where),
        against=_word(row, "against", name, where),
        figures=figures,
        when=_conditions(row, figures, name, where),
        kind=ChallengeType(kind),
        says=says,
        source=_word(row, "source", name, where),
    )


def _figures(row: Mapping[str, Any], name: str, where: str) -> tuple[tuple[str, str], ...]:
    given = row.get("figures", {})
    if not isinstance(given, Mapping) or not all(isinstance(basis, str) for basis in given.values()):
        raise unusable(where, f"the figures of {name} are no table of names and pointers")
    return tuple((str(key), str(basis)) for key, basis in given.items())


def _conditions(
    row: Mapping[str, Any], figures: Sequence[tuple[str, str]], name: str, where: str
) -> tuple[Condition, ...]:
    found = []
    for line in row.get("when", ()):
        match = _CONDITION.fullmatch(line.strip()) if isinstance(line, str) else None
        if match is None or match[1] not in dict(figures):
            allowed = f"a figure ({', '.join(dict(figures)) or 'none'}), then > >= < <= and a number, or is and a word"
            raise unusable(where, f"a condition of {name} is {line!r}; it has to be {allowed}")
        against = match[3]
        found.append(Condition(match[1], match[2], float(against) if match[2][0] in "<>" else against))
    return tuple(found)


def _rate(
    row: Mapping[str, Any],
    figures: Sequence[tuple[str, str]],
    rates: Mapping[str, Any],
    steps: Mapping[str, Any],
    name: str,
    where: str,
) -> Rate:
    by = row.get("by")
    if isinstance(by, Mapping):
        table = _table(steps.get(str(by.get("steps"))))
        figure = str(by.get("figure"))
        if not table or figure not in dict(figures):
            raise unusable(where, f"the rate of {name} goes by steps or a figure that the file does not have")
        return Rate(
            _source(table, name, where),
            figure=figure,
            steps=_steps(table, name, where),
            inverse=bool(by.get("inverse")),
        )
    found = _table(rates.get(str(row.get("confidence"))))
    if not found or not _is_number(found.get("value")) or not 0 <= float(found["value"]) <= 1:
        raise unusable(where, f"the confidence of {name} is {row.get('confidence')!r}; allowed: {', '.join(rates)}")
    return Rate(_source(found, name, where), float(found["value"]))


def _steps(table: Mapping[str, Any], name: str, where: str) -> tuple[tuple[float, float], ...]:
    """Pairs of a bound and a rate, the highest bound first."""
    rows = table.get("steps")
    pairs = rows if isinstance(rows, list) else []
    if not pairs or not all(isinstance(row, list) and len(row) == 2 and all(map(_is_number, row)) for row in pairs):
        raise unusable(where, f"the steps of {name} are no list of pairs of numbers")
    found = tuple((float(low), float(rate)) for low, rate in pairs)
    if [low for low, _ in found] != sorted((low for low, _ in found), reverse=True):
        raise unusable(where, f"the steps of {name} do not begin with the highest")
    if not all(0 <= rate <= 1 for _, rate in found):
        raise unusable(where, f"the steps of {name} have a rate that is not between 0 and 1")
    return found


def _source(table: Mapping[str, Any], name: str, where: str) -> str:
    if not isinstance(table.get("source"), str):
        raise unusable(where, f"the rate of {name} has no source")
    return str(table["source"])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _word(row: Mapping[str, Any], key: str, name: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise unusable(where, f"{name} has no {key}")
    return value.strip()


def _seat(row: Mapping[str, Any], name: str, where: str) -> str:
    seat = _word(row, "seat", name, where)
    if seat not in ANALYSTS:
        raise unusable(where, f"{name} is for a seat that there is not; seats are {', '.join(ANALYSTS)}")
    return seat


def _check_places(text: str, figures: Sequence[tuple[str, str]], name: str, where: str) -> None:
    lost = [place for place in _PLACE.findall(text) if place not in dict(figures)]
    if lost:
        raise unusable(where, f"the wording of {name} has the place {{{lost[0]}}}, which is no figure of it")


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """``text`` with its places filled."""
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), text)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def unusable(where: str, cause: str) -> InvalidInputError:
    """A sentence on a table that cannot be used; ``cause`` is a clause that names the rule."""
    return InvalidInputError(
        f"The rules in {where} cannot be used: {cause}.",
        "Compare it with the packaged table: `disputatio market rules` prints it.",
    )
