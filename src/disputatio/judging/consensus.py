"""What the two sides agree on: counted from explicit concessions, never read out of polite words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgreedPoint:
    """An argument that one side conceded and its owner still holds."""

    argument: str
    claim: str
    conceded_by: str


def agreed_points(
    claims: Iterable[tuple[str, str, str]], conceded: Iterable[str], withdrawn: Iterable[str]
) -> tuple[AgreedPoint, ...]:
    """The agreed points among ``claims``.

    Args:
        claims: (argument id, claim, the side opposing it), in the order they are to be listed.
        conceded: ids that the opposing side conceded whole, in cross-examination.
        withdrawn: ids that their owner gave up in the closing.
    """
    given, dropped = frozenset(conceded), frozenset(withdrawn)
    return tuple(
        AgreedPoint(argument, claim, opponent)
        for argument, claim, opponent in claims
        if argument in given and argument not in dropped
    )
