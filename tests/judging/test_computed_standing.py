"""How an argument stands follows from the exchange about it, case by case."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.judging.standing import (
    Exchange,
    Mark,
    Reply,
    Standing,
    combine_marks,
    compute_exchange_strength,
    compute_standing,
)
from strategies import examples

UPHELD, PARTLY, REFUTED, OPEN = (Standing.UPHELD, Standing.PARTIALLY_UPHELD, Standing.REFUTED, Standing.UNCERTAIN)
KINDS = ("refute", "challenge", "concede", "partial")
HOLDS = ("stands", "narrowed", "withdrawn", None)

WITHDREW = (REFUTED, "its own side withdrew it")
NARROWED = (PARTLY, "its own side narrowed it")
ANSWERED = (UPHELD, "every objection was answered")
CONCEDED = (UPHELD, "the other side conceded it")
DISPUTED = (OPEN, "a refutation was answered and neither prevails")
UNREFUTED = (REFUTED, "a refutation went unanswered")
UNPROVEN = (OPEN, "a challenge to its evidence went unanswered")
UNDEFENDED = (PARTLY, "its degree or scope was disputed and not defended")

# response kind, answered: the standing and reason by what its owner says of it last (stands or nothing, narrowed)
ONE_REPLY = {
    ("refute", True): (DISPUTED, DISPUTED),
    ("refute", False): (UNREFUTED, UNREFUTED),
    ("challenge", True): (ANSWERED, NARROWED),
    ("challenge", False): (UNPROVEN, UNPROVEN),
    ("partial", True): (ANSWERED, NARROWED),
    ("partial", False): (UNDEFENDED, NARROWED),
    ("concede", True): (CONCEDED, NARROWED),
    ("concede", False): (CONCEDED, NARROWED),
}


@pytest.mark.parametrize(("kind", "answered", "hold"), list(product(KINDS, (True, False), HOLDS)))
def test_one_response_gives_the_standing_of_the_table(kind: str, answered: bool, hold: str | None) -> None:
    stands, narrowed = ONE_REPLY[kind, answered]
    expected = {"stands": stands, None: stands, "narrowed": narrowed, "withdrawn": WITHDREW}[hold]
    assert compute_standing(Exchange("PRO-1", (Reply(kind, answered),), hold)) == expected


MET = (UPHELD, "every objection was met")
IN_PART = (PARTLY, "an objection was met in part")
OPEN_MARK = (OPEN, "no judge said whether the answers meet the questions")
EVADED_REFUTATION = (REFUTED, "a refutation was evaded")
EVADED_CHALLENGE = (OPEN, "a challenge to its evidence was evaded")

# response kind, how its questions were answered by the judge's mark: the standing where its owner keeps it
MARKED = {
    ("refute", Mark.MET): MET,
    ("refute", Mark.PARTLY_MET): IN_PART,
    ("refute", Mark.EVADED): EVADED_REFUTATION,
    ("refute", Mark.UNMARKED): OPEN_MARK,
    ("challenge", Mark.MET): MET,
    ("challenge", Mark.PARTLY_MET): IN_PART,
    ("challenge", Mark.EVADED): EVADED_CHALLENGE,
    ("challenge", Mark.UNMARKED): OPEN_MARK,
    ("partial", Mark.MET): MET,
    ("partial", Mark.PARTLY_MET): IN_PART,
    ("partial", Mark.EVADED): UNDEFENDED,
    ("partial", Mark.UNMARKED): UNDEFENDED,
    ("concede", Mark.EVADED): CONCEDED,
    ("concede", Mark.MET): CONCEDED,
}


@pytest.mark.parametrize(("kind", "mark"), MARKED)
def test_the_mark_of_an_answer_decides_what_it_does(kind: str, mark: Mark) -> None:
    exchange = Exchange("PRO-1", (Reply(kind, answered=True, mark=mark),), "stands")
    assert compute_standing(exchange) == MARKED[kind, mark]


@pytest.mark.parametrize("kind", KINDS)
def test_a_better_answer_never_makes_an_argument_weaker(kind: str) -> None:
    marks = (Mark.EVADED, Mark.PARTLY_MET, Mark.MET)
    found = [
        compute_exchange_strength(Exchange("PRO-1", (Reply(kind, answered=True, mark=mark),), None)) for mark in marks
    ]
    assert found == sorted(found)
    assert kind == "concede" or found[0] < found[-1]


def test_an_evaded_question_is_one_without_an_answer() -> None:
    for kind in KINDS:
        evaded = Exchange("PRO-1", (Reply(kind, answered=True, mark=Mark.EVADED),), "stands")
        silent = Exchange("PRO-1", (Reply(kind, answered=False, mark=Mark.EVADED),), "stands")
        assert compute_standing(evaded)[0] is compute_standing(silent)[0]
        assert compute_exchange_strength(evaded) == compute_exchange_strength(silent)


def test_judges_marks_are_combined_by_the_lower_middle_one() -> None:
    met, partly, evaded, unmarked = Mark.MET, Mark.PARTLY_MET, Mark.EVADED, Mark.UNMARKED
    assert combine_marks([met, met, evaded]) is met
    assert combine_marks([met, evaded]) is evaded
    assert combine_marks([met, partly]) is partly
    assert combine_marks([unmarked, met]) is met
    assert combine_marks([unmarked]) is combine_marks([]) is unmarked


@pytest.mark.parametrize("hold", ["stands", "narrowed", None])
def test_without_any_response_it_is_uncertain(hold: str | None) -> None:
    assert compute_standing(Exchange("PRO-1", (), hold)) == (OPEN, "the other side never responded to it")


def test_a_withdrawn_argument_is_refuted_whatever_was_said() -> None:
    assert compute_standing(Exchange("PRO-1", (), "withdrawn")) == WITHDREW


TWO_REPLIES = [
    # An answered refutation decides nothing against it; the challenge nobody answered is what is left.
    ((("refute", True), ("challenge", False)), UNPROVEN),
    ((("refute", False), ("challenge", False)), UNREFUTED),
    ((("refute", False), ("refute", True)), UNREFUTED),
    ((("refute", False), ("concede", True)), UNREFUTED),
    ((("refute", True), ("partial", False)), DISPUTED),
    ((("challenge", True), ("partial", False)), UNDEFENDED),
    ((("challenge", True), ("partial", True)), ANSWERED),
    ((("challenge", False), ("partial", False)), UNPROVEN),
    ((("concede", True), ("challenge", True)), ANSWERED),
    ((("concede", False), ("concede", True)), CONCEDED),
]


@pytest.mark.parametrize(("rows", "expected"), TWO_REPLIES)
def test_several_responses_are_weighed_together_in_any_order(
    rows: tuple[tuple[str, bool], ...], expected: tuple[Standing, str]
) -> None:
    replies = tuple(Reply(*row) for row in rows)
    assert compute_standing(Exchange("CON-2", replies, "stands")) == expected
    assert compute_standing(Exchange("CON-2", replies[::-1], "stands")) == expected


@examples(50)
@given(st.lists(st.builds(Reply, st.sampled_from(KINDS), st.booleans()), max_size=5).map(tuple), st.sampled_from(HOLDS))
def test_what_the_module_promises_holds_for_any_exchange(replies: tuple[Reply, ...], hold: str | None) -> None:
    standing, reason = compute_standing(Exchange("PRO-1", replies, hold))
    assert reason
    unanswered = {row.kind for row in replies if not row.answered}
    if hold == "withdrawn":
        assert standing is REFUTED
    if hold == "narrowed":
        assert standing is not UPHELD, "a narrowed argument is at best partially upheld"
    if hold != "withdrawn" and "refute" not in unanswered:
        assert standing is not REFUTED, "only an unanswered refutation or its own side refutes an argument"
    if hold != "withdrawn" and "refute" in unanswered:
        assert (standing, reason) == UNREFUTED
    if standing is UPHELD:
        assert replies
        assert not unanswered & {"refute", "challenge", "partial"}
        assert all(row.kind != "refute" for row in replies)
