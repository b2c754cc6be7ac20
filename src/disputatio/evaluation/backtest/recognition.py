"""The recognition probe: does the model that argues know which index and which month it sees?

The model guesses on each date, once on the knowledge base with names and dates and once on the blinded one; code scores
the guess. The first shows that it can read and answer at all; the second is what counts. The index that is asked for
varies by date, so always naming the best-known one earns nothing.

chance    what the same guesses score on other dates (2,000 permutations with a fixed seed). A model that always says
          October 2008 beats a blind draw if the plan has much of 2008, and has recognised nothing. Permutation
          accounts for that; a uniform draw does not
p         the share of permutations that do as well, including the observed order (Phipson and Smyth 2010,
          "Permutation p-values should never be zero")

A missing guess counts as not recognised and is counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from disputatio.config import Settings
from disputatio.engine.market_setup import knowledge_as_source
from disputatio.engine.opening import Proposal
from disputatio.evaluation.experiment import Trial, read_outcome
from disputatio.evaluation.questions.arms import is_harness
from disputatio.evaluation.statistics.intervals import ALPHA, Rate, rate, require_statistics
from disputatio.formats.single import RECOGNITION
from disputatio.kernel import JsonObject
from disputatio.market.blinding import assign_blind_keys, blind
from disputatio.market.knowledge import KnowledgeBase
from disputatio.market.sources.series_catalogue import INDICES
from disputatio.motion import Motion
from disputatio.record.history import History

_Said = TypeVar("_Said")
_Truth = TypeVar("_Truth")
NAMED, BLIND = "named", "blind"
ANOTHER = "another"
CANDIDATES = (*INDICES.values(), ANOTHER)
NEAR = 6
"""Guesses this many months off still count as near."""
DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class Probe:
    """One question: the date, what is shown, and which index. ``truth`` is its name among the candidates."""

    day: date
    arm: str
    model: str
    truth: str
    trial: Trial

    def guess_in(self, debate: str, history: History) -> Guess:
        """Read the model's guess."""
        said = read_outcome(history).get("guess")
        row = said if isinstance(said, Mapping) else {}
        month = (int(row["year"]), int(row["month"])) if row else None
        index = str(row["index"]) if row else None
        return Guess(self.day, self.arm, self.model, self.truth, index, month, debate, is_harness(history))


@dataclass(frozen=True, slots=True)
class Guess:
    """One guess and the truth; ``index`` and ``month`` (year, number) are None without a guess."""

    day: date
    arm: str
    model: str
    truth: str
    index: str | None
    month: tuple[int, int] | None
    debate: str = ""
    harness: bool = False

    @property
    def months_off(self) -> int | None:
        """How many months the guess is from the truth; None without a guess."""
        return None if self.month is None else abs(_count(self.month) - _count((self.day.year, self.day.month)))

    def as_json(self) -> JsonObject:
        """The guess and the truth."""
        month = None if self.month is None else f"{self.month[0]}-{self.month[1]:02}"
        return {
            "day": self.day.isoformat(),
            "shown": self.arm,
            "model": self.model,
            "asked_index": self.truth,
            "said_index": self.index,
            "said_month": month,
            "months_off": self.months_off,
            "record": self.debate,
        }


def _count(month: tuple[int, int]) -> int:
    return 12 * month[0] + month[1]


def make_probes(
    bases: Mapping[date, KnowledgeBase],
    settings: Mapping[str, Settings],
    years: tuple[int, int],
    *,
    seed: int = 0,
    prompts: Path | None = None,
) -> tuple[Probe, ...]:
    """Make the questions: for each date and model, on the named base and on the blinded one.

    Args:
        bases: with names, by decision date.
        settings: of the format ``recognition``, by model.
        years: the first and the last year offered; those of the plan, which the model may know.
        seed: decides which index is asked for.
        prompts: a folder of overrides.
    """
    found = []
    for day, base in bases.items():
        key = _asked(base, f"{seed}/{day}")
        name = base.indices[key].name
        truth = name if name in CANDIDATES else ANOTHER
        hidden = blind(base)
        for model, chosen in settings.items():
            for arm, seen, called in ((NAMED, base, key), (BLIND, hidden, assign_blind_keys(base)[key])):
                rules = {"asked": called, "indices": CANDIDATES, "first_year": years[0], "last_year": years[1]}
                own = replace(chosen, rules={**chosen.rules, **rules})  # type: ignore[dict-item]
                motion = Motion(f"Which index is {called}, and in which month do the figures stand?", chosen.language)
                proposal = Proposal(motion, RECOGNITION, own, (knowledge_as_source(seen),), prompts=prompts)
                found.append(Probe(day, arm, model, truth, Trial(f"{arm}/{day}/{model}", proposal)))
    return tuple(found)


def _asked(base: KnowledgeBase, salt: str) -> str:
    """Choose one of the indices whose price is known."""
    known = [key for key, row in base.indices.items() if row.price.is_known] or [base.meta.subject]
    return min(known, key=lambda key: sha256(f"{salt}/{key}".encode()).digest())


@dataclass(frozen=True, slots=True)
class Hits:
    """How often something was recognised, and how often by chance.

    ``chance`` is the mean over permutations, ``p`` the probability of doing as well by chance; None with fewer than two
    guesses.
    """

    share: Rate
    chance: float | None
    p: float | None

    @property
    def beyond_chance(self) -> bool:
        """Whether chance is ruled out at 0.05."""
        return self.p is not None and self.p <= ALPHA

    def as_json(self) -> JsonObject:
        """Counts, interval, chance and p."""
        chance, p = self.chance, self.p
        return {
            **self.share.as_json(),
            "chance": None if chance is None else round(chance, 6),
            "p": None if p is None else round(p, 6),
        }


@dataclass(frozen=True, slots=True)
class RecognitionScores:
    """What one model recognised in one arm; ``uniform`` is the chance of a random month."""

    model: str
    arm: str
    exact: Hits
    near: Hits
    index: Hits
    silent: int
    uniform: tuple[float, float]

    def as_json(self) -> JsonObject:
        """All of it."""
        return {
            "model": self.model,
            "shown": self.arm,
            "month_exactly": self.exact.as_json(),
            f"month_within_{NEAR}": self.near.as_json(),
            "index_named": self.index.as_json(),
            "no_guess": self.silent,
            "uniform_draw": {"month_exactly": round(self.uniform[0], 6), f"within_{NEAR}": round(self.uniform[1], 6)},
        }

    def lines(self) -> list[str]:
        """The scores as text."""
        rows = (("month exactly", self.exact), (f"within {NEAR} months", self.near), ("index named", self.index))
        head = f"  {self.model}, {'without names and dates' if self.arm == BLIND else 'with names and dates'}"
        head += f" ({self.silent} without a guess)" if self.silent else ""
        return [head, *(f"    {word:16}{_told(row)}" for word, row in rows)]


def _told(row: Hits) -> str:
    chance = "" if row.chance is None or row.p is None else f"   by chance {row.chance:.2f}, p {row.p:.3f}"
    return f"{row.share.text()}{chance}"


@dataclass(frozen=True, slots=True)
class RecognitionReport:
    """The whole probe."""

    scores: tuple[RecognitionScores, ...]
    guesses: tuple[Guess, ...]

    @property
    def harness(self) -> bool:
        """Whether a script or a server that answers any schema guessed."""
        return any(row.harness for row in self.guesses)

    def verdicts(self) -> list[str]:
        """One sentence for each model."""
        found = []
        for model in dict.fromkeys(row.model for row in self.scores):
            rows = {row.arm: row for row in self.scores if row.model == model}
            named, hidden = rows[NAMED], rows[BLIND]
            size = hidden.near.share.of
            if any(row.beyond_chance for row in (hidden.exact, hidden.near, hidden.index)):
                says = "recognises blinded figures beyond chance: its blind arm may rest on memory"
            elif (named.near.share.value or 0) < 0.5:
                says = "cannot name the month even where it is written: the probe says nothing about its memory"
            else:
                says = f"did not demonstrably recognise blinded figures ({size} dates), which proves nothing"
            found.append(f"{model} {says}.")
        return found

    def lines(self) -> list[str]:
        """The probe as text."""
        return [
            "Recognition probe: which index, which month is this?",
            *(line for row in self.scores for line in row.lines()),
            *(f"  {row}" for row in self.verdicts()),
        ]

    def as_json(self) -> JsonObject:
        """Scores, verdicts and every guess."""
        return {
            "within_months": NEAR,
            "candidates": list(CANDIDATES),
            "scores": [row.as_json() for row in self.scores],
            "verdicts": self.verdicts(),
            "guesses": [row.as_json() for row in self.guesses],
        }


def make_recognition_report(guesses: Sequence[Guess], years: tuple[int, int], seed: int = 0) -> RecognitionReport:
    """Score ``guesses`` for each model and arm; ``years`` are those offered."""
    groups: dict[tuple[str, str], list[Guess]] = {}
    for row in guesses:
        groups.setdefault((row.model, row.arm), []).append(row)
    scores = tuple(_scores(model, arm, rows, years, seed) for (model, arm), rows in groups.items())
    return RecognitionReport(scores, tuple(guesses))


def _scores(model: str, arm: str, rows: Sequence[Guess], years: tuple[int, int], seed: int) -> RecognitionScores:
    truths = [_count((row.day.year, row.day.month)) for row in rows]
    said = [None if row.month is None else _count(row.month) for row in rows]
    first, last = _count((years[0], 1)), _count((years[1], 12))
    offered = last - first + 1
    near = [max(0, min(last, month + NEAR) - max(first, month - NEAR) + 1) / offered for month in truths]

    def exactly(one: int | None, truth: int) -> bool:
        return one == truth

    def nearly(one: int | None, truth: int) -> bool:
        return one is not None and abs(one - truth) <= NEAR

    return RecognitionScores(
        model,
        arm,
        count_recognised(said, truths, exactly, seed),
        count_recognised(said, truths, nearly, seed),
        count_recognised(
            [row.index for row in rows], [row.truth for row in rows], lambda one, truth: one == truth, seed
        ),
        sum(row.month is None for row in rows),
        (1 / offered, sum(near) / len(near)),
    )


def count_recognised(
    said: Sequence[_Said], truths: Sequence[_Truth], fits: Callable[[_Said, _Truth], bool], seed: int = 0
) -> Hits:
    """Count how many of ``said`` fit their truth, compared with the same answers on other dates."""
    size = len(said)
    table = [[fits(one, truth) for truth in truths] for one in said]
    seen = sum(table[place][place] for place in range(size))
    if size < 2:
        return Hits(rate(seen, size), None, None)
    with require_statistics():
        import numpy as np
    chance, grid, places = np.random.default_rng(seed), np.asarray(table), np.arange(size)
    drawn = np.asarray([int(grid[places, chance.permutation(size)].sum()) for _ in range(DRAWS)])
    return Hits(rate(seen, size), float(drawn.mean()) / size, (1 + int((drawn >= seen).sum())) / (1 + DRAWS))
