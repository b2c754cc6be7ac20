"""The documented rules of providers' prefix caches, and what the input of calls costs under them.

    OpenAI      The schema of structured output, and tools, stand in front of the system message. Prompts from 1,024
                tokens on, in steps of 128 (https://platform.openai.com/docs/guides/prompt-caching).
    Anthropic   Tools, then the system message, then messages; a schema is put before the system message, so another
                one ends what two calls share. What ends at a mark is served, from 1,024 tokens on
                (https://docs.claude.com/en/docs/build-with-claude/prompt-caching and .../structured-outputs).
    Gemini      From 4,096 tokens on (https://ai.google.dev/gemini-api/docs/caching). A schema counts as input, and
                is taken to be billed anew with every call.
    DeepSeek    Tools stand in front; there are no native schemas. In steps of 64 tokens
                (https://api-docs.deepseek.com/guides/kv_cache).

Nothing is known of other providers, or of these at other addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS


@dataclass(frozen=True, slots=True)
class CacheRules:
    """What a provider's cache serves.

    Attributes:
        least: the fewest tokens of a cached prefix.
        step: the tokens by which a cached prefix grows.
        schema_in_front: whether a schema outside the prompt comes before it; else after it.
        marks: whether only prefixes that end at a mark are kept, at the price of writing.
    """

    least: int
    step: int
    schema_in_front: bool
    marks: bool = False


RULES: Final[Mapping[str, CacheRules]] = MappingProxyType(
    {
        "openai": CacheRules(1024, 128, schema_in_front=True, marks=True),
        "openai_responses": CacheRules(1024, 128, schema_in_front=True, marks=True),
        "anthropic": CacheRules(1024, 1, schema_in_front=True, marks=True),
        "google": CacheRules(4096, 1, schema_in_front=False),
        "deepseek": CacheRules(64, 64, schema_in_front=True),
    }
)


def cache_rules(seating: ModelSeating) -> CacheRules | None:
    """The rules for ``seating``; None for an unknown provider or for another address than its own."""
    provider = PROVIDERS.get(seating.provider)
    if provider is None or seating.base_url not in {None, provider.base_url}:
        return None
    return RULES.get(seating.provider)


@dataclass(frozen=True, slots=True)
class Prices:
    """Price of an input token that is read from the cache or written to it, as a share of the usual price."""

    read: float
    written: float


@dataclass(frozen=True, slots=True)
class CachedCall:
    """One call as a cache sees it, in tokens.

    Attributes:
        wave: calls of one wave are sent at the same time; only earlier waves can serve them.
        shared: the prompt before the task, as pieces (a name for the text, its tokens), first to last.
        task: the tokens after them, including a schema in the prompt.
        schema: a name for the schema outside the prompt; empty if there is none.
        schema_tokens: the tokens of that schema.
    """

    wave: int
    shared: Sequence[tuple[int, int]]
    task: int
    schema: str = ""
    schema_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All of its input."""
        return sum(size for _, size in self.shared) + self.task + self.schema_tokens


@dataclass(slots=True)
class InputBill:
    """The input of calls in tokens, and its cost in tokens of the usual price."""

    tokens: int = 0
    served: int = 0
    cost: float = 0.0


def bill(calls: Iterable[CachedCall], rules: CacheRules, prices: Prices, *, staggered: bool = False) -> InputBill:
    """Compute the bill for the input of ``calls`` to one model.

    Args:
        calls: the calls of a debate, in the order they are sent.
        rules: those of the provider.
        prices: those of the model.
        staggered: whether the first call of a wave is answered before the others are sent.
    """
    found, cache = InputBill(), _Cache(rules)
    for call in calls:
        served = cache.served(call, staggered=staggered)
        written = cache.keep(call, served)
        found.tokens += call.tokens
        found.served += served
        found.cost += served * prices.read + written * prices.written + (call.tokens - served - written)
    return found


class _Cache:
    """The cached prefixes: a tree of pieces, each with the first wave that sent it."""

    def __init__(self, rules: CacheRules) -> None:
        self._rules = rules
        self._kept: dict[tuple[str, int, int], int] = {}
        self._schemas: set[str] = set()

    def _places(self, call: CachedCall) -> list[tuple[tuple[str, int, int], int]]:
        """The prefixes of ``call`` that end with a piece, each with its tokens."""
        front = self._rules.schema_in_front
        schema, size = (call.schema, call.schema_tokens) if front else ("", 0)
        name, places = 0, []
        for depth, (piece, tokens) in enumerate(call.shared):
            name, size = hash((name, piece)), size + tokens
            places.append(((schema, depth, name), size))
        return places

    def served(self, call: CachedCall, *, staggered: bool) -> int:
        """The tokens of the longest prefix that an earlier wave wrote."""
        longest = 0
        for place, size in self._places(call):
            wave = self._kept.get(place)
            if wave is not None and (wave < call.wave or staggered) and size >= self._rules.least:
                longest = size - size % self._rules.step
        return longest

    def keep(self, call: CachedCall, served: int) -> int:
        """Keep the prefixes of ``call`` and return how many tokens are billed as written."""
        places = self._places(call)
        known = not (call.schema and self._rules.schema_in_front) or call.schema in self._schemas
        self._schemas.add(call.schema)
        # Where writing costs more, a prefix with a schema is written the second time.
        if self._rules.marks and not known:
            return 0
        # Marks follow the system message and precede the task.
        for place, _ in (*places[:1], *places[-1:]) if self._rules.marks else places:
            self._kept.setdefault(place, call.wave)
        end = places[-1][1] if places else 0
        return max(end - served, 0) if end >= self._rules.least else 0
