"""The bytes of a response: bodies and events in the shapes of OpenAI's chat completions."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from disputatio.kernel import Json, JsonObject
from disputatio.testing.provider.answers import Answer, Rejection
from disputatio.testing.provider.behaviour import Behaviour, ReasoningText
from disputatio.testing.provider.received import ReceivedRequest

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"
HTML: Final = "text/html"
_MOST_PIECES: Final = 200
"""A very long answer comes in larger pieces, or reading it would take seconds."""


@dataclass(frozen=True, slots=True)
class Payload:
    """A response, ready to be sent.

    Attributes:
        frames: the body in the pieces it is sent in: one for a plain response, one an event for a stream.
        status: the HTTP status.
        content_type: as it is announced, not always as it is.
        headers: further header fields.
    """

    frames: tuple[bytes, ...]
    status: int = 200
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_stream(self) -> bool:
        """Whether the length of the body is not announced."""
        return self.content_type == EVENTS


def json_payload(body: JsonObject, status: int = 200, headers: Mapping[str, str] | None = None) -> Payload:
    """A response with a JSON body."""
    return Payload((_encoded(body),), status, JSON, headers or {})


def rejection_payload(rejection: Rejection, headers: Mapping[str, str] | None = None) -> Payload:
    """The response to a request that is not served."""
    return json_payload(rejection.body, rejection.status, headers)


def completion_payload(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> Payload:
    """The answer as one body or as a stream, as the request wants it."""
    if request.is_streamed:
        return Payload((*map(event, _chunks(answer, request, behaviour)), DONE), content_type=EVENTS)
    return json_payload(completion_body(answer, request, behaviour))


def completion_body(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> dict[str, Any]:
    """The body of a ``chat.completion``."""
    before, field = _thought(answer, behaviour)
    message: dict[str, Any] = {"role": "assistant", "content": before + answer.text, "refusal": answer.refusal, **field}
    if answer.refusal is not None:
        message["content"] = None
    elif answer.tool is not None:
        message |= {"content": before or None, "tool_calls": [_tool_call(answer, request, answer.text)]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish}
    body = _frame(answer, request, "chat.completion") | {"choices": [choice]}
    if behaviour.reports_usage:
        body["usage"] = usage_of(answer, behaviour)
    return body


def _thought(answer: Answer, behaviour: Behaviour) -> tuple[str, dict[str, str]]:
    """What stands of the reasoning text before the content, and in a field of its own."""
    place = behaviour.reasoning.text if behaviour.reasoning is not None else ReasoningText.HIDDEN
    if not answer.thought or place is ReasoningText.HIDDEN:
        return "", {}
    if place in (ReasoningText.TAGS, ReasoningText.CLOSING_TAG):
        opened = "<think>\n" if place is ReasoningText.TAGS else ""
        # Who is cut while reasoning never closes the tag.
        closed = "" if answer.finish == "length" and not answer.text else "\n</think>\n\n"
        return f"{opened}{answer.thought}{closed}", {}
    return "", {place.value: answer.thought}


def usage_of(answer: Answer, behaviour: Behaviour) -> dict[str, Any]:
    """The ``usage`` object, counted by the rule of ``counting``."""
    prompt, completion = answer.prompt_tokens, answer.completion_tokens
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    if answer.cached_tokens is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": answer.cached_tokens}
    if behaviour.reports_usd is not None:
        usage["cost"] = behaviour.reports_usd
    if behaviour.reasoning is not None and behaviour.reasoning.reports and answer.reasoning_tokens is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": answer.reasoning_tokens}
    return usage


def event(body: JsonObject) -> bytes:
    """One server-sent event."""
    return b"data: " + _encoded(body) + b"\n\n"


DONE: Final = b"data: [DONE]\n\n"


def models_body(behaviour: Behaviour) -> JsonObject:
    """The list of models, each name that a request may use."""
    names = dict.fromkeys((*behaviour.models, *behaviour.aliases)) or {"any-model": None}
    listed: list[Json] = [{"id": name, "object": "model", "created": 0, "owned_by": "fake-provider"} for name in names]
    return {"object": "list", "data": listed}


def _encoded(body: JsonObject) -> bytes:
    # A lone surrogate has no UTF-8; such text goes out in ASCII escapes, as JSON can.
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body).encode()


def _frame(answer: Answer, request: ReceivedRequest, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{request.fingerprint}{request.attempt}",
        "object": kind,
        "created": int(time.time()),
        "model": answer.model,
        "system_fingerprint": "fp_fake",
    }


def _tool_call(answer: Answer, request: ReceivedRequest, arguments: str) -> dict[str, Any]:
    return {
        "id": f"call_{request.fingerprint}{request.attempt}",
        "type": "function",
        "function": {"name": answer.tool, "arguments": arguments},
    }


def _chunks(answer: Answer, request: ReceivedRequest, behaviour: Behaviour) -> list[dict[str, Any]]:
    """The events of a stream, the last one of the completion with the finish reason, then the usage."""
    before, field = _thought(answer, behaviour)
    text = answer.text if answer.refusal is None else answer.refusal
    thoughts = [{"content": piece} for piece in _pieces(before, behaviour)]
    thoughts += [{name: piece} for name, thought in field.items() for piece in _pieces(thought, behaviour)]
    first: dict[str, Any] = {"role": "assistant", "content": None if answer.tool else ""}
    if answer.tool is not None:
        first["tool_calls"] = [{"index": 0, **_tool_call(answer, request, "")}]
    deltas = [first, *thoughts, *(_delta(answer, piece) for piece in _pieces(text, behaviour)), {}]
    wants_usage = request.part("stream_options").get("include_usage") is True
    frame = _frame(answer, request, "chat.completion.chunk")
    if wants_usage and behaviour.reports_usage:
        frame["usage"] = None
    chunks = [
        frame | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]} for delta in deltas
    ]
    chunks[-1]["choices"][0]["finish_reason"] = answer.finish
    if wants_usage and behaviour.reports_usage:
        chunks.append(frame | {"choices": [], "usage": usage_of(answer, behaviour)})
    return chunks


def _pieces(text: str, behaviour: Behaviour) -> list[str]:
    size = max(behaviour.chunk_chars, -(-len(text) // _MOST_PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _delta(answer: Answer, piece: str) -> dict[str, Any]:
    if answer.refusal is not None:
        return {"refusal": piece}
    if answer.tool is not None:
        return {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
    return {"content": piece}
