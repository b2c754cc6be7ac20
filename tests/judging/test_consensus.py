"""A point is agreed exactly when it was conceded whole and its owner did not give it up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from disputatio.judging.standing import AgreedPoint, find_agreed_points

ids = st.sampled_from(["PRO-1", "PRO-2", "CON-1", "CON-2", "CON-3"])


@given(st.lists(ids, unique=True), st.lists(ids), st.lists(ids))
def test_agreed_is_conceded_and_not_withdrawn_in_the_order(
    listed: list[str], conceded: list[str], withdrawn: list[str]
) -> None:
    """Agreed is conceded and not withdrawn in the order of the claims."""
    claims = [(name, f"claim of {name}", "con" if name.startswith("PRO") else "pro") for name in listed]
    agreed = find_agreed_points(iter(claims), iter(conceded), iter(withdrawn))
    assert agreed == tuple(
        AgreedPoint(name, claim, other) for name, claim, other in claims if name in conceded and name not in withdrawn
    )


def test_nothing_is_agreed_where_nobody_conceded() -> None:
    assert find_agreed_points([("PRO-1", "a claim everybody praises", "con")], [], []) == ()
