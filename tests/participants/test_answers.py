"""Raw output is taken as it is, taken mended, or refused with reasons; nothing is filled in and nothing raises."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from disputatio.formats.registry import FORMATS
from disputatio.motion import clean
from disputatio.participants import answers
from disputatio.participants.answers import MAX_ANSWER_CHARS, SchemaChecks, SchemaMismatch, ShapedAnswer, read_answer
from disputatio.testing.malformed import Malformation, malform
from strategies import FULL, Answers, Debate, any_texts, examples, json_objects

CHECKS = SchemaChecks()
SPEECH: Any = {
    "type": "object",
    "properties": {"speech": {"type": "string", "minLength": 2}, "points": {"type": "integer", "maximum": 10}},
    "required": ["speech", "points"],
    "additionalProperties": False,
}


def read(text: str, schema: Any = SPEECH, **more: Any) -> ShapedAnswer | SchemaMismatch:
    return read_answer(text, schema, CHECKS, **more)


def check(result: ShapedAnswer | SchemaMismatch, schema: Any) -> None:
    """What must hold of any result at all."""
    if isinstance(result, SchemaMismatch):
        assert result.reasons
        assert all(reason and "\n" not in reason and len(reason) <= 300 for reason in result.reasons)
        assert len(result.reasons) <= 6
        return
    jsonschema_rs.validate(schema, result.content)
    json.dumps(result.content, ensure_ascii=False).encode()
    assert_clean(result.content)


def assert_clean(value: Any) -> None:
    if isinstance(value, str):
        assert value == clean(value).strip()
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        assert_clean(inner)


def forms() -> list[tuple[str, dict[str, Any], str]]:
    """A schema and a good answer for every ask of both formats."""
    rows = []
    for name, form in FORMATS.items():
        debate = Debate(name, form.rules(), Answers("answers"))
        for path, asked in debate.held().asks.items():
            rows.append((f"{name}/{path}", dict(asked.spec.schema), json.dumps(debate.answers.content(path, asked))))
    return rows


FORMS = forms()


@pytest.mark.parametrize(("schema", "answer"), [row[1:] for row in FORMS], ids=[row[0] for row in FORMS])
def test_a_good_answer_is_taken_as_it_is(schema: dict[str, Any], answer: str) -> None:
    assert read(answer, schema) == ShapedAnswer(json.loads(answer), repaired=False)


@pytest.mark.parametrize("kind", list(Malformation))
def test_answer_wrong_in_any_known_way_is_mended_or_refused(kind: Malformation) -> None:
    """An answer that is wrong in any known way is mended or refused."""
    _, schema, answer = FORMS[-1]
    for seed in range(4):
        text = malform(answer, seed, kind)
        check_malformed(text, answer, schema)


def check_malformed(text: str, answer: str, schema: dict[str, Any]) -> None:
    result = read(text, schema)
    check(result, schema)
    check(read(text, schema, cut_off_at=100), schema)
    if isinstance(result, ShapedAnswer):
        # Without the signs between them, so that words which only a control character kept apart are known.
        told = re.sub(r"\W", "", f"{text}{answer}".replace("\\x41", "A"))
        words = re.findall(r"\w+", " ".join(strings(result.content)))
        assert [word for word in words if word not in told] == [], "nothing is filled in"


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    rows = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for row in rows for text in strings(row)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(Malformation))
def test_malformed_answers_to_every_form_raise_nothing(kind: Malformation) -> None:
    """Thousands of malformed answers to every form raise nothing."""
    for number, (_, schema, answer) in enumerate(FORMS):
        for seed in range(20) if FULL else (number % 20,):
            check_malformed(malform(answer, seed, kind), answer, schema)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"speech": "We agree.", "points": 3}\n```',
        'Here it is:\n\n{"speech": "We agree.", "points": 3}\n\nI hope this helps.',
        '{"speech": "We agree.", "points": 3,}',
        "{'speech': 'We agree.', 'points': 3}",
        '{speech: "We agree.", points: 3}',
        '{"speech": "We agree.", "points": 3',
        '{"speech": "no", "points": 1} {"speech": "We agree.", "points": 3}',
        '\ufeff{"speech": "We agree.", "points": 3}',
    ],
)
def test_faulty_json_around_a_good_answer_is_mended_and_marked(text: str) -> None:
    assert read(text) == ShapedAnswer({"speech": "We agree.", "points": 3}, repaired=True)


@pytest.mark.parametrize("text", ['{"speech": "So.", "points": 1e999}', '{"speech": -1e999, "points": 1}'])
def test_a_number_that_no_record_can_hold_is_refused(text: str) -> None:
    got = read(text)
    assert isinstance(got, SchemaMismatch)
    assert got.content is None
    assert "too large" in got.reasons[-1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the answer is empty"),
        (" \n\t ", "the answer is empty"),
        ("I cannot answer that.", "the answer holds no JSON object"),
        ("null", "the answer is not a JSON object"),
        ("[]", "the answer is not a JSON object"),
        ('"speech"', "the answer is not a JSON object"),
        ("7", "the answer is not a JSON object"),
        ("{}", '"speech" is a required property'),
        ('{"speech": "We agree."}', '"points" is a required property'),
        ('{"speech": "x", "points": 3}', "speech:"),
        ('{"speech": " x ", "points": 3}', "speech:"),
        ('{"speech": "We agree.", "points": 11}', "points:"),
        ('{"speech": "We agree.", "points": "3"}', "points:"),
        ('{"speech": "We agree.", "points": true}', "points:"),
        ('{"speech": "We agree.", "points": 2.5}', "points:"),
        ('{"speech": "We agree.", "points": null}', "points:"),
        ('{"speech": "We agree.", "points": NaN}', "points:"),
        ('{"speech": "We agree.", "points": Infinity}', "points:"),
        ('{"speech": "We agree.", "points": 1e999}', "points:"),
        ('{"speech": "We agree.", "points": 3, "mood": "gay"}', "mood"),
        ('{"speech": "\\u200b\\u200b\\u200b", "points": 3}', "speech:"),
        ('{"speech": "We agree.", "points": 3, "\\ud800": 1}', "\ufffd"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_refused_with_the_reason(text: str, reason: str) -> None:
    result = read(text)
    check(result, SPEECH)
    assert isinstance(result, SchemaMismatch)
    assert any(reason in row for row in result.reasons)


def test_of_a_key_given_twice_the_last_is_taken() -> None:
    """As RFC 8259 leaves it and every common reader does it."""
    assert read('{"speech": "no", "speech": "We agree.", "points": 3}') == ShapedAnswer(
        {"speech": "We agree.", "points": 3}, repaired=False
    )


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":', '{"speech":['])
@pytest.mark.parametrize("depth", [10, 19, 20, 21, 22, 100, 254, 255, 256, 300, 900, 1100, 30_000])
@pytest.mark.parametrize("inside", ['"x"', '"\\ud800"'])
def test_nesting_of_any_depth_is_refused_in_words(opening: str, depth: int, inside: str) -> None:
    closing = "".join({"[": "]", "{": "}"}[char] for char in reversed(opening) if char in "[{")
    for text in (opening * depth + inside + closing * depth, f'{{"speech": {opening * depth}{inside}'):
        result = read(text)
        assert isinstance(result, SchemaMismatch)
        check(result, SPEECH)


def test_an_answer_of_ten_megabytes_is_not_read() -> None:
    for text in ("x" * 10_000_000, '{"speech": "' + "x" * 10_000_000, "{" * 10_000_000):
        assert read(text) == SchemaMismatch(("the answer is too long: 10,000,000 characters",)) or "too long" in str(
            read(text)
        )
    assert len('{"speech": "') + MAX_ANSWER_CHARS > MAX_ANSWER_CHARS


@pytest.mark.parametrize("text", ["{1 {1 {1 lorem ipsum dolor " * 100, '{"' * 400, "(" * 2000, "{]'" * 400])
def test_an_answer_that_keeps_the_mender_busy_is_given_up(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(answers, "MAX_REPAIR_CALLS", 20_000)
    result = read(text)
    assert result == SchemaMismatch(("the answer is no valid JSON and could not be mended",))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["{1 " * 64 + " lorem ipsum" * 3000, '{"' * 20_000, "(" * 50_000, "{1}" * 9000])
def test_the_hardest_texts_to_mend_are_given_up_or_read(text: str) -> None:
    assert isinstance(read(text), SchemaMismatch)


def test_a_profiler_that_is_at_work_stays_at_work() -> None:
    import sys

    seen: list[str] = []

    def profiler(_frame: Any, event: str, _argument: Any) -> None:
        seen.append(event)

    sys.setprofile(profiler)
    try:
        read("{'speech': 'We agree.', 'points': 3}")
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)


@examples(50)
@given(st.one_of(any_texts, st.text('{}[]":,\\ntruefalse0123456789.eE- "\'`'), json_objects.map(json.dumps)))
@example('{"speech":' + "9" * 5000 + "}")
@example("{" + '"' * 300)
def test_any_text_at_all_is_read_without_an_exception(text: str) -> None:
    check(read(text), SPEECH)
    check(read(text, cut_off_at=7), SPEECH)


@given(st.sampled_from(FORMS), st.data())
def test_cut_off_answer_is_taken_only_if_complete(form: tuple[str, dict[str, Any], str], data: st.DataObject) -> None:
    """An answer cut off at the token limit is taken only when it is whole."""
    _, schema, answer = form
    cut = data.draw(st.integers(0, len(answer) - 1))
    result = read(answer[:cut], schema, cut_off_at=400)
    assert result == SchemaMismatch(("the answer was cut off at 400 tokens; be briefer",))
    assert isinstance(read(answer, schema, cut_off_at=400), ShapedAnswer)
    assert isinstance(read(f"  {answer}\n", schema, cut_off_at=400), ShapedAnswer)


@given(st.text('ab "\\\x1b\x00\u202e\u200b\U000e0041\ud83d中\n\t', min_size=2))
def test_strings_of_an_answer_are_cleaned_and_stripped(speech: str) -> None:
    for text in (
        json.dumps({"speech": f"We {speech}", "points": 1}),
        json.dumps({"speech": f"We {speech}", "points": 1}, ensure_ascii=False),
    ):
        result = read(text)
        assert isinstance(result, ShapedAnswer)
        assert result.content["speech"] == clean(f"We {speech}").strip()


def test_compiled_schemas_are_dropped_when_there_are_too_many() -> None:
    checks = SchemaChecks(most=3)
    for number in range(10):
        schema: Any = {"type": "object", "required": [str(number)]}
        assert checks.reasons({}, schema)
        assert checks.reasons({str(number): 1}, schema) == ()
    assert len(checks._compiled) == 3
