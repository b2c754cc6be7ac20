"""Frames have the declared columns and types, whatever the debate, and their sums are those of the first screen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from read_debates import READINGS, read_report
from staged_debates import held

import disputatio
from disputatio.debates import read_debate
from disputatio.results import Result
from disputatio.results.frames import DTYPES, frame_of
from disputatio.results.reference import reference
from disputatio.results.tables import TABLE_NAMES, TABLES

EVERY = (*READINGS, "complete", "freeform", "competition", "panel", "review")
REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "tables.md"


@pytest.mark.parametrize("table", TABLE_NAMES)
def test_a_frame_always_has_the_declared_columns_and_types(table: str) -> None:
    for name in EVERY:
        frame = frame_of([Result(read_report(name))], TABLES[table].name)
        assert list(frame.columns) == [row.name for row in TABLES[table].columns]
        assert [str(row) for row in frame.dtypes] == [DTYPES[row.type] for row in TABLES[table].columns]


def test_every_table_has_rows_in_some_debate() -> None:
    results = [Result(read_report(name)) for name in EVERY]
    assert all(len(frame_of(results, name)) for name in TABLE_NAMES)


@pytest.mark.parametrize("name", EVERY)
def test_what_the_calls_add_up_to_is_the_cost_of_the_debate(name: str) -> None:
    read = Result(read_report(name))
    calls, debates = frame_of([read], "calls"), frame_of([read], "debates")
    if read.cost.calls is None:
        assert debates["calls"].isna().all()
        return
    assert len(calls) == debates["calls"][0] == read.cost.calls
    assert calls["input_tokens"].sum() == (read.cost.input_tokens or 0)
    assert calls["output_tokens"].sum() == (read.cost.output_tokens or 0)
    assert (calls["state"] == "failed").sum() == read.cost.failed


def test_missing_is_missing_and_zero_is_zero() -> None:
    imported, panel = (frame_of([Result(read_report(name))], "debates") for name in ("imported", "panel"))
    assert imported["usd"].isna().all()
    assert panel["usd"].tolist() == [0.0]
    truncated = frame_of([Result(read_report("truncated"))], "arguments")
    assert truncated["score"].isna().all()
    assert set(truncated["score_state"]) == {"not judged"}


def test_frames_of_several_debates_join_by_their_ids() -> None:
    results = [Result(read_report(name)) for name in ("complete", "review")]
    arguments, debates = frame_of(results, "arguments"), frame_of(results, "debates")
    joined = arguments.merge(debates[["debate", "format"]], on="debate", validate="many_to_one")
    assert dict(joined["format"].value_counts()) == {"structured": 6, "review": 7}


def test_a_debate_offers_its_frames() -> None:
    debate = read_debate(held("complete").store, held("complete").id)
    assert isinstance(debate.to_frame("turns"), pd.DataFrame)
    with pytest.raises(disputatio.InvalidInputError, match="Tables are: debates, turns"):
        debate.to_frame("speeches")  # type: ignore[arg-type]


@pytest.mark.slow
def test_without_pandas_there_is_a_sentence_with_the_command(tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("raise ImportError('no pandas here')", "utf-8")
    program = (
        "import disputatio\nfrom disputatio.testing import instance\n"
        "said = disputatio.Scripted(lambda ask, path, reasons: instance(ask.spec.schema, path))\n"
        "result = disputatio.debate_sync('We should', format='freeform', seats={'all': said},"
        " store=disputatio.MemoryStore())\n"
        "try:\n    result.to_frame()\nexcept disputatio.InvalidInputError as error:\n    print(error)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path), "PATH": ""},
    )
    assert "pandas, which is not installed" in ended.stdout
    assert "pip install 'disputatio[frames]'" in ended.stdout


def test_the_reference_of_the_tables_is_the_one_made_of_them() -> None:
    text = REFERENCE.read_text("utf-8")
    assert text == reference(), "run: make reference"
    for table in TABLES.values():
        section = text.partition(f"\n## {table.name}\n")[2].partition("\n## ")[0]
        assert section.count("\n| `") == len(table.columns)
