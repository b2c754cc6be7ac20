"""Seats that call no model keep the same rules, and a recording says again what was said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from disputatio.formats.registry import FORMATS
from disputatio.formats.turns.monologue import MonologueSpec
from disputatio.kernel import Abstention, Ask, AskPath, Limits, Phase, Seat, Task, Turn
from disputatio.participants.scripted import Scripted, recording
from disputatio.participants.turn_taking import TurnResult
from disputatio.record.events import Abstained, TurnTaken
from disputatio.record.history import History
from strategies import Answers, Debate, debates, examples, hold
from turns_driven import CHECKS, drive, rejections

pytestmark = pytest.mark.slow

PATH = AskPath("round-1/pro")
GOOD: Any = {"speech": "It is so, and for a reason."}
LONG: Any = {"speech": "word " * 20}
LONGER: Any = {"speech": "word " * 30}
BAD: Any = {"speech": 7}
TELLS_WHY = frozenset({"competition", "market", "panel"})
"""Formats whose outcome says why a seat was silent; a recording says that it holds no turn there."""
ABSTAINS = Abstention(Seat("pro"), "left", "gone home")


def speech_ask(**limits: Any) -> Ask:
    return Ask(Seat("pro"), Phase("round-1"), MonologueSpec(10), Task("monologue"), limits=Limits(**limits))


def played(*answers: Any, **limits: Any) -> tuple[TurnResult | Abstention, list[tuple[str, ...]], list[Any]]:
    """The result of a script that gives these answers, with the reasons it was told and the orders it caused."""
    waiting, told = iter(answers), []

    def script(ask: Ask, path: AskPath, reasons: tuple[str, ...]) -> Any:
        assert path == PATH
        told.append(reasons)
        return next(waiting)

    result, orders = drive(Scripted(script).take(PATH, speech_ask(**limits), CHECKS))
    return result, told, orders


@pytest.mark.parametrize("good", [GOOD, json.dumps(GOOD), "```json\n" + json.dumps(GOOD) + "\n```"])
def test_an_object_or_a_text_is_taken(good: Any) -> None:
    result, told, orders = played(good)
    assert isinstance(result, TurnResult)
    assert result.content == GOOD
    assert result.asked == 1
    assert result.repaired == (isinstance(good, str) and good.startswith("`"))
    assert (told, orders) == ([()], [])


@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
def test_misshapen_answer_asked_again_with_reasons_and_then_seat(wrong: int) -> None:
    """A misshapen answer is asked again with the reasons and then the seat abstains."""
    result, told, orders = played(*[BAD] * wrong, GOOD, shape_asks=2)
    assert [bool(reasons) for reasons in told] == [False] + [True] * min(wrong, 2)
    assert [row.because for row in rejections(orders)] == ["shape"] * min(wrong, 2)
    if wrong <= 2:
        assert isinstance(result, TurnResult)
        assert result.asked == wrong + 1
    else:
        assert isinstance(result, Abstention)
        assert result.reason == "misfit"
        assert "3 answers did not fit the form" in result.detail


@pytest.mark.parametrize(
    ("answers", "kept", "asked"),
    [
        ((LONG, GOOD), GOOD, 2),
        ((LONG, LONGER), LONGER, 2),
        ((LONG, ABSTAINS), LONG, 2),
        ((LONG, BAD, BAD, BAD), LONG, 4),
        ((LONG, BAD, GOOD), GOOD, 3),
        ((BAD, LONG, GOOD), GOOD, 3),
    ],
)
def test_broken_rule_asked_again_once_and_better_answer_counts(answers: tuple[Any, ...], kept: Any, asked: int) -> None:
    """A broken rule is asked again once and the better answer counts."""
    result, _, orders = played(*answers)
    assert isinstance(result, TurnResult)
    assert result.content == {"speech": kept["speech"].strip()}
    assert result.asked == asked
    assert [row.because for row in rejections(orders)].count("rule") == 1
    assert bool(result.violations) == (kept is not GOOD)


def test_without_rule_asks_a_broken_rule_is_accepted_at_once() -> None:
    result, told, _ = played(LONG, rule_asks=0)
    assert isinstance(result, TurnResult)
    assert [row.rule for row in result.violations] == ["word_limit"]
    assert len(told) == 1


def test_an_abstention_is_passed_on() -> None:
    assert played(ABSTAINS)[0] == ABSTAINS


def history_of(debate: Debate) -> History:
    """The history of a debate that was held, as its record tells it."""
    held = debate.held()
    history = History()
    for path, asked in held.asks.items():
        content = debate.answers.content(path, asked)
        names = {"path": path, "seat": asked.seat, "phase": asked.phase}
        if content is None:
            history.add(Abstained(**names, reason="drawn", detail=""))
        else:
            history.add(TurnTaken(**names, form=asked.spec.name, content=content))
    return history


@examples(12)
@given(debates())
def test_recording_says_again_what_said_and_debate_comes_out(debate: Debate) -> None:
    """A recording says again what was said and the debate comes out the same."""
    seat = recording(history_of(debate), "d1")

    def answering(path: AskPath, asked: Ask) -> Turn | Abstention:
        result, _ = drive(seat.take(path, asked, CHECKS))
        return result.turn if isinstance(result, TurnResult) else result

    again, held = hold(debate.rulebook(), answering), debate.held()
    silent = any(isinstance(row, Abstention) for row in held.answers.values())
    if not (silent and debate.format in TELLS_WHY):
        assert again.outcome.as_json() == held.outcome.as_json()
    assert {path: row for path, row in again.answers.items() if not isinstance(row, Abstention)} == {
        path: row for path, row in held.answers.items() if not isinstance(row, Abstention)
    }


def test_recording_without_turn_at_path_abstains_and_says_why() -> None:
    """A recording without a turn at a path abstains and says why."""
    result, _ = drive(recording(History(), "d1").take(PATH, speech_ask(), CHECKS))
    assert result == Abstention(Seat("pro"), "not_recorded", f"the recording has no turn at {PATH}")


def test_a_recording_that_does_not_fit_now_abstains() -> None:
    debate = Debate("structured", FORMATS["structured"].rules(), Answers("old"))
    seat = recording(history_of(debate), "d1")
    other = Debate("structured", FORMATS["structured"].rules(maximum_arguments=9, minimum_arguments=9), Answers("new"))
    asked = other.held().asks[AskPath("opening/pro")]
    result, _ = drive(seat.take(AskPath("opening/pro"), asked, CHECKS))
    assert isinstance(result, Abstention)
    assert result.reason == "misfit"


def test_the_record_names_who_sits_there_and_nothing_else() -> None:
    assert Scripted(lambda *_: GOOD, "a script").as_json() == {"kind": "scripted", "name": "a script"}
