"""The Chat Completions protocol: pydantic-ai's model with the checks, counts and thrift a record needs.

Three hooks that pydantic-ai leaves to subclasses are used, for OpenAI and its likes:

- a response with status 200 that holds an error or no choices is reported as such, not as a validation error;
- unused or missing fields do not make an answer unreadable (see ``known_fields``);
- tokens are those that the server counted: missing counts stay unknown, and no price table is used.

The body is built here and sent by ``extra_body``: openai's library checks every typed parameter of a request, which
takes a third of a call's processor time. A test compares the posted body with that of pydantic-ai.

Importing this module imports pydantic-ai and openai, so import it lazily.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Self

from openai.types import chat
from openai.types.chat import ChatCompletionChunk
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse
from pydantic_ai.usage import RequestUsage

from disputatio.participants.call import Call, OutputMode
from disputatio.participants.control_tokens import break_control_tokens
from disputatio.participants.remote.completions import argument_text
from disputatio.participants.remote.faults import NoAnswerError
from disputatio.participants.remote.parameters import adapt
from disputatio.participants.remote.prompt import (
    TOOL_DESCRIPTION,
    UNSTRUCTURED,
    Breakpoints,
    Request,
    Structures,
    marked_messages,
    messages_of,
)
from disputatio.participants.remote.response import CLOSED, REPORTED_USD
from disputatio.record.text import digest

if TYPE_CHECKING:
    from pydantic_ai.profiles import JsonSchemaTransformer


class ChatPrompts:
    """Requests in the Chat Completions protocol.

    Args:
        limit_key: the key of the body for the most tokens of an answer.
        system_role: the role of the system message.
        transformer: rewrites schemas for the server, or None to send them as they are.
        parallel_tools: whether the server knows the switch against several tool calls in one answer.
        takes_temperature: whether the model takes a temperature; if not, none is sent.
        breaks_control_tokens: whether the server may read control tokens in a text as control.
        headers: headers of every request.
        names_cache: whether requests name their cache, by a hash of their system message.
        reasoning: the fields of every body for the reasoning effort.
        marks_cache: whether the server caches only up to marks; then prompts are marked.
    """

    def __init__(
        self,
        *,
        limit_key: str = "max_tokens",
        system_role: str = "system",
        transformer: type[JsonSchemaTransformer] | None = None,
        parallel_tools: bool = False,
        takes_temperature: bool = True,
        breaks_control_tokens: bool = False,
        headers: dict[str, Any] | None = None,
        names_cache: bool = False,
        marks_cache: bool = False,
        reasoning: dict[str, Any] | None = None,
    ) -> None:
        self._reasoning = reasoning or {}
        self._limit_key = limit_key
        self._system_role = system_role
        self._transformer = transformer
        self._parallel_tools = parallel_tools
        self._takes_temperature = takes_temperature
        self._breaks_control_tokens = breaks_control_tokens
        self._headers = headers or {}
        self._structures = Structures(self._structure)
        self._names_cache = names_cache
        self._breakpoints = Breakpoints() if marks_cache else None

    def request(self, call: Call, refused: frozenset[str] = frozenset()) -> Request:
        """``call`` as a request of pydantic-ai, with its body in ``extra_body``."""
        return Request([], {"extra_headers": self._headers, "extra_body": self.body(call, refused)}, UNSTRUCTURED)

    def names(self, call: Call, refused: frozenset[str]) -> frozenset[str]:
        """The parameters that ``call`` is sent with."""
        return frozenset(self.body(call, refused))

    def body(self, call: Call, refused: frozenset[str] = frozenset()) -> dict[str, Any]:
        """``call`` as a body without the ``refused`` parameters. pydantic-ai adds the model and the stream switch."""
        marks = self._breakpoints is not None and "prompt_cache_options" not in refused
        body: dict[str, Any] = {"messages": self._messages(call, marks=marks), self._limit_key: call.max_tokens}
        if marks:
            # The server's own mark would follow the task, where no other prompt continues.
            body["prompt_cache_options"] = {"mode": "explicit"}
        if self._names_cache and call.segments[0].role == "system":
            body["prompt_cache_key"] = digest(call.segments[0].text)[:32]
        if call.temperature is not None and self._takes_temperature:
            body["temperature"] = call.temperature
        if call.seed is not None:
            body["seed"] = call.seed
        body.update(self._reasoning)
        body.update(self._structures.of(call) or {})
        if refused:
            adapt(body, refused)
        return body

    def _messages(self, call: Call, *, marks: bool) -> list[dict[str, Any]]:
        if self._breaks_control_tokens:
            return [self._message(role, text) for role, text in _safe_messages(call)]
        places = self._breakpoints.of(call) if self._breakpoints is not None and marks else ()
        if not places:
            return [self._message(role, text) for role, text in messages_of(call)]
        marked = {"prompt_cache_breakpoint": {"mode": "explicit"}}
        return [
            self._message(role, [{"type": "text", "text": text, **(marked if mark else {})} for text, mark in rows])
            for role, rows in marked_messages(call, places)
        ]

    def _message(self, role: str, content: str | list[dict[str, Any]]) -> dict[str, Any]:
        return {"role": self._system_role if role == "system" else role, "content": content}

    def _structure(self, schema: dict[str, Any], name: str, mode: OutputMode) -> dict[str, Any]:
        if self._transformer is not None:
            schema = self._transformer(schema, strict=True).walk()
        if mode is OutputMode.NATIVE:
            named = {"name": name, "schema": schema, "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        function = {"name": name, "description": TOOL_DESCRIPTION, "parameters": schema, "strict": True}
        tools = {"tools": [{"type": "function", "function": function}], "tool_choice": "required"}
        return {**tools, "parallel_tool_calls": False} if self._parallel_tools else tools


def _safe_messages(call: Call) -> list[tuple[str, str]]:
    """The messages of ``call`` with broken control tokens."""
    if call.mode is OutputMode.PROMPTED:
        # It contains the schema as well.
        return [(role, break_control_tokens(text)) for role, text in messages_of(call)]
    # A token contains no blank, so none spans two segments.
    return messages_of(call, _broken)


# Each call repeats earlier texts: up to 4,000 in the longest legal debate, a panel of 100 and 10 rounds.
_broken = lru_cache(maxsize=4096)(break_control_tokens)


class ChatModel(OpenAIChatModel):
    """A model behind the Chat Completions protocol."""

    def _validate_completion(self, response: chat.ChatCompletion) -> Any:
        if error := (response.model_extra or {}).get("error"):
            raise NoAnswerError("", error)
        if not response.choices:
            raise NoAnswerError("it holds no choices", usage=usage_counts(response.usage), served=response.model)
        # The counts were read already. A strange count must not make the answer invalid.
        counts, response.usage = response.usage, None
        checked = super()._validate_completion(response)
        checked.usage = counts
        return checked

    def _map_usage(self, response: chat.ChatCompletion) -> RequestUsage:
        return usage_counts(response.usage)

    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return ChatStream


@dataclass
class ChatStream(OpenAIStreamedResponse):
    """A streamed answer with the model that the server named."""

    _served: str = field(default="", init=False)

    @property
    def model_name(self) -> str:
        """The model that the server named, or ""."""
        return self._served

    def _validate_response(self) -> AsyncIterable[ChatCompletionChunk]:
        return _ChunkReader(self._response, self)

    def _map_usage(self, response: ChatCompletionChunk) -> RequestUsage:
        return usage_counts(response.usage)


class _ChunkReader:
    """The chunks of a stream, looked at as they pass.

    A plain iterator: an async generator would have to be finalised when the stream is abandoned.
    """

    def __init__(self, chunks: AsyncIterable[ChatCompletionChunk], stream: ChatStream) -> None:
        self._chunks: AsyncIterator[ChatCompletionChunk] = aiter(chunks)
        self._stream = stream
        self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChatCompletionChunk:
        try:
            chunk = await anext(self._chunks)
        except StopAsyncIteration:
            if self._closed:
                details = self._stream.provider_details or {}
                self._stream.provider_details = {**details, CLOSED: True}
            raise
        if chunk.model and isinstance(chunk.model, str):
            self._stream._served = chunk.model
        # The counts come last and alone, so the stream is complete.
        self._closed = chunk.usage is not None and not chunk.choices
        _keep_known_fields(chunk)
        return chunk


def _keep_known_fields(chunk: Any) -> None:
    """Remove unused fields from ``chunk``, in place; see ``known_fields``."""
    chunk.created, chunk.moderation, chunk.service_tier = 0, None, None
    for choice in chunk.choices or ():
        choice.logprobs = None
        if (delta := choice.delta) is None:
            continue
        (delta.model_extra or {}).pop("annotations", None)
        delta.tool_calls = [row for row in delta.tool_calls or () if hasattr(row, "function")]
        for called in delta.tool_calls:
            if called.function is not None and called.function.arguments is not None:
                called.function.arguments = argument_text(called.function.arguments)


def usage_counts(usage: object) -> RequestUsage:
    """Read a Chat Completions ``usage`` object; only reported counts are set on the result."""
    if usage is None:
        return RequestUsage(unmeasured_requests=1)
    details = getattr(usage, "prompt_tokens_details", None)
    # DeepSeek counts its cache at the top level.
    cached = _count(details, "cached_tokens", getattr(usage, "prompt_cache_hit_tokens", None))
    prompt, output = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    reasoning = _count(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)
    said = {
        "input_tokens": prompt,
        "output_tokens": total_output(prompt, output, getattr(usage, "total_tokens", None), reasoning),
        "output_reasoning_tokens": reasoning,
        "cache_read_tokens": cached,
        "cache_write_tokens": _count(details, "cache_write_tokens", None),
    }
    counts = RequestUsage()
    for name, count in said.items():
        if isinstance(count, int):
            setattr(counts, name, count)
    if (cost := reported_cost(getattr(usage, name, None) for name in _COST)) is not None:
        setattr(counts, REPORTED_USD, cost)
    return counts


def reported_cost(fields: Iterable[object]) -> float | None:
    """The cost in US dollars that a ``usage`` object states in its fields ``cost``, ``is_byok`` and ``cost_details``.

    OpenRouter bills ``cost``. Users with their own upstream key also pay the upstream provider
    (https://openrouter.ai/docs/use-cases/usage-accounting). None if it states no cost.
    """
    cost, own_key, details = fields
    if not _is_amount(cost):
        return None
    upstream = details.get("upstream_inference_cost") if isinstance(details, dict) else None
    return float(cost) + (float(upstream) if own_key and _is_amount(upstream) else 0.0)  # type: ignore[arg-type]


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


_COST: Final = ("cost", "is_byok", "cost_details")


def total_output(prompt: Any, output: Any, total: Any, reasoning: Any) -> Any:
    """All output tokens, those of reasoning included.

    xAI leaves them out of ``completion_tokens``; its ``total_tokens`` then has them on top
    (docs.x.ai/docs/guides/reasoning).
    """
    usage_counts = reasoning and all(type(count) is int for count in (prompt, output, total, reasoning))
    return output + reasoning if usage_counts and total == prompt + output + reasoning else output


def _count(details: object, name: str, otherwise: object) -> object:
    value = details.get(name) if isinstance(details, dict) else getattr(details, name, None)
    return otherwise if value is None else value
