"""Who calls, and whether they may: every operation names the scope it needs, and nothing is open by being forgotten.

A key comes in ``Authorization: Bearer``; a browser has a session in a cookie instead. Requests that change something
and rest on a cookie, or on being sent from this machine, must prove that a page of this service sent them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request

from disputatio._service.keys import Caller, Scope, same
from disputatio._service.problems import RefusedError, unknown_key

if TYPE_CHECKING:
    from disputatio._service.service import Service

COOKIE = "disputatio_session"
CSRF_HEADER = "x-csrf-token"
CSRF_FIELD = "csrf"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    service: Service = request.app.state.service
    return service


class Needs:
    """A dependency: the caller, who may do what ``scope`` allows.

    Args:
        scope: what is needed.
        page: whether a browser without a session is sent to the page where it gets one.
    """

    def __init__(self, scope: Scope, *, page: bool = False) -> None:
        self.scope, self.page = scope, page

    async def __call__(self, request: Request) -> AsyncIterator[Caller]:
        """Who calls, while the request is being answered.

        Raises:
            RefusedError: the key is unknown, lacks the scope, or exceeds its rate.
        """
        try:
            yield await self._caller(request)
        finally:
            # Files of a form that was read.
            await request.close()

    async def _caller(self, request: Request) -> Caller:
        service = service_of(request)
        authorization = request.headers.get("authorization", "")
        cookie = request.cookies.get(COOKIE, "")
        caller = await service.check(service.caller, authorization, cookie)
        if caller is None:
            raise SignInError(request.url.path) if self.page else unknown_key(is_given=bool(authorization))
        await service.check(service.rates.take, caller.key.id, caller.key.per_minute)
        if request.method not in _SAFE:
            await _check_sent_here(request, caller)
        if not caller.key.scope.covers(self.scope):
            raise RefusedError(
                403,
                "forbidden",
                f"This key has the scope {caller.key.scope.value}, and {self.scope.value} is needed.",
                f"Use a key with it: disputatio keys add NAME --scope {self.scope.value}",
            )
        return caller


class SignInError(Exception):
    """A browser without a session wants a page."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


async def _check_sent_here(request: Request, caller: Caller) -> None:
    """Refuse what another site made a browser send.

    Raises:
        RefusedError: it did.
    """
    check_origin(request)
    if not caller.session or (caller.session == "keyless" and request.url.path.startswith("/v1/")):
        return
    given = request.headers.get(CSRF_HEADER, "")
    kind = request.headers.get("content-type", "")
    if not given and kind.startswith(("application/x-www-form-urlencoded", "multipart/form-data")):
        given = str((await request.form()).get(CSRF_FIELD) or "")
    if not same(given, csrf_of(request, caller)):
        raise RefusedError(
            403, "forbidden", "This form is too old, or did not come from this service.", "Load the page again."
        )


def check_origin(request: Request) -> None:
    """Refuse what a browser says comes from elsewhere.

    Raises:
        RefusedError: it does.
    """
    origin = request.headers.get("origin")
    elsewhere = request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}
    if elsewhere or (origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")):
        raise RefusedError(403, "forbidden", "Another site sent this request.", "Send it from a page of this service.")


def csrf_of(request: Request, caller: Caller) -> str:
    """The token that the forms of this caller carry."""
    if caller.session == "keyless":
        token: str = request.app.state.keyless_csrf
        return token
    return caller.session
