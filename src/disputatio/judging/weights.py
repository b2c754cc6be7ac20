"""How much each judge of a panel counts, and where that number comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.scoring import rounded
from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of 0 or more, one for each judge.

    Attributes:
        source: "fixed", "equal", "peer rank" or "Dawid-Skene": shown wherever the verdict is.
        of: weight of each judge.
        note: what a reader must know of them, such as why they fell back to equal ones; may be empty.

    Raises:
        InvalidInputError: there are none, one is negative, or all are zero.
    """

    source: str
    of: Mapping[str, Fraction] = field(hash=False)
    note: str = ""

    def __post_init__(self) -> None:
        if any(weight < 0 for weight in self.of.values()) or not any(self.of.values()):
            raise InvalidInputError(
                f"The {self.source} weights hold a negative one, or none above zero.",
                "Give each judge a weight of 0 or more, and at least one of them above 0.",
            )

    @classmethod
    def fixed(cls, of: Mapping[str, Fraction]) -> Weights:
        """Weights named before the debate."""
        return cls("fixed", dict(of))

    @classmethod
    def equal(cls, judges: Iterable[str], note: str = "") -> Weights:
        """The same weight for each judge."""
        return cls("equal", dict.fromkeys(judges, Fraction(1)), note)

    def check(self, panel: tuple[str, ...]) -> None:
        """Refuse weights that are not those of ``panel``.

        Raises:
            InvalidInputError: a judge has no weight, or a stranger has one.
        """
        astray = sorted(set(self.of) ^ set(panel))
        if astray:
            raise InvalidInputError(
                f"The weights and the panel differ in: {', '.join(astray)}.", "Give each judge of the panel one weight."
            )

    def as_json(self) -> JsonObject:
        """The weights as shares of 1, as the record and the exports keep them."""
        whole = sum(self.of.values(), Fraction(0))
        shares = {judge: rounded(weight / whole, 4) for judge, weight in self.of.items()}
        return {"source": self.source, "shares": shares, "note": self.note}
