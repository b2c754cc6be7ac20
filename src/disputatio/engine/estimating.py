"""What a debate is expected to take, as its record keeps it, so that what it took can be compared later.

It is the preview of ``--dry-run``. Debates that differ in their motion alone are previewed once in a process, those
that begin together too: a motion stands once in every prompt, so its length is all that it changes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TypeAlias

from disputatio.engine.course import TooLongError
from disputatio.engine.opening import Proposal
from disputatio.engine.preview import preview, seat_profiles
from disputatio.kernel import JsonObject
from disputatio.ledger.tokens import TYPICAL_BYTES_PER_TOKEN
from disputatio.participants.shared_work import SharedWork
from disputatio.record.events import DebateOpened, encode
from disputatio.record.text import canonical

_MOST_KEPT = 64
_NO_MATTER = frozenset({"motion", "seats", "budget", "software", "warnings", "estimate", "seed"})
_Kept: TypeAlias = tuple[int, JsonObject]
_KEPT: OrderedDict[str, _Kept] = OrderedDict()
_PREVIEWS: SharedWork[str, _Kept | None] = SharedWork()
"""Without it a thousand debates that begin together would make a thousand previews."""


async def estimate(proposal: Proposal, opened: DebateOpened) -> JsonObject:
    """The estimate of the debate that ``opened`` opens; empty where nothing can be estimated.

    An estimate is never in the way of a debate. There is none for a debate that is too long for one, or that has forms
    of a user's own with schemas no typical answer is known for.
    """
    told = [proposal.settings.estimate.characters, proposal.settings.estimate.share]
    told += [row.reasoning for row in seat_profiles(proposal).values()]
    matter = {name: value for name, value in encode(opened).items() if name not in _NO_MATTER}
    # Where a model is reached makes no difference to what it is asked.
    seated = {seat: {**row, "base_url": None} for seat, row in opened.seats.items() if isinstance(row, Mapping)}
    key = canonical([told, matter, seated])
    if key not in _KEPT:
        seen = await _PREVIEWS.of(key, lambda: _previewed(proposal))
        if seen is None:
            return {}
        _KEPT[key] = seen
        if len(_KEPT) > _MOST_KEPT:
            _KEPT.popitem(last=False)
    _KEPT.move_to_end(key)
    before, body = _KEPT[key]
    size = _size(proposal)
    return body if size == before else _for_motion(body, size - before)


def _size(proposal: Proposal) -> int:
    return len(proposal.motion.text.encode())


async def _previewed(proposal: Proposal) -> _Kept | None:
    """The preview as a record keeps it, and the size of its motion in bytes; None where none is known."""
    try:
        seen = await preview(proposal)
    except (LookupError, TypeError, ValueError, AttributeError, TooLongError):
        return None
    return _size(proposal), {
        "calls": seen.calls,
        "input_tokens": seen.input_tokens,
        "output_tokens": seen.output_tokens,
        "usd": None if seen.usd is None else str(seen.usd),
        **({"reasoning_tokens": seen.reasoning_tokens} if seen.reasoning_tokens else {}),
    }


def _for_motion(body: JsonObject, longer: int) -> JsonObject:
    """``body`` for a motion of ``longer`` bytes more."""
    tokens, calls = int(str(body["input_tokens"])), int(str(body["calls"]))
    return {**body, "input_tokens": max(0, tokens + round(calls * longer / TYPICAL_BYTES_PER_TOKEN))}
