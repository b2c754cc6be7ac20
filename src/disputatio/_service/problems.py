"""What goes wrong, as problem details (RFC 9457): what it is, its cause in a sentence, and the next step."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from disputatio.errors import (
    DisputatioError,
    InvalidInputError,
    ProviderError,
    ResumeMismatchError,
    StoreError,
    UnknownDebateError,
    VerificationError,
)
from disputatio.options import Options, options_in
from disputatio.proposals.reading_queue import ReadingQueueFullError
from disputatio.request.formats import options_of_formats
from disputatio.request.model import DebateRequest

_READING_S = 5.0
"""Seconds after which there is usually room to read another file."""
MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """Why a request was not done."""

    type: str = Field(examples=["urn:disputatio:problem:not-found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(description="The cause, in a sentence.", examples=["There is no debate '7f3a' here."])
    next_step: str = Field("", description="What to do about it.", examples=["GET /v1/debates lists all."])


class RefusedError(Exception):
    """A request that is not done.

    Args:
        status: of HTTP.
        name: what kind of problem it is; a fixed word.
        cause: one sentence.
        next_step: what to do about it.
        headers: of the answer.
    """

    def __init__(
        self, status: int, name: str, cause: str, next_step: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(f"{cause} {next_step}".strip())
        self.status, self.name, self.cause, self.next_step = status, name, cause, next_step
        self.headers = dict(headers or {})


TITLES = {
    "bad-request": "The request cannot be read",
    "unauthenticated": "No key, or none that is known",
    "forbidden": "This key may not do that",
    "not-found": "Not found",
    "method-not-allowed": "Not a method of this address",
    "too-slow": "Too slow",
    "conflict": "Not as things stand",
    "too-large": "Too large",
    "invalid": "It cannot be done as it was asked",
    "rate-limited": "Too many requests",
    "budget-spent": "The key's budget does not allow it",
    "idempotency": "The idempotency key was used for something else",
    "altered": "The record was altered",
    "provider": "A model cannot answer",
    "store": "The store does not answer",
    "busy": "Too much to do",
    "internal": "Something went wrong inside",
}
_OF_STATUS = {
    400: "bad-request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    408: "too-slow",
    409: "conflict",
    413: "too-large",
    422: "invalid",
    429: "rate-limited",
    431: "too-large",
    503: "store",
}


def not_found(what: str) -> RefusedError:
    """The answer for what does not exist and for what another tenant has, so that a caller cannot distinguish them."""
    return RefusedError(404, "not-found", what, "GET /v1/debates lists what there is.")


def unknown_key(*, is_given: bool = True) -> RefusedError:
    """The answer to a caller without a valid key."""
    return RefusedError(
        401,
        "unauthenticated",
        "The key is not known, or was revoked." if is_given else "There is no key in this request.",
        "Send one as Authorization: Bearer dsp_...; `disputatio keys add NAME` makes one.",
        {"WWW-Authenticate": "Bearer"},
    )


def retry_after(seconds: float) -> dict[str, str]:
    """The header that says when to come again: whole seconds, at least one."""
    return {"Retry-After": str(max(1, math.ceil(seconds)))}


def refusal_of(error: Exception) -> RefusedError:
    """What a failure of the package is over HTTP."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, ReadingQueueFullError):
        status, name = (429, "rate-limited") if error.of_tenant else (503, "busy")
        return RefusedError(status, name, error.cause, error.next_step, retry_after(_READING_S))
    if not isinstance(error, DisputatioError):
        return RefusedError(500, "internal", "Something went wrong inside the server.", "Its log says more.")
    for kind, (status, name) in _OF_ERROR.items():
        if isinstance(error, kind):
            return RefusedError(status, name, _as_fields(error.cause), _as_fields(error.next_step))
    return RefusedError(409, "conflict", error.cause, error.next_step)


def _as_fields(sentence: str) -> str:
    """A sentence that names options of the command line, with the places that they have in a request."""
    return _OPTION.sub(lambda found: _places().get(found[0], found[1].replace("-", "_")), sentence)


@cache
def _places() -> Mapping[str, str]:
    """Where a request has the options of the command line."""
    models: tuple[type[Options], ...] = (DebateRequest, *options_of_formats().values())
    return {row.flag: row.place for model in models for row in options_in(model) if row.flag}


_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]+)")
_OF_ERROR: dict[type[DisputatioError], tuple[int, str]] = {
    InvalidInputError: (422, "invalid"),
    UnknownDebateError: (404, "not-found"),
    VerificationError: (409, "altered"),
    ResumeMismatchError: (409, "conflict"),
    ProviderError: (502, "provider"),
    StoreError: (503, "store"),
}


def problem_of(refused: RefusedError) -> Problem:
    """The body that says it."""
    return Problem(
        type=f"urn:disputatio:problem:{refused.name}",
        title=TITLES[refused.name],
        status=refused.status,
        detail=refused.cause,
        next_step=refused.next_step,
    )


def problem_response(refused: RefusedError) -> JSONResponse:
    """The answer that says it."""
    return JSONResponse(
        problem_of(refused).model_dump(), refused.status, media_type=MEDIA_TYPE, headers=refused.headers
    )


def of_status(status: int, cause: str, next_step: str = "") -> RefusedError:
    """What the framework refuses by itself."""
    name = _OF_STATUS.get(status, "bad-request" if status < 500 else "internal")
    return RefusedError(status, name, cause, next_step)


def responses(
    *statuses: int, good: Mapping[int | str, dict[str, Any]] | None = None
) -> dict[int | str, dict[str, Any]]:
    """What an operation may answer: the refusals that any may, those of ``statuses``, and what is ``good``."""
    always = {400, 401, 403, 408, 413, 422, 429, 431, 503}
    refused: dict[int | str, dict[str, Any]] = {
        status: {"description": TITLES[_OF_STATUS.get(status, "internal")], "content": {MEDIA_TYPE: {"schema": _REF}}}
        for status in sorted(always | set(statuses))
    }
    return {**(good or {}), **refused}


_REF = {"$ref": "#/components/schemas/Problem"}
