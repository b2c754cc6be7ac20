"""Selects the sources for a seat: all of them if they fit its share, else the best passages.

Seats with the same share always get the same text, so that a prefix cache serves it. A statement names what was left
out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from disputatio.evidence.passages import Passage
from disputatio.evidence.retrieval import Retriever
from disputatio.evidence.sources import Source, SourceSet
from disputatio.motion import Evidence
from disputatio.prompts.fence import plain_name

NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class LaidOutSources:
    """The sources as one seat sees them: id, title and text of each, and a statement of what was left out.

    ``words`` are those of the texts alone, for models that stumble over ids.
    """

    texts: tuple[tuple[str, str, str], ...]
    left_out: str
    words: str


@lru_cache(maxsize=32)
def lay_out(evidence: tuple[Evidence | Source, ...], topic: str, share: int) -> LaidOutSources:
    """What a seat with a ``share`` of so many characters is shown, chosen by ``topic``.

    An excerpt has the id of each passage on a line before it, and of JSON the pointer of the first value in it; sources
    that are shown whole have none.

    Raises:
        InvalidInputError: the sources are longer than the share and the library that searches them is not installed.
    """
    sources = SourceSet(evidence)
    excerpt = Retriever(sources).excerpt(topic, share)
    if excerpt.is_complete:
        return LaidOutSources(
            tuple((row.source_id, row.title, row.text) for row in sources), "", "\n".join(row.text for row in sources)
        )
    shown: dict[str, list[str]] = {}
    for passage in excerpt.passages:
        source = sources.find(passage.source_id)
        pointer = _first_pointer(source, passage) if source is not None and source.places else ""
        where = f", from {pointer}" if pointer else ""
        shown.setdefault(passage.source_id, []).append(f"[{passage.id}{where}]\n{passage.text}")
    texts = tuple(
        (row.source_id, row.title, "\n\n".join(shown[row.source_id])) for row in sources if row.source_id in shown
    )
    named = tuple(replace(part, source_id=plain_name(part.source_id)) for part in excerpt.left_out)
    statement = replace(excerpt, left_out=named).describe()
    return LaidOutSources(texts, statement, "\n".join(passage.text for passage in excerpt.passages))


def _first_pointer(source: Source, passage: Passage) -> str:
    """The pointer of the first single value in ``passage``; without it a value there has no address."""
    starts = [
        (span.start, -len(pointer), pointer)
        for pointer, span in source.places.items()
        if passage.start <= span.start < span.end <= passage.end
    ]
    return min(starts, default=(0, 0, ""))[2]
