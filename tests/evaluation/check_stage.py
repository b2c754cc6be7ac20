"""Judges whose faults are known, and a stage to put them on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.evaluation.cases import CaseDebate
from disputatio.evaluation.experiment import Experiment
from disputatio.evaluation.injected_flaws import DROPPED, FABRICATED, MISQUOTED, CaseVariant
from disputatio.evaluation.judge_check import JudgeReport, make_judge_report, make_judge_trials, make_variants
from disputatio.formats.registry import find_format
from disputatio.judging.fallacies import Fallacy
from disputatio.participants.call import Call
from disputatio.record.memory import MemoryStore
from disputatio.record.store import Store
from disputatio.testing import ScriptedClient
from judge_turns import named_words, with_speakers

FALLACIES = {fallacy.value for fallacy in Fallacy}


def critic_settings() -> Settings:
    form = find_format("review")
    return resolve(
        format_name="review",
        seats=("critic",),
        environ={},
        directory=Path("/nonexistent"),
        arguments=make_arguments(seat=("critic=openai_compatible:critic",), base_url="http://127.0.0.1:9/v1"),
        options=format_scope(form),
    )


def judge_settings(seat: str = "judge=openai_compatible:fake", **given: Any) -> Settings:
    form = find_format("structured")
    return resolve(
        format_name="structured",
        seats=("judge",),
        environ={},
        directory=Path("/nonexistent"),
        arguments=make_arguments(seat=(seat,), base_url="http://127.0.0.1:9/v1", **given),
        options=format_scope(form),
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """One argument as a judge finds it in its prompt."""

    id: str
    claim: str
    reasoning: str
    evidence: str
    prompt: str


Opinion = Callable[[Shown], Mapping[str, Any]]
"""What a judge says of an argument: scores by criterion, and ``reason`` and ``fallacies`` where it has any."""


def judging(opinion: Opinion) -> Callable[[Call], Any]:
    """A judge that finds on each argument by ``opinion`` and fills in the rest of the form."""

    def answer(call: Call) -> Any:
        schema: Any = call.schema
        prompt = "\n".join(row.text for row in call.segments)
        shown = {
            name: Shown(name, claim, reasoning, evidence, prompt)
            for name, claim, reasoning, evidence in re.findall(
                r"^((?:PRO|CON)-\d+): (.+)\nReasoning: (.+)\nEvidence: (.+)$", prompt, re.MULTILINE
            )
        }
        findings = schema["properties"]["arguments"]["properties"]
        return {
            "arguments": {
                name: finding(row["properties"], opinion(shown[name]), name, prompt) for name, row in findings.items()
            },
            "key_insight": "There is something to be said on each side.",
            "unresolved_questions": [],
            "recommendation": "Decide when more is known about it.",
        }

    return answer


def finding(keys: Mapping[str, Any], said: Mapping[str, Any], name: str, prompt: str) -> dict[str, Any]:
    given = {key: said.get(key, 5) for key, row in keys.items() if row.get("type") == "integer"}
    rest: dict[str, Any] = {
        "reason": said.get("reason", f"Judged by what {name} says and how it was met."),
        "standing": "UPHELD",
        "fallacies": with_speakers(said.get("fallacies", []), keys),
        "rests_on": [name],
        **named_words(keys, lambda answer: answer_in(prompt, answer)),
    }
    return {**{key: value for key, value in rest.items() if key in keys}, **given}


def answer_in(prompt: str, answer: str) -> str:
    """The words of the answer with this id as the prompt shows them, no more than a mark may have."""
    found = re.search(rf"^Answer to {re.escape(answer.replace('.A', '.Q'))}: (.+)$", prompt, re.MULTILINE)
    assert found is not None
    return found[1][:300]


def merit(row: Shown) -> int:
    """A score from 4 to 7 that depends on the claim and on nothing else."""
    return 4 + hashlib.sha256(row.claim.encode()).digest()[0] % 4


def even(row: Shown, score: int) -> dict[str, Any]:
    return dict.fromkeys(("logic", "evidence", "responsiveness", "honesty"), min(max(score, 1), 10))


def blind(row: Shown) -> dict[str, Any]:
    return even(row, merit(row))


def order_biased(row: Shown) -> dict[str, Any]:
    return even(row, merit(row) + (2 if row.id.startswith("PRO") else 0))


def length_biased(row: Shown) -> dict[str, Any]:
    return even(row, len(row.reasoning.split()) // 10)


def random_judge(row: Shown) -> dict[str, Any]:
    said = re.findall(r"^(?:PRO-|CON-|Reasoning:|Evidence:|Answer to ).+$", row.prompt, re.MULTILINE)
    chance = hashlib.sha256(f"{row.id}{said}".encode()).digest()
    keys = ("logic", "evidence", "responsiveness", "honesty")
    found = [{"fallacy": sorted(FALLACIES)[chance[9] % 7], "words": row.claim}] if chance[8] % 4 == 0 else []
    return {**{key: 1 + chance[place] % 10 for place, key in enumerate(keys)}, "fallacies": found}


def perfect(twins: Sequence[CaseVariant]) -> Opinion:
    """A judge that knows what may be planted, and finds it where it stands."""
    known = [twin.flaw for twin in twins if twin.flaw]

    def opinion(row: Shown) -> dict[str, Any]:
        said = even(row, merit(row))
        own = f"{row.reasoning}\n{row.evidence}"
        for flaw in known:
            if flaw.kind in FALLACIES and flaw.words in own:
                said["fallacies"] = [{"fallacy": flaw.kind, "words": flaw.words}]
            elif flaw.kind == DROPPED and re.search(rf"Answer to {row.id}\.Q1: {re.escape(flaw.words)}", row.prompt):
                said["responsiveness"] = 1
            elif flaw.kind in {FABRICATED, MISQUOTED} and flaw.words in row.evidence:
                said["evidence"] = 1
        return said

    return opinion


async def checked(
    opinion: Opinion | Callable[[Call], Any],
    cases: Sequence[CaseDebate],
    *,
    raw: bool = False,
    probes: Sequence[str] | None = None,
    store: Store | None = None,
    settings: Settings | None = None,
    seed: int = 0,
) -> tuple[JudgeReport, ScriptedClient]:
    """The report on a judge; ``raw`` where it answers calls itself."""
    settings = settings or judge_settings()
    twins = make_variants(cases, seed, probes) if probes else make_variants(cases, seed)
    model_client = ScriptedClient(opinion if raw else judging(opinion))  # type: ignore[arg-type]
    experiment = Experiment(
        store or MemoryStore(), lambda *_: model_client, budget=settings.budget, shares_ceiling=False
    )
    result = await experiment.run(make_judge_trials(twins, settings))
    return make_judge_report(twins, settings, result, seed), model_client
