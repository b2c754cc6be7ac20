"""What a backtest would take: its debates by arm, and with models what stands beside them. Nothing is held or asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from disputatio.config import Settings
from disputatio.evaluation.backtest.agents import Agents
from disputatio.evaluation.backtest.cases import ARMS, BLIND, PLAIN, Bases, Case, proposal_of
from disputatio.evaluation.backtest.holding import Run
from disputatio.evaluation.estimating import LOOKED_AT, Part, expected, vote_beside
from disputatio.evaluation.experiment import Experiment
from disputatio.record.memory import MemoryStore


async def backtest_parts(
    cases: Sequence[Case],
    run: Run,
    single: Settings | None = None,
    probes: Mapping[str, Settings] | None = None,
    years: tuple[int, int] = (0, 0),
) -> tuple[Part, ...]:
    """What each part would take.

    Args:
        cases: every debate.
        run: how they would be held.
        single: the settings of single agents; None where none are held.
        probes: the settings of the recognition probe, by model.
        years: those that the probe offers.
    """
    bases, parts = Bases(run.archive), []
    experiment = Experiment(MemoryStore(), run.opener)
    agents = Agents((), bases, single, probes or {}, years, experiment, horizon=run.horizon, prompts=run.prompts)
    for arm in ARMS:
        own = [case for case in cases if case.arm == arm]
        looked = _spread(own)
        debates = [proposal_of(bases.of(case), run.settings, run.prompts, run.horizon) for case in looked]
        part = _for_all(await expected(f"debates, {arm}", debates), len(own))
        parts += [part] if own else []
        if single is None or not own or arm not in {PLAIN, BLIND}:
            continue
        alone = await expected(f"single answers, {arm}", [agents.proposals_of(case)[0] for case in looked])
        alone = _for_all(alone, len(own))
        parts += [alone, vote_beside(f"votes, {arm}", part, alone)]
    if probes:
        looked = _spread([case for case in cases if case.arm == PLAIN])
        asked = [row.trial.proposal for row in agents.probes_on(looked)]
        every = len(asked) // max(1, len(looked)) * sum(case.arm == PLAIN for case in cases)
        parts.append(_for_all(await expected("recognition probe", asked), every))
    return tuple(parts)


def _spread(cases: Sequence[Case]) -> list[Case]:
    """A few of ``cases``, evenly spread: a knowledge base is built for each."""
    places = {round(place * (len(cases) - 1) / max(1, LOOKED_AT - 1)) for place in range(min(LOOKED_AT, len(cases)))}
    return [cases[place] for place in sorted(places)]


def _for_all(part: Part, debates: int) -> Part:
    """``part`` for so many debates."""
    share = debates / part.debates if part.debates else 0
    usd = None if part.usd is None else part.usd * debates / max(1, part.debates)
    return Part(part.name, debates, round(part.calls * share), round(part.tokens * share), usd)
