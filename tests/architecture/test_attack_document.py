"""The table in the documentation has a row for every attack test, and none for a test that is gone."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/design/security.md"
sys.path.insert(0, str(ROOT / "tests/attacks"))

from attack_table import BEGINS, ENDS, empty_table, rows_in, title_of  # noqa: E402


def test_every_attack_has_a_row_and_every_row_an_attack() -> None:
    written = [row.name for row in empty_table().rows.values()]
    assert sorted(rows_in(DOCUMENT)) == sorted(written), "make attack-table writes the table anew"


def test_the_parts_of_the_table_are_named_as_in_the_tests() -> None:
    told = DOCUMENT.read_text("utf-8")
    assert [file for file, _ in empty_table().rows if f"**{title_of(file)}**" not in told] == []


def test_every_row_of_the_table_held() -> None:
    told = DOCUMENT.read_text("utf-8")
    table = told.partition(BEGINS)[2].partition(ENDS)[0]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines() if "| " in line]
    found = [row for row in rows if row[0] != "attack"]
    assert [row for row in found if row[1] == "-" or row[1] != row[2]] == []
    assert len(found) == len(rows_in(DOCUMENT))
    assert "## What is not covered" in told
