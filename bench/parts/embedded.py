"""A debate of the embedded model on this machine: its time, and the prompt tokens that had to be read anew."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path

from measured import Figure

from disputatio.engine.runtime import Runtime, start
from disputatio.participants.embedded import ModelUnavailableError, cache, obtain
from disputatio.participants.embedded.server_spec import Address
from disputatio.proposals import proposal_of, read_request
from disputatio.record.events import CallMade
from disputatio.record.sql import SqlStore
from disputatio.record.verified import read_verified

TITLE = "Embedded model"
ABOUT = (
    "One structured debate by the embedded model, in this process and on these cores, after its weights were loaded. "
    "*Evaluated* are the prompt tokens that its server did not find in its cache."
)


def figures() -> list[Figure]:
    """The rows of this part."""
    return asyncio.run(_held())


def _processor_seconds(cache_folder: Path) -> float:
    """What the one server that runs out of ``cache_folder`` has used so far, in seconds of processor time."""
    (published,) = cache_folder.glob("embedded/servers/*/address.json")
    address = Address.read(published)
    if address is None:
        raise AssertionError("the server of a debate that has just ended still runs")
    ticks = Path(f"/proc/{address.process}/stat").read_text("ascii").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


async def _held() -> list[Figure]:
    try:
        weights = (await obtain()).path
    except ModelUnavailableError as error:
        return [Figure(name="Seconds of a debate", value=None, unit="s", note=str(error))]
    with tempfile.TemporaryDirectory() as folder:
        # A server of its own: one that serves somebody else as well is slower, and its cache is not this debate's.
        own = Path(folder, "embedded", weights.relative_to(cache.directory()))
        own.parent.mkdir(parents=True)
        own.symlink_to(weights)
        os.environ |= {"LLM_PROVIDER": "embedded", "DISPUTATIO_CACHE": folder, "DISPUTATIO_EMBEDDED_LINGER_S": "1"}
        store = SqlStore(f"{folder}/bench.sqlite")
        order = read_request({"motion": "Cities should close their centres to private cars", "seed": 1})
        begun = time.monotonic()
        debate = await start(proposal_of(order, {}), Runtime(store, checks_first=False))
        took = time.monotonic() - begun
        busy = _processor_seconds(Path(folder))
        calls = [
            row for row in (sealed.event() for sealed in read_verified(store, debate)) if isinstance(row, CallMade)
        ]
        await store.aclose()
    sent = sum(row.usage["input_tokens"] or 0 for row in calls)
    found = sum(row.usage["cached_tokens"] or 0 for row in calls)
    written = sum(row.usage["output_tokens"] or 0 for row in calls)
    return [
        Figure(
            name="Seconds of a debate",
            value=took,
            unit="s",
            at_most=33,
            note=f"{len(calls)} calls on {os.cpu_count()} cores; loading the weights included",
        ),
        Figure(name="Seconds of processor time of the server", value=busy, unit="s"),
        Figure(name="Cores at work on average", value=busy / took, unit="cores", note="fewer beside other work"),
        Figure(name="Prompt tokens sent", value=sent, unit="tokens"),
        Figure(name="Prompt tokens evaluated", value=sent - found, unit="tokens"),
        Figure(name="Evaluated, of those sent", value=100 * (sent - found) / sent, unit="%"),
        Figure(name="Tokens written", value=written, unit="tokens"),
        Figure(name="Tokens written in a second of processor time", value=written / busy, unit="tokens/s"),
        Figure(name="Tokens written in a second of the debate", value=written / took, unit="tokens/s"),
    ]
