"""The recorded judgments that other people published, read where they lie; nothing of them is kept here.

They are looked for beside the repository, in ../shared/data. Where a folder is missing its tests are skipped.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def folder(name: str) -> Path:
    """A folder of recorded judgments; skips the test where it is missing."""
    path = DATA / name
    if not path.is_dir():
        pytest.skip(f"the recorded judgments of {name} are not beside the repository, in ../shared/data/{name}")
    return path


def rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def content(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
