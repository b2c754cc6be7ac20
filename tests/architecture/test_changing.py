"""The walk-throughs of ``docs/design/changing.md``, each done on a copy of the source."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design" / "changing.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
_FRAGMENT = re.compile(r"^```(py|md|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PLACE = re.compile(r"# (src/\S+) (?:(after|before): (.*)|new file)")
MOST_FILES = {"A phase": 6, "An event": 4, "An option": 2, "A provider": 3}


def inserted(text: str, side: str, anchor: str, fragment: str) -> str:
    """``text`` with ``fragment`` on one side of the only line that begins with ``anchor``."""
    lines = text.splitlines(keepends=True)
    found = [place for place, line in enumerate(lines) if line.rstrip("\n") == anchor.rstrip()]
    assert found, f"no line {anchor!r}"
    place = found[0] + (side == "after")
    return "".join([*lines[:place], fragment, *lines[place:]])


def apply(section: str, copy: Path) -> tuple[set[str], str]:
    """Carry out the fragments of ``section`` in ``copy``: the files that changed, and the program that checks it."""
    changed, check = set(), ""
    for language, body in _FRAGMENT.findall(SECTIONS[section]):
        head, _, rest = body.partition("\n")
        if language == "sh":
            before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
            subprocess.run([sys.executable, *body.split()[1:]], cwd=copy, env=environment(copy), check=True)
            changed |= {str(path.relative_to(copy)) for path, was in before.items() if path.read_bytes() != was}
        elif head == "# check":
            check = rest
        else:
            match = _PLACE.fullmatch(head)
            assert match, head
            path = copy / match[1]
            path.write_text(inserted(path.read_text("utf-8"), match[2], match[3], rest) if match[2] else rest, "utf-8")
            changed.add(match[1])
    return changed, check


def environment(copy: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1", "PATH": ""}


def test_the_page_has_the_sections_that_are_checked() -> None:
    assert set(SECTIONS) == set(MOST_FILES)


@pytest.mark.slow
@pytest.mark.parametrize("section", MOST_FILES)
def test_a_change_takes_the_files_the_page_names(section: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    changed, check = apply(section, tmp_path)
    assert len(changed) <= MOST_FILES[section], sorted(changed)
    for word, count in (("one file", 1), ("two files", 2), ("three files", 3), ("four files", 4)):
        if f"takes {word}" in SECTIONS[section]:
            assert len(changed) == count, sorted(changed)
            break
    done = subprocess.run(
        [sys.executable, "-c", check],
        cwd=tmp_path,
        env={**environment(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_check_fails_where_the_change_was_not_made(tmp_path: Path) -> None:
    """Each check is about the change: on the unchanged source it must fail."""
    for section, body in SECTIONS.items():
        check = next(text for language, text in _FRAGMENT.findall(body) if text.startswith("# check"))
        done = subprocess.run([sys.executable, "-c", check], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode != 0, section
