"""How an argument stands follows from the exchange about it, case by case."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.judging import Exchange, Reply, Standing, computed_standing
from strategies import examples

UPHELD, PARTLY, REFUTED, OPEN = (
    Standing.UPHELD,
    Standing.PARTIALLY_UPHELD,
    Standing.REFUTED,
    Standing.UNCERTAIN,
)
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
    assert computed_standing(Exchange("PRO-1", (Reply(kind, answered),), hold)) == expected


@pytest.mark.parametrize("hold", ["stands", "narrowed", None])
def test_without_any_response_it_is_uncertain(hold: str | None) -> None:
    assert computed_standing(Exchange("PRO-1", (), hold)) == (OPEN, "the other side never responded to it")


def test_a_withdrawn_argument_is_refuted_whatever_was_said() -> None:
    assert computed_standing(Exchange("PRO-1", (), "withdrawn")) == WITHDREW


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
    assert computed_standing(Exchange("CON-2", replies, "stands")) == expected
    assert computed_standing(Exchange("CON-2", replies[::-1], "stands")) == expected


@examples(50)
@given(
    st.lists(st.builds(Reply, st.sampled_from(KINDS), st.booleans()), max_size=5).map(tuple),
    st.sampled_from(HOLDS),
)
def test_what_the_module_promises_holds_for_any_exchange(replies: tuple[Reply, ...], hold: str | None) -> None:
    standing, reason = computed_standing(Exchange("PRO-1", replies, hold))
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
