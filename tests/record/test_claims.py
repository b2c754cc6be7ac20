"""A debate has one writer at a time, and a dead writer stands in nobody's way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from disputatio.failures import StoreError
from disputatio.record import Store
from disputatio.record.sql import SqlStore

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
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match="being held by another process"):
            own.claim("d1")
        own.claim("d2")
        holder.kill()
        holder.wait()
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
    from disputatio.record.store import Writing

    store = SqlStore(str(tmp_path / "s.sqlite"))
    await store.aclose()
    with pytest.raises(RuntimeError, match="closed"):
        store.append(Writing("d1", (), {}))
