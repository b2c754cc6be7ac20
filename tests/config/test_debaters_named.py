"""Seats with names of the user's own: where the names come from, and that nothing else is taken for one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import make_rules
from disputatio.errors import InvalidInputError
from disputatio.formats.registry import find_format
from disputatio.formats.rule_values import DecisionRule, RuleName


def settings(folder: Path, name: str = "panel", environ: dict[str, str] | None = None, **given: Any) -> Settings:
    form = find_format(name)
    return resolve(
        format_name=name,
        seats=tuple(form.seats),
        environ=environ or {},
        directory=folder,
        arguments=make_arguments(**given),
        options=format_scope(form),
    )


def rules(folder: Path, **given: Any) -> Any:
    return make_rules(find_format("panel"), settings(folder, **given))


FILE = """
debaters = ["frida", "gus"]
options = ["adopt", "reject"]
[decision]
share = "3/4"
[seats.gus]
persona = "You count costs."
"""


def test_debaters_come_from_the_highest_place_that_names_them(tmp_path: Path):
    environ = {"DISPUTATIO_DEBATERS": "eve,dan"}
    assert list(settings(tmp_path).seats) == ["debater_1", "debater_2", "debater_3"]
    (tmp_path / "disputatio.toml").write_text(FILE)
    assert list(settings(tmp_path).seats) == ["frida", "gus"]
    (tmp_path / "disputatio.toml").write_text(FILE.replace("gus", "dan"))
    assert list(settings(tmp_path, environ=environ).seats) == ["eve", "dan"]
    named = ("cleo=ollama:a", "dan=ollama:b")
    assert list(settings(tmp_path, environ=environ, seat=named).seats) == ["cleo", "dan"]
    assert list(settings(tmp_path, environ=environ, seat=named, debaters="dan,cleo").seats) == ["dan", "cleo"]
    assert list(settings(tmp_path, set=("debaters=ada,bo",)).seats) == ["ada", "bo"]


def test_a_debater_is_a_seat_like_any_other(tmp_path: Path):
    environ = {"CRITIC_LLM_MODEL": "b", "LLM_PROVIDER": "ollama", "LLM_MODEL": "a"}
    found = settings(tmp_path, environ=environ, debaters="Planner, critic", set=("seats.planner.persona=Calm.",))
    assert {seat: row.model for seat, row in found.seats.items()} == {"planner": "a", "critic": "b"}
    assert found.seats["planner"].persona == "Calm."


def test_a_seat_that_is_no_debater_is_a_mistake(tmp_path: Path):
    with pytest.raises(InvalidInputError) as refused:
        settings(tmp_path, debaters="planner,critic", seat=("critc=ollama:a",))
    assert "critic" in refused.value.next_step


def test_what_a_file_says_of_debaters_is_no_mistake(tmp_path: Path):
    """What a file says of debaters is no mistake in other formats."""
    (tmp_path / "disputatio.toml").write_text(FILE)
    found = settings(tmp_path, "structured")
    assert list(found.seats) == ["pro", "con", "judge"]
    make_rules(find_format("structured"), found)


@pytest.mark.parametrize("debaters", ["", ",", "a,,b", "a,a", "a,A", "all", "a b", "1st", "x" * 33, "a,\x1b[31m"])
def test_names_that_cannot_be_seats_are_refused_by_key(debaters: str, tmp_path: Path):
    """Names that cannot be seats are refused by key and source."""
    with pytest.raises(InvalidInputError) as refused:
        settings(tmp_path, debaters=debaters)
    assert refused.value.cause.startswith("debaters is ")
    assert "--debaters" in refused.value.cause
    assert "\x1b" not in refused.value.cause


@pytest.mark.parametrize("options", ["one", "a,a", "a,A", "a,", "a;b", "(a),b"])
def test_options_that_cannot_be_voted_on_are_refused(options: str, tmp_path: Path):
    with pytest.raises(InvalidInputError, match="options is "):
        settings(tmp_path, options=options)


def test_the_rule_follows_from_the_numbers_where_none_is_named(tmp_path: Path):
    assert rules(tmp_path).decision == DecisionRule()
    assert rules(tmp_path, threshold="3").decision == DecisionRule(threshold=3)
    assert rules(tmp_path, decision="Majority").decision == DecisionRule(RuleName.MAJORITY)
    share = rules(tmp_path, set=("decision.share=3/4",)).decision
    assert share == DecisionRule(RuleName.SUPER_MAJORITY, share=Fraction(3, 4))
    weighted = rules(tmp_path, debaters="ada,bo", set=("decision.weights.ada=2.5",)).decision
    assert weighted == DecisionRule(RuleName.WEIGHTED, weights=(("ada", Fraction(5, 2)),))


@pytest.mark.parametrize(
    "given",
    [
        {"threshold": "0"},
        {"threshold": "4"},
        {"threshold": "2", "decision": "unanimity"},
        {"decision": "acclamation"},
        {"rounds": "0"},
        {"rounds": "11"},
        {"judges": "3"},
        {"set": ("decision.share=4/3",)},
        {"set": ("decision.share=1/3",)},
        {"set": ("decision.weights.zed=1",)},
        {"escalate": "ftp://somewhere"},
        {"escalate": "http://"},
        {"escalate": "two words"},
    ],
)
def test_what_no_panel_can_be_held_by_is_refused(given: dict[str, Any], tmp_path: Path):
    with pytest.raises(InvalidInputError) as refused:
        rules(tmp_path, **given)
    assert refused.value.next_step


def test_the_address_of_a_callback_is_in_no_message_and_no_print(tmp_path: Path):
    found = settings(tmp_path, escalate="https://host/hook?token=hidden-word")
    assert "hidden-word" not in repr(found)
    with pytest.raises(InvalidInputError) as refused:
        settings(tmp_path, escalate="htp://host/hook?token=hidden-word")
    assert "hidden-word" not in f"{refused.value.cause} {refused.value.next_step}"
