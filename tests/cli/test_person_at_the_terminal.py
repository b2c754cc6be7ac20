"""A person takes a seat at a real terminal, or through a pipe: counted, corrected, never lost."""

from __future__ import annotations

import json
import re
import signal
from typing import Any

import pytest
from cli_commands import CONTROL, Commands, Ended, is_clear

from disputatio.record.events import AnswerRejected, DebateInterrupted, DebateOpened, TurnTaken
from disputatio.record.sql import SqlStore

pytestmark = pytest.mark.slow

MOTION = "We should act"
TERMINAL = (80, 24)
KEYS = {"TERM": "xterm-256color"}
SPEECH = "We should act now, because waiting costs more than acting does."
GIVEN = f"{SPEECH}\n.\n".encode()


async def events(commands: Commands) -> list[Any]:
    store = SqlStore(f"sqlite:///{commands.store}", create=False)
    try:
        (row,) = store.debates()
        return [each.event() for each in store.read(row.id)]
    finally:
        await store.aclose()


def speech_of(found: list[Any]) -> str:
    return next(str(row.content["speech"]) for row in found if isinstance(row, TurnTaken) and row.seat == "pro")


def resume_id(ended: Ended) -> str:
    said = re.sub(r"\x1b\[[0-9;]*m", "", ended.said)
    found = re.search(r"disputatio resume ([0-9a-f]{8})", said)
    assert found, said
    return found[1]


async def test_words_are_counted_and_a_lone_dot_submits(commands: Commands) -> None:
    command = commands.start("debate", MOTION, "--human", "pro", *commands.given, terminal=TERMINAL, environment=KEYS)
    command.until_shown(" 0 of ")
    command.type(SPEECH)
    command.until_shown(" 11 of ")
    command.type("\r.\r")
    ended = command.ended()
    assert ended.code == 0
    found = await events(commands)
    assert speech_of(found) == SPEECH
    (opened,) = [row for row in found if isinstance(row, DebateOpened)]
    assert opened.seats["pro"] == {"kind": "person", "name": ""}
    assert ended.raw.rfind(b"\x1b[?25h") > ended.raw.rfind(b"\x1b[?25l"), "the cursor is back"


@pytest.mark.parametrize("leaves", ["Ctrl-C", "a signal"])
async def test_leaving_mid_speech_continues_mid_sentence(commands: Commands, leaves: str) -> None:
    command = commands.start("debate", MOTION, "--human", "pro", *commands.given, terminal=TERMINAL, environment=KEYS)
    command.until_shown(" 0 of ")
    command.type(SPEECH[:30])
    command.until_shown(f" {len(SPEECH[:30].split())} of ")
    if leaves == "Ctrl-C":
        command.type("\x03")
    else:
        command.signal(signal.SIGTERM)
    ended = command.ended()
    assert ended.code == 130
    assert "Traceback" not in ended.said
    debate = resume_id(ended)
    assert any(isinstance(row, DebateInterrupted) for row in await events(commands))
    again = commands.start("resume", debate, terminal=TERMINAL, environment=KEYS)
    again.until_shown(SPEECH[:30])
    again.type(SPEECH[30:] + "\x1b\r")
    assert again.ended().code == 0
    assert speech_of(await events(commands)) == SPEECH
    assert not list(commands.folder.rglob("drafts/*/*")), "what was given is no draft any more"


async def test_a_pipe_gives_a_speech_and_gets_no_control_code(commands: Commands) -> None:
    ended = commands.debate(MOTION, "--human", "pro", typed=GIVEN)
    assert (ended.code, ended.err) == (0, "")
    assert not CONTROL.search(ended.out)
    assert "YOUR TURN  PRO" in ended.out
    assert speech_of(await events(commands)) == SPEECH


async def test_input_that_ends_early_keeps_the_debate(commands: Commands) -> None:
    ended = commands.debate(MOTION, "--human", "pro", typed=b"")
    assert ended.code == 130
    assert "The person in pro left" in ended.err
    resumed = commands.run("resume", resume_id(ended), typed=GIVEN)
    assert (resumed.code, resumed.err) == (0, "")
    assert speech_of(await events(commands)) == SPEECH


async def test_an_empty_speech_is_refused_in_a_sentence_and_on_record(commands: Commands) -> None:
    ended = commands.debate(MOTION, "--human", "pro", typed=b"\n.\n/help\n/nothing\n" + GIVEN)
    assert ended.code == 0
    assert "! Speech is empty; it needs at least 20 characters." in ended.out
    assert "! There is no command /nothing. /help lists the commands." in ended.out
    refused = [row.reasons[0] for row in await events(commands) if isinstance(row, AnswerRejected)]
    assert "Speech is empty; it needs at least 20 characters." in refused


async def test_an_overlong_speech_is_taken_with_its_violation(commands: Commands) -> None:
    long = "word " * 100
    limit = ("--set", "rules.speech_words=10")
    ended = commands.debate(MOTION, "--human", "pro", *limit, typed=f"{long}\n.\n{long}\n.\n".encode())
    assert ended.code == 0
    assert "! 100 of 10 words, 90 over the limit." in ended.out
    assert "It breaks a rule. You can change it once:" in ended.out
    (taken,) = [row for row in await events(commands) if isinstance(row, TurnTaken) and row.seat == "pro"]
    assert [row["rule"] for row in taken.violations] == ["word_limit"]
    assert taken.content["speech"].split() == ["word"] * 100


async def test_who_passes_is_silent(commands: Commands) -> None:
    ended = commands.debate(MOTION, "--human", "pro", typed=b"/pass\n")
    assert ended.code == 4
    assert "the person in this seat passed" in " ".join(ended.out.split())


async def test_a_dumb_terminal_is_asked_by_lines(commands: Commands) -> None:
    command = commands.start(
        "debate", MOTION, "--human", "pro", *commands.given, terminal=TERMINAL, environment={"TERM": "dumb"}
    )
    command.until("End with a line that has a single full stop.")
    command.type(f"{SPEECH}\n.\n")
    command.until("11 of ")
    ended = command.ended()
    assert ended.code == 0
    assert b"\x1b" not in ended.raw
    assert speech_of(await events(commands)) == SPEECH


async def test_json_on_standard_output_is_not_mixed_with_the_questions(commands: Commands) -> None:
    ended = commands.debate(MOTION, "--human", "pro", "--json", typed=GIVEN)
    assert ended.code == 0
    assert json.loads(ended.out)["seats"]["pro"]["kind"] == "person"
    assert "YOUR TURN" in ended.err


def test_a_seat_that_is_not_there_is_named(commands: Commands) -> None:
    ended = commands.debate(MOTION, "--human", "pro_9", typed=b"")
    assert ended.code == 2
    assert "There is no seat 'pro_9' for a person" in is_clear(ended.err)
    ended = commands.debate("-", "--human", "pro", typed=b"We should act\n")
    assert ended.code == 2
    assert "the person in a seat types there" in is_clear(ended.err)


def test_a_motion_with_control_characters_is_shown_without_them(commands: Commands) -> None:
    ended = commands.debate(
        "We should close the centre to cars, \x1b[31mall of it, and soon", "--human", "pro", typed=GIVEN
    )
    assert ended.code == 0
    assert not CONTROL.search(ended.out)
    assert "Motion: We should close the centre to cars, [31mall of it" in ended.out
