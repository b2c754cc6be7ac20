"""What an evaluation would take: each way of answering on all questions. Nothing is held or asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from disputatio.config import Settings
from disputatio.evaluation.comparing.arms import SINGLE_ANSWER, VOTE, Arm, samples_trial, trials_of
from disputatio.evaluation.estimating import Part, expected, vote_beside
from disputatio.evaluation.questions.items import QuestionSet


async def evaluation_parts(
    questions: QuestionSet, arms: Sequence[Arm], settings: Mapping[str, Settings], prompts: Path | None = None
) -> tuple[Part, ...]:
    """What each arm would take. Votes at the cost of several debates share their samples, so the dearest one counts."""
    found: dict[str, Part] = {}
    for arm in arms:
        if arm.way != VOTE:
            trials = [row for item in questions.items for _, row in trials_of(arm, item, settings, prompts)]
            found[arm.name] = await expected(arm.name, [row.proposal for row in trials])
    paid = [found[arm.of] for arm in arms if arm.way == VOTE and arm.of in found]
    if paid:
        single = found.get(SINGLE_ANSWER)
        if single is None:
            rows = [samples_trial(item, 1, 1, settings, prompts).proposal for item in questions.items]
            single = await expected(SINGLE_ANSWER, rows)
        found[VOTE] = vote_beside(VOTE, max(paid, key=lambda row: row.tokens), single)
    return tuple(found.values())
