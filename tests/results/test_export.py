"""A store exported as tables: the same rows as the frames, in bounded memory, all files or none."""

from __future__ import annotations

import asyncio
import csv
import dataclasses
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from cited_debates import SOURCES
from read_debates import fabricating, split, withdrawn
from staged_debates import ENDINGS, Staged, held, hold, house_of, settings_of

import disputatio
from disputatio._cli.main import main
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import start
from disputatio.formats.registry import find_format
from disputatio.motion import read_motion
from disputatio.record.chain import GENESIS, Sealed, seal
from disputatio.record.memory import MemoryStore
from disputatio.record.sql import SqlStore
from disputatio.record.store import EventBatch
from disputatio.report.reading import DebateReport
from disputatio.results import Result, writing
from disputatio.results.frames import frame_of
from disputatio.results.tables import TABLE_NAMES, TABLES, ColumnType
from disputatio.results.writing import FileKind, TableWriter
from disputatio.testing import instance


def _cited() -> Staged:
    store = MemoryStore()
    motion, form, settings = read_motion("Should we?"), find_format("structured"), settings_of("structured")
    proposal = Proposal(motion, form, settings, SOURCES)
    return Staged(asyncio.run(start(proposal, house_of(store, fabricating))), store)


def _panel() -> Staged:
    store = MemoryStore()
    said = disputatio.Scripted(lambda ask, path, reasons: instance(ask.spec.schema, path))
    debate = disputatio.debate_sync("We should", format="panel", seats={"all": said}, store=store)
    return Staged(debate.id, store)


@pytest.fixture(scope="module")
def debates() -> list[Staged]:
    """Debates of several formats and endings."""
    jury = asyncio.run(hold(answering=split, judges="2"))
    return [held("complete"), *map(held, ENDINGS), asyncio.run(hold(answering=withdrawn)), jury, _cited(), _panel()]


def keep(url: str, debates: Sequence[Staged]) -> str:
    async def write() -> None:
        store = SqlStore(url)
        for row in debates:
            await store.append(EventBatch(row.id, tuple(row.events), row.store.texts(row.id)))
        await store.aclose()

    asyncio.run(write())
    return url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path, debates: list[Staged]) -> str:
    if request.param == "postgresql":
        return keep(request.getfixturevalue("postgres_url"), debates)
    return keep(str(tmp_path / "s.sqlite"), debates)


def export(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(("export", *arguments))
    assert isinstance(left.value.code, int)
    return left.value.code


def test_parquet_files_hold_what_the_frames_hold(url: str, tmp_path: Path, debates: list[Staged]) -> None:
    assert export(str(tmp_path / "out"), "--as", "parquet", "--store", url) == 0
    assert sorted(row.name for row in (tmp_path / "out").iterdir()) == sorted(f"{name}.parquet" for name in TABLE_NAMES)
    inorder = sorted(debates, key=lambda row: (row.report.opened_at, row.id))
    for name in TABLE_NAMES:
        expected = frame_of([Result(row.report) for row in inorder], name)
        found = pd.read_parquet(tmp_path / "out" / f"{name}.parquet", dtype_backend="numpy_nullable")
        assert len(found) == len(expected)
        pd.testing.assert_frame_equal(found.astype(expected.dtypes.to_dict()), expected)


def test_the_sums_are_those_of_the_first_screen(url: str, tmp_path: Path, debates: list[Staged]) -> None:
    assert export(str(tmp_path / "out"), "--store", url) == 0
    calls = pd.read_parquet(tmp_path / "out" / "calls.parquet").groupby("debate")
    listed = pd.read_parquet(tmp_path / "out" / "debates.parquet").set_index("debate")
    for row in debates:
        totals = row.report.totals
        assert listed.loc[row.id, "calls"] == totals.calls
        if totals.calls:
            tokens = calls.get_group(row.id)[["input_tokens", "output_tokens"]].sum().sum()
            assert tokens == (totals.input_tokens or 0) + (totals.output_tokens or 0)


def test_a_csv_file_tells_missing_from_empty_and_runs_nothing(tmp_path: Path) -> None:
    row = held("complete").report
    turns = row.phases[0].entries
    said = {**turns[0].content, "arguments": [{"claim": '=HYPERLINK("http://evil"), "x"\nnext', "reasoning": "r"}]}
    phase = dataclasses.replace(row.phases[0], entries=(dataclasses.replace(turns[0], content=said), *turns[1:]))
    report = dataclasses.replace(row, phases=(phase, *row.phases[1:]), motion="=1+1")
    with TableWriter(tmp_path, FileKind.CSV) as writer:
        writer.add(Result(report))
    with (tmp_path / "debates.csv").open(encoding="utf-8", newline="") as file:
        (found,) = csv.DictReader(file)
    assert found["motion"] == "'=1+1"
    assert found["no_decision"] == ""
    claims = pd.read_csv(tmp_path / "arguments.csv")["claim"]
    assert claims[0].startswith("'=HYPERLINK(")
    for path in tmp_path.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            widths = {len(cells) for cells in csv.reader(file)}
        assert len(widths) == 1


def test_csv_and_parquet_hold_the_same_numbers(url: str, tmp_path: Path) -> None:
    assert export(str(tmp_path / "one"), "--as", "csv", "--store", url) == 0
    assert export(str(tmp_path / "two"), "--as", "parquet", "--store", url) == 0
    for table in TABLES.values():
        text = pd.read_csv(tmp_path / "one" / f"{table.name}.csv")
        whole = pd.read_parquet(tmp_path / "two" / f"{table.name}.parquet")
        assert len(text) == len(whole)
        for column in table.columns:
            if column.type in {ColumnType.INTEGER, ColumnType.NUMBER}:
                left, right = (frame[column.name].astype("Float64") for frame in (text, whole))
                pd.testing.assert_series_equal(left, right)


def test_files_that_are_there_stay_unless_told_to_replace(url: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert export(out, "--as", "csv", "--store", url) == 0
    before = (tmp_path / "out" / "debates.csv").read_text()
    (tmp_path / "out" / "debates.csv").write_text("mine")
    assert export(out, "--as", "csv", "--store", url) == 2
    assert (tmp_path / "out" / "debates.csv").read_text() == "mine"
    assert export(out, "--as", "csv", "--store", url, "--replace") == 0
    assert (tmp_path / "out" / "debates.csv").read_text() == before


def test_an_altered_record_is_left_out_and_named(
    tmp_path: Path, debates: list[Staged], capsys: pytest.CaptureFixture[str]
) -> None:
    import sqlite3

    path = keep(str(tmp_path / "s.sqlite"), debates)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET body = body || ' ' WHERE debate = ? AND seq = 2", (debates[0].id,))
    connection.close()
    assert export(str(tmp_path / "out"), "--as", "csv", "--store", path) == 6
    told = capsys.readouterr()
    assert debates[0].id in told.err
    found = pd.read_csv(tmp_path / "out" / "debates.csv")
    assert set(found["debate"]) == {row.id for row in debates[1:]}


def test_a_record_of_a_newer_version_is_left_out_and_named(
    tmp_path: Path, debates: list[Staged], capsys: pytest.CaptureFixture[str]
) -> None:
    path = keep(str(tmp_path / "s.sqlite"), debates[:1])
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET kind = 'FromTheFuture' WHERE seq = 3")
    connection.close()
    assert export(str(tmp_path / "out"), "--as", "csv", "--store", path) == 6
    assert debates[0].id in capsys.readouterr().err


def test_a_failure_leaves_no_file_behind(tmp_path: Path) -> None:
    def fail() -> None:
        with TableWriter(tmp_path / "out", FileKind.PARQUET) as writer:
            writer.add(Result(held("complete").report))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("out", "--as", "xls"), "Give parquet or csv"),
        (("out", "--format", "nope"), "There is no format called"),
        (("out", "--since", "yesterday"), "is not a day"),
        (("s.sqlite/out",), "cannot be written"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(
    arguments: tuple[str, ...],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    debates: list[Staged],
) -> None:
    monkeypatch.chdir(tmp_path)
    keep("s.sqlite", debates[:1])
    assert export(*arguments, "--store", "s.sqlite") == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.glob("out/*"))


def test_a_selection_is_taken(url: str, tmp_path: Path) -> None:
    assert export(str(tmp_path / "a"), "--as", "csv", "--store", url, "--format", "panel") == 0
    assert set(pd.read_csv(tmp_path / "a" / "debates.csv")["format"]) == {"panel"}
    assert export(str(tmp_path / "b"), "--as", "csv", "--store", url, "--since", "2999-01-01") == 0
    assert len(pd.read_csv(tmp_path / "b" / "debates.csv")) == 0


def test_a_long_list_comes_in_parts_and_in_order(tmp_path: Path) -> None:
    whole = held("complete")
    rows = [_renamed(whole, f"{number:03}") for number in range(23)]
    store = SqlStore(keep(str(tmp_path / "s.sqlite"), rows))
    for at_once in (1, 7, 23, 100):
        assert [row.id for row in store.debates_in_order(at_once=at_once)] == [f"{number:03}" for number in range(23)]
    store.close()


class _Renamed(Staged):
    @property
    def events(self) -> Sequence[Sealed]:
        return self.renamed

    renamed: Sequence[Sealed] = ()


def _renamed(debate: Staged, name: str) -> Staged:
    """The same debate under another name, with a chain of its own."""
    made, head = [], GENESIS
    for row in debate.events:
        made.append(seal(debate=name, seq=row.seq, at=row.at, event=row.event(), previous=head))
        head = made[-1].hash
    found = _Renamed(debate.id, debate.store)
    found.id, found.renamed = name, made
    found.store = _Texts(debate.store.texts(debate.id))  # type: ignore[assignment]
    return found


class _Texts:
    def __init__(self, texts: Any) -> None:
        self._texts = texts

    def texts(self, _debate: str) -> Any:
        return self._texts


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_debates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_MOST_ROWS", 60)
    result = Result(held("complete").report)
    [list(table.rows(result)) for table in TABLES.values()]

    def peak(number: int, folder: Path) -> int:
        tracemalloc.start()
        with TableWriter(folder, FileKind.PARQUET) as writer:
            for _ in range(number):
                writer.add(result)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100, tmp_path / "warm")
    few, many = peak(100, tmp_path / "few"), peak(600, tmp_path / "many")
    assert pq.ParquetFile(tmp_path / "many" / "scores.parquet").metadata.num_row_groups > 5
    rows = sum(len(str(row)) for table in TABLES.values() for row in table.rows(result))
    assert many - few < 500 * rows / 20, "what was written is not kept"


@pytest.mark.slow
def test_without_pyarrow_csv_is_still_written(tmp_path: Path, debates: list[Staged]) -> None:
    (tmp_path / "pyarrow.py").write_text("raise ImportError('no pyarrow here')", "utf-8")
    path = keep(str(tmp_path / "s.sqlite"), debates[:1])
    command = [sys.executable, "-m", "disputatio", "export", "out", "--store", path]
    options: dict[str, Any] = {"capture_output": True, "text": True, "cwd": tmp_path}
    options["env"] = {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path), "PATH": ""}
    ended = subprocess.run([*command, "--as", "parquet"], check=False, **options)
    assert ended.returncode == 2
    assert "pip install 'disputatio[frames]'" in ended.stderr
    assert "Traceback" not in ended.stderr
    ended = subprocess.run([*command, "--as", "csv"], check=False, **options)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out" / "debates.csv").read_text().count("\n") == 2


def test_reports_of_the_same_record_give_the_same_rows() -> None:
    debate = _cited()
    with_texts, without = (
        Result(DebateReport.of(debate.id, debate.events, texts)) for texts in (debate.store.texts(debate.id), {})
    )
    for table in TABLES.values():
        assert list(table.rows(with_texts)) == list(table.rows(without))
