"""Chat completions over openai's client without its type checks.

openai's library checks every parameter of a request and builds every object of a response field by field: a fifth of
the processor time of a call. pydantic-ai passes JSON already and checks the response itself. So whole answers are
posted as given and parsed by pydantic in one step; streams go through the library. Tests compare requests and faulty
responses with those of the library. Importing this module imports openai, so import it lazily.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from openai import AsyncOpenAI, NotGiven, Omit
from openai.resources.chat import AsyncChat, AsyncCompletions
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion
from pydantic import ValidationError


class LeanOpenAI(AsyncOpenAI):
    """openai's client, with chat completions that cost less."""

    @cached_property
    def chat(self) -> AsyncChat:
        """Chat completions."""
        return _Chat(self)


class _Chat(AsyncChat):
    @cached_property
    def completions(self) -> AsyncCompletions:
        return _Completions(self._client)


class _Completions(AsyncCompletions):
    async def create(self, **given: Any) -> Any:
        """As the library's own ``create``; parameters must be JSON already."""
        if given.get("stream"):
            return await super().create(**given)
        options = {option: given.pop(key) for key, option in _OPTIONS.items() if key in given}
        chosen: Any = {option: value for option, value in options.items() if _is_given(value) and value is not None}
        post: Any = self._post  # typed for every kind of response but those that build themselves
        return await post(
            "/chat/completions",
            body={key: value for key, value in given.items() if _is_given(value)},
            options={**chosen, "security": {"bearer_auth": True}},
            cast_to=_Answer,
            stream=False,
        )


class _Answer(ChatCompletion):
    """A completion that parses itself, as openai's library lets response types do."""

    @classmethod
    def build(cls, *, response: object, data: object) -> object:  # noqa: ARG003  (the library's protocol)
        """Validate ``data`` as a completion; if invalid, build it unchecked, for pydantic-ai to reject."""
        if not isinstance(data, Mapping):
            return data
        kept = known_fields(data)
        counts = kept.pop("usage", None)
        try:
            completion = ChatCompletion.model_validate(kept)
        except ValidationError:
            completion = ChatCompletion.construct(**kept)
        completion.usage = counts_of(counts)
        return completion


def known_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce the body of a completion to the fields that are read, so that no other field can make it invalid.

    Servers add citations, moderation, cost and tiers under their own names and types. A call needs only the text, the
    argument of a tool, the finish reason, the model's name and the counts.
    """
    kept = {name: data[name] for name in ("choices", "usage", "error") if name in data}
    kept |= {name: data[name] if isinstance(data.get(name), str) else "" for name in ("id", "model")}
    created = data.get("created")
    known = type(created) is int and 0 <= created < _LATEST
    kept |= {"object": "chat.completion", "created": created if known else 0}
    if isinstance(kept.get("choices"), list):
        kept["choices"] = [_choice(row) if isinstance(row, Mapping) else row for row in kept["choices"]]
    return kept


def _choice(row: Mapping[str, Any]) -> dict[str, Any]:
    message = row.get("message")
    reason = row.get("finish_reason")
    return {
        "index": 0,
        "finish_reason": reason or None,
        **({"message": known_message_fields(message)} if isinstance(message, Mapping) else {}),
    }


def known_message_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce a message to the fields that are read."""
    kept: dict[str, Any] = {"role": "assistant", "content": message.get("content")}
    if message.get("refusal"):
        kept["refusal"] = message["refusal"]
    for name in ("reasoning", "reasoning_content"):
        if isinstance(message.get(name), str):
            kept[name] = message[name]
    calls = message.get("tool_calls")
    if isinstance(calls, list) and (read := [row for call in calls if (row := _tool_call(call)) is not None]):
        kept["tool_calls"] = read
    return kept


def _tool_call(call: object) -> dict[str, Any] | None:
    """A function call with its argument as text, "" if it has none; None for anything else."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not (isinstance(call, Mapping) and isinstance(function, Mapping)):
        return None
    given, name, own = function.get("arguments"), function.get("name"), call.get("id")
    return {
        # The library ignores calls without an id or a name.
        "id": own if isinstance(own, str) and own else "call",
        "type": "function",
        "function": {
            "name": name if isinstance(name, str) and name else "answer",
            "arguments": argument_text(given),
        },
    }


def argument_text(given: object) -> str:
    """The argument of a tool as text: JSON if the server sent an object, "" if it sent none."""
    if isinstance(given, str):
        return given
    return "" if given is None else json.dumps(given, ensure_ascii=False)


def counts_of(usage: object) -> CompletionUsage | None:
    """The numeric counts of a ``usage`` object; None if it is no object."""
    if not isinstance(usage, Mapping):
        return None
    counts: dict[str, Any] = {str(name): _numbers(value) for name, value in usage.items()}
    return CompletionUsage.construct(None, **counts)


def _numbers(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _number(row) for name, row in value.items()}
    return value if isinstance(value, bool) else _number(value)


def _number(value: object) -> object:
    """Convert ``value`` to a number, whole if possible; None if it is not numeric."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


_LATEST: Final = 2**33
"""A later creation time, in seconds since 1970, is a mistake."""
_OPTIONS = {"extra_headers": "headers", "extra_query": "params", "extra_body": "extra_json", "timeout": "timeout"}


def _is_given(value: object) -> bool:
    return not isinstance(value, (Omit, NotGiven))
