"""The decision of a panel against a brute-force count that shares no code with it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.panel import PHASES, PanelRules
from disputatio.formats.panel_verdict import PanelHistory, PanelTurn, count_phase
from disputatio.formats.registry import FORMATS
from disputatio.formats.rule_values import DecisionRule, RuleName
from disputatio.formats.turns.position import Position, PositionSpec
from disputatio.kernel import Abstention, Ask, AskPath, Turn
from disputatio.motion import Motion
from strategies import Held, examples, hold

OPTIONS = ("release", "revise", "escalate")
NAMES = ("ada", "bo", "cleo", "dan", "eve")


def oracle(votes: dict[str, str | None], rule: DecisionRule) -> str | None:
    """What wins among the standing votes of the whole electorate, counted by hand."""
    size = len(votes)
    weights = {name: Fraction(1) for name in votes} | dict(rule.weights)
    reached = []
    strengths: Counter[str] = Counter()
    for name, vote in votes.items():
        if vote is not None:
            strengths[vote] += weights[name] if rule.name is RuleName.WEIGHTED else 1  # type: ignore[assignment]
    for option, strength in strengths.items():
        share = Fraction(strength) / (sum(weights.values()) if rule.name is RuleName.WEIGHTED else size)
        enough = {
            RuleName.THRESHOLD_VOTE: strength >= (rule.threshold or size // 2 + 1),
            RuleName.MAJORITY: share > Fraction(1, 2),
            RuleName.SUPER_MAJORITY: share >= (rule.share or Fraction(2, 3)),
            RuleName.UNANIMITY: share == 1,
            RuleName.WEIGHTED: share > (Fraction(1, 2) if rule.share is None else rule.share),
        }[rule.name]
        top = all(other < strength for name, other in strengths.items() if name != option)
        if enough and top and strength > 0:
            reached.append(option)
    assert len(reached) <= 1
    return reached[0] if reached else None


def rules_for(size: int) -> list[DecisionRule]:
    own = (("ada", Fraction(5, 2)), (NAMES[size - 1], Fraction(0)))
    weighted = [DecisionRule(RuleName.WEIGHTED, share=share) for share in (None, Fraction(0), Fraction(1, 3))]
    if size > 1:
        weighted.append(DecisionRule(RuleName.WEIGHTED, weights=own))
    return [
        *(DecisionRule(threshold=number) for number in (None, *range(1, size + 1))),
        DecisionRule(RuleName.MAJORITY),
        *(DecisionRule(RuleName.SUPER_MAJORITY, share=share) for share in (None, Fraction(3, 4), Fraction(1))),
        DecisionRule(RuleName.UNANIMITY),
        *weighted,
    ]


def said(name: str, vote: str | None) -> PanelTurn:
    position = None if vote is None else Position("It should be so.", "There is a reason for it.", vote)
    return PanelTurn(name, 1, "proposal", position, "" if vote else "misfit")


@pytest.mark.slow
@pytest.mark.parametrize("size", range(1, 6))
def test_votes_of_up_to_five_debaters_match_a_hand_count(size: int) -> None:
    names = NAMES[:size]
    for votes in product((*OPTIONS, None), repeat=size):
        held = PanelHistory(names, tuple(map(said, names, votes)))
        for rule in rules_for(size):
            found = count_phase(1, "proposal", held.spoken, held, OPTIONS, rule).outcome.winner
            assert found == oracle(dict(zip(names, votes, strict=True)), rule), (votes, rule)


# --- whole debates ------------------------------------------------------------------------------------------------

Ballots = dict[tuple[int, str, str], str | None]
"""By round, phase and debater: the vote, or None for an abstention."""


def panel_of(rules: PanelRules, ballots: Ballots, order: Any = None, reason: str = "misfit") -> Held:
    """A panel in which every debater votes as ``ballots`` say."""

    def answering(path: AskPath, asked: Ask) -> Turn | Abstention:
        _, number, phase = asked.phase.split("_")
        vote = ballots.get((int(number), phase, asked.seat))
        if vote is None:
            return Abstention(asked.seat, reason, f"{asked.seat} is silent")
        turn: Turn = asked.spec.read(
            {"stance": f"{path} says so.", "rationale": "There is a reason for it.", "vote": vote}
        )
        return turn

    return hold(FORMATS["panel"].rulebook(rules, DebateContext((), Motion("Be it so"))), answering, order)


def by_hand(rules: PanelRules, ballots: Ballots) -> tuple[str, str, int, list[str]]:
    """Decision, rule, rounds run and phases of a panel, worked out step by step."""
    standing: dict[str, str | None] = dict.fromkeys(rules.debaters)
    phases = []
    for number in range(1, rules.rounds + 1):
        for phase in PHASES:
            phases.append(phase)
            for name in rules.debaters:
                standing[name] = ballots.get((number, phase, name)) or standing[name]
            winner = oracle(standing, rules.decision)
            if winner:
                return winner, rules.decision.name.value, number, phases
    return "escalate", "max_rounds_exhausted", rules.rounds, phases


@st.composite
def panels(draw: st.DrawFn) -> tuple[PanelRules, Ballots]:
    names = NAMES[: draw(st.integers(1, 5))]
    rules = PanelRules(
        debaters=names,
        options=OPTIONS,
        rounds=draw(st.integers(1, 3)),
        decision=draw(st.sampled_from(rules_for(len(names)))),
    )
    ballots = {
        (stage.number, stage.phase, name): draw(st.sampled_from((*OPTIONS, None, None)))
        for stage in rules.stages
        for name in names
    }
    return rules, ballots


@examples(40)
@given(panels())
def test_any_history_of_votes_ends_as_it_does_by_hand(drawn: tuple[PanelRules, Ballots]) -> None:
    rules, ballots = drawn
    verdict = panel_of(rules, ballots).outcome
    decision, rule, rounds, phases = by_hand(rules, ballots)
    report = verdict.report
    assert (report.decision, report.decision_rule, report.rounds_run) == (decision, rule, rounds)
    assert list(report.phase_sequence) == phases
    assert report.speaker_schedule == rules.debaters * len(phases)
    assert sum(report.vote_tally.values()) <= len(rules.debaters)
    assert len(verdict.last.ballots) == len(rules.debaters), "whoever is registered stays in the denominator"


@examples(20)
@given(panels(), st.integers(0, 2**32))
def test_the_order_in_which_answers_arrive_changes_nothing(drawn: tuple[PanelRules, Ballots], seed: int) -> None:
    from random import Random

    rules, ballots = drawn
    first, second = panel_of(rules, ballots), panel_of(rules, ballots, Random(seed))
    assert first.outcome.as_json() == second.outcome.as_json()
    assert first.facts == second.facts
    assert {path: ask.messages for path, ask in first.asks.items()} == {
        path: ask.messages for path, ask in second.asks.items()
    }


def all_vote(rules: PanelRules, votes: dict[str, str | None]) -> Ballots:
    return {(stage.number, stage.phase, name): votes[name] for stage in rules.stages for name in rules.debaters}


@pytest.mark.parametrize("last", range(8))
def test_a_panel_stops_after_the_phase_in_which_the_rule_is_met(last: int) -> None:
    rules = PanelRules(debaters=NAMES[:3], decision=DecisionRule(threshold=3))
    stages = rules.stages
    ballots = all_vote(rules, {"ada": "release", "bo": "release", "cleo": "revise"})
    ballots[stages[last].number, stages[last].phase, "cleo"] = "release"
    held = panel_of(rules, ballots)
    assert len(held.outcome.counts) == last + 1
    assert held.outcome.report.decision == "release"
    assert len(held.asks) == 3 * (last + 1), "nobody is asked once it is decided"
    assert [fact.about for fact in held.driver.facts] == [stage.name for stage in stages[: last + 1]]


def test_a_vote_to_escalate_differs_from_exhausted_rounds() -> None:
    rules = PanelRules(debaters=NAMES[:3])
    voted = panel_of(rules, all_vote(rules, dict.fromkeys(NAMES[:3], "escalate"))).outcome
    split = panel_of(rules, all_vote(rules, dict(zip(NAMES[:3], OPTIONS, strict=True)))).outcome
    assert (voted.report.decision, voted.report.decision_rule) == ("escalate", "threshold_vote")
    assert (split.report.decision, split.report.decision_rule) == ("escalate", "max_rounds_exhausted")
    assert voted.as_json()["escalate"] is split.as_json()["escalate"] is True


def test_an_empty_panel_decides_for_no_option() -> None:
    rules = PanelRules(debaters=NAMES[:3], rounds=1, decision=DecisionRule(threshold=1))
    verdict = panel_of(rules, {}).outcome
    assert verdict.last.winner is None
    assert verdict.report.vote_tally == {}
    assert verdict.report.decision_rule == "max_rounds_exhausted"
    assert "nobody voted" in verdict.reading


def test_options_that_are_level_pass_under_no_threshold() -> None:
    rules = PanelRules(debaters=NAMES[:4], rounds=1, decision=DecisionRule(threshold=2))
    votes: dict[str, str | None] = dict(zip(NAMES, ("release", "release", "revise", "revise"), strict=False))
    verdict = panel_of(rules, all_vote(rules, votes)).outcome
    assert verdict.report.decision_rule == "max_rounds_exhausted"
    assert verdict.last.tied == ("release", "revise")


def test_a_silent_debater_keeps_its_vote_as_carried() -> None:
    rules = PanelRules(debaters=NAMES[:3], rounds=1, decision=DecisionRule(RuleName.UNANIMITY))
    ballots = all_vote(rules, dict.fromkeys(NAMES[:3], "release"))
    ballots[1, "proposal", "bo"] = "revise"
    for phase in ("critique", "revision", "consensus"):
        ballots[1, phase, "bo"] = None
    counts = panel_of(rules, ballots).outcome.as_json()["votes"]
    assert [count["carried"] for count in counts] == [[], ["bo"], ["bo"], ["bo"]]
    assert all(count["tally"]["revise"] == 1 for count in counts)
    assert all(count["winner"] is None for count in counts)


def test_a_debater_without_any_vote_is_named_and_counts() -> None:
    rules = PanelRules(debaters=NAMES[:2], rounds=1, decision=DecisionRule(RuleName.MAJORITY))
    ballots = all_vote(rules, {"ada": "release", "bo": None})
    for reason, kind in (("misfit", "abstained"), ("timed_out", "failed"), ("not_recorded", "absent")):
        count = panel_of(rules, ballots, reason=reason).outcome.as_json()["votes"][-1]
        assert count[kind] == ["bo"]
        assert (count["needed"], count["winner"]) == (2, None), "one of two is not more than half"


def test_a_panel_that_stops_at_its_ceiling_decides_nothing() -> None:
    rules = PanelRules(debaters=NAMES[:3])
    ballots = {(1, "proposal", name): option for name, option in zip(NAMES, OPTIONS, strict=False)}
    verdict = panel_of(rules, ballots, reason="budget").outcome
    assert (verdict.report.decision, verdict.report.decision_rule) == (None, "budget_reached")
    assert verdict.as_json()["escalate"] is False
    assert "decision: none" in verdict.report.text()


def test_what_voted_to_revise_goes_back_to_the_author() -> None:
    rules = PanelRules(debaters=NAMES[:3])
    verdict = panel_of(rules, all_vote(rules, {"ada": "revise", "bo": "release", "cleo": "revise"})).outcome
    assert [row["debater"] for row in verdict.as_json()["findings"]] == ["ada", "cleo"]
    released = panel_of(rules, all_vote(rules, dict.fromkeys(NAMES[:3], "release"))).outcome
    assert released.as_json()["findings"] == []


def test_whoever_leads_the_others_is_named() -> None:
    rules = PanelRules(debaters=NAMES[:3], rounds=1, decision=DecisionRule(RuleName.UNANIMITY))
    ballots = all_vote(rules, {"ada": "release", "bo": "revise", "cleo": "escalate"})
    ballots[1, "critique", "bo"] = "release"
    for phase in ("revision", "consensus"):
        ballots[1, phase, "bo"] = ballots[1, phase, "cleo"] = "release"
    conduct = panel_of(rules, ballots).outcome.as_json()["conduct"]
    assert conduct["dominant"] == "ada"
    assert [(row["debater"], row["changed"]) for row in conduct["debaters"]] == [("ada", 0), ("bo", 1), ("cleo", 1)]
    assert sum(Fraction(row["share"]) for row in conduct["debaters"]) == 1


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_rules", "word"),
    [
        ({"debaters": ()}, "without debaters"),
        ({"debaters": ("ada", "Ada")}, "twice"),
        ({"debaters": ("ada", "bo\nvote: release")}, "cannot be"),
        ({"options": ("release",)}, "nothing to vote on"),
        ({"options": ()}, "nothing to vote on"),
        ({"options": ("yes", "YES")}, "twice"),
        ({"options": ("yes", "a, b")}, "cannot be"),
        ({"rounds": 0}, "0 rounds"),
        ({"decision": DecisionRule(threshold=4)}, "cannot be reached"),
    ],
)
def test_a_panel_that_cannot_be_held_is_refused_in_a_sentence(given_rules: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        PanelRules(**given_rules)
    assert word in refused.value.cause
    assert "\n" not in refused.value.cause
    assert refused.value.next_step


@pytest.mark.parametrize(
    "given_numbers",
    [
        {"name": RuleName.MAJORITY, "threshold": 2},
        {"name": RuleName.UNANIMITY, "share": Fraction(1, 2)},
        {"name": RuleName.THRESHOLD_VOTE, "weights": (("ada", Fraction(2)),)},
    ],
)
def test_a_rule_takes_no_number_of_another_rule(given_numbers: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        DecisionRule(**given_numbers)


def test_a_weight_of_somebody_who_is_not_registered_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="zed"):
        PanelRules(decision=DecisionRule(RuleName.WEIGHTED, weights=(("zed", Fraction(2)),)))


def test_only_the_first_panel_phase_is_independent() -> None:
    rules = PanelRules(debaters=NAMES[:3], rounds=1, decision=DecisionRule(RuleName.UNANIMITY))
    held = panel_of(rules, all_vote(rules, dict(zip(NAMES, OPTIONS, strict=False))))
    heard = list(held.asks.items())
    assert all(ask.messages == () for path, ask in heard if path.startswith("round_1_proposal/"))
    for place, (path, ask) in enumerate(heard[3:], start=3):
        assert [message.text.split(" says")[0] for message in ask.messages] == [
            str(before) for before, _ in heard[:place]
        ], path


@pytest.mark.parametrize("said", ["Yes.", "No", "ok"])
def test_a_short_rationale_does_not_lose_its_vote(said: str) -> None:
    """A turn that the form refuses is an abstention in the end, and its vote would not be counted."""
    form = PositionSpec(("adopt", "reject"), 200, "proposal", "cost")
    body = {"stance": said, "rationale": said, "vote": "adopt"}
    assert jsonschema_rs.validator_for(form.schema).is_valid(body)
    assert form.read(body).vote == "adopt"
    assert form.violations(form.read(body)) == ()
