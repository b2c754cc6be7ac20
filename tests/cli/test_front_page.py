"""The page of all commands comes from the index, says what the commands say, and imports none of them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cli_commands import Call

from disputatio._cli.app import app
from disputatio._cli.front_page import NARROWEST, front_page
from disputatio._cli.index import COMMANDS, GROUPS

HEAVY = ("disputatio.config", "disputatio.formats", "pydantic", "pydantic_ai", "rich", "sqlalchemy", "typer")
_MODULES = (
    "import sys; from disputatio._cli.main import main\n"
    "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
    "print(*sys.modules, sep='\\n', file=sys.stderr)"
)


@pytest.mark.parametrize("columns", [NARROWEST, 80, 100, 133])
def test_the_page_is_the_one_typer_draws_of_the_commands(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    app(args=["--help"], prog_name="disputatio", standalone_mode=False)
    drawn = [line.rstrip() for line in capsys.readouterr().out.rstrip().splitlines()]
    ours = [line.rstrip() for line in front_page(columns, colours=False).rstrip().splitlines()]
    assert ours == drawn


def test_colours_add_nothing_but_colours() -> None:
    coloured = front_page(100, colours=True)
    for sign in ("1", "2", "1;36", "1;32", "1;33"):
        coloured = coloured.replace(f"\x1b[{sign}m", "")
    assert coloured.replace("\x1b[0m", "") == front_page(100, colours=False)


def test_help_imports_neither_a_command_nor_what_draws_it() -> None:
    told = subprocess.run([sys.executable, "-c", _MODULES, "--help"], capture_output=True, text=True, check=True)
    assert "disputatio debate" in told.stdout
    imported = set(told.stderr.split())
    assert imported.isdisjoint(HEAVY)
    assert {name for name in imported if name.startswith("disputatio._cli.")} <= {
        f"disputatio._cli.{name}" for name in ("front_page", "index", "main", "streams")
    }


@pytest.mark.slow
def test_a_command_imports_no_other_command() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _MODULES, "keys", "--help"], capture_output=True, text=True, check=True
    )
    assert {"disputatio._cli.tournament", "disputatio._cli.evaluating"}.isdisjoint(told.stderr.split())


def test_no_words_and_a_wrong_word_are_told_of_all_commands(call: Call) -> None:
    assert call().code == 2
    assert all(name in call().out for name in COMMANDS)
    assert "Did you mean 'debate'?" in call("debat").err


def test_groups_are_those_that_have_commands_of_their_own(call: Call) -> None:
    for name in GROUPS:
        assert "COMMAND" in call(name, "--help").out
