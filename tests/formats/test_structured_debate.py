"""What is true of every structured debate, whoever speaks and whoever abstains.

Totals, agreement and standings are worked out here a second time, from the raw contents of the turns.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.jury import JuryRules
from disputatio.formats.jury_verdict import build_jury_verdict
from disputatio.formats.registry import FORMATS
from disputatio.formats.structured_verdict import StructuredVerdict
from disputatio.judging.fallacies import words_are_in
from disputatio.judging.scoring import RUBRICS, STANDARD
from disputatio.kernel import Abstention, AskPath
from disputatio.record.text import canonical, read_json
from strategies import Answers, Debate, Held, debates, examples

SIDES = (("pro", "PRO", "con"), ("con", "CON", "pro"))
JUDGING = AskPath("judging/judge")
# S5: the weights of the two rubrics, in hundredths.
WEIGHTS = {
    "standard": {"logic": 30, "evidence": 30, "responsiveness": 25, "honesty": 15},
    "evidence-first": {"evidence": 40, "logic": 30, "rebuttal": 20, "clarity": 10},
}

any_debate = debates("structured")
whole_debate = debates("structured", st.just(0.0))


def content(debate: Debate, held: Held, path: str) -> Any:
    """The raw content of the turn at ``path``; None where it was not asked or the seat abstained."""
    asked = held.asks.get(AskPath(path))
    return asked and debate.answers.content(AskPath(path), asked)


def opened(debate: Debate, held: Held, seat: str) -> list[Any]:
    """The raw arguments of a side."""
    spoken = content(debate, held, f"opening/{seat}")
    return spoken["arguments"] if spoken else []


@given(any_debate)
def test_exactly_the_asks_of_the_rules_are_made(debate: Debate) -> None:
    held = debate.held()
    pro, con = opened(debate, held, "pro"), opened(debate, held, "con")
    expected = {"opening/pro", "opening/con"}
    expected |= {"cross-examination/con", "closing/pro"} if pro else set()
    expected |= {"cross-examination/pro", "closing/con"} if con else set()
    expected |= {"judging/judge"} if pro or con else set()
    assert set(held.asks) == expected, "a side that abstained from its opening is not cross-examined"


@given(any_debate)
def test_arguments_are_numbered_by_code_in_the_order_given(debate: Debate) -> None:
    held = debate.held()
    for seat, prefix, _ in SIDES:
        rows = [row for row in held.outcome.trace if row.side == seat]
        raw = opened(debate, held, seat)
        assert [row.argument for row in rows] == [f"{prefix}-{number}" for number in range(1, len(raw) + 1)]
        assert [row.claim for row in rows] == [argument["claim"] for argument in raw]
        if raw:
            assert debate.rules.minimum_arguments <= len(raw) <= debate.rules.maximum_arguments


@given(any_debate)
def test_every_argument_draws_exactly_one_response(debate: Debate) -> None:
    held = debate.held()
    for row in held.outcome.trace:
        other = "con" if row.side == "pro" else "pro"
        examination = content(debate, held, f"cross-examination/{other}")
        if examination is None:
            assert row.responses == ()
            continue
        (response,) = row.responses
        raw = examination[row.argument]
        assert response.target == row.argument
        assert response.kind.value == raw["response"]
        assert [question.id for question in response.questions] == [
            f"{row.argument}.Q{number}" for number in range(1, len(raw["questions"]) + 1)
        ]
        assert [question.text for question in response.questions] == raw["questions"]


@given(any_debate)
def test_a_closing_answers_questions_and_repeats_concessions(debate: Debate) -> None:
    held = debate.held()
    for seat, prefix, other in SIDES:
        asked = held.asks.get(AskPath(f"closing/{seat}"))
        if asked is None:
            continue
        own = content(debate, held, f"cross-examination/{seat}") or {}
        against = content(debate, held, f"cross-examination/{other}") or {}
        questions = [f"{name}.Q{n}" for name, row in against.items() for n in range(1, len(row["questions"]) + 1)]
        conceded = [name for name, row in own.items() if row["response"] in {"concede", "partial"}]
        properties: Any = asked.spec.schema["properties"]
        assert list(properties.get("answers", {"properties": {}})["properties"]) == questions
        assert list(properties.get("concessions", {"properties": {}})["properties"]) == conceded
        names = [f"{prefix}-{number}" for number in range(1, len(opened(debate, held, seat)) + 1)]
        assert list(properties["own_arguments"]["properties"]) == names
        turn: Any = held.answers[AskPath(f"closing/{seat}")]
        if not isinstance(turn, Abstention):
            assert [row.question for row in turn.answers] == questions
            assert [row.target for row in turn.concessions] == conceded
            assert [row.argument for row in turn.holds] == names


@given(any_debate)
def test_scores_and_totals_are_exact_means_of_integers(debate: Debate) -> None:
    held = debate.held()
    verdict: StructuredVerdict = held.outcome
    found = content(debate, held, "judging/judge")
    weights = WEIGHTS[debate.rules.rubric.name]
    totals: dict[str, Fraction | None] = {}
    for seat in ("pro", "con"):
        rows = [row for row in verdict.trace if row.side == seat]
        if found is None:
            totals[seat] = None
            assert all(row.score is None and row.scores is None and row.judged is None for row in rows)
            continue
        points = [sum(weights[key] * found["arguments"][row.argument][key] for key in weights) for row in rows]
        assert [row.score for row in rows] == [Fraction(hundredths, 100) for hundredths in points]
        totals[seat] = Fraction(sum(points), 100 * len(points)) if points else None
        assert [row.judged.value for row in rows] == [found["arguments"][row.argument]["standing"] for row in rows]
    assert (verdict.pro_total, verdict.con_total) == (totals["pro"], totals["con"])
    if totals["pro"] is None or totals["con"] is None:
        assert verdict.gap is None
        assert verdict.reading.startswith("no comparison")
    else:
        assert verdict.gap == totals["pro"] - totals["con"]
        check_reading(verdict, totals["pro"] - totals["con"])


def check_reading(verdict: StructuredVerdict, gap: Fraction) -> None:
    words = "evenly matched" if abs(gap) < 1 else "an edge" if abs(gap) <= 3 else "a significant difference"
    assert verdict.reading.startswith(words)
    shown = Fraction(verdict.reading.rpartition("gap ")[2].rstrip(")"))
    told = "evenly matched" if shown < 1 else "an edge" if shown <= 3 else "a significant difference"
    assert told == words, "the number beside the words does not contradict them"
    ahead = [seat for seat in ("pro", "con") if f"for {seat}" in verdict.reading]
    assert ahead == ([] if abs(gap) < 1 else ["pro"] if gap > 0 else ["con"])


@given(any_debate)
def test_points_are_agreed_only_where_fully_conceded(debate: Debate) -> None:
    held = debate.held()
    expected = []
    for seat, prefix, other in SIDES:
        against = content(debate, held, f"cross-examination/{other}") or {}
        closing = content(debate, held, f"closing/{seat}")
        for number, argument in enumerate(opened(debate, held, seat), start=1):
            name = f"{prefix}-{number}"
            conceded = name in against and against[name]["response"] == "concede"
            withdrawn = closing is not None and closing["own_arguments"][name]["status"] == "withdrawn"
            if conceded and not withdrawn:
                expected.append((name, argument["claim"], other))
    agreed = [(row.argument, row.claim, row.conceded_by) for row in held.outcome.agreed]
    assert agreed == expected


# The rules of judging.standing for the one response an argument can draw here, by how its answers are marked.
COMPUTED = {
    "refute": {"met": "UPHELD", "partly_met": "PARTIALLY_UPHELD", "unmarked": "UNCERTAIN", "evaded": "REFUTED"},
    "challenge": {"met": "UPHELD", "partly_met": "PARTIALLY_UPHELD", "unmarked": "UNCERTAIN", "evaded": "UNCERTAIN"},
    "partial": dict.fromkeys(("partly_met", "unmarked", "evaded"), "PARTIALLY_UPHELD") | {"met": "UPHELD"},
    "concede": dict.fromkeys(("met", "partly_met", "unmarked", "evaded"), "UPHELD"),
}
WORST_FIRST = ("evaded", "unmarked", "partly_met", "met")


def mark_of(finding: Any, answer: str, text: str) -> str:
    """The mark of an answer from the judge's raw finding; none counts whose words are not in the answer."""
    row = finding and finding.get("answers", {}).get(answer)
    return row["mark"] if row and words_are_in(row["words"], text) else "unmarked"


@given(any_debate)
def test_the_computed_standing_follows_from_the_marks(debate: Debate) -> None:
    held = debate.held()
    found = content(debate, held, "judging/judge")
    for row in held.outcome.trace:
        other = "con" if row.side == "pro" else "pro"
        against = content(debate, held, f"cross-examination/{other}")
        closing = content(debate, held, f"closing/{row.side}")
        hold = closing and closing["own_arguments"][row.argument]["status"]
        finding = found and found["arguments"][row.argument]
        if finding and row.found.void:
            finding = None
        if hold == "withdrawn":
            expected = "REFUTED"
        elif against is None:
            expected = "UNCERTAIN"
        else:
            numbers = range(1, len(against[row.argument]["questions"]) + 1)
            marks = ["evaded"]
            if closing is not None:
                answers = {f"{row.argument}.A{n}": closing["answers"][f"{row.argument}.Q{n}"] for n in numbers}
                marks = [mark_of(finding, name, text) for name, text in answers.items()]
            expected = COMPUTED[against[row.argument]["response"]][min(marks, key=WORST_FIRST.index)]
            if hold == "narrowed" and expected == "UPHELD":
                expected = "PARTIALLY_UPHELD"
        assert row.computed.value == expected
        assert row.computed_reason
        assert row.differs == (row.judged is not None and row.judged.value != expected)


@given(any_debate)
def test_without_a_judge_the_trace_has_computed_standings(debate: Debate) -> None:
    silent = Debate("structured", debate.rules, Answers(debate.answers.seed, debate.answers.abstaining, (JUDGING,)))
    verdict: StructuredVerdict = silent.held().outcome
    judged: StructuredVerdict = debate.held().outcome
    assert (verdict.pro_total, verdict.con_total, verdict.gap) == (None, None, None)
    assert not verdict.judged
    assert verdict.reading == "no comparison: nothing was judged"
    assert verdict.key_insight == verdict.recommendation == ""
    assert [(row.argument, row.computed) for row in verdict.trace] == [
        (row.argument, row.computed) for row in judged.trace
    ]
    assert verdict.agreed == judged.agreed
    body: Any = verdict.as_json()
    assert body["totals"] == {"pro": None, "con": None}
    assert all(row["weighted"] is None and row["criteria"] is None and row["judged"] is None for row in body["trace"])


@given(any_debate)
def test_score_facts_match_the_verdict(debate: Debate) -> None:
    held = debate.held()
    assert [(fact.kind, fact.about) for fact in held.driver.facts] == [
        ("score", row.argument) for row in held.outcome.trace
    ]
    for fact, row in zip(held.driver.facts, held.outcome.trace, strict=True):
        assert fact.body["weighted"] == (None if row.score is None else pytest.approx(float(row.score), abs=5e-5))
        assert fact.body == row.score_json()


@given(any_debate)
def test_the_verdict_survives_json_and_says_what_it_measures(debate: Debate) -> None:
    body: Any = debate.held().outcome.as_json()
    assert read_json(canonical(body)) == body
    assert "not who is right" in body["measures"]
    assert body["rubric"] in RUBRICS


@given(any_debate)
def test_every_seat_hears_what_the_rules_let_it_hear(debate: Debate) -> None:
    held = debate.held()
    phases = ["opening", "cross-examination", "closing", "judging"]
    for path, asked in held.asks.items():
        before = phases[: phases.index(asked.phase)]
        said = [
            (seat, phase, held.answers[AskPath(f"{phase}/{seat}")].text())  # type: ignore[union-attr]
            for phase in before
            for seat in ("pro", "con")
            if not isinstance(held.answers.get(AskPath(f"{phase}/{seat}"), Abstention(asked.seat, "")), Abstention)
        ]
        assert [(message.seat, message.phase, message.text) for message in asked.messages] == said, path


@given(whole_debate)
def test_a_judge_who_speaks_finds_on_every_argument(debate: Debate) -> None:
    held = debate.held()
    found: Any = held.answers[JUDGING]
    assert [row.argument for row in found.judgements] == [row.argument for row in held.outcome.trace]
    assert held.outcome.judged
    assert held.outcome.unresolved_questions == tuple(content(debate, held, "judging/judge")["unresolved_questions"])


@examples(60)
@given(st.fractions(1, 10, max_denominator=400), st.sampled_from([Fraction(0), Fraction(1), Fraction(3)]), st.data())
def test_gaps_of_exactly_one_and_three_are_an_edge(total: Fraction, gap: Fraction, data: st.DataObject) -> None:
    nudge = data.draw(st.sampled_from([Fraction(0), Fraction(1, 10**12), Fraction(-1, 10**12)]))
    other = total + (gap + nudge) * data.draw(st.sampled_from([1, -1]))
    verdict = StructuredVerdict((), total, other, (), build_jury_verdict((), ("judge",), JuryRules(), STANDARD, {}))
    assert verdict.gap == total - other
    check_reading(verdict, total - other)


def test_a_side_without_arguments_is_not_compared() -> None:
    debate = Debate("structured", FORMATS["structured"].rules(), Answers("one side", silent=("opening/con",)))
    verdict: StructuredVerdict = debate.held().outcome
    assert verdict.judged
    assert verdict.pro_total is not None
    assert verdict.con_total is None, "no arguments is no total, not a zero"
    assert verdict.reading == "no comparison: one side has no arguments"
    assert {row.side for row in verdict.trace} == {"pro"}
