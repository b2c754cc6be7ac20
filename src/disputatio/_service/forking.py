"""Fork a recorded debate for a remote caller: what it would keep and ask again, and the request that starts it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from disputatio._service.ceilings import Expected
from disputatio._service.debate_book import WAITING, Asked
from disputatio._service.key_ledger import Room
from disputatio._service.keys import Caller
from disputatio._service.problems import RefusedError
from disputatio._service.service import Service
from disputatio.engine.forking import Fork, check_people, fork_of
from disputatio.ledger.budget import Budget
from disputatio.proposals.forks import ForkRequest
from disputatio.record.text import canonical
from disputatio.record.verified import load_verified


@dataclass(frozen=True, slots=True)
class ForkPreview:
    """A fork that a caller may start.

    Attributes:
        fork: what it keeps and asks again.
        motion: of the debate that it comes from.
        format: of that debate.
        budget: the ceilings of that debate, which the fork has unless it is given others.
    """

    fork: Fork
    motion: str
    format: str
    budget: Budget


def preview_fork(service: Service, debate: str, strike: Sequence[str], caller: Caller) -> ForkPreview:
    """What a fork of ``debate`` without ``strike`` would keep and ask again. No model is called.

    Raises:
        RefusedError: the caller's tenant has no such debate, or it has no record yet.
        InvalidInputError: it cannot be forked, or a name is no part of it.
        VerificationError: its record was altered.
    """
    listed = service.listed(debate, caller)
    if listed.status == WAITING:
        raise RefusedError(
            409,
            "conflict",
            f"The debate {debate} has not started, so it has nothing to strike.",
            "GET it to see why.",
        )
    read = load_verified(service.store, debate)
    found = fork_of(debate, read, strike)
    check_people(found.opened, ())
    return ForkPreview(found, listed.motion, listed.format, Budget.from_json(read.history.last_budget))


async def start_fork(
    service: Service, request: ForkRequest, caller: Caller, idempotency: str | None
) -> tuple[str, bool]:
    """Start a fork; returns the id of the new debate, and whether it is a new one.

    Args:
        service: runs it.
        request: which fork.
        caller: who asks for it.
        idempotency: the caller's key for this request. The same key with the same request gives the same debate.

    Raises:
        RefusedError, DisputatioError: as ``preview_fork``, or a budget does not allow it; nothing was spent.
    """
    stored = request.as_json()
    digest = hashlib.sha256(canonical(stored).encode()).hexdigest()
    # A repeated request gets its fork, whatever became of the parent since.
    before = await asyncio.to_thread(service.book.standing, Asked("", "", "", digest, idempotency), caller.tenant)
    if before is not None:
        return before, False
    found = await asyncio.to_thread(preview_fork, service, request.parent, request.strike, caller)
    given, usual = request.budget, found.budget
    fork = found.fork
    expected = Expected(fork.calls, fork.input_tokens + fork.output_tokens, fork.usd)

    async def expectation() -> Expected:
        return expected

    asked = Asked("", found.motion, found.format, digest, idempotency)
    left = await asyncio.to_thread(service.ledger.room, caller.key.id)
    # The caller did not ask for the parent's ceilings. Where the key's budget cannot hold one, it gets a lower one.
    usd = usual.usd if left.usd is None or (usual.usd or left.usd) <= left.usd else None
    tokens = usual.tokens if left.tokens is None or (usual.tokens or left.tokens) <= left.tokens else None
    room = Room(given.usd or usd, given.tokens or tokens)
    return await service.place(asked, stored, room, expectation, caller)
