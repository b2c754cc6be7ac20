"""Hostile sources: nobody's file stops the others, every reader is bounded, and what is refused says why."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from served import environment, free_port

from disputatio._service.database import Database
from disputatio._service.key_book import KeyBook
from disputatio._service.keys import KEYLESS, Scope

ANSWER_S = 5.0
"""A loaded machine answers within it; without the cure the others waited for minutes."""


def many_attributes(number: int) -> bytes:
    """A page with one element that has ``number`` attributes."""
    return b"<p " + b" ".join(b"a%d=1" % n for n in range(number)) + b">words</p>"


def deeply_nested(number: int) -> bytes:
    """A page with ``number`` elements in each other."""
    return b"<div>" * number + b"words"


def left_open(number: int) -> bytes:
    """A page that no plain bound refuses: each of ``number`` elements is opened again in every paragraph."""
    return b"<p>" + b"".join(b"<b a%d>" % n for n in range(number)) + b"</p>" + b"<p>words" * 200


@dataclass
class Process:
    """A server in a process of its own, with two tenants."""

    process: subprocess.Popen[str]
    url: str
    hostile: str
    other: str

    def client(self, key: str, seconds: float = 30) -> httpx.AsyncClient:
        limits = httpx.Limits(max_connections=100)
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=seconds, limits=limits)


@contextlib.asynccontextmanager
async def server(folder: Path) -> AsyncIterator[Process]:
    """Run `disputatio serve` until the block ends."""
    store = f"sqlite:///{folder}/store.sqlite"
    book = KeyBook(Database(store))
    run, read = (
        book.add(replace(KEYLESS, name=tenant, scope=scope, tenant=tenant, per_minute=100_000))[1]
        for tenant, scope in (("hostile", Scope.RUN), ("other", Scope.READ))
    )
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "disputatio", "serve", "--port", str(port), "--drain", "0", "--store", store],
        env={**os.environ, **environment("http://127.0.0.1:9/v1"), "PYTHONUNBUFFERED": "1"},
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    try:
        assert "serves" in await asyncio.to_thread(process.stdout.readline)
        yield Process(process, f"http://127.0.0.1:{port}", run, read)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        finally:
            process.kill()
            process.stdout.close()


@pytest.mark.slow
@pytest.mark.parametrize(("make", "size"), [(many_attributes, 300_000), (deeply_nested, 580_000), (left_open, 180_000)])
async def test_eight_hostile_uploads_stop_nobody_else(attack, tmp_path, make, size):
    """The issue's attack: 2.9 MB each, over real sockets, while another tenant asks and a probe looks."""
    page = make(size)
    async with server(tmp_path) as there, there.client(there.hostile) as client, there.client(there.other, 8) as other:
        uploads = [
            asyncio.create_task(client.post("/v1/evidence", files={"file": ("page.html", page)})) for _ in range(8)
        ]
        try:
            slowest = 0.0
            for _ in range(12):
                await asyncio.sleep(0.2)
                for path in ("/v1/key", "/v1/debates", "/ready"):
                    began = time.monotonic()
                    with contextlib.suppress(httpx.TimeoutException):
                        answer = await other.get(path)
                        attack.check(answer.status_code == 200, f"{path}: {answer.status_code}")
                    took = time.monotonic() - began
                    slowest = max(slowest, took)
                    attack.check(took < ANSWER_S, f"{path} took {took:.1f} s")
            attack.figure("slowest answer to the others", slowest, "s")
        finally:
            for upload in uploads:
                upload.cancel()
            await asyncio.gather(*uploads, return_exceptions=True)
