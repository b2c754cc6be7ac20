"""Runs one debate: gives the open asks to their seats and the answers to the rules, and records everything.

Each step is durable before it is taken. A call is sent only after ``CallSent`` is on disk, so the record of a debate
that died shows which calls may have been billed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from disputatio.engine.batched import BatchedCalls
from disputatio.engine.journal import Journal, TextHashes, call_made, call_sent, prompt_rows, turn_asked, turn_taken
from disputatio.engine.ports import Batches, CallLimiter, Clock, Observer
from disputatio.engine.scheduling import CacheStaggering, wait_for_turn
from disputatio.engine.seat_assignments import ModelSeat, SeatAssignments, learn_from_history, list_voices
from disputatio.engine.tool_use import ToolCalls
from disputatio.errors import PersonLeftError, ResumeMismatchError
from disputatio.evidence.sources import SourceSet
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.format import Format
from disputatio.formats.turns.citing import cited_json
from disputatio.kernel import Abstention, Ask, AskPath, Driver, Seat, Turn
from disputatio.ledger.ledger import Ledger, Refusal, Reservation
from disputatio.ledger.prices import known_window
from disputatio.participants.answers import SchemaChecks
from disputatio.participants.call import Fault, FaultKind, OnText, OutputMode, Reply, Usage
from disputatio.participants.human import Filled, Invite, Passed, Person, PersonTurn, Situation
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.reasoning import Allowances
from disputatio.participants.turn_taking import Await, Consult, ModelTurn, Reject, Send, TurnResult, TurnTaking
from disputatio.prompts import (
    DebatePrompts,
    PromptBook,
    PromptContext,
    role_for_person,
    rules_for_person,
    task_for_person,
)
from disputatio.record.events import (
    BATCH,
    Abstained,
    AnswerRejected,
    BudgetReached,
    CallMade,
    CallSent,
    DebateClosed,
    DebateInterrupted,
    Event,
    PenaltyGiven,
    ScoreGiven,
    TurnTaken,
    VoteCounted,
)
from disputatio.record.history import History, Status
from disputatio.record.text import canonical
from disputatio.tools.protocol import Toolbox, ToolResult

if TYPE_CHECKING:
    from disputatio.market.knowledge import KnowledgeBase

_FACTS: dict[str, type[ScoreGiven | VoteCounted | PenaltyGiven]] = {
    "score": ScoreGiven,
    "vote": VoteCounted,
    "penalty": PenaltyGiven,
}
# Compiled once for a process, because the debates of a batch use the same schemas.
_CHECKS = SchemaChecks()
_MAY_BE_BILLED = frozenset(
    {
        FaultKind.TIMED_OUT,
        FaultKind.CUT_OFF,
        FaultKind.GARBLED,
        FaultKind.ANSWER_TOO_LONG,
        FaultKind.REFUSED,
        FaultKind.CUT_WHILE_REASONING,
    }
)


@dataclass(frozen=True, slots=True)
class _RejectedMode:
    """A structured-output mode that a server rejected, with the phase and the seat of that ask."""

    address: str
    mode: OutputMode
    phase: str
    seat: str


class _CeilingReachedError(Exception):
    """A call was refused by the ledger. Never leaves this module."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Plan:
    """The inputs of a run besides its record.

    ``staggers`` is whether calls with the same prompt prefix wait for the first. ``struck`` names what a fork leaves
    out.
    """

    format: Format
    rules: Any
    prompt_context: PromptContext
    assignments: SeatAssignments
    book: PromptBook
    seed: int | None
    tools: Toolbox | None = None
    knowledge: KnowledgeBase | None = None
    staggers: bool = False
    struck: frozenset[str] = frozenset()

    @property
    def context(self) -> DebateContext:
        """The inputs of the rulebook besides its rules."""
        seats = tuple(Seat(seat) for seat in self.assignments)
        sources, voices = SourceSet(self.prompt_context.evidence), list_voices(self.assignments)
        return DebateContext(
            seats,
            self.prompt_context.motion,
            sources,
            voices,
            self.prompt_context.introduced,
            self.knowledge,
            self.struck,
        )


class DebateRun:
    """One debate in progress.

    Args:
        plan: what is debated, how, and by whom.
        journal: the record; for a resumed debate with its history.
        ledger: the budget, including what the history spent.
        clock: time.
        observer: receives events and output.
        streams: ask models to stream, because an observer shows text.
        texts: the texts of the record so far, by hash; for a resumed debate.
        call_limiter: limits concurrent calls; None if this debate need not wait for others.
        allowances: how many tokens models need to reason; None if nothing is known. The history is added.
        batches: sends calls in batches; None if each is sent at once.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        journal: Journal,
        ledger: Ledger,
        clock: Clock,
        observer: Observer,
        streams: bool,
        texts: Mapping[str, str] = MappingProxyType({}),
        call_limiter: CallLimiter | None = None,
        allowances: Allowances | None = None,
        batches: Batches | None = None,
    ) -> None:
        self._allowances = allowances or Allowances(known_window)
        learn_from_history(self._allowances, plan.assignments, journal.history)
        self._call_limiter = call_limiter
        self._batched = BatchedCalls(journal.debate, journal.history, batches)
        self._plan, self._journal, self._ledger = plan, journal, ledger
        self._clock, self._observer, self._streams = clock, observer, streams
        self._tools = ToolCalls(plan.tools, journal=journal, clock=clock, texts=texts)
        self._driver = Driver(plan.format.rulebook(plan.rules, plan.context))
        self._facts_established = 0
        # Keyed by subject: parallel branches established theirs in any order.
        self._facts_recorded: dict[tuple[str, str], deque[ScoreGiven | VoteCounted | PenaltyGiven]] = {}
        for row in journal.history.facts:
            self._facts_recorded.setdefault((row.kind, row.about), deque()).append(row)
        self._refusals: list[Refusal] = []
        self._settled = asyncio.Event()
        self._ended = asyncio.Event()
        self._rejected_modes = _find_rejected_modes(journal.history)
        self._staggering = CacheStaggering(on=plan.staggers)
        self._hashes = TextHashes()

    async def run(self) -> History:
        """Run the debate to its end and close its record.

        Returns:
            The whole history. Its status says how the debate ended.

        Raises:
            StoreError: the record could not be written; its earlier events are kept.
            ResumeMismatchError: the record does not fit the rules or prompts of this run.
            asyncio.CancelledError: stopped from outside; the record says so and the debate can be resumed.
        """
        tasks: dict[AskPath, asyncio.Task[TurnResult | Abstention]] = {}
        try:
            self._replay()
            while not self._driver.finished:
                opened = self._open_tasks(tasks)
                if not tasks:
                    break
                if not opened:
                    self._journal.flush()
                self._ended.clear()
                await self._ended.wait()
                for path in [path for path, task in tasks.items() if task.done()]:
                    self._conclude(path, tasks.pop(path))
            self._close()
        except asyncio.CancelledError as stop:
            await self._cancel(tasks)
            self._journal.write(DebateInterrupted(reason=str(stop) or "stopped from outside"))
            raise
        except PersonLeftError as left:
            await self._cancel(tasks)
            self._journal.write(DebateInterrupted(reason=left.cause))
            raise
        except BaseException:
            await self._cancel(tasks)
            raise
        finally:
            await self._journal.wait_until_durable()
        return self._journal.history

    def _open_tasks(self, tasks: dict[AskPath, asyncio.Task[TurnResult | Abstention]]) -> bool:
        """Start a task for every ask that has none. Return whether there were any."""
        if self._refusals:
            return False
        new = [(path, ask) for path, ask in self._driver.open_asks.items() if path not in tasks]
        for path, ask in new:
            task = tasks[path] = asyncio.create_task(self._take(path, ask))
            task.add_done_callback(lambda _: self._ended.set())
        return bool(new)

    async def _cancel(self, tasks: dict[AskPath, asyncio.Task[TurnResult | Abstention]]) -> None:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)

    def _replay(self) -> None:
        """Replay the recorded answers, which brings the rules to the state that they had."""
        answered = self._journal.history.answered
        self._driver.answer_all(
            lambda path, ask: recorded_answer(path, ask, answered[path]) if path in answered else None
        )
        self._write_facts()

    def _conclude(self, path: AskPath, task: asyncio.Task[TurnResult | Abstention]) -> None:
        """Record how one ask ended and advance the rules."""
        ask = self._driver.open_asks[path]
        try:
            result = task.result()
        except _CeilingReachedError as stop:
            self._refusals.append(stop.refusal)
            row = stop.refusal
            self._journal.write(
                BudgetReached(path=path, limit=row.limit, ceiling=row.ceiling, spent=row.spent, needed=row.needed)
            )
            return
        event: Event
        if isinstance(result, Abstention):
            event = Abstained(path=path, seat=ask.seat, phase=ask.phase, reason=result.reason, detail=result.detail)
            answer: Turn | Abstention = result
        else:
            event = turn_taken(path, ask, result)
            answer = result.turn
        self._journal.write(event)
        self._driver.answer(path, answer)
        self._write_facts()

    def _write_facts(self) -> None:
        """Record the new facts that the rules declared. A fact that is recorded already must be equal."""
        new: list[Event] = []
        for fact in self._driver.facts[self._facts_established :]:
            event = _FACTS[fact.kind](about=fact.about, body=fact.body)
            self._facts_established += 1
            recorded = self._facts_recorded.get((event.kind, fact.about))
            if not recorded:
                new.append(event)
            elif canonical(recorded.popleft().body) != canonical(event.body):
                raise _mismatch(fact.about, f"the record has another {fact.kind}")
        if new:
            self._journal.write(*new)

    def _close(self) -> None:
        truncated = not self._driver.finished
        history = self._journal.history
        missing = [
            {"path": path, "seat": row.seat, "phase": row.phase, "reason": row.reason, "detail": row.detail}
            for path, row in history.answered.items()
            if isinstance(row, Abstained)
        ]

        def abstain(path: AskPath, ask: Ask) -> Abstention:
            missing.append(
                {"path": path, "seat": ask.seat, "phase": ask.phase, "reason": "budget", "detail": "not asked"}
            )
            return Abstention(ask.seat, "budget", "not asked")

        self._driver.answer_all(abstain)
        spoken = any(isinstance(row, TurnTaken) for row in history.answered.values())
        status = Status.COMPLETE
        if truncated:
            status = Status.TRUNCATED
        elif missing:
            status = Status.DEGRADED if spoken else Status.FAILED
        outcome = self._driver.outcome
        fault = str(getattr(outcome, "fault", ""))
        if fault and not truncated:
            status = Status.FAILED
        self._journal.write(
            DebateClosed(
                status=status.value,
                missing=tuple(sorted(missing, key=lambda row: str(row["path"]))),
                outcome=outcome.as_json(),
                reason=self._refusals[0].sentence if self._refusals else fault,
            )
        )

    def _turn_taking(self, path: AskPath, ask: Ask) -> TurnTaking | PersonTurn:
        occupant = self._plan.assignments[ask.seat]
        if isinstance(occupant, Person):
            return occupant.take(path, ask, _CHECKS, self._situation(ask))
        if not isinstance(occupant, ModelSeat):
            return occupant.take(path, ask, _CHECKS)
        embedded = occupant.seatings[0].provider == "embedded"
        return ModelTurn(
            path,
            ask,
            seatings=occupant.seatings,
            modes=[
                self._modes(ask, seating, modes)
                for seating, modes in zip(occupant.seatings, occupant.modes, strict=True)
            ],
            checks=_CHECKS,
            prompts=DebatePrompts(self._plan.book, self._plan.prompt_context),
            seed=0 if self._plan.seed is None and embedded else self._plan.seed,
            tools=self._tools.tools_for(ask.seat),
            tool_limits=self._tools.limits,
            allowances=self._allowances,
        ).take()

    def _situation(self, ask: Ask) -> Situation:
        """The context of an ask, for a person."""
        book, prompt_context = self._plan.book, self._plan.prompt_context
        return Situation(
            self._journal.debate,
            prompt_context.motion.text,
            prompt_context.motion.language,
            rules_for_person(book, prompt_context),
            role_for_person(book, prompt_context, ask),
            task_for_person(book, prompt_context, ask),
            prompt_context.laid_out(ask.seat).texts,
        )

    def _modes(self, ask: Ask, seating: ModelSeating, modes: tuple[OutputMode, ...]) -> list[OutputMode]:
        """The output modes to try: all but those that this server rejected earlier in the debate.

        Only other phases and the seat's own turns count, because they certainly precede this ask. What a parallel seat
        has learned depends on which was faster, and must not change the prompt.
        """
        rejected = {
            row.mode
            for row in self._rejected_modes
            if row.address == seating.address and (row.phase != ask.phase or row.seat == ask.seat)
        }
        return [mode for mode in modes if mode not in rejected] or list(modes[-1:])

    async def _take(self, path: AskPath, ask: Ask) -> TurnResult | Abstention:
        """Let one seat take its turn; use recorded calls first."""
        history = self._journal.history
        recorded = deque(history.settled(path))
        # Ask a person again: an answer that an earlier session did not accept is not tried first.
        person = self._plan.assignments[ask.seat] if isinstance(self._plan.assignments[ask.seat], Person) else None
        rejected = 0 if person else len(history.rejected.get(path, ()))
        consulted = self._tools.recorded(path)
        asked, replaying = path in history.asked, False
        taking = self._turn_taking(path, ask)
        outcome: Reply | Fault | ToolResult | Filled | Passed | None = None
        while True:
            try:
                step = taking.send(outcome)
            except StopIteration as end:
                if not asked:
                    self._journal.write(turn_asked(path, ask, None, self._hashes))
                result: TurnResult | Abstention = end.value
                return result
            outcome = None
            opening = () if asked else (turn_asked(path, ask, step if isinstance(step, Send) else None, self._hashes),)
            asked = True
            if isinstance(step, Send):
                replaying = bool(recorded)
                outcome = self._replay_call(recorded, step) if replaying else await self._send(path, step, ask, opening)
                continue
            if isinstance(step, Consult):
                outcome = await self._tools.consult(path, ask, step.request, consulted)
                continue
            if opening:
                self._journal.write(*opening)
            if isinstance(step, Invite):
                assert isinstance(person, Person)  # noqa: S101  (only people are invited)
                # A person may take long, so make the earlier turns durable first.
                await self._journal.wait_until_durable()
                outcome = await person.surface.fill(step.request)
                continue
            if isinstance(step, Await):
                outcome = await step.work
                continue
            if isinstance(step, Reject):
                if rejected:
                    rejected -= 1
                else:
                    self._journal.write(
                        AnswerRejected(path=path, part=step.part, because=step.because, reasons=step.reasons)
                    )
            elif not replaying:
                # A pause after a recorded call is over: it began when that call was made.
                self._journal.flush()
                await self._clock.sleep(step.seconds)

    def _replay_call(self, recorded: deque[tuple[CallSent, CallMade]], send: Send) -> Reply | Fault:
        """The outcome of the next recorded call, after a check that it is the call that ``send`` requests."""
        sent, made = recorded.popleft()
        self._check_same(sent, send)
        usage = Usage(**made.usage)  # type: ignore[arg-type]
        if made.fault:
            return Fault(
                FaultKind(made.fault),
                made.message,
                retry_after_s=made.retry_after_s,
                usage=usage,
                served_model=made.served_model,
                text=made.text,
            )
        return Reply(made.text, made.served_model, usage, made.finish)

    def _check_same(self, sent: CallSent, send: Send) -> None:
        """Refuse a recorded call whose prompt or model differs from ``send``."""
        prompt = self._journal.history.prompts[sent.call]
        if prompt_rows(send.call, self._hashes) != prompt or sent.model != send.seating.address:
            raise _mismatch(sent.path, "the recorded prompt or model is another one")

    async def _send(self, path: AskPath, send: Send, ask: Ask, opening: tuple[Event, ...]) -> Reply | Fault:
        """Make one call when the call limiter allows it. Nothing is reserved for it before."""
        if (under_way := self._batched.take_under_way(path)) is not None:
            self._check_same(under_way, send)
            send = send._replace(call=self._batched.restore(under_way, send.call))
            return await self._finish_call(under_way.call, path, send, ask, None, under_way.tier)
        if self._batched.tier(path, send):
            # A batch waits for all calls of the debate, and its calls are not in flight for the limiter.
            return await self._make_call(path, send, ask, opening, None)
        async with self._staggering.following(send) as begun:
            if self._call_limiter is None:
                return await self._make_call(path, send, ask, opening, begun)
            # The wait may be long, so store earlier answers first.
            self._journal.flush()
            async with self._call_limiter.slot(send.seating):
                return await self._make_call(path, send, ask, opening, begun)

    async def _make_call(
        self, path: AskPath, send: Send, ask: Ask, opening: tuple[Event, ...], begun: Callable[[], None] | None
    ) -> Reply | Fault:
        """Make one call: reserve, record it (after ``opening``), send, settle, record the outcome.

        ``begun`` is called at the first words, for calls that wait for them.
        """
        history = self._journal.history
        earlier = [row for row in history.past if row.path == path]
        call_id = f"{path}!{len(history.sent.get(path, ())) + len(earlier) + 1}"
        tier = self._batched.tier(path, send)
        send, quote = await self._reserve(call_id, send, opening, tier)
        sent, texts = call_sent(call_id, path, send, ask, quote.as_json(), history, self._hashes, tier)
        self._journal.write(*opening, sent, texts=texts)
        await self._journal.wait_until_durable()
        send = send._replace(call=self._batched.identify(call_id, send.call, tier))
        return await self._finish_call(call_id, path, send, ask, begun, tier)

    async def _finish_call(
        self, call_id: str, path: AskPath, send: Send, ask: Ask, begun: Callable[[], None] | None, tier: str
    ) -> Reply | Fault:
        """Send a call that is recorded, settle it, and record its outcome."""
        self._journal.flush()
        occupant = self._plan.assignments[ask.seat]
        assert isinstance(occupant, ModelSeat)  # noqa: S101  (only models send calls)
        model_client = occupant.model_clients[occupant.seatings.index(send.seating)]
        started = self._clock.monotonic()
        outcome = await model_client.call(send.call, self._listener(path, send.part, begun))
        outcome = self._allowances.judge(send.seating, send.call, outcome)
        latency = round((self._clock.monotonic() - started) * 1000)
        fault = outcome.kind if isinstance(outcome, Fault) else None
        settled = self._ledger.settle(
            call_id,
            send.seating,
            outcome.served_model,
            outcome.usage,
            billable=fault is None or fault in _MAY_BE_BILLED,
            batch=tier == BATCH,
        )
        self._settled.set()
        # Record the paid answer before anything that can be cancelled.
        self._journal.write(call_made(call_id, path, outcome, settled, latency))
        if isinstance(outcome, Fault) and outcome.kind is FaultKind.SCHEMA_UNSUPPORTED:
            self._rejected_modes.append(_RejectedMode(send.seating.address, send.call.mode, ask.phase, ask.seat))
        await wait_for_turn()
        return outcome

    async def _reserve(
        self, call_id: str, send: Send, opening: tuple[Event, ...], tier: str
    ) -> tuple[Send, Reservation]:
        """Reserve what the call may use at most, with less room to reason if the ceiling leaves too little.

        A call in flight reserves several times what it will cost, so a ceiling counts as reached only when no call is
        in flight. After each settled call the reservation is computed again, with a better ratio of tokens to bytes.

        Raises:
            _CeilingReachedError: a ceiling forbids the call even with the least useful room.
        """
        refusal = self._try_reserve(call_id, send, tier)
        while isinstance(refusal, Refusal) and refusal.limit != "calls" and self._ledger.has_calls_in_flight:
            self._journal.flush()
            self._settled.clear()
            with self._batched.waiting(), self._ledger.listening(self._settled.set):
                await self._settled.wait()
            refusal = self._try_reserve(call_id, send, tier)
        if not isinstance(refusal, Refusal):
            return send, refusal
        for smaller in self._allowances.smaller_calls(send.seating, send.call):
            reservation = self._try_reserve(call_id, send._replace(call=smaller), tier)
            if not isinstance(reservation, Refusal):
                return send._replace(call=smaller), reservation
        if opening:
            self._journal.write(*opening)
        # Report the refusal of the whole call, not of the smaller ones.
        raise _CeilingReachedError(refusal)

    def _try_reserve(self, call_id: str, send: Send, tier: str) -> Reservation | Refusal:
        """Reserve for the call, or say which ceiling forbids it."""
        quote = self._ledger.quote(send.call, send.seating, batch=tier == BATCH)
        return self._ledger.reserve(call_id, quote) or quote

    def _listener(self, path: AskPath, part: str, begun: Callable[[], None] | None) -> OnText | None:
        """A function that receives the answer while it is written; None if it need not be streamed."""
        if not self._streams and begun is None:
            return None

        def on_text(text: str) -> None:
            if begun is not None:
                begun()
            if self._streams:
                self._observer.on_text(path, part, text)

        return on_text


def _find_rejected_modes(history: History) -> list[_RejectedMode]:
    """The output modes that servers rejected in this debate."""
    unsupported = FaultKind.SCHEMA_UNSUPPORTED.value
    calls = {made.call for made in history.made.values() if made.fault == unsupported}
    return [
        _RejectedMode(sent.model, OutputMode(sent.mode), history.asked[sent.path].phase, sent.seat)
        for sent in (history.calls if calls else ())
        if sent.call in calls and sent.path in history.asked
    ]


def recorded_answer(path: str, ask: Ask, row: TurnTaken | Abstained) -> Turn | Abstention:
    """The recorded answer to ``ask``.

    Raises:
        ResumeMismatchError: it is the answer to another ask, or the check of its citations has another result now.
    """
    if isinstance(row, Abstained):
        return Abstention(Seat(row.seat), row.reason, row.detail)
    if row.form != ask.spec.name or row.seat != ask.seat:
        raise _mismatch(path, f"the record has a {row.form} by {row.seat}")
    answer: Turn = ask.spec.read(row.content)
    cited = cited_json(answer)
    if (cited or row.citations) and canonical(list(cited)) != canonical(list(row.citations)):
        raise _mismatch(path, "the check of a citation has another result")
    return answer


def _mismatch(place: str, cause: str) -> ResumeMismatchError:
    return ResumeMismatchError(
        f"The debate cannot go on at {place}: {cause} than this version would use.",
        "Resume it with the version and settings it was started with.",
    )
