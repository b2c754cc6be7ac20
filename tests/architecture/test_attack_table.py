"""The table of `make attack` says what ran, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ATTACKS = Path(__file__).parents[1] / "attacks"
SUITE = '''"""A suite of attacks.

And more about it.
"""
import pytest

def test_one_try():
    pass

def test_many_tries(attack):
    for number in range(1200):
        attack.check(True, number)
    attack.figure("slowest", 1.234, "s")
    attack.figure("slowest", 0.5, "s")

@pytest.mark.parametrize("case", [1, 2, 3])
def test_cases_are_added_up(attack, case):
    attack.check(True, case)
    attack.figure("peak", case * 100, "MB")
'''
BROKEN = """
@pytest.mark.parametrize("case", [1, 2])
def test_a_case_that_fails(case):
    assert case == 1

def test_tries_that_fail(attack):
    attack.check(True, "good")
    attack.check(False, "the second thing")
    attack.check(True, "good")

def test_fails_beside_its_tries(attack):
    attack.check(True, "good")
    raise RuntimeError

@pytest.fixture
def nothing_to_stand_on():
    raise RuntimeError

def test_never_begins(nothing_to_stand_on):
    pass
"""
ABSENT = """
@pytest.mark.skip(reason="no Chromium here")
def test_is_skipped():
    pass

class Unseen:
    def test_is_no_row(self):
        pass
"""


def run(folder: Path, suite: str, *more: str) -> tuple[int, str]:
    for name in ("conftest.py", "attack_table.py"):
        shutil.copy(ATTACKS / name, folder)
    (folder / "test_suite.py").write_text(suite, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder), "--attack-table", *more],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def rows(told: str) -> dict[str, list[str]]:
    """The cells of each row by its name, without the mark before it."""
    cells = [[cell for cell in line.split("  ") if cell.strip()] for line in told.splitlines()]
    return {row[0].removeprefix("! ").strip(): [cell.strip() for cell in row[1:]] for row in cells if len(row) > 2}


@pytest.mark.slow
@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_a_suite_that_holds_ends_well(tmp_path: Path, processes: tuple[str, ...]) -> None:
    code, told = run(tmp_path, SUITE, *processes)
    assert code == 0, told
    assert "A suite of attacks." in told
    assert rows(told)["one try"] == ["1", "1"]
    assert rows(told)["many tries"] == ["1,200", "1,200", "slowest 1.23 s"]
    assert rows(told)["cases are added up"] == ["3", "3", "peak 300 MB"]
    assert "3 of 3 rows held, 0 did not run; 1,204 of 1,204 tries held." in told


@pytest.mark.slow
def test_what_did_not_hold_is_counted_and_fails_the_run(tmp_path: Path) -> None:
    code, told = run(tmp_path, SUITE + BROKEN)
    assert code == 1, told
    found = rows(told)
    assert found["a case that fails"] == ["2", "1"]
    assert found["tries that fail"] == ["3", "2"]
    assert "1 of 3 did not hold" in told
    assert "the second thing" in told
    assert found["fails beside its tries"] == ["1", "0"]
    assert found["never begins"] == ["1", "0"]
    assert "3 of 7 rows held, 0 did not run" in told
    assert "! never begins" in told


@pytest.mark.slow
def test_a_row_that_did_not_run_says_so_and_fails_the_run(tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    mark = "<!-- make attack-table: {} -->"
    document.write_text(f"Before.\n\n{mark.format('begins')}\nold\n{mark.format('ends')}\n\nAfter.\n", "utf-8")
    code, told = run(
        tmp_path, SUITE + ABSENT, "--deselect", "test_suite.py::test_one_try", f"--attack-document={document}"
    )
    assert code == 1, told
    assert rows(told)["is skipped"] == ["-", "-", "did not run: no Chromium here"]
    assert rows(told)["one try"] == ["-", "-", "did not run"]
    assert "2 of 4 rows held, 2 did not run" in told
    written = document.read_text("utf-8")
    assert written.startswith("Before.\n")
    assert written.endswith("\n\nAfter.\n")
    assert "old" not in written
    assert "| many tries | 1,200 | 1,200 | slowest 1.23 s |" in written
    sys.path.insert(0, str(ATTACKS))
    try:
        from attack_table import rows_in
    finally:
        sys.path.pop(0)
    assert rows_in(document) == ["one try", "many tries", "cases are added up", "is skipped"]
