"""A seat that a person takes, and the drafts of their turns.

A surface asks the person, under the same schema and rules as a model. The record names the person. No prompt does, so
no seat and no judge can tell.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from disputatio.kernel import Abstention, Ask, AskPath, JsonObject
from disputatio.participants.answers import SchemaChecks, SchemaMismatch, ShapedAnswer, read_answer
from disputatio.participants.human.surface import Invite, Passed, Situation, Surface, TurnRequest
from disputatio.participants.scripted import Scripted
from disputatio.participants.turn_taking import Reject, TurnResult
from disputatio.record.text import canonical

_MOST_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class DraftBook:
    """The drafts under one folder."""

    folder: Path

    def read(self, debate: str, path: str) -> JsonObject:
        """The draft of the turn at ``path``; empty where there is none that can be read."""
        try:
            body = json.loads(self._file(debate, path).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return body["content"] if isinstance(body, dict) and isinstance(body.get("content"), dict) else {}

    def keep(self, debate: str, path: str, content: JsonObject) -> bool:
        """Keep ``content`` as the draft of that turn; whether it could be kept."""
        file = self._file(debate, path)
        text = json.dumps({"path": path, "content": content}, ensure_ascii=True)
        if len(text) > _MOST_BYTES:
            return False
        beside = file.with_suffix(f".{os.getpid()}.new")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            # A draft is private.
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
                out.write(text)
            beside.replace(file)
        except OSError:
            return False
        return True

    def drop(self, debate: str, path: str) -> None:
        """Forget the draft of one turn."""
        with suppress(OSError):
            self._file(debate, path).unlink()

    def paths(self, debate: str) -> tuple[str, ...]:
        """The turns of ``debate`` that have a draft."""
        found: list[str] = []
        for file in sorted(self._of(debate).glob("*.json")):
            with suppress(OSError, ValueError, KeyError, TypeError):
                found.append(str(json.loads(file.read_text("utf-8"))["path"]))
        return tuple(found)

    def clear(self, debate: str) -> None:
        """Forget all drafts of ``debate``."""
        for path in self.paths(debate):
            self.drop(debate, path)
        with suppress(OSError):
            self._of(debate).rmdir()

    def _of(self, debate: str) -> Path:
        return self.folder / (debate if debate.isalnum() else hashlib.sha256(debate.encode()).hexdigest()[:16])

    def _file(self, debate: str, path: str) -> Path:
        return self._of(debate) / f"{hashlib.sha256(path.encode()).hexdigest()[:24]}.json"


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
