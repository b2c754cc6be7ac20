"""A collector of traces on a real socket: takes what OTLP/HTTP brings, by the definitions of OpenTelemetry itself."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as it came over the wire."""

    trace: bytes
    id: bytes
    parent: bytes
    name: str
    kind: int
    start: int
    end: int
    attributes: dict[str, Any]
    failed: bool
    resource: dict[str, Any]


@dataclass
class Collector:
    """What was received so far."""

    endpoint: str
    spans: list[ReceivedSpan] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    came: threading.Condition = field(default_factory=threading.Condition)

    def wait(self, name: str, count: int, seconds: float = 20.0) -> list[ReceivedSpan]:
        """The spans whose name begins with ``name``, once there are so many."""

        def found() -> list[ReceivedSpan]:
            return [row for row in self.spans if row.name.startswith(name)]

        with self.came:
            assert self.came.wait_for(lambda: len(found()) >= count, seconds), [row.name for row in self.spans]
            return found()

    def take(self, path: str, body: bytes) -> bytes:
        """Take in one request; the answer to it."""
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

        request = service.ExportTraceServiceRequest.FromString(body)
        with self.came:
            self.paths.append(path)
            for group in request.resource_spans:
                resource = _attributes(group.resource.attributes)
                self.spans += [
                    ReceivedSpan(
                        *(row.trace_id, row.span_id, row.parent_span_id, row.name, row.kind),
                        *(row.start_time_unix_nano, row.end_time_unix_nano, _attributes(row.attributes)),
                        *(row.status.code == row.status.STATUS_CODE_ERROR, resource),
                    )
                    for scope in group.scope_spans
                    for row in scope.spans
                ]
            self.came.notify_all()
        answer: bytes = service.ExportTraceServiceResponse().SerializeToString()
        return answer


def _attributes(rows: Any) -> dict[str, Any]:
    return {row.key: _value(row.value) for row in rows}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(row) for row in value.array_value.values]
    return getattr(value, kind) if kind else None


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector until the block ends."""
    found = Collector("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/x-protobuf"
            packed = self.headers.get("Content-Encoding") == "gzip"
            answer = found.take(self.path, gzip.decompress(body) if packed else body)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.endpoint = f"http://127.0.0.1:{server.server_port}"
    listening = threading.Thread(target=server.serve_forever, daemon=True)
    listening.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        listening.join()
