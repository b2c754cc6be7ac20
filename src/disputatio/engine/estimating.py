"""What a debate is expected to take, as its record keeps it, so that what it took can be compared later.

It is the preview of ``--dry-run``. Debates that differ in their motion alone are previewed once in a process: a motion
stands once in every prompt, so its length is all that it changes.
"""

from __future__ import annotations

from collections import OrderedDict

from disputatio.engine.opening import Proposal
from disputatio.engine.preview import preview
from disputatio.kernel import JsonObject
from disputatio.ledger.tokens import TYPICAL_BYTES_PER_TOKEN
from disputatio.record.events import DebateOpened, encode
from disputatio.record.text import canonical

_MOST_KEPT = 64
_NO_MATTER = frozenset({"motion", "budget", "software", "warnings", "estimate", "seed"})
_KEPT: OrderedDict[str, tuple[int, JsonObject]] = OrderedDict()


async def estimate(proposal: Proposal, opened: DebateOpened) -> JsonObject:
    """The estimate of the debate that ``opened`` opens; empty where nothing can be estimated.

    An estimate is never in the way of a debate: forms of a user's own may have schemas that no typical answer is known
    for, and then there is none.
    """
    told = [proposal.settings.estimate.characters, proposal.settings.estimate.share]
    key = canonical([told, {name: value for name, value in encode(opened).items() if name not in _NO_MATTER}])
    size = len(proposal.motion.text.encode())
    if key not in _KEPT:
        try:
            seen = await preview(proposal)
        except (LookupError, TypeError, ValueError, AttributeError):
            return {}
        body: JsonObject = {
            "calls": seen.calls,
            "input_tokens": seen.input_tokens,
            "output_tokens": seen.output_tokens,
            "usd": None if seen.usd is None else str(seen.usd),
        }
        _KEPT[key] = size, body
        if len(_KEPT) > _MOST_KEPT:
            _KEPT.popitem(last=False)
    _KEPT.move_to_end(key)
    before, body = _KEPT[key]
    return body if size == before else _for_motion(body, size - before)


def _for_motion(body: JsonObject, longer: int) -> JsonObject:
    """``body`` for a motion of ``longer`` bytes more."""
    tokens, calls = int(str(body["input_tokens"])), int(str(body["calls"]))
    return {**body, "input_tokens": max(0, tokens + round(calls * longer / TYPICAL_BYTES_PER_TOKEN))}
