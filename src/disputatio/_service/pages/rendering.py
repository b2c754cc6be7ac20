"""Renders pages. Every text goes through the one gate for texts on their way into HTML; see ``report.templates``."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from disputatio._service.access import csrf_of
from disputatio._service.keys import Caller, Scope
from disputatio._service.problems import RefusedError, problem_of
from disputatio.motion import one_line
from disputatio.report.amounts import counted, spoken
from disputatio.report.page import page_asset
from disputatio.report.templates import escaping_environment

if TYPE_CHECKING:
    from jinja2 import Environment

_KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
STATIC = ("page.css", "site.css", "live.js", "seat.js", "new.js")
_SIDES = {"pro": "pro", "con": "con", "judge": "judge", "proposer": "pro", "critic": "con", "moderator": "judge"}


def page(request: Request, name: str, caller: Caller | None, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page.

    Args:
        request: what it answers.
        name: of its template.
        caller: the reader; None without a session.
        status: of HTTP.
        values: what it shows.
    """
    keyless = caller is not None and caller.session == "keyless"
    shown = {
        "caller": caller,
        "may_run": caller is not None and caller.key.scope.covers(Scope.RUN),
        "keyless": keyless,
        "csrf": csrf_of(request, caller) if caller is not None else "",
        "here": request.url.path,
        "cause": "",
        "next_step": "",
        **values,
    }
    return HTMLResponse(_environment().get_template(name).render(shown), status)


def problem_page(request: Request, refused: RefusedError) -> Response:
    """What went wrong, as a page."""
    answer = page(request, "problem.html", None, status=refused.status, problem=problem_of(refused))
    answer.headers.update(refused.headers)
    return answer


def static(name: str) -> Response:
    """A style sheet or a script.

    Raises:
        RefusedError: there is none of that name.
    """
    if name not in STATIC:
        raise RefusedError(404, "not-found", "There is no such file.")
    kind = _KINDS[name[name.rindex(".") :]]
    return Response(_asset(name), headers={"Content-Type": kind, "Cache-Control": "max-age=300"})


@cache
def _environment() -> Environment:
    environment = escaping_environment(_asset)
    environment.filters |= {"spoken": spoken, "counted": counted, "one_line": one_line, "class_name": _side}
    return environment


@cache
def _asset(name: str) -> str:
    if name in {"page.css", "icons.html"}:
        return page_asset(name)
    folder = "templates" if name.endswith(".html") else "static"
    return files("disputatio._service.pages").joinpath(folder, name).read_text("utf-8")


def _side(seat: str) -> str:
    """The class of the style sheet that paints a seat."""
    return _SIDES.get(re.sub(r"_\d+$", "", seat.lower()), "other")
