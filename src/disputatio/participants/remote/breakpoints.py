"""Where a prompt is marked for caches that end at marks only: those of Anthropic, Amazon, and OpenAI from GPT-5.6 on.

Such a cache serves a beginning of a prompt that ends at a mark, if an earlier prompt had a mark at the same place. What
is written there costs more than usual input (a quarter, at most), what is read from there a tenth and less. So:

- A prompt is marked where its task begins: what stands before will come again, the task will not.
- It is marked where the longest beginning ends that was marked before, so that this much is read.
- It is marked once where the system message ends, which all seats have in common whatever they hear.
- Nothing is marked that these providers do not cache: less than 1,024 tokens, taken as four bytes each.
- A schema that travels outside the prompt (native and tool modes) stands in front of it for these caches, so only a
  call with the same schema can read what another wrote. Such a beginning is written when its schema comes again: what
  comes twice will come more often, as the judge's form of a match does, and what comes once is not paid for.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from disputatio.participants.call import Call, OutputMode

LEAST_BYTES: Final = 4096
_BOUNDARIES_KEPT: Final = 4096
_CALLS_KEPT: Final = 64
_BEHIND: Final = frozenset({OutputMode.PROMPTED, OutputMode.TEXT})
"""The modes in which a schema, if there is one, stands at the end of the prompt."""


class Breakpoints:
    """Remembers which beginnings were marked in the calls to one model. It decides nothing that a model reads."""

    def __init__(self) -> None:
        self._marked: OrderedDict[int, None] = OrderedDict()
        self._schemas: OrderedDict[int, None] = OrderedDict()
        # A call may be put twice, by its attempts; both times it is to be the same request.
        self._known: OrderedDict[int, tuple[Call, tuple[int, ...]]] = OrderedDict()

    def of(self, call: Call) -> tuple[int, ...]:
        """How many segments of ``call`` stand before each mark, fewest first; three marks at most."""
        known = self._known.get(id(call))
        if known is None:
            known = self._known[id(call)] = (call, self._marks(call))
            _forget(self._known, _CALLS_KEPT)
        return known[1]

    def _marks(self, call: Call) -> tuple[int, ...]:
        schema = 0 if call.mode in _BEHIND else hash((call.schema_name, call.schema_text or str(call.schema)))
        writes = call.mode in _BEHIND or schema in self._schemas
        self._schemas[schema] = None
        _forget(self._schemas, _BOUNDARIES_KEPT)
        boundaries = _boundaries(call, schema)
        read = max((place for place, name in boundaries.items() if name in self._marked), default=0)
        marks = {read} if read else set()
        if writes and boundaries:
            marks.add(max(boundaries))
        shared = sum(row.role == "system" for row in call.segments)
        if writes and shared in boundaries and boundaries[shared] not in self._marked:
            # Seats that hear other things begin alike up to here.
            marks.add(shared)
        for place in marks:
            self._marked[boundaries[place]] = None
            self._marked.move_to_end(boundaries[place])
        _forget(self._marked, _BOUNDARIES_KEPT)
        return tuple(sorted(marks))


def _boundaries(call: Call, schema: int) -> dict[int, int]:
    """The places before the task at which a mark may stand, each with a name for all that stands before it."""
    roles = [row.role for row in call.segments]
    if "system" in roles[roles.count("system") :]:
        # It is moved to the front on the wire, and what stands before a place is then something else.
        return {}
    answered = next((place for place, row in enumerate(call.segments) if row.role == "assistant"), len(call.segments))
    found: dict[int, int] = {}
    name, size = schema, 0
    for place, row in enumerate(call.segments[: max(answered - 1, 0)], start=1):
        name, size = hash((name, row.role, row.text)), size + len(row.text.encode("utf-8", "replace"))
        if size >= LEAST_BYTES:
            found[place] = name
    return found


def _forget(kept: OrderedDict[int, Any], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
