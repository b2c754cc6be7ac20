"""How a fake provider reasons before it answers, as OpenAI's gpt-5, DeepSeek's and Qwen's models do.

Reasoning tokens are output tokens: they are charged to the limit of the request before the first word of the answer.
Where they use it up, the answer is empty and the finish reason is ``length``.

How many there are is drawn from a log-normal distribution around a median. The draw depends on the model, the
messages, the seed and the effort of a request, and not on its limit: a call that is made again with more room needs as
much as before.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import Final

from disputatio.errors import InvalidInputError
from disputatio.testing.instances import mixed, prose, seed_of
from disputatio.testing.instances.seeds import fraction
from disputatio.testing.provider.received import ReceivedRequest

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
        text: where the reasoning text stands.
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
        drawn = max(fraction(mixed(seed_of(about))), 1e-9)
        return round(median * math.exp(self.spread * _NORMAL.inv_cdf(drawn)))

    def written(self, tokens: int, request: ReceivedRequest) -> str:
        """A reasoning text of ``tokens`` tokens; nothing where the server hides it."""
        if self.text is ReasoningText.HIDDEN or not tokens:
            return ""
        size = tokens * _CHARACTERS_PER_TOKEN
        paragraph = f"{prose(seed_of(request.fingerprint))} "
        return f"{THOUGHT} {paragraph * (size // len(paragraph) + 1)}"[:size]
