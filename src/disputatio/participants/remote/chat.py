"""The Chat Completions protocol: pydantic-ai's model with the checks, counts and thrift a record needs.

Three hooks that pydantic-ai leaves to subclasses are used, for OpenAI and its likes:

- a response with status 200 that holds an error or no choices is told as such, not as a validation error;
- fields that some servers leave out (``id``, ``model``, ``object``, ``index``, ``role``) do not make an answer unreadable;
- tokens are taken as the server counted them: what it did not say stays unsaid, and no price table is asked.

This module imports pydantic-ai and openai when it is imported, so import it only where a gateway is opened.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from openai.types import chat
from openai.types.chat import ChatCompletionChunk
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from disputatio.participants.call import OutputMode
from disputatio.participants.remote.faults import NoAnswerError
from disputatio.participants.remote.prompt import TOOL_DESCRIPTION, UNSTRUCTURED, Prompts, Structure

if TYPE_CHECKING:
    from pydantic_ai._json_schema import JsonSchemaTransformer


def counted(usage: object) -> RequestUsage:
    """The tokens of a Chat Completions ``usage`` object; only what it says is set on the result."""
    if usage is None:
        return RequestUsage(unmeasured_requests=1)
    details = getattr(usage, "prompt_tokens_details", None)
    said: dict[str, Any] = {
        "input_tokens": getattr(usage, "prompt_tokens", None),
        "output_tokens": getattr(usage, "completion_tokens", None),
        # DeepSeek counts its cache at the top level.
        "cache_read_tokens": _count(details, "cached_tokens", getattr(usage, "prompt_cache_hit_tokens", None)),
    }
    return RequestUsage(**{name: count for name, count in said.items() if count is not None})


def _count(details: object, name: str, otherwise: object) -> object:
    value = details.get(name) if isinstance(details, dict) else getattr(details, name, None)
    return otherwise if value is None else value


@dataclass
class ChatStream(OpenAIStreamedResponse):
    """A streamed answer that knows which model the server named."""

    _served: str = field(default="", init=False)

    @property
    def model_name(self) -> str:
        """The model the server named, "" where it named none."""
        return self._served

    def _validate_response(self) -> AsyncIterable[ChatCompletionChunk]:
        return _Watched(self._response, self)

    def _map_usage(self, response: ChatCompletionChunk) -> RequestUsage:
        return counted(response.usage)


class _Watched:
    """The chunks of a stream, checked as they pass.

    A plain iterator: an async generator would have to be finalised when the stream is abandoned.
    """

    def __init__(self, chunks: AsyncIterable[ChatCompletionChunk], stream: ChatStream) -> None:
        self._chunks: AsyncIterator[ChatCompletionChunk] = aiter(chunks)
        self._stream = stream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChatCompletionChunk:
        chunk = await anext(self._chunks)
        if chunk.model:
            self._stream._served = chunk.model
        return chunk


class ChatPrompts(Prompts):
    """Requests in the Chat Completions protocol.

    Args:
        transformer: rewrites schemas for the server, or None to send them as they are.
        parallel_tools: whether the server knows the switch against several tool calls in one answer.
        takes_temperature: whether the model takes a temperature.
        fixed: settings that every request carries.
    """

    def __init__(
        self,
        *,
        transformer: type[JsonSchemaTransformer] | None = None,
        parallel_tools: bool = False,
        takes_temperature: bool = True,
        fixed: ModelSettings | None = None,
    ) -> None:
        super().__init__(takes_temperature=takes_temperature, fixed=fixed)
        self._transformer = transformer
        self._parallel_tools = parallel_tools

    def structured(self, schema: dict[str, Any], name: str, mode: OutputMode) -> Structure:
        """How a request for ``schema`` is put: ``response_format``, or one tool that must be called."""
        if self._transformer is not None:
            schema = self._transformer(schema, strict=True).walk()
        if mode is OutputMode.NATIVE:
            named = {"name": name, "schema": schema, "strict": True}
            return Structure(
                UNSTRUCTURED.parameters, {"response_format": {"type": "json_schema", "json_schema": named}}
            )
        function = {"name": name, "description": TOOL_DESCRIPTION, "parameters": schema, "strict": True}
        body: dict[str, Any] = {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": "required",
        }
        if self._parallel_tools:
            body["parallel_tool_calls"] = False
        return Structure(UNSTRUCTURED.parameters, body)


class ChatModel(OpenAIChatModel):
    """A model behind the Chat Completions protocol."""

    def _validate_completion(self, response: chat.ChatCompletion) -> Any:
        if error := (response.model_extra or {}).get("error"):
            raise NoAnswerError("", error)
        if not response.choices:
            raise NoAnswerError("it holds no choices", usage=counted(response.usage), served=response.model)
        response.id = response.id or ""
        response.model = response.model or ""
        response.object = "chat.completion"
        choice = response.choices[0]
        choice.index = 0
        if choice.message:
            choice.message.role = "assistant"
        return super()._validate_completion(response)

    def _map_usage(self, response: chat.ChatCompletion) -> RequestUsage:
        return counted(response.usage)

    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return ChatStream
