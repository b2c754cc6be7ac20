"""Puts the application together."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match

from disputatio._http import PATIENCE_S, Bounded
from disputatio._service.access import SignInError, service_of
from disputatio._service.api import debates, further, open, reading, turns  # noqa: A004  (what is open to probes)
from disputatio._service.guard import LOOPBACK, Guard
from disputatio._service.pages.rendering import problem_page
from disputatio._service.pages.routes import pages
from disputatio._service.problems import Problem, RefusedError, of_status, problem_response, refusal_of
from disputatio._version import VERSION
from disputatio.errors import DisputatioError
from disputatio.options.field import describe_errors
from disputatio.request.remote import remote_schema

if TYPE_CHECKING:
    from starlette.types import Scope

    from disputatio._service.service import Service

_LOG = logging.getLogger("disputatio.service")
_ABOUT = """Debates between models, people and rule-based analysts, over HTTP.

Send a key as `Authorization: Bearer dsp_...`; without any key the server listens to its own machine only and takes
everybody there for its owner. Every refusal is a problem document (RFC 9457) with its cause and the next step.
"""
BODY_BYTES = 4_000_000
"""The largest body in bytes, evidence included. Uploads have a limit of their own."""
_UPLOADS = frozenset({"/v1/evidence", "/v1/knowledge", "/new", "/new/estimate"})
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def create_app(service: Service, drain_seconds: float = 10.0, patience_s: float = PATIENCE_S) -> FastAPI:
    """The application over ``service``, which it opens and closes.

    Args:
        service: what it serves.
        drain_seconds: how long debates may go on for once it is closed.
        patience_s: how long the body of a request may rest, in seconds.
    """

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await service.open()
        yield
        await service.close(drain_seconds)

    app = FastAPI(
        title="Disputatio",
        version=VERSION,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.service = service
    app.state.keyless_csrf = secrets.token_urlsafe(24)
    for router in (debates.router, reading.router, turns.router, further.router, open.router):
        app.include_router(router)
    app.include_router(pages(), include_in_schema=False)
    _answer_failures(app)
    _describe(app)
    hosts = LOOPBACK if service.choices.keyless else service.choices.hosts
    registry = service.metrics.registry
    app.add_middleware(Guard, hosts=hosts, registry=registry, methods=lambda scope: _allowed(app, scope))
    upload_bytes = service.choices.upload_bytes + 100_000
    # Added last, so outermost.
    app.add_middleware(
        Bounded, most=lambda path: upload_bytes if path in _UPLOADS else BODY_BYTES, patience_s=patience_s
    )
    return app


def _allowed(app: FastAPI, scope: Scope) -> tuple[str, ...]:
    """The methods that the address of a request takes; none where nothing is there."""
    if scope["path"] == "*":
        return ("GET", "HEAD", "OPTIONS", "POST")
    # Each method of an address is a route of its own.
    found = [
        method
        for method in _METHODS
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in app.routes)
    ]
    if "GET" in found and not scope["path"].endswith("/events"):
        # A stream has no end that the head of its answer could tell of.
        found.append("HEAD")
    return tuple(sorted([*found, "OPTIONS"])) if found else ()


def _answer_failures(app: FastAPI) -> None:
    """Every failure is answered with its cause and the next step, on a page where a page was asked for."""

    async def refuse(request: Request, error: Exception) -> Response:
        refused = _without_place(refusal_of(error), service_of(request).store.place)
        if _wants_page(request):
            return problem_page(request, refused)
        return problem_response(refused)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101  (registered for it)
        return await refuse(request, RefusedError(422, "invalid", *describe_errors(list(error.errors()))))

    async def by_status(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101  (registered for it)
        cause, step = _OF_FRAMEWORK.get(error.status_code, (f"{error.detail}.", _STEPS.get(error.status_code, "")))
        refused = of_status(error.status_code, cause, step)
        refused.headers.update(error.headers or {})
        if error.status_code == 405:
            refused.headers["Allow"] = ", ".join(_allowed(app, request.scope))
        return await refuse(request, refused)

    async def sign_in(_request: Request, error: Exception) -> Response:
        assert isinstance(error, SignInError)  # noqa: S101  (registered for it)
        return RedirectResponse("/login", 303)

    for kind in (RefusedError, DisputatioError, Exception):
        app.add_exception_handler(kind, refuse)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, by_status)
    app.add_exception_handler(SignInError, sign_in)


def _without_place(refused: RefusedError, place: str) -> RefusedError:
    """The refusal as callers see it: where the store is, is for the log."""
    for shown in (place, place.removeprefix("sqlite:///")):
        if shown in refused.cause:
            _LOG.warning("%s", refused.cause)
            refused.cause = refused.cause.replace(shown, "of this server")
            refused.next_step = "Try again later; the server's log says more."
    return refused


_OF_FRAMEWORK = {
    400: ("The body cannot be read.", "Send JSON in UTF-8, or a form, with the Content-Type that says so."),
    404: ("There is nothing at this address.", "/openapi.json has all operations; / lists the debates."),
    405: ("This address does not take that method.", "The header Allow says which it takes."),
}
"""What the framework refuses by itself: the cause, and the next step."""
_STEPS = {
    408: "Send it again over a better line.",
    413: "Send less. Sources can be uploaded one by one: POST /v1/evidence.",
}
"""The next step after a refusal whose cause says by how much."""


def _wants_page(request: Request) -> bool:
    return not request.url.path.startswith(("/v1/", "/metrics", "/health", "/ready", "/static", "/openapi"))


def _describe(app: FastAPI) -> None:
    """The OpenAPI document, with the problem form and the way keys are sent in it."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document: dict[str, Any] = remote_schema(made())
            parts = document.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
            parts["securitySchemes"] = {
                "key": {"type": "http", "scheme": "bearer", "description": "`disputatio keys add NAME` makes one."}
            }
            for path, operations in document["paths"].items():
                for operation in operations.values():
                    open_to_all = path in {"/health", "/ready", "/v1/schemas/debate"}
                    operation["security"] = [] if open_to_all else [{"key": []}]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
