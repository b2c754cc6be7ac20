"""What reaches a fake provider: the requests, in their order, without the keys they came with."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from statistics import NormalDist
from typing import Any, Final, TypeAlias

import orjson

from disputatio.kernel import JsonObject
from disputatio.testing.instances.phrases import fraction, mix, seed_from

SECRET_HEADERS: Final = frozenset(
    {"api-key", "authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key"}
)
Body: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request for a chat completion.

    Attributes:
        index: its place in the order of arrival, from 0.
        attempt: how many requests with the very same body came before it, from 0.
        body: the parsed JSON body.
        headers: the header fields, names in lower case, without those that carry keys.
        fingerprint: a short hash of the body; equal bodies have equal fingerprints.
    """

    index: int
    attempt: int
    body: Body
    headers: Mapping[str, str]
    fingerprint: str

    @property
    def model(self) -> str:
        """The model that was asked for; empty where the request names none."""
        model = self.body.get("model")
        return model if isinstance(model, str) else ""

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """Role and text of each message; parts are joined, tool calls stand as JSON."""
        return tuple(_messages(self.body.get("messages")))

    @property
    def prompt(self) -> str:
        """The texts of all messages, one paragraph each."""
        return "\n\n".join(text for _, text in self.messages)

    @property
    def is_streamed(self) -> bool:
        """Whether the answer is wanted as a stream of events."""
        return self.body.get("stream") is True

    def part(self, *path: str) -> Body:
        """The object at this path in the body; empty where there is none, or something else."""
        found: object = self.body
        for step in path:
            found = found.get(step) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def response_schema(self) -> JsonObject | None:
        """The JSON Schema in ``response_format``, or None where there is none."""
        if self.part("response_format").get("type") != "json_schema":
            return None
        schema = self.part("response_format", "json_schema").get("schema")
        return schema if isinstance(schema, dict) else None

    @property
    def functions(self) -> dict[str, JsonObject]:
        """The functions that are offered as tools: name to the JSON Schema of the parameters."""
        tools = self.body.get("tools")
        named: dict[str, JsonObject] = {}
        for tool in tools if isinstance(tools, list) else ():
            function = tool.get("function") if isinstance(tool, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                parameters = function.get("parameters")
                named[function["name"]] = parameters if isinstance(parameters, dict) else {"type": "object"}
        return named

    @property
    def max_tokens(self) -> int | None:
        """The most tokens the answer may have, under either of the names the field has."""
        limit = self.body.get("max_completion_tokens", self.body.get("max_tokens"))
        return limit if isinstance(limit, int) else None


def fingerprint_of(body: Body) -> str:
    """A short hash of a request's body."""
    try:
        data = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # A lone surrogate, or a whole number beyond 64 bits.
        data = json.dumps(body, sort_keys=True).encode()
    return blake2b(data, digest_size=12).hexdigest()


class Inbox:
    """Numbers the requests as they come and remembers them.

    Args:
        keep: how many of the latest requests are remembered; None for all of them.
    """

    def __init__(self, keep: int | None) -> None:
        self._keep = keep
        self._count = 0
        self._attempts: Counter[str] = Counter()
        self._requests: list[ReceivedRequest] = []

    def receive(self, body: Body, headers: Mapping[str, str], fingerprint: str = "") -> ReceivedRequest:
        """Take one request in; ``fingerprint`` is the body's where it is known already."""
        fingerprint = fingerprint or fingerprint_of(body)
        shown = {name.lower(): value for name, value in headers.items()}
        for name in SECRET_HEADERS & shown.keys():
            del shown[name]
        request = ReceivedRequest(self._count, self._attempts[fingerprint], body, shown, fingerprint)
        self._count += 1
        self._attempts[fingerprint] += 1
        self._requests.append(request)
        if self._keep is not None:
            del self._requests[: -self._keep or None]
        return request

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The remembered requests in their order of arrival; a copy."""
        return list(self._requests)


def _messages(messages: object) -> Iterator[tuple[str, str]]:
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            calls = message.get("tool_calls")
            called = json.dumps(calls) if calls else ""
            yield str(message.get("role", "")), _text(message.get("content")) + called


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return ""


Latency: TypeAlias = Callable[[ReceivedRequest], float]


def uniform(low_s: float, high_s: float, seed: int = 0) -> Latency:
    """Equally likely anywhere from ``low_s`` to ``high_s``."""
    return lambda request: low_s + (high_s - low_s) * share(request, seed)


def lognormal(median_s: float, spread: float, seed: int = 0) -> Latency:
    """Around ``median_s`` with a long tail; ``spread`` is the deviation of the logarithm, 0.5 for a calm server."""
    normal = NormalDist()

    def draw(request: ReceivedRequest) -> float:
        # A share of exactly 0 has no quantile.
        return median_s * math.exp(spread * normal.inv_cdf(max(share(request, seed), 1e-9)))

    return draw


def share(request: ReceivedRequest, seed: int) -> float:
    """A number in [0, 1) that this attempt at this request always has under ``seed``."""
    return fraction(mix(seed_from(f"{seed} {request.fingerprint} {request.attempt}")))
