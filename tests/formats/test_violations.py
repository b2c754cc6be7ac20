"""The rules a schema cannot carry are found by code: at their exact bounds, and where they are kept."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.turns.adjudication import AdjudicationSpec, Exhibit
from disputatio.formats.turns.cross_examination import (
    ClosingSpec,
    CrossExaminationSpec,
    Question,
    Response,
    ResponseKind,
)
from disputatio.formats.turns.monologue import MonologueSpec, SummingSpec
from disputatio.formats.turns.opening import Argument, OpeningSpec
from disputatio.judging.scoring import STANDARD, Criterion, Rubric
from disputatio.motion import count_words

PLAIN = ("Small teams ship sooner with one deployable.", "Fewer parts mean fewer hand-overs between people.")


def opening(*claims: str, reasoning: str = PLAIN[1]) -> Any:
    rows = [{"claim": claim, "reasoning": reasoning, "evidence": "An audit of 2021."} for claim in claims]
    return OpeningSpec("PRO", 1, 5).read({"arguments": rows})


def rules_broken(spec: Any, turn: Any) -> list[tuple[str, str]]:
    return [(row.rule, row.part) for row in spec.violations(turn)]


OPENING = OpeningSpec("PRO", 1, 5)


def test_arguments_that_stand_alone_break_nothing() -> None:
    assert rules_broken(OPENING, opening(PLAIN[0], "Costs fall in the first year.")) == []


@pytest.mark.parametrize(
    "words",
    [
        "As stated in argument 1, costs fall.",
        "See point 2 for the figures on this.",
        "This builds on my first argument about cost.",
        "Following the previous point, teams shrink.",
        "As I argued above, latency falls.",
        "PRO-2 already shows the saving.",
        "As con-1 will claim, it is dear.",
        "From argument no. 3 it follows that",
    ],
)
def test_an_argument_relying_on_another_is_found_anywhere(words: str) -> None:
    assert rules_broken(OPENING, opening(PLAIN[0], words)) == [("dependent_argument", "argument-2")]
    leaning = opening(PLAIN[0], reasoning=f"{words} And so on, at length.")
    assert rules_broken(OPENING, leaning) == [("dependent_argument", "argument-1")]


@pytest.mark.parametrize(
    "words",
    [
        "The strongest argument for change is cost.",
        "From 3 to 5 services the effort doubles.",
        "At this point 40 teams have moved.",
        "Seen from the users' point of view it helps.",
        "The first year brings the largest saving.",
        "Productivity per point of cost rises.",
        "Pro-2018 data are not comparable.",
    ],
)
def test_words_that_only_look_like_leaning_are_allowed(words: str) -> None:
    assert rules_broken(OPENING, opening(words)) == []


def test_the_same_claim_twice_is_found_in_any_dress() -> None:
    twice = opening("Costs fall in one year.", "It scales.......", "COSTS  fall - in one year!")
    assert rules_broken(OPENING, twice) == [("repeated_argument", "argument-3")]


ARGUMENTS = tuple(Argument(f"CON-{n}", f"Claim number {n} stands.", PLAIN[1], "A study.") for n in (1, 2))
EXAMINATION = CrossExaminationSpec(ARGUMENTS, frozenset({"CON-1", "CON-2", "PRO-1"}))


def examination(*reasonings: str) -> Any:
    rows = [{"reasoning": text, "response": "refute", "questions": ["How do you know?"]} for text in reasonings]
    return EXAMINATION.read({f"CON-{n}": row for n, row in enumerate(rows, start=1)})


def test_a_cross_examination_of_the_arguments_is_legal() -> None:
    turn = examination("CON-1 rests on one study, as PRO-1 shows.", "CON-2 has no control group.")
    assert rules_broken(EXAMINATION, turn) == []


@pytest.mark.parametrize(
    "words",
    [
        "There is also a new argument: cost.",
        "Another reason against it is the price.",
        "We also argue that latency matters.",
        "I additionally submit that it is illegal.",
        "Here is one more point... a further point to weigh.",
        "My additional reason is the price.",
    ],
)
def test_a_new_argument_that_is_announced_is_found(words: str) -> None:
    turn = examination(words, "CON-2 has no control group.")
    assert rules_broken(EXAMINATION, turn) == [("new_argument", "CON-1")]


@pytest.mark.parametrize(
    "words",
    [
        "The claim offers no new evidence for its point.",
        "Its reason is circular and its argument old.",
        "That is another matter than the one claimed.",
        "We also see that the sample is small.",
    ],
)
def test_words_that_announce_nothing_new_are_allowed(words: str) -> None:
    assert rules_broken(EXAMINATION, examination(words, "CON-2 has no control group.")) == []


def test_an_unknown_argument_is_found_once_for_each_name() -> None:
    turn = examination("CON-7 and PRO-2, and CON-7 again, say so.", "CON-2 has no control group.")
    assert rules_broken(EXAMINATION, turn) == [("unknown_argument", "CON-1"), ("unknown_argument", "CON-1")]
    assert [row.detail.split()[-5] for row in EXAMINATION.violations(turn)] == ["CON-7,", "PRO-2,"]


def test_the_same_words_for_two_arguments_are_found() -> None:
    turn = examination("There is no control group.", "There is no control group.")
    assert rules_broken(EXAMINATION, turn) == [("repeated_response", "CON-2")]


OWN = tuple(Argument(f"PRO-{n}", f"Own claim number {n}.", PLAIN[1], "A study.") for n in (1, 2))
LIMITED = ClosingSpec(OWN, (Question("PRO-1.Q1", "How do you know?"),), ARGUMENTS[:1])


def closing(words: int, answer_words: int = 10, spec: ClosingSpec = LIMITED) -> Any:
    """A closing of exactly ``words`` words, answers apart, spread over everything that counts."""
    held = {name: {"status": "stands", "because": "it was not rebutted"} for name in ("PRO-1", "PRO-2")}
    counted = 4 * 2 + 3
    return spec.read(
        {
            "answers": {"PRO-1.Q1": "word " * answer_words},
            "concessions": {"CON-1": "the narrow reading"},
            "own_arguments": held,
            "final_position": "word " * (words - counted),
            "shift": "unchanged",
        }
    )


@pytest.mark.parametrize("answer_words", [1, 5000])
def test_a_closing_of_exactly_200_words_is_within_the_limit(
    answer_words: int,
) -> None:
    turn = closing(200, answer_words)
    assert turn.words == 200
    assert rules_broken(LIMITED, turn) == []


def test_a_closing_of_two_hundred_and_one_words_breaks_the_limit() -> None:
    (violation,) = LIMITED.violations(closing(201))
    assert (violation.rule, violation.part) == ("word_limit", "position")
    assert "201 words" in violation.detail
    assert "200 are allowed" in violation.detail


@given(st.integers(20, 400), st.integers(20, 400))
def test_the_limit_of_a_closing_is_the_one_that_was_set(words: int, limit: int) -> None:
    spec = ClosingSpec(OWN, LIMITED.questions, LIMITED.conceded, limit)
    assert bool(spec.violations(closing(words, spec=spec))) == (words > limit)


@given(st.integers(1, 300), st.integers(1, 300))
def test_a_speech_may_have_exactly_as_many_words_as_the_limit(words: int, limit: int) -> None:
    spec = MonologueSpec(limit)
    turn = spec.read({"speech": "word " * words})
    assert bool(spec.violations(turn)) == (words > limit)


def test_a_speech_in_chinese_is_limited_by_its_letters() -> None:
    speech = "我们应该采用微服务" * 3
    assert count_words(speech) == 27
    assert rules_broken(MonologueSpec(27), MonologueSpec(27).read({"speech": speech})) == []
    assert rules_broken(MonologueSpec(26), MonologueSpec(26).read({"speech": speech})) == [("word_limit", "speech")]


def test_a_summing_up_has_no_rule_that_its_schema_does_not_carry() -> None:
    spec = SummingSpec()
    assert spec.violations(spec.read(dict.fromkeys(spec.schema["properties"], "Some words."))) == ()  # type: ignore[arg-type]


EXHIBITS = (
    Exhibit(
        ARGUMENTS[0],
        (Response(ARGUMENTS[0].id, ResponseKind.REFUTE, "You just fear change!", ()),),
        (("CON-1.A1", "Everybody knows it."),),
        "CON-1 stands: It was not met.",
        ("PRO on CON-1", "CON-1.Q1", "CON-1.A1", "CON-1.closing"),
    ),
    Exhibit(ARGUMENTS[1], ()),
)
JUDGING = AdjudicationSpec(EXHIBITS, STANDARD)


def finding(*quotes: str) -> Any:
    scores = dict.fromkeys(("logic", "evidence", "responsiveness", "honesty"), 5)
    row = {"reason": "It was met.", **scores, "standing": "UPHELD", "fallacies": []}
    found = [{"fallacy": "ad_hominem", "words": quote} for quote in quotes]
    overall = {"key_insight": "Cost decides.", "unresolved_questions": [], "recommendation": "Measure first."}
    rows = {key: {**row, "rests_on": [key]} for key in ("CON-1", "CON-2")}
    rows["CON-1"]["fallacies"] = found
    return JUDGING.read({"arguments": rows, **overall})


@pytest.mark.parametrize("quote", ["Claim number 1", "fear  CHANGE", "everybody knows it", "A study", "hand-overs"])
def test_a_fallacy_with_words_that_were_said_is_legal(quote: str) -> None:
    assert rules_broken(JUDGING, finding(quote)) == []


@pytest.mark.parametrize("quote", ["Claim number 2", "fears change", "nobody said this", "ear change", "…"])
def test_a_fallacy_with_words_not_said_is_found(quote: str) -> None:
    turn = finding("fear change", quote)
    assert rules_broken(JUDGING, turn) == [("unfound_words", "CON-1")]
    assert [row.quoted for row in turn.judgements[0].fallacies] == [True, False]


def test_a_custom_rubric_defines_the_judges_criteria() -> None:
    rubric = Rubric("own", tuple(Criterion(key, Fraction(1, 2), f"How {key}?") for key in ("brief", "kind")))
    spec = AdjudicationSpec(EXHIBITS, rubric)
    arguments: Any = spec.schema["properties"]["arguments"]  # type: ignore[index,call-overload]
    keys = ["rests_on", "answers", "reason", "brief", "kind", "standing"]
    keys += ["fallacies", "new_arguments", "cross_references"]
    assert list(arguments["properties"]["CON-1"]["properties"]) == keys
    assert arguments["properties"]["CON-1"]["properties"]["brief"]["minimum"] == 1
    assert arguments["properties"]["CON-1"]["properties"]["brief"]["maximum"] == 10
