"""Takes what servers send that are no models, and says what came of it and how much memory it took.

Run as a process of its own. The arguments are one JSON object: ``surface`` (tool, series or evidence), ``usual`` and
``ends``, which say what is read, and ``timeout_s``.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from endless_caller import memory_mb

from disputatio._service import fetching
from disputatio._service.problems import RefusedError
from disputatio.errors import InvalidInputError
from disputatio.evidence.sources import SourceSet
from disputatio.market.sources.errors import SourceError
from disputatio.market.sources.live import Fetcher, Fred
from disputatio.market.sources.moments import NEW_YORK, second_at
from disputatio.market.sources.series_catalogue import MACRO
from disputatio.tools import mcp_connection
from disputatio.tools.protocol import McpServer, ToolLimits
from disputatio.tools.toolset import open_tools


async def tool(end: Any, timeout_s: float) -> tuple[str, str]:
    """What a call of a tool brings; ``end`` is the address of its server, or its command."""
    mcp_connection.CONNECT_S = timeout_s
    server = McpServer("demo", url=end) if isinstance(end, str) else McpServer("demo", tuple(end))
    try:
        box = await open_tools({"pro": ("demo",)}, SourceSet(), {"demo": server}, ToolLimits(timeout_s=timeout_s))
    except InvalidInputError as error:
        return "unusable", error.cause
    try:
        result = await box.call("demo.lookup", {"word": "x"})
        return str(result.fault or ""), result.text
    finally:
        await box.aclose()


async def series(end: str, timeout_s: float) -> tuple[str, str]:
    """What FRED says."""
    with tempfile.TemporaryDirectory() as folder:
        fred = Fred("hidden-key", Fetcher(Path(folder), pause=lambda _: None, attempts=1), end, timeout_s)
        try:
            fred.rows(MACRO["GDP"], second_at("2024-03-28", "12:00:00", NEW_YORK), "2024-03-28")
        except SourceError as error:
            return "source", str(error)
    return "", ""


class OneMachine:
    """A network whose every name leads to one port here."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def addresses(self, host: str) -> list[str]:
        return ["93.184.216.34"]

    def end_of(self, address: str, port: int) -> tuple[str, int]:
        return "127.0.0.1", self._port


async def evidence(end: str, timeout_s: float) -> tuple[str, str]:
    """What the service fetches for a caller."""
    fetching.SECONDS = timeout_s
    network = OneMachine(int(end.rpartition(":")[2]))
    try:
        _, raw = await fetching.fetch("http://docs.example/a", frozenset({"docs.example"}), 1_000_000, network)
    except RefusedError as error:
        return str(error.status), f"{error.cause} {error.next_step}"
    return "", raw.decode()


SURFACES = {"tool": tool, "series": series, "evidence": evidence}


async def main(given: dict[str, Any]) -> None:
    read = SURFACES[given["surface"]]
    # Whatever is imported and kept for the process belongs to no answer.
    usual = await read(given["usual"], 20.0)
    for end in given["ends"]:
        gc.collect()
        # From now on the most is counted anew.
        Path("/proc/self/clear_refs").write_text("5")
        before, begun = memory_mb("VmRSS"), time.monotonic()
        fault, said = await read(end, given["timeout_s"])
        grown, seconds = memory_mb("VmHWM") - before, time.monotonic() - begun
        told = {"fault": fault, "said": said[:2_000], "grown_mb": grown, "seconds": seconds, "usual": usual}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
