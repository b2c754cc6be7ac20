"""The command line in this process, and as real processes, with nothing of the user's own around it."""

from __future__ import annotations

import importlib
import io
import os
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_commands import Call, Commands, Ended, warm_starter

from disputatio._cli.main import main
from disputatio.testing import FakeProvider

_OWN = re.compile(r"LLM_|API_KEY|DISPUTATIO|^COLUMNS$|^NO_COLOR$|^FORCE_COLOR$|^XDG_")


@pytest.fixture(scope="session", autouse=True)
def imported() -> None:
    """What the first command of a process would spend its time on."""
    for name in ("disputatio._cli.app", "disputatio.engine.preview", "disputatio.record.sql", "genai_prices.data"):
        importlib.import_module(name)
    importlib.import_module("sqlalchemy.dialects.sqlite")


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory and a home with nothing in them, and an environment that says nothing of debates."""
    for name in [name for name in os.environ if _OWN.search(name)]:
        monkeypatch.delenv(name)
    for name, folder in (("HOME", "home"), ("XDG_DATA_HOME", "data"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def call(bare: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs one command in this process; ``typed`` is what stands in standard input."""

    def run(*arguments: str, typed: bytes | None = None) -> Ended:
        if typed is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(arguments)
        out, err = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Ended(left.value.code, out, err, out.encode())

    return run


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider(chunk_latency_s=0.0, drip_s=0.001) as running:
        yield running


@pytest.fixture
def seated(provider: FakeProvider) -> tuple[str, ...]:
    """Options that seat the fake provider, and make the shortest debate there is."""
    return (
        "--seat",
        "all=openai_compatible:fake",
        "--base-url",
        provider.base_url,
        "-f",
        "freeform",
        "--set",
        "rounds=1",
    )


@pytest.fixture(scope="session")
def starter() -> Iterator[socket.socket]:
    with warm_starter() as orders:
        yield orders


@pytest.fixture
def commands(starter: socket.socket, tmp_path: Path, seated: tuple[str, ...]) -> Commands:
    """Starts real processes; debates are seated with the fake provider."""
    ready = Commands(starter, tmp_path)
    ready.given = list(seated)
    return ready
