"""Downloads GGUF files from the Hugging Face Hub once, resumes broken downloads and verifies the hash.

A HEAD request to ``{endpoint}/{owner}/{name}/resolve/main/{file}`` returns the file's SHA-256 (``X-Linked-Etag``), its
size (``X-Linked-Size``) and a redirect to the bytes (https://huggingface.co/docs/hub/storage-backends). A GET request
with a ``Range`` continues an earlier one. The bytes go into a ``.part`` file named by the hash, which is renamed after
the hash was verified.

``HF_ENDPOINT``, ``HF_TOKEN``, ``HF_HOME`` and ``HF_HUB_OFFLINE`` work as in the Hub's own library, whose cache is used.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from disputatio._version import VERSION
from disputatio.errors import InvalidInputError
from disputatio.participants.call import FaultKind
from disputatio.participants.embedded import cache
from disputatio.participants.embedded.cache import FileLock, ModelUnavailableError, wait_until

if TYPE_CHECKING:
    import httpx2

PREFIX = "hf:"
_ENDPOINT = "https://huggingface.co"
_NAME = re.compile(r"(?!\.+$)[\w.-]+", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TIMEOUT_S = 30.0
_PAUSE_S = 1.0
_IDLE_TRIES = 3
"""Consecutive tries without a new byte before a download fails."""
_STEPS = 20
"""Progress lines of one file at most."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_OWN_FILE = "name a GGUF file that is here: embedded:/path/to/model.gguf"


@dataclass(frozen=True, slots=True)
class Reference:
    """A file on the Hub: ``repository`` is ``owner/name``, ``file`` its path inside."""

    repository: str
    file: str

    @classmethod
    def read(cls, text: str) -> Reference:
        """Read ``hf:owner/repo/file.gguf``.

        Raises:
            InvalidInputError: it has another form.
        """
        pieces = text.removeprefix(PREFIX).split("/")
        fits = len(pieces) >= 3 and all(_NAME.fullmatch(piece) for piece in pieces)
        if not fits or not pieces[-1].lower().endswith(".gguf"):
            raise InvalidInputError(
                f"{text!r} is not a reference to a GGUF file on the Hub.", "Write hf:owner/repo/file.gguf."
            )
        return cls("/".join(pieces[:2]), "/".join(pieces[2:]))

    def __str__(self) -> str:
        return f"{self.file} of {self.repository}"


@dataclass(frozen=True, slots=True)
class _FileFacts:
    """The SHA-256 in hex and the size in bytes of a file, as the Hub states them."""

    sha256: str
    size: int


def find(reference: Reference) -> Path | None:
    """The whole file on this disk, also in the cache of the Hub's own library, or None."""
    target = _target(reference)
    if target.is_file():
        return target
    folder = _library_cache() / f"models--{reference.repository.replace('/', '--')}" / "snapshots"
    found = (path for path in sorted(folder.glob("*")) if (path / reference.file).is_file())
    return next((path / reference.file for path in found), None)


async def fetch(reference: Reference, report: Callable[[str], None]) -> Path:
    """Download the file unless it is here, and return its path. One process downloads, others wait.

    Raises:
        ModelUnavailableError: there is no such file, no access, no network, no room, or its hash is wrong.
    """
    target = _target(reference)
    cache.directory(*target.parent.relative_to(cache.path_of()).parts)
    lock = FileLock(target.with_name(f"{target.name}.lock"))
    try:
        if not lock.try_exclusive():
            report(f"Waiting for another process that fetches {reference}")
            await wait_until(lock.try_exclusive)
        if not target.is_file():
            await _fetch_into(target, reference, report)
    finally:
        lock.close()
    return target


def _target(reference: Reference) -> Path:
    return cache.path_of("weights", "hub", *reference.repository.split("/"), *reference.file.split("/"))


def _library_cache() -> Path:
    chosen = os.environ.get("HF_HUB_CACHE")
    return Path(chosen).expanduser() if chosen else _library_home() / "hub"


def _library_home() -> Path:
    chosen = os.environ.get("HF_HOME")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "huggingface"


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or _ENDPOINT


def _token() -> str:
    told = os.environ.get("HF_TOKEN", "").strip()
    if told:
        return told
    try:
        return (_library_home() / "token").read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


async def _fetch_into(target: Path, reference: Reference, report: Callable[[str], None]) -> None:
    import httpx2

    if os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in {"1", "ON", "YES", "TRUE"}:
        raise _unavailable(
            f"{reference} is not on this disk, and HF_HUB_OFFLINE forbids to fetch it.", f"Unset it, or {_OWN_FILE}."
        )
    token = _token()
    headers = {"Accept-Encoding": "identity", "User-Agent": f"disputatio/{VERSION}"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    path = "/".join(quote(part) for part in f"{reference.repository}/resolve/main/{reference.file}".split("/"))
    try:
        async with httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT_S) as client:
            facts = await _state(client, f"{_endpoint()}/{path}", reference)
            part = _part(target, facts)
            report(f"Fetching {reference} once, {_size(facts.size)}, into {target.parent}")
            _check_room(part, facts, reference)
            await _gather(_Download(client, f"{_endpoint()}/{path}", part, facts, reference), report)
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise _unavailable(f"HF_ENDPOINT is {_endpoint()!r}, which is no address.", "Correct or unset it.") from error
    except httpx2.RequestError as error:
        raise _unavailable(
            f"{reference} is not on this disk, and the Hub at {urlsplit(_endpoint()).netloc} was not reached.",
            f"Go online once, set HF_ENDPOINT to a mirror, or {_OWN_FILE}.",
        ) from error
    report(f"Checking {reference}")
    await asyncio.to_thread(_put_in_place, part, target, facts, reference)


async def _state(client: httpx2.AsyncClient, url: str, reference: Reference) -> _FileFacts:
    """Ask the Hub for hash and size. Redirects within its host are those of a repository that was renamed."""
    for _ in range(5):
        answer = await client.head(url, follow_redirects=False)
        onward = answer.headers.get("Location", "")
        if not (answer.is_redirect and onward.startswith("/")):
            break
        url = str(answer.url.join(onward))
    if answer.status_code >= 400:
        raise _refusal(reference, answer)
    etag = answer.headers.get("X-Linked-Etag") or answer.headers.get("ETag") or ""
    sha256 = etag.removeprefix("W/").strip('"').lower()
    length = answer.headers.get("X-Linked-Size") or answer.headers.get("Content-Length") or ""
    if not _SHA256.fullmatch(sha256) or not length.isdecimal():
        raise _unavailable(
            f"The Hub states no SHA-256 and size of {reference}, so it cannot be verified.",
            f"Check HF_ENDPOINT, or {_OWN_FILE}.",
        )
    return _FileFacts(sha256, int(length))


def _part(target: Path, facts: _FileFacts) -> Path:
    """The path of the part file. Deletes part files of other versions."""
    part = target.with_name(f"{target.name}.{facts.sha256[:16]}.part")
    for other in target.parent.iterdir():
        stale = other.name.startswith(f"{target.name}.") and other.suffix == ".part" and other != part
        if stale or (other == part and part.stat().st_size > facts.size):
            other.unlink(missing_ok=True)
    return part


def _check_room(part: Path, facts: _FileFacts, reference: Reference) -> None:
    missing = facts.size - _arrived(part)
    if shutil.disk_usage(part.parent).free < missing:
        raise _no_room(reference, facts, part)


@dataclass(frozen=True, slots=True)
class _Download:
    """A download: its address, its part file and the expected result."""

    client: httpx2.AsyncClient
    url: str
    part: Path
    facts: _FileFacts
    reference: Reference


async def _gather(row: _Download, report: Callable[[str], None]) -> None:
    """Request the missing bytes until the file is complete."""
    import httpx2

    show, idle = _progress(row, report), 0
    while (before := _arrived(row.part)) < row.facts.size:
        try:
            await _receive(row, before, show)
        except httpx2.RequestError:
            pass
        except OSError as error:
            row.part.unlink(missing_ok=True)
            if error.errno in _FULL:
                raise _no_room(row.reference, row.facts, row.part) from error
            raise _unavailable(f"{row.part} cannot be written ({error.strerror}).", "") from error
        idle = 0 if _arrived(row.part) > before else idle + 1
        if idle == _IDLE_TRIES:
            raise _unavailable(
                f"The Hub broke off {row.reference} at {_size(before)} of {_size(row.facts.size)}.",
                "Start it again: it goes on from there.",
            )
        if idle:
            await asyncio.sleep(_PAUSE_S)


async def _receive(row: _Download, begin: int, show: Callable[[int], None]) -> None:
    """Request the bytes from ``begin`` on once, and write those that arrive."""
    wanted = {"Range": f"bytes={begin}-"} if begin else {}
    # Signed addresses expire after an hour, so each request starts at the Hub.
    async with row.client.stream("GET", row.url, headers=wanted, follow_redirects=True) as answer:
        if answer.status_code >= 400:
            raise _refusal(row.reference, answer)
        goes_on = answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {begin}-")
        arrived = begin if goes_on else 0
        with row.part.open("ab" if goes_on else "wb") as sink:
            async for block in answer.aiter_raw():
                arrived += len(block)
                if arrived > row.facts.size:
                    break
                await asyncio.to_thread(sink.write, block)
                show(arrived)
    if arrived > row.facts.size:
        row.part.unlink(missing_ok=True)
        raise _altered(row.reference)


def _progress(row: _Download, report: Callable[[str], None]) -> Callable[[int], None]:
    shown, step = -1, max(1, row.facts.size // _STEPS)

    def show(arrived: int) -> None:
        nonlocal shown
        if arrived // step > shown or arrived == row.facts.size:
            shown = arrived // step
            report(f"Fetching {row.reference.file}: {_size(arrived)} of {_size(row.facts.size)}")

    return show


def _put_in_place(part: Path, target: Path, facts: _FileFacts, reference: Reference) -> None:
    with part.open("rb") as file:
        right = hashlib.file_digest(file, "sha256").hexdigest() == facts.sha256
        os.fsync(file.fileno())
    if not right:
        part.unlink()
        raise _altered(reference)
    part.replace(target)


def _arrived(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _size(number: int) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"


def _unavailable(cause: str, next_step: str, kind: FaultKind = FaultKind.NOT_INSTALLED) -> ModelUnavailableError:
    return ModelUnavailableError(kind, cause, next_step)


def _altered(reference: Reference) -> ModelUnavailableError:
    return _unavailable(
        f"What came of {reference} is not what the Hub states (its SHA-256 differs), so it was deleted.",
        "Try again; if it stays so, a proxy or the mirror in HF_ENDPOINT alters files.",
    )


def _no_room(reference: Reference, facts: _FileFacts, part: Path) -> ModelUnavailableError:
    return _unavailable(
        f"There is no room for {reference} ({_size(facts.size)}) in {part.parent}.",
        f"Make room, set {cache.CACHE_VARIABLE} to a directory on another disk, or choose a smaller model: "
        "disputatio models embedded.",
    )


def _refusal(reference: Reference, answer: httpx2.Response) -> ModelUnavailableError:
    """The error for an answer with a status of 400 or more (huggingface_hub tells them apart by the same header)."""
    status, code = answer.status_code, answer.headers.get("X-Error-Code", "")
    if code == "GatedRepo":
        return _unavailable(
            f"The Hub gives {reference} only to accounts that were granted access.",
            f"Accept its terms at {_endpoint()}/{reference.repository} and set HF_TOKEN.",
            FaultKind.KEY_MISSING,
        )
    if status in {401, 403}:
        return _unavailable(
            f"The Hub shows nobody without access {reference}: it is private, is not there, or HF_TOKEN is not valid.",
            "Check the owner and the repository, or set HF_TOKEN.",
            FaultKind.KEY_MISSING,
        )
    if status == 404:
        return _unavailable(
            f"The Hub has no file {reference}.", "Check the owner, repository and file name.", FaultKind.NO_SUCH_MODEL
        )
    return _unavailable(f"The Hub answered {status} for {reference}.", f"Try again later, or {_OWN_FILE}.")
