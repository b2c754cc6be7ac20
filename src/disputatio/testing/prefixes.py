"""Measures how much of a debate's input was sent before, so that a prefix cache can serve it.

A call is served the longest prefix that its prompt shares with a call which was answered before. Parallel calls do not
serve each other. A token is four bytes of UTF-8. A schema outside the prompt is counted separately: some providers put
it in front of the prompt, where only calls with the same schema share a prefix.

The result is compared with a naive layout: the seat's role and task first, then everything else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from disputatio.engine.simulation import TypicalAnswers
from disputatio.participants.caching import CachedCall
from disputatio.participants.call import Call, Fault, OnText, OutputMode, Reply, Usage
from disputatio.participants.length_profiles import USUAL, LengthProfile
from disputatio.record.text import canonical
from disputatio.testing.provider.token_counts import BYTES_PER_TOKEN, shared_beginning

_STEPS = 30
"""Turns of the event loop that an answer takes: enough for all calls of a phase to have left."""


@dataclass(slots=True)
class MeteredCall:
    """One call, in bytes.

    Attributes:
        prompt: its prompt.
        schema: the form of its answer.
        answer: what came back.
        served: how much of the prompt began like that of a call answered before.
        served_beside: the same where calls that left before it, but were not answered yet, serve it too.
        served_naive: the same as ``served``, of the naive layout.
        served_in_front: the same as ``served`` with the schema in front of the prompt; the schema is counted.
        tail: what follows the last place that is worth a mark: the task.
        sent: the call as the rules of a provider's cache see it, in tokens.
    """

    prompt: int
    schema: int
    answer: int
    served: int
    served_beside: int
    served_naive: int
    served_in_front: int
    tail: int
    sent: CachedCall


@dataclass(frozen=True, slots=True)
class PrefixTotals:
    """Totals of a debate's calls, in tokens."""

    calls: int
    input: int
    schemas: int
    output: int
    served: int
    served_beside: int
    served_naive: int
    served_in_front: int
    tails: int

    @property
    def share(self) -> float:
        """The share of the input that earlier phases have sent."""
        return self.served / self.input

    @property
    def share_staggered(self) -> float:
        """The same if the first call of a phase is sent before the others."""
        return self.served_beside / self.input

    @property
    def uncached(self) -> int:
        """The input that the cache does not serve."""
        return self.input - self.served

    def billed(self, read: float, written: float = 1.0, *, staggered: bool = False) -> float:
        """What the input is billed as a part of what the naive layout's is, by the prices of a provider.

        Args:
            read: the price of a token from the cache, where one that is not costs 1.
            written: the price of a token that is put there. The task is not put there.
            staggered: whether the first call of a phase leaves before the others.
        """
        served = self.served_beside if staggered else self.served
        fresh = self.input - served
        naive = (self.input - self.served_naive) * written + self.served_naive * read
        return (served * read + (fresh - self.tails) * written + self.tails) / naive


@dataclass(slots=True)
class _Sent:
    texts: dict[str, bytes]
    answered: bool = False


@dataclass
class PrefixMeter:
    """A client that answers at the length of its habits and meters every call; give the same one to all seats.

    Attributes:
        habits: how it answers.
        rows: the calls so far.
    """

    length_profile: LengthProfile = USUAL
    rows: list[MeteredCall] = field(default_factory=list)
    modes: tuple[OutputMode, ...] = (OutputMode.NATIVE,)

    def __post_init__(self) -> None:
        """Begin with nothing said."""
        self._typical = TypicalAnswers(self.length_profile)
        self._sent: list[_Sent] = []
        self._wave, self._wave_is_over = 1, False

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        """An answer of usual length, after the other calls of its phase have left."""
        answer = canonical(self._typical.answer(call.schema or {"type": "string"}))
        *before, task = (segment.text for segment in call.segments)
        schema = call.schema_text or canonical(call.schema)
        prompt = "\n\n".join((*before, task)).encode()
        texts = {
            "served": prompt,
            "served_naive": "\n\n".join((task, *before)).encode(),
            "served_in_front": schema.encode() + prompt,
        }
        served = {name: self._served(name, text, beside=False) for name, text in texts.items()}
        beside = self._served("served", prompt, beside=True)
        sizes = {"schema": len(schema.encode()), "answer": len(answer.encode()), "tail": len(task.encode())}
        sent_as = self._sent_as(call, before, task, schema)
        self.rows.append(MeteredCall(len(prompt), served_beside=beside, sent=sent_as, **served, **sizes))
        sent = _Sent(texts)
        self._sent.append(sent)
        if on_text is not None:
            on_text(answer[:1])
        for _ in range(_STEPS):
            await asyncio.sleep(0)
        sent.answered = self._wave_is_over = True
        return Reply(answer, None, Usage(len(prompt) // BYTES_PER_TOKEN, len(answer) // BYTES_PER_TOKEN, 0))

    def _sent_as(self, call: Call, before: list[str], task: str, schema: str) -> CachedCall:
        if self._wave_is_over:
            self._wave, self._wave_is_over = self._wave + 1, False
        shared = [(hash(text), len(text.encode()) // BYTES_PER_TOKEN) for text in before]
        outside = "" if call.mode is OutputMode.PROMPTED else schema
        return CachedCall(
            self._wave, shared, len(task.encode()) // BYTES_PER_TOKEN, outside, len(outside.encode()) // BYTES_PER_TOKEN
        )

    def _served(self, name: str, text: bytes, *, beside: bool) -> int:
        earlier = (row.texts[name] for row in self._sent if row.answered or beside)
        return max((shared_beginning(text, other) for other in earlier), default=0)

    def sums(self) -> PrefixTotals:
        """What the calls came to."""

        def tokens(sizes: Iterable[int]) -> int:
            return sum(sizes) // BYTES_PER_TOKEN

        rows = self.rows
        return PrefixTotals(
            calls=len(rows),
            input=tokens(row.prompt for row in rows),
            schemas=tokens(row.schema for row in rows),
            output=tokens(row.answer for row in rows),
            served=tokens(row.served for row in rows),
            served_beside=tokens(row.served_beside for row in rows),
            served_naive=tokens(row.served_naive for row in rows),
            served_in_front=tokens(row.served_in_front for row in rows),
            tails=tokens(row.tail for row in rows),
        )

    async def probe(self) -> Fault | None:
        """Nothing to ask."""
        return None

    async def aclose(self) -> None:
        """Nothing to release."""
