"""Participants that call no model: a script, and the recording of an earlier debate.

The same checks apply as to a model: an invalid answer is requested again with the reasons, then the seat abstains.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from disputatio.kernel import Abstention, Ask, AskPath, Json, JsonObject
from disputatio.participants.answers import SchemaChecks, SchemaMismatch, ShapedAnswer, read_answer, read_leniently
from disputatio.participants.turn_taking import Await, Reject, TurnResult, TurnTaking
from disputatio.record.events import TurnTaken
from disputatio.record.history import History
from disputatio.record.text import canonical

Answer: TypeAlias = "Json | Abstention"
Script: TypeAlias = Callable[[Ask, AskPath, tuple[str, ...]], "Answer | Awaitable[Answer]"]
"""Answers an ask at a path; may be a coroutine function. The third argument holds the reasons why the last answer was
rejected, empty at first. Text is read like a model's output; an object is the answer itself."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """A seat that answers by a function or a coroutine function.

    ``name`` goes into the record and must be the same on resume.
    """

    script: Script
    name: str = "scripted"

    def as_json(self) -> JsonObject:
        """The participant as the record names it."""
        return {"kind": "scripted", "name": self.name}

    def take(self, path: AskPath, ask: Ask, checks: SchemaChecks) -> TurnTaking:
        """Take the turn."""
        reasons: tuple[str, ...] = ()
        rule_asks, best = 0, None
        shape_asks, asked = 0, 0
        while True:
            given = self.script(ask, path, reasons)
            if inspect.isawaitable(given):
                given = yield Await(given)
            asked += 1
            if isinstance(given, Abstention):
                return best._replace(asked=asked) if best else given
            text = given if isinstance(given, str) else canonical(given)
            read = read_answer(text, ask.spec.schema, checks)
            if isinstance(read, SchemaMismatch):
                shape_asks += 1
                if shape_asks > ask.limits.shape_asks:
                    lenient = None if best else read_leniently(text, ask.spec, checks)
                    if lenient is not None:
                        return _read(ask, lenient)._replace(asked=asked)
                    detail = f"{shape_asks} answers did not fit the form; the last: {read.reasons[0]}"
                    return best._replace(asked=asked) if best else Abstention(ask.seat, "misfit", detail)
                reasons = read.reasons
                yield Reject("", "shape", reasons)
                continue
            taken = _read(ask, read)
            if best is None or len(taken.violations) <= len(best.violations):
                best = taken
            if not best.violations or rule_asks >= ask.limits.rule_asks:
                return best._replace(asked=asked)
            rule_asks += 1
            reasons = tuple(row.detail for row in taken.violations)
            yield Reject("", "rule", reasons)


def _read(ask: Ask, answer: ShapedAnswer) -> TurnResult:
    turn = ask.spec.read(answer.content)
    return TurnResult(turn, answer.content, ask.spec.violations(turn), answer.repaired)


def recording(history: History, name: str) -> Scripted:
    """A seat that repeats the turns of an earlier debate at the same paths.

    The seat abstains where the earlier debate has no turn at a path, or one that is invalid now.
    """
    turns: Mapping[str, JsonObject] = {
        path: row.content for path, row in history.answered.items() if isinstance(row, TurnTaken)
    }

    def said(ask: Ask, path: AskPath, _reasons: tuple[str, ...]) -> JsonObject | Abstention:
        if path not in turns:
            return Abstention(ask.seat, "not_recorded", f"the recording has no turn at {path}")
        return turns[path]

    return Scripted(said, f"recording of {name}")
