"""Tools on the command line: found by doctor, used in a debate, needed again on resume."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_commands import Call, is_clear

SERVER = f"{sys.executable} {Path(__file__).parents[1] / 'tools' / 'plain_server.py'}"
SMALL = ("--format", "freeform", "--set", "rounds=1", "--seed", "5")
pytestmark = pytest.mark.slow


def test_doctor_says_what_a_server_offers_and_what_it_does_not(call: Call, seated: tuple[str, ...]) -> None:
    ended = call("doctor", *seated, "--tools", "pro=demo", "--mcp", f"demo={SERVER} good")
    assert ended.code == 0, ended.said
    assert "read-only tools: lookup, measure" in ended.out
    assert "demo.erase" in ended.out
    ended = call("doctor", *seated, "--tools", "pro=demo", "--mcp", f"demo={SERVER} exits")
    assert ended.code == 2
    assert "there is no licence" in ended.out


def test_an_unusable_tool_server_stops_the_start(call: Call, seated: tuple[str, ...]) -> None:
    ended = call("debate", "We should act", *seated, "--tools", "pro=demo", "--mcp", f"demo={SERVER} exits")
    assert ended.code == 2
    assert ended.out == ""
    assert "Nothing was spent" in is_clear(ended.err)
    assert "No debates yet" in call("list").out


def test_a_debate_with_a_server_resumes_with_it_alone(call: Call, seated: tuple[str, ...]) -> None:
    server = ("--mcp", f"demo={SERVER} good")
    ended = call("debate", "We should act", *seated, *SMALL, "--tools", "all=demo.lookup", *server, "--max-calls", "4")
    assert ended.code == 3, ended.said
    assert "looked up demo.lookup(word=" in ended.out
    debate = ended.out.split()[3]
    without = call("resume", debate, "--max-calls", "100")
    assert without.code == 2
    assert "--mcp demo=" in is_clear(without.err)
    whole = call("resume", debate, "--max-calls", "100", *server, "--json")
    assert whole.code == 0, whole.said
    export = json.loads(whole.out)
    shown = [row for phase in export["phases"] for ask in phase["asks"] for row in ask["consultations"]]
    assert {row["server"] for row in shown} == {"demo"}
    assert call("verify", debate).code == 0
