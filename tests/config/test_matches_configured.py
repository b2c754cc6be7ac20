"""Topics and personalities come from the package or a user's file, and what cannot be used is refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.catalogue import personalities, topic_named, topics
from disputatio.config.process import format_scope
from disputatio.engine.opening import make_rules
from disputatio.errors import InvalidInputError
from disputatio.formats.registry import find_format
from disputatio.formats.ruleset import rules_from_json, rules_json

MATCH = find_format("competition")


def settled(directory: Path, **given: Any) -> Settings:
    return resolve(
        format_name="competition",
        seats=tuple(MATCH.seats),
        environ={},
        directory=directory,
        arguments=make_arguments(seat=("all=ollama:fake",), **given),
        options=format_scope(MATCH),
    )


def styles(settings: Settings) -> dict[str, str]:
    return {seat: row.name for seat, row in settings.cast.members}


def test_both_teams_have_the_same_personalities_by_default(tmp_path: Path) -> None:
    """Both teams have the same personalities unless told otherwise."""
    found = styles(settled(tmp_path))
    assert len(found) == 8
    for place in (1, 2, 3, 4):
        assert found[f"pro_{place}"] == found[f"con_{place}"]
    assert set(personalities()) == {"logical", "emotional", "data_driven", "aggressive", "diplomatic"}


def test_a_debater_s_own_choice_goes_before_its_team_s(tmp_path: Path) -> None:
    """A debater s own choice goes before its team s and none is none."""
    found = styles(settled(tmp_path, personality=("pro=diplomatic", "pro_2=aggressive", "con_1=none")))
    assert [found[f"pro_{place}"] for place in (1, 2, 3, 4)] == ["diplomatic", "aggressive", "diplomatic", "diplomatic"]
    assert "con_1" not in found


@pytest.mark.parametrize(
    ("name", "text"), [("own.toml", '[wry]\nabout = "Wry."\n'), ("own.yaml", "wry:\n  about: Wry.\n")]
)
def test_personalities_of_a_file_are_in_the_rules(tmp_path: Path, name: str, text: str) -> None:
    """Personalities of a file are in the rules with their text."""
    (tmp_path / name).write_text(text, "utf-8")
    settings = settled(tmp_path, personalities=name, personality=("all=wry",))
    rules = make_rules(MATCH, settings)
    assert {row.about for _, row in rules.cast.members} == {"Wry."}
    assert rules_from_json(MATCH, dict(rules_json(rules))) == rules, "a resumed match needs no file"


@pytest.mark.parametrize(
    ("content", "given"),
    [
        ("[wry]\nabout = 3\n", {"personalities": "own.toml"}),
        ("", {"personalities": "own.toml"}),
        ("[wry\n", {"personalities": "own.toml"}),
        ("", {"personalities": "missing.toml"}),
        ("", {"personality": ("pro_1=funny",)}),
        ("", {"personality": ("pro_9=logical",)}),
        ("", {"personality": ("logical",)}),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(tmp_path: Path, content: str, given: dict[str, Any]) -> None:
    (tmp_path / "own.toml").write_text(content, "utf-8")
    with pytest.raises(InvalidInputError) as refused:
        settled(tmp_path, **given)
    assert "\n" not in str(refused.value)
    assert refused.value.next_step


def test_topics_are_motions_by_name() -> None:
    for name, motion in topics().items():
        assert topic_named(name) == motion
    with pytest.raises(InvalidInputError, match="Did you mean exams"):
        topic_named("exam")
