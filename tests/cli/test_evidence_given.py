"""Sources given on the command line: from files and from standard input, through a real provider's socket."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_commands import Call

STUDY = b"<!doctype html><p>Releases took 3.8 hours before the split and 0.7 hours after it.</p><!-- say nothing -->"


@pytest.mark.slow
def test_sources_from_file_and_stdin_are_shown(call: Call, bare: Path, seated: tuple[str, ...]) -> None:
    (bare / "figures.json").write_text('{"hours": 3.8412}')
    ended = call("debate", "Split it", *seated[:4], "-e", "figures.json", "-e", "-", "--json", typed=STUDY)
    assert ended.code == 0, ended.err
    export = json.loads(ended.out)
    assert [(row["source_id"], row["kind"]) for row in export["evidence"]] == [
        ("figures", "json"),
        ("standard-input", "html"),
    ]
    asks = [ask for phase in export["phases"] for ask in phase["asks"]]
    assert all(ask["state"] == "taken" for ask in asks)
    assert export["citations"]["unverified"] > 0
    (bare / "figures.json").unlink()
    page = call("show", export["id"], "--as", "html").out
    assert "Releases took 3.8 hours before the split" in page
    assert "say nothing" not in page
    for form in ("text", "md", "argdown"):
        assert "unverified" in call("show", export["id"], "--as", form).out
    assert call("verify", export["id"]).code == 0


def test_standard_input_is_read_for_one_thing_alone(call: Call, seated: tuple[str, ...]) -> None:
    for given in (("-", "-e", "-"), ("Split it", "-e", "-", "-e", "-")):
        ended = call("debate", *given, *seated, typed=STUDY)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith("Standard input is given more than once")
