"""``check-critic``: known flaws are found by a stated rule, and a weak or soft critic is told from a strong one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from check_stage import critic_settings
from critiques import AGREEING, EARNEST

from disputatio.errors import InvalidInputError
from disputatio.evaluation.critic_check import (
    CriticCase,
    CriticReport,
    load_packaged_critic_cases,
    make_critic_report,
    make_critic_trials,
    read_critic_cases,
    report_lines,
)
from disputatio.evaluation.experiment import Experiment
from disputatio.formats.turns.proposition import PropositionSpec
from disputatio.participants.call import Call, Reply, Usage
from disputatio.record.memory import MemoryStore
from disputatio.record.text import canonical
from disputatio.testing import ScriptedClient

CASES = load_packaged_critic_cases()
ATTACKS = ("tail_risk", "misread_evidence", "hidden_assumption", "harm_if_true")


async def checked(cases: tuple[CriticCase, ...], says: Any) -> CriticReport:
    """The report on a critic that criticises each case by ``says(case, call)``."""
    of = {case.motion: case for case in cases}

    def answer(call: Call) -> Reply:
        prompt = "\n".join(row.text for row in call.segments)
        case = next(case for motion, case in of.items() if motion in prompt)
        return Reply(canonical(says(case, call)), "m", Usage(10, 10, 0))

    chosen = critic_settings()
    model_client = ScriptedClient(answer)
    experiment = Experiment(MemoryStore(), lambda *_: model_client)
    return make_critic_report(cases, chosen, await experiment.run(make_critic_trials(cases, chosen)))


def critique(claims: list[tuple[str, str]], strength: int = 9) -> dict[str, Any]:
    return {
        "thesis": "The proposal is wrong and does harm.",
        "arguments": [
            {
                "target": target,
                "attack": ATTACKS[place % 4],
                "claim": text[:390],
                "reasoning": f"{text} This is certain by number {place}.",
            }
            for place, (target, text) in enumerate(claims)
        ],
        "challenge_strength": strength,
    }


def sharp(case: CriticCase, _call: Call) -> dict[str, Any]:
    others = [number for number in (1, 2, 3) if number != case.flawed]
    return critique(
        [
            (f"PROP-{case.flawed}", case.flaw),
            ("PROP-1", "In 2 of 3 comparable undertakings this failed before the first anniversary."),
            (f"PROP-{others[0]}", "After 4 months nobody answers for the remaining obligations."),
            (f"PROP-{others[1]}", "Nothing shows that those 7 measurements describe ordinary conditions."),
        ]
    )


def in_earnest(case: CriticCase, _call: Call) -> dict[str, Any]:
    thesis, rows = EARNEST[case.id]
    keys = ("target", "attack", "claim", "reasoning")
    return {"thesis": thesis, "arguments": [dict(zip(keys, row, strict=True)) for row in rows], "challenge_strength": 9}


def agreeing(manner: str) -> Any:
    """A critic that agrees in this manner with every case, calls it strong, and does not learn from the retry."""

    def says(_case: CriticCase, _call: Call) -> dict[str, Any]:
        thesis, rows = AGREEING[manner]
        arguments = [
            {"target": f"PROP-{n}", "attack": attack, "claim": claim.format(id=f"PROP-{n}"), "reasoning": reasoning}
            for n, (attack, claim, reasoning) in zip((1, 2, 3, 1), rows, strict=False)
        ]
        for row in arguments:
            row["reasoning"] = row["reasoning"].format(id=row["target"])
        return {"thesis": thesis, "arguments": arguments, "challenge_strength": 10}

    return says


def test_more_than_twenty_cases_follow_the_rules():
    assert len(CASES) >= 20
    assert len({case.task_type for case in CASES}) >= 6
    form = PropositionSpec("PROP", "It should be done.", 3, 5)
    valid = jsonschema_rs.validator_for(form.schema)
    for case in CASES:
        valid.validate(case.proposition)
        assert form.violations(form.read(case.proposition)) == (), case.id


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_flaw_is_named_by_itself_and_not_by_the_proposition(case):
    body: Any = case.proposition
    assert case.names_flaw(case.flawed, case.flaw)
    assert case.names_flaw(None, case.flaw)
    assert not case.names_flaw(case.fair[0], case.flaw)
    said = [body["thesis"], case.motion, *(text for row in body["arguments"] for text in row.values())]
    said += [text for row in body["objections"] for text in row.values()]
    assert not case.names_flaw(None, " ".join(said))


async def test_a_critic_that_names_every_flaw_passes():
    report = await checked(CASES, sharp)
    assert (report.caught.count, report.caught.of) == (len(CASES), len(CASES))
    assert report.strength.value is not None
    assert report.strength.value > 7
    assert report.good_enough
    assert report.softened.count == 0
    assert "is above 7" in "\n".join(report_lines(report))


async def test_earnest_critiques_exceed_seven_at_once():
    cases = tuple(case for case in CASES if case.id in EARNEST)
    report = await checked(cases, in_earnest)
    assert report.strength.value is not None
    assert report.strength.value > 7
    assert all(row.first is None for row in report.criticised)
    assert report.good_enough


@pytest.mark.parametrize("manner", AGREEING)
async def test_an_agreeing_critic_is_asked_again_and_too_weak(manner):
    report = await checked(CASES[:5], agreeing(manner))
    assert report.claimed.value == 10
    assert report.strength.value is not None
    assert report.strength.value < 5
    assert all(row.first is not None and row.first < 6 for row in report.criticised)
    assert report.caught.count == 0
    assert not report.good_enough
    assert "This rests on 5 critiques" in "\n".join(report_lines(report))


async def test_softening_words_are_counted_by_critique():
    report = await checked(CASES[:3], agreeing("with a small wish"))
    assert report.softened.count == 3


async def test_a_strong_critic_that_names_no_flaw_does_not_pass():
    def beside_the_point(case: CriticCase, _call: Call) -> dict[str, Any]:
        return critique(
            [
                (f"PROP-{number}", f"After {number + 3} weeks, nobody remembers which department wanted it.")
                for number in (1, 2, 3, 1)
            ]
        )

    report = await checked(CASES[:4], beside_the_point)
    assert report.strength.value is not None
    assert report.strength.value > 7
    assert report.caught.count == 0
    assert not report.good_enough
    assert "strength alone does not pass" in "\n".join(report_lines(report))


async def test_a_silent_critic_has_no_critique_and_no_mean():
    report = await checked(CASES[:2], lambda *_: {})
    assert report.criticised == ()
    assert report.strength.value is None
    assert not report.good_enough
    assert report.failures == {"misfit": 2}
    assert report.as_json()["strength"] == {"value": None, "low": None, "high": None, "of": 0}


def test_own_cases_are_read_and_bad_ones_are_refused_by_name(tmp_path):
    text = (Path(__file__).parents[2] / "src/disputatio/evaluation/critic_cases.json").read_text("utf-8")
    body = json.loads(text)
    file = tmp_path / "cases.json"
    file.write_text(text, "utf-8")
    assert read_critic_cases(file) == CASES
    for spoil, said in (
        (lambda row: row.pop("flaw"), "Case 1 of"),
        (lambda row: row["flaw"].update(argument=9), "missing arguments"),
        (lambda row: row["flaw"].update(words=[]), "has no words"),
        (lambda row: row.update(id=body["cases"][1]["id"]), "two cases called"),
    ):
        spoilt = json.loads(text)
        spoil(spoilt["cases"][0])
        file.write_text(json.dumps(spoilt), "utf-8")
        with pytest.raises(InvalidInputError) as refused:
            read_critic_cases(file)
        assert said in str(refused.value)
    file.write_text("[]", "utf-8")
    with pytest.raises(InvalidInputError, match="contains no cases"):
        read_critic_cases(file)
