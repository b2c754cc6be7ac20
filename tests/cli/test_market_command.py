"""`disputatio market`: what it builds it can show, and whatever is wrong is one sentence with a next step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_commands import CONTROL, Call, is_clear

from disputatio.market.knowledge import collect_data
from disputatio.market.slices import Lens, render_slice, take_slice
from disputatio.market.sources.files import load

DAYS = [f"{year}-{month:02d}-{day:02d}" for year in (2018, 2019) for month in range(1, 13) for day in range(1, 29)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Prices of every day of two years, of one index and one sector."""
    rows = [f"{day},{1000 + place}" for place, day in enumerate(DAYS)]
    for name in ("index_GSPC", "sector_XLK"):
        (tmp_path / f"{name}.csv").write_text("\n".join(["Date,Close", *rows]))
    return tmp_path


def build(call: Call, folder: Path, out: Path, day: str = "2019-06-28", *more: str):
    return call("market", "build", "--as-of", day, "--source", f"csv:{folder}", "--out", str(out), *more)


def test_what_is_built_can_be_shown_and_says_what_it_lacks(call: Call, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "base.json"
    ended = build(call, folder, out)
    assert ended.code == 0
    assert "These sources do not keep" in ended.out
    shown = call("market", "show", str(out))
    assert shown.code == 0
    assert "S&P 500 as known on 2019-06-28" in shown.out
    assert "Technology" in shown.out
    assert "Not known" in shown.out
    assert not CONTROL.search(shown.out)
    given = json.loads(call("market", "show", str(out), "--json").out)
    assert given["knowledge"]["meta"]["subject"] == "GSPC"
    assert given["sha256"] == json.loads(out.read_text())["sha256"]


def test_built_twice_the_file_is_the_same(call: Call, folder: Path, tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        assert build(call, folder, tmp_path / name, "2019-06-28", "--json").code == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    base = load(tmp_path / "one.json")
    assert all(datum.available_at <= base.meta.as_of for datum in collect_data(base).values() if datum.is_known)
    assert "sectors.XLK.price" in render_slice(take_slice(base, Lens.TECHNICAL))


def test_the_example_is_always_there_and_fits_a_narrow_terminal(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = call("market", "show", "example")
    assert ended.code == 0
    assert "Its values are invented" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--as-of", "1970-01-02"), "Nothing can be built as of 1970-01-02"),
        (("--as-of", "2031-01-02"), "the last session of S&P 500 at hand is 2019-12-28"),
        (("--as-of", "soon"), "is no day"),
        (("--as-of", "2019-06-28T12:00:00"), "has no time zone"),
        (("--as-of", "2019-06-28", "--source", "csv:/no/such/folder"), "There is no folder"),
        (("--as-of", "2019-06-28", "--source", "bloomberg"), "There is no source"),
        ((), "--as-of"),
    ],
)
def test_bad_orders_are_one_sentence_and_write_nothing(
    call: Call, folder: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    out = tmp_path / "out.json"
    source = () if "--source" in arguments else ("--source", f"csv:{folder}")
    ended = call("market", "build", *arguments, *source, "--out", str(out))
    assert ended.code == 2
    assert said in is_clear(ended.err)
    assert not out.exists()


def test_a_file_that_was_changed_is_refused(call: Call, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "base.json"
    build(call, folder, out)
    out.write_text(out.read_text().replace("1503", "1603", 1))
    ended = call("market", "show", str(out))
    assert ended.code == 6
    assert "was changed after it was saved" in is_clear(ended.err)
    assert call("market", "show", str(tmp_path / "none.json")).code == 2
