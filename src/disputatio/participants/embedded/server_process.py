"""The process that serves one model to all programs of this user.

The first client starts it. It runs in its own session, so Ctrl-C in a terminal does not reach it, and it outlives the
client. It ends some seconds after the last client is gone, or when its address file is removed.

Run as ``python -m disputatio.participants.embedded.server_process SPEC`` with a ``ServerSpec`` as JSON.
One line goes to standard output, ``ready``; failures go to standard error.
"""

from __future__ import annotations

import importlib
import os
import secrets
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from disputatio.participants.embedded.cache import FileLock
from disputatio.participants.embedded.server_spec import Address, ServerSpec

READY = b"ready\n"
_OLD_SERVER_S = 60.0
_LOOK_EVERY_S = 0.25
_CACHE_MIB = 128
"""For the state of earlier prompts, of all replicas together."""
_EXACT_BATCH = 32
"""Batch size in tokens if a replica has one slot. From 64 on, llama.cpp sums attention in another order, so an answer
would depend on how much of its prompt was cached."""


def main(arguments: list[str]) -> int:
    """Detach from the parent process, serve until no client is left, and end."""
    spec = ServerSpec.from_json(arguments[0])
    if os.fork():
        # The parent waits for this process only, so the server becomes no zombie.
        os._exit(0)
    stop = _stop_signal()
    runner = FileLock(spec.file("serving.lock"))
    if not _become_server(runner, stop):
        sys.stderr.write("another server of this model did not end\n")
        return 1
    servers, address = _listen(spec)
    address.write(spec.file("address.json"))
    _announce()
    _serve(spec, address, stop)
    sys.stderr.flush()
    # An orderly shutdown of the library would wait for answers that no client reads any more.
    os._exit(0 if servers else 1)


def _stop_signal() -> threading.Event:
    stop = threading.Event()

    def told(*_: object) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, told)
    signal.signal(signal.SIGINT, told)
    return stop


def _become_server(runner: FileLock, stop: threading.Event) -> bool:
    """Take ``serving.lock``; an older server may still be ending."""
    end = time.monotonic() + _OLD_SERVER_S
    while not runner.try_exclusive():
        if stop.wait(_LOOK_EVERY_S) or time.monotonic() > end:
            return False
    return True


def _listen(spec: ServerSpec) -> tuple[list[Any], Address]:
    xllamacpp = importlib.import_module("xllamacpp")  # it has no types
    secret = secrets.token_urlsafe(32)
    with ThreadPoolExecutor(spec.replicas) as loading:
        servers = list(loading.map(xllamacpp.Server, [_parameters(spec, secret) for _ in range(spec.replicas)]))
    compact = str(xllamacpp.json_schema_to_grammar('{"type": "object"}')).startswith("%llguidance")
    return servers, Address(tuple(row.listening_address for row in servers), secret, os.getpid(), compact)


def _parameters(spec: ServerSpec, secret: str) -> Any:
    """The parameters of one replica."""
    params = importlib.import_module("xllamacpp").CommonParams()
    params.model.path = spec.model
    params.model_alias = {spec.name}
    params.n_ctx = spec.context * spec.slots
    params.n_parallel = spec.slots
    params.kv_unified = False
    params.cpuparams.n_threads = spec.threads
    params.cpuparams_batch.n_threads = spec.threads
    params.cache_ram_mib = _CACHE_MIB // spec.replicas
    if spec.slots == 1:
        params.n_ubatch, params.n_batch = _EXACT_BATCH, 2 * _EXACT_BATCH
    params.fit_params = False
    params.warmup = False
    params.ui = False
    params.endpoint_slots = False
    params.api_keys = [secret]
    params.verbosity = 1  # errors: without them a file that cannot be loaded gives no reason
    return params


def _announce() -> None:
    os.write(1, READY)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _serve(spec: ServerSpec, address: Address, stop: threading.Event) -> None:
    """Wait until no client has held a lease for ``linger_s`` seconds; then remove the address."""
    lease = FileLock(spec.file("lease.lock"))
    published = spec.file("address.json")
    wanted_at = time.monotonic()
    while not stop.wait(min(_LOOK_EVERY_S, max(0.01, spec.linger_s / 4))):
        if Address.read(published) != address:
            return
        if not lease.try_exclusive():
            wanted_at = time.monotonic()
        elif time.monotonic() - wanted_at < spec.linger_s:
            lease.release()
        else:
            # Keep the lease until the process ends: a client that comes now finds no address.
            break
    if Address.read(published) == address:
        published.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
