"""Chat completions over openai's client without the work it does to be typed.

openai's library walks every parameter of a request against its type, and builds every object of a response field by
field: together a fifth of the processor time of a call. pydantic-ai gives parameters that are JSON already, and
checks the response itself. So whole answers are posted as they are given and read by pydantic in one step; streams
go the library's own way. What is posted, and what comes of each kind of faulty response, is the library's: tests
hold the two against each other.

This module imports openai when it is imported, so import it only where a gateway is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from openai import AsyncOpenAI, NotGiven, Omit
from openai.resources.chat import AsyncChat, AsyncCompletions
from openai.types.chat import ChatCompletion
from pydantic import ValidationError


class ThriftyOpenAI(AsyncOpenAI):
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
    """A completion that reads itself: openai's library lets a response type do so."""

    @classmethod
    def build(cls, *, response: object, data: object) -> object:  # noqa: ARG003  (the library's protocol)
        """``data`` as a completion where it is one; else as the library builds it, unchecked, for others to refuse."""
        try:
            return ChatCompletion.model_validate(data)
        except ValidationError:
            if not isinstance(data, Mapping):
                return data
            return ChatCompletion.construct(**data)


_OPTIONS = {"extra_headers": "headers", "extra_query": "params", "extra_body": "extra_json", "timeout": "timeout"}


def _is_given(value: object) -> bool:
    return not isinstance(value, (Omit, NotGiven))
