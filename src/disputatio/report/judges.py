"""What the judges of a debate found, each of them and together, read from the outcome in its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disputatio.report.amounts import counted, listed, spoken
from disputatio.report.json_values import objects_in

_FEW = 2
_SHORT = {
    "UPHELD": "UPH",
    "PARTIALLY_UPHELD": "PART",
    "REFUTED": "REF",
    "UNCERTAIN": "UNC",
    "SPLIT": "SPLIT",
    "VOID": "VOID",
    "NOT_HEARD": "-",
}


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one judge says of the whole debate."""

    judge: str
    key_insight: str
    recommendation: str


@dataclass(frozen=True, slots=True)
class JuryReading:
    """The judges and how they judged. ``panel`` is empty where one judge judged once.

    Attributes:
        judges: every registered judge.
        panel: the verdict of the panel as the record keeps it.
        anonymous: whether they saw neutral names.
        opinions: of every judge that was heard.
        spreads: the judge, whether its scores look inflated, and what is said of their spread.
        agreement: each measure in a sentence.
        retests: each retest in a sentence.
    """

    judges: tuple[str, ...]
    panel: Mapping[str, Any]
    anonymous: bool
    opinions: tuple[Opinion, ...]
    spreads: tuple[tuple[str, bool, str], ...]
    agreement: tuple[str, ...]
    retests: tuple[str, ...]

    @classmethod
    def of(cls, outcome: Mapping[str, Any]) -> JuryReading:
        """The judges in the outcome of a debate; of an outcome from before there were several, the one there was."""
        opinions = tuple(
            Opinion(str(row.get("judge")), str(row.get("key_insight") or ""), str(row.get("recommendation") or ""))
            for row in objects_in(outcome.get("opinions"))
        )
        panel = outcome.get("panel")
        panel = panel if isinstance(panel, Mapping) else {}
        return cls(
            judges=tuple(map(str, panel.get("panel") or (row.judge for row in opinions))),
            panel=panel,
            anonymous=bool(outcome.get("anonymous")),
            opinions=opinions,
            spreads=tuple(
                (str(row.get("judge")), bool(row.get("findings")), str(row.get("text") or ""))
                for row in objects_in(outcome.get("score_spread"))
            ),
            agreement=tuple(str(row.get("text") or "") for row in objects_in(outcome.get("agreement"))),
            retests=tuple(str(row.get("text") or "") for row in objects_in(outcome.get("retests"))),
        )

    @property
    def several(self) -> bool:
        """Whether there is more than one judge."""
        return len(self.judges) > 1

    def rows(self) -> list[tuple[str, str, str]]:
        """Each judge of a panel: who, what it found, and what became of that when the sides changed places."""
        found = []
        for row in objects_in(self.panel.get("judges")):
            totals = row.get("totals") or {}
            points = ", ".join(f"{side} {totals[side]:.2f}" for side in sorted(totals, key=_side))
            word = str(row.get("verdict") or "not heard")
            verdict = {"tie": "a tie"}.get(word, f"for {word}" if points else word)
            after = _SWAPS.get(str(row.get("swap")), "") if row.get("heard") else str(row.get("failure") or "")
            found.append((str(row.get("judge")), f"{verdict} ({points})" if points else verdict, after))
        return found

    def sureness(self) -> list[str]:
        """How far the verdict can be trusted, in sentences."""
        sentences = [f"{row['judge']} was not heard and still counts: {row['reason']}" for row in self._failed()]
        if self.panel and self.panel.get("orders") != "both orders":
            sentences.append("the sides were shown in one order only, so an effect of the order would not be seen")
        decided = [str(judge) for judge in self.panel.get("order_decided") or ()]
        if decided:
            sentences.append(
                f"the order of the sides decided what {listed(decided)} found, which therefore counts as a tie"
            )
        weights = self.panel.get("weights")
        if isinstance(weights, Mapping):
            shares = ", ".join(f"{judge} {share:.0%}" for judge, share in weights.get("shares", {}).items())
            sentences.append(f"{weights.get('source')} weights: {shares}")
        sentences += self.agreement
        sentences += [
            f"scores of {judge} may be inflated: {text}" for judge, inflated, text in self.spreads if inflated
        ]
        calm = [text for _, inflated, text in self.spreads if not inflated]
        sentences += [f"score inflation: {text}" for text in dict.fromkeys(calm)]
        return [*sentences, *self.retests]

    def _failed(self) -> list[Mapping[str, Any]]:
        return objects_in(self.panel.get("failed"))


_SWAPS = {
    "survived": "survived the swap",
    "reversed": "the order decided",
    "lost": "won in one order only",
    "tied": "a tie in both orders",
}


def how_judged(jury: JuryReading, judged: int) -> str:
    """How often and how it was judged; ``judged`` counts the findings there are."""
    if not judged:
        return "not judged"
    names = ", the sides under neutral names" if jury.anonymous else ""
    if not jury.panel:
        return f"judged once: not judged again, the sides not swapped{names}"
    both = jury.panel.get("orders") == "both orders"
    who = f"by {counted(len(jury.judges), 'judge')}"
    how = "each with either side shown first" if both else "each once"
    again = ", and once more to be compared with itself" if jury.retests else ""
    return f"judged {who}, {how}{again}{names}"


def compact(judges: Mapping[str, str]) -> str:
    """What each judge found on one argument, in the order of the judges: ``UPH UPH REF``."""
    return " ".join(_SHORT.get(judges[judge], judges[judge][:5]) for judge in sorted(judges, key=judge_place))


def judge_place(judge: str) -> tuple[str, int]:
    """A sort key that puts ``judge`` first and ``judge_2`` before ``judge_10``."""
    stem, _, number = judge.rpartition("_")
    return (stem, int(number)) if stem and number.isdecimal() else (judge, 1)


def void_words(rows: Sequence[tuple[str, str]]) -> str:
    """How many findings are void, and why; ``rows`` are (argument, reason)."""
    if not rows:
        return ""
    # The trace gives each reason with its argument; here a few are enough.
    reasons = "; ".join(f"{argument}: {spoken(reason)}" for argument, reason in rows[:_FEW])
    reasons += f"; and {len(rows) - _FEW} more in the trace" if len(rows) > _FEW else ""
    verb = "is void and counts nowhere" if len(rows) == 1 else "are void and count nowhere"
    return f"{counted(len(rows), 'finding')} {verb} ({reasons})"


def _side(side: str) -> tuple[int, str]:
    return ({"pro": 0, "con": 1}.get(side, 2), side)
