"""Where no debate is held, what one format takes is not refused for another's sake; what no format has still is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio._cli.stores import locate_store, store_address
from disputatio.config import Arguments
from disputatio.config.process import configured_store
from disputatio.errors import InvalidInputError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISPUTATIO_STORE", "kept.sqlite")
    return tmp_path


@pytest.mark.parametrize(
    "file",
    [
        "rounds = 10",
        '[seats.proposer_2]\nmodel = "x"',
        '[seats.tech_bull]\nprovider = "openai"',
        "[rules]\nspeech_words = 90",
        "[limits.max_tokens]\nframing = 400",
        'debaters = ["ann", "bob"]\n[seats.ann]\nmodel = "x"',
    ],
)
def test_what_any_format_takes_is_taken(here: Path, file: str) -> None:
    (here / "disputatio.toml").write_text(file, "utf-8")
    assert configured_store(Arguments()).store == f"sqlite:///{here}/kept.sqlite"


def test_variables_for_one_format_are_in_nobodys_way(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPUTATIO_ROUNDS", "20")
    assert configured_store(make_arguments(store="other.sqlite")).store == f"sqlite:///{here}/other.sqlite"


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ('[seats.nobody]\nmodel = "x"', "There is no seat seats.nobody"),
        ("[rules]\nnothing = 1", "rules.nothing"),
        ("[limits.max_tokens]\nlunch = 1", "limits.max_tokens.lunch"),
        ("rounds = 1000", "rounds is 1000"),
        ("roundz = 3", "rounds"),
    ],
)
def test_what_no_format_takes_is_refused(here: Path, file: str, named: str) -> None:
    (here / "disputatio.toml").write_text(file, "utf-8")
    with pytest.raises(InvalidInputError) as refused:
        configured_store(Arguments())
    assert named in f"{refused.value.cause} {refused.value.next_step}"


WORDS = ["kept.sqlite", "~/x.sqlite", "/srv/a b?.sqlite", "sqlite:///rel.db", "sqlite+pysqlite:////x", "SQLITE:///y"]
WORDS += ["postgresql://ann@host/name", "mysql://ann@host/name", " spaced.sqlite ", "", "  ", "a\nb", "~nobody-here/x"]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("is_option", [True, False])
def test_a_quick_command_finds_the_same_store(word: str, *, is_option: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_option:
        monkeypatch.setenv("DISPUTATIO_STORE", word)
    given = word if is_option else None

    def found(place: Callable[[], str]) -> str:
        try:
            return place()
        except InvalidInputError as refused:
            return f"{refused.cause} {refused.next_step}"

    assert found(lambda: store_address(given)) == found(lambda: configured_store(make_arguments(store=given)).store)


@pytest.mark.parametrize("name", [".env", "disputatio.toml", "disputatio.yaml"])
def test_a_quick_command_reads_files_that_may_name_a_store(
    here: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPUTATIO_STORE")
    texts = {".env": "DISPUTATIO_STORE=filed.sqlite", "disputatio.toml": 'store = "filed.sqlite"'}
    (here / name).write_text(texts.get(name, "store: filed.sqlite"), "utf-8")
    assert locate_store(None) == (f"sqlite:///{here}/filed.sqlite", False)
