"""Pages of help: what every debate takes, the formats in a table, and the options of the format that is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from cli_commands import Call, is_clear

from disputatio._cli.fields import common_options
from disputatio._cli.index import COMMANDS, GROUPS
from disputatio._cli.options import StoreOption
from disputatio.formats import registry
from disputatio.formats.format import Format
from disputatio.formats.options import FormatOptions
from disputatio.options import Amount, Flag, Number, Whole, option
from disputatio.record.sql import SqlStore
from disputatio.request.formats import options_of, options_of_formats

HEAVY = {"pydantic", "pydantic_ai", "rich", "sqlalchemy", "typer"}
FORMATS = tuple(options_of_formats())
_MODULES = (
    "import sys; from disputatio._cli.main import main\n"
    "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
    "print(*sys.modules, sep='\\n', file=sys.stderr)"
)
OTHERS = [
    (row.flag, other)
    for name in FORMATS
    for row in options_of(name)
    for other in FORMATS
    if row.flag and row.flat_name not in {each.flat_name for each in options_of(other)}
]


def imported_by(*words: str) -> tuple[str, set[str]]:
    """What a command prints in a process of its own, and all modules that were imported for it."""
    ended = subprocess.run([sys.executable, "-c", _MODULES, *words], capture_output=True, text=True, check=True)
    return ended.stdout, set(ended.stderr.split())


def flags_on(page: str) -> set[str]:
    """The options that a page of help has a row for."""
    cells = [row.strip("│* ").split() for row in page.splitlines() if row.startswith("│")]
    return {row[0] for row in cells if row and row[0].startswith("--")}


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")


def test_the_page_of_debates_fits_every_debate(call: Call) -> None:
    page = call("debate", "--help").out
    assert {row.flag for row in common_options().values()} <= flags_on(page)
    own = {row.flag for name in FORMATS for row in options_of(name) if row.flag}
    assert own.isdisjoint(flags_on(page))
    assert all(f"│ {name} " in page for name in FORMATS)
    assert "disputatio debate -f panel --help" in page


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("first", [True, False])
def test_the_page_of_a_format_adds_its_options(call: Call, name: str, first: bool) -> None:
    words = ("-f", name, "--help") if first else ("--help", f"--format={name}")
    page = call("debate", *words).out
    own = {row.flag for row in options_of(name) if row.flag} | ({"--evidence-round"} if name == "review" else set())
    common = flags_on(call("debate", "--help").out)
    assert flags_on(page) == common | own


def test_help_of_a_format_that_is_none_is_refused(call: Call) -> None:
    ended = call("debate", "-f", "pannel", "--help")
    assert (ended.code, ended.out) == (2, "")
    assert "Did you mean panel?" in is_clear(ended.err)


@pytest.mark.parametrize("columns", ["80", "120"])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_flag_shows_a_type(call: Call, name: str, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    ended = call(name, "--help")
    assert ended.code == 0
    assert "<bool>" not in ended.out
    assert all(len(row) <= int(columns) for row in ended.out.splitlines())


@pytest.mark.parametrize("words", [("market", "build"), ("keys", "list"), ()])
def test_no_flag_of_a_group_shows_a_type(call: Call, words: tuple[str, ...]) -> None:
    assert "<bool>" not in call(*words, "--help").out


@pytest.mark.parametrize(
    ("flag", "name"), [*OTHERS, *(("--evidence-round", row) for row in FORMATS if row != "review")]
)
def test_an_option_of_another_format_is_refused(call: Call, flag: str, name: str) -> None:
    ended = call("debate", "We should act", "-f", name, flag, "pro=1")
    assert ended.code == 2
    said = is_clear(ended.err)
    assert f"{flag} is for " in said
    assert f"debates, and the format is {name}." in said


class Canary(FormatOptions):
    """Sings once."""

    name: str = "canary"
    songs: Whole | None = option(None, "How many songs.", ge=2, le=7, metavar="N")
    volume: Number | None = option(None, "How loud.", ge=0, le=11, metavar="X")
    price: Amount | None = option(None, "What a song costs.", ge=0, metavar="USD")
    encore: Flag = option(False, "Sing again.")
    mood: str | None = option(None, "In what mood.", metavar="WORD")
    birds: tuple[str, ...] | None = option(None, "Which birds.", metavar="NAME", repeat=True)


def test_a_new_format_needs_no_code_here(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    old = registry.FORMATS["structured"]
    form = Format("canary", "sings", old.seats, old.rules, old.rulebook, old.judges, options=Canary)
    monkeypatch.setitem(registry._PACKAGED._makers, "canary", lambda: form)
    assert "Sings once." in call("debate", "--help").out
    page = call("debate", "-f", "canary", "--help").out
    assert {"--songs", "--volume", "--price", "--encore", "--mood", "--birds"} <= flags_on(page)
    assert "How many songs. From 2 to 7." in page
    refused = call("debate", "We should act", "-f", "canary", "--encore", "--songs", "9", "--dry-run")
    assert "songs is '9' (from --songs)" in is_clear(refused.err)
    assert "from 2 to 7" in refused.err
    elsewhere = call("debate", "We should act", "--encore")
    assert "--encore is for canary debates, and the format is structured." in is_clear(elsewhere.err)


def test_the_store_is_what_its_field_says() -> None:
    field, written = common_options()["store"], get_args(StoreOption)[1]
    assert (written.default, written.metavar, written.help) == (field.flag, field.about.metavar, field.help)


def test_the_version_imports_no_command_and_no_heavy_library() -> None:
    said, modules = imported_by("--version")
    assert said.startswith("disputatio ")
    assert modules.isdisjoint(HEAVY | {"asyncio"})


@pytest.mark.slow
def test_help_of_a_debate_imports_nothing_that_runs_one() -> None:
    said, modules = imported_by("debate", "--help")
    assert "Formats" in said
    assert modules.isdisjoint({"asyncio", "sqlalchemy", "numpy", "pydantic_ai", "disputatio.engine"})
    assert modules.isdisjoint(f"disputatio.formats.{name}" for name in FORMATS)


def test_listing_imports_no_heavy_library(tmp_path: Path) -> None:
    database = tmp_path / "debates.sqlite"
    SqlStore(f"sqlite:///{database}").engine.dispose()
    said, modules = imported_by("list", "--store", str(database))
    assert "No debates yet" in said
    assert {"sqlite3", "typer"} <= modules
    assert modules.isdisjoint({"aiohttp", "asyncio", "numpy", "openai", "pydantic_ai", "rich", "sqlalchemy"})
    assert modules.isdisjoint({"disputatio.api", "disputatio.engine", "disputatio.config", "disputatio.request"})


@pytest.mark.slow
def test_a_command_imports_no_other_command(tmp_path: Path) -> None:
    _, modules = imported_by("keys", "list", "--store", str(tmp_path / "nothing.sqlite"))
    assert "disputatio._cli.keys" in modules
    assert {"disputatio._cli.tournament", "disputatio._cli.evaluating"}.isdisjoint(modules)


def test_no_words_and_a_wrong_word_are_told_of_all_commands(call: Call) -> None:
    assert call().code == 2
    assert all(name in call().out for name in COMMANDS)
    assert "Did you mean 'debate'?" in call("debat").err


def test_groups_are_those_that_have_commands_of_their_own(call: Call) -> None:
    for name in GROUPS:
        assert "COMMAND" in call(name, "--help").out
