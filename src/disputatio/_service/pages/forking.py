"""The page on which a reader confirms a fork."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.responses import HTMLResponse, RedirectResponse, Response

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import MOST_STRUCK, CeilingsGiven, DebateId
from disputatio._service.forking import ForkPreview, preview_fork, start_fork
from disputatio._service.keys import Caller, Scope
from disputatio._service.pages.rendering import page
from disputatio._service.problems import RefusedError, refusal_of
from disputatio.errors import DisputatioError, InvalidInputError
from disputatio.ledger.budget import Budget
from disputatio.motion import one_line
from disputatio.proposals.forks import ForkRequest
from disputatio.report.amounts import seat_name

router = APIRouter()
Runner = Annotated[Caller, Depends(Needs(Scope.RUN, page=True))]
Names = Annotated[list[Annotated[str, Field(max_length=80)]], Query(default_factory=list, max_length=MOST_STRUCK)]


@router.get("/debates/{debate_id}/fork")
async def confirm(debate_id: DebateId, request: Request, caller: Runner, strike: Names) -> HTMLResponse:
    """What would be asked again, and for how much."""
    return await _shown(debate_id, request, caller, list(dict.fromkeys(strike)), {})


@router.post("/debates/{debate_id}/fork")
async def fork(debate_id: DebateId, request: Request, caller: Runner) -> Response:
    """Start it; sending the same form twice starts one."""
    form = await request.form()
    strike = list(dict.fromkeys(str(name)[:80] for name in form.getlist("strike")))[:MOST_STRUCK]
    values = {name: str(form.get(name) or "").strip() for name in ("budget_usd", "budget_tokens")}
    try:
        wanted = ForkRequest(debate_id, tuple(strike), _budget(values))
        once = f"page {one_line(str(form.get('once') or ''), 60)}"
        debate, _ = await start_fork(service_of(request), wanted, caller, once)
    except (RefusedError, DisputatioError) as error:
        return await _shown(debate_id, request, caller, strike, values, refusal_of(error))
    return RedirectResponse(f"/debates/{debate}", 303)


async def _shown(
    debate_id: str,
    request: Request,
    caller: Caller,
    strike: Sequence[str],
    values: Mapping[str, str],
    refused: RefusedError | None = None,
) -> HTMLResponse:
    """The page, with why the fork was refused where it was; without a form where there can be none."""
    service = service_of(request)
    listed = await asyncio.to_thread(service.listed, debate_id, caller)
    found: ForkPreview | None = None
    try:
        found = await asyncio.to_thread(preview_fork, service, debate_id, strike, caller)
    except (RefusedError, DisputatioError) as error:
        refused = refused or refusal_of(error)
    return page(
        request,
        "fork.html",
        caller,
        status=refused.status if refused else 200,
        listed=listed,
        found=found,
        struck=strike,
        values=values,
        once=secrets.token_hex(12),
        cause=refused.cause if refused else "",
        next_step=refused.next_step if refused else "",
        kept=[_turn(path) for path in found.fork.kept] if found else [],
        again=[_turn(path) for path in found.fork.again] if found else [],
    )


def _turn(path: str) -> str:
    """A turn in words: ``Opening, Pro`` of ``opening/pro``."""
    return ", ".join(seat_name(part.replace("-", " ")) for part in path.split("/"))


def _budget(values: Mapping[str, str]) -> Budget:
    """The ceilings that were typed.

    Raises:
        InvalidInputError: one is none.
    """
    usd, tokens = values["budget_usd"], values["budget_tokens"]
    try:
        given = CeilingsGiven.model_validate(
            {"budget_usd": usd or None, "budget_tokens": int(tokens) if tokens else None}
        )
    except ValueError:
        raise InvalidInputError(
            f"{one_line(', '.join(filter(None, (usd, tokens))), 40)!r} is not a ceiling.",
            "Give US dollars such as 0.50, or tokens as a whole number from 1 to 1,000,000,000,000.",
        ) from None
    return Budget(given.budget_usd, given.budget_tokens)
