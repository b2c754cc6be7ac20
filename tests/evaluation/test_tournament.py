"""Tournaments: who meets whom, what counts as what, one ceiling over all, and nothing lost when stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from decimal import Decimal
from itertools import combinations

import pytest
from rooms import NOWHERE

from disputatio._cli.arguments import make_arguments
from disputatio.config import resolve
from disputatio.config.process import format_scope
from disputatio.errors import InvalidInputError
from disputatio.evaluation.experiment import Experiment
from disputatio.evaluation.ranking import rank_players, read_match_outcome, render_ranking_lines
from disputatio.evaluation.tournament_plan import Topic, Tournament, check_tournament
from disputatio.formats.registry import find_format
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.motion import Motion
from disputatio.record.events import DebateClosed
from disputatio.record.history import History
from disputatio.record.memory import MemoryStore
from disputatio.testing import FakeProvider, InstanceClient

PLAYERS = ("ollama:ant", "ollama:bee", "ollama:cat")
TOPICS = (Topic("tea", Motion("Tea is better")), Topic("cats", Motion("Cats are better")))


def settings_for(form, pro, con):
    seats = (f"pro={pro}", f"con={con}", "judge=ollama:owl")
    return resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ={},
        directory=NOWHERE,
        arguments=make_arguments(seat=seats),
        options=format_scope(form),
    )


def tournament(players=PLAYERS, topics=TOPICS, judge="ollama:owl", formats=("structured",), repeats=1):
    return Tournament(players, judge, topics, tuple(map(find_format, formats)), settings_for, repeats)


def test_every_pair_meets_on_both_sides_of_every_topic():
    found = tournament(repeats=2)
    met = [(row.pro, row.con, row.topic.name, row.number) for row in found.pairings]
    assert len(met) == len(set(met)) == 3 * 2 * 2 * 2
    for first, second in combinations(PLAYERS, 2):
        for topic in TOPICS:
            for number in (1, 2):
                assert {(first, second), (second, first)} <= {row[:2] for row in met if row[2:] == (topic.name, number)}
    assert len({row.key for row in found.trials()}) == len(met)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"players": ("ollama:ant",)}, "takes two"),
        ({"players": ()}, "Nobody plays"),
        ({"players": ("ollama:ant", "ollama:ant")}, "twice"),
        ({"judge": "ollama:bee"}, "it cannot judge"),
        ({"topics": ()}, "There is no topic"),
        ({"topics": (TOPICS[0], TOPICS[0])}, "twice"),
        ({"formats": ("panel",)}, "no seat pro"),
        ({"formats": ("freeform",)}, "names no winner"),
    ],
)
def test_what_would_be_no_tournament_is_refused_in_a_sentence(given, word):
    with pytest.raises(InvalidInputError, match=word):
        check_tournament(tournament(**given))


def test_a_judge_of_a_player_s_family_draws_a_warning():
    assert tournament().warnings() == ()
    (warning,) = tournament(players=("ollama:qwen3:8b", "ollama:llama3"), judge="ollama:qwen3:32b").warnings()
    assert "qwen" in warning


def closed(outcome):
    history = History()
    history.add(DebateClosed(status="COMPLETE", missing=(), outcome=outcome, reason=""))
    return history


@pytest.mark.parametrize(
    ("outcome", "found"),
    [
        ({"format": "structured", "gap": 1.2, "reading": "an edge for pro (gap 1.20)"}, "pro"),
        ({"format": "structured", "gap": -3.5, "reading": "a significant difference for con"}, "con"),
        ({"format": "structured", "gap": 1.0, "reading": "evenly matched (gap 0.9996)"}, "draw"),
        ({"format": "structured", "gap": None, "reading": "no comparison: nothing was judged"}, "no result"),
        ({"format": "structured", "gap": 4, "panel": {"status": "tied", "winner": None}}, "draw"),
        ({"format": "structured", "gap": 4, "panel": {"status": "won", "winner": "con"}}, "con"),
        ({"format": "structured", "gap": 4, "panel": {"status": "undecided", "winner": None}}, "no result"),
        ({"format": "competition", "winner": "draw"}, "draw"),
        ({"format": "competition", "winner": None, "reading": "no winner can be told"}, "no result"),
        ({"format": "own", "winner": "pro", "result": {}}, "pro"),
        ({"format": "own", "winner": "nobody", "result": {}}, "no result"),
        ({"format": "own", "winner": "pro", "fault": "my.py, line 3: KeyError."}, "no result"),
    ],
)
def test_the_outcome_of_a_match_is_read_from_its_verdict(outcome, found):
    assert read_match_outcome(closed(outcome))[0] == found


def test_a_match_without_an_end_has_no_result():
    assert read_match_outcome(History()) == ("no result", "it was not finished")


async def held(found, store, budget=UNLIMITED):
    experiment = Experiment(store, lambda seating, key: InstanceClient(), budget=budget)
    return await experiment.run(found.trials())


@pytest.mark.slow
async def test_a_tournament_resumes_after_its_ceiling():
    found = tournament(topics=TOPICS[:1], players=PLAYERS[:2])
    whole = rank_players(found, await held(found, MemoryStore()))
    assert len(whole.matches) == 2
    store = MemoryStore()
    cut = await held(found, store, Budget(calls=whole.spent.calls - 3))
    assert cut.missing
    assert cut.spent.calls <= whole.spent.calls - 3
    again = rank_players(found, await held(found, store, Budget(calls=whole.spent.calls)))
    assert again.spent.calls == whole.spent.calls, "nothing is asked twice"
    assert [row.outcome for row in again.matches] == [row.outcome for row in whole.matches]
    assert {row.id for row in store.debates()} == {row.debate for row in again.matches}


@pytest.mark.slow
async def test_every_match_counts_once_for_each_player():
    found = tournament(topics=TOPICS[:1])
    result = rank_players(found, await held(found, MemoryStore()))
    body = result.as_json()
    rows = body["standings"]
    assert sum(row["matches"] for row in rows) == 2 * len(body["matches"]) == 12
    assert (
        sum(row["won"] for row in rows)
        == sum(row["lost"] for row in rows)
        == body["sides"]["pro_won"] + body["sides"]["con_won"]
    )
    assert json.loads(json.dumps(body)) == json.loads(json.dumps(body, default=str))
    text = "\n".join(render_ranking_lines(result))
    assert all(name in text for name in PLAYERS)
    assert "half a win" in text
    assert isinstance(result.spent.usd, Decimal | None)


@pytest.mark.slow
def test_a_killed_tournament_loses_nothing_and_is_gone_on_with(tmp_path):
    """One topic: two matches of eight calls each at a time, killed when eleven of sixteen calls have arrived."""
    command = [sys.executable, "-m", "disputatio", "tournament", "--json", "--judge", "openai_compatible:owl"]
    command += ["--models", "openai_compatible:ant,openai_compatible:bee", "--motion", "Tea is better than coffee"]
    environ = {**os.environ, "DISPUTATIO_HOME": str(tmp_path), "DISPUTATIO_STORE": f"sqlite:///{tmp_path}/s.sqlite"}
    with FakeProvider() as provider:
        command += ["--base-url", provider.base_url]
        provider.hold()
        with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            provider.release(*range(10))
            provider.arrived.wait(11, timeout_s=60)
            process.send_signal(signal.SIGKILL)
        provider.release()
        answered = 10
        done = subprocess.run(command, env=environ, capture_output=True, check=True)
        asked = len(provider.requests)
    body = json.loads(done.stdout)
    assert len(body["matches"]) == 2
    assert all(row["status"] == "COMPLETE" for row in body["matches"])
    # What was in flight may be asked again; what was answered is not.
    assert asked - answered <= 16 - answered + (body["spent"]["calls"] - 16)
    assert body["spent"]["calls"] <= 16 + 4
