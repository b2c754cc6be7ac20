"""The pages and what their forms do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from disputatio._service.access import COOKIE, Needs, check_origin, service_of
from disputatio._service.api.debates import NO_NULL, cursor_of, place_of
from disputatio._service.api.forms import CeilingsGiven, DebateId
from disputatio._service.key_book import SESSION_HOURS
from disputatio._service.keys import Caller, Scope
from disputatio._service.pages import forking, seats, starting
from disputatio._service.pages.comparing import compared, side_of
from disputatio._service.pages.figures import tables_of
from disputatio._service.pages.rendering import page, static
from disputatio._service.problems import RefusedError, refusal_of
from disputatio._service.service import Service
from disputatio.errors import DisputatioError, InvalidInputError
from disputatio.formats.registry import FORMATS
from disputatio.motion import one_line
from disputatio.record.history import Status
from disputatio.workers import NewCeilings

if TYPE_CHECKING:
    from disputatio.report.reading import DebateReport

_ROWS = 30
Reader = Annotated[Caller, Depends(Needs(Scope.READ, page=True))]
Runner = Annotated[Caller, Depends(Needs(Scope.RUN, page=True))]
router = APIRouter()


def pages() -> APIRouter:
    """All pages."""
    whole = APIRouter()
    for each in (router, starting.router, seats.router, forking.router):
        whole.include_router(each)
    return whole


@router.get("/static/{name}")
async def static_file(name: str) -> Response:
    """A style sheet or a script of the pages."""
    return static(name)


@router.get("/login")
async def login(request: Request) -> HTMLResponse:
    """Where a browser gives its key."""
    return page(request, "login.html", None)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Begin a session."""
    service = service_of(request)
    check_origin(request)
    where = f"login {request.client.host if request.client else ''}"
    await service.check(service.rates.take, where, 20)
    async with request.form() as form:
        token = str(form.get("key") or "").strip()
    key = await service.check(service.keys.find, token)
    if key is None:
        return page(
            request, "login.html", None, status=401, cause="This key is not known, or was revoked.", next_step=""
        )
    secret = await service.check(service.keys.begin_session, key)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        COOKIE, secret, max_age=SESSION_HOURS * 3600, httponly=True, samesite="lax", secure=service.choices.secure
    )
    return answer


@router.post("/logout")
async def log_out(request: Request, _caller: Reader) -> Response:
    """End the session."""
    await asyncio.to_thread(service_of(request).keys.end_session, request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE)
    return answer


@router.get("/")
async def debates(
    request: Request,
    caller: Reader,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    format: Annotated[str, Query(max_length=64, pattern=NO_NULL)] = "",  # noqa: A002  (the word users know)
    status: Annotated[str, Query(max_length=32, pattern=NO_NULL)] = "",
) -> HTMLResponse:
    """The debates of the tenant."""
    service = service_of(request)
    chosen = {name: value for name, value in (("status", status), ("format", format)) if value}
    before = place_of(cursor)
    rows, more = await asyncio.to_thread(service.book.page, caller.tenant, limit=_ROWS, before=before, chosen=chosen)
    waiting = [] if before or chosen else await asyncio.to_thread(service.book.waiting, caller.tenant)
    results = await asyncio.to_thread(service.results.of, rows)
    running = [row.id for row in rows if row.status == Status.RUNNING.value]
    older = urlencode({"cursor": cursor_of(rows[-1]), "format": format, "status": status}) if more else ""
    return page(
        request,
        "debates.html",
        caller,
        rows=[*waiting, *rows],
        results=results,
        asked={debate for debate in running if await service.open_questions.asked(debate)},
        next=f"/?{older}" if more else "",
        formats=list(FORMATS),
        statuses=[row.value for row in Status],
        chosen={"format": format, "status": status},
    )


@router.get("/debates/{debate_id}")
async def debate(debate_id: DebateId, request: Request, caller: Reader) -> Response:
    """A debate: its record once it is over, and until then what was said so far."""
    service = service_of(request)
    listed = await asyncio.to_thread(service.listed, debate_id, caller)
    job = await service.job(debate_id)
    goes_on = service.is_going_on(listed, job)
    if not goes_on and listed.status not in {"WAITING", Status.INTERRUPTED.value}:
        return await asyncio.to_thread(_record, service, debate_id, caller)
    standing, transcript, after = await asyncio.to_thread(_so_far, service, debate_id)
    return page(
        request,
        "watch.html",
        caller,
        listed=listed,
        job=job,
        goes_on=goes_on,
        **await _people(service, debate_id, caller),
        standing=standing,
        transcript=transcript,
        after=after,
        icons=starting.icons(),
    )


def _record(service: Service, debate_id: str, caller: Caller) -> Response:
    from disputatio.report.page import page_policy, render_page

    report = service.debate(debate_id, caller).report()
    export = f"/v1/debates/{debate_id}/export"
    fork = ""
    places = [("All debates", "/"), ("Compare", f"/compare?a={debate_id}"), ("Figures", "/figures")]
    if caller.key.scope.covers(Scope.RUN):
        places += [("Sign off", f"/debates/{debate_id}/afterwards")]
        known = FORMATS.get(report.format)
        fork = f"/debates/{debate_id}/fork" if known is not None and known.forkable and _is_whole(report) else ""
    places += [("JSON", f"{export}/json"), ("Markdown", f"{export}/md"), ("Dossier", f"{export}/dossier.html")]
    policy = f"{page_policy()}; frame-ancestors 'none'"
    return HTMLResponse(render_page(report, places, fork), headers={"Content-Security-Policy": policy})


def _is_whole(report: DebateReport) -> bool:
    """Whether the debate ran here and ended, so that it can be forked."""
    return report.imported is None and report.status in {Status.COMPLETE, Status.DEGRADED}


def _so_far(service: Service, debate_id: str) -> tuple[str, Any, int]:
    """How far a debate is, in a line; what was said; the number of its last event."""
    from markupsafe import Markup

    from disputatio.debates import read_debate
    from disputatio.report.amounts import counted
    from disputatio.report.page import render_transcript

    found = read_debate(service.store, debate_id)
    if not found.record:
        return "", "", 0
    report = found.for_audience().report()
    spoken = sum(entry.state.value == "taken" for entry in report.entries)
    totals = report.totals
    tokens = (totals.input_tokens or 0) + (totals.output_tokens or 0)
    standing = f"{counted(spoken, 'turn')}, {counted(totals.calls, 'call')}, {tokens:,} tokens so far"
    if totals.usd is not None:
        standing += f", {totals.usd:.4f} USD"
    return f"{standing}.", Markup(render_transcript(report)), found.record[-1].seq  # noqa: S704  (it escapes)


@router.get("/debates/{debate_id}/transcript")
async def transcript(debate_id: DebateId, request: Request, caller: Reader) -> HTMLResponse:
    """What was said so far, as a part of a page."""
    from html import escape

    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    standing, said, _ = await asyncio.to_thread(_so_far, service, debate_id)
    return HTMLResponse(f'<div data-standing="{escape(standing)}">{said}</div>')


@router.get("/debates/{debate_id}/asked")
async def asked(debate_id: DebateId, request: Request, caller: Reader) -> HTMLResponse:
    """The open questions to people, as a part of a page."""
    service = service_of(request)
    listed = await asyncio.to_thread(service.listed, debate_id, caller)
    return page(request, "asked.html", caller, listed=listed, **await _people(service, debate_id, caller))


async def _people(service: Service, debate_id: str, caller: Caller) -> dict[str, Any]:
    """The seats of people and which of them have open questions, without the questions' words."""
    rows = await asyncio.to_thread(service.seating.seats, debate_id, caller)
    asked = await service.open_questions.asked(debate_id) if rows else ()
    mine = {row.path: await _may_speak(service, debate_id, row.path, caller) for row in asked}
    return {"asked": asked, "may_speak": mine, "persons": rows}


async def _may_speak(service: Service, debate_id: str, path: str, caller: Caller) -> bool:
    try:
        await service.seating.question(debate_id, path, caller)
    except RefusedError:
        return False
    return True


@router.post("/debates/{debate_id}/cancel")
async def cancel(debate_id: DebateId, request: Request, caller: Runner) -> Response:
    """Stop a debate."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    await service.cancel(debate_id)
    return RedirectResponse(f"/debates/{debate_id}", 303)


@router.post("/debates/{debate_id}/resume")
async def resume(debate_id: DebateId, request: Request, caller: Runner) -> Response:
    """Go on with a debate."""
    service, form = service_of(request), await request.form()
    listed = await asyncio.to_thread(service.listed, debate_id, caller)
    try:
        raised = NewCeilings(budget_tokens=_tokens(str(form.get("budget_tokens") or "").strip()))
        await service.resume(debate_id, raised, caller)
    except (RefusedError, DisputatioError) as error:
        refused = refusal_of(error)
        shown = {"cause": refused.cause, "next_step": refused.next_step}
        return page(request, "afterwards.html", caller, status=refused.status, listed=listed, values={}, **shown)
    return RedirectResponse(f"/debates/{debate_id}", 303)


def _tokens(typed: str) -> int | None:
    """The ceiling that was typed; None where none was.

    Raises:
        InvalidInputError: it is none.
    """
    if not typed:
        return None
    try:
        return CeilingsGiven(budget_tokens=int(typed)).budget_tokens
    except ValueError:
        raise InvalidInputError(
            f"{one_line(typed, 20)!r} is not a ceiling in tokens.", "Give a whole number from 1 to 1,000,000,000,000."
        ) from None


@router.get("/compare")
async def compare(
    request: Request,
    caller: Reader,
    a: Annotated[str, Query(max_length=32, pattern=NO_NULL)] = "",
    b: Annotated[str, Query(max_length=32, pattern=NO_NULL)] = "",
) -> HTMLResponse:
    """Two debates side by side."""
    service = service_of(request)
    rows, _ = await asyncio.to_thread(service.book.page, caller.tenant, limit=200)
    shown: dict[str, Any] = {"a": a, "b": b, "rows": rows, "lines": [], "sides": []}
    if a and b:
        try:
            sides = [side_of((await asyncio.to_thread(service.debate, name, caller)).report()) for name in (a, b)]
        except (RefusedError, DisputatioError) as error:
            refused = refusal_of(error)
            shown |= {"cause": refused.cause, "next_step": "Choose two of the list.", "status": refused.status}
            return page(request, "compare.html", caller, **shown)
        shown |= {"sides": sides, "lines": compared(*sides)}
    return page(request, "compare.html", caller, **shown)


@router.get("/figures")
async def figures(request: Request, caller: Reader) -> HTMLResponse:
    """The figures over the tenant's debates."""
    from disputatio._service.api.further import figures_of
    from disputatio.report.amounts import counted

    found = await asyncio.to_thread(figures_of, service_of(request), caller, None, None, None)
    alerts = [
        f"{row['name'].replace('_', ' ')}{' of ' + row['about'] if row['about'] else ''}: {row['value']}, "
        f"{row['side']} {row['threshold']} (of {row['of']})"
        for row in found["alerts"]
    ]
    return page(
        request,
        "figures.html",
        caller,
        debates=counted(found["debates"], "debate"),
        alerts=alerts,
        tables=tables_of(found),
    )
