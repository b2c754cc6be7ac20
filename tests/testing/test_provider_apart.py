"""The fake provider in a thread or a process of its own, for clients that block and for other programs."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

from disputatio.testing.provider import FakeProvider, provider_process


def fetch(base_url: str, **body: Any) -> dict[str, Any]:
    data = json.dumps(
        {"model": "m", "messages": [{"role": "user", "content": "Should the pilot go on?"}]} | body
    ).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{base_url}/chat/completions", data, headers)  # noqa: S310 - our own address
    with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310 - our own address
        found: dict[str, Any] = json.load(response)
    return found


def test_a_provider_in_a_thread_serves_a_client_that_blocks() -> None:
    with FakeProvider() as provider:
        assert fetch(provider.base_url)["choices"]
        provider.arrived.wait(1)
        with provider.refusing(), pytest.raises(OSError, match="refused"):
            fetch(provider.base_url)
        assert fetch(provider.base_url)["choices"]
    with pytest.raises(RuntimeError, match="not running"):
        _ = provider.base_url


async def test_provider_in_thread_can_be_waited_for_from_running_loop() -> None:
    """A provider in a thread can be waited for from a running loop."""
    with FakeProvider() as provider:
        provider.hold()
        call = asyncio.create_task(asyncio.to_thread(fetch, provider.base_url))
        await provider.arrived.reach(1)
        provider.release()
        assert (await call)["choices"]
        await provider.answered.reach(1)


@pytest.mark.slow
def test_a_provider_in_a_process_does_as_its_options_say() -> None:
    options = (
        "--alias",
        "m=n",
        "--mishap",
        "http_503@1",
        "--mishap",
        "http_402#1",
        "--latency",
        "0.01",
        "--spread",
        "1",
    )
    with provider_process(*options) as base_url:
        with pytest.raises(urllib.error.HTTPError, match="402"):
            fetch(base_url)
        with pytest.raises(urllib.error.HTTPError, match="503"):
            fetch(base_url)
        assert fetch(base_url)["model"] == "n"


@pytest.mark.slow
@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT], ids=["terminated", "interrupted"])
def test_a_process_that_is_told_to_end_ends_well(order: signal.Signals) -> None:
    command = [sys.executable, "-W", "error", "-m", "disputatio.testing.provider"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(order)
        assert (process.wait(10), process.stderr.read()) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--mishap", "no_such"),
        ("--mishap", "http_500@x"),
        ("--honours", "x"),
        ("--alias", "x"),
        ("--api-key-env", "X9"),
    ],
    ids=str,
)
def test_process_with_options_cannot_be_read_does_not_listen(
    options: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    """A process with options that cannot be read does not listen."""
    with pytest.raises(RuntimeError, match="before it listened"), provider_process(*options):
        pass
    assert "Traceback" not in capfd.readouterr().err
