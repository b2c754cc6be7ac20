"""Quote location on WiCE, by the same code as the published table (bench/quote_location.py).

The data are looked for beside the repository, in ../shared/data/wice; where they are missing the tests are skipped.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from strategies import FULL

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "wice" / "test.jsonl"

PART = 1 if FULL else 12
"""Every twelfth claim, as its table is made by a command from all of them; all of them in full runs."""
pytestmark = pytest.mark.slow


def _bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quote_location", ROOT / "bench" / "quote_location.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["quote_location"] = module
    spec.loader.exec_module(module)
    return module


bench = _bench()


@cache
def claims() -> list[Any]:
    if not DATA.is_file():
        pytest.skip("the claims of WiCE are not beside the repository, in ../shared/data/wice")
    return list(bench.read_claims(DATA))


def measured(name: str, claims: list[Any], others: int) -> Any:
    how = {**bench.FOUND, **bench.NEAR, **bench.NEVER}[name]
    return bench.measure(claims, how, name, others, seed=1)


def test_the_data_are_the_published_ones() -> None:
    assert len(claims()) == 358
    assert sum(len(claim.sentences) for claim in claims()) == 1392


@pytest.mark.parametrize("name", bench.FOUND)
def test_a_faithful_quote_is_found_in_its_own_page_alone(name: str) -> None:
    row = measured(name, claims()[::PART], others=1)
    assert row.quotes > 500 / PART
    assert row.precision >= 0.99
    assert row.recall >= 0.98
    assert row.false_verified == 0


# The least shares located are what the code reaches, less two points: a fall says that something broke.
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("punctuation dropped", 0.97),
        ("punctuation put in", 0.97),
        ("misspelt word", 0.84),
        ("word dropped", 0.79),
        ("clauses reordered", 0.95),
    ],
)
def test_a_near_miss_is_mostly_repaired(name: str, least: float) -> None:
    """A near miss is mostly repaired and hardly ever elsewhere."""
    row = measured(name, claims()[::PART], others=1)
    assert row.recall >= least
    assert row.precision >= 0.99
    assert row.false_verified == 0
    if not name.startswith("punctuation"):
        assert row.verified == 0


@pytest.mark.parametrize("name", bench.NEVER)
def test_a_changed_number_or_sense_is_never_borne_out(name: str) -> None:
    row = measured(name, claims()[::PART], others=0)
    assert row.quotes > 50 / PART
    assert row.verified == row.repaired == row.wrong == 0
