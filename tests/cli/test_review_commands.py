"""``disputatio gate`` answers with its reason, and the options of a review are refused where they mean nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_commands import Call, is_clear

pytestmark = pytest.mark.slow


def test_the_gate_says_whether_and_why(call: Call) -> None:
    ended = call("gate", "--task-type", "contract", "--confidence", "0.6", "--downside", "10")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "Debate: contract is a high-risk task, and the confidence of the single answer is 0.6.\n"
    body = json.loads(call("gate", "--task-type", "factual", "--downside", "1000000", "--json").out)
    assert body["debate"] is False
    assert body["rule"] == "factual"


def test_the_gate_reads_answers_from_file_and_stdin(call: Call, bare: Path) -> None:
    (bare / "answer.txt").write_text("It depends on the court.", "utf-8")
    given = ("gate", "--task-type", "compliance", "--answer")
    assert call(*given, "answer.txt").out.startswith("Debate: ")
    assert call(*given, "-", typed=b"It is allowed.").out.startswith("No debate: ")


@pytest.mark.slow
def test_expected_costs_have_a_row_per_format_and_model(call: Call) -> None:
    rows = json.loads(call("gate", "--costs", "openai:gpt-5", "--costs", "ollama:qwen3:8b", "--json").out)
    review = {row["model"]: row for row in rows if row["format"] == "review"}
    assert review["openai:gpt-5"]["calls"] == review["ollama:qwen3:8b"]["calls"] == 5
    assert float(review["openai:gpt-5"]["usd"]) > float(review["ollama:qwen3:8b"]["usd"]) == 0


@pytest.mark.parametrize(
    "given",
    [
        ("gate",),
        ("gate", "--task-type", "contract", "--confidence", "high"),
        ("gate", "--task-type", "contract", "--confidence", "7"),
        ("gate", "--task-type", "contract", "--downside", "-3"),
        ("gate", "--task-type", "contract", "--answer", "missing.txt"),
        ("gate", "--costs", "nobody:nothing"),
        ("debate", "We should do it", "--preset", "contract"),
        ("debate", "We should do it", "--format", "review", "--preset", "kontract"),
        ("debate", "We should do it", "--format", "review", "--rounds", "4"),
        ("debate", "We should do it", "--format", "review", "--position", "Adopt it now."),
        ("debate", "We should do it", "--format", "review", "--evidence-round", "audit.md"),
        ("debate", "We should do it", "--format", "review", "--evidence-round", "4=audit.md"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(call: Call, given: tuple[str, ...]) -> None:
    ended = call(*given)
    assert ended.code == 2
    is_clear(ended.err)
