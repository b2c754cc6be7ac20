"""Ask people from a worker. A question is a row in the database until someone answers it elsewhere.

The worker writes the question and polls for an answer. The API and the page read the row and write the answer. Neither
reaches the other, so both may restart. A worker that takes over a debate asks again and finds the row unchanged: open,
with the reason the last answer was rejected, or answered, so that no person writes a turn twice.

A row belongs to one path of one debate. The first question at a path adopts an existing row; a question after a
rejected answer replaces it. Rows are deleted when their debate is over.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from disputatio.errors import StoreError
from disputatio.kernel import JsonObject
from disputatio.participants.human import Filled, Participant, Passed, Person, TurnRequest
from disputatio.participants.human.surface import PendingTurn
from disputatio.record.database import store_errors
from disputatio.record.sql import SqlStore
from disputatio.workers.port import JobState

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

LOOK_SECONDS = 0.5
"""How often a worker polls for answers: one query for all its questions."""
_OPEN = (JobState.WAITING.value, JobState.RUNNING.value)
_LOG = logging.getLogger("disputatio.worker")


@dataclass(frozen=True, slots=True)
class Answered:
    """A submitted answer. ``content`` is None where the person passes."""

    content: JsonObject | None
    tried: tuple[str, ...]


class QuestionTable:
    """The questions in the database of ``store``. Its methods block on the database; call them in a thread."""

    def __init__(self, store: SqlStore) -> None:
        self._engine, self._place = store.engine, store.place

    def ask(self, question: PendingTurn) -> None:
        """Write a question. The first at its path keeps an existing row, answered or not."""
        from disputatio.record.tables import questions

        here = _at(question.debate, question.path)
        body = json.dumps(question.as_json(), ensure_ascii=True)
        row = {"debate": question.debate, "path": question.path, "body": body}
        with store_errors(self._place), self._engine.begin() as connection:
            there = connection.execute(questions.select().where(here).with_for_update()).first()
            if there is not None and not question.because:
                # The worker that takes it now checks the answer again.
                connection.execute(questions.update().where(here), {"breaches": None})
                return
            connection.execute(questions.delete().where(here))
            connection.execute(questions.insert(), {**row, "answer": None, "tried": "[]", "breaches": None})

    def answers(self, asked: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Answered]:
        """The answers to those of ``asked``, pairs of debate and path, that have one."""
        from disputatio.record.tables import questions

        debates = {debate for debate, _ in asked}
        query = questions.select().where(questions.c.debate.in_(debates), questions.c.answer.is_not(None))
        with store_errors(self._place), self._engine.connect() as connection:
            return {
                (row.debate, row.path): Answered(json.loads(row.answer)["content"], tuple(json.loads(row.tried)))
                for row in connection.execute(query)
                if (row.debate, row.path) in asked
            }

    def took(self, debate: str, path: str, breaches: Sequence[str]) -> None:
        """Note that an answer was accepted, and the rules it breaks."""
        from disputatio.record.tables import questions

        with store_errors(self._place), self._engine.begin() as connection:
            connection.execute(questions.update().where(_at(debate, path)), {"breaches": json.dumps(list(breaches))})

    def asked(self, debate: str) -> Sequence[PendingTurn]:
        """The open questions of ``debate`` in the order of paths; none once its job is over."""
        import sqlalchemy as sa

        from disputatio.record.tables import orders, questions

        query = (
            sa.select(questions.c.body)
            .join(orders, orders.c.debate == questions.c.debate)
            .where(questions.c.debate == debate, questions.c.answer.is_(None), orders.c.state.in_(_OPEN))
            .order_by(questions.c.path)
        )
        with store_errors(self._place), self._engine.connect() as connection:
            return [PendingTurn.from_json(json.loads(body)) for body in connection.execute(query).scalars()]

    def submit_answer(self, debate: str, path: str, content: JsonObject | None) -> bool:
        """Answer an open question, or pass with None. False where it is no longer open."""
        from disputatio.record.tables import questions

        answer = json.dumps({"content": content}, ensure_ascii=True)
        with store_errors(self._place), self._engine.begin() as connection:
            still = _at(debate, path) & questions.c.answer.is_(None)
            return bool(connection.execute(questions.update().where(still), {"answer": answer}).rowcount)

    def note_try(self, debate: str, path: str, why: str) -> None:
        """Record an answer that did not have the required form."""
        from disputatio.record.tables import questions

        with store_errors(self._place), self._engine.begin() as connection:
            row = connection.execute(questions.select().where(_at(debate, path)).with_for_update()).first()
            if row is not None:
                tried = json.dumps([*json.loads(row.tried), why])
                connection.execute(questions.update().where(_at(debate, path)), {"tried": tried})

    def violations(self, debate: str, path: str) -> tuple[str, ...] | None:
        """The rules that the answer at ``path`` breaks; None until the worker has read it."""
        from disputatio.record.tables import questions

        with store_errors(self._place), self._engine.connect() as connection:
            row = connection.execute(questions.select().where(_at(debate, path))).first()
        if row is None:
            return ()
        if row.breaches is not None:
            return tuple(json.loads(row.breaches))
        # The answer was rejected and the question asked again.
        return tuple(json.loads(row.body)["reasons"]) if row.answer is None else None


class RemoteSurface:
    """A surface of a worker: writes questions to the table and waits for answers from elsewhere."""

    def __init__(self, book: QuestionTable) -> None:
        self._book = book
        self._waiting: dict[tuple[str, str], asyncio.Future[Answered]] = {}
        self._looking: asyncio.Task[None] | None = None

    def people(self, _debate: str, order: JsonObject) -> Mapping[str, Participant]:
        """The people in the seats that a request leaves to them."""
        seats: Sequence[str] = order.get("people") or ()  # type: ignore[assignment]
        return {seat: Person(self) for seat in seats}

    async def fill(self, request: TurnRequest) -> Filled | Passed:
        """Write the question and wait for its answer, however long."""
        question = PendingTurn.of(request)
        await asyncio.to_thread(self._book.ask, question)
        place = question.debate, question.path
        answer = self._waiting[place] = asyncio.get_running_loop().create_future()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            found = await answer
        finally:
            if self._waiting.get(place) is answer:
                del self._waiting[place]
        breaches = () if found.content is None else request.violations(found.content)
        await asyncio.to_thread(self._book.took, *place, breaches)
        if found.content is None:
            return Passed(tried=found.tried)
        return Filled(found.content, found.tried)

    async def _look(self) -> None:
        """Poll while any question waits."""
        while self._waiting:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                found = await asyncio.to_thread(self._book.answers, frozenset(self._waiting))
            except StoreError as away:
                # People take minutes, so a database outage of seconds does not matter.
                _LOG.warning("%s", away)
                continue
            except Exception as error:
                # Otherwise the waiting tasks would wait forever.
                for unanswered in self._waiting.values():
                    if not unanswered.done():
                        unanswered.set_exception(error)
                raise
            for place, answer in found.items():
                waiting = self._waiting.get(place)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)


def _at(debate: str, path: str) -> ColumnElement[bool]:
    from disputatio.record.tables import questions

    found: Any = (questions.c.debate == debate) & (questions.c.path == path)
    return found  # type: ignore[no-any-return]
