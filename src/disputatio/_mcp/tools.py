"""What the tools do: orders go to a holder, everything else is read from the store."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from disputatio.debates import read_debate
from disputatio.engine.estimate import make_estimate
from disputatio.engine.runtime import debate_of_baseline, new_id
from disputatio.errors import InvalidInputError, UnknownDebateError, VerificationError
from disputatio.evidence.reading_process import SourceReader
from disputatio.kernel import Json, JsonObject
from disputatio.proposals import proposal_of, read_request
from disputatio.proposals.reading_queue import ReadingQueue
from disputatio.record.chain import Sealed
from disputatio.record.events import (
    Abstained,
    BudgetReached,
    DebateClosed,
    DebateInterrupted,
    DebateResumed,
    Event,
    PenaltyGiven,
    ScoreGiven,
    TurnTaken,
    VoteCounted,
)
from disputatio.record.history import Status
from disputatio.record.sql import SqlStore
from disputatio.record.text import canonical, digest
from disputatio.record.verified import find_debate, read_verified
from disputatio.report.audience import audience_of, for_audience
from disputatio.workers.job_table import JobTable
from disputatio.workers.port import Job, Runner, not_started

LONGEST_WAIT_S = 25.0
"""Clients give up after 30 to 60 seconds."""
LONGEST_TEXT = 30_000
"""In characters: about what an assistant takes in at once."""
_MOST_AT_ONCE = 40
_LONGEST_TURN = 4_000
_LOOK_S = 0.2
View: TypeAlias = Literal["briefing", "report", "trace", "json", "argdown"]


class Debates:
    """The debates of one store.

    Args:
        store: where records are.
        holder: who holds what is started.
    """

    def __init__(self, store: SqlStore, runner: Runner) -> None:
        self._store, self._runner, self._desk = store, runner, JobTable(store)
        self._reading = ReadingQueue()

    async def start(self, body: dict[str, Any], request_id: str = "") -> JsonObject:
        """Order a debate; the same one for the same ``request_id``."""
        order = await self._reading.read("", lambda reader: read_request(body, reader=reader))
        debate = digest(f"mcp {request_id}")[:12] if request_id else new_id()
        await self._runner.submit(debate, order)
        if request_id:
            await self._check_same(debate, order)
        job = await self._runner.job(debate)
        return {
            "debate_id": debate,
            "state": job.state.value if job else "WAITING",
            "next": f"follow_debate with debate_id {debate}",
        }

    async def estimate(self, body: dict[str, Any]) -> JsonObject:
        """What a debate would take; no model is called."""

        def read(reader: SourceReader) -> JsonObject:
            proposal = proposal_of(read_request(body, reader=reader), {}, people_missing=True)
            return asyncio.run(make_estimate(proposal)).as_json()

        return await self._reading.read("", read)

    async def _check_same(self, debate: str, order: JsonObject) -> None:
        """Refuse a request id that was used for another request. The stored request decides, also in a race.

        Raises:
            InvalidInputError: it does.
        """
        kept = await asyncio.to_thread(self._desk.order, debate)
        if kept is not None and canonical(kept) != canonical(order):
            raise InvalidInputError(
                f"This request_id was used for the debate {debate}, with another request.",
                "Send a new request_id with a new request, and the same request with the same request_id.",
            )

    async def follow(self, prefix: str, after: int, wait_s: float) -> JsonObject:
        """What happened after event ``after``, waiting ``wait_s`` seconds at most for the first of it."""
        debate = await self._found(prefix)
        until = time.monotonic() + wait_s
        while True:
            # Ask this before reading the events: if the debate is over now, all of its events can be read.
            job = await self._runner.job(debate)
            status = await asyncio.to_thread(self._status, debate)
            rows = await asyncio.to_thread(self._rows, debate, after)
            told: list[JsonObject] = []
            for row in rows:
                if len(told) == _MOST_AT_ONCE:
                    break
                after = row.seq
                shown = _told(row.event())
                if shown:
                    told.append({"event": row.seq, **shown})
            over = _is_over(status, job) and (not rows or after == rows[-1].seq)
            if told or over or time.monotonic() >= until:
                return {"debate_id": debate, **_standing(status, job), "over": over, "after": after, "happened": told}
            await asyncio.sleep(_LOOK_S)

    def _rows(self, debate: str, after: int) -> Sequence[Sealed]:
        """The public part of the events after ``after``."""
        first = next(iter(self._store.parts(debate)), ())[:1]
        if not audience_of(first).has_people:
            return self._store.read(debate, after)
        whole = self._store.read(debate)
        shown = for_audience(whole)
        return [row for row in (whole if shown is None else shown) if row.seq > after]

    async def read(self, prefix: str, view: View, offset: int) -> JsonObject:
        """One view of a debate, in pieces."""
        debate = await self._found(prefix)
        await self._check_started(debate)
        text = await asyncio.to_thread(self._view, debate, view)
        part = text[offset : offset + LONGEST_TEXT]
        more = offset + len(part)
        return {
            "debate_id": debate,
            "status": self._status(debate),
            "text": part,
            "next_offset": more if more < len(text) else None,
        }

    async def listed(self, limit: int) -> JsonObject:
        """The newest debates, and what waits."""
        recorded = await asyncio.to_thread(self._store.debates)
        rows = [row for row in recorded if debate_of_baseline(row.id) is None]
        begun = {row.id for row in rows}
        waiting = [job for job in await self._runner.jobs(unfinished=True) if job.debate not in begun]
        return {
            "debates": [
                {
                    "debate_id": row.id,
                    "motion": row.motion,
                    "format": row.format,
                    "status": row.status,
                    "at": row.opened_at,
                }
                for row in rows[:limit]
            ],
            "more": len(rows) > limit,
            "waiting": [job.debate for job in waiting[:limit]],
        }

    async def verify(self, prefix: str) -> JsonObject:
        """Whether a record is whole.

        Raises:
            UnknownDebateError: there is none: the debate has not started, or never did.
        """
        debate = await self._found(prefix)
        await self._check_started(debate)
        try:
            record = await asyncio.to_thread(read_verified, self._store, debate)
        except VerificationError as failure:
            return {"debate_id": debate, "verified": False, "fault": failure.cause}
        return {"debate_id": debate, "verified": True, "events": len(record), "head": record[-1].hash}

    async def cancel(self, prefix: str) -> JsonObject:
        """Stop a debate."""
        debate = await self._found(prefix)
        return {"debate_id": debate, "was_going": await self._runner.cancel(debate)}

    async def _found(self, prefix: str) -> str:
        """The whole id; also of what waits and has no record."""
        if await self._runner.job(prefix) is not None:
            return prefix
        return await asyncio.to_thread(self._find, prefix)

    def _find(self, prefix: str) -> str:
        try:
            return find_debate(self._store, prefix)
        except UnknownDebateError as failure:
            waiting = () if self._store.find(prefix) else self._desk.without_record(prefix)
            if len(waiting) == 1:
                return waiting[0].debate
            raise UnknownDebateError(failure.cause, "list_debates shows all.") from None

    async def _check_started(self, debate: str) -> None:
        if await asyncio.to_thread(self._store.row, debate) is None:
            job = await self._runner.job(debate)
            if job is not None:
                raise not_started(job)

    def _status(self, debate: str) -> str | None:
        row = self._store.row(debate)
        return row.status if row else None

    def _view(self, debate: str, view: View) -> str:
        found = read_debate(self._store, debate).for_audience()
        if view == "briefing":
            from disputatio.report.text import render_briefing

            return render_briefing(found.report())
        if view == "report":
            return found.markdown()
        if view == "argdown":
            return found.argdown()
        from disputatio.report.printing import printable_json

        whole = found.as_json()
        return printable_json(whole if view == "json" else _trace(whole))


def _trace(whole: JsonObject) -> JsonObject:
    """Every argument with the responses to it and its standing."""
    outcome = whole.get("outcome")
    rows = outcome.get("trace") if isinstance(outcome, dict) else None
    if rows is None:
        rows = whole.get("trace")
    if rows is None:
        raise InvalidInputError("This format has no trace table.", "Read it as a briefing or report.")
    return {"motion": whole.get("motion"), "trace": rows}


def _is_over(status: str | None, job: Job | None) -> bool:
    """Whether nothing more will come of itself."""
    if job is not None:
        return job.state.is_over
    return status not in {Status.RUNNING.value, None}


def _standing(status: str | None, job: Job | None) -> JsonObject:
    found: dict[str, Json] = {"status": status or (job.state.value if job else "WAITING")}
    if job is not None:
        found["state"] = job.state.value
        if job.reason:
            found["reason"] = f"{job.reason} {job.next_step}".strip()
    return found


def _told(event: Event) -> JsonObject | None:
    """The part of an event that an assistant needs; None if it needs nothing of it."""
    match event:
        case TurnTaken():
            said = _shortened(event.content)
            violations: Sequence[Any] = event.violations
            return {
                "what": "turn",
                "seat": event.seat,
                "phase": event.phase,
                "said": said,
                "violations": list(violations),
            }
        case Abstained():
            return {"what": "abstained", "seat": event.seat, "phase": event.phase, "reason": event.reason}
        case ScoreGiven() | VoteCounted() | PenaltyGiven():
            return {"what": event.kind, "about": event.about, "figures": dict(event.body)}
        case BudgetReached():
            return {"what": "ceiling reached", "limit": event.limit, "ceiling": event.ceiling}
        case DebateInterrupted():
            return {"what": "interrupted", "reason": event.reason}
        case DebateResumed():
            return {"what": "resumed"}
        case DebateClosed():
            return {"what": "closed", "status": event.status, "missing_seats": len(event.missing)}
    return None


def _shortened(content: Any) -> Any:
    """A turn, its longest texts cut: read_debate has them whole."""
    if isinstance(content, str):
        return content if len(content) <= _LONGEST_TURN else f"{content[:_LONGEST_TURN]} [...]"
    if isinstance(content, dict):
        return {name: _shortened(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_shortened(value) for value in content]
    return content
