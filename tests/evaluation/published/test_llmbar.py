"""LLMBar: 30,963 verdict pairs of six judges, each item judged in both orders, with the right answer known."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from published.recorded import content, folder, rows

from disputatio.judging.agreement import cohen_kappa
from disputatio.judging.consistency import Swap, SwapPair, report_answers, report_swaps
from disputatio.judging.dawid_skene import JudgeLabel, estimate_reliability
from disputatio.judging.votes import MAJORITY, Ballot, Silence, count_votes

pytestmark = pytest.mark.slow

SIDES = ("1", "2")
FIVE = ("GPT-4", "ChatGPT", "LLaMA2", "PaLM2", "Falcon")
GPT_INST = "LLMBar/Adversarial/GPTInst"
Configuration = tuple[str, str, str]


@pytest.fixture(scope="module")
def decisions() -> dict[Configuration, list[dict[str, str]]]:
    found: dict[Configuration, list[dict[str, str]]] = defaultdict(list)
    for row in rows(folder("llmbar") / "llmbar_decisions.csv"):
        found[row["subset"], row["evaluator"], row["strategy"]].append(row)
    return found


@pytest.fixture(scope="module")
def upstream() -> dict[Configuration, dict]:
    found = {}
    for row in content(folder("llmbar") / "all_statistics.json"):
        subset, _, rest = row["path"].partition("/evaluators/")
        evaluator, strategy, _ = rest.split("/")
        found[subset, evaluator, strategy] = row
    return found


def pairs(items: list[dict[str, str]]) -> list[SwapPair]:
    """An empty verdict is a judge whose answer could not be read: it failed."""
    return [SwapPair(SIDES, row["winner_orig"] or None, row["winner_swapped"] or None, row["gold"]) for row in items]


def test_349_configurations_match_upstream(decisions, upstream) -> None:
    """Upstream counts two unreadable answers as equal; here they are two failures, so they are added back."""
    assert len(decisions) == len(upstream) == 349
    assert sum(map(len, decisions.values())) == 30_963
    matched = 0
    for configuration, items in decisions.items():
        report, said = report_swaps(pairs(items)), upstream[configuration]
        number = len(items)
        same = report.counts[Swap.SURVIVED] + report.counts[Swap.TIED] + report.counts[Swap.FAILED]
        assert report.pairs == report.known == number
        assert report.accuracy is not None
        assert float(100 * report.accuracy) == pytest.approx(float(said["correct_average"].rstrip("%")), abs=1e-9)
        counted = {
            "correct_False": report.right_shown,
            "correct_True": report.right_swapped,
            "correct_both": report.right_both,
            "equal": same,
        }
        assert {key: said[key].split(" = ")[0] for key in counted} == {
            key: f"{count} / {number}" for key, count in counted.items()
        }
        matched += 1
    assert matched == 349


def test_kappas_are_upstreams_in_349_of_349_configurations(decisions, upstream) -> None:
    """Upstream reads every verdict but "1" as 0 and leaves the right answers 1 and 2; the same is done here."""
    for configuration, items in decisions.items():
        said = upstream[configuration]
        shown = [int(row["winner_orig"] == "1") for row in items]
        swapped = [int(row["winner_swapped"] == "1") for row in items]
        right = [int(row["gold"]) for row in items]
        for key, one, other in (
            ("kappa_False", shown, right),
            ("kappa_True", swapped, right),
            ("kappa_agreement", shown, swapped),
        ):
            assert cohen_kappa(one, other).value == pytest.approx(said[key], abs=1e-12)


def votes(decisions, column: str) -> list[tuple[str | None, str]]:
    """What a plain majority of the five finds on adversarial GPTInst, and the right answer."""
    found = []
    for group in zip(*(decisions[GPT_INST, judge, "Vanilla"] for judge in FIVE), strict=True):
        assert len({(row["item"], row["gold"]) for row in group}) == 1
        ballots = [
            Ballot.cast(judge, row[column]) if row[column] else Ballot.silent(judge, Silence.FAILED, "unreadable")
            for judge, row in zip(FIVE, group, strict=True)
        ]
        found.append((count_votes(MAJORITY, FIVE, ballots, SIDES).winner, group[0]["gold"]))
    return found


def test_a_majority_of_five_fails_where_gpt4_does_not(decisions) -> None:
    majority = report_answers(votes(decisions, "winner_orig") + votes(decisions, "winner_swapped"))
    alone = report_swaps(pairs(decisions[GPT_INST, "GPT-4", "Vanilla"])).accuracy
    assert majority.accuracy is not None
    assert alone is not None
    assert (majority.right, majority.items) == (91, 184)
    assert round(float(100 * majority.accuracy), 1) == 49.5
    assert round(float(100 * alone), 1) == 86.4
    assert alone - majority.accuracy > Fraction(1, 3)


def test_agreement_cannot_save_a_panel_with_a_shared_mistake(decisions) -> None:
    """Dawid-Skene takes agreement for truth: judges fooled alike outweigh the one that was not."""
    items = [decisions[GPT_INST, judge, "Vanilla"] for judge in FIVE]
    labels = [
        JudgeLabel(judge, f"{row['item']} {column}", row[column])
        for judge, given in zip(FIVE, items, strict=True)
        for row in given
        for column in ("winner_orig", "winner_swapped")
        if row[column]
    ]
    estimate = estimate_reliability(labels)
    assert estimate.converged
    right = {f"{row['item']} {column}": row["gold"] for row in items[0] for column in ("winner_orig", "winner_swapped")}
    found = report_answers(
        (max(chances, key=lambda name: chances[name]), right[item]) for item, chances in estimate.items.items()
    )
    alone = report_swaps(pairs(items[0])).accuracy
    assert found.accuracy is not None
    assert alone is not None
    assert (found.right, found.items) == (49, 184)
    assert found.accuracy < alone - Fraction(1, 2)
    assert estimate.skill("GPT-4") < 0
