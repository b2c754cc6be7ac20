"""A server of this machine that speaks the Hugging Face Hub's protocol, and breaks where a test wants it to."""

from __future__ import annotations

import hashlib
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPOSITORY, FILE = "maker/model-GGUF", "model-Q4.gguf"
MODEL = f"hf:{REPOSITORY}/{FILE}"


def weights(size: int = 3_000_000) -> bytes:
    """Bytes that begin like a model."""
    return struct.pack("<4sIQQ", b"GGUF", 3, 1, 0) + os.urandom(size - 24)


@dataclass
class Hub:
    """What it has and how it behaves.

    Attributes:
        content: the file.
        stated: the SHA-256 that it states; that of the content where it is empty.
        stated_size: the size that it states; that of the content where it is 0.
        breaks: for each coming GET of bytes, after how many it hangs up; afterwards it serves all.
        stalls: hold a GET after the bytes of ``breaks`` until ``go_on`` is set.
        takes_ranges: whether the store honours ``Range``.
        refuses: status and error code of every answer, or None.
        requests: method, ``hub`` or ``store``, path, ``Range`` and ``Authorization`` of each request.
    """

    content: bytes = field(default_factory=weights)
    stated: str = ""
    stated_size: int = 0
    breaks: list[int] = field(default_factory=list)
    stalls: bool = False
    go_on: threading.Event = field(default_factory=threading.Event)
    takes_ranges: bool = True
    refuses: tuple[int, str] | None = None
    requests: list[tuple[str, str, str, str | None, str | None]] = field(default_factory=list)
    url: str = ""
    store_url: str = ""

    @property
    def ranges(self) -> list[str | None]:
        """The ``Range`` of every request for bytes."""
        return [asked for method, who, _, asked, _ in self.requests if (method, who) == ("GET", "store")]


@contextmanager
def hub_server(hub: Hub) -> Iterator[Hub]:
    """Serve ``hub``: one address is the Hub, the other the store that it redirects to."""
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub, who)) for who in ("hub", "store")]
    hub.url, hub.store_url = (f"http://127.0.0.1:{row.server_address[1]}" for row in servers)
    threads = [threading.Thread(target=row.serve_forever, kwargs={"poll_interval": 0.02}) for row in servers]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(hub: Hub, who: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            return None

        def _answer(self) -> None:
            row = (self.path, self.headers.get("Range"), self.headers.get("Authorization"))
            hub.requests.append((self.command, who, *row))
            if who == "store":
                self._bytes()
            elif hub.refuses is not None:
                self._end(hub.refuses[0], {"X-Error-Code": hub.refuses[1], "Content-Length": "0"})
            elif self.path != f"/{REPOSITORY}/resolve/main/{FILE}":
                self._end(404, {"X-Error-Code": "EntryNotFound", "Content-Length": "0"})
            else:
                sha256 = hub.stated or hashlib.sha256(hub.content).hexdigest()
                stated = {"X-Linked-Etag": f'"{sha256}"', "X-Linked-Size": str(hub.stated_size or len(hub.content))}
                stated["X-Repo-Commit"] = "0" * 40
                self._end(302, {**stated, "Location": f"{hub.store_url}/{sha256}?signed", "Content-Length": "0"})

        def _end(self, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def _bytes(self) -> None:
            asked, whole = self.headers.get("Range"), len(hub.content)
            begin = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and hub.takes_ranges else 0
            headers = {"Content-Length": str(whole - begin)}
            headers |= {"Content-Range": f"bytes {begin}-{whole - 1}/{whole}"} if begin else {}
            self._end(206 if begin else 200, headers)
            if not hub.breaks:
                self.wfile.write(hub.content[begin:])
                return
            self.wfile.write(hub.content[begin : begin + hub.breaks.pop(0)])
            self.wfile.flush()
            if hub.stalls:
                hub.go_on.wait()
            self.close_connection = True

    return Handler
