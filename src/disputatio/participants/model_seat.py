"""The model in a seat: the part of the configuration that goes into the record.

Keys are never part of it: they are passed separately and looked up again on resume.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from disputatio.participants.call import OutputMode


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. ``cached_input`` defaults to ``input``."""

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSeating:
    """A language model in a seat.

    Attributes:
        provider: a provider or preset name, such as ``openai``, ``zhipu``, ``embedded``.
        model: the model's name as the provider knows it; for ``embedded`` also a path or Hub reference.
        base_url: the server's address where it is not the provider's own.
        temperature: for every phase of this seat; None takes each phase's default.
        persona: a description the prompt gives to this seat.
        piecewise: ask for one argument at a time, the way that small models can follow.
        max_tokens: the answer's limit for every phase of this seat; None takes each phase's default.
        reasoning_effort: a word of `disputatio.participants.reasoning.EFFORTS`, or a number of tokens;
            None leaves it to the provider.
        timeout_s: seconds without a finished answer before a call counts as timed out.
        attempts: the most attempts at a call before the fallback or an abstention, 1 or more.
        mode: fixes how structured answers are requested; None tries the model's best first.
        price: overrides the price table; None looks the served model up.
        fallback: the model that takes over when this one's attempts are used up.
    """

    provider: str
    model: str
    base_url: str | None = None
    temperature: float | None = None
    persona: str = ""
    piecewise: bool = False
    max_tokens: int | None = None
    timeout_s: float = 300.0
    attempts: int = 4
    mode: OutputMode | None = None
    price: Price | None = None
    fallback: ModelSeating | None = None
    reasoning_effort: str | int | None = None

    @property
    def address(self) -> str:
        """The model as users write it: ``openai:gpt-5`` or ``openai_compatible:qwen3 at http://...``."""
        place = f" at {self.base_url}" if self.base_url else ""
        return f"{self.provider}:{self.model}{place}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Keys by seat, apart from seatings so that no key can reach a record or a screen."""

    by_seat: dict[str, str] = field(default_factory=dict, repr=False)

    def key(self, seat: str) -> str | None:
        """The key for ``seat``, or None where there is none."""
        return self.by_seat.get(seat)
