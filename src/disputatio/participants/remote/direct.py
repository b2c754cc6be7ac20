"""Posts calls of the Chat Completions protocol without pydantic-ai and openai's client: the thin path.

These libraries take a multiple of the processor time of the exchange itself. What they add to a request and read from
a plain answer is always the same, so it is learned once:

- The library prepares one request that is not sent. This gives the address, the headers and its additions to a body.
- Calls are posted there with these headers and their own bodies, and a plain answer (see ``plain_reply``) is read here.
- For any other outcome (an error, a lost connection, a refusal, thinking in tags, a field of a strange type...) the
  exchange is replayed to the library. So only the library decides what a response means, and no call is sent twice.

Importing this module imports aiohttp and httpx2, so import it lazily.
"""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import httpx2
import orjson
from multidict import CIMultiDict
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice

from disputatio.participants.call import Call, OutputMode, Reply, Segment, Usage
from disputatio.participants.remote.chat import ChatModel, ChatPrompts, reported_cost, total_output
from disputatio.participants.remote.models import NO_TAGS
from disputatio.participants.remote.response import has_reasoning_tag, with_cost
from disputatio.participants.remote.transport import AiohttpTransport, RawResponse, address_of, replay_exchange

if TYPE_CHECKING:
    from pydantic import BaseModel
    from yarl import URL

    from disputatio.participants.remote.models import ModelConnection

_SAMPLE: Final = Call((Segment("user", "-"),), None, "", OutputMode.TEXT, None, 1)
_LATEST: Final = 2**33
"""A later creation time, in seconds since 1970, is a mistake, which is left to the library."""
# What pydantic-ai removes from inside a control token of an answer, also in JSON escapes.
_JOINERS = re.compile(r"[\u200b-\u200d\u2060\ufeff]|\\u(?:200|206|feff)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Route:
    """How to reach one model: what the library puts into every request.

    Attributes:
        prompts: turns calls into bodies.
        url: the address to post to.
        headers: the headers of every request; one of them holds the key.
        added: what the library adds to a body.
    """

    prompts: ChatPrompts
    # Both may hold a key.
    url: URL = field(repr=False)
    headers: CIMultiDict[str] = field(repr=False)
    added: dict[str, Any]

    async def post(
        self, call: Call, transport: AiohttpTransport, refused: frozenset[str] = frozenset()
    ) -> Reply | RawResponse | httpx2.RequestError | None:
        """Post ``call`` once, without the refused parameters.

        Returns:
            The reply if the response is plain; else the response or failure, for the library to read. None, and nothing
            sent, if the call cannot be written as strict JSON.
        """
        if call.temperature is not None and not math.isfinite(call.temperature):
            # It would be written as null.
            return None
        try:
            body = orjson.dumps(self.added | self.prompts.body(call, refused))
        except (TypeError, ValueError):
            return None
        try:
            arrived = await transport.post(self.url, self.headers, body)
        except httpx2.RequestError as error:
            return error
        reply = plain_reply(arrived.body, call.mode) if arrived.status == 200 else None
        return arrived if reply is None else with_cost(reply, arrived.headers)


async def learn_route(connection: ModelConnection) -> Route | None:
    """Learn the route of ``connection``; None if it does not use this protocol. Sends nothing."""
    from pydantic_ai.direct import model_request

    model, prompts = connection.model, connection.prompts
    if not isinstance(model, ChatModel) or not isinstance(prompts, ChatPrompts):
        return None
    if model.profile.get("openai_chat_thinking_field") or model.profile.get("thinking_tags") != NO_TAGS:
        return None
    request = prompts.request(_SAMPLE)
    # The replay stops it on purpose. Any other error comes up again when a call is made.
    with replay_exchange(None, shows=True) as exchange, contextlib.suppress(Exception):
        await model_request(
            model,
            request.messages,
            model_settings=request.settings,
            model_request_parameters=request.parameters,
            instrument=False,
        )
    shown = exchange.request
    if shown is None:
        return None
    try:
        url = address_of(shown.url)
    except ValueError:
        return None
    headers = CIMultiDict(row for row in shown.headers.multi_items() if row[0].lower() != "content-length")
    sample = prompts.body(_SAMPLE)
    added = {key: value for key, value in orjson.loads(shown.content).items() if key not in sample}
    return Route(prompts, url, headers, added)


def _other_fields(model: type[BaseModel], *read: str) -> frozenset[str]:
    """The fields of ``model`` that are not read here; a response that fills one of them is left to the library."""
    return frozenset(model.model_fields) - frozenset(read)


_COMPLETION = _other_fields(
    ChatCompletion,
    "id",
    "choices",
    "created",
    "model",
    "object",
    "usage",
    "system_fingerprint",
    "service_tier",
)
_CHOICE = _other_fields(Choice, "finish_reason", "index", "message")
_MESSAGE = _other_fields(ChatCompletionMessage, "content", "role", "refusal", "annotations", "tool_calls")
_USAGE = _other_fields(
    CompletionUsage,
    "completion_tokens",
    "prompt_tokens",
    "total_tokens",
    "completion_tokens_details",
    "prompt_tokens_details",
)
_OBJECT: Final = (dict, type(None))
_COUNT: Final = frozenset({int, type(None)})
_TIERS: Final = frozenset({None, "auto", "default", "flex", "scale", "priority"})


def plain_reply(body: bytes, mode: OutputMode) -> Reply | None:
    """Read the reply in the body of a response with status 200; None if it is not plain.

    A plain body is JSON with fields of the right types and one choice that stopped or reached its limit. Its text has
    no tags of thinking and no invisible characters (in tool mode: one tool call), and its counts are whole numbers.
    Fields unknown to the protocol are ignored, as the library does.
    """
    try:
        data = orjson.loads(body)
        [choice] = data["choices"]
        message = choice["message"]
        usage = _counts(data.get("usage"))
        if usage is None or not (_is_ordinary(data, choice) and _says_only_text(message)):
            return None
        text = _text(message, choice["finish_reason"], mode)
    except (ValueError, TypeError, KeyError, AttributeError):
        # Some field does not have the expected shape.
        return None
    if text is None or not (text.strip() or choice["finish_reason"] == "length"):
        return None
    finish = "length" if choice["finish_reason"] == "length" else "stop"
    return Reply(text, data["model"] or None, usage, finish)


def _is_ordinary(data: dict[str, Any], choice: dict[str, Any]) -> bool:
    fingerprint = data.get("system_fingerprint")
    return (
        not data.get("error")
        and type(data["id"]) is str
        and type(data["model"]) is str
        and type(data["created"]) is int
        and 0 <= data["created"] < _LATEST
        and data["object"] == "chat.completion"
        and data.get("service_tier") in _TIERS
        and (fingerprint is None or type(fingerprint) is str)
        and _leaves_out(_COMPLETION, data)
        and type(choice["index"]) is int
        and _leaves_out(_CHOICE, choice)
    )


def _leaves_out(names: frozenset[str], row: dict[str, Any]) -> bool:
    """Whether all of these fields are missing or None."""
    return names.isdisjoint(row) or all(row.get(name) is None for name in names)


def _says_only_text(message: dict[str, Any]) -> bool:
    return (
        message["role"] == "assistant"
        and message.get("refusal") in (None, "")
        and message.get("annotations") in (None, [])
        and type(message.get("tool_calls")) in (list, type(None))
        and _leaves_out(_MESSAGE, message)
    )


def _text(message: dict[str, Any], finish: object, mode: OutputMode) -> str | None:
    """The answer in ``message``; None if the library must read it."""
    text = message["content"]
    thought = message.get("reasoning") or message.get("reasoning_content") or ""
    if not (type(thought) is str and type(text) in (str, type(None))):
        return None
    calls = message.get("tool_calls")
    if calls:
        if mode is not OutputMode.TOOL or finish not in ("tool_calls", "stop", "length"):
            return None
        [called] = calls
        function = called["function"]
        if called["type"] != "function" or not (called["id"] and type(called["id"]) is type(function["name"]) is str):
            return None
        argument = function["arguments"]
        return argument if type(argument) is str and not _JOINERS.search(argument) else None
    if finish not in ("stop", "length") or type(text) is not str or has_reasoning_tag(text):
        return None
    if not text.isascii() and _JOINERS.search(text):
        return None
    return text.lstrip() if thought else text


def _counts(usage: Any) -> Usage | None:
    """The token counts; None if the library must read them."""
    if usage is None:
        return Usage()
    details, others = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    if not (type(details) in _OBJECT and type(others) in _OBJECT):
        return None
    details, others = details or {}, others or {}
    # DeepSeek counts its cache at the top level.
    cached = details.get("cached_tokens")
    cached = usage.get("prompt_cache_hit_tokens") if cached is None else cached
    prompt, completion, total = usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]
    optional = {type(cached), *map(type, details.values()), *map(type, others.values())}
    if not (type(prompt) is type(completion) is type(total) is int and optional <= _COUNT):
        return None
    if not _leaves_out(_USAGE, usage):
        return None
    reasoning = others.get("reasoning_tokens")
    output = total_output(prompt, completion, total, reasoning)
    cost = reported_cost(usage.get(name) for name in ("cost", "is_byok", "cost_details"))
    reported = None if cost is None else Decimal(str(cost))
    return Usage(prompt, output, cached, details.get("cache_write_tokens"), reasoning, reported)
