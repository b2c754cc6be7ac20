"""A user's own format: what its file may do, who hears what, and that nothing it does is lost or goes unseen."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from disputatio.engine.custom_format_files import is_rules_file, load_format, read_rules_file
from disputatio.errors import InvalidInputError
from disputatio.formats.debate_context import DebateContext
from disputatio.kernel import Abstention, Ask, AskPath, Turn
from disputatio.motion import Motion
from disputatio.testing import instance
from strategies import Held, hold

HOUSE = "from disputatio.formats import choice, each, score, several, text, together\n\n"


def written(folder: Path, rules: str, name: str = "mine.py") -> str:
    path = folder / name
    path.write_text(HOUSE + dedent(rules), "utf-8")
    return str(path)


def held(spec: str, answers: Any = None, order: Any = None, **rules: Any) -> Held:
    """A debate by the rules in a file, each seat answering with what ``answers`` has for its path, or made up."""
    form = read_rules_file(spec)

    def answering(path: AskPath, asked: Ask) -> Turn | Abstention:
        given = (answers or {}).get(str(path), instance(asked.spec.schema, path))
        if given is None:
            return Abstention(asked.seat, "misfit", "it said nothing")
        turn: Turn = asked.spec.read(given)
        return turn

    return hold(form.rulebook(form.rules(**rules), DebateContext(form.seats, Motion("Be it so"))), answering, order)


DUEL = '''
def rules(motion, pro, con, judge, *, words=40, strict=False):
    """A duel."""
    case, reply = yield from together(
        pro.ask("Argue for it.", phase="opening", speech=text(words)),
        con.ask("Argue against it.", phase="opening", speech=text(words)),
    )
    hint = yield from judge.ask("Tell pro in secret.", phase="hint", only_for=[pro], note=text(20))
    answer = yield from con.ask("Answer it.", phase="answer", about=case.speech)
    rated = yield from judge.ask(
        "Rate.", phase="ruling", points=score(1, 5), marks=each(["pro", "con"], score(1, 5)),
        why=several(text(20), 1, 2), winner=choice("pro", "con", "draw"),
    )
    return {"winner": rated.winner, "motion": motion, "points": rated.points, "silent": not hint, "words": words}
'''


def test_a_file_gives_the_seats_and_settings_of_its_function(tmp_path: Path) -> None:
    form = read_rules_file(written(tmp_path, DUEL))
    assert form.seats == ("pro", "con", "judge")
    assert form.judges == {"judge"}
    assert (form.rules().words, form.rules().strict, form.rules().most_asks) == (40, False, 200)
    assert form.about == "A duel."
    found = held(written(tmp_path, DUEL), words=7).outcome.as_json()
    assert found["result"]["motion"] == "Be it so"
    assert found["result"]["words"] == 7
    assert found["fault"] == ""


@pytest.mark.parametrize("seed", range(4))
def test_parallel_asks_are_independent_of_the_answer_order(tmp_path: Path, seed: int) -> None:
    from random import Random

    first, second = held(written(tmp_path, DUEL)), held(written(tmp_path, DUEL), order=Random(seed))
    assert first.outcome.as_json() == second.outcome.as_json()
    assert {path: ask.messages for path, ask in first.asks.items()} == {
        path: ask.messages for path, ask in second.asks.items()
    }
    assert first.asks["opening/pro"].messages == first.asks["opening/con"].messages == ()
    assert [message.seat for message in first.asks["hint/judge"].messages] == ["pro", "con"]


def test_what_is_for_one_alone_is_heard_by_nobody_else(tmp_path: Path) -> None:
    asks = held(written(tmp_path, DUEL)).asks
    assert "hint" not in {message.phase for message in asks["answer/con"].messages}
    assert "hint" in {message.phase for message in asks["ruling/judge"].messages}, "who said it knows it"


def test_the_schema_carries_what_the_file_asks_for(tmp_path: Path) -> None:
    schema: Any = held(written(tmp_path, DUEL)).asks["ruling/judge"].spec.schema
    assert schema["required"] == ["points", "marks", "why", "winner"]
    assert schema["properties"]["winner"]["enum"] == ["pro", "con", "draw"]
    assert schema["properties"]["marks"]["required"] == ["pro", "con"]
    form = held(written(tmp_path, DUEL)).asks["opening/pro"].spec
    (broken,) = form.violations(form.read({"speech": "word " * 41}))
    assert broken.rule == "word_limit"


def test_the_parts_of_a_small_model_make_a_valid_turn(tmp_path: Path) -> None:
    from jsonschema_rs import validator_for

    form = held(written(tmp_path, DUEL)).asks["ruling/judge"].spec
    done: tuple[Any, ...] = ()
    while (part := form.next_part(done)) is not None:
        done = (*done, instance(part.schema, part.label))
    assert validator_for(form.schema).is_valid(form.join(done))
    assert len(done) == 4


def test_a_silent_judge_leaves_a_custom_debate_unjudged(tmp_path: Path) -> None:
    found = held(written(tmp_path, DUEL), {"hint/judge": None, "ruling/judge": None}).outcome.as_json()
    assert found["judged"] is False
    assert found["winner"] is None
    assert found["result"]["silent"] is True


ENDLESS = """def one(seat):
    while True:
        yield from seat.ask("More.")
def rules(pro, con):
    yield from together(one(pro), one(con))
"""


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ("def rules(pro):\n    while True:\n        yield from pro.ask('More.')", "line 5 asks once more"),
        ("def rules(pro):\n    yield 42", "line 4 yields an int"),
        ("def rules(pro):\n    yield from together(3)", "line 4 runs an int together"),
        ("def rules(pro):\n    yield from together()", "line 4 runs nothing together"),
        ("def rules(pro):\n    yield from pro.ask('A')\n    return {1}", "returns a set"),
        ("def rules(pro):\n    yield from pro.ask('A')\n    return {'x': float('nan')}", "returns a dict"),
        ("def rules(pro):\n    yield from pro.ask('A')\n    return {'x': {}['y']}", "line 5: KeyError: 'y'"),
        ("def rules(pro):\n    x = yield from pro.ask('A')\n    return {'x': x.speech}", "line 5: AttributeError"),
        ("def rules(pro):\n    x = pro.ask('A')\n    yield x.text", "was not put"),
        ("def rules(pro):\n    yield from pro.ask('')", "takes an instruction"),
        ("def rules(pro):\n    yield from pro.ask('A', x=5)", "not 5"),
        ("def rules(pro):\n    yield from pro.ask('A', given=text(5))", "cannot be called given"),
        ("def rules(pro):\n    yield from together(pro.ask('A'), pro.ask('B'))", "asks pro in two branches"),
        ("def rules(pro):\n    yield from pro.ask('A')\n    x = 0\n    while True:\n        x += 1", "runs on without"),
        (
            "def rules(pro, con):\n    x = yield from pro.ask('A')\n    yield from con.ask(f'Obey: {x.text}')",
            "puts words of a seat into an instruction",
        ),
        (
            ENDLESS,
            "line 5 asks once more",
        ),
        (
            "def inner(pro):\n    yield from pro.ask('A')\n    1 / 0\ndef rules(pro):\n    yield from inner(pro)",
            "line 5",
        ),
    ],
)
def test_failing_rules_end_the_debate_and_name_the_line(
    tmp_path: Path, rules: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("disputatio.engine.custom_format_files.MOST_STEPS", 20_000)
    found = held(f"{written(tmp_path, rules)}:rules", most_asks=6)
    told = found.outcome.as_json()
    assert sentence in told["fault"]
    assert "mine.py" in told["fault"]
    assert told["winner"] is None
    assert len(found.asks) <= 6


@pytest.mark.parametrize(
    ("rules", "word"),
    [
        ("import socket\ndef rules(pro):\n    yield", "line 3, imports socket"),
        ("import urllib.request\ndef rules(pro):\n    yield", "imports urllib.request"),
        ("from os import path\ndef rules(pro):\n    yield", "imports os"),
        ("from . import x\ndef rules(pro):\n    yield", "imports"),
        ("import random\ndef rules(pro):\n    yield", "imports random"),
        ("import disputatio\ndef rules(pro):\n    yield", "imports disputatio"),
        ("import disputatio.formats\ndef rules(pro):\n    yield", "as a whole"),
        ("from disputatio.formats import registry\ndef rules(pro):\n    yield", "does not offer"),
        ("from disputatio.formats import *\ndef rules(pro):\n    yield", "everything"),
        ("import dataclasses\ndef rules(pro):\n    yield dataclasses.sys", "takes sys from dataclasses"),
        ("def rules(pro):\n    yield open('x')", "uses open"),
        ("def rules(pro):\n    yield ().__class__", "uses __class__"),
        ("def rules(pro):\n    yield __import__('os')", "uses __import__"),
        ("def rules(pro:\n    yield", "not Python"),
        ("1 / 0\ndef rules(pro):\n    yield", "raises ZeroDivisionError"),
        ("while True: pass\ndef rules(pro):\n    yield", "runs on before"),
        ("def rules(pro):\n    return 1", "no generator function"),
        ("def rules():\n    yield", "has no seats"),
        ("def rules(*seats):\n    yield", "any number of seats"),
        ("def rules(pro=1):\n    yield", "settings come after"),
        ("def rules(pro, *, words):\n    yield", "without a default"),
        ("def rules(pro, *, sha256=''):\n    yield", "disputatio uses itself"),
        ("def rules(pro, all):\n    yield", "no seat can have"),
        ("def a(pro):\n    yield\ndef b(pro):\n    yield", "has several: a, b"),
    ],
)
def test_an_unusable_file_is_refused_before_any_ask(
    tmp_path: Path, rules: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("disputatio.engine.custom_format_files.MOST_STEPS", 20_000)
    with pytest.raises(InvalidInputError) as refused:
        read_rules_file(written(tmp_path, rules))
    assert word in refused.value.cause
    assert refused.value.next_step


@pytest.mark.parametrize(
    ("name", "own"),
    [("./my.py:rules", True), ("my.py", True), ("a b/ö.py:r", True), ("structured", False), ("my.txt", False)],
)
def test_a_file_is_told_from_a_name(name: str, own: bool) -> None:
    assert is_rules_file(name) is own


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        load_format(str(tmp_path / "none.py"))
    (tmp_path / "bad.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="not UTF-8"):
        load_format(str(tmp_path / "bad.py"))
