"""Where people in seats are asked over the network: each open question waits until a turn is handed in for it.

A server that holds its debates itself keeps the questions in memory; one that leaves them to workers reads and answers
those that the workers laid into the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from disputatio._service.problems import RefusedError
from disputatio.kernel import JsonObject
from disputatio.participants.human import Filled, Passed, Person, TurnRequest
from disputatio.participants.human.surface import PendingTurn

if TYPE_CHECKING:
    from disputatio._service.hub import Hub
    from disputatio.participants.human import Participant
    from disputatio.workers.questions import QuestionTable

TAKEN_S = 4.0
"""How long is waited for a worker to look at a turn; it is taken in any case."""
_LOOK_S = 0.2


class OpenQuestions(Protocol):
    """The questions to people that are open, and how they are answered."""

    async def asked(self, debate: str) -> Sequence[PendingTurn]:
        """The open questions to people in ``debate``, in the order of their paths."""

    async def question(self, debate: str, path: str) -> PendingTurn:
        """The open question at ``path``.

        Raises:
            RefusedError: there is none.
        """

    async def submit_answer(self, debate: str, path: str, content: JsonObject) -> tuple[str, ...] | None:
        """Hand in a turn. Returns the rules that it breaks, or None if it has not been checked yet.

        Raises:
            RefusedError: no such turn is open, or the content does not fit its schema.
        """

    async def pass_over(self, debate: str, path: str) -> None:
        """Take no turn.

        Raises:
            RefusedError: nobody asks for it.
        """


@dataclass(slots=True)
class Waiting:
    """A question without an answer. ``tried`` says why earlier answers were not accepted."""

    request: TurnRequest
    answer: asyncio.Future[Filled | Passed]
    tried: list[str] = field(default_factory=list)


class LocalQuestions:
    """All requests to people of debates that this process holds."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._open: dict[str, dict[str, Waiting]] = {}

    def people(self, _debate: str, order: JsonObject) -> Mapping[str, Participant]:
        """Who sits in the seats that an order leaves to people."""
        seats: Sequence[str] = order.get("people") or ()  # type: ignore[assignment]
        return {seat: Person(self) for seat in seats}

    async def fill(self, request: TurnRequest) -> Filled | Passed:
        """Wait until the turn is handed in."""
        debate, path = request.situation.debate, str(request.path)
        waiting = Waiting(request, asyncio.get_running_loop().create_future())
        here = self._open.setdefault(debate, {})
        here[path] = waiting
        self._hub.wake(debate)
        try:
            return await waiting.answer
        finally:
            if here.get(path) is waiting:
                del here[path]
            if not here:
                self._open.pop(debate, None)

    async def asked(self, debate: str) -> Sequence[PendingTurn]:
        """As the protocol."""
        rows = sorted(self._open.get(debate, {}).items())
        return [PendingTurn.of(row.request) for _, row in rows if not row.answer.done()]

    async def question(self, debate: str, path: str) -> PendingTurn:
        """As the protocol."""
        return PendingTurn.of(self._waiting(debate, path).request)

    async def submit_answer(self, debate: str, path: str, content: JsonObject) -> tuple[str, ...]:
        """As the protocol; this process holds the debate, and knows what it will find."""
        waiting = self._waiting(debate, path)
        faults = waiting.request.faults(content)
        if faults:
            waiting.tried.append("; ".join(faults))
            raise _mismatch(faults)
        breaches = waiting.request.violations(content)
        waiting.answer.set_result(Filled(content, tuple(waiting.tried)))
        return breaches

    async def pass_over(self, debate: str, path: str) -> None:
        """As the protocol."""
        waiting = self._waiting(debate, path)
        waiting.answer.set_result(Passed(tried=tuple(waiting.tried)))

    def _waiting(self, debate: str, path: str) -> Waiting:
        found = self._open.get(debate, {}).get(path)
        if found is None or found.answer.done():
            raise _not_asked()
        return found


class RemoteQuestions:
    """The requests to people of debates that workers hold."""

    def __init__(self, book: QuestionTable) -> None:
        self._book = book

    async def asked(self, debate: str) -> Sequence[PendingTurn]:
        """As the protocol."""
        return await asyncio.to_thread(self._book.asked, debate)

    async def question(self, debate: str, path: str) -> PendingTurn:
        """As the protocol."""
        found = next((row for row in await self.asked(debate) if row.path == path), None)
        if found is None:
            raise _not_asked()
        return found

    async def submit_answer(self, debate: str, path: str, content: JsonObject) -> tuple[str, ...] | None:
        """As the protocol. The form is checked here; the rules are the worker's to check, who is waited for shortly."""
        question = await self.question(debate, path)
        faults = question.faults(content)
        if faults:
            await asyncio.to_thread(self._book.note_try, debate, path, "; ".join(faults))
            raise _mismatch(faults)
        await self._given(debate, path, content)
        loop = asyncio.get_running_loop()
        until = loop.time() + TAKEN_S
        while loop.time() < until:
            breaches = await asyncio.to_thread(self._book.violations, debate, path)
            if breaches is not None:
                return breaches
            await asyncio.sleep(_LOOK_S)
        return None

    async def pass_over(self, debate: str, path: str) -> None:
        """As the protocol."""
        await self.question(debate, path)
        await self._given(debate, path, None)

    async def _given(self, debate: str, path: str, content: JsonObject | None) -> None:
        if not await asyncio.to_thread(self._book.submit_answer, debate, path, content):
            raise _not_asked()


def _mismatch(faults: Sequence[str]) -> RefusedError:
    return RefusedError(
        422, "invalid", f"The turn does not fit its form: {'; '.join(faults)}.", "Change that and hand it in."
    )


def _not_asked() -> RefusedError:
    return RefusedError(
        409,
        "conflict",
        "This turn is not open: it was taken already, or the debate went on or stopped without it.",
        "GET the turns of the debate to see what is asked.",
    )
