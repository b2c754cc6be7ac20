"""Keeps drafts of a person's turns on disk, so that a person can leave and continue later.

Each turn has one file in the debate's folder. It is replaced in one step, so a crash leaves the old or the new draft. A
draft is private and no part of the record.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from disputatio.kernel import JsonObject

_MOST_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class DraftBook:
    """The drafts under one folder."""

    folder: Path

    def read(self, debate: str, path: str) -> JsonObject:
        """The draft of the turn at ``path``; empty where there is none that can be read."""
        try:
            body = json.loads(self._file(debate, path).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return body["content"] if isinstance(body, dict) and isinstance(body.get("content"), dict) else {}

    def keep(self, debate: str, path: str, content: JsonObject) -> bool:
        """Keep ``content`` as the draft of that turn; whether it could be kept."""
        file = self._file(debate, path)
        text = json.dumps({"path": path, "content": content}, ensure_ascii=True)
        if len(text) > _MOST_BYTES:
            return False
        beside = file.with_suffix(f".{os.getpid()}.new")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            # A draft is private.
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
                out.write(text)
            beside.replace(file)
        except OSError:
            return False
        return True

    def drop(self, debate: str, path: str) -> None:
        """Forget the draft of one turn."""
        with suppress(OSError):
            self._file(debate, path).unlink()

    def paths(self, debate: str) -> tuple[str, ...]:
        """The turns of ``debate`` that have a draft."""
        found: list[str] = []
        for file in sorted(self._of(debate).glob("*.json")):
            with suppress(OSError, ValueError, KeyError, TypeError):
                found.append(str(json.loads(file.read_text("utf-8"))["path"]))
        return tuple(found)

    def clear(self, debate: str) -> None:
        """Forget all drafts of ``debate``."""
        for path in self.paths(debate):
            self.drop(debate, path)
        with suppress(OSError):
            self._of(debate).rmdir()

    def _of(self, debate: str) -> Path:
        return self.folder / (debate if debate.isalnum() else hashlib.sha256(debate.encode()).hexdigest()[:16])

    def _file(self, debate: str, path: str) -> Path:
        return self._of(debate) / f"{hashlib.sha256(path.encode()).hexdigest()[:24]}.json"
