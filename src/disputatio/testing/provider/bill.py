"""What a fake provider has charged: every request it has answered, by the way it came."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from disputatio.testing.provider.answers import Answer


@dataclass(slots=True)
class Bill:
    """A fake provider's bill.

    Attributes:
        single: how often each request was answered singly, by its fingerprint.
        batch: how often each request was taken into a batch that answers it, by its fingerprint.
        single_tokens: tokens of these, input and output together.
        batch_tokens: the same of those in batches, each of which costs half.
    """

    single: Counter[str] = field(default_factory=Counter)
    batch: Counter[str] = field(default_factory=Counter)
    single_tokens: int = 0
    batch_tokens: int = 0

    @property
    def cost(self) -> float:
        """All tokens at their price, where one of a single request costs 1."""
        return self.single_tokens + self.batch_tokens / 2

    @property
    def requests(self) -> Counter[str]:
        """How often each request was charged, whatever the way."""
        return self.single + self.batch

    def charge(self, fingerprint: str, answer: Answer, *, batch: bool) -> None:
        """Charge one answer."""
        tokens = answer.prompt_tokens + answer.completion_tokens
        if batch:
            self.batch[fingerprint] += 1
            self.batch_tokens += tokens
        else:
            self.single[fingerprint] += 1
            self.single_tokens += tokens
