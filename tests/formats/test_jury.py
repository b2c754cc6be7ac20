"""Several judges, both orders, neutral names, retests and findings that rest on nothing: what a debate makes of them.

Totals, tallies and the survival of a swap are worked out here a second time, from the raw contents of the findings.
"""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from random import Random
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.jury import JuryRules
from disputatio.formats.registry import FORMATS
from disputatio.formats.ruleset import rules_from_json, rules_json
from disputatio.judging.panel_verdict import PanelMethod
from disputatio.kernel import Abstention, Ask, AskPath, Seat, Turn
from disputatio.motion import Motion
from disputatio.record.text import canonical, read_json
from strategies import Answers, Held, answers, examples, hold, orders

pytestmark = pytest.mark.slow

FORM = FORMATS["structured"]
WEIGHTS = {"logic": 30, "evidence": 30, "responsiveness": 25, "honesty": 15}
JUDGES = ("judge", "judge_2", "judge_3")


def context(judges: int) -> DebateContext:
    return DebateContext((Seat("pro"), Seat("con"), *map(Seat, JUDGES[:judges])), Motion("Be it so"))


def held_by(judges: int, bench: JuryRules, answering: Any, order: Random | None = None) -> Held:
    rules = FORM.rules(minimum_arguments=2, maximum_arguments=3, bench=bench)
    return hold(FORM.rulebook(rules, context(judges)), answering, order)


benches = st.builds(
    JuryRules,
    both_orders=st.booleans(),
    anonymous=st.booleans(),
    retest=st.booleans(),
    method=st.sampled_from([PanelMethod.MEAN, PanelMethod.MEDIAN, PanelMethod.MAJORITY]),
    dead_zone=st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(3)]),
)


def sessions(bench: JuryRules) -> list[str]:
    """The names of the sittings by the rules: the first order, the other, the retest."""
    hidden = bench.both_orders or bench.anonymous
    first = "pro-first" if hidden else ""
    names = [first]
    names += ["con-first"] if bench.both_orders else []
    names += ["-".join(filter(None, (first, "again")))] if bench.retest else []
    return names


def path_of(session: str, judge: str) -> AskPath:
    return AskPath("/".join(filter(None, ("judging", session, judge))))


@examples(15)
@given(st.integers(1, 3), benches, answers())
def test_every_judge_has_every_session_and_no_other(judges: int, bench: JuryRules, said: Answers) -> None:
    held = held_by(judges, bench, said)
    judged = {path for path in held.asks if path.startswith("judging/")}
    expected = {path_of(session, judge) for session in sessions(bench) for judge in JUDGES[:judges]}
    assert judged == (expected if held.outcome.trace else set())


@examples(12)
@given(st.integers(1, 3), benches, answers(), orders)
def test_answer_order_changes_nothing_and_json_round_trips(
    judges: int, bench: JuryRules, said: Answers, order: Random
) -> None:
    body: Any = held_by(judges, bench, said).outcome.as_json()
    assert held_by(judges, bench, said, order).outcome.as_json() == body
    assert read_json(canonical(body)) == body


def totals_of(said: Answers, held: Held, session: str, judge: str) -> dict[str, Fraction] | None:
    """The totals of a finding by its raw content; None where the judge abstained."""
    path = path_of(session, judge)
    content: Any = said.content(path, held.asks[path])
    if content is None:
        return None
    first = "con" if session.startswith("con") else "pro"
    names = {"PRO": "pro", "CON": "con", "A": first, "B": "con" if first == "pro" else "pro"}
    rows: dict[str, list[Fraction]] = {"pro": [], "con": []}
    for argument, row in content["arguments"].items():
        rows[names[argument.partition("-")[0]]].append(Fraction(sum(w * row[key] for key, w in WEIGHTS.items()), 100))
    return (
        {side: sum(points, Fraction(0)) / len(points) for side, points in rows.items()} if all(rows.values()) else None
    )


@examples(25)
@given(st.integers(1, 3), benches, st.integers(0, 10**6), st.sampled_from([(), ("judge",), ("judge_2",), ("judge_3",)]))
def test_the_panel_verdict_follows_from_the_raw_findings(
    judges: int, bench: JuryRules, seed: int, mute: tuple[str, ...]
) -> None:
    silent = tuple(path_of(session, judge) for session in sessions(bench) for judge in mute)
    said = Answers(str(seed), silent=silent)
    held = held_by(judges, bench, said)
    panel = held.outcome.bench.panel
    if judges == 1 and len(sessions(bench)) == 1:
        assert panel is None
        return
    counted = [name for name in sessions(bench) if "again" not in name]
    found = [[totals_of(said, held, session, judge) for session in counted] for judge in JUDGES[:judges]]
    heard = [[row["pro"] - row["con"] for row in rows if row] for rows in found if all(rows)]
    assert len(panel.heard) == len(heard)
    assert len(panel.findings) == judges, "a judge that failed stays in the denominator"
    if 2 * len(heard) <= judges:
        assert panel.status == "undecided"
        assert panel.winner is None
        return

    def leader(gap: Fraction) -> str:
        return "tie" if gap == 0 or abs(gap) < bench.dead_zone else "pro" if gap > 0 else "con"

    if bench.method is PanelMethod.MAJORITY:
        votes = ["tie" if len(set(map(leader, gaps))) > 1 else leader(gaps[0]) for gaps in heard]
        winner = next((side for side in ("pro", "con") if 2 * votes.count(side) > judges), "tie")
    else:
        middle = median if bench.method is PanelMethod.MEDIAN else lambda gaps: sum(gaps, Fraction(0)) / len(gaps)
        by_order = {leader(Fraction(middle([gaps[place] for gaps in heard]))) for place in range(len(counted))}
        winner = by_order.pop() if len(by_order) == 1 else "tie"
    assert (panel.winner or "tie") == winner
    assert panel.status == ("tied" if winner == "tie" else "won")
    lead = held.outcome.gap
    won = f"{winner} is narrowly ahead by" if lead is not None and abs(lead) < 1 else f"{winner} wins by"
    assert held.outcome.reading.startswith("a tie by" if winner == "tie" else won)


def spoken_of(asked: Ask) -> str:
    spec: Any = asked.spec
    return "\n".join([*(f"{row.seat}\n{row.text}" for row in asked.messages), *(row.text() for row in spec.exhibits)])


@examples(12)
@given(st.integers(1, 2), benches, answers(st.just(0.0)))
def test_neutral_names_hide_sides_from_the_judge_only(judges: int, bench: JuryRules, said: Answers) -> None:
    held = held_by(judges, bench, said)
    arguments = [row.argument for row in held.outcome.trace]
    for path, asked in held.asks.items():
        if not path.startswith("judging/"):
            continue
        spec: Any = asked.spec
        shown = [row.argument.id for row in spec.exhibits]
        words = spoken_of(asked)
        if not (bench.both_orders or bench.anonymous):
            assert shown == arguments
            continue
        assert not re.search(r"\b(?:PRO|CON)\b", words)
        heard = [(row.phase, row.seat) for row in asked.messages]
        phases = dict.fromkeys(phase for phase, _ in heard)
        assert heard == [(phase, side) for phase in phases for side in ("Side A", "Side B")], (
            "in every phase A is first"
        )
        assert shown == sorted(shown, key=lambda name: (name[0], int(name[2:])))
        first = [row for row in held.outcome.trace if row.side == path.split("/")[1][:3]]
        claims = [row.argument.claim for row in spec.exhibits if row.argument.id.startswith("A-")]
        assert claims == [row.claim for row in first], "the side shown first is Side A"
    for ruling in held.outcome.bench.rulings:
        named = [row.argument for row in ruling.adjudication.judgements]
        assert sorted(named) == sorted(arguments)
        grounds = [name for row in ruling.adjudication.judgements for name in row.grounds.named]
        assert all(re.fullmatch(r"(?:(?:PRO|CON) on )?(?:PRO|CON)-\d(?:\.[QA]\d|\.closing)?", name) for name in grounds)


def leaning_to_the_first(path: AskPath, asked: Ask, content: Any) -> Any:
    """A judge that gives 9 to whatever is shown first and 3 to the rest."""
    exhibits: Any = asked.spec.exhibits  # type: ignore[attr-defined]
    first = exhibits[0].argument.id.partition("-")[0]
    for argument, row in content["arguments"].items():
        row.update(dict.fromkeys(WEIGHTS, 9 if argument.startswith(f"{first}-") else 3))
    return content


def answering_with(change: Any, seed: str = "s") -> Any:
    said = Answers(seed)

    def answering(path: AskPath, asked: Ask) -> Turn | Abstention:
        content: Any = said.content(path, asked)
        if asked.spec.name == "adjudication":
            content = change(path, asked, content)
        turn: Turn = asked.spec.read(content)
        return turn

    return answering


@pytest.mark.parametrize("method", list(PanelMethod)[:3])
@pytest.mark.parametrize("judges", [1, 2, 3])
def test_a_bias_to_the_first_side_wins_nothing_in_both_orders(judges: int, method: PanelMethod) -> None:
    once = held_by(judges, JuryRules(method=method), answering_with(leaning_to_the_first)).outcome
    assert once.gap == 6
    assert (once.bench.panel is None) == (judges == 1)
    assert once.reading.startswith("pro wins by" if judges > 1 else "a significant difference for pro")
    both = held_by(judges, JuryRules(both_orders=True, method=method), answering_with(leaning_to_the_first)).outcome
    panel = both.bench.panel
    assert (panel.status, panel.winner, panel.gap) == ("tied", None, 0)
    assert panel.order_decided == JUDGES[:judges]
    assert "no win survived the swap" in both.reading
    assert [row.first_shown_gains for row in panel.findings] == [6] * judges


def test_an_honest_win_survives_the_swap_and_is_reported() -> None:
    def for_con(path: AskPath, asked: Ask, content: Any) -> Any:
        con = "A-" if "con-first" in path else "B-"
        for argument, row in content["arguments"].items():
            row.update(dict.fromkeys(WEIGHTS, 8 if argument.startswith(con) else 6))
        return content

    outcome = held_by(3, JuryRules(both_orders=True), answering_with(for_con)).outcome
    assert outcome.reading == (
        "con wins by the mean of 3 judges (3 for con): the win survived the swap of the sides; an edge (gap 2.00)"
    )
    assert outcome.bench.panel.order_decided == ()


def test_a_retest_is_compared_and_counts_for_nothing() -> None:
    def kinder_again(path: AskPath, asked: Ask, content: Any) -> Any:
        for argument, row in content["arguments"].items():
            row.update(dict.fromkeys(WEIGHTS, 9 if "again" in path and argument.startswith("PRO") else 5))
        return content

    outcome = held_by(2, JuryRules(retest=True), answering_with(kinder_again)).outcome
    assert outcome.gap == 0
    assert [row.judge for row in outcome.bench.retests] == ["judge", "judge_2"]
    assert {row.gap_change for row in outcome.bench.retests} == {4}
    assert {spread.scores for _, spread in outcome.bench.spreads} == {4 * len(outcome.trace)}
    assert {score for row in outcome.trace for score in row.scores.values()} == {5}
    assert all("tie first, then pro" in row.text() for row in outcome.bench.retests)


@given(benches, st.lists(st.tuples(st.sampled_from(JUDGES), st.fractions(0, 5)), unique_by=lambda row: row[0]))
def test_jury_rules_round_trip_through_the_record(bench: JuryRules, weights: list[tuple[str, Fraction]]) -> None:
    rules = FORM.rules(bench=JuryRules(bench.both_orders, bench.anonymous, bench.retest, bench.method, tuple(weights)))
    again: Any = read_json(canonical(rules_json(rules)))
    assert dict(rules_from_json(FORM, again).bench.weights) == dict(weights)
    assert rules_from_json(FORM, rules_json(FORM.rules(bench=bench))) == FORM.rules(bench=bench)


# --- findings that rest on nothing -------------------------------------------------------------------------------


def grounded_on(argument: str, *names: str, reason: str | None = None) -> Any:
    def change(_path: AskPath, _asked: Ask, content: Any) -> Any:
        for row in content["arguments"].values():
            row.update(dict.fromkeys(WEIGHTS, 6), reason="The answer met the question.")
        content["arguments"][argument].update(rests_on=list(names), **dict.fromkeys(WEIGHTS, 10))
        if reason:
            content["arguments"][argument]["reason"] = reason
        return content

    return change


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ((), None),
        (("PRO-9",), None),
        (("PRO-1", "PRO-9"), None),
        (("PRO-2",), None),
        (("CON on PRO-2",), None),
        (("PRO-1.Q7",), None),
        (("the whole debate",), None),
        (("PRO-1",), "Decided by CON-8 alone."),
        (("PRO-1",), "The answer PRO-1.A9 settles it."),
    ],
)
def test_a_finding_without_real_grounds_is_void(names: tuple[str, ...], reason: str | None) -> None:
    outcome = held_by(1, JuryRules(), answering_with(grounded_on("PRO-1", *names, reason=reason))).outcome
    (void,) = [row for row in outcome.trace if row.found.result == "VOID"]
    assert void.argument == "PRO-1"
    assert void.found.void
    assert (void.score, void.scores, void.judged, void.differs) == (None, None, None, False)
    assert outcome.pro_total == 6, "the ten points of a void finding are in no mean"
    body: Any = outcome.as_json()
    (row,) = [row for row in body["trace"] if row["id"] == "PRO-1"]
    assert (row["found"], row["weighted"], row["criteria"]) == ("VOID", None, None)
    assert row["findings"][0]["void"] == void.found.void


@pytest.mark.parametrize(
    "names",
    [
        ("PRO-1",),
        ("CON on PRO-1",),
        ("PRO-1.Q1",),
        ("PRO-1.A1",),
        ("PRO-1.closing",),
        ("PRO-1", "PRO-1", "CON on PRO-1", "PRO-2"),
    ],
)
def test_a_finding_may_rest_on_anything_said_about_it(names: tuple[str, ...]) -> None:
    reason = "PRO-1.A1 meets CON-1, and nothing answers PRO-1.Q1 better; see PRO-2."
    outcome = held_by(1, JuryRules(), answering_with(grounded_on("PRO-1", *names, reason=reason))).outcome
    (row,) = [row for row in outcome.trace if row.argument == "PRO-1"]
    assert row.found.void == ""
    assert row.score == 10
    assert outcome.as_json()["trace"][0]["findings"][0]["rests_on"] == [
        name for name in dict.fromkeys(names) if name != "PRO-2"
    ]


def test_an_argument_void_in_one_order_is_left_out_of_both() -> None:
    def change(path: AskPath, _asked: Ask, content: Any) -> Any:
        for argument, row in content["arguments"].items():
            row.update(dict.fromkeys(WEIGHTS, 10 if argument.endswith("-1") else 4), reason="The answer met it.")
        if "con-first" in path:
            content["arguments"]["B-1"]["rests_on"] = ["B-9"]
        return content

    outcome = held_by(1, JuryRules(both_orders=True), answering_with(change)).outcome
    (row,) = [row for row in outcome.trace if row.argument == "PRO-1"]
    assert (row.found.result, row.score, row.scores) == ("VOID", None, None)
    assert row.found.void == "it names PRO-9, which does not exist"
    assert outcome.pro_total == 4, "its ten points are in neither order"
    assert outcome.bench.panel.findings[0].gap() == outcome.bench.panel.findings[0].scores[0].gap("pro", "con")


def test_a_side_of_void_findings_is_not_compared() -> None:
    def void(_path: AskPath, _asked: Ask, content: Any) -> Any:
        for argument, row in content["arguments"].items():
            row["rests_on"] = ["PRO-9"] if argument.startswith("PRO") else [argument]
            row["reason"] = "It was met."
        return content

    outcome = held_by(1, JuryRules(), answering_with(void)).outcome
    assert outcome.judged
    assert outcome.pro_total is None
    assert outcome.reading == "no comparison: every finding on one side is void"
    panel = held_by(2, JuryRules(), answering_with(void)).outcome.bench.panel
    assert panel.status == "undecided", "judges without a total for a side are not heard"


@examples(15)
@given(answers(st.just(0.0)))
def test_what_the_form_offers_as_grounds_is_never_void(said: Answers) -> None:
    held = held_by(1, JuryRules(), said)
    asked = held.asks[AskPath("judging/judge")]
    properties: Any = asked.spec.schema["properties"]
    for argument, finding in properties["arguments"]["properties"].items():
        offered = finding["properties"]["rests_on"]["items"]["enum"]
        assert offered[0] == argument
        assert len(set(offered)) == len(offered)
    assert not any(row.found.void for row in held.outcome.trace)


@examples(10)
@given(st.integers(2, 3), answers())
def test_the_strength_and_the_spread_do_not_depend_on_who_judges(judges: int, said: Answers) -> None:
    one, several = held_by(1, JuryRules(), said).outcome, held_by(judges, JuryRules(), said).outcome
    assert [row.strength for row in one.trace] == [row.strength for row in several.trace]
    assert all(0 <= row.strength <= 1 for row in one.trace)
    assert dict(one.bench.spreads) == {judge: spread for judge, spread in several.bench.spreads if judge == "judge"}


def test_verdicts_do_not_depend_on_statistics_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    there: Any = held_by(2, JuryRules(), Answers("s")).outcome.as_json()
    for name in ("krippendorff", "scipy.stats", "sklearn.metrics", "statsmodels"):
        monkeypatch.setitem(sys.modules, name, None)
    assert held_by(2, JuryRules(), Answers("s")).outcome.as_json() == there
    assert {row["measure"] for row in there["agreement"]} == {
        "Krippendorff's alpha (points)",
        "Kendall's W (points)",
        "Krippendorff's alpha (standings)",
        "Cohen's kappa (standings)",
    }
