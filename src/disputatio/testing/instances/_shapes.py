"""What a schema allows, as objects that can make an instance from a seed.

A shape knows its ``height``: how deep the shallowest instance is, and infinity where there is none. That
keeps recursive schemas finite: a shape behind a recursive reference is given less ``spare``, and when
nothing is spare every choice goes to the shallowest way.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final
from uuid import UUID

from disputatio.kernel import Json
from disputatio.testing.instances.patterns import Writer, matching
from disputatio.testing.instances.phrases import Kind, phrase
from disputatio.testing.instances.seeds import fraction, mixed

SPARE: Final = 2
"""How often one chain of recursive references may be followed before the shallowest way is taken."""

_TELL_APART_TRIES: Final = 64
_FINITE_LIMIT: Final = 256
_USUAL_ITEMS: Final = 3
_USUAL_ENTRIES: Final = 2
_SPAN: Final = 100


class Shape:
    """What one schema allows."""

    height: float = 0.0

    def make(self, seed: int, spare: int, /) -> Json:
        """The instance that ``seed`` leads to. Called only where ``height`` is finite."""
        raise NotImplementedError

    def least(self) -> float:
        """The height that follows from the heights of the shapes inside."""
        return 0.0

    def finite(self) -> Sequence[Json] | None:
        """All instances where they are few, else None."""
        return None

    @property
    def is_text(self) -> bool:
        """Whether this is free text, which should differ from its neighbours."""
        return False


class Nothing(Shape):
    """No instance at all."""

    height = math.inf

    def least(self) -> float:
        return math.inf


@dataclass(slots=True, eq=False)
class Listed(Shape):
    """One of the values of an ``enum``, a ``const``, a boolean or null."""

    values: tuple[Json, ...]
    height: float = 0.0

    def make(self, seed: int, _spare: int, /) -> Json:
        return self.values[(seed >> 7) % len(self.values)]

    def least(self) -> float:
        return 0.0 if self.values else math.inf

    def finite(self) -> Sequence[Json] | None:
        return self.values


@dataclass(slots=True, eq=False)
class Text(Shape):
    """A string of ``low`` to ``high`` characters, of a pattern or format where one is asked for."""

    kind: Kind
    low: int = 0
    high: int | None = None
    pattern: Writer | None = None
    form: str | None = None
    height: float = 0.0

    def make(self, seed: int, _spare: int, /) -> Json:
        if self.form is not None:
            return _FORMATS[self.form](seed)
        if self.pattern is None:
            return phrase(self.kind, seed, self.low, self.high)
        text = matching(self.pattern, seed, self.low, self.high)
        # A length that the pattern does not reach is found out by the check of the whole instance.
        return text if text is not None else self.pattern(seed, 0)

    def least(self) -> float:
        return math.inf if self.high is not None and self.high < self.low else 0.0

    @property
    def is_text(self) -> bool:
        return self.high != 0


@dataclass(slots=True, eq=False)
class Whole(Shape):
    """A multiple of ``step`` with a factor of ``low`` to ``high``; an integer where ``step`` is one."""

    low: int
    high: int
    step: Fraction = Fraction(1)
    height: float = 0.0

    def make(self, seed: int, _spare: int, /) -> Json:
        return self._value(self.low + (seed >> 7) % (self.high - self.low + 1))

    def least(self) -> float:
        return 0.0 if self.low <= self.high else math.inf

    def finite(self) -> Sequence[Json] | None:
        if self.high - self.low >= _FINITE_LIMIT:
            return None
        return [self._value(factor) for factor in range(self.low, self.high + 1)]

    def _value(self, factor: int) -> int | float:
        value = self.step * factor
        return int(value) if value.denominator == 1 else float(value)


@dataclass(slots=True, eq=False)
class Real(Shape):
    """A number between two bounds, each allowed itself or not."""

    low: float
    high: float
    low_allowed: bool = True
    high_allowed: bool = True
    height: float = 0.0

    def make(self, seed: int, _spare: int, /) -> Json:
        share = fraction(seed)
        raw = self.low * (1 - share) + self.high * share
        for value in (round(raw, 2), raw, self.low, self.high):
            if self._allows(value):
                return value
        return math.nextafter(self.low, self.high)

    def _allows(self, value: float) -> bool:
        above = value >= self.low if self.low_allowed else value > self.low
        return above and (value <= self.high if self.high_allowed else value < self.high)

    def least(self) -> float:
        inside = math.nextafter(self.low, self.high)
        possible = any(map(self._allows, (self.low, self.high, inside)))
        return 0.0 if possible else math.inf


@dataclass(slots=True, eq=False)
class Either(Shape):
    """What any one of several shapes allows."""

    branches: list[Shape] = field(default_factory=list)
    height: float = math.inf
    _open: list[Shape] = field(default_factory=list)
    _shallow: Shape | None = None

    def make(self, seed: int, spare: int, /) -> Json:
        if self._shallow is None:
            self._open = [branch for branch in self.branches if branch.height < math.inf]
            self._shallow = min(self._open, key=lambda branch: branch.height)
        chosen = self._open[(seed >> 7) % len(self._open)] if spare > 0 else self._shallow
        return chosen.make(mixed(seed), spare)

    def least(self) -> float:
        return 1 + min((branch.height for branch in self.branches), default=math.inf)

    @property
    def is_text(self) -> bool:
        return any(branch.is_text for branch in self.branches)


@dataclass(slots=True, eq=False)
class Again(Shape):
    """A reference back to a shape that stands around this one."""

    target: Shape
    height: float = math.inf

    def make(self, seed: int, spare: int, /) -> Json:
        return self.target.make(seed, spare - 1)

    def least(self) -> float:
        return 1 + self.target.height


@dataclass(slots=True, eq=False)
class Items(Shape):
    """An array: first ``prefix`` shapes by place, then ``rest`` for every further item."""

    rest: Shape
    prefix: tuple[Shape, ...] = ()
    low: int = 0
    high: int | None = None
    unique: bool = False
    height: float = math.inf

    def make(self, seed: int, spare: int, /) -> Json:
        count = self._count(seed, spare)
        made: list[Json] = []
        seen: set[object] = set()
        for place in range(count):
            shape = self._at(place)
            inner = mixed(seed + place + 1)
            value = shape.make(inner, spare)
            if self.unique:
                found = self._unseen(shape, value, inner, spare, seen)
                if found is None:
                    break
                value = found[0]
            made.append(value)
        return made

    def _at(self, place: int) -> Shape:
        return self.prefix[place] if place < len(self.prefix) else self.rest

    def _count(self, seed: int, spare: int) -> int:
        """How many items: a few more than the least where there is something to put there."""
        count = self.low
        goal = max(self.low, 1) + (seed >> 9) % _USUAL_ITEMS
        goal = goal if self.high is None else min(goal, self.high)
        while count < goal:
            height = self._at(count).height
            if height == math.inf or (spare <= 0 and height > 0):
                break
            count += 1
        return count

    @staticmethod
    def _unseen(shape: Shape, value: Json, seed: int, spare: int, seen: set[object]) -> tuple[Json] | None:
        """A value that is not in ``seen`` yet, in a tuple since it may itself be null; None if none is found."""
        known = shape.finite()
        tries = len(known) if known is not None else _TELL_APART_TRIES
        for attempt in range(tries + 1):
            if attempt:
                value = (
                    known[((seed >> 7) + attempt) % len(known)]
                    if known is not None
                    else shape.make(mixed(seed + attempt), spare)
                )
            key = sameness(value)
            if key not in seen:
                seen.add(key)
                return (value,)
        return None

    def least(self) -> float:
        if self.high is not None and self.high < self.low:
            return math.inf
        known = self.rest.finite() if self.unique and not self.prefix else None
        if known is not None and len({sameness(value) for value in known}) < self.low:
            return math.inf
        return 1 + max((self._at(place).height for place in range(min(self.low, len(self.prefix) + 1))), default=0)


@dataclass(slots=True, eq=False)
class Field:
    """One property an object may have. ``salt`` gives it its own seed, wherever it stands."""

    name: str
    salt: int
    shape: Shape
    required: bool


@dataclass(slots=True, eq=False)
class Fields(Shape):
    """An object: its named fields in their order, and ``extra`` for names that are not listed."""

    fields: list[Field] = field(default_factory=list)
    extra: Shape = field(default_factory=Nothing)
    extra_names: Shape | None = None
    low: int = 0
    high: int | None = None
    height: float = math.inf

    def make(self, seed: int, spare: int, /) -> Json:
        made: dict[str, Json] = {}
        texts: set[Json] = set()
        for each in self._chosen(seed, spare):
            inner = mixed(seed ^ each.salt)
            value = each.shape.make(inner, spare)
            if isinstance(value, str) and each.shape.is_text:
                attempt = 0
                while value in texts and attempt < _TELL_APART_TRIES:
                    attempt += 1
                    again = each.shape.make(mixed(inner + attempt), spare)
                    value = again if isinstance(again, str) else value
                texts.add(value)
            made[each.name] = value
        if self.extra.height < math.inf:
            self._add_extras(made, seed, spare)
        return made

    def _chosen(self, seed: int, spare: int) -> list[Field]:
        optional = [each for each in self.fields if not each.required]
        if not optional:
            return self.fields
        needed = len(self.fields) - len(optional)
        # The shallowest fill an object up to its least size, or a recursive one would never end.
        fillers = sorted(optional, key=lambda each: each.shape.height)[: max(0, self.low - needed)]
        names = {each.name for each in fillers if each.shape.height < math.inf}
        room = len(optional) if self.high is None else self.high - needed
        for each in optional:
            height = each.shape.height
            kept = height == 0 or (spare > 0 and height < math.inf)
            if kept and len(names) < room and mixed(seed ^ each.salt) & 3:
                names.add(each.name)
        return [each for each in self.fields if each.required or each.name in names]

    def _add_extras(self, made: dict[str, Json], seed: int, spare: int) -> None:
        roomy = spare > 0 or self.extra.height == 0
        goal = max(self.low, 0 if self.fields or not roomy else _USUAL_ENTRIES)
        goal = goal if self.high is None else min(goal, self.high)
        for attempt in range(goal * 4):
            if len(made) >= goal:
                return
            inner = mixed(seed + attempt + 1)
            name = self.extra_names.make(inner, spare) if self.extra_names else phrase(Kind.SLUG, inner)
            if isinstance(name, str) and all(name != each.name for each in self.fields):
                made[name] = self.extra.make(mixed(inner), spare)

    def least(self) -> float:
        needed = [each for each in self.fields if each.required]
        if self.high is not None and max(len(needed), self.low) > self.high:
            return math.inf
        heights = [each.shape.height for each in needed]
        if len(needed) < self.low:
            heights += self._fillers(self.low - len(needed))
        return 1 + max(heights, default=0)

    def _fillers(self, count: int) -> list[float]:
        """Heights of what can fill an object up to its least size."""
        found = sorted(each.shape.height for each in self.fields if not each.required)
        return (found + [self.extra.height] * count)[:count]


def settle(shapes: Sequence[Shape]) -> None:
    """Work the heights out, from the leaves inwards, until nothing changes."""
    for shape in shapes:
        shape.height = math.inf
    changed = True
    while changed:
        changed = False
        for shape in shapes:
            height = shape.least()
            if height < shape.height:
                shape.height = height
                changed = True


def sameness(value: Json) -> object:
    """A key that is equal exactly for values that JSON Schema holds to be equal: 1 and 1.0, not 1 and true."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, int | float):
        return Fraction(value)
    if isinstance(value, Mapping):
        return frozenset((name, sameness(inner)) for name, inner in value.items())
    return tuple(sameness(inner) for inner in value)


def exact(number: object) -> Fraction:
    """A bound of a schema without loss: 0.1 is a tenth, as its author meant, not the nearest double."""
    if isinstance(number, int | float):
        return Fraction(Decimal(json.dumps(number)))
    raise TypeError(f"{number!r} is not a number")


def span(low: Fraction | None, high: Fraction | None, step: Fraction) -> tuple[Fraction, Fraction]:
    """Both bounds, an open one put a hundred steps from the other; from 0 where both are open."""
    width = _SPAN * max(step, Fraction(1))
    if low is None:
        low = Fraction(0) if high is None or high > 0 else high - width
    return low, high if high is not None else low + width


_EPOCH: Final = datetime(2001, 1, 1, tzinfo=UTC)
_SECONDS: Final = 20 * 365 * 86400


def _moment(seed: int) -> datetime:
    return _EPOCH + timedelta(seconds=seed % _SECONDS)


def _address(seed: int) -> str:
    return f"{phrase(Kind.SLUG, seed)}.example"


_FORMATS: Final[dict[str, Callable[[int], str]]] = {
    "date": lambda seed: _moment(seed).date().isoformat(),
    "date-time": lambda seed: _moment(seed).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "time": lambda seed: _moment(seed).strftime("%H:%M:%SZ"),
    "duration": lambda seed: f"P{1 + seed % 300}D",
    "email": lambda seed: f"desk-{seed % 1000}@{_address(seed)}",
    "hostname": _address,
    "uri": lambda seed: f"https://{_address(seed)}/report/{seed % 1000}",
    "ipv4": lambda seed: f"192.0.2.{seed % 256}",
    "ipv6": lambda seed: f"2001:db8::{seed % 65536:x}",
    "uuid": lambda seed: str(UUID(int=seed << 64 | mixed(seed), version=4)),
}
FORMATS: Final = frozenset(_FORMATS)
