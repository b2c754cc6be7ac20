"""What a fake provider sends instead when a request meets a mishap of status, envelope or content."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeAlias

from disputatio.kernel import JsonObject
from disputatio.testing.instances import prose
from disputatio.testing.malformed import Malformation, malform
from disputatio.testing.provider.answers import Answer, Rejection, context_too_long, no_such_model
from disputatio.testing.provider.behaviour import Behaviour
from disputatio.testing.provider.mishaps import Mishap, MishapFamily
from disputatio.testing.provider.received import ReceivedRequest
from disputatio.testing.provider.wire import (
    DONE,
    EVENTS,
    HTML,
    Payload,
    completion_body,
    completion_payload,
    event,
    json_payload,
    rejection_payload,
)

_STATUSES: Final = {
    Mishap.HTTP_400: Rejection(400, "Invalid request.", param="temperature"),
    Mishap.HTTP_401: Rejection(401, "Incorrect API key provided.", code="invalid_api_key"),
    Mishap.HTTP_402: Rejection(402, "Insufficient credits. Add more to continue.", code="insufficient_credits"),
    Mishap.HTTP_403: Rejection(403, "Country, region, or territory not supported.", "request_forbidden"),
    Mishap.HTTP_408: Rejection(408, "Request timed out.", "timeout"),
    Mishap.HTTP_429: Rejection(429, "Rate limit reached for requests.", "requests", "rate_limit_exceeded"),
    Mishap.HTTP_429_WITHOUT_WAIT: Rejection(429, "Too many requests.", "requests", "rate_limit_exceeded"),
    Mishap.HTTP_500: Rejection(500, "The server had an error while processing your request.", "server_error"),
    Mishap.HTTP_503: Rejection(503, "The engine is currently overloaded.", "service_unavailable"),
    Mishap.HTTP_529: Rejection(529, "Overloaded", "overloaded_error"),
    Mishap.QUOTA_EXHAUSTED: Rejection(
        429, "You exceeded your current quota.", "insufficient_quota", "insufficient_quota"
    ),
    Mishap.SCHEMA_REJECTED: Rejection(
        400,
        "Invalid schema for response_format: 'minLength' is not permitted.",
        code="invalid_json_schema",
        param="response_format",
    ),
    Mishap.MODE_UNSUPPORTED: Rejection(400, "This model does not support response_format or tools."),
}
ERROR_BODY: Final = {"error": {"message": "Internal error.", "type": "server_error", "param": None, "code": 500}}
GARBAGE: Final = b"\x16\x03\x01<<<=== upstream said nothing of use ===>>>{\x00"
BAD_GATEWAY: Final = b"<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>"
LOG_IN: Final = b"<!DOCTYPE html><html><body><form>Log in to this network</form></body></html>"
NOT_UTF8: Final = b"\xff\xfe\xc3\x28"
_MARK: Final = "\ue000"
_SMALL_CONTEXT: Final = 4096


def failed_payload(mishap: Mishap, answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
    """The response to ``request`` after ``mishap``; that of the answer itself for mishaps of transport."""
    if mishap.family is MishapFamily.STATUS:
        return _status(mishap, request, behaviour)
    if mishap.family is MishapFamily.ENVELOPE:
        return _ENVELOPES[mishap](answer, request, behaviour)
    if mishap.family is MishapFamily.CONTENT:
        finish = "length" if mishap is Mishap.CUT_AT_LENGTH else answer.finish
        answer = replace(answer, text=spoil_text(answer, mishap), finish=finish)
    return completion_payload(answer, request, behaviour)


def _status(mishap: Mishap, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
    if mishap is Mishap.HTTP_502:
        return Payload((BAD_GATEWAY,), 502, HTML)
    if mishap is Mishap.HTTP_404:
        return rejection_payload(no_such_model(request.model))
    if mishap is Mishap.CONTEXT_TOO_LONG:
        return rejection_payload(context_too_long(_SMALL_CONTEXT, _SMALL_CONTEXT, request.max_tokens or 0))
    headers = {"Retry-After": behaviour.retry_after} if mishap is Mishap.HTTP_429 else {}
    return rejection_payload(_STATUSES[mishap], headers)


def _bytes(data: bytes) -> Callable[[Answer, ReceivedRequest, Behaviour], Payload]:
    """The same bytes for everybody, announced as what the request expects."""

    def build(_answer: Answer, request: ReceivedRequest, _behaviour: Behaviour) -> Payload:
        return Payload((data,), content_type=EVENTS) if request.is_streamed else Payload((data,))

    return build


def _page(_answer: Answer, _request: ReceivedRequest, _behaviour: Behaviour) -> Payload:
    return Payload((LOG_IN,), content_type=HTML)


def _wrong_content_type(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
    right = completion_payload(answer, request, behaviour)
    return replace(right, frames=(b"".join(right.frames),), content_type=HTML)


def _error_body(_answer: Answer, request: ReceivedRequest, _behaviour: Behaviour) -> Payload:
    if request.is_streamed:
        return Payload((event(ERROR_BODY), DONE), content_type=EVENTS)
    return json_payload(ERROR_BODY)


def _error_in_stream(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
    if not request.is_streamed:
        return json_payload(ERROR_BODY)
    right = completion_payload(answer, request, behaviour)
    half = right.frames[: len(right.frames) // 2]
    return replace(right, frames=(*half, event(ERROR_BODY)))


def _empty_choices(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
    return _with_message(answer, request, behaviour, None)


def _content(content: str | None) -> Callable[[Answer, ReceivedRequest, Behaviour], Payload]:
    """A message with this content and nothing else."""

    def build(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
        return _with_message(answer, request, behaviour, {"role": "assistant", "content": content})

    return build


def _with_message(
    answer: Answer, request: ReceivedRequest, behaviour: Behaviour, message: dict[str, Any] | None
) -> Payload:
    """A completion with this message, or without any choice where there is none."""
    body = completion_body(replace(answer, text="", tool=None), request, behaviour)
    part = "delta" if request.is_streamed else "message"
    body["choices"] = [] if message is None else [{"index": 0, part: message, "finish_reason": "stop"}]
    if not request.is_streamed:
        return json_payload(body)
    return Payload((event(body | {"object": "chat.completion.chunk"}), DONE), content_type=EVENTS)


def _refusal(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
    refused = replace(answer, text="", tool=None, refusal=REFUSAL, finish="stop")
    return completion_payload(refused, request, behaviour)


def _content_filter(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
    filtered = replace(answer, text=answer.text[:12], tool=None, finish="content_filter")
    return completion_payload(filtered, request, behaviour)


def _non_utf8(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
    half = len(answer.text) // 2
    marked = replace(answer, text=answer.text[:half] + _MARK + answer.text[half:])
    right = completion_payload(marked, request, behaviour)
    return replace(right, frames=tuple(frame.replace(_MARK.encode(), NOT_UTF8) for frame in right.frames))


_ENVELOPES: Final[dict[Mishap, Callable[[Answer, ReceivedRequest, Behaviour], Payload]]] = {
    Mishap.GARBAGE_BODY: _bytes(GARBAGE),
    Mishap.EMPTY_BODY: _bytes(b""),
    Mishap.HTML_PAGE: _page,
    Mishap.WRONG_CONTENT_TYPE: _wrong_content_type,
    Mishap.ERROR_BODY_200: _error_body,
    Mishap.ERROR_IN_STREAM: _error_in_stream,
    Mishap.EMPTY_CHOICES: _empty_choices,
    Mishap.NULL_CONTENT: _content(None),
    Mishap.EMPTY_CONTENT: _content(""),
    Mishap.BLANK_CONTENT: _content(" \n\t "),
    Mishap.REFUSAL: _refusal,
    Mishap.CONTENT_FILTER: _content_filter,
    Mishap.NON_UTF8: _non_utf8,
}


Place: TypeAlias = "tuple[dict[str, Any] | list[Any], str | int]"

VERY_LONG: Final = 300_000
DEPTH: Final = 20_000
UNASKED_KEY: Final = "unasked"
UNLISTED_VALUE: Final = "none of these"
ESCAPES: Final = "\x1b[2J\x1b]0;taken\x07<script>alert(1)</script>\u202e"
REFUSAL: Final = "I cannot help with that."

_MALFORMATIONS: Final = {
    Mishap.FENCED_JSON: Malformation.FENCED,
    Mishap.TRAILING_COMMA: Malformation.TRAILING_COMMA,
    Mishap.SINGLE_QUOTES: Malformation.SINGLE_QUOTES,
    Mishap.PROSE_AROUND_JSON: Malformation.PROSE_AROUND,
}


def spoil_text(answer: Answer, mishap: Mishap) -> str:
    """The text of ``answer`` after ``mishap``.

    The mishaps of shape (a missing key, a wrong type...) change one place so that the schema no longer
    allows the answer. Where there is no such place, because the answer is prose, has no key that is
    required or may have any key, they leave it as it is.
    """
    if mishap in _MALFORMATIONS:
        return malform(answer.text, answer.seed, _MALFORMATIONS[mishap])
    if mishap in _SHAPES:
        return _out_of_shape(answer, _SHAPES[mishap])
    match mishap:
        case Mishap.MALFORMED_JSON:
            return malform(answer.text, answer.seed)
        case Mishap.HALF_JSON | Mishap.CUT_AT_LENGTH:
            return answer.text[: len(answer.text) // 2]
        case Mishap.DUPLICATED_ANSWER:
            return f"{answer.text}\n{answer.text}"
        case Mishap.DEPTH_BOMB:
            return '{"a":' * DEPTH + "1" + "}" * DEPTH
        case Mishap.VERY_LONG_ANSWER:
            return _with_strings(answer.text, lambda text: text + " and so on" * (VERY_LONG // 10), once=True)
        case Mishap.ESCAPE_SEQUENCES:
            return _with_strings(answer.text, lambda text: text + ESCAPES)
        case Mishap.PROSE_INSTEAD:
            return prose(answer.seed)
        case _:
            return answer.text


def _places(value: Any) -> Iterator[Place]:
    """Every place inside ``value``, outer ones first."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in list(steps):
        yield value, step
        yield from _places(inner)


def _with_strings(text: str, change: Callable[[str], str], *, once: bool = False) -> str:
    """``text`` with its strings changed, as JSON where it is JSON, else as a whole."""
    try:
        whole = [json.loads(text)]
    except ValueError:
        return change(text)
    for runner, step in _places(whole):
        found = runner[step]  # type: ignore[index]  # the step came from this very holder
        if isinstance(found, str):
            runner[step] = change(found)  # type: ignore[index]  # as above
            if once:
                break
    return json.dumps(whole[0], ensure_ascii=False)


def _without_key(runner: Any, step: Any) -> bool:
    if not isinstance(runner, dict):
        return False
    del runner[step]
    return True


def _with_unasked_key(runner: Any, _step: Any) -> bool:
    if not isinstance(runner, dict):
        return False
    runner[UNASKED_KEY] = "Nobody asked for this."
    return True


def _with_unlisted_value(runner: Any, step: Any) -> bool:
    runner[step] = UNLISTED_VALUE
    return True


def _with_wrong_type(runner: Any, step: Any) -> bool:
    runner[step] = {"value": runner[step]} if not isinstance(runner[step], dict) else [runner[step]]
    return True


_SHAPES: Final[dict[Mishap, tuple[str, Callable[[Any, Any], bool]]]] = {
    Mishap.MISSING_KEY: ("required", _without_key),
    Mishap.EXTRA_KEY: ("additionalProperties", _with_unasked_key),
    Mishap.WRONG_ENUM: ("enum", _with_unlisted_value),
    Mishap.WRONG_TYPE: ("type", _with_wrong_type),
}


def _out_of_shape(answer: Answer, way: tuple[str, Callable[[Any, Any], bool]]) -> str:
    """Change one place that the schema forbids to change so, drawn from all such places."""
    if answer.schema is None:
        return answer.text
    try:
        whole = json.loads(answer.text)
    except ValueError:
        return answer.text
    word, change = way
    candidates: list[str] = []
    others: list[str] = []
    for number in range(sum(1 for _ in _places(whole))):
        changed = copy.deepcopy(whole)
        runner, step = next(place for at, place in enumerate(_places(changed)) if at == number)
        if not change(runner, step):
            continue
        broken = _broken_words(answer.schema, changed)
        text = json.dumps(changed, ensure_ascii=False)
        if word in broken or (word == "enum" and "const" in broken):
            candidates.append(text)
        elif broken:
            others.append(text)
    chosen = candidates or others or [answer.text]
    return chosen[answer.seed % len(chosen)]


def _broken_words(schema: JsonObject, value: object) -> set[str]:
    """The keywords of the schema that ``value`` breaks; alternatives that all fail count as ``anyOf``."""
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(dict(schema))
    return {str(step) for error in validator.iter_errors(value) for step in error.schema_path[-1:]}
