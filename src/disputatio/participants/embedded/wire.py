"""Sends chat requests to the model server and reads its answers as a ``Reply`` or a ``Fault``.

The server speaks the OpenAI chat protocol with fields of llama.cpp
(https://github.com/ggml-org/llama.cpp/tree/master/tools/server).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from disputatio._intake import Intake, OverlongError
from disputatio.motion import one_line
from disputatio.participants.call import (
    LONGEST_BEGINNING,
    AnswerBound,
    Call,
    Fault,
    FaultKind,
    OnText,
    OutputMode,
    Reply,
    Usage,
)
from disputatio.participants.control_tokens import break_control_tokens
from disputatio.participants.embedded import decoding
from disputatio.participants.embedded.attachment import ServerSlot


def request(call: Call, *, small: bool, compact_grammar: bool, stream: bool) -> dict[str, Any]:
    """The body of one chat request.

    Args:
        call: what is asked.
        small: whether the model is the small default one, with its own sampling.
        compact_grammar: whether the server accepts llguidance grammars.
        stream: whether to stream the answer.
    """
    body: dict[str, Any] = {
        "messages": _messages(call),
        "max_tokens": call.max_tokens,
        "cache_prompt": True,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    if small:
        body |= decoding.SAMPLING
        body["temperature"] = decoding.DEFAULT_TEMPERATURE
    if call.temperature is not None:
        body["temperature"] = call.temperature
    if call.seed is not None:
        body["seed"] = call.seed % 2**32  # the listener takes 32 bits
    if call.schema is not None and call.mode is OutputMode.NATIVE:
        if compact_grammar:
            body["grammar"] = decoding.grammar(call.schema, sentences=small)
        else:
            named = {"name": call.schema_name, "strict": True, "schema": call.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def _messages(call: Call) -> list[dict[str, str]]:
    messages: list[dict[str, str]] = []
    for segment in call.segments:
        # The server reads control tokens of the model's chat template anywhere in a message.
        text = break_control_tokens(segment.text)
        if messages and messages[-1]["role"] == segment.role:
            messages[-1]["content"] += f"\n\n{text}"
        else:
            messages.append({"role": segment.role, "content": text})
    return messages


def answer(text: str) -> Reply | Fault:
    """Read a whole answer with status 200."""
    content = _object(text)
    if content is None:
        return Fault(FaultKind.GARBLED, "The embedded model's server answered with something else than JSON.")
    if "error" in content:
        return _error(content["error"], 500)
    try:
        choice = content["choices"][0]
        said = choice["message"]["content"] or ""
        finish = choice["finish_reason"] or "stop"
    except (KeyError, IndexError, TypeError):
        return Fault(FaultKind.GARBLED, "The embedded model's server answered without a message.", text=text[:500])
    return Reply(str(said), _name(content), _usage(content), str(finish))


def follows_grammar(reply: Reply) -> bool:
    """Whether the server can have used the grammar. If it cannot build one, it answers without it and says nothing."""
    return reply.text[:1] == "{"


def refusal(status: int, text: str) -> Fault:
    """Read an answer with an error status."""
    content = _object(text)
    return _error((content or {}).get("error"), status)


@dataclass(slots=True)
class Streamed:
    """A streamed answer; ``feed`` takes the bytes as they arrive."""

    on_text: OnText
    _bytes: bytes = b""
    _said: list[str] = field(default_factory=list)
    _usage: Usage = field(default_factory=Usage)
    _finish: str | None = None
    _served: str | None = None
    _fault: Fault | None = None
    _ended: bool = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        for event in self._events(data):
            if event == "[DONE]":
                self._ended = True
            else:
                self._take(event)

    def result(self) -> Reply | Fault:
        """The result, after the last byte."""
        said = "".join(self._said)
        if self._fault is not None:
            return Fault(self._fault.kind, self._fault.message, served_model=self._served, text=said)
        if not self._ended and self._finish is None:
            return cut_off(said)
        return Reply(said, self._served, self._usage, self._finish or "stop")

    @property
    def said(self) -> str:
        """The text so far."""
        return "".join(self._said)

    def _events(self, data: bytes) -> Iterator[str]:
        *lines, self._bytes = (self._bytes + data).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].decode("utf-8", "replace").strip()

    def _take(self, event: str) -> None:
        content = _object(event)
        if content is None:
            self._fault = Fault(FaultKind.GARBLED, "The embedded model's server sent an event that is not JSON.")
            return
        if "error" in content:
            self._fault = _error(content["error"], 500)
            return
        self._served = _name(content) or self._served
        if content.get("usage"):
            self._usage = _usage(content)
        for choice in content.get("choices") or ():
            self._finish = choice.get("finish_reason") or self._finish
            piece = (choice.get("delta") or {}).get("content")
            if piece:
                self._said.append(piece)
                self.on_text(piece)


def cut_off(said: str) -> Fault:
    """The connection ended before the answer did."""
    return Fault(FaultKind.CUT_OFF, "The embedded model's answer broke off.", text=said)


def _error(error: Any, status: int) -> Fault:
    details = error if isinstance(error, dict) else {}
    said = str(details.get("message") or error or "no reason given").strip().rstrip(".")[:300]
    kind = str(details.get("type") or "")
    if kind == "exceed_context_size_error" or "context size" in said.lower():
        return Fault(FaultKind.CONTEXT_TOO_LONG, _too_long(details))
    if status in (401, 403):
        return Fault(FaultKind.UNREACHABLE, "Another server answered at the address of the embedded model.")
    if status == 400 and any(word in said.lower() for word in ("grammar", "schema")):
        return Fault(FaultKind.SCHEMA_UNSUPPORTED, f"The embedded model's server cannot follow the schema: {said}.")
    if 400 <= status < 500:
        return Fault(FaultKind.BAD_REQUEST, f"The embedded model's server refused the request: {said}.")
    return Fault(FaultKind.SERVER_ERROR, f"The embedded model's server failed: {said}.")


def _too_long(details: dict[str, Any]) -> str:
    asked, most = details.get("n_prompt_tokens"), details.get("n_ctx")
    if asked is None or most is None:
        return "The prompt does not fit into the embedded model's context."
    return f"The prompt has {asked} tokens; the embedded model's context holds {most}."


def _object(text: str) -> dict[str, Any] | None:
    try:
        content = json.loads(text)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _name(content: dict[str, Any]) -> str | None:
    name = content.get("model")
    return name if isinstance(name, str) and name else None


def _usage(content: dict[str, Any]) -> Usage:
    usage = content.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)


async def post(slot: ServerSlot, body: Mapping[str, Any], *, timeout_s: float, on_text: OnText | None) -> Reply | Fault:
    """Send ``body`` to the slot's replica and read the answer, streamed if ``on_text`` is given.

    Connection errors become a ``Fault``; only cancellation and exceptions of ``on_text`` are raised.
    """
    import aiohttp

    streamed = Streamed(on_text) if on_text is not None else None
    content = json.dumps(body).encode()
    intake = Intake(AnswerBound.of(body["max_tokens"], streamed=streamed is not None), len(content))
    # No reuse: the server drops about one reused connection in forty.
    connector = aiohttp.TCPConnector(force_close=True)
    headers = {"Authorization": f"Bearer {slot.secret}", "Content-Type": "application/json"}
    timeout = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with (
            aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers) as session,
            session.post(f"{slot.url}/v1/chat/completions", data=content) as response,
        ):
            parts: list[bytes] = []
            async for part in response.content.iter_any():
                intake.take(part, events=streamed is not None)
                if streamed is None or response.status != 200:
                    parts.append(part)
                else:
                    streamed.feed(part)
            whole = b"".join(parts).decode("utf-8", "replace")
            if response.status != 200:
                return refusal(response.status, whole)
            return answer(whole) if streamed is None else streamed.result()
    except OverlongError as error:
        said = streamed.said if streamed is not None else error.head.decode("utf-8", "replace")
        message = f"The embedded model {error.sentence}."
        return Fault(FaultKind.ANSWER_TOO_LONG, message, text=one_line(said, LONGEST_BEGINNING))
    except TimeoutError:
        said = streamed.said if streamed is not None else ""
        return Fault(FaultKind.TIMED_OUT, f"The embedded model did not answer within {timeout_s:g} seconds.", text=said)
    except aiohttp.ClientPayloadError:
        return cut_off(streamed.said if streamed is not None else "")
    except (aiohttp.ClientError, OSError) as error:
        if streamed is not None and streamed.said:
            return cut_off(streamed.said)
        return Fault(FaultKind.UNREACHABLE, f"The embedded model's server did not answer ({type(error).__name__}).")
