"""An MCP server over standard input and output that writes without an end.

Usage: python endless_program.py FLOOD METHOD PIDFILE. It behaves until it is asked for METHOD.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from plain_server import answer

NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"still here"}}\n'
FLOODS = {
    "one line": (1, b"a" * 65_536),
    "lines": (1, b"hello\n" * 10_000),
    "empty lines": (1, b"\n" * 65_536),
    "messages": (1, NOTE * 500),
    "one line of complaints": (2, b"a" * 65_536),
    "complaints": (2, b"it is hot in here\n" * 4_000),
}


def flood(name: str) -> None:
    if name == "drip":
        while True:
            os.write(1, b"a")
            threading.Event().wait(0.01)
    where, data = FLOODS[name]
    for _ in itertools.repeat(None):
        os.write(where, data)


def main(name: str, method: str, told: str) -> None:
    # It does not end because it is asked to.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(told).write_text(str(os.getpid()), encoding="utf-8")
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == method:
            flood(name)
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer("", message)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
