"""The benchmark's committed table, and what may be said of it."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results"
# Speed, memory and tokens; what a document says in other words has to be judged by people.
_FIGURE = re.compile(
    r"(?<![\w.])\d[\d,.]*\s?(?:ms\b|milliseconds\b|seconds\b|MB\b|kB\b|calls/s\b|tokens\b|times\b|x\b|%)", re.IGNORECASE
)


@pytest.fixture(scope="module")
def run() -> ModuleType:
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        spec = importlib.util.spec_from_file_location("bench_run", ROOT / "bench" / "run.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def test_readme_figures_are_printed_by_the_benchmark() -> None:
    table = (RESULTS / "latest.md").read_text("utf-8")
    printed = {_plain(row) for row in _FIGURE.findall(table)}
    for figure in _FIGURE.findall((ROOT / "README.md").read_text("utf-8")):
        assert _plain(figure) in printed, f"bench/results/latest.md does not print {figure!r}"


def _plain(figure: str) -> str:
    return figure.replace(" ", "").replace("times", "x").lower()


def test_table_matches_the_result_of_one_run(run: ModuleType) -> None:
    result = json.loads((RESULTS / "latest.json").read_text("utf-8"))
    assert run.as_markdown(result) == (RESULTS / "latest.md").read_text("utf-8")
    assert [part["name"] for part in result["parts"]] == list(run.PARTS)


def test_a_limit_is_kept_or_said_to_be_passed() -> None:
    result = json.loads((RESULTS / "latest.json").read_text("utf-8"))
    for row in (row for part in result["parts"] for row in part["figures"]):
        most, least, value = row["at_most"], row["at_least"], row["value"]
        limited = value is not None and (most is not None or least is not None)
        kept = (most is None or value <= most) and (least is None or value >= least) if limited else None
        assert row["met"] is kept, row["name"]


def test_nothing_in_the_benchmark_names_this_machine() -> None:
    peers = ROOT / "bench" / "peers" / "requirements.txt"
    for file in (RESULTS / "latest.md", RESULTS / "latest.json", peers):
        text = file.read_text("utf-8")
        assert not re.search(r"(?:/(?:home|root|tmp|work|Users)/|https?://|file:)", text), file.name
    assert all("==" in line for line in peers.read_text("utf-8").splitlines() if not line.startswith("#"))
