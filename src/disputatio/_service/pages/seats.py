"""The page on which a person takes a turn."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import DebateId
from disputatio._service.keys import Caller, Scope
from disputatio._service.pages.rendering import page
from disputatio._service.pages.sheets import faults_of, items_of, read_turn, values_of
from disputatio._service.problems import RefusedError
from disputatio.options.field import not_too_deep
from disputatio.participants.human.surface import PendingTurn

router = APIRouter()
Runner = Annotated[Caller, Depends(Needs(Scope.RUN, page=True))]
AskedPath = Annotated[str, Query(min_length=1, max_length=200)]
_FIELDS = re.compile(r"^[-*] `?[a-z_]+`?: .*$\n?", re.MULTILINE)


@router.get("/debates/{debate_id}/turn")
async def turn(debate_id: DebateId, request: Request, caller: Runner, path: AskedPath) -> Response:
    """What a person is asked for, and the form for it."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    try:
        asked = await service.seating.question(debate_id, path, caller)
    except RefusedError:
        # It was given in another window, the debate went on, or the seat is not theirs: the debate's page says what is.
        return RedirectResponse(f"/debates/{debate_id}", 303)
    values = values_of(asked.sheet, asked.last) if asked.last is not None else {}
    return _form(request, caller, asked, values, json.dumps(asked.last or {}, indent=1))


def _form(
    request: Request, caller: Caller, asked: PendingTurn, values: dict[str, str], raw: str, **shown: Any
) -> HTMLResponse:
    task = [part.strip() for part in _FIELDS.sub("", asked.situation.task).split("\n\n") if part.strip()]
    return page(
        request,
        "turn.html",
        caller,
        ask=asked,
        task=task,
        items=items_of(asked.sheet, values),
        schema=json.dumps(asked.schema),
        json=raw,
        **{"faults": [], **shown},
    )


@router.post("/debates/{debate_id}/seats/{seat}")
async def sit(
    debate_id: DebateId, seat: Annotated[str, Path(max_length=80)], request: Request, caller: Runner
) -> Response:
    """Take a seat."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    await asyncio.to_thread(service.seating.take, debate_id, seat, caller)
    return RedirectResponse(f"/debates/{debate_id}", 303)


@router.post("/debates/{debate_id}/turn")
async def give(debate_id: DebateId, request: Request, caller: Runner, path: AskedPath) -> Response:
    """Hand in the turn that was filled in."""
    service, form = service_of(request), await request.form()
    await asyncio.to_thread(service.listed, debate_id, caller)
    values = {key: value for key, value in form.items() if isinstance(value, str)}
    asked = await service.open_questions.question(debate_id, path)
    await asyncio.to_thread(service.seating.take, debate_id, asked.seat, caller)
    wrong = [] if values.get("do") == "pass" else faults_of(asked.sheet, values)
    if wrong:
        # Told field by field; the debate is not bothered with what is plainly unfinished.
        said = {"cause": "The turn is not finished.", "faults": wrong, "status": 422}
        return _form(request, caller, asked, values, values.get("json", ""), **said)
    try:
        if values.get("do") == "pass":
            await service.open_questions.pass_over(debate_id, path)
        else:
            await service.open_questions.submit_answer(debate_id, path, _content(asked, values))
    except (RefusedError, ValueError) as error:
        cause, step = (error.cause, error.next_step) if isinstance(error, RefusedError) else (str(error), "")
        return _form(request, caller, asked, values, values.get("json", ""), cause=cause, next_step=step, status=422)
    return RedirectResponse(f"/debates/{debate_id}", 303)


def _content(asked: PendingTurn, values: dict[str, str]) -> dict[str, Any]:
    if asked.sheet.fields:
        return read_turn(asked.sheet, values)
    try:
        content = json.loads(values.get("json", ""))
    except ValueError as error:
        raise ValueError(f"That is no JSON: {error}.") from None
    except RecursionError:
        raise ValueError("That is nested too deeply.") from None
    if not isinstance(content, dict):
        raise ValueError("The turn must be a JSON object.")
    return not_too_deep(content)
