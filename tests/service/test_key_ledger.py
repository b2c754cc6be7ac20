"""Whatever is ordered and resumed, with which keys and on which days: no key spends more than its budget."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from disputatio._service.keys import KEYLESS, Caller, Key, Period
from disputatio._service.problems import RefusedError, refusal_of
from disputatio._service.service import Choices, Service
from disputatio.errors import DisputatioError
from disputatio.participants.call import Call, OnText, Reply, Usage
from disputatio.testing import InstanceClient
from disputatio.testing.scripted import counted_usage
from disputatio.workers import NewCeilings
from strategies import examples, share

pytestmark = pytest.mark.slow
HOUR_NS = 3_600 * 10**9
USD = st.sampled_from(["0.60", "1", "0.30", "2", "0.15", "0.000000001"]).map(Decimal)
TOKENS = st.sampled_from([15_000, 30_000, 8_000, 60_000, 1])
NUMBERS, PAUSES = st.integers(0, 11), st.sampled_from([0.0, 0.01, 0.05])
CALLS = st.integers(1, 4)
LIMITS = st.sampled_from(["usd", "tokens", "both", "none"])


def usage(call: Call, text: str) -> Usage:
    """As many tokens of output as the call allows, or fewer."""
    output = round(call.max_tokens * share(*(row.text for row in call.segments)))
    return replace(counted_usage(call, text), output_tokens=output)


class Waiting(InstanceClient):
    """Answers while its gate is open."""

    def __init__(self, gate: asyncio.Event) -> None:
        super().__init__(usage=usage)
        self._gate = gate

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply:
        await self._gate.wait()
        answer = await super().call(call, on_text)
        assert isinstance(answer, Reply)
        return answer


@dataclass(frozen=True)
class Begun:
    """A run as whoever asked for it knows it: the record had ``after`` events, and it was asked for on ``day``."""

    debate: str
    key: str
    owner: str
    after: int
    day: str


class Keys(RuleBasedStateMachine):
    """Orders, resumptions, stops, kills, keys and days, in any order. The oracle reads the raw records."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.runner = asyncio.Runner()
        self.patch = pytest.MonkeyPatch()
        self.shift, now = 0, time.time_ns
        self.patch.setattr(time, "time_ns", lambda: now() + self.shift)
        self.patch.chdir(self.folder)
        for name, value in {"PROVIDER": "openai_compatible", "MODEL": "fake", "PRICE": "20/80", "API_KEY": "k"}.items():
            self.patch.setenv(f"LLM_{name}", value)
        self.patch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
        self.keys: list[Key] = []
        self.runs: list[Begun] = []
        self.went_back = False
        self.stores = 0
        self.open(self.folder / "store0.sqlite")

    def open(self, path: Path) -> None:
        async def begin() -> None:
            self.gate = asyncio.Event()
            self.service = Service(
                Choices(f"sqlite:///{path}", keyless=True),
                client_factory=lambda *_: Waiting(self.gate),
                concurrency=100,
            )
            await self.service.open()

        self.path = path
        self.runner.run(begin())
        self.gate.set()

    def teardown(self) -> None:
        self.runner.run(self.service.close(0))
        self.runner.close()
        self.patch.undo()

    # --- what is done

    @initialize(data=st.data())
    def make_keys(self, data: Any) -> None:
        """Some with a budget, some without."""
        for limited in data.draw(st.lists(LIMITS, min_size=2, max_size=4)):
            usd = data.draw(USD) if limited in {"usd", "both"} else None
            tokens = data.draw(TOKENS) if limited in {"tokens", "both"} else None
            wanted = replace(KEYLESS, name="test", budget_usd=usd, budget_tokens=tokens)
            self.keys.append(self.service.keys.add(replace(wanted, period=data.draw(st.sampled_from(Period))))[0])

    @rule(
        orders=st.lists(
            st.tuples(NUMBERS, st.none() | USD, st.none() | TOKENS, st.integers(1, 4)), min_size=1, max_size=3
        )
    )
    def order(self, orders: list[tuple[int, Decimal | None, int | None, int]]) -> None:
        for number, usd, tokens, calls in orders:
            key = self.keys[number % len(self.keys)]
            body: dict[str, Any] = {"motion": f"We should act {number}", "format": "freeform", "max_calls": calls}
            body |= ({} if usd is None else {"budget_usd": str(usd)}) | (
                {} if tokens is None else {"budget_tokens": tokens}
            )
            day = self.today()
            debate = self.attempt(self.service.start(body, Caller(key), None))
            if debate is not None:
                self.runs.append(Begun(debate[0], key.id, key.id, 0, day))

    @rule(
        number=NUMBERS,
        asked=st.lists(st.tuples(NUMBERS, st.none() | USD, st.none() | TOKENS, PAUSES), min_size=1, max_size=4),
        calls=st.integers(3, 12),
    )
    def resume(self, number: int, asked: list[tuple[int, Decimal | None, int | None, float]], calls: int) -> None:
        self.let_all_end()
        first = [row for row in self.runs if row.after == 0]
        if not first:
            return
        debate, _, owner, *_ = astuple(first[number % len(first)])
        for more, (whose, usd, tokens, pause) in enumerate(asked):
            key = self.keys[whose % len(self.keys)]
            after, day = len(self.record(debate)), self.today()
            raised = NewCeilings(usd, tokens, calls + more)
            if self.attempt(self.service.resume(debate, raised, Caller(key)), done=True):
                self.runs.append(Begun(debate, key.id, owner, after, day))
            self.runner.run(asyncio.sleep(pause))

    @rule(number=NUMBERS, revoked=st.sampled_from([False, False, True]))
    def stop(self, number: int, revoked: bool) -> None:
        """Stop a debate, or all that its key might still do."""
        if len(self.runs) > 3:
            run = self.runs[number % len(self.runs)]
            if revoked:
                self.service.keys.revoke(run.key)
            else:
                self.attempt(self.service.cancel(run.debate))

    @rule(seconds=PAUSES)
    def hold_answers_back(self, seconds: float) -> None:
        async def go_on() -> None:
            await asyncio.sleep(seconds)
            self.gate.clear()

        self.runner.run(go_on())

    def let_all_end(self) -> None:
        async def end() -> None:
            self.gate.set()
            async with asyncio.timeout(60):
                while await self.service.runner.jobs(unfinished=True) or self.service.ledger.unsettled():
                    await asyncio.sleep(0.01)

        self.runner.run(end())

    @rule(hours=st.sampled_from([5, 24, 24, 31 * 24, -1, -30]))
    def move_the_clock(self, hours: int) -> None:
        self.shift += hours * HOUR_NS
        self.went_back |= hours < 0

    @rule(killed=st.booleans())
    def start_again(self, killed: bool) -> None:
        """What a killed server leaves is its database, as it is at that moment."""
        path = self.path
        if killed:
            self.stores += 1
            path = self.folder / f"store{self.stores}.sqlite"
            with sqlite3.connect(self.path) as source, sqlite3.connect(path) as target:
                source.backup(target)
            source.close()
            target.close()
        self.runner.run(self.service.close(0))
        self.open(path)

    def attempt(self, work: Any, *, done: Any = None) -> Any:
        """What the service answers; None where it refuses in words. Nothing else may come of it."""
        try:
            return self.runner.run(work) or done
        except (RefusedError, DisputatioError) as error:
            refused = refusal_of(error)
        assert refused.status in {401, 409, 422, 429}, refused
        assert "inside disputatio" not in refused.cause
        return None

    # --- what holds

    @invariant()
    def no_budget_is_passed(self) -> None:
        for key in self.keys:
            mine = [row for row in self.calls() if key.id in row[:2]]
            began = {Period.DAY: 10, Period.MONTH: 7, Period.TOTAL: 0}[key.period]
            for period in {row[2][:began] for row in mine}:
                usd = sum((row[3] for row in mine if row[2][:began] == period), Decimal(0))
                tokens = sum(row[4] for row in mine if row[2][:began] == period)
                assert key.budget_usd is None or usd <= key.budget_usd
                assert key.budget_tokens is None or tokens <= key.budget_tokens

    @invariant()
    def the_ledger_says_what_the_records_say(self) -> None:
        """Once nothing goes on; a ledger that still reserves something says that less is left."""
        quiet = not self.service.ledger.unsettled() and not self.went_back
        for key in self.keys:
            left = self.service.ledger.room(key.id)
            first = key.period.began(datetime.fromtimestamp(time.time_ns() / 10**9, UTC)).strftime("%Y-%m-%d")
            mine = [row for row in self.calls() if key.id in row[:2] and row[2] >= first]
            for budget, kept, place in ((key.budget_usd, left.usd, 3), (key.budget_tokens, left.tokens, 4)):
                assert (budget is None) == (kept is None)
                if budget is not None and kept is not None:
                    spent = budget - kept
                    really = sum(row[place] for row in mine)
                    # Where the clock was set back, later days count too.
                    assert spent == really if quiet else spent >= min(really, budget)

    def calls(self) -> Iterator[tuple[str, str, str, Decimal, int]]:
        """Every call by the raw records: who caused it, who ordered its debate, the day, US dollars, tokens."""
        for run in self.runs:
            later = [row.after for row in self.runs if row.debate == run.debate and row.after > run.after]
            rows = self.record(run.debate)
            made = {body["call"]: (at, body) for at, kind, body in rows if kind == "CallMade"}
            for at, kind, body in rows[run.after : min(later, default=None)]:
                if kind == "CallSent":
                    came, answer = made.get(body["call"], (at, None))
                    held = body["reserved"]
                    usd = Decimal(answer["cost_usd"] if answer else held["usd"])
                    tokens = answer["charged_tokens"] if answer else held["input_tokens"] + held["output_tokens"]
                    yield run.key, run.owner, max(came[:10], run.day), usd, tokens

    def record(self, debate: str) -> list[tuple[str, str, dict[str, Any]]]:
        query = "SELECT at, kind, body FROM events WHERE debate = ? ORDER BY seq"
        with sqlite3.connect(self.path) as connection:
            rows = [(at, kind, json.loads(body)) for at, kind, body in connection.execute(query, (debate,))]
        connection.close()
        return rows

    def today(self) -> str:
        return datetime.fromtimestamp(time.time_ns() / 10**9, UTC).strftime("%Y-%m-%d")


def test_no_key_spends_more_than_its_budget():
    run_state_machine_as_test(Keys, settings=settings(examples(6), stateful_step_count=40))
