"""Words of callers and of models in the log of a server: each entry stays one line, without codes for the terminal."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import unicodedata
from urllib.parse import quote

import httpx
import pytest
from attack_table import Attack
from endless_servers import CLOSE, JSON, Attacker, serving
from served import environment

pytestmark = pytest.mark.slow
FORGED = "04:00:00 debate 0badc0de: FORGED"
BREAKS = ("\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029")
LADEN = "".join(f"a{mark}{FORGED} \x1b[2J\x1b]0;title\x07\u202e" for mark in BREAKS)


def refusals() -> list[bytes]:
    """A provider that refuses in laden words."""
    body = json.dumps({"error": {"message": LADEN, "type": LADEN, "code": LADEN}}).encode()
    return [
        b"HTTP/1.1 400 " + FORGED.encode() + b"\r\n",
        JSON,
        b"X-Request-Id: " + FORGED.encode() + b"\r\n",
        CLOSE,
        body,
    ]


async def ordered(client: httpx.AsyncClient, attack: Attack) -> None:
    """Put laden words wherever a caller has words, and let debates end over them."""
    order = {"motion": f"We should split {LADEN}", "format": "freeform"}
    bodies = (
        order,
        {**order, "evidence": [{"title": LADEN[:60], "text": LADEN}]},
        {**order, "format": LADEN},
        {**order, "seats": {LADEN: LADEN}},
        {**order, "settings": {LADEN: LADEN}},
        {LADEN: LADEN},
    )
    debates = []
    for body in bodies:
        answer = await client.post("/v1/debates", json=body, headers={"X-Request-Id": FORGED, "User-Agent": FORGED})
        attack.check(answer.status_code in {201, 400, 422}, (body, answer.status_code))
        if answer.status_code == 201:
            debates.append(answer.json()["id"])
    word = quote(LADEN[:200])
    for path in (f"/v1/debates/{word}", f"/debates/{word}", f"/static/{word}", f"/?q={word}", f"/v1/evidence/{word}"):
        attack.check((await client.get(path)).status_code in {200, 400, 404, 405, 422}, path)
    for path in ("/v1/evidence", "/v1/evidence/fetch", "/v1/gate", "/v1/keys"):
        attack.check((await client.post(path, json={"url": LADEN, "name": LADEN})).status_code < 500, path)
    for debate in debates:
        async with client.stream("GET", f"/v1/debates/{debate}/events") as stream:
            async for _ in stream.aiter_lines():
                pass
        attack.check(
            (await client.post(f"/v1/debates/{debate}/resume", json={"note": LADEN})).status_code < 500, debate
        )


async def test_no_word_forges_a_line_of_the_log(tmp_path, attack: Attack):
    attacker = Attacker(())
    attacker.answer = refusing  # type: ignore[method-assign]
    async with serving(attacker):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "disputatio", "serve", "--port", "0", "--drain", "0"),
            *("--store", f"sqlite:///{tmp_path}/store.sqlite"),
            env={**os.environ, **environment(f"{attacker.url}/v1"), "PYTHONUNBUFFERED": "1"},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert process.stdout
        first = (await process.stdout.readline()).decode()
        url = re.search(r"http://127\.0\.0\.1:\d+", first)
        assert url, first
        async with httpx.AsyncClient(base_url=url[0], timeout=30) as client:
            await ordered(client, attack)
        process.terminate()
        told = (await process.communicate())[0].decode()
    attack.check("Traceback" not in told, told[-2_000:])
    for line in told.splitlines():
        attack.check(not line.lstrip().startswith(FORGED), line)
        attack.check(not any(unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"} for char in line), ascii(line))
    attack.figure("lines of the log", len(told.splitlines()))


async def refusing(_head: bytes, _body: bytes, writer: asyncio.StreamWriter) -> bool:
    """Answer every request in laden words."""
    for part in refusals():
        writer.write(part)
    await writer.drain()
    return False
