"""Knowledge bases in files: canonical JSON with a hash that reveals any change."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError, VerificationError
from disputatio.market.knowledge import SCHEMA_VERSION, KnowledgeBase
from disputatio.market.knowledge_json import as_json, from_json

EXAMPLE = "example"
"""The name of the packaged knowledge base."""

MAX_FILE_BYTES = 8_000_000
"""A base has some ten thousand bytes."""

_EXAMPLE_FILE = "example_index.json"


def content_hash(base: KnowledgeBase) -> str:
    """Return SHA-256, in hexadecimal, of the canonical JSON of ``base``: sorted keys, no spaces, UTF-8."""
    return _hash_content(as_json(base))


def _hash_content(content: Any) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def serialize(base: KnowledgeBase) -> bytes:
    """Return the file content of ``base``; equal bases give equal bytes."""
    content = as_json(base)
    text = json.dumps(
        {"sha256": _hash_content(content), "knowledge": content}, indent=1, ensure_ascii=False, allow_nan=False
    )
    return f"{text}\n".encode()


def save(base: KnowledgeBase, path: Path) -> None:
    """Write ``base`` to ``path`` atomically, replacing an older file.

    Raises:
        InvalidInputError: if the file cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(serialize(base))
            # mkstemp makes files that only their owner may read.
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        cause = (error.strerror or "unknown cause").lower()
        raise InvalidInputError(f"{path} cannot be written: {cause}.", "Give --out a place that can.") from None


def load(path: Path) -> KnowledgeBase:
    """Load the knowledge base at ``path``.

    Raises:
        InvalidInputError: if it cannot be read, is not a knowledge base, or has another schema version.
        VerificationError: if its content was changed after saving.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        cause = (error.strerror or "unknown cause").lower()
        raise InvalidInputError(f"The knowledge base {path} cannot be read: {cause}.", _BUILD_STEP) from None
    if len(raw) > MAX_FILE_BYTES:
        raise InvalidInputError(f"{path} is too large for a knowledge base.", _BUILD_STEP)
    return parse(raw, str(path))


_BUILD_STEP = "Build one: disputatio market build --as-of DATE --out FILE, or use the name 'example'."


def parse(raw: bytes, name: str) -> KnowledgeBase:
    """Parse a file's content; errors call it ``name`` and are those of `load`."""
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidInputError(f"{name} is no knowledge base: it is not JSON.", _BUILD_STEP) from None
    if not isinstance(given, dict) or not isinstance(given.get("knowledge"), dict):
        raise InvalidInputError(f"{name} is no knowledge base: it has no 'knowledge'.", _BUILD_STEP)
    content = given["knowledge"]
    if content.get("schema_version") != SCHEMA_VERSION:
        # Refused first: another version also has another hash.
        from_json(content)
    if _try_hash(content) != given.get("sha256"):
        raise VerificationError(
            f"{name} was changed after it was saved: its content does not have the hash that it states.",
            "Build it again, or take an unchanged copy.",
        )
    return from_json(content)


def _try_hash(content: Any) -> str:
    try:
        return _hash_content(content)
    except (ValueError, RecursionError):
        return ""


def load_example() -> KnowledgeBase:
    """Load ExampleIndex, an invented market that comes with the package."""
    return parse(files(__package__).joinpath(_EXAMPLE_FILE).read_bytes(), "the example")


def load_named(name: str) -> KnowledgeBase:
    """Load ``example``, or the file with this path.

    Raises:
        InvalidInputError: as `load` does.
        VerificationError: as `load` does.
    """
    return load_example() if name.strip().casefold() == EXAMPLE else load(Path(name).expanduser())
