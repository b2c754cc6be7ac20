"""A seat that failed is not a forecast: its lens abstains, the report says so, and the same command asks it again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from backtest_stage import made_up_archive

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.evaluation.backtest.cases import Case
from disputatio.evaluation.backtest.forecasts import forecast_lenses, forecast_openings, forecast_up
from disputatio.evaluation.backtest.runner import BacktestRunner, FinishedDates, RunSettings
from disputatio.formats.registry import find_format
from disputatio.participants.call import Fault, FaultKind
from disputatio.record.events import CallSent
from disputatio.record.memory import MemoryStore
from disputatio.testing import ScriptedClient, instance

DOWN = Fault(FaultKind.QUOTA_EXHAUSTED, "the account is empty")


def outcome_without(reason: str, *, opened: bool = False) -> dict[str, object]:
    """A verdict in which the bear of the technical lens took a turn less than it was asked for."""
    bull = {"id": "tech_bull_arg_0", "side": "tech_bull", "weighted": 10, "confidence": 0.8, "confidence_adjusted": 0.8}
    bull |= {"judged": "UPHELD", "computed": "UPHELD", "not_borne_out": []}
    bear = {**bull, "id": "tech_bear_arg_0", "side": "tech_bear"}
    silent = {"seat": "tech_bear", "arguments": ["tech_bear_arg_0"] if opened else [], "silent": [{"reason": reason}]}
    rows = [{"seat": "tech_bull", "arguments": ["tech_bull_arg_0"], "silent": []}, silent]
    return {"trace": [bull, bear] if opened else [bull], "analysts": rows}


@pytest.mark.parametrize("reason", ["server_error", "misfit", "refused", "unreachable"])
def test_a_lens_with_a_failed_seat_abstains(reason):
    outcome = outcome_without(reason)
    assert forecast_lenses(outcome) == {"tech": None}
    assert forecast_openings(outcome) == {"tech": None}
    assert forecast_up(outcome) is None


def test_a_seat_without_a_signal_did_not_fail():
    assert forecast_lenses(outcome_without("no_signal"))["tech"] == pytest.approx(1 / (1 + math.exp(-1)))


def test_a_seat_that_failed_later_leaves_the_openings():
    outcome = outcome_without("server_error", opened=True)
    assert forecast_lenses(outcome) == {"tech": None}
    assert forecast_openings(outcome) == {"tech": 0.5}


def settings() -> Settings:
    form = find_format("market")
    return resolve(
        format_name="market",
        seats=tuple(form.seats),
        environ={},
        directory=Path("/nonexistent"),
        arguments=make_arguments(
            seat=("all=openai_compatible:m", "tech_bear=openai_compatible:weak"), base_url="http://127.0.0.1:9/v1"
        ),
        options=format_scope(form),
    )


async def held(archive, store: MemoryStore, *, down: bool, cases: tuple[Case, ...]) -> tuple[FinishedDates, int]:
    """What was held and how many calls it took; the model of one seat is ``down`` or not."""
    good = ScriptedClient(instance_text)
    bad = ScriptedClient(lambda _: DOWN)

    def client_factory(seating, key):
        del key
        return bad if down and seating.model == "weak" else good

    run = replace(RunSettings(archive, settings(), concurrency=1), client_factory=client_factory)
    found = await BacktestRunner(cases, run, store).run()
    return found, len(good.calls) + len(bad.calls)


def instance_text(call) -> str:
    return json.dumps(instance(call.schema, str(len(call.segments))))


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return made_up_archive(tmp_path_factory.mktemp("made up"))


@pytest.mark.slow
async def test_the_same_command_asks_failed_seats_again(archive):
    store, cases = MemoryStore(), (Case(archive.prices().month_ends()[20]),)
    first, _ = await held(archive, store, down=True, cases=cases)
    (record,) = first.records
    assert record.status == "DEGRADED"
    assert record.failure == "tech_bear: the account is empty"
    assert record.forecasts["tech"] is None
    kept = {each.event().path for each in store.read(record.debate) if isinstance(each.event(), CallSent)}
    again, calls = await held(archive, store, down=False, cases=cases)
    (record,) = again.records
    assert (record.status, record.failure) == ("COMPLETE", "")
    reopened = next(each.event().reopened for each in store.read(record.debate) if each.event().kind == "DebateResumed")
    assert "opening/tech_bear" in reopened
    openings = [path for path in kept if path.startswith("opening/") and path != "opening/tech_bear"]
    assert len(openings) == 7
    assert not set(openings) & set(reopened), "what was said beside it is not paid for twice"
    assert calls > 0
    third, calls = await held(archive, store, down=False, cases=cases)
    assert (third.records, calls) == (again.records, 0)


@pytest.mark.slow
async def test_a_stopped_backtest_says_why_when_all_dates_exist(archive):
    cases = tuple(Case(day) for day in archive.prices().month_ends()[20:23])
    found, _ = await held(archive, MemoryStore(), down=True, cases=cases)
    assert found.missing == ()
    assert found.provider_failed
    assert found.stopped == "the model could not be reached 3 times in a row (the account is empty)"
    assert {row.failure for row in found.records} == {"tech_bear: the account is empty"}
