"""Seats of people: the open questions, and handing in turns."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import (
    DebateId,
    PostView,
    SeatView,
    SourceView,
    TurnAskedView,
    TurnGiven,
    TurnReceived,
)
from disputatio._service.keys import Caller, Scope
from disputatio._service.problems import RefusedError, responses
from disputatio.participants.human.surface import PendingTurn

router = APIRouter(prefix="/v1", tags=["people in seats"])
Reader = Annotated[Caller, Depends(Needs(Scope.READ))]
Runner = Annotated[Caller, Depends(Needs(Scope.RUN))]


def turn_view(question: PendingTurn) -> TurnAskedView:
    """A question as the API shows it; what the seat may not hear is not in it."""
    situation = question.situation
    return TurnAskedView(
        path=question.path,
        seat=question.seat,
        phase=question.phase,
        motion=situation.motion,
        language=situation.language,
        rules=situation.rules,
        role=situation.role,
        task=situation.task,
        heard=[PostView(seat=row.seat, phase=row.phase, text=row.text, channel=row.channel) for row in question.heard],
        sources=[SourceView(source_id=name, title=title, text=text) for name, title, text in situation.sources],
        form=dict(question.schema),
        word_limit=question.word_limit,
        reasons=list(question.reasons),
        because=question.because,  # type: ignore[arg-type]
    )


@router.get("/debates/{debate_id}/seats", response_model=list[SeatView], responses=responses(404))
async def list_seats(debate_id: DebateId, request: Request, caller: Reader) -> list[SeatView]:
    """List the seats that people take, and which key sits in each."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    rows = await asyncio.to_thread(service.seating.seats, debate_id, caller)
    return [SeatView(seat=row.seat, taken_by=row.name or None, yours=row.mine) for row in rows]


@router.post("/debates/{debate_id}/seats/{seat}", response_model=SeatView, responses=responses(404))
async def take_seat(
    debate_id: DebateId, seat: Annotated[str, Path(max_length=80)], request: Request, caller: Runner
) -> SeatView:
    """Take a seat that is left to people. Its questions are then shown to this key alone. Safe to repeat."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    await asyncio.to_thread(service.seating.take, debate_id, seat, caller)
    return SeatView(seat=seat, taken_by=caller.key.name or None, yours=True)


@router.get("/debates/{debate_id}/turns", response_model=list[TurnAskedView], responses=responses(404))
async def list_turns(debate_id: DebateId, request: Request, caller: Runner) -> list[TurnAskedView]:
    """List the open questions to people: those to this key's seats, and the public part of those to free seats."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    return [turn_view(row) for row in await service.seating.questions(debate_id, caller)]


@router.post("/debates/{debate_id}/turns", response_model=TurnReceived, responses=responses(404, 409))
async def give_turn(debate_id: DebateId, turn: TurnGiven, request: Request, caller: Runner) -> TurnReceived:
    """Hand in a person's turn, and take its seat where it is free. The code that checks a model's turn checks it."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    asked = await service.open_questions.question(debate_id, turn.path)
    await asyncio.to_thread(service.seating.take, debate_id, asked.seat, caller)
    if turn.passes:
        await service.open_questions.pass_over(debate_id, turn.path)
        return TurnReceived(breaches=[])
    if turn.content is None:
        raise RefusedError(422, "invalid", "The turn has no content.", 'Give "content", or "passes": true.')
    breaches = await service.open_questions.submit_answer(debate_id, turn.path, turn.content)
    return TurnReceived(breaches=None if breaches is None else list(breaches))
