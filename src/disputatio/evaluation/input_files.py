"""Read the files that users give to evaluations; one sentence says what is wrong with a bad one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError


def read_text(path: Path, step: str) -> str:
    """Read a UTF-8 file, with or without a byte-order mark.

    Raises:
        InvalidInputError: it cannot be read, with ``step`` as the next step, or it is not UTF-8.
    """
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path} is not UTF-8 text.", "Save it as UTF-8.") from None
    except OSError as error:
        cause = (error.strerror or "unknown cause").lower()
        raise InvalidInputError(f"{path} cannot be read: {cause}.", step) from None


def read_json(path: Path, step: str) -> Any:
    """Read a JSON file.

    Raises:
        InvalidInputError: as `read_text`, or it is not JSON; names the line.
    """
    text = read_text(path, step)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"{path}, line {error.lineno}: {error.msg}.", step) from None


def json_objects(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    """Parse JSONL: each object with its line number, blank lines left out.

    Raises:
        InvalidInputError: a line is not a JSON object; names the line.
    """
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            body = json.loads(line)
        except json.JSONDecodeError as error:
            raise InvalidInputError(
                f"{path}, line {number}: {error.msg}.", "Give one JSON object a line (JSONL), or a .csv file."
            ) from None
        if not isinstance(body, dict):
            raise InvalidInputError(f"{path}, line {number} is not a JSON object.", "Give one JSON object a line.")
        rows.append((number, body))
    return rows
