"""Write one debate's events: seal them, chain them, and hand them to the store in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any

from disputatio.engine.ports import Clock, Observer
from disputatio.formats.turns.citing import cited_json, unstated_json
from disputatio.kernel import Ask, AskPath
from disputatio.ledger.ledger import Settled
from disputatio.participants.call import Call, Fault, Reply, Usage
from disputatio.participants.turn_taking import Send, TurnResult
from disputatio.record.chain import GENESIS, Sealed, seal
from disputatio.record.events import CallMade, CallSent, DebateClosed, DebateInterrupted, Event, TurnAsked, TurnTaken
from disputatio.record.history import History, PromptRows
from disputatio.record.store import EventBatch, Store, Summary
from disputatio.record.text import canonical, digest

_ENDS = frozenset({DebateClosed.kind, DebateInterrupted.kind})


class Journal:
    """The writing end of one record.

    Args:
        debate: the debate's id.
        store: where events go.
        clock: stamps them.
        observer: receives each event.
        written: the existing events of a resumed debate; only the last one if ``history`` is given.
        history: the state after those events, if the caller has it. The journal updates it.

    Attributes:
        history: the state after all events.
        head: the hash of the last event.
    """

    def __init__(
        self,
        debate: str,
        *,
        store: Store,
        clock: Clock,
        observer: Observer,
        written: tuple[Sealed, ...] = (),
        history: History | None = None,
    ) -> None:
        self.debate = debate
        self.history = history or History.of(sealed.event() for sealed in written)
        self._store, self._clock, self._observer = store, clock, observer
        self._seq = written[-1].seq if written else 0
        self.head = written[-1].hash if written else GENESIS
        self._buffer: list[Sealed] = []
        self._texts: dict[str, str] = {}
        self._flushed: deque[asyncio.Future[None]] = deque()

    def write(self, *events: Event, texts: Mapping[str, str] | None = None) -> None:
        """Seal events and buffer them for the next write.

        So an answer, its turn and the next call reach the store together. Call ``flush`` before you wait for anything
        else.
        """
        now = self._clock.now()
        for event in events:
            self._seq += 1
            row = seal(event, debate=self.debate, seq=self._seq, at=now, previous=self.head)
            self.head = row.hash
            self._buffer.append(row)
            self.history.add(event)
            self._observer.on_event(event, row)
        if texts:
            self._texts.update(texts)

    def flush(self) -> None:
        """Hand the buffered events to the store."""
        if self._buffer:
            summary = self._summary() if any(row.kind in _ENDS for row in self._buffer) else None
            batch = EventBatch(self.debate, tuple(self._buffer), self._texts, summary)
            self._flushed.append(self._store.append(batch))
            self._buffer, self._texts = [], {}

    def _summary(self) -> Summary:
        """Summarize the record, so that metrics need not read it."""
        from disputatio.metrics.measures import make_summary, measure_debate

        # The summary does not contain the time of opening; the list of debates does.
        return make_summary(measure_debate(self.debate, "", self.history), self.head)

    async def wait_until_durable(self) -> None:
        """Wait until all events are durable. A store writes in order, and nothing after a failure.

        Raises:
            StoreError: an event could not be written. Reports the first cause.
        """
        self.flush()
        if not self._flushed:
            return
        last = self._flushed[-1]
        if not last.done():
            # Like asyncio.shield in fewer steps: cancelling this task must not cancel the write.
            ended: asyncio.Future[None] = last.get_loop().create_future()
            last.add_done_callback(lambda _: None if ended.done() else ended.set_result(None))
            await ended
        while self._flushed and self._flushed[0].done():
            # Keep the first failure: later ones only say that an earlier write failed.
            self._flushed[0].result()
            self._flushed.popleft()
        last.result()


class TextHashes(dict[str, str]):
    """SHA-256 of the texts of one debate, by text.

    Every call sends the whole history again, so the hashes are cached while the debate runs.
    """

    def __missing__(self, text: str) -> str:
        hash_ = self[text] = digest(text)
        return hash_


def turn_asked(path: AskPath, ask: Ask, first: Send | None, hashes: TextHashes) -> TurnAsked:
    """The event of an ask, with the prompt of its ``first`` call if there is one."""
    return TurnAsked(
        path=path,
        seat=ask.seat,
        phase=ask.phase,
        form=ask.spec.name,
        mode=first.call.mode.value if first else "",
        prompt=digest("\n".join([f"{row.role} {hashes[row.text]}" for row in first.call.segments])) if first else "",
    )


def turn_taken(path: AskPath, ask: Ask, result: TurnResult) -> TurnTaken:
    """The event of a finished turn."""
    return TurnTaken(
        path=path,
        seat=ask.seat,
        phase=ask.phase,
        form=ask.spec.name,
        content=result.content,
        violations=tuple({"rule": row.rule, "detail": row.detail} for row in result.violations),
        citations=cited_json(result.turn),
        unstated=unstated_json(result.turn),
        repaired=result.repaired,
        asked=result.asked,
        served_models=result.served_models,
    )


def call_sent(
    call_id: str,
    path: AskPath,
    send: Send,
    ask: Ask,
    reserved: Any,
    history: History,
    hashes: TextHashes,
    tier: str = "",
) -> tuple[CallSent, dict[str, str]]:
    """The event before a call is sent, and the texts it names that the record does not have yet."""
    call = send.call
    begins, prompt = history.shortened(prompt_rows(call, hashes))
    # Texts of the shared prefix are in the record already.
    new = call.segments[len(call.segments) - len(prompt) :]
    texts = {hash_: row.text for row, (_, hash_) in zip(new, prompt, strict=True)}
    schema = ""
    if call.schema is not None:
        body = call.schema_text or canonical(call.schema)
        schema = hashes[body]
        texts[schema] = body
    sent = CallSent(
        call=call_id,
        path=path,
        part=send.part,
        seat=ask.seat,
        model=send.seating.address,
        mode=call.mode.value,
        temperature=call.temperature,
        max_tokens=call.max_tokens,
        prompt=prompt,
        schema=schema,
        reserved=reserved,
        begins=begins,
        reasoning_allowance=call.reasoning_allowance,
        tier=tier,
    )
    return sent, texts


def call_made(call_id: str, path: AskPath, outcome: Reply | Fault, settled: Settled, latency_ms: int) -> CallMade:
    """The event after a call returned, with its charge."""
    fault = outcome if isinstance(outcome, Fault) else None
    usage = outcome.usage or Usage()
    return CallMade(
        call=call_id,
        path=path,
        fault=fault.kind.value if fault else "",
        message=fault.message if fault else "",
        text=outcome.text,
        served_model=outcome.served_model,
        finish=outcome.finish if isinstance(outcome, Reply) else "",
        usage={
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            **({} if usage.written_tokens is None else {"written_tokens": usage.written_tokens}),
            **({} if usage.reasoning_tokens is None else {"reasoning_tokens": usage.reasoning_tokens}),
        },
        cost_usd=None if settled.usd is None else str(settled.usd),
        cost_basis=settled.basis,
        charged_tokens=settled.tokens,
        latency_ms=latency_ms,
        retry_after_s=fault.retry_after_s if fault else None,
    )


def prompt_rows(call: Call, hashes: TextHashes) -> PromptRows:
    """The prompt of ``call`` as a record lists it."""
    return tuple([(row.role, hashes[row.text]) for row in call.segments])
