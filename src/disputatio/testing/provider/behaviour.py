"""How a fake provider behaves when nothing goes wrong, and what goes wrong when."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import NormalDist
from typing import Final, TypeAlias

from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject
from disputatio.participants.call import OutputMode
from disputatio.testing.instances import mix, prose, seed_from
from disputatio.testing.instances.phrases import fraction
from disputatio.testing.provider.mishaps import CreationMishap, ItemScript, Mishaps, Script
from disputatio.testing.provider.received import Latency, ReceivedRequest

AnswerMaker: TypeAlias = Callable[[ReceivedRequest], "str | JsonObject | None"]


@dataclass(kw_only=True, eq=False)
class Behaviour:
    """The settings of a fake provider. All may be changed while it runs; the next request sees the change.

    Attributes:
        port: where it listens on 127.0.0.1; 0 takes a free port.
        latency: seconds from a request to the first byte of its answer, fixed or by request.
        chunk_latency_s: seconds before each piece of a stream.
        chunk_chars: characters in each piece of a stream; more where it would have over 200 pieces.
        models: the models that exist; every name is served where this is empty.
        aliases: names that are served by a model of another name, which the answer then states.
        api_key: the only key that is accepted; None asks for none.
        honours: the modes of structured output it has. A request for native or tool output that it does not
            have is refused with status 400.
        ignores: modes it silently passes over: such requests are answered with prose.
        checks_strict_schemas: whether a schema marked strict must close every object and require every key,
            as the rules of OpenAI's structured outputs say.
        max_context: most tokens of prompt and answer together; None for no limit.
        obeys_max_tokens: whether an answer ends at the request's token limit, with the reason ``length``.
        refuses: parameters that are refused with status 400 and OpenAI's words. Of ``temperature`` and ``top_p`` the
            default value 1 is taken all the same, and so is a switch that is off, such as ``stream``.
        reasoning: how it reasons before it answers; None for a model that does not.
        realistic_lengths: whether texts are as long as those of a large model (a question of 20 words, reasons of 75),
            rather than one sentence each. They never exceed the schema.
        prefix_cache: whether cached tokens are reported. They depend on what came before, so leave them out
            where two runs are compared byte by byte.
        reports_usage: whether token counts are reported at all.
        reports_usd: the reported cost of each answer in US dollars, as OpenRouter reports it; None for no report.
        lists_models: whether ``GET /v1/models`` exists.
        answer: gives the answer to a request; None from it, or no such function, leaves the answer to the
            provider: a valid instance of the schema, or prose.
        mishaps: which request meets which mishap.
        retry_after: the value of the ``Retry-After`` header with status 429: seconds, or an HTTP date.
        drip_s: seconds before each piece of a slow drip.
        keep: how many requests and prompts are remembered; None for all.
        batch_seconds: how long a batch takes, by a clock that clients can move on; a day at most.
        batch_items: what happens to an item of a batch, by the number of its batch and its place there, from 0.
        batch_creations: what happens to each request that creates a batch, by its number from 0.

    Raises:
        InvalidInputError: a number is out of its range.
    """

    port: int = 0
    latency: float | Latency = 0.0
    chunk_latency_s: float = 0.0
    chunk_chars: int = 24
    models: Collection[str] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    api_key: str | None = field(default=None, repr=False)
    honours: Collection[OutputMode] = (OutputMode.NATIVE, OutputMode.TOOL)
    ignores: Collection[OutputMode] = ()
    checks_strict_schemas: bool = True
    max_context: int | None = None
    obeys_max_tokens: bool = True
    refuses: Collection[str] = ()
    reasoning: Reasoning | None = None
    realistic_lengths: bool = False
    prefix_cache: bool = True
    reports_usage: bool = True
    reports_usd: float | None = None
    lists_models: bool = True
    answer: AnswerMaker | None = None
    mishaps: Script = field(default_factory=Mishaps)
    retry_after: str = "1"
    drip_s: float = 0.05
    keep: int | None = None
    batch_seconds: float = 3_600.0
    batch_items: ItemScript = field(default=lambda _batch, _place: None)
    batch_creations: Callable[[int], CreationMishap | None] = field(default=lambda _number: None)

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        least = {
            "port": (self.port, 0),
            "latency": (0.0 if callable(self.latency) else self.latency, 0.0),
            "chunk_latency_s": (self.chunk_latency_s, 0.0),
            "chunk_chars": (self.chunk_chars, 1),
            "max_context": (1 if self.max_context is None else self.max_context, 1),
            "drip_s": (self.drip_s, 0.0),
            "batch_seconds": (self.batch_seconds, 0.0),
            "keep": (0 if self.keep is None else self.keep, 0),
        }
        for name, (value, lowest) in least.items():
            if value < lowest:
                raise InvalidInputError(f"A fake provider cannot have {name} {value}.", f"Use {lowest:g} or more.")

    def latency_of(self, request: ReceivedRequest) -> float:
        """Seconds to wait before the answer to ``request``."""
        return self.latency(request) if callable(self.latency) else self.latency

    def served_model(self, asked: str) -> str:
        """The model that serves requests for ``asked``."""
        return self.aliases.get(asked, asked)


THOUGHT: Final = "Thinking aloud, and not part of the answer:"
"""How every reasoning text begins, so that a test can look for it where it must not be."""

_CHARACTERS_PER_TOKEN: Final = 4
_EFFORTS: Final = {"none": 0.0, "minimal": 0.1, "low": 0.4, "medium": 1.0, "high": 2.5}
_NORMAL: Final = NormalDist()


class ReasoningText(StrEnum):
    """Where a server puts the reasoning text."""

    HIDDEN = "hidden"
    """Nowhere: OpenAI only counts it."""
    REASONING_CONTENT = "reasoning_content"
    """In this field of the message: DeepSeek, Zhipu, older versions of vLLM."""
    REASONING = "reasoning"
    """In this field of the message: OpenRouter, Ollama, newer versions of vLLM."""
    TAGS = "tags"
    """In the content, between ``<think>`` and ``</think>``: a server without a parser for its model's reasoning."""
    CLOSING_TAG = "closing_tag"
    """The same without the first tag, which the template of some models puts into the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """How much a fake provider reasons, and what it shows of it.

    Attributes:
        median: tokens a call at the usual effort, 0 or more; other efforts take a tenth (``minimal``), four tenths
            (``low``) or two and a half times as many (``high``).
        spread: the deviation of the logarithm, 0 for the same number in every call.
        seed: chooses the draws.
        text: the place of the reasoning text.
        reports: whether the usage states how many tokens were reasoning.
        efforts: the values of ``reasoning_effort`` that are taken; others are refused with status 400.

    Raises:
        InvalidInputError: a number is negative, or an effort is not known.
    """

    median: float
    spread: float = 0.5
    seed: int = 0
    text: ReasoningText = ReasoningText.HIDDEN
    reports: bool = True
    efforts: Collection[str] = ("minimal", "low", "medium", "high")

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        for name, value in (("median", self.median), ("spread", self.spread)):
            if not (math.isfinite(value) and value >= 0):
                raise InvalidInputError(f"A fake provider cannot reason with {name} {value}.", "Use 0 or more.")
        for effort in self.efforts:
            if effort not in _EFFORTS:
                raise InvalidInputError(
                    f"A fake provider does not know the effort {effort!r}.", f"Efforts are: {', '.join(_EFFORTS)}."
                )

    def tokens(self, request: ReceivedRequest) -> int:
        """The reasoning tokens that ``request`` needs, whatever its limit."""
        effort = request.body.get("reasoning_effort")
        median = self.median * _EFFORTS.get(str(effort), 1.0)
        if not median:
            return 0
        about = json.dumps([self.seed, request.model, request.messages, request.body.get("seed")])
        # A share of exactly 0 has no quantile.
        drawn = max(fraction(mix(seed_from(about))), 1e-9)
        return round(median * math.exp(self.spread * _NORMAL.inv_cdf(drawn)))

    def written(self, tokens: int, request: ReceivedRequest) -> str:
        """A reasoning text of ``tokens`` tokens; nothing where the server hides it."""
        if self.text is ReasoningText.HIDDEN or not tokens:
            return ""
        size = tokens * _CHARACTERS_PER_TOKEN
        paragraph = f"{prose(seed_from(request.fingerprint))} "
        return f"{THOUGHT} {paragraph * (size // len(paragraph) + 1)}"[:size]
