"""Experiments run each trial once, in batches under one ceiling, and resume from their records."""

from __future__ import annotations

from check_stage import critic_settings

from disputatio.evaluation.critic_check import load_packaged_critic_cases, make_critic_trials
from disputatio.evaluation.experiment import Experiment, Trial
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.participants.call import Fault, FaultKind
from disputatio.record.memory import MemoryStore
from disputatio.testing import InstanceClient, ScriptedClient


def trials(count: int) -> list[Trial]:
    return make_critic_trials(load_packaged_critic_cases()[:count], critic_settings())


async def test_a_further_batch_runs_only_what_is_new():
    told: list[str] = []
    model_client, every = InstanceClient(), trials(4)
    experiment = Experiment(MemoryStore(), lambda *_: model_client, on_finished=lambda row: told.append(row.key))
    first = await experiment.run(every[:2])
    calls = model_client.call_count
    wanted = [every[2:3], every[3:], []]
    await experiment.run_further(lambda: wanted.pop(0), most=9)
    result = experiment.result
    assert not wanted
    assert [row.key for row in result.finished] == [row.key for row in every]
    assert sorted(told) == sorted(row.key for row in every), "each is told once"
    assert result.finished[:2] == first.finished
    assert result.spent.calls == model_client.call_count > calls


async def test_batches_have_one_ceiling_and_a_later_run_resumes():
    model_client, every, store = InstanceClient(), trials(3), MemoryStore()
    whole = await Experiment(MemoryStore(), lambda *_: model_client).run(every)
    allowed = whole.spent.calls - 1
    cut = Experiment(store, lambda *_: model_client, budget=Budget(calls=allowed))
    await cut.run(every[:1])
    result = await cut.run(every[1:])
    assert result.spent.calls <= allowed
    assert result.missing
    assert "ceiling" in result.stopped
    resumed = await Experiment(store, lambda *_: model_client, budget=UNLIMITED).run(every)
    assert not resumed.missing
    assert resumed.spent.calls == whole.spent.calls


async def test_only_the_next_run_asks_an_unreachable_model_again():
    def gone(_call):
        return Fault(FaultKind.KEY_REJECTED, "the key was not accepted")

    store, every, down = MemoryStore(), trials(2), ScriptedClient(gone)
    experiment = Experiment(store, lambda *_: down)
    await experiment.run(every[:1])
    calls = len(down.calls)
    await experiment.run([])
    assert len(down.calls) == calls
    up = InstanceClient()
    result = await Experiment(store, lambda *_: up).run(every)
    assert up.call_count
    assert not result.missing
    assert not any(row.reused for row in result.finished)


async def test_reading_calls_no_model():
    model_client, every, store = InstanceClient(), trials(2), MemoryStore()
    await Experiment(store, lambda *_: model_client).run(every[:1])
    calls = model_client.call_count
    read = await Experiment(store, lambda *_: model_client, reads_only=True).run(every)
    assert model_client.call_count == calls
    assert [row.key for row in read.finished] == [every[0].key]
    assert read.finished[0].reused
    assert read.missing == (every[1].key,)
    assert read.stopped
