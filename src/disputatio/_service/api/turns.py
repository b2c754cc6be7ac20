"""Seats that people take: what they are asked for, and handing it in."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import (
    DebateId,
    PostView,
    SourceView,
    TurnAskedView,
    TurnGiven,
    TurnReceived,
)
from disputatio._service.keys import Caller, Scope
from disputatio._service.problems import RefusedError, responses
from disputatio.participants.human import TurnRequest

router = APIRouter(prefix="/v1", tags=["people in seats"])
Runner = Annotated[Caller, Depends(Needs(Scope.RUN))]


def turn_view(request: TurnRequest) -> TurnAskedView:
    """A request as the API shows it; what the seat may not hear is not in it."""
    situation = request.situation
    return TurnAskedView(
        path=str(request.path),
        seat=request.seat,
        phase=request.ask.phase,
        motion=situation.motion,
        language=situation.language,
        rules=situation.rules,
        role=situation.role,
        task=situation.task,
        heard=[PostView(seat=row.seat, phase=row.phase, text=row.text, channel=row.channel) for row in request.heard],
        sources=[SourceView(source_id=name, title=title, text=text) for name, title, text in situation.sources],
        form=dict(request.ask.form.schema),
        word_limit=request.word_limit,
        reasons=list(request.reasons),
        because=request.because,  # type: ignore[arg-type]
    )


@router.get("/debates/{debate_id}/turns", response_model=list[TurnAskedView], responses=responses(404))
async def list_turns(debate_id: DebateId, request: Request, caller: Runner) -> list[TurnAskedView]:
    """See what people are asked for in a debate now."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    return [turn_view(row) for row in service.floor.asked(debate_id)]


@router.post("/debates/{debate_id}/turns", response_model=TurnReceived, responses=responses(404, 409))
async def give_turn(debate_id: DebateId, turn: TurnGiven, request: Request, caller: Runner) -> TurnReceived:
    """Hand in a person's turn. It is checked by the code that checks a model's."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    if turn.passes:
        service.floor.pass_over(debate_id, turn.path)
        return TurnReceived(breaches=[])
    if turn.content is None:
        raise RefusedError(422, "invalid", "The turn has no content.", 'Give "content", or "passes": true.')
    return TurnReceived(breaches=list(service.floor.hand_in(debate_id, turn.path, turn.content)))
