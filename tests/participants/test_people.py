"""A person in a seat fills in the same form under the same rules as a model, and no draft is lost."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from disputatio.formats.turns.monologue import MonologueSpec
from disputatio.formats.turns.speech import DirectionSpec
from disputatio.kernel import Abstention, Ask, AskPath, Limits, Phase, Seat, Task
from disputatio.participants.human import (
    ChoiceField,
    DraftBook,
    Field,
    Filled,
    GroupField,
    Invite,
    ListField,
    NumberField,
    Passed,
    Person,
    ScriptedSurface,
    Situation,
    TextField,
    TurnRequest,
    UnknownShapeError,
    form_from_schema,
)
from disputatio.participants.human.person import MOST_TRIES
from disputatio.participants.turn_taking import Reject, TurnResult
from disputatio.testing.instances import instance
from strategies import Debate, debates, examples
from turns_driven import CHECKS

PATH = AskPath("round-1/pro")
PLACE = Situation("abc", "Be it so", "English", "the rules", "", "Speak.\n- speech: what you think of it")
GOOD: Any = {"speech": "It is so, and for a reason."}
LONG: Any = {"speech": "word " * 20}
BAD: Any = {"speech": ""}


def ask_of(form: Any, **limits: Any) -> Ask:
    return Ask(Seat("pro"), Phase("round-1"), form, Task("monologue"), limits=Limits(**limits))


def played(*given: Filled | Passed, **limits: Any) -> tuple[TurnResult | Abstention, list[TurnRequest], list[Reject]]:
    """What comes of a person who answers so, what they were asked, and what the record is told was not taken."""
    answers, asked, rejected = iter(given), [], []
    taking = Person(ScriptedSurface(lambda _: Passed())).take(PATH, ask_of(MonologueSpec(10), **limits), CHECKS, PLACE)
    order = next(taking)
    while True:
        try:
            if isinstance(order, Invite):
                asked.append(order.request)
                order = taking.send(next(answers))
            else:
                assert isinstance(order, Reject)
                rejected.append(order)
                order = taking.send(None)
        except StopIteration as end:
            return end.value, asked, rejected


def test_a_turn_that_fits_is_taken_at_once() -> None:
    result, asked, rejected = played(Filled(GOOD))
    assert isinstance(result, TurnResult)
    assert (result.content, result.violations, result.asked, len(asked), rejected) == (GOOD, (), 1, 1, [])


def test_wrong_shape_asked_again_with_reason_and_draft_as_often() -> None:
    """A wrong shape is asked again with the reason and the draft as often as it takes."""
    result, asked, rejected = played(*[Filled(BAD)] * 6, Filled(GOOD))
    assert isinstance(result, TurnResult)
    assert [row.because for row in rejected] == ["shape"] * 6
    assert all(request.last == BAD and request.reasons for request in asked[1:])


def test_surface_that_never_brings_turn_leaves_seat_silent() -> None:
    """A surface that never brings a turn leaves the seat silent."""
    result, asked, _ = played(*[Filled(BAD)] * MOST_TRIES)
    assert isinstance(result, Abstention)
    assert (result.reason, len(asked)) == ("misfit", MOST_TRIES)


@pytest.mark.parametrize("rule_asks", [0, 1])
def test_broken_rule_asked_again_as_often_as_of_model_and_then(rule_asks: int) -> None:
    """A broken rule is asked again as often as of a model and then taken."""
    result, asked, rejected = played(*[Filled(LONG)] * 2, rule_asks=rule_asks)
    assert isinstance(result, TurnResult)
    assert [row.rule for row in result.violations] == ["word_limit"]
    assert len(asked) == 1 + rule_asks
    assert [row.because for row in rejected] == ["rule"] * rule_asks
    assert [request.is_final for request in asked] == ([True] if rule_asks == 0 else [False, True])


def test_who_passes_silent_and_what_was_tried_before_on_record() -> None:
    """Who passes is silent and what was tried before is on record."""
    result, _, rejected = played(Passed(tried=("Speech is empty; it needs at least 20 characters.",)))
    assert isinstance(result, Abstention)
    assert result.reason == "passed"
    assert [row.reasons for row in rejected] == [("Speech is empty; it needs at least 20 characters.",)]


def test_who_passes_after_broken_rule_taken_at_word_already() -> None:
    """Who passes after a broken rule is taken at the word already given."""
    result, _, _ = played(Filled(LONG), Passed(), rule_asks=1)
    assert isinstance(result, TurnResult)
    assert result.content == {"speech": LONG["speech"].strip()}


# --- the form as fields ------------------------------------------------------------------------------------------


def refilled(row: Field, value: Any) -> Any:
    """``value`` as somebody fills it in field by field, each part accepted by its field."""
    match row:
        case TextField():
            assert row.fault(value) == "", (row, value)
            return value
        case ChoiceField():
            assert row.read(str(row.options.index(value) + 1)) == value or str(value).isdigit()
            return row.read(str(value))
        case NumberField():
            return row.read(str(value))
        case ListField():
            assert row.least <= len(value) <= row.most
            return [refilled(row.item, each) for each in value]
        case GroupField():
            return {each.key: refilled(each, value[each.key]) for each in row.fields}


@pytest.mark.slow
@examples(4)
@given(debates())
def test_every_form_of_every_format_can_filled_in_field_by_field(debate: Debate) -> None:
    """Every form of every format can be filled in field by field."""
    for path, asked in debate.held().asks.items():
        content = instance(asked.spec.schema, f"{debate.answers.seed} {path}")
        assert isinstance(content, dict)
        sheet = form_from_schema(asked.spec.schema)
        assert {row.key: refilled(row, content[row.key]) for row in sheet.fields} == content
        request = TurnRequest(path, asked, PLACE, CHECKS)
        assert request.faults(content) == ()
        broken = [row.detail for row in asked.spec.violations(asked.spec.read(content))]
        assert list(request.violations(content)) == broken


def test_what_each_field_is_for_comes_from_the_task() -> None:
    request = TurnRequest(PATH, ask_of(MonologueSpec(10)), PLACE, CHECKS)
    (row,) = request.sheet.fields
    assert (row.key, row.description, request.word_limit) == ("speech", "what you think of it", 10)
    assert request.counted({"speech": "one two three"}) == 3


def test_a_schema_no_field_is_known_for_is_said_to_be_so() -> None:
    with pytest.raises(UnknownShapeError):
        form_from_schema({"type": "object", "properties": {"x": {"oneOf": []}}})


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "is not chosen"),
        ("con_2", "'con_2' is not one of those there are: pro_1, pro_2, pro_4."),
        ("pro_3", "'pro_3' is not one of those there are"),
        ("9", "There is no 9 here; type a number from 1 to 3."),
        ("pro", "could be several of these"),
        ("\x1b[31mpro_9", "is not one of those there are"),
    ],
)
def test_a_captain_names_one_of_those_who_may_speak(typed: str, sentence: str) -> None:
    row = form_from_schema(DirectionSpec(("pro_1", "pro_2", "pro_4")).schema).fields[0]
    assert isinstance(row, ChoiceField)
    with pytest.raises(ValueError, match=r".") as refused:
        row.read(typed)
    assert sentence in str(refused.value)
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(("typed", "chosen"), [("3", "pro_4"), ("PRO_2", "pro_2"), (" pro 1 ", "pro_1")])
def test_a_choice_is_a_number_or_the_word_itself(typed: str, chosen: str) -> None:
    row = form_from_schema(DirectionSpec(("pro_1", "pro_2", "pro_4")).schema).fields[0]
    assert isinstance(row, ChoiceField)
    assert row.read(typed) == chosen


@pytest.mark.parametrize("typed", ["", "x", "0", "11", "5.0", "1e1", "٣"])
def test_a_number_out_of_bounds_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="no whole number from 1 to 10"):
        NumberField("logic", "", 1, 10).read(typed)


# --- drafts ------------------------------------------------------------------------------------------------------


def test_draft_kept_for_its_turn_alone_and_nobody_else_may_read(tmp_path: Path) -> None:
    """A draft is kept for its turn alone and nobody else may read it."""
    book = DraftBook(tmp_path / "drafts")
    assert book.read("abc", "opening/pro_1") == {}
    assert book.keep("abc", "opening/pro_1", {"done": {}, "writing": "half a sentence \ud800"})
    assert book.read("abc", "opening/pro_1")["writing"] == "half a sentence \ud800"
    assert book.read("abc", "opening/pro_2") == {}
    (file,) = [row for row in tmp_path.rglob("*") if row.is_file()]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert book.paths("abc") == ("opening/pro_1",)
    book.clear("abc")
    assert list((tmp_path / "drafts").iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"content": 3}', "\x00"])
def test_a_broken_draft_is_no_draft(tmp_path: Path, text: str) -> None:
    book = DraftBook(tmp_path)
    book.keep("abc", "p", {"done": {}})
    (file,) = tmp_path.rglob("*.json")
    file.write_text(text, "utf-8")
    assert book.read("abc", "p") == {}


def test_a_draft_that_cannot_be_kept_is_no_failure_of_the_debate(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    book = DraftBook(tmp_path / "file")
    assert not book.keep("abc", "p", {})
    assert book.read("abc", "p") == {}
    book.clear("abc")
