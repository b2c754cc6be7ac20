"""The page on which a debate is started, and what may be written after one."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import DebateId
from disputatio._service.api.further import uploaded_bytes
from disputatio._service.keys import Caller, Scope
from disputatio._service.pages.rendering import page
from disputatio._service.problems import RefusedError, refusal_of
from disputatio._service.service import Service
from disputatio.config.catalogue import topics
from disputatio.config.presets import presets
from disputatio.engine.debates import House
from disputatio.evidence.source_files import check_number, read_source
from disputatio.failures import DisputatioError, InvalidInputError
from disputatio.formats.options import LONGEST_KNOWLEDGE
from disputatio.formats.registry import FORMATS
from disputatio.motion import one_line
from disputatio.proposals import proposal_of

if TYPE_CHECKING:
    from disputatio.evidence.reading_process import SourceReader
    from disputatio.evidence.sources import Source

router = APIRouter()
Runner = Annotated[Caller, Depends(Needs(Scope.RUN, page=True))]
_ABOUT = {
    "structured": "Openings, cross-examination of every argument, closings; a judge scores each argument.",
    "freeform": "Alternating monologues and a judge's finding under five headings.",
    "panel": "Independent answers, critique, revision and a counted vote.",
    "review": "A proposer, a critic who must challenge, and a moderator: a decision briefing.",
    "competition": "Two teams of four with speeches, free debate, clocks and penalties.",
    "market": "A bull and a bear for each of four lenses, on one day's market data; every figure is checked.",
}
_WORDS = ("motion", "topic", "format", "language", "preset", "budget_usd", "as_of")
_NUMBERS = ("judges", "rounds", "budget_tokens")
_ONLY = {"as_of": "market", "debaters": "panel", "options": "panel", "preset": "review", "positions": "review"}
"""Fields that are there for one format alone."""
_LISTS = ("people", "debaters", "options")
_MORE = ("language", "judges", "rounds", "both_orders", "anonymous")


@cache
def icons() -> Any:
    """The drawings that transcripts refer to."""
    from markupsafe import Markup

    from disputatio.report.page import page_asset

    return Markup(page_asset("icons.html"))  # noqa: S704  (a file of this package)


@router.get("/new")
async def new(request: Request, caller: Runner) -> HTMLResponse:
    """The form of a debate to come."""
    return _form(request, caller, {})


def _form(request: Request, caller: Caller, values: Mapping[str, str], **shown: Any) -> HTMLResponse:
    formats = [(name, _ABOUT.get(name, row.about), ", ".join(map(str, row.seats))) for name, row in FORMATS.items()]
    return page(
        request,
        "new.html",
        caller,
        values=values,
        formats=formats,
        topics=list(topics().items()),
        presets=list(presets()),
        usual=_usual("structured"),
        usual_market=_usual("market").replace("rules:textbook", "published rules, at no cost"),
        example_seat="all=openai:gpt-5",
        more=any(values.get(name) for name in _MORE),
        once=values.get("once") or secrets.token_hex(12),
        **shown,
    )


def _usual(form: str) -> str:
    """Who sits in the seats of a format where an order names nobody, as the server is set."""
    try:
        seats = proposal_of({"motion": "any", "format": form}, {}).settings.seats
        return ", ".join(dict.fromkeys(f"{row.provider}:{row.model}" for row in seats.values()))
    except DisputatioError:
        return "as the server is set"


@router.post("/new")
async def start(request: Request, caller: Runner) -> Response:
    """Start the debate that was filled in; sending the same form twice starts one."""
    service, form = service_of(request), await request.form()
    values = {key: value for key, value in form.items() if isinstance(value, str)}
    try:
        body = await _order(service, form, values)
        once = f"page {one_line(values.get('once', ''), 60)}"
        debate, _ = await service.start(body, caller, once, lambda reader: _sources(service, form, values, reader))
    except (RefusedError, DisputatioError) as error:
        refused = refusal_of(error)
        return _form(
            request,
            caller,
            {**values, "once": ""},
            cause=refused.cause,
            next_step=refused.next_step,
            status=refused.status,
        )
    return RedirectResponse(f"/debates/{debate}", 303)


async def _order(service: Service, form: FormData, values: Mapping[str, str]) -> dict[str, Any]:
    """The order that a filled form stands for.

    Raises:
        InvalidInputError: a line or a number cannot be read.
    """
    # What another format would ask for is not shown with this one, and may still hold what was typed before.
    form_name = values.get("format", "structured")
    values = {key: value for key, value in values.items() if _ONLY.get(key, form_name) == form_name}
    body: dict[str, Any] = {name: values[name].strip() for name in _WORDS if values.get(name, "").strip()}
    for name in _NUMBERS:
        if values.get(name, "").strip():
            body[name] = _number(name, values[name])
    for name in _LISTS:
        rows = [row.strip() for row in values.get(name, "").split(",") if row.strip()]
        if rows:
            body[name] = rows
    positions = [row.strip() for row in values.get("positions", "").splitlines() if row.strip()]
    if positions:
        body["positions"] = positions
    body["seats"] = _seats(values.get("seats", ""))
    body |= {name: True for name in ("both_orders", "anonymous") if values.get(name)}
    if form_name == "market":
        body["knowledge"] = await _knowledge(service, form)
    return {name: value for name, value in body.items() if value}


def _number(name: str, text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise InvalidInputError(
            f"{name.replace('_', ' ').capitalize()} {text.strip()[:20]!r} is no whole number.", "Give one."
        ) from None


def _seats(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        seat, sign, who = line.partition("=")
        if not line.strip():
            continue
        if not sign or not seat.strip() or not who.strip():
            raise InvalidInputError(
                f"The line {line.strip()[:60]!r} does not say who sits where.", "Write SEAT=PROVIDER:MODEL."
            )
        found[seat.strip()] = who.strip()
    return found


def _sources(service: Service, form: FormData, values: Mapping[str, str], reader: SourceReader) -> Sequence[Source]:
    """The files that were chosen as evidence, and what was pasted; as the command line reads the same files.

    Raises:
        InvalidInputError: one cannot be read, or there are too many.
        RefusedError: one is too large.
    """
    if values.get("format") == "market":
        return ()
    files = [file for file in form.getlist("evidence") if isinstance(file, UploadFile) and file.filename]
    pasted = values.get("pasted", "").strip()
    check_number(len(files) + bool(pasted))
    most = service.choices.upload_bytes
    found = [read_source(uploaded_bytes(file, most), file.filename or "", reader=reader) for file in files]
    return [*found, read_source(pasted, "pasted.txt")] if pasted else found


async def _knowledge(service: Service, form: FormData) -> str:
    """The knowledge base that was chosen, as text; empty where none was."""
    file = form.get("knowledge")
    if not isinstance(file, UploadFile) or not file.filename:
        return ""
    most = min(service.choices.upload_bytes, LONGEST_KNOWLEDGE)
    return (await asyncio.to_thread(uploaded_bytes, file, most)).decode("utf-8", "replace")


@router.get("/debates/{debate_id}/afterwards")
async def afterwards(debate_id: DebateId, request: Request, caller: Runner) -> HTMLResponse:
    """Where a result is signed off, and what happened later is attached."""
    listed = await asyncio.to_thread(service_of(request).listed, debate_id, caller)
    return page(request, "afterwards.html", caller, listed=listed, values={})


@router.post("/debates/{debate_id}/afterwards")
async def attach(debate_id: DebateId, request: Request, caller: Runner) -> Response:
    """Attach it."""
    from disputatio.engine.attaching import attach_outcome, sign_off

    service, form = service_of(request), await request.form()
    values = {key: value for key, value in form.items() if isinstance(value, str)}
    listed = await asyncio.to_thread(service.listed, debate_id, caller)
    house = House(service.store)
    try:
        if values.get("what") == "sign-off":
            comment = values.get("comment", "")
            await sign_off(debate_id, values.get("by", ""), values.get("decision", ""), house, comment=comment)
        else:
            verdict, who = values.get("verdict") or None, values.get("who", "")
            await attach_outcome(debate_id, values.get("result", ""), house, verdict=verdict, by=who)
    except DisputatioError as error:
        refused = refusal_of(error)
        shown = {"cause": refused.cause.replace("--", ""), "next_step": refused.next_step.replace("--", "")}
        return page(request, "afterwards.html", caller, listed=listed, values=values, status=refused.status, **shown)
    return RedirectResponse(f"/debates/{debate_id}#afterwards", 303)
