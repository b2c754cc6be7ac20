"""A panel from the command line: refused in a sentence, decided, and handed to whoever sits at the terminal."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from cli_commands import Call, Commands, is_clear

from disputatio.testing import FakeProvider, instance


def seats(provider: FakeProvider) -> tuple[str, ...]:
    return ("-f", "panel", "--seat", "all=openai_compatible:fake", "--base-url", provider.base_url, "--rounds", "1")


@pytest.mark.parametrize(
    "options",
    [
        ("--debaters", ",,"),
        ("--debaters", "ada,ada"),
        ("--debaters", "ada,bo", "--threshold", "3"),
        ("--rounds", "0"),
        ("--options", "yes"),
        ("--decision", "acclamation"),
        ("--escalate", "person"),
        ("--escalate", "file:///etc/passwd"),
    ],
)
def test_an_impossible_panel_is_refused_before_any_call(
    options: tuple[str, ...], call: Call, provider: FakeProvider
) -> None:
    given = [*seats(provider)]
    if "--rounds" in options:
        given = given[:-2]
    ended = call("debate", "Be it so", *given, *options)
    assert ended.code == 2
    is_clear(ended.err)
    assert provider.requests == []


def test_what_only_panels_have_is_refused_elsewhere(call: Call, provider: FakeProvider) -> None:
    ended = call("debate", "Be it so", *seats(provider)[2:-2], "--options", "yes,no")
    assert ended.code == 2
    assert "the format panel" in is_clear(ended.err)


@pytest.mark.slow
def test_a_dry_run_of_a_panel_that_is_too_long_names_the_bound(call: Call, provider: FakeProvider) -> None:
    names = ",".join(f"d{number}" for number in range(100))
    ended = call("debate", "Be it so", *seats(provider)[:-1], "10", "--debaters", names, "--dry-run")
    assert ended.code == 2
    assert "more than 2,000 turns" in is_clear(ended.err)
    assert provider.requests == []


@pytest.mark.slow
def test_a_panel_is_held_previewed_and_exported(call: Call, provider: FakeProvider) -> None:
    named = ("--debaters", "ada,bo", "--options", "adopt,reject")
    previewed = call("debate", "Be it so", *seats(provider), *named, "--dry-run", "--json")
    assert [row["seat"] for row in json.loads(previewed.out)["seats"]] == ["ada", "bo"]
    assert provider.requests == []
    held = call("debate", "Be it so", *seats(provider), *named, "--json")
    report = json.loads(held.out)["outcome"]["report"]
    assert held.code == 0
    assert report["debater_ids"] == ["ada", "bo"]
    assert set(report["vote_tally"]) <= {"adopt", "reject"}


@pytest.mark.slow
def test_a_person_at_the_terminal_takes_the_decision(commands: Commands) -> None:
    """The debaters never agree: each votes for another option."""
    votes = itertools.cycle("abcdef")

    def disagree(request: Any) -> Any:
        answer = instance(request.response_schema, request.fingerprint)
        return {**answer, "vote": next(votes)}

    with FakeProvider(answer=disagree, chunk_latency_s=0.0, drip_s=0.001) as provider:
        decide_at_the_terminal(commands, provider)


def decide_at_the_terminal(commands: Commands, provider: FakeProvider) -> None:
    options = (*seats(provider), "--debaters", "ada,bo", "--options", "a,b,c,d,e,f", "--decision", "unanimity")
    running = commands.start("debate", "Be it so", *options, "--escalate", "person", terminal=(80, 40))
    running.until("An empty line leaves the decision open")
    running.type("2\n")
    ended = running.ended()
    assert ended.code == 0
    assert "It was handed over to a person, who decided: b" in " ".join(ended.out.split())
