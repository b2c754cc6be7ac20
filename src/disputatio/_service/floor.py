"""Where people in seats are asked over the network: each open request waits until a turn is handed in for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from disputatio._service.problems import RefusedError
from disputatio.kernel import JsonObject
from disputatio.participants.human import Filled, Passed, Person, TurnRequest

if TYPE_CHECKING:
    from disputatio._service.hub import Hub
    from disputatio.participants.human import Participant


@dataclass(slots=True)
class Waiting:
    """A request that nobody has answered yet. ``tried`` says why answers so far were not taken."""

    request: TurnRequest
    answer: asyncio.Future[Filled | Passed]
    tried: list[str] = field(default_factory=list)


class Floor:
    """All requests to people in this process."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._open: dict[str, dict[str, Waiting]] = {}

    def people(self, _debate: str, order: JsonObject) -> Mapping[str, Participant]:
        """Who sits in the seats that an order leaves to people."""
        seats: Sequence[str] = order.get("people") or ()  # type: ignore[assignment]
        return {seat: Person(self) for seat in seats}

    async def fill(self, request: TurnRequest) -> Filled | Passed:
        """Wait until somebody hands in the turn."""
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

    def asked(self, debate: str) -> Sequence[TurnRequest]:
        """What people are asked for in ``debate``, in the order of their paths."""
        return [row.request for _, row in sorted(self._open.get(debate, {}).items()) if not row.answer.done()]

    def request(self, debate: str, path: str) -> TurnRequest:
        """The open request at ``path``.

        Raises:
            RefusedError: there is none.
        """
        return self._waiting(debate, path).request

    def hand_in(self, debate: str, path: str, content: JsonObject) -> tuple[str, ...]:
        """Hand in a turn; returns the rules it breaks, as the debate will find them.

        Raises:
            RefusedError: nobody asks for it, or it does not have the form that is asked for.
        """
        waiting = self._waiting(debate, path)
        faults = waiting.request.faults(content)
        if faults:
            waiting.tried.append("; ".join(faults))
            raise RefusedError(
                422, "invalid", f"The turn does not fit its form: {'; '.join(faults)}.", "Change that and hand it in."
            )
        breaches = waiting.request.breaches(content)
        waiting.answer.set_result(Filled(content, tuple(waiting.tried)))
        return breaches

    def pass_over(self, debate: str, path: str) -> None:
        """Take no turn.

        Raises:
            RefusedError: nobody asks for it.
        """
        waiting = self._waiting(debate, path)
        waiting.answer.set_result(Passed(tried=tuple(waiting.tried)))

    def _waiting(self, debate: str, path: str) -> Waiting:
        found = self._open.get(debate, {}).get(path)
        if found is None or found.answer.done():
            raise RefusedError(
                409,
                "conflict",
                "Nobody asks for this turn now: it was taken, or the debate has gone on or stopped.",
                "GET the turns of the debate to see what is asked.",
            )
        return found
