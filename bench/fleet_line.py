"""A line to PostgreSQL that breaks at the worst moment: when the note that a call is about to leave becomes durable.

A client's words are passed on unread but for two signs (PostgreSQL documentation, 54.7): the kind of the event in what
it sends, and the tag of a commit in what comes back. The line is cut after the commit, in turn before and after the
client has heard of it; the call itself has not been made then.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

SIGN = b"CallSent"
COMMITTED = b"COMMIT\0"


@dataclass
class Line:
    """A breaking line.

    Attributes:
        port: where clients connect, at 127.0.0.1.
        cuts: how often it was cut before and after the client heard of its commit.
    """

    port: int
    cuts: dict[str, int] = field(default_factory=lambda: {"unheard": 0, "heard": 0})


@contextlib.contextmanager
def breaking_line(path: str, every: int) -> Iterator[Line]:
    """A line to the PostgreSQL that listens at the socket ``path``; every ``every``-th such commit breaks it."""
    listening = socket.create_server(("127.0.0.1", 0))
    found, ended = Line(listening.getsockname()[1]), threading.Event()
    count = itertools.count(1)
    threads: list[threading.Thread] = []
    connections: list[_Connection] = []

    def accept() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):
                client, _ = listening.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(path)
                except OSError:
                    # It is being started anew.
                    client.close()
                    server.close()
                    continue
                connection = _Connection(client, server, found, count, every)
                connections.append(connection)
                for carry in (connection.out, connection.back):
                    threads.append(threading.Thread(target=carry, daemon=True))
                    threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield found
    finally:
        ended.set()
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", found.port), 1).close()
        accepting.join()
        listening.close()
        for connection in connections:
            connection.close()
        for thread in threads:
            thread.join()


@dataclass
class _Connection:
    client: socket.socket
    server: socket.socket
    line: Line
    count: Iterator[int]
    every: int
    signed: bool = False

    def out(self) -> None:
        tail = b""
        with contextlib.suppress(OSError):
            while words := self.client.recv(65_536):
                # A sign may come in two pieces.
                self.signed = self.signed or SIGN in tail + words
                tail = words[-len(SIGN) :]
                self.server.sendall(words)
        self.close()

    def back(self) -> None:
        tail = b""
        with contextlib.suppress(OSError):
            while words := self.server.recv(65_536):
                committed = self.signed and COMMITTED in tail + words
                tail = words[-len(COMMITTED) :]
                if committed:
                    self.signed = False
                    number = next(self.count)
                    if number % self.every == 0:
                        heard = number // self.every % 2 == 0
                        if heard:
                            self.client.sendall(words)
                        self.line.cuts["heard" if heard else "unheard"] += 1
                        break
                self.client.sendall(words)
        self.close()

    def close(self) -> None:
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
