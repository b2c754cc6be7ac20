"""1,560 debates between models with 3,608 judge rows, 796 matchups with sides swapped, 40 transcripts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from fractions import Fraction

import pytest
from published.recorded import folder, rows

from disputatio.judging.judge_scores import TIE, JudgeScores
from disputatio.judging.panel_verdict import Orders, PanelMethod
from disputatio.judging.panels import Panel
from disputatio.judging.votes import MAJORITY, Ballot, count_votes

DEAD_ZONE = Fraction("0.455")


@pytest.fixture(scope="module")
def judgments() -> list[dict[str, str]]:
    return rows(folder("lechmazur_debate") / "lech_judgments.csv")


def stated(debate: list[dict[str, str]]) -> str | None:
    """The winner that the judges of a debate state, by majority; None where they split."""
    judges = [row["judge"] for row in debate]
    ballots = [Ballot.cast(row["judge"], row["winner"]) for row in debate]
    return count_votes(MAJORITY, judges, ballots, (debate[0]["pro"], debate[0]["con"])).winner


@pytest.mark.slow
def test_1333_debates_have_a_stated_winner_and_227_are_split(judgments) -> None:
    debates: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in judgments:
        debates[row["debate_id"]].append(row)
    assert (len(judgments), len(debates)) == (3608, 1560)
    winners = [stated(debate) for debate in debates.values()]
    assert sum(winner is not None for winner in winners) == 1333
    assert winners.count(None) == 227


def scores(number: int, row: dict[str, str], key: str = "margin_pro_plus") -> JudgeScores:
    """A judge row as points: the signed margin is pro's lead."""
    order = (row["pro"], row["con"])
    return JudgeScores.from_totals(
        f"{number} {row['judge']}", order, dict(zip(order, (Fraction(row[key]), 0), strict=True))
    )


def test_every_judge_row_states_the_winner_its_margin_gives(judgments) -> None:
    """No margin is zero, and none contradicts the stated winner."""
    assert all(scores(0, row).verdict() == row["winner"] for row in judgments)


@pytest.mark.slow
@pytest.mark.parametrize(("margin", "column"), [("margin_norm", "overall_norm"), ("margin_pro_plus", "overall_raw")])
def test_all_796_matchup_results_follow_from_the_mean_margin(judgments, margin, column) -> None:
    """Each judge row of both debates counts once; a mean margin under 0.455 is a tie."""
    groups: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in judgments:
        groups[row["group"]].append(row)
    matchups = rows(folder("lechmazur_debate") / "lech_matchups.csv")
    assert len(matchups) == 796
    right = 0
    for matchup in matchups:
        given = [scores(number, row, margin) for number, row in enumerate(groups[matchup["group"]])]
        panel = Panel(
            tuple(row.judge for row in given),
            (matchup["model_a"], matchup["model_b"]),
            PanelMethod.MEAN,
            Orders.ONE,
            dead_zone=DEAD_ZONE,
        )
        verdict = panel.verdict(given)
        assert len(given) == int(matchup["judge_rows"])
        if margin == "margin_norm":
            assert verdict.gap is not None
            assert float(verdict.gap) == pytest.approx(float(matchup["recomputed_mean"]), abs=0.0051)
        right += (verdict.winner or TIE).casefold() == matchup[column].casefold()
    assert right == 796


def test_no_transcript_refers_to_a_missing_claim() -> None:
    """Every id in brackets, in the header of a turn or in its text, was given to a claim in an earlier line."""
    transcripts = sorted((folder("lechmazur_debate") / "transcripts").glob("*.md"))
    assert len(transcripts) == 40
    references = Counter[str]()
    for path in transcripts:
        text = path.read_text(encoding="utf-8")
        assert len(re.findall(r"(?m)^## Turn \d+:", text)) == 10
        made = set(re.findall(r"(?m)^\[([PC]\d+\.\d+)\]", text))
        cited = re.findall(r"\[([PC]\d+\.\d+)\]", text)
        references[path.name] = len(cited) - len(made)
        assert set(cited) <= made
    assert sum(references.values()) > 0
