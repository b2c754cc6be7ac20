"""`make` runs the Python that it is told to, and keeps an environment that fits."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed"),
]
# This Python; it leaves pip out of the environments that it makes, which no test here asks for.
QUICK = """#!/bin/sh
if [ "$1 $2" = "-m venv" ]; then shift 2; exec '{python}' -m venv --without-pip "$@"; fi
"""
THIS = (
    QUICK
    + """exec '{python}' "$@"
"""
)
# Says that it is of another version.
OTHER = (
    QUICK
    + """
if [ "$1" = -c ]; then shift; code=$1; shift; exec '{python}' -c "import sys; sys.version = '3.99'; $code" "$@"; fi
exec '{python}' "$@"
"""
)


def written(place: Path, script: str) -> Path:
    place.write_text(script.format(python=sys.executable), "utf-8")
    place.chmod(0o755)
    return place


@pytest.fixture
def this(tmp_path: Path) -> Path:
    return written(tmp_path / "this-python", THIS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a Makefile and no environment; its path has a space in it."""
    place = tmp_path / "a project"
    place.mkdir()
    shutil.copy(ROOT / "Makefile", place)
    return place


def make(folder: Path, *words: str, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", "environment", *words],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **(environ or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def marked(folder: Path) -> bool:
    """Whether the environment is the one that was marked; marks it."""
    mark = folder / ".venv" / "mark"
    was = mark.exists()
    mark.touch()
    return was


def test_an_environment_is_kept_until_another_python_is_named(folder: Path, this: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "other-python", OTHER)
    named = f"PYTHON={this}"
    assert make(folder, named).returncode == 0
    version = subprocess.check_output([folder / ".venv/bin/python", "-c", "import sys; print(sys.version)"], text=True)
    assert version.strip() == sys.version
    assert not marked(folder)
    assert make(folder, named).returncode == 0
    assert make(folder).returncode == 0, "what .venv was made with is not named again"
    assert make(folder, "PYTHON=.venv/bin/python").returncode == 0
    assert marked(folder)
    again = make(folder, f"PYTHON={other}")
    assert "made anew" in again.stdout
    assert not marked(folder)
    assert make(folder, environ={"PYTHON": str(this)}).returncode == 0
    assert marked(folder)


def test_an_environment_whose_python_is_gone_is_made_anew(folder: Path, this: Path) -> None:
    assert make(folder, f"PYTHON={this}").returncode == 0
    marked(folder)
    for link in (folder / ".venv/bin").glob("python*"):
        link.unlink()
        link.symlink_to("/nowhere/python")
    assert make(folder, f"PYTHON={this}").returncode == 0
    assert not marked(folder)


@pytest.mark.parametrize("python", ["/nowhere/python3.14", "no-such-python"])
def test_a_python_that_is_not_there_is_named_and_nothing_is_lost(folder: Path, this: Path, python: str) -> None:
    assert make(folder, f"PYTHON={this}").returncode == 0
    marked(folder)
    failed = make(folder, f"PYTHON={python}")
    assert failed.returncode != 0
    assert f"{python} is no Python 3.11 or later" in failed.stdout
    assert marked(folder)
