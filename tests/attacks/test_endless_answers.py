"""Servers of models whose answers do not end: large, compressed, streamed, dripped, and in the frame of HTTP itself."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import itertools
import json
import sys
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attack_table import Attack
from endless_servers import (
    CHUNKED,
    CLOSE,
    EVENTS,
    FLOOD,
    GZIP,
    JSON,
    OK,
    Attacker,
    Script,
    for_ever,
    numbered,
    serving,
    squeezed,
)

from disputatio.participants.call import AnswerBound

pytestmark = pytest.mark.slow

TOKENS = 900
MOST_MB = 48.0
"""Megabytes that a call may take. The bound for 900 tokens is 1.5 MB whole and 2.9 MB streamed, held several times."""
CALLER = Path(__file__).with_name("endless_caller.py")

FRAME = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}


def completion(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return json.dumps({**FRAME, "choices": [choice], "usage": usage}).encode()


def delta(finish: str | None = None, **said: str) -> bytes:
    choice = {"index": 0, "delta": said, "finish_reason": finish}
    return b"data: " + json.dumps({**FRAME, "object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"


BEGUN = completion("STOP").partition(b"STOP")[0]
USUAL = {
    False: [OK, JSON, CLOSE, completion("Well said.")],
    True: [OK, EVENTS, CLOSE, delta(content="Well said."), delta("stop"), b"data: [DONE]\n\n"],
}


def twice_squeezed() -> Iterator[bytes]:
    packer = zlib.compressobj(9, wbits=31)
    for part in squeezed(31, BEGUN, b"a" * 2**24):
        yield packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH)


WHOLE: dict[str, Script] = {
    "one text": lambda: [OK, JSON, CLOSE, BEGUN, for_ever(b"ab ")],
    "one text of a stated length": lambda: [
        OK,
        JSON,
        b"Content-Length: 9999999999\r\n",
        CLOSE,
        BEGUN,
        for_ever(b"ab "),
    ],
    "one text in pieces of HTTP": lambda: [
        OK,
        JSON,
        CHUNKED,
        CLOSE,
        for_ever(b"4\r\nabcd\r\n"),
    ],
    "blanks before the JSON": lambda: [OK, JSON, CLOSE, for_ever(b" \n")],
    "gzip": lambda: [OK, JSON, GZIP, CLOSE, squeezed(31, BEGUN, b"a" * 2**24)],
    "deflate": lambda: [OK, JSON, b"Content-Encoding: deflate\r\n", CLOSE, squeezed(15, BEGUN, b"a" * 2**24)],
    "raw deflate": lambda: [OK, JSON, b"Content-Encoding: deflate\r\n", CLOSE, squeezed(-15, BEGUN, b"a" * 2**24)],
    "gzip twice": lambda: [OK, JSON, b"Content-Encoding: gzip, gzip\r\n", CLOSE, twice_squeezed()],
    "an encoding that nobody knows": lambda: [OK, JSON, b"Content-Encoding: x-own\r\n", CLOSE, for_ever(b"ab ")],
}
STREAMED: dict[str, Script] = {
    "words": lambda: [OK, EVENTS, CLOSE, for_ever(delta(content="word "))],
    "reasoning": lambda: [OK, EVENTS, CLOSE, for_ever(delta(reasoning_content="I think "))],
    "a large word": lambda: [OK, EVENTS, CLOSE, for_ever(delta(content="word " * 20_000))],
    "one line": lambda: [OK, EVENTS, CLOSE, b'data: {"x": "', for_ever(b"ab ")],
    "one event of many lines": lambda: [OK, EVENTS, CLOSE, for_ever(b"data: a\n")],
    "comments": lambda: [OK, EVENTS, CLOSE, for_ever(b": still here\n\n")],
    "empty lines": lambda: [OK, EVENTS, CLOSE, for_ever(b"\n")],
    "gzip": lambda: [
        OK,
        EVENTS,
        GZIP,
        CLOSE,
        squeezed(31, b"", delta(content="word ") * 50_000),
    ],
}
FRAMES: dict[str, Script] = {
    "headers": lambda: [OK, numbered(b"X-%d: a\r\n")],
    "one header": lambda: [OK, b"X: ", for_ever(b"a")],
    "a status line": lambda: [b"HTTP/1.1 200 ", for_ever(b"a")],
    "interim responses": lambda: for_ever(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "extensions of a piece": lambda: [OK, JSON, CHUNKED, CLOSE, b"4;", for_ever(b"a=b;")],
    "trailers": lambda: [OK, JSON, CHUNKED, CLOSE, b"0\r\n", numbered(b"X-%d: a\r\n")],
}


async def called(scripts: dict[str, Script], *, pause_s: float = 0.0, **given: Any) -> dict[str, Any]:
    """What each call brought, made in a process of its own, and how much of its script a server could send."""
    attackers = [Attacker(script(), pause_s) for script in scripts.values()]
    usual = Attacker(USUAL[given["streamed"]])
    async with serving(*attackers, usual):
        order = {"urls": [row.url for row in attackers], "usual": usual.url, "max_tokens": TOKENS, "timeout_s": 60}
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(CALLER), json.dumps(order | given), stdout=pipe, stderr=pipe
        )
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        found = [json.loads(line) | {"sent": row.sent} for line, row in zip(out.splitlines(), attackers, strict=True)]
        return dict(zip(scripts, found, strict=True))


async def check(attack: Attack, scripts: dict[str, Script], *, way: str, streamed: bool) -> None:
    bound = AnswerBound.of(TOKENS, streamed=streamed)
    for name, found in (await called(scripts, way=way, streamed=streamed)).items():
        attack.figure("memory", found["grown_mb"], "MB")
        attack.figure("processor", found["worked"], "s")
        stopped = found["kind"] == "answer_too_long" and found["grown_mb"] < MOST_MB and found["sent"] < FLOOD
        told = f"the bound for {TOKENS} tokens" in found["message"] and "SHA-256" in found["message"]
        brief = len(found["text"]) <= 500 and found["heard"] <= bound.size
        attack.check(stopped and told and brief, (name, way, found))


@pytest.mark.parametrize("way", ["direct", "library"])
async def test_a_whole_answer_without_an_end_is_stopped(attack: Attack, way: str) -> None:
    await check(attack, WHOLE, way=way, streamed=False)


async def test_a_streamed_answer_without_an_end_is_stopped(attack: Attack) -> None:
    await check(attack, STREAMED, way="direct", streamed=True)


@pytest.mark.parametrize("way", ["direct", "library"])
async def test_the_frame_of_http_without_an_end_takes_no_memory(attack: Attack, way: str) -> None:
    """What no bound of an answer reaches is stopped by the parser of HTTP, or by the time limit of the call."""
    for name, found in (await called(FRAMES, way=way, streamed=False, timeout_s=3)).items():
        attack.figure("memory", found["grown_mb"], "MB")
        attack.figure("longest call", found["seconds"], "s")
        attack.check(found["kind"] and found["grown_mb"] < MOST_MB and found["seconds"] < 30, (name, way, found))


@pytest.mark.parametrize(("way", "streamed"), [("direct", False), ("library", False), ("direct", True)])
async def test_a_dripping_server_is_stopped_by_the_time_limit(attack: Attack, way: str, streamed: bool) -> None:
    begun = [OK, EVENTS, CLOSE] if streamed else [OK, JSON, CLOSE, BEGUN]
    scripts: dict[str, Script] = {
        "comments": lambda: [*begun, itertools.repeat(b": still here\n\n")],
        "blanks": lambda: [*begun, itertools.repeat(b" ")],
    }
    for found in (await called(scripts, way=way, streamed=streamed, pause_s=0.01, timeout_s=2, together=True)).values():
        attack.check(found["kind"] == "timed_out" and found["seconds"] < 20, found)


@pytest.mark.parametrize("way", ["direct", "library"])
async def test_an_error_without_an_end_is_still_that_error(attack: Attack, way: str) -> None:
    heads = {"rate_limited": b"429 No", "server_error": b"500 No", "key_rejected": b"401 No", "bad_request": b"400 No"}
    for packed in (False, True):
        scripts: dict[str, Script] = {kind: partial(failing, status, packed=packed) for kind, status in heads.items()}
        for kind, found in (await called(scripts, way=way, streamed=False)).items():
            attack.figure("memory", found["grown_mb"], "MB")
            same = found["kind"] == kind and found["grown_mb"] < MOST_MB and found["sent"] < FLOOD
            attack.check(same, (kind, packed, found))


def failing(status: bytes, *, packed: bool) -> list[Any]:
    head = b"HTTP/1.1 " + status + b"\r\n"
    if packed:
        return [head, GZIP, CLOSE, squeezed(31, b"", b"a" * 2**24)]
    return [head, JSON, CLOSE, for_ever(b"ab ")]


@pytest.mark.parametrize("way", ["direct", "library"])
async def test_the_hash_and_the_beginning_are_those_of_what_came(way: str) -> None:
    """The hash is that of the bytes up to the bound, so it can be computed again from a copy of the attack."""
    body = BEGUN + b"key sk-test-5f0c1d2e3b4a5968 and \x1b[31mred " + b"ab " * 1_000_000
    scripts: dict[str, Script] = {
        "plain": lambda: [OK, JSON, CLOSE, body],
        "packed": lambda: [OK, JSON, GZIP, CLOSE, gzip.compress(body)],
    }
    for found in (await called(scripts, way=way, streamed=False)).values():
        size = int(found["message"].split("its first ")[1].split(" bytes")[0].replace(",", ""))
        assert 0 <= size - AnswerBound.of(TOKENS, streamed=False).size < 5_000
        assert hashlib.sha256(body[:size]).hexdigest() in found["message"]
        assert found["text"].startswith('{"id": "c"')
        assert "[key]" in found["text"]
        assert "sk-test" not in found["text"]
        assert "\x1b" not in found["text"]
