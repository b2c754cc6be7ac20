"""A person in a seat: asked through a surface, under the same schema and rules as a model.

The record names the person. No prompt does, so no seat and no judge can tell.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from disputatio.kernel import Abstention, Ask, AskPath, JsonObject
from disputatio.participants.answers import SchemaChecks, SchemaMismatch, ShapedAnswer, read_answer
from disputatio.participants.human.surface import Invite, Passed, Situation, Surface, TurnRequest
from disputatio.participants.scripted import Scripted
from disputatio.participants.turn_taking import Reject, TurnResult
from disputatio.record.text import canonical

PersonTurn: TypeAlias = Generator[Invite | Reject, Any, TurnResult | Abstention]
"""Takes a person's turn. On resume, an unfinished turn is requested again with its draft."""

KIND = "person"
MOST_TRIES = 50
"""Invalid answers after which a seat abstains: a broken surface would loop for ever."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person in a seat. ``name`` goes into the record and must be the same on resume; it may be empty."""

    surface: Surface
    name: str = ""

    def as_json(self) -> JsonObject:
        """The person as the record names them."""
        return {"kind": KIND, "name": self.name}

    def take(self, path: AskPath, ask: Ask, checks: SchemaChecks, situation: Situation) -> PersonTurn:
        """Take the turn. An invalid answer is requested again until it fits, a broken rule as often as of a model."""
        request = TurnRequest(path, ask, situation, checks)
        best: TurnResult | None = None
        rule_asks = asked = 0
        for _ in range(MOST_TRIES):
            given = yield Invite(request)
            asked += 1
            for sentence in given.tried:
                yield Reject("", "shape", (sentence,))
            if isinstance(given, Passed):
                return best._replace(asked=asked) if best else Abstention(ask.seat, given.reason, given.detail)
            read = read_answer(canonical(given.content), ask.spec.schema, checks)
            if isinstance(read, SchemaMismatch):
                yield Reject("", "shape", read.reasons)
                request = replace(request, reasons=read.reasons, because="shape", last=given.content)
                continue
            taken = _taken(ask, read)
            if best is None or len(taken.violations) <= len(best.violations):
                best = taken
            if not best.violations or rule_asks >= ask.limits.rule_asks:
                return best._replace(asked=asked)
            rule_asks += 1
            reasons = tuple(row.detail for row in taken.violations)
            yield Reject("", "rule", reasons)
            request = replace(request, reasons=reasons, because="rule", last=given.content)
        return best or Abstention(ask.seat, "misfit", f"{asked} answers did not fit the form")


def _taken(ask: Ask, answer: ShapedAnswer) -> TurnResult:
    turn = ask.spec.read(answer.content)
    return TurnResult(turn, answer.content, ask.spec.violations(turn), answer.repaired)


Participant: TypeAlias = Scripted | Person
"""A participant that replaces a model in a seat."""
