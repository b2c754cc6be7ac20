"""The fallacy check from the texts to the report: judges that know all, nothing, or answer in no form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from check_stage import judge_settings

from disputatio.evaluation.experiment import Experiment
from disputatio.evaluation.fallacy_check import make_fallacy_report, make_fallacy_trials, report_lines
from disputatio.evaluation.labelled_texts import MAPPINGS, NONE, OTHER, LabelledSet, read_labelled
from disputatio.record.chain import find_fault
from disputatio.record.memory import MemoryStore
from disputatio.testing import ScriptedClient

TEXTS = {
    "You would say that, you never had a job.": "ad hominem",
    "Either we leave now or we never leave.": "false dilemma",
    "He is honest because he never lies, and he never lies because he is honest.": "circular reasoning",
    "Everybody thinks so, hence it is so.": "ad populum",
}


def labelled(folder: Path) -> LabelledSet:
    rows = "".join(f'"{text}",{label}\n' for text, label in TEXTS.items())
    (folder / "edu_test.csv").write_text(f"source_article,updated_label\n{rows}")
    return read_labelled("logic", folder)


def answering(name):
    """A judge that names for each text what ``name`` says of it: a list of (fallacy, words)."""

    def answer(call: Any) -> Any:
        prompt = "\n".join(row.text for row in call.segments)
        text = next(text for text in TEXTS if text in prompt)
        found = [{"fallacy": fallacy, "words": words} for fallacy, words in name(text)]
        (row,) = call.schema["properties"]["arguments"]["properties"].values()
        finding = {key: 5 for key, rule in row["properties"].items() if rule.get("type") == "integer"}
        finding |= {"reason": "It is as it stands there.", "standing": "UNCERTAIN", "fallacies": found}
        finding |= {"rests_on": ["PRO-1"]} if "rests_on" in row["properties"] else {}
        return {
            "arguments": {"PRO-1": finding},
            "key_insight": "There is little to see here.",
            "unresolved_questions": [],
            "recommendation": "Ask for more than this.",
        }

    return answer


async def report_on(whole, answer, store=None, **given):
    settings = judge_settings(**given)
    model_client = ScriptedClient(answer)
    experiment = Experiment(
        store or MemoryStore(), lambda *_: model_client, budget=settings.budget, shares_ceiling=False
    )
    result = await experiment.run(make_fallacy_trials(whole, settings))
    return make_fallacy_report(settings.seats["judge"].address, whole, whole, 0, result), model_client


def right(text: str):
    known = MAPPINGS["logic"].get(TEXTS[text])
    return [(known.value, text[:20])] if known else []


async def test_a_judge_that_knows_all_is_right_wherever_it_has_a_word(tmp_path):
    report, model_client = await report_on(labelled(tmp_path), answering(right))
    scores = report.scores
    assert len(model_client.calls) == len(TEXTS)
    assert scores.micro[0].value == scores.micro[1].value == 1
    assert scores.confusion[OTHER][NONE] == 1
    assert scores.answered == 4


async def test_the_judge_sees_only_the_text_as_in_a_debate(tmp_path):
    report, model_client = await report_on(labelled(tmp_path), answering(right))
    for text, call in zip(TEXTS, model_client.calls, strict=True) if len(model_client.calls) == 4 else ():
        prompt = "\n".join(row.text for row in call.segments)
        assert sum(other in prompt for other in TEXTS) == 1, text
        assert "strictly impartial" in prompt
    assert report.result.spent.calls == 4


async def test_words_nobody_wrote_name_nothing(tmp_path):
    report, _ = await report_on(labelled(tmp_path), answering(lambda text: [("straw_man", "never written anywhere")]))
    scores = report.scores
    assert scores.unfound_quotes.value == 1
    assert scores.micro[0].of == 0
    assert sum(row[NONE] for row in scores.confusion.values()) == 4


async def test_answers_in_no_form_are_a_class_of_their_own(tmp_path):
    report, _ = await report_on(labelled(tmp_path), lambda call: "I would rather not.")
    assert report.scores.failures == {"misfit": 4}
    assert report.scores.micro[1].value == 0
    assert "4 misfit" in "\n".join(report_lines(report))


async def test_a_stopped_check_goes_on_and_pays_for_nothing_twice(tmp_path):
    store, whole = MemoryStore(), labelled(tmp_path)
    part, first = await report_on(whole, answering(right), store, max_calls=2)
    assert part.scores.failures == {"not asked": 2}
    rest, second = await report_on(whole, answering(right), store)
    assert (len(first.calls), len(second.calls)) == (2, 2)
    assert rest.scores.answered == 4
    assert rest.result.spent.calls == 4
    for row in store.debates():
        assert find_fault(tuple(store.read(row.id)), store.texts(row.id)) is None


async def test_a_repeated_question_resumes_where_it_stood(tmp_path):
    """A ceiling between the first answer and the second: the first is not paid again."""
    store, whole = MemoryStore(), labelled(tmp_path)
    answer, heard = answering(right), []

    def slow_learner(call: Any) -> Any:
        heard.append(call)
        return "no form" if len(heard) == 1 else answer(call)

    part, _ = await report_on(whole, slow_learner, store, max_calls=1)
    assert part.scores.failures == {"not asked": 4}
    rest, _ = await report_on(whole, slow_learner, store)
    assert rest.scores.answered == 4
    assert len(heard) == 5 == rest.result.spent.calls


async def test_the_json_has_its_schema_the_mapping_and_every_class(tmp_path):
    report, _ = await report_on(labelled(tmp_path), answering(right))
    body = json.loads(json.dumps(report.as_json(), default=dict))
    assert (body["schema"], body["version"]) == ("disputatio/fallacy-check", 1)
    assert body["mapping"] == {
        "ad hominem": "ad_hominem",
        "ad populum": None,
        "circular reasoning": "circular_reasoning",
        "false dilemma": "false_dilemma",
    }
    assert [row["class"] for row in body["classes"]][:2] == ["straw_man", "appeal_to_authority"]
    assert body["class_sizes"]["other"] == {"set": 1, "sample": 1}


@pytest.mark.slow
async def test_a_recorded_text_can_be_shown_like_any_debate(tmp_path):
    from disputatio.api import read_debate

    store = MemoryStore()
    await report_on(labelled(tmp_path), answering(right), store)
    for row in store.debates():
        assert "PRO-1" in read_debate(store, row.id).text()
