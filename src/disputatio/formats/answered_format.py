"""Debates that end in an answer: the seat that judges hears all of it and answers the question.

A free-form debate and a review have no verdict that code could read as an option or a number. Held on a question whose
right answer is known, their judge is asked for one more turn: the answer, in the same form as a single answer. The
debate itself is the same to the letter.
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
    """What the debate came to, and the answer; None where the seat abstained."""

    verdict: Outcome
    answer: GivenAnswer | None

    def as_json(self) -> JsonObject:
        """The verdict as its format has it, with the answer beside."""
        row = self.answer
        given = None if row is None else {"answer": row.answer, "confidence": row.confidence}
        return {**self.verdict.as_json(), "answer": given}


@cache
def answered(name: str) -> Format:
    """The format ``name`` with an answer at its end; its rules have ``answers``, the options (none: a number).

    Raises:
        KeyError: no seat of that format could answer for it.
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
    def held(rules: Any, context: DebateContext) -> Rulebook[AnsweredVerdict]:
        heard: list[Message] = []
        verdict = yield from record_turns(rulebook(rules, context), heard)
        if not heard:
            return AnsweredVerdict(verdict, None)
        task = Task("answer", {"options": ", ".join(rules.answers) or "a number"})
        turn = yield from ask(
            seat, ANSWER_PHASE, spec=AnswerSpec(rules.answers), task=task, messages=tuple(heard), limits=ONCE
        )
        return AnsweredVerdict(verdict, turn if isinstance(turn, GivenAnswer) else None)

    return held


def record_turns(rulebook: Rulebook[Any], heard: list[Message]) -> Rulebook[Any]:
    """Hold ``rulebook`` as it is and write down every turn, branches in their order and not in that of arrival."""
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
