"""The table of `make attack`: a row for each test in this folder, with what was tried, what held, and figures.

A row is a test function; the cases of a parametrized test are added up. A test that counts nothing is one try, which
held if the test passed. One that tries many things takes the fixture ``attack`` and counts each of them::

    def test_no_address_reaches_the_network(attack):
        for address in ADDRESSES:
            attack.check(refused(address), address)
        attack.figure("slowest refusal", slowest, "ms")

Every number comes from the run. A test that did not run has a row that says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

FOLDER = Path(__file__).parent
PROPERTY = "attack"
BEGINS, ENDS = "<!-- make attack-table: begins -->", "<!-- make attack-table: ends -->"
_MOST_NAMED = 20
_EVERY = 4
Value = TypeVar("Value")


@dataclass
class Attack:
    """What one test tried: the fixture ``attack``.

    ``thorough`` is true under `make attack` and in full runs: then all is tried. Else ``some`` takes every fourth row,
    another one each time.
    """

    thorough: bool = True
    tried: int = 0
    failed: list[str] = field(default_factory=list)
    figures: dict[str, tuple[float, str]] = field(default_factory=dict)
    _begins: int = 0

    def some(self, rows: Iterable[Value]) -> list[Value]:
        """The rows to try now."""
        kept = list(rows)
        if self.thorough:
            return kept
        self._begins += 1
        return kept[self._begins % _EVERY :: _EVERY]

    def check(self, held: object, what: object) -> None:
        """Count one try. A try that did not hold fails the test at its end, so that the others are made too."""
        self.tried += 1
        if not held:
            self.failed.append(str(what))

    def figure(self, name: str, value: float, unit: str = "") -> None:
        """Add a measured figure; the largest is shown where several are measured under one name."""
        before = self.figures.get(name, (value, unit))[0]
        self.figures[name] = (max(before, value), unit)

    def settle(self) -> None:
        """Fail with the tries that did not hold.

        Raises:
            AssertionError: there are some.
        """
        shown = "".join(f"\n  {one}" for one in self.failed[:_MOST_NAMED])
        assert not self.failed, f"{len(self.failed)} of {self.tried} did not hold:{shown}"

    def as_property(self) -> dict[str, Any]:
        """As a report of a test carries it, also between processes."""
        figures = {name: list(row) for name, row in self.figures.items()}
        return {"tried": self.tried, "failed": len(self.failed), "figures": figures}


@dataclass
class Row:
    """One row of the table."""

    file: str
    test: str
    tried: int = 0
    held: int = 0
    skipped: str = ""
    figures: dict[str, tuple[float, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The test's name in words."""
        return self.test.removeprefix("test_").replace("_", " ")

    @property
    def as_words(self) -> tuple[str, str, str, str]:
        """The cells of the row."""
        if not self.tried:
            return self.name, "-", "-", f"did not run{self.skipped and ': '}{self.skipped}"
        told = "; ".join(f"{name} {_number(value)}{unit and ' '}{unit}" for name, (value, unit) in self.figures.items())
        return self.name, f"{self.tried:,}", f"{self.held:,}", told


@dataclass
class Table:
    """All rows, by file and test."""

    rows: dict[tuple[str, str], Row]

    def add(self, file: str, test: str, passed: bool, counted: Mapping[str, Any] | None) -> None:
        """Add one case that ran. A case that failed held at most all but one of its tries."""
        row = self.rows.setdefault((file, test), Row(file, test))
        tried = max(1, counted["tried"]) if counted else 1
        failed = counted["failed"] if counted else 0
        row.tried += tried
        row.held += tried - failed if passed else min(tried - failed, tried - 1)
        for name, (value, unit) in (counted or {"figures": {}})["figures"].items():
            row.figures[name] = (max(value, row.figures.get(name, (value, unit))[0]), unit)

    def skip(self, file: str, test: str, why: str) -> None:
        """Note why a case did not run."""
        self.rows.setdefault((file, test), Row(file, test)).skipped = why

    @property
    def whole(self) -> bool:
        """Whether every row ran and held."""
        return all(row.tried and row.held == row.tried for row in self.rows.values())

    def in_text(self) -> list[str]:
        """For a terminal."""
        lines: list[str] = []
        width = max((len(row.name) for row in self.rows.values()), default=0)
        for title, rows in self._parts():
            lines += ["", title, f"  {'':{width}}  {'tried':>7}  {'held':>7}"]
            for row in rows:
                name, tried, held, told = row.as_words
                mark = " " if row.tried and row.held == row.tried else "!"
                lines.append(f"{mark} {name:{width}}  {tried:>7}  {held:>7}  {told}".rstrip())
        return [*lines, "", self.summary()]

    def in_markdown(self) -> str:
        """For the documentation."""
        lines: list[str] = []
        for title, rows in self._parts():
            lines += ["", f"**{title}**", "", "| attack | tried | held | figures |", "|---|--:|--:|---|"]
            lines += [f"| {' | '.join(row.as_words)} |" for row in rows]
        return "\n".join([*lines, "", self.summary()]).strip() + "\n"

    def summary(self) -> str:
        """The table in one sentence."""
        ran = [row for row in self.rows.values() if row.tried]
        held = sum(row.held == row.tried for row in ran)
        tries = f"{sum(row.held for row in ran):,} of {sum(row.tried for row in ran):,} tries held"
        absent = len(self.rows) - len(ran)
        return f"{held} of {len(self.rows)} rows held, {absent} did not run; {tries}."

    def _parts(self) -> Iterable[tuple[str, list[Row]]]:
        by_file: dict[str, list[Row]] = {}
        for (file, _), row in sorted(self.rows.items(), key=lambda each: each[0][0]):
            by_file.setdefault(file, []).append(row)
        return [(title_of(file), rows) for file, rows in by_file.items()]


def empty_table(folder: Path = FOLDER) -> Table:
    """The table before anything ran: a row for each test that is written in ``folder``."""
    rows: dict[tuple[str, str], Row] = {}
    for path in sorted(folder.rglob("test_*.py")):
        file = path.relative_to(folder).as_posix()
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
                rows[file, node.name] = Row(file, node.name)
    return Table(rows)


def title_of(file: str, folder: Path = FOLDER) -> str:
    """What the tests of a file show: the first line of its docstring."""
    path = folder / file
    told = ast.get_docstring(ast.parse(path.read_text("utf-8"))) if path.is_file() else None
    return (told or file).partition("\n")[0]


def write_into(document: Path, table: str) -> None:
    """Put the table between the two marks of a document.

    Raises:
        ValueError: the document has no such marks.
    """
    before, begins, rest = document.read_text("utf-8").partition(BEGINS)
    _, ends, after = rest.partition(ENDS)
    if not begins or not ends:
        raise ValueError(f"{document} has no place for the table: {BEGINS} and {ENDS} are missing.")
    document.write_text(f"{before}{BEGINS}\n\n{table}\n{ENDS}{after}", "utf-8")


def rows_in(document: Path) -> list[str]:
    """The names of the rows that a document shows."""
    table = document.read_text("utf-8").partition(BEGINS)[2].partition(ENDS)[0]
    cells = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines() if line.startswith("| ")]
    return [name for name in cells if name != "attack"]


def _number(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
