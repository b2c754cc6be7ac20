"""A debate has one writer at a time, and a dead writer stands in nobody's way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from disputatio.errors import StoreError
from disputatio.record.claims import BEAT_SECONDS, ClaimState
from disputatio.record.sql import SqlStore
from disputatio.record.store import Store
from record_makers import Pen, asked, opened

HOLDER = """
import sys
from disputatio.record.sql import SqlStore
store = SqlStore(sys.argv[1])
store.claim("d1")
print("held", flush=True)
sys.stdin.readline()
"""


async def test_a_claim_is_refused_until_it_is_given_back(store: Store) -> None:
    store.claim("d1")
    store.claim("d2")
    with pytest.raises(StoreError, match=r"d1 is being held by another process"):
        store.claim("d1")
    store.release("d1")
    store.release("d1")
    store.claim("d1")


async def test_of_several_claims_those_are_taken_that_are_free(store_url: str) -> None:
    one, other = SqlStore(store_url), SqlStore(store_url)
    assert one.claim_all(["d1", "d2", "d3"]) == {"d1", "d2", "d3"}
    one.release_all(["d2", "d4"])
    assert other.claim_all(["d1", "d2", "d4"]) == {"d2", "d4"}
    # Of one's own too.
    assert one.claim_all(["d1", "d2", "d5"]) == {"d5"}
    other.release_all(["d1", "d2"])
    assert one.claim_all(["d1", "d2", "d3", "d4"]) == {"d2"}
    assert one.claim_all([]) == set()
    one.release_all(["d2", "d3"])
    assert other.claim_all(["d1", "d2", "d3", "d5"]) == {"d2", "d3"}
    await one.aclose()
    await other.aclose()


async def test_two_stores_of_one_process_share_the_claims_of_a_file(tmp_path: Path) -> None:
    one, other = SqlStore(str(tmp_path / "s.sqlite")), SqlStore(str(tmp_path / "s.sqlite"))
    one.claim("d1")
    with pytest.raises(StoreError):
        other.claim("d1")
    other.release("d1")
    with pytest.raises(StoreError):
        other.claim("d1")
    await one.aclose()
    other.claim("d1")
    await other.aclose()


@pytest.mark.slow
async def test_a_claim_ends_with_the_process_that_held_it(store_url: str) -> None:
    own = SqlStore(store_url)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, store_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as runner:
        assert runner.stdout is not None
        assert runner.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match="being held by another process"):
            own.claim("d1")
        own.claim("d2")
        runner.kill()
        runner.wait()
    if "postgresql" in store_url:
        own.release("d2")
        _until_the_server_noticed(own)
    else:
        own.claim("d1")
    await own.aclose()


def _until_the_server_noticed(store: SqlStore) -> None:
    """The server ends a session when it next reads from its dead socket, which is at once but not before our asking."""
    for _ in range(200):
        try:
            store.claim("d1")
        except StoreError:
            store.row("d1")
        else:
            return
    raise AssertionError("the claim of a dead process was kept")


async def test_a_closed_store_takes_no_more_writings(tmp_path: Path) -> None:
    from disputatio.record.store import EventBatch

    store = SqlStore(str(tmp_path / "s.sqlite"))
    await store.aclose()
    with pytest.raises(StoreError, match="closed"):
        store.append(EventBatch("d1", (), {}))


WRITER = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from record_makers import Pen, asked, opened
from disputatio.errors import TakenOverError
from disputatio.record.sql import SqlStore

async def main():
    store, pen = SqlStore(sys.argv[1]), Pen("d1")
    store.claim("d1")
    await store.append(pen.write(opened()))
    print("held", flush=True)
    sys.stdin.readline()
    try:
        await store.append(pen.write(asked(1)))
        print("written", flush=True)
    except TakenOverError as failure:
        print(failure.cause, flush=True)

asyncio.run(main())
"""


@pytest.mark.slow
async def test_a_writer_that_was_stopped_and_overtaken_writes_no_more(postgres_url: str) -> None:
    """A writer that was stopped and overtaken writes no more when it wakes up."""
    own = SqlStore(postgres_url)
    command = [sys.executable, "-c", WRITER, postgres_url, str(Path(__file__).parents[1])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdin is not None
        assert writer.stdout.readline() == "held\n"
        seen = own.claim_state("d1")
        assert seen is not None
        os.kill(writer.pid, signal.SIGSTOP)
        # It lives and holds its lock, so that it cannot be told from one that works but by its count standing still.
        with pytest.raises(StoreError, match="being held by another process"):
            own.claim("d1")
        still = _until_it_counts_no_more(own)
        assert not own.revoke("d1", replace(still, beats=(still.beats or 0) + 1))
        assert own.revoke("d1", still)
        own.claim("d1")
        pen = Pen("d1")
        pen.write(opened())
        taken = own.read("d1")
        pen.chain[:] = list(taken)
        await own.append(pen.write(asked(2)))
        os.kill(writer.pid, signal.SIGCONT)
        writer.stdin.write("go\n")
        writer.stdin.flush()
        assert writer.stdout.readline().startswith("The debate d1 was taken over by another process")
        writer.wait()
    assert [row.hash for row in own.read("d1")] == [row.hash for row in pen.chain]
    await own.aclose()


def _until_it_counts_no_more(store: SqlStore) -> ClaimState:
    """What is seen of a writer twice, further apart than its beats are."""
    before = store.claim_state("d1")
    while True:
        until = time.monotonic() + 1.5 * BEAT_SECONDS
        while time.monotonic() < until:
            store.row("d1")
        now = store.claim_state("d1")
        assert now is not None
        if now == before:
            return now
        before = now


@pytest.mark.slow
async def test_a_token_grows_whenever_a_claim_changes_hands(postgres_url: str) -> None:
    one, other = SqlStore(postgres_url), SqlStore(postgres_url)
    tokens = []
    for store in (one, other, one):
        store.claim("d1")
        standing = store.claim_state("d1")
        assert standing is not None
        tokens.append(standing.token)
        store.release("d1")
        assert store.claim_state("d1") is None
    assert tokens == sorted(set(tokens))
    await one.aclose()
    await other.aclose()


@pytest.mark.slow
async def test_a_writing_outlives_a_line_that_is_cut(postgres_url: str) -> None:
    import sqlalchemy as sa

    store, pen = SqlStore(postgres_url), Pen("d1")
    store.claim("d1")
    await store.append(pen.write(opened()))
    cutting = sa.create_engine(postgres_url, poolclass=sa.NullPool)
    with cutting.connect() as connection:
        cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        assert connection.exec_driver_sql(f"{cut} AND datname = current_database()").scalar()
    await store.append(pen.write(asked(1)))
    assert list(store.read("d1")) == pen.chain
    await store.aclose()
