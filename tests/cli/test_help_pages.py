"""Pages of help come from a file, are the ones that Typer draws of the commands, and import none of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_commands import Call
from typer.main import get_command

from disputatio._cli.app import app
from disputatio._cli.help_page import PAGES, help_page
from disputatio._cli.help_writing import pages
from disputatio._cli.index import COMMANDS, GROUPS
from disputatio.record.sql import SqlStore

HEAVY = {"pydantic", "pydantic_ai", "rich", "sqlalchemy", "typer"}
WORDS = tuple(tuple(name.split()) for name in json.loads(Path(PAGES).read_text("utf-8")))
_MODULES = (
    "import sys; from disputatio._cli.main import main\n"
    "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
    "print(*sys.modules, sep='\\n', file=sys.stderr)"
)


def imported_by(*words: str) -> tuple[str, set[str]]:
    """What a command prints in a process of its own, and all modules that were imported for it."""
    told = subprocess.run([sys.executable, "-c", _MODULES, *words], capture_output=True, text=True, check=True)
    return told.stdout, set(told.stderr.split())


def test_the_file_says_what_the_commands_say() -> None:
    assert Path(PAGES).read_text("utf-8") == pages(), "make reference writes it anew"


FEW = ((), ("debate",), ("keys",), ("sign-off",))
"""The page of all commands, the longest, one of a group, and one with a star."""


@pytest.fixture(scope="module")
def command_line() -> Any:
    """All commands, as Typer makes them; making them takes longer than drawing."""
    return get_command(app)


@pytest.mark.parametrize(("columns", "shown"), [(80, WORDS), (72, FEW), (100, FEW), (133, FEW)])
def test_a_page_is_the_one_typer_draws(
    columns: int,
    shown: tuple[tuple[str, ...], ...],
    command_line: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    for words in shown:
        command_line(args=[*words, "--help"], prog_name="disputatio", standalone_mode=False)
        assert f"{help_page(words, columns, colours=False)}\n" == capsys.readouterr().out, words


def test_colours_add_nothing_but_colours() -> None:
    for words in WORDS:
        coloured = help_page(words, 100, colours=True)
        assert coloured is not None
        for sign in ("1", "2", "31", "2;31", "1;2;33", "1;36", "1;32", "1;33"):
            coloured = coloured.replace(f"\x1b[{sign}m", "")
        assert coloured.replace("\x1b[0m", "") == help_page(words, 100, colours=False)


def test_what_does_not_fit_is_left_to_typer(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert help_page(("show",), 40, colours=False) is None
    assert "Usage: disputatio show" in call("show", "--help").out


def test_what_is_no_command_has_no_page() -> None:
    assert help_page(("debait",), 80, colours=False) is None
    assert help_page(("debate", "MOTION"), 80, colours=False) is None


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("debate", "--help"), ("market", "build", "-h")])
def test_help_and_version_import_neither_a_command_nor_what_draws_it(words: tuple[str, ...]) -> None:
    said, modules = imported_by(*words)
    assert "disputatio" in said
    assert modules.isdisjoint(HEAVY | {"asyncio"})
    own = {name for name in modules if name.startswith("disputatio.")} - {
        f"disputatio.{name}" for name in ("_front", "_rooms", "_version")
    }
    assert {name for name in own if not name.startswith("disputatio.failures")} <= {
        f"disputatio.{name}" for name in ("_cli", "_cli.help_page", "_cli.main", "_cli.streams")
    }


def test_listing_debates_imports_neither_a_database_library_nor_a_format_nor_a_model_client(tmp_path: Path) -> None:
    database = tmp_path / "debates.sqlite"
    SqlStore(f"sqlite:///{database}").engine.dispose()
    said, modules = imported_by("list", "--store", str(database))
    assert "No debates yet" in said
    assert {"sqlite3", "typer"} <= modules
    assert modules.isdisjoint({"aiohttp", "asyncio", "numpy", "openai", "pydantic_ai", "rich", "sqlalchemy"})
    assert modules.isdisjoint({"disputatio.door", "disputatio.engine", "disputatio.config", "disputatio.request"})


@pytest.mark.slow
def test_a_command_imports_no_other_command() -> None:
    _, modules = imported_by("keys", "list", "--store", "nothing.sqlite")
    assert "disputatio._cli.keys" in modules
    assert {"disputatio._cli.tournament", "disputatio._cli.evaluating"}.isdisjoint(modules)


def test_no_words_and_a_wrong_word_are_told_of_all_commands(call: Call) -> None:
    assert call().code == 2
    assert all(name in call().out for name in COMMANDS)
    assert "Did you mean 'debate'?" in call("debat").err


def test_groups_are_those_that_have_commands_of_their_own(call: Call) -> None:
    for name in GROUPS:
        assert "COMMAND" in call(name, "--help").out
