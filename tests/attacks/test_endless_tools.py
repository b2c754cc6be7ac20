"""Servers of tools, series and evidence whose answers do not end: large, compressed, streamed and dripped."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from attack_table import Attack
from endless_program import FLOODS as PROGRAMS
from endless_servers import (
    CHUNKED,
    CLOSE,
    EVENTS,
    FLOOD,
    GZIP,
    JSON,
    OK,
    Attacker,
    McpAttacker,
    for_ever,
    numbered,
    serving,
    squeezed,
)

import disputatio
from disputatio.engine.escalation import CallbackTarget
from disputatio.evidence.sources import SourceSet
from disputatio.record.memory import MemoryStore
from disputatio.report.reading import DebateReport
from disputatio.tools.protocol import McpServer, ToolFault, ToolLimits
from disputatio.tools.toolset import open_tools

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
MOST_MB = 64.0
"""Megabytes that one answer may take. The bound of a tool is 4 MB, which is held several times while it is parsed."""
LIMIT_S = 1.0
"""Seconds that each call may take in these tests."""
CLOSING_S = 8.0
"""Seconds that a server has to end by itself, which these do not use."""
PROGRAM = [sys.executable, str(HERE / "endless_program.py")]
PLAIN = [sys.executable, str(HERE.parent / "tools" / "plain_server.py"), "good"]


def begun(number: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % number


NOTE = (
    b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n'
)
FLOODS: dict[str, Any] = {
    "a text": lambda number: [OK, JSON, CLOSE, begun(number), for_ever(b"ab ")],
    "pieces of HTTP": lambda number: [OK, JSON, CHUNKED, CLOSE, for_ever(b"4\r\nabcd\r\n")],
    "blanks before the JSON": lambda number: [OK, JSON, CLOSE, for_ever(b" \n")],
    "lists in lists": lambda number: [OK, JSON, CLOSE, for_ever(b"[")],
    "gzip": lambda number: [OK, JSON, GZIP, CLOSE, squeezed(31, begun(number), b"a" * 2**24)],
    "an error": lambda number: [b"HTTP/1.1 400 No\r\n", JSON, CLOSE, begun(number), for_ever(b"ab ")],
    "a compressed error": lambda number: [b"HTTP/1.1 400 No\r\n", JSON, GZIP, CLOSE, squeezed(31, b"", b"a" * 2**24)],
    "notes": lambda number: [OK, EVENTS, CLOSE, for_ever(NOTE)],
    "one line of a stream": lambda number: [OK, EVENTS, CLOSE, b"data: ", for_ever(b"ab ")],
    "one event of many lines": lambda number: [OK, EVENTS, CLOSE, for_ever(b"data: a\n")],
    "comments": lambda number: [OK, EVENTS, CLOSE, for_ever(b": still here\n\n")],
    "a compressed stream": lambda number: [OK, EVENTS, GZIP, CLOSE, squeezed(31, b"", NOTE * 50_000)],
    "headers": lambda number: [OK, numbered(b"X-%d: a\r\n")],
    "interim responses": lambda number: for_ever(b"HTTP/1.1 100 Continue\r\n\r\n"),
}
DRIPS: dict[str, Any] = {
    "headers": lambda number: [OK, b"X: ", itertools.repeat(b"a")],
    "a text": lambda number: [OK, JSON, CLOSE, begun(number), itertools.repeat(b"a")],
    "comments": lambda number: [OK, EVENTS, CLOSE, itertools.repeat(b": still here\n\n")],
    "notes": lambda number: [OK, EVENTS, CLOSE, itertools.repeat(NOTE)],
    "a stream that is resumed": lambda number: [OK, EVENTS, CLOSE, b"id: 1\nretry: 0\n\n"],
    "a stream that is resumed and drips": lambda number: [OK, EVENTS, b"id: 1\nretry: 0\n\n", itertools.repeat(b"a")],
}


async def read(surface: str, usual: Any, ends: list[Any], timeout_s: float = 60.0) -> list[dict[str, Any]]:
    """What reading from each of ``ends`` brought, in a process of its own."""
    order = {"surface": surface, "usual": usual, "ends": ends, "timeout_s": timeout_s}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "endless_reader.py"), json.dumps(order), stdout=pipe, stderr=pipe
    )
    try:
        async with asyncio.timeout(100):
            out, err = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    assert process.returncode == 0, err.decode()[-4_000:]
    return [json.loads(line) for line in out.splitlines()]


async def over_http(method: str, scripts: dict[str, Any], pause_s: float = 0.0, **given: Any) -> list[Any]:
    """The name of each script, what calling its server brought, and the server."""
    attackers = [McpAttacker(method, script, pause_s) for script in scripts.values()]
    usual = McpAttacker("", list)
    async with serving(*attackers, usual):
        found = await read("tool", f"{usual.url}/mcp", [f"{row.url}/mcp" for row in attackers], **given)
        for attacker in attackers:
            assert await attacker.is_left(), "a connection is still open after its debate"
    assert found[0]["usual"] == ["", "lookup: x"]
    return list(zip(scripts, found, attackers, strict=True))


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "initialize"])
async def test_an_endless_answer_of_a_tool_is_stopped(attack: Attack, method: str) -> None:
    for name, found, server in await over_http(method, FLOODS, timeout_s=LIMIT_S):
        attack.figure("memory", found["grown_mb"], "MB")
        attack.figure("longest call", found["seconds"], "s")
        stopped = found["grown_mb"] < MOST_MB and server.sent < FLOOD and found["seconds"] < LIMIT_S + CLOSING_S
        attack.check(found["fault"] and found["said"] and stopped, (name, found, server.sent))


@pytest.mark.parametrize("method", ["tools/call", "initialize"])
async def test_a_dripping_tool_ends_with_its_time(attack: Attack, method: str) -> None:
    for name, found, server in await over_http(method, DRIPS, pause_s=0.01, timeout_s=LIMIT_S):
        attack.figure("longest call", found["seconds"], "s")
        attack.check(found["fault"] in {"timed_out", "unusable", "failed"}, (name, found))
        attack.check(found["seconds"] < LIMIT_S + CLOSING_S, (name, found, server.sent))


async def test_nothing_is_read_after_the_time_of_a_call(attack: Attack) -> None:
    """The debate goes on with the same server: its connection is closed with the call, and not with the debate."""
    attackers = [McpAttacker("tools/call", script, 0.01) for script in DRIPS.values()]
    async with serving(*attackers):
        for name, attacker in zip(DRIPS, attackers, strict=True):
            demo = {"demo": McpServer("demo", url=f"{attacker.url}/mcp")}
            box = await open_tools({"pro": ("demo",)}, SourceSet(), demo, ToolLimits(timeout_s=0.3))
            results = await asyncio.gather(*(box.call("demo.lookup", {"word": "x"}) for _ in range(3)))
            for result in results:
                attack.check(result.fault in {ToolFault.TIMED_OUT, ToolFault.UNREACHABLE}, (name, result))
            # Connections that wait for a next call may stay; none of them is read from.
            attack.check(await attacker.is_unread(), f"{name}: {attacker.answering} answers are still read")
            await box.aclose()
            attack.check(await attacker.is_left(), f"{name}: the connection")


@pytest.mark.parametrize("method", ["tools/call", "initialize"])
async def test_a_program_that_writes_without_an_end_is_stopped(attack: Attack, tmp_path: Path, method: str) -> None:
    told = [tmp_path / str(number) for number in range(len(PROGRAMS))]
    ends = [[*PROGRAM, name, method, str(path)] for name, path in zip(PROGRAMS, told, strict=True)]
    for name, path, found in zip(PROGRAMS, told, await read("tool", PLAIN, ends, 20.0), strict=True):
        attack.figure("memory", found["grown_mb"], "MB")
        attack.figure("longest call", found["seconds"], "s")
        attack.check(found["grown_mb"] < MOST_MB and "more than" in found["said"], (name, found))
        attack.check(is_gone(path), f"{name}: the program still runs")


async def test_a_program_that_drips_is_ended_with_the_debate(attack: Attack, tmp_path: Path) -> None:
    told = tmp_path / "process"
    (found,) = await read("tool", PLAIN, [[*PROGRAM, "drip", "tools/call", str(told)]], LIMIT_S)
    attack.check(found["fault"] == "timed_out" and found["seconds"] < LIMIT_S + CLOSING_S, found)
    attack.check(is_gone(told), "the program still runs")


def is_gone(told: Path) -> bool:
    """Whether the process whose id is in a file has ended."""
    try:
        os.kill(int(told.read_text()), 0)
    except ProcessLookupError:
        return True
    return False


SERIES: dict[str, Any] = {
    "a text": lambda: [OK, JSON, CLOSE, b'{"observations": "', for_ever(b"ab ")],
    "gzip": lambda: [OK, JSON, GZIP, CLOSE, squeezed(31, b'{"observations": "', b"a" * 2**24)],
    "an error": lambda: [b"HTTP/1.1 400 No\r\n", JSON, CLOSE, for_ever(b"ab ")],
    "a compressed error": lambda: [b"HTTP/1.1 400 No\r\n", JSON, GZIP, CLOSE, squeezed(31, b"", b"a" * 2**24)],
    "headers": lambda: [OK, numbered(b"X-%d: a\r\n")],
}
SLOW_SERIES: dict[str, Any] = {
    "a text": lambda: [OK, JSON, CLOSE, itertools.repeat(b" ")],
    "headers": lambda: [OK, b"X: ", itertools.repeat(b"a")],
}


def usual_of(surface: str) -> Iterable[bytes]:
    row = {"date": "2024-01-01", "realtime_start": "2024-02-01", "value": "1.5"}
    body = json.dumps({"observations": [row]}).encode() if surface == "series" else b"The bridge is 40 metres long."
    return [OK, JSON if surface == "series" else b"Content-Type: text/plain\r\n", CLOSE, body]


async def read_from(surface: str, scripts: dict[str, Any], pause_s: float = 0.0, **given: Any) -> list[Any]:
    attackers = [Attacker(script(), pause_s) for script in scripts.values()]
    usual = Attacker(usual_of(surface))
    async with serving(*attackers, usual):
        found = await read(surface, usual.url, [row.url for row in attackers], **given)
        for attacker in attackers:
            assert await attacker.is_left()
    assert found[0]["usual"][0] == "", found[0]
    return list(zip(scripts, found, attackers, strict=True))


@pytest.mark.parametrize("surface", ["series", "evidence"])
async def test_endless_series_and_evidence_are_stopped(attack: Attack, surface: str) -> None:
    for name, found, server in await read_from(surface, SERIES):
        attack.figure("memory", found["grown_mb"], "MB")
        attack.check(found["fault"] and found["grown_mb"] < MOST_MB and server.sent < FLOOD, (name, found))
        attack.check("hidden-key" not in found["said"], (name, found))


@pytest.mark.parametrize("surface", ["series", "evidence"])
async def test_dripping_series_and_evidence_end_in_time(attack: Attack, surface: str) -> None:
    for name, found, _ in await read_from(surface, SLOW_SERIES, pause_s=0.01, timeout_s=LIMIT_S):
        attack.figure("longest call", found["seconds"], "s")
        attack.check(found["fault"] and found["seconds"] < LIMIT_S + 3, (name, found))


CALLBACKS: dict[str, Any] = {
    "a text": (lambda: [OK, JSON, CLOSE, for_ever(b"ab ")], 0.0),
    "gzip": (lambda: [OK, JSON, GZIP, CLOSE, squeezed(31, b"", b"a" * 2**24)], 0.0),
    "headers": (lambda: [OK, numbered(b"X-%d: a\r\n")], 0.0),
    "a dripping text": (lambda: [OK, JSON, CLOSE, itertools.repeat(b"a")], 0.01),
    "dripping headers": (lambda: [OK, b"X: ", itertools.repeat(b"a")], 0.01),
}


def vote(ask: Any, path: Any, reasons: Any) -> Any:
    return {"stance": "A stance", "rationale": "A rationale", "vote": "release"}


async def test_a_callback_that_answers_without_an_end_is_left(attack: Attack) -> None:
    """The decision was handed over; what the server says of it is read up to a bound of bytes and seconds."""
    store = MemoryStore()
    seats = {name: disputatio.Scripted(vote) for name in ("planner", "critic")}
    debate = await disputatio.debate("We should ship", format=disputatio.Panel(rounds=1), seats=seats, store=store)
    report = DebateReport.of(debate.id, store.read(debate.id), store.texts(debate.id))
    for name, (script, pause_s) in CALLBACKS.items():
        attacker = Attacker(script(), pause_s)
        async with serving(attacker):
            began = time.monotonic()
            handed = await CallbackTarget(attacker.url, LIMIT_S).take(report, None)
            taken = time.monotonic() - began
            attack.figure("longest call", taken, "s")
            attack.check(taken < LIMIT_S + 2, (name, taken))
            attack.check(attacker.sent < FLOOD, (name, attacker.sent))
            known = bool(handed.failure) if pause_s or name == "headers" else len(handed.answer) == 2_000
            attack.check(known and await attacker.is_left(), (name, handed))
