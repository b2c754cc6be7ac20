"""A format with one more turn at its end: the judging seat answers the question.

A free-form debate and a review have no verdict that code can read as an option or a number. On a question with a known
answer their judge is asked for it, as in a single answer. The debate before it is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, make_dataclass, replace
from dataclasses import field as dataclass_field
from functools import cache
from typing import Any

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.format import Format, Outcome
from disputatio.formats.registry import find_format
from disputatio.formats.single import ONCE
from disputatio.formats.turns.answer import AnswerSpec, GivenAnswer
from disputatio.kernel import Ask, Branches, JsonObject, Message, Phase, Rulebook, Seat, Task, Turn, ask

ANSWER_PHASE = Phase("answer")
WHO_ANSWERS = {"freeform": Seat("judge"), "review": Seat("moderator")}
"""The seat that answers, by format."""


@dataclass(frozen=True, slots=True)
class AnsweredVerdict:
    """The verdict of the debate and the answer; None where the seat abstained."""

    verdict: Outcome
    answer: GivenAnswer | None

    def as_json(self) -> JsonObject:
        """Return the verdict of the format with the answer added."""
        row = self.answer
        given = None if row is None else {"answer": row.answer, "confidence": row.confidence}
        return {**self.verdict.as_json(), "answer": given}


@cache
def answered(name: str) -> Format:
    """Return the format ``name`` with an answer at its end. Its rules gain ``answers``: the options, or none for a
    number.

    Raises:
        KeyError: the format has no seat that could answer.
    """
    debate_format, seat = find_format(name), WHO_ANSWERS[name]
    rules = make_dataclass(
        f"Answered{debate_format.rules.__name__}",
        [("answers", tuple[str, ...], dataclass_field(default=()))],
        bases=(debate_format.rules,),
        frozen=True,
    )
    return replace(debate_format, rules=rules, rulebook=_with_answer(debate_format.rulebook, seat))


def _with_answer(
    rulebook: Callable[[Any, DebateContext], Rulebook[Outcome]], seat: Seat
) -> Callable[[Any, DebateContext], Rulebook[AnsweredVerdict]]:
    def run_and_ask(rules: Any, context: DebateContext) -> Rulebook[AnsweredVerdict]:
        heard: list[Message] = []
        verdict = yield from record_turns(rulebook(rules, context), heard)
        if not heard:
            return AnsweredVerdict(verdict, None)
        task = Task("answer", {"options": ", ".join(rules.answers) or "a number"})
        turn = yield from ask(
            seat, ANSWER_PHASE, spec=AnswerSpec(rules.answers), task=task, messages=tuple(heard), limits=ONCE
        )
        return AnsweredVerdict(verdict, turn if isinstance(turn, GivenAnswer) else None)

    return run_and_ask


def record_turns(rulebook: Rulebook[Any], heard: list[Message]) -> Rulebook[Any]:
    """Run ``rulebook`` unchanged and append every turn to ``heard``, branches in their order."""
    answer: Any = None
    while True:
        try:
            request = rulebook.send(answer)
        except StopIteration as end:
            return end.value
        if isinstance(request, Branches):
            own: list[list[Message]] = [[] for _ in request.branches]
            pairs = zip(request.branches, own, strict=True)
            answer = yield Branches(tuple((name, record_turns(branch, messages)) for (name, branch), messages in pairs))
            heard.extend(message for messages in own for message in messages)
            continue
        answer = yield request
        if isinstance(request, Ask) and isinstance(answer, Turn):
            heard.append(Message(request.seat, request.phase, answer.text()))
