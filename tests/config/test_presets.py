"""Every preset says what to look for, and is found by its name or the beginning of it, from any source of settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio.config import resolve
from disputatio.config.presets import preset_named, presets
from disputatio.config.process import format_scope
from disputatio.engine.opening import make_rules
from disputatio.errors import InvalidInputError
from disputatio.formats.registry import find_format
from disputatio.formats.rule_values import Brief
from disputatio.judging.gate import HIGH_RISK, PRESET_KINDS

REVIEW = find_format("review")


def resolved(directory: Path, environ: dict[str, str] | None = None, **given: object):
    given.setdefault("seat", ("all=ollama:fake",))
    return resolve(
        format_name="review",
        seats=tuple(REVIEW.seats),
        environ=environ or {},
        directory=directory,
        arguments=make_arguments(**given),
        options=format_scope(REVIEW),
    )


def brief(directory, environ=None, **given):
    """The brief of a review under these settings."""
    return make_rules(REVIEW, resolved(directory, environ, **given)).brief


def test_there_is_a_preset_for_each_high_risk_kind_of_task():
    assert {row.task_type for row in presets().values()} == HIGH_RISK


@pytest.mark.parametrize("name", sorted(presets()))
def test_a_preset_says_what_to_look_for(name):
    brief = preset_named(name, "the test")
    assert brief.name == name
    assert len(brief.criteria) >= 3
    assert len(brief.attack_lines) >= 4
    assert len(set(brief.angles)) >= 4
    assert all(re.fullmatch(r"the [a-z ]+", angle) for angle in brief.angles), "it can stand after 'for'"
    assert brief.framing.strip()
    assert Brief.from_json(brief.as_json()) == brief


def test_a_preset_comes_from_the_command_line(tmp_path):
    """A preset comes from the command line before the environment before the file."""
    (tmp_path / "disputatio.toml").write_text('preset = "invest"\ntask_type = "contract-risk"\n', "utf-8")
    assert brief(tmp_path).name == "investment-thesis"
    assert brief(tmp_path).task_type == "contract"
    environ = {"DISPUTATIO_PRESET": "security"}
    assert brief(tmp_path, environ).name == "security-threat-model"
    assert brief(tmp_path, environ, preset="reg").name == "regulatory-compliance"


def test_the_gate_knows_every_preset_by_its_name():
    """The gate decides without reading files, so its table is held against them here."""
    assert {name: row.task_type for name, row in presets().items()} == PRESET_KINDS


def test_an_unknown_kind_of_task_is_refused_with_those_there_are(tmp_path):
    (tmp_path / "disputatio.toml").write_text('task_type = "contrakt"\n', "utf-8")
    with pytest.raises(InvalidInputError, match="no kind of task called 'contrakt'") as refused:
        resolved(tmp_path)
    assert "contract-risk" in refused.value.next_step


def test_each_position_brings_a_proposer(tmp_path):
    (tmp_path / "disputatio.toml").write_text(
        'positions = ["Adopt it now.", "Keep what is there.", "Defer it."]\n', "utf-8"
    )
    with pytest.raises(InvalidInputError, match="positions"):
        resolved(tmp_path)
    (tmp_path / "disputatio.toml").write_text('positions = ["Adopt it now.", "Keep what is there."]\n', "utf-8")
    assert [seat for seat in resolved(tmp_path).seats if seat.startswith("proposer")] == ["proposer", "proposer_2"]
    assert len(resolved(tmp_path, position=("Go left now.", "Go right now.", "Stay here now.")).seats) == 7
    assert len(resolved(tmp_path, {"DISPUTATIO_PROPOSERS": "4"}).seats) == 8
