"""What an analyst of one lens sees of a knowledge base, and its text for prompts.

Every line has pointer, unit and dates; missing and failed values have their reason. Texts from files are put on one
line, without control characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from itertools import groupby
from types import MappingProxyType

from disputatio.market.knowledge import Datum, Failed, KnowledgeBase, Missing, Section, collect_data, collect_names
from disputatio.motion import one_line


class Lens(StrEnum):
    """How an analyst looks at the market."""

    TECHNICAL = "technical"
    FUNDAMENTAL = "fundamental"
    MACRO = "macro"
    SENTIMENT = "sentiment"


SECTIONS: Mapping[Lens, tuple[Section, ...]] = MappingProxyType(
    {
        Lens.TECHNICAL: (Section.INDICES, Section.TECHNICALS, Section.SECTORS),
        Lens.FUNDAMENTAL: (Section.FUNDAMENTALS, Section.SECTORS),
        Lens.MACRO: (Section.MACRO, Section.GLOBAL_MARKETS),
        Lens.SENTIMENT: (Section.SENTIMENT,),
    }
)
"""The modules that a lens sees. Sentiment also sees the subject's volume ratio."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What one seat knows.

    Attributes:
        lens: of the seat; None for the whole base, which the judge sees.
        subject: the key of the index under debate.
        subject_name: its name.
        as_of: the UTC moment of the knowledge.
        day: that day in New York.
        data: every datum that the seat may cite, by pointer, in schema order.
        names: names for people, by ``section.key``.
        synthetic: whether the values are invented.
    """

    lens: Lens | None
    subject: str
    subject_name: str
    as_of: str
    day: str
    data: Mapping[str, Datum]
    names: Mapping[str, str]
    synthetic: bool = False

    @property
    def blinded(self) -> bool:
        """Whether names and dates were removed."""
        return not self.as_of

    @property
    def warnings(self) -> tuple[str, ...]:
        """One clause for each missing or failed datum of the slice."""
        return tuple(f"{pointer}: {datum.why_not}" for pointer, datum in self.data.items() if not datum.is_known)


def take_slice(base: KnowledgeBase, lens: Lens) -> Slice:
    """Take what an analyst of ``lens`` sees of ``base``."""
    wanted = set(SECTIONS[lens])
    extra = f"{Section.INDICES}.{base.meta.subject}.volume_ratio" if lens is Lens.SENTIMENT else ""
    return _make_slice(
        base,
        lens,
        {
            pointer: datum
            for pointer, datum in collect_data(base).items()
            if pointer == extra or pointer.partition(".")[0] in wanted
        },
    )


def take_whole(base: KnowledgeBase) -> Slice:
    """Take all of ``base``, for the judge."""
    return _make_slice(base, None, collect_data(base))


def _make_slice(base: KnowledgeBase, lens: Lens | None, data: Mapping[str, Datum]) -> Slice:
    seen = {".".join(pointer.split(".")[:2]) for pointer in data}
    meta = base.meta
    return Slice(
        lens,
        meta.subject,
        meta.subject_name,
        meta.as_of,
        meta.day,
        MappingProxyType(dict(data)),
        MappingProxyType({key: name for key, name in collect_names(base).items() if key in seen}),
        meta.synthetic,
    )


_MAX_CHARS = 160


def format_datum(datum: Datum) -> str:
    """Format a datum for people: ``4850 points``, ``-3.2 %``, ``1.3 x``, ``7/10``, ``above``, ``missing: ...``."""
    content = datum.content
    if isinstance(content, Missing):
        return f"missing: {one_line(content.reason, _MAX_CHARS)}"
    if isinstance(content, Failed):
        return f"failed: {one_line(content.reason, _MAX_CHARS)}"
    if isinstance(content.value, Decimal):
        return f"{content.value:f} {datum.unit}"
    return one_line(str(content.value), _MAX_CHARS)


def format_dates(datum: Datum) -> str:
    """Format the date and vintage of a value; empty without a value."""
    if not datum.is_known:
        return ""
    return _format_dates(datum.observed_at, datum.vintage)


# Cached: a base has hundreds of values and a dozen dates.
@lru_cache(maxsize=256)
def _format_dates(observed_at: str, vintage: str) -> str:
    told = f", {'vintage ' if vintage[0].isdigit() else ''}{one_line(vintage, 30)}" if vintage else ""
    return f"{one_line(observed_at, 20)}{told}"


def render_slice(part: Slice) -> str:
    """Render the slice for a prompt: one line a pointer, grouped by subject."""
    invented = " The values are invented." if part.synthetic else ""
    when = "at one moment, which is not told" if part.blinded else f"on {part.day}"
    lines = [f"{one_line(part.subject_name, _MAX_CHARS)} ({part.subject}) as known {when}.{invented}"]
    for owner, rows in groupby(part.data.items(), key=lambda row: _find_owner(row[0], part)):
        data = [(pointer, datum, format_dates(datum)) for pointer, datum in rows]
        dates = {date for _, _, date in data if date}
        one_date = dates.pop() if len(dates) == 1 else ""
        name = part.names.get(owner, "")
        head = f"{owner} ({one_line(name, _MAX_CHARS)})" if name else owner
        lines += ["", f"{head}, {one_date}:" if one_date else f"{head}:"]
        for pointer, datum, date in data:
            own_date = f" ({date})" if date and not one_date else ""
            lines.append(f"{pointer} {'=' if datum.is_known else 'is'} {format_datum(datum)}{own_date}")
    return "\n".join(lines)


def _find_owner(pointer: str, part: Slice) -> str:
    """Return the subject of a pointer: ``indices.EXI``, or the section if it has no keys."""
    section, _, rest = pointer.partition(".")
    owner = f"{section}.{rest.partition('.')[0]}"
    return owner if owner in part.names else section
