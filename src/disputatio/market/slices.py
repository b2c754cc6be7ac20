"""Who sees what: the part of a knowledge base that an analyst of one lens argues from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from disputatio.market.knowledge import Datum, KnowledgeBase, Section, data_of, names_of


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
"""The modules that a lens sees; sentiment sees the subject's volume ratio besides."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What one seat knows.

    Attributes:
        lens: whose; None for the whole base, which the judge sees.
        subject: the key of the index that is debated.
        subject_name: its name.
        as_of: the moment in UTC up to which anything is known.
        day: that day in New York.
        data: every datum that the seat may cite, by pointer, in the order of the schema.
        names: names for people of what the pointers are about, by ``section.key``.
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
        """Whether names and dates were taken away."""
        return not self.as_of

    @property
    def warnings(self) -> tuple[str, ...]:
        """One clause for each datum of the slice that is missing or failed; nothing of other slices."""
        return tuple(f"{pointer}: {datum.why_not}" for pointer, datum in self.data.items() if not datum.is_known)


def slice_of(base: KnowledgeBase, lens: Lens) -> Slice:
    """What an analyst of ``lens`` sees of ``base``, and nothing else."""
    wanted = set(SECTIONS[lens])
    extra = f"{Section.INDICES}.{base.meta.subject}.volume_ratio" if lens is Lens.SENTIMENT else ""
    return _cut(
        base,
        lens,
        {
            pointer: datum
            for pointer, datum in data_of(base).items()
            if pointer == extra or pointer.partition(".")[0] in wanted
        },
    )


def whole(base: KnowledgeBase) -> Slice:
    """All of ``base``, for the judge."""
    return _cut(base, None, data_of(base))


def _cut(base: KnowledgeBase, lens: Lens | None, data: Mapping[str, Datum]) -> Slice:
    seen = {".".join(pointer.split(".")[:2]) for pointer in data}
    meta = base.meta
    return Slice(
        lens,
        meta.subject,
        meta.subject_name,
        meta.as_of,
        meta.day,
        MappingProxyType(dict(data)),
        MappingProxyType({key: name for key, name in names_of(base).items() if key in seen}),
        meta.synthetic,
    )
