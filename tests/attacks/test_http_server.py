"""Clients that send HTTP slowly, ambiguously or without end, to real server processes."""

from __future__ import annotations

import json
import os
import re
import selectors
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from served import environment, free_port

pytestmark = pytest.mark.slow
PATIENCE_S = 0.5
HOST = b"Host: 127.0.0.1\r\n"
JSON = b"Content-Type: application/json\r\n"
LARGE = 30_000_000
CHUNK = b"10000\r\n" + b"a" * 65_536 + b"\r\n"


@dataclass
class Reply:
    """What came back over one connection until it was closed, or for as long as somebody waited."""

    raw: bytes
    closed: bool
    seconds: float

    @property
    def statuses(self) -> list[int]:
        return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", self.raw)]

    @property
    def status(self) -> int:
        return self.statuses[-1] if self.statuses else 0

    @property
    def problem(self) -> dict[str, Any]:
        """The problem document that was read; empty where it is none."""
        head, _, body = self.raw.rpartition(b"\r\n\r\n")
        return json.loads(body) if b"application/problem+json" in head.lower() else {}

    def refused(self, status: int) -> bool:
        """Whether one readable refusal came, and then the end of the connection."""
        found = self.problem
        told = bool(found.get("detail")) and found.get("status") == status
        return told and self.statuses == [status] and self.closed

    def field(self, name: str) -> str:
        for line in self.raw.split(b"\r\n\r\n", maxsplit=1)[0].split(b"\r\n"):
            key, _, value = line.partition(b":")
            if key.decode().lower() == name:
                return value.decode().strip()
        return ""


@dataclass
class Target:
    """A server in a process of its own."""

    port: int

    def connect(self) -> socket.socket:
        found = socket.create_connection(("127.0.0.1", self.port))
        found.settimeout(20)
        return found

    def send(self, raw: bytes, *, waits: bool = True) -> Reply:
        """Send all of ``raw`` before anything is read, as many clients do; then read until the server closes.

        Args:
            raw: what is sent.
            waits: whether the connection is expected to be closed; otherwise one answer is read.
        """
        with self.connect() as here:
            here.sendall(raw)
            return read(here) if waits else Reply(here.recv(65_536), closed=False, seconds=0)

    def drip(self, *pieces: bytes) -> Reply:
        """Send one piece after the other, a tenth of the server's patience apart, until it closes."""
        with self.connect() as here, selectors.DefaultSelector() as selector:
            selector.register(here, selectors.EVENT_READ)
            began, got = time.monotonic(), b""
            for piece in pieces:
                here.sendall(piece)
                while selector.select(PATIENCE_S / 10):
                    part = here.recv(65_536)
                    got += part
                    if not part:
                        return Reply(got, closed=True, seconds=time.monotonic() - began)
            return Reply(got, closed=False, seconds=time.monotonic() - began)


def read(here: socket.socket) -> Reply:
    began, got = time.monotonic(), b""
    try:
        while part := here.recv(65_536):
            got += part
    except (TimeoutError, ConnectionResetError):
        # After a reset the client may have lost what it was answered.
        return Reply(got, closed=False, seconds=time.monotonic() - began)
    return Reply(got, closed=True, seconds=time.monotonic() - began)


@contextmanager
def serving(folder: Path, *command: str) -> Iterator[Target]:
    """A server in a process of its own, which says where it listens on one of its first lines."""
    process = subprocess.Popen(
        [sys.executable, "-m", "disputatio", *command, "--port", "0", "--store", f"sqlite:///{folder}/store.sqlite"],
        env={**os.environ, **environment("http://127.0.0.1:9/v1"), "PYTHONUNBUFFERED": "1"},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    with process.stdout:
        yield Target(int(re.split(r"127\.0\.0\.1:", process.stdout.readline())[1].split("/")[0].split()[0]))
        process.terminate()
        told = process.communicate(timeout=30)[0]
    assert process.returncode == 0, told
    assert "Traceback" not in told, told
    assert "WARNING" not in told, told


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("http")
    with serving(folder, "serve", "--patience", str(PATIENCE_S), "--drain", "0") as found:
        yield found


def post(path: bytes = b"/v1/debates", *fields: bytes, body: bytes = b"") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + JSON + b"".join(row + b"\r\n" for row in fields) + b"\r\n" + body


def test_unfinished_heads_are_closed(target, attack):
    heads = [b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\n" + HOST, b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n"]
    open_ones = [target.connect() for _ in range(400)]
    for number, here in enumerate(open_ones):
        here.sendall(heads[number % len(heads)])
    attack.check(target.send(b"GET /health HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n").status == 200, "health")
    for number, here in enumerate(open_ones):
        head = heads[number % len(heads)]
        with here:
            reply = read(here)
        # Where nothing was sent there is nobody to tell.
        attack.check(reply.refused(408) if head else reply.closed and not reply.raw, head)
        attack.figure("slowest end", reply.seconds, "s")


def test_dripping_heads_are_closed(target, attack):
    line = b"GET /health HTTP/1.1\r\n"
    rest = [b"X: a\r\n"] * 40
    for name, pieces in {
        "fields": [line, *rest],
        "bytes": [bytes([one]) for one in line + HOST],
        "second request": [line + HOST + b"\r\n", line, *rest],
    }.items():
        reply = target.drip(*pieces)
        attack.check(reply.closed and reply.problem.get("status") == 408, name)
        attack.figure("slowest end", reply.seconds, "s")


AMBIGUOUS = {
    "length and chunks": [b"Content-Length: 4", b"Transfer-Encoding: chunked"],
    "chunks and length": [b"Transfer-Encoding: chunked", b"Content-Length: 44"],
    "chunks and no length": [b"Transfer-Encoding: chunked", b"Content-Length: 0"],
    "two lengths": [b"Content-Length: 5", b"Content-Length: 44"],
    "length with a sign": [b"Content-Length: +5"],
    "length below zero": [b"Content-Length: -1"],
    "length in hexadecimal": [b"Content-Length: 0x5"],
    "length with an underscore": [b"Content-Length: 0_5"],
    "chunked twice": [b"Transfer-Encoding: chunked, chunked"],
    "two encodings": [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
    "encoding before chunks": [b"Transfer-Encoding: gzip, chunked"],
    "identity": [b"Transfer-Encoding: identity"],
    "unknown encoding": [b"Transfer-Encoding: xchunked"],
    "space before the colon": [b"Transfer-Encoding : chunked"],
    "vertical tab": [b"Transfer-Encoding: \x0bchunked"],
    "line break in a value": [b"X: a\rTransfer-Encoding: chunked"],
    "zero byte": [b"X: a\0b"],
    "two hosts": [b"Host: 127.0.0.1"],
    "no colon": [b"Transfer-Encoding chunked"],
}
SMUGGLED = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n"


def test_ambiguous_framing_is_refused(target, attack):
    for name, fields in AMBIGUOUS.items():
        attack.check(target.send(post(b"/v1/debates", *fields, body=SMUGGLED)).refused(400), name)
    old = b"POST /v1/debates HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
    attack.check(target.send(old + SMUGGLED).refused(400), "chunks in HTTP/1.0")
    for name, line in {"no host": b"GET / HTTP/1.1\r\n\r\n", "TLS": b"\x16\x03\x01\x02\r\n\r\n"}.items():
        attack.check(target.send(line).refused(400), name)
    for version in (b"2.0", b"1.2", b"9.9"):
        attack.check(target.send(b"GET / HTTP/" + version + b"\r\n" + HOST + b"\r\n").refused(505), version)


def test_broken_chunks_are_refused(target, attack):
    for body in (
        b"zz\r\na\r\n0\r\n\r\n",
        b"1\r\naXX0\r\n\r\n",
        b"-1\r\na\r\n",
        b"1" * 30 + b"\r\n",
        b"0x1\r\na\r\n0\r\n\r\n",
    ):
        reply = target.send(post(b"/v1/debates", b"Transfer-Encoding: chunked", body=body))
        attack.check(reply.closed and reply.problem.get("status") in {400, 413}, body)


def test_large_heads_are_refused(target, attack):
    line = b"GET / HTTP/1.1\r\n" + HOST
    for name, raw in {
        "one field": line + b"X: " + b"a" * 300_000 + b"\r\n\r\n",
        "address": b"GET /" + b"a" * 300_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        "without an end": line + b"X: " + b"a" * 3_000_000,
        "many fields": line + b"".join(b"X%d: a\r\n" % number for number in range(2_000)) + b"\r\n",
        "many long fields": line + b"".join(b"X%d: %s\r\n" % (number, b"a" * 900) for number in range(99)) + b"\r\n",
    }.items():
        attack.check(target.send(raw).refused(431), name)


def test_large_bodies_get_a_readable_413(target, attack):
    size = b"Content-Length: %d" % LARGE
    chunked, closes = b"Transfer-Encoding: chunked", b"Connection: close"
    chunks = CHUNK * (LARGE // 65_536)
    whole = b"a" * LARGE
    upload = b"--b\r\nContent-Disposition: form-data; name=file; filename=a.txt\r\n\r\n"
    form = b"Content-Type: multipart/form-data; boundary=b"
    for name, raw in {
        "said beforehand": post(b"/v1/debates", size, body=whole),
        "said beforehand, closing": post(b"/v1/debates", size, closes, body=whole),
        "of HTTP/1.0": post(b"/v1/debates", size, body=whole).replace(b"HTTP/1.1", b"HTTP/1.0", 1),
        "only part of it sent": post(b"/v1/debates", size, body=b"a" * 100_000),
        "chunks": post(b"/v1/debates", chunked, body=chunks + b"0\r\n\r\n"),
        "chunks, closing": post(b"/v1/debates", chunked, closes, body=chunks + b"0\r\n\r\n"),
        "chunks without an end": post(b"/v1/debates", chunked, body=chunks),
        "waiting to go on": post(b"/v1/debates", size, b"Expect: 100-continue"),
        "not waiting after all": post(b"/v1/debates", size, b"Expect: 100-continue", body=b"a" * 3_000_000),
        "waiting with chunks": post(b"/v1/debates", chunked, b"Expect: 100-continue"),
        "upload": b"POST /v1/evidence HTTP/1.1\r\n" + HOST + form + b"\r\n" + size + b"\r\n\r\n" + upload + whole,
    }.items():
        if name == "waiting with chunks":
            attack.check(_after_going_on(target, raw, chunks).refused(413), name)
            continue
        reply = target.send(raw)
        attack.check(reply.refused(413) and "larger than" in reply.problem["detail"], name)


def _after_going_on(target: Target, head: bytes, body: bytes) -> Reply:
    """What a client gets that waits for ``100 Continue`` before its body."""
    with target.connect() as here:
        here.sendall(head)
        assert here.recv(1_000).startswith(b"HTTP/1.1 100 ")
        here.sendall(body)
        return read(here)


def test_a_common_client_reads_the_413(target, attack):
    for _ in range(5):
        request = urllib.request.Request(
            f"http://127.0.0.1:{target.port}/v1/debates", b"a" * LARGE, {"Content-Type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=30)  # noqa: S310
        with refused.value as answer:
            attack.check(answer.code == 413 and b"larger than" in answer.read(), "urllib")


def test_endless_bodies_are_hung_up_on(target, attack):
    for name, head in {
        "chunks": post(b"/v1/debates", b"Transfer-Encoding: chunked"),
        "another address": post(b"/nothing", b"Transfer-Encoding: chunked"),
        "an open address": post(b"/login", b"Transfer-Encoding: chunked"),
    }.items():
        sent = 0
        with target.connect() as here:
            here.sendall(head)
            try:
                while sent < 1_000_000_000:
                    here.sendall(CHUNK * 16)
                    sent += len(CHUNK) * 16
            except OSError:
                pass
        attack.check(sent < 150_000_000, name)
        attack.figure("most taken", sent / 1_000_000, "MB")


def test_slow_bodies_are_closed(target, attack):
    size = b"Content-Length: 1000"
    for name, pieces, status in (
        ("rests", [post(b"/v1/debates", size, body=b"{"), *[b""] * 99], 408),
        ("never begins", [post(b"/v1/debates", size), *[b""] * 99], 408),
        ("drips", [post(b"/v1/debates", size), *[b" "] * 99], 408),
        ("drips chunks", [post(b"/v1/debates", b"Transfer-Encoding: chunked"), *[b"1\r\n \r\n"] * 99], 408),
        ("drips after a refusal", [post(b"/nothing", size), *[b" "] * 99], 404),
    ):
        reply = target.drip(*pieces)
        attack.check(reply.closed and reply.statuses == [status] and reply.problem.get("detail", name), name)
        attack.figure("slowest end", reply.seconds, "s")


def test_methods_are_named_wherever_one_is_asked(target, attack):
    both, get, sends = "GET, HEAD, OPTIONS, POST", "GET, HEAD, OPTIONS", "OPTIONS, POST"
    for method, path, status, allowed in (
        ("OPTIONS", "/v1/debates", 204, both),
        ("OPTIONS", "/v1/debates/abcd1234", 204, get),
        ("OPTIONS", "/v1/debates/abcd1234/turns", 204, both),
        ("OPTIONS", "/v1/debates/abcd1234/cancel", 204, sends),
        ("OPTIONS", "/v1/debates/abcd1234/events", 204, "GET, OPTIONS"),
        ("OPTIONS", "/login", 204, both),
        ("OPTIONS", "*", 204, both),
        ("OPTIONS", "/nothing", 404, ""),
        ("HEAD", "/v1/debates", 200, both),
        ("HEAD", "/", 200, get),
        ("HEAD", "/v1/debates/abcd1234/cancel", 405, sends),
        ("HEAD", "/v1/debates/abcd1234/events", 405, "GET, OPTIONS"),
        ("DELETE", "/v1/debates", 405, both),
        ("PUT", "/v1/debates/abcd1234", 405, get),
        ("TRACE", "/", 405, get),
        ("BREW", "/v1/debates", 405, both),
    ):
        reply = target.send(f"{method} {path} HTTP/1.1\r\nConnection: close\r\n".encode() + HOST + b"\r\n")
        attack.check((reply.status, reply.field("allow")) == (status, allowed), (method, path, reply.raw))


def test_lawful_requests_are_served(target, attack):
    """What is refused above is refused for what it is: the lawful neighbour of each is served."""
    line, end = b"GET /health HTTP/1.1\r\n" + HOST, b"Connection: close\r\n\r\n"
    order = b'{"motion": "We should", "format": "none"}'
    for name, raw, statuses in (
        ("pipelined", line + b"\r\n" + line + b"\r\n" + line + end, [200, 200, 200]),
        ("HTTP/1.0", b"GET /health HTTP/1.0\r\n\r\n", [400]),
        ("HTTP/1.0 with a host", b"GET /health HTTP/1.0\r\n" + HOST + b"\r\n", [200]),
        ("whole address", b"GET http://127.0.0.1/health HTTP/1.1\r\n" + HOST + end, [200]),
        ("the address decides", b"GET http://evil.example/health HTTP/1.1\r\n" + HOST + end, [400]),
        ("no upgrade", line + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n" + line + end, [200, 200]),
        ("a length", post(b"/v1/debates", b"Content-Length: %d" % len(order), b"Connection: close", body=order), [422]),
        (
            "chunks with a trailer",
            post(
                b"/v1/debates",
                b"Transfer-Encoding: chunked",
                b"Connection: close",
                body=b"%x;a=b\r\n%s\r\n0\r\nX: y\r\n\r\n" % (len(order), order),
            ),
            [422],
        ),
    ):
        reply = target.send(raw)
        attack.check(reply.statuses == statuses and reply.closed, (name, reply.statuses))
    waits = post(b"/v1/debates", b"Content-Length: %d" % len(order), b"Expect: 100-continue", b"Connection: close")
    attack.check(_after_going_on(target, waits, order).statuses == [422], "going on")


def test_the_mcp_server_has_the_same_limits(tmp_path, attack):
    size = b"Content-Length: %d" % LARGE
    with serving(tmp_path, "mcp", "--http") as mcp:
        for name, raw, status in (
            ("length and chunks", post(b"/mcp", *AMBIGUOUS["length and chunks"], body=SMUGGLED), 400),
            ("no HTTP", b"\x16\x03\x01\x02\r\n\r\n", 400),
            ("large head", b"GET /" + b"a" * 300_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 431),
        ):
            attack.check(mcp.send(raw).refused(status), name)
        accepts = b"Accept: application/json, text/event-stream"
        reply = mcp.send(post(b"/mcp", size, accepts, b"Connection: close", body=b"a" * LARGE))
        attack.check(reply.statuses == [413] and reply.closed, reply.raw[:300])


def test_the_metrics_of_a_worker_are_not_held_up(tmp_path, attack, monkeypatch, capfd):
    from disputatio.record.sql import SqlStore
    from disputatio.workers import metrics

    monkeypatch.setattr(metrics, "PATIENCE_S", PATIENCE_S)
    port, threads = free_port(), threading.active_count()
    with metrics.serve_metrics(("127.0.0.1", port), SqlStore(f"sqlite:///{tmp_path}/store.sqlite"), 1):
        worker = Target(port)
        open_ones = [worker.connect() for _ in range(50)]
        for number, here in enumerate(open_ones):
            here.sendall((b"", b"G", b"GET /metrics HTTP/1.1\r\nX: a\r\n")[number % 3])
        reply = worker.send(b"GET /metrics HTTP/1.0\r\n\r\n")
        attack.check(b"disputatio_places" in reply.raw, "metrics")
        for here in open_ones:
            with here:
                ended = read(here)
            attack.check(ended.closed, ended.raw)
            attack.figure("slowest end", ended.seconds, "s")
        attack.check(worker.drip(*[b"G"] * 99).closed, "drips")
    attack.check(threading.active_count() <= threads + 1, "threads")
    assert "Traceback" not in capfd.readouterr().err


def test_mcp_over_http_answers_no_foreign_host_or_origin(tmp_path, attack):
    """Another site's name that leads to this machine (DNS rebinding), and a page of another site in a browser here."""
    question = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()

    def asked(host: bytes, *fields: bytes) -> bytes:
        rows = [b"Host: " + host, b"Content-Type: application/json", b"Accept: application/json, text/event-stream"]
        rows += [b"Content-Length: %d" % len(question), b"Connection: close", *fields]
        return b"POST /mcp HTTP/1.1\r\n" + b"\r\n".join(rows) + b"\r\n\r\n" + question

    with serving(tmp_path, "mcp", "--http") as mcp:
        own = b"127.0.0.1:%d" % mcp.port
        for host in (b"evil.example", b"127.0.0.1.evil.example", b"10.0.0.1:%d" % mcp.port, b"", b"evil.example:80"):
            reply = mcp.send(asked(host))
            attack.check(reply.status in {400, 421} and b"start_debate" not in reply.raw, (host, reply.raw[:300]))
        for origin in (b"http://evil.example", b"null", b"https://127.0.0.1.evil.example", b"file://", b"http://"):
            reply = mcp.send(asked(own, b"Origin: " + origin))
            attack.check(reply.status == 403 and b"start_debate" not in reply.raw, (origin, reply.raw[:300]))
        for name in (own, b"localhost:%d" % mcp.port):
            attack.check(b'"jsonrpc"' in mcp.send(asked(name)).raw, (name, mcp.send(asked(name)).raw[:300]))
