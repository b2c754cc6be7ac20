"""A record of 5,000 turns is read and drawn within bounds. What alters it is found, as far as SECURITY.md promises."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from attack_table import Attack

import disputatio
from disputatio.record.chain import GENESIS, Sealed, find_fault
from disputatio.record.memory import MemoryStore
from disputatio.record.sql import SqlStore
from disputatio.record.store import EventBatch
from disputatio.record.text import canonical
from disputatio.testing import InstanceClient

pytestmark = pytest.mark.slow
TURNS = 5_000
VERIFICATION = 6
LONGEST_S = 15.0
"""Seconds for a command on the record; each took 2 to 5 where this was written."""


def resealed(rows: Sequence[tuple[str, str, str]], debate: str) -> Iterator[Sealed]:
    """Events of the time, kind and body that each row has, in a whole chain."""
    previous = GENESIS
    for number, (at, kind, body) in enumerate(rows, start=1):
        bare = Sealed(debate, number, at, kind, body, previous, "")
        yield (sealed := bare._replace(hash=bare.computed_hash()))
        previous = sealed.hash


@pytest.fixture(scope="module")
def long_record(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, list[Sealed], dict[str, str]]:
    """The store, the id, the events and the texts of a debate whose first round was said again and again."""
    store = MemoryStore()
    held = disputatio.debate_sync(
        "We should split the service",
        format=disputatio.Freeform(rounds=1),
        seats={"all": "ollama:fake"},
        client_factory=lambda *_: InstanceClient(),
        store=store,
    )
    rows = [(row.at, row.kind, row.body) for row in store.read(held.id)]
    first = [row for row in rows if "round-1" in row[2] and "judging/judge" not in row[2] and row[1] != "DebateOpened"]
    before, after = rows[: rows.index(first[0])], rows[rows.index(first[-1]) + 1 :]
    rounds = [
        (at, kind, body.replace("round-1", f"round-{number}"))
        for number in range(1, TURNS // 2 + 1)
        for at, kind, body in first
    ]
    events, texts = list(resealed([*before, *rounds, *after], held.id)), dict(store.texts(held.id))
    place = f"sqlite:///{tmp_path_factory.mktemp('long')}/store.sqlite"
    write(place, held.id, events, texts)
    return place, held.id, events, texts


def write(place: str, debate: str, events: Sequence[Sealed], texts: dict[str, str]) -> None:
    async def appended() -> None:
        store = SqlStore(place)
        store.claim(debate)
        await store.append(EventBatch(debate, tuple(events), texts))
        store.release(debate)
        await store.aclose()

    asyncio.run(appended())


def run(place: str, *command: str) -> tuple[subprocess.CompletedProcess[str], float]:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "disputatio", *command, "--store", place],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr[-2_000:]
    return done, time.monotonic() - began


def test_a_record_of_5000_turns_is_shown_and_verified(long_record: Any, attack: Attack, tmp_path: Path) -> None:
    place, debate, events, _ = long_record
    assert sum(row.kind == "TurnTaken" for row in events) == TURNS + 1
    page = tmp_path / "page.html"
    for command in (
        ("verify", debate),
        ("verify", debate, "--head", events[-1].hash),
        ("show", debate),
        ("show", debate, "--as", "json"),
        ("show", debate, "--as", "html", "--out", str(page)),
        ("list",),
    ):
        done, seconds = run(place, *command)
        attack.check(done.returncode == 0 and seconds < LONGEST_S, (command, seconds, done.stderr[-500:]))
        attack.figure(
            " ".join(word for word in command if word in {"verify", "show", "list", "json", "html"}), seconds, "s"
        )
    attack.check(page.is_file() and "round-2500" in page.read_text("utf-8").lower().replace(" ", "-"), "the page")


def own_hash(row: Sealed) -> str:
    """The hash that the event would have with another time."""
    return row._replace(at="2001" + row.at[4:]).computed_hash()


def altered(events: list[Sealed], place: int) -> list[tuple[str, list[Sealed]]]:
    """The record with one event altered, in each way that there is."""
    row, before, after = events[place], events[:place], events[place + 1 :]
    return [
        ("body", [*before, row._replace(body=row.body[:-1] + " }"), *after]),
        ("time", [*before, row._replace(at="2001" + row.at[4:]), *after]),
        ("kind", [*before, row._replace(kind="CallLost"), *after]),
        ("hash", [*before, row._replace(hash="0" * 64), *after]),
        ("dropped", [*before, *after]),
        ("doubled", [*before, row, *events[place:]]),
        ("sealed alone", [*before, row._replace(at="2001" + row.at[4:], hash=own_hash(row)), *after]),
    ]


def test_an_alteration_anywhere_in_a_long_record_is_found(long_record: Any, attack: Attack) -> None:
    """All ways in turn over the whole length; `tests/record/test_chain.py` has any change of any field."""
    _, _, events, _ = long_record
    assert find_fault(events, None) is None
    for number, place in enumerate(range(0, len(events) - 1, 100)):
        ways = altered(events, place)
        way, changed = ways[number % len(ways)]
        began = time.monotonic()
        attack.check(find_fault(changed, None), (place, way))
        attack.figure("slowest check", time.monotonic() - began, "s")


TAMPERING = {
    "a turn": "UPDATE events SET body = replace(body, 'speech', 'spoken') WHERE kind = 'TurnTaken' AND seq % 1000 < 4",
    "the last event": "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)",
    "an event in the middle": "DELETE FROM events WHERE seq = 9999",
    "the time of the first": "UPDATE events SET at = '2001-01-01T00:00:00.000000Z' WHERE seq = 1",
    "a text": "UPDATE texts SET text = text || ' ' WHERE hash = (SELECT min(hash) FROM texts)",
    "the list": "UPDATE debates SET head = hex(zeroblob(32))",
}


@contextmanager
def tampered(place: str, statement: str, *values: str) -> Iterator[str]:
    """A copy of a store after one statement."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "store.sqlite")
        shutil.copy(place.removeprefix("sqlite:///"), copy)
        with closing(sqlite3.connect(copy)) as connection, connection:
            assert connection.execute(statement, values).rowcount > 0, statement
        yield f"sqlite:///{copy}"


def test_tampering_with_a_long_record_in_its_store_is_found(long_record: Any, attack: Attack) -> None:
    place, debate, _, _ = long_record
    for name, statement in TAMPERING.items():
        with tampered(place, statement) as store:
            done, seconds = run(store, "verify", debate)
        attack.check(done.returncode == VERIFICATION, (name, done.returncode, done.stdout, done.stderr))
        attack.figure("slowest verification", seconds, "s")


@pytest.fixture(scope="module")
def rehashed(long_record: Any) -> Iterator[tuple[str, str, str, str]]:
    """A store whose record has one altered turn and a whole new chain; the id, the old head and the new one."""
    place, debate, events, texts = long_record
    turn = next(number for number, row in enumerate(events) if row.kind == "TurnTaken")
    content = json.loads(events[turn].body)
    content["content"]["speech"] = "I concede everything."
    rows = [(row.at, row.kind, row.body) for row in events]
    rows[turn] = (rows[turn][0], rows[turn][1], canonical(content))
    forged = list(resealed(rows, debate))
    assert find_fault(forged, texts) is None
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "store.sqlite")
        shutil.copy(place.removeprefix("sqlite:///"), copy)
        with closing(sqlite3.connect(copy)) as connection, connection:
            connection.executemany(
                "UPDATE events SET body = ?, previous = ?, hash = ? WHERE debate = ? AND seq = ?",
                [(row.body, row.previous, row.hash, debate, row.seq) for row in forged],
            )
        yield f"sqlite:///{copy}", debate, events[-1].hash, forged[-1].hash


def test_a_rehashed_record_hangs_on_what_the_list_says(rehashed: Any, attack: Attack) -> None:
    """Where the list of debates is left alone, its anchor finds the new chain."""
    store, debate, _, _ = rehashed
    for command in ("verify", "show"):
        done, _ = run(store, command, debate)
        attack.check(
            done.returncode == VERIFICATION, (command, done.returncode, done.stdout[-300:], done.stderr[-300:])
        )


def test_a_rehashed_record_is_found_by_a_head_kept_elsewhere(rehashed: Any, attack: Attack) -> None:
    """SECURITY.md: a chain does not show that it was replaced as a whole; the head hash that was kept does."""
    store, debate, head, forged = rehashed
    with tampered(store, "UPDATE debates SET head = ?", forged) as replaced:
        alone, _ = run(replaced, "verify", debate)
        found, _ = run(replaced, "verify", debate, "--head", head)
        taken_in, _ = run(replaced, "verify", debate, "--head", forged)
    attack.check(alone.returncode == 0 and forged in alone.stdout, "what is not promised")
    attack.check(found.returncode == VERIFICATION, (found.returncode, found.stdout, found.stderr))
    attack.check(taken_in.returncode == 0, "a head that was taken from the forgery")
