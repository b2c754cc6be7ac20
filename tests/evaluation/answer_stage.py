"""Models that know some answers and not others, and a stage to compare debates and baselines on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.evaluation.experiment import Experiment
from disputatio.evaluation.questions.arms import choose_arms, find_arm_format
from disputatio.evaluation.questions.items import Item, QuestionSet, read_item
from disputatio.evaluation.questions.report import EvaluationReport, make_evaluation_report
from disputatio.evaluation.questions.runner import EvaluationResult, EvaluationRunner
from disputatio.formats.registry import find_format
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.motion.text import VERBS
from disputatio.participants.call import Call
from disputatio.record.memory import MemoryStore
from disputatio.record.store import Store
from disputatio.testing import ScriptedClient, instance

Right = Callable[[str, str], bool]
"""Whether a model that is asked for this kind of answer (``answer``, ``vote`` or ``scores``) about this knows it."""


def asked(number: int, **more: Any) -> Item:
    return read_item("stage", number, {"question": f"Is number {number} even?", "answer": "yes", **more})


def questions(number: int, **more: Any) -> QuestionSet:
    return QuestionSet("stage", tuple(asked(place, **more) for place in range(number)))


def settings_of(ways: Sequence[str], **given: Any) -> dict[str, Settings]:
    found = {}
    for way in ways:
        form = find_format(find_arm_format(way).name)
        found[way] = resolve(
            format_name=form.name,
            seats=tuple(form.seats),
            environ={},
            directory=Path("/nonexistent"),
            arguments=make_arguments(
                seat=("all=openai_compatible:oracle",), base_url="http://127.0.0.1:9/v1", seed=1, **given
            ),
            options=format_scope(form),
        )
    return found


def oracle(items: Sequence[Item], knows: Right) -> Callable[[Call], Any]:
    """Says the right answer where it knows it and another one where it does not; the rest is any valid instance."""

    def said(call: Call) -> Any:
        schema: Any = call.schema
        prompt = "\n".join(row.text for row in call.segments)
        item = next(row for row in items if row.question in prompt)
        seed = hashlib.sha256(f"{prompt}{call.seed}".encode()).hexdigest()
        body: Any = instance(schema, seed)
        for key in ("answer", "vote"):
            allowed = schema["properties"].get(key, {})
            if "enum" in allowed or ("pattern" in allowed and key == "answer"):
                others = [row for row in allowed.get("enum", ["7"]) if row != item.known]
                body[key] = item.known if knows(key, seed) else others[0]
        if "arguments" in schema["properties"] and "key_insight" in schema["properties"]:
            for name, finding in body["arguments"].items():
                high = name.startswith("PRO") == knows("scores", seed)
                finding.update({row: 9 if high else 3 for row in finding if isinstance(finding[row], int)})
                finding["fallacies"] = []
        return in_own_words(json.dumps(body))

    return said


def in_own_words(text: str) -> str:
    """Made-up sentences that are not known as such: this model is to pass for a real one."""
    return re.sub(rf" (?:{'|'.join(VERBS)}) ", lambda found: found.group().upper(), text)


async def held(
    asked_of: QuestionSet,
    ways: Sequence[str],
    knows: Right,
    *,
    store: Store | None = None,
    budget: Budget = UNLIMITED,
    reads_only: bool = False,
    model: str = "oracle",
) -> tuple[EvaluationReport, EvaluationResult, ScriptedClient]:
    """The report, what it rests on, and the gateway that was called."""
    arms = choose_arms(ways, asked_of.kinds)
    model_client = ScriptedClient(oracle(asked_of.items, knows), model=model)
    settings = settings_of(ways)
    experiment = Experiment(store or MemoryStore(), lambda *_: model_client, budget=budget, reads_only=reads_only)
    found = await EvaluationRunner(asked_of, arms, settings, experiment).run()
    who = {way: {seat: row.address for seat, row in chosen.seats.items()} for way, chosen in settings.items()}
    return make_evaluation_report(asked_of, arms, found, who), found, model_client
