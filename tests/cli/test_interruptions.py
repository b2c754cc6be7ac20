"""A debate that is stopped, at any moment and in any way, says how to go on, and nothing of it is lost."""

from __future__ import annotations

import re
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from cli_commands import CONTROL, Command, Commands, Ended

from disputatio.testing import FakeProvider, Mishap, Mishaps

pytestmark = pytest.mark.slow

MOTION = "We should act"
TERMINAL = (80, 24)
WHOLE = 3
"""The calls of the shortest debate: two speeches and a judgement."""


def rows(commands: Commands, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(commands.store)) as database:
        return database.execute(query).fetchall()


def stands(commands: Commands) -> tuple[str, str]:
    """The id and status of the only debate."""
    ((debate, status),) = rows(commands, "SELECT id, status FROM debates")
    return str(debate), str(status)


def check_stopped(commands: Commands, ended: Ended, status: str = "INTERRUPTED") -> str:
    """Assert that it was stopped in good order; returns the debate's id."""
    assert ended.code == 130
    assert "Traceback" not in ended.said
    debate, now = stands(commands)
    assert now == status
    assert f"To continue: disputatio resume {debate}" in re.sub(r"\x1b\[[0-9;]*m", "", ended.said)
    return debate


def check_goes_on(commands: Commands, provider: FakeProvider, debate: str, *, calls: int) -> None:
    """Assert that the printed command, without any other option, ends the debate in so many more calls."""
    before = provider.arrived.count
    provider.release()
    resumed = commands.run("resume", debate)
    assert (resumed.code, resumed.err) == (0, "")
    assert provider.arrived.count - before == calls
    assert stands(commands) == (debate, "COMPLETE")
    assert commands.run("verify", debate).code == 0


def hold_at(provider: FakeProvider, call: int) -> None:
    """Let the answers before this call go, counted from 0, and hold its own."""
    provider.hold()
    provider.release(*range(call))


@pytest.mark.parametrize(
    ("number", "terminal"),
    [(signal.SIGINT, None), (signal.SIGINT, TERMINAL), (signal.SIGTERM, None), (signal.SIGHUP, TERMINAL)],
)
def test_a_signal_mid_call_stops_and_resume_continues(
    commands: Commands, provider: FakeProvider, number: int, terminal: tuple[int, int] | None
) -> None:
    hold_at(provider, 1)
    running = commands.start("debate", MOTION, *commands.given, terminal=terminal)
    provider.arrived.wait(2)
    running.signal(number)
    ended = running.ended()
    debate = check_stopped(commands, ended)
    if terminal is not None:
        assert ended.out.count("\x1b[?25l") == ended.out.count("\x1b[?25h"), "the cursor is back"
    check_goes_on(commands, provider, debate, calls=WHOLE - 1)


def test_ctrl_c_typed_at_the_terminal_does_it_too(commands: Commands, provider: FakeProvider) -> None:
    provider.hold()
    running = commands.start("debate", MOTION, *commands.given, terminal=TERMINAL)
    provider.arrived.wait(1)
    running.type("\x03")
    check_goes_on(commands, provider, check_stopped(commands, running.ended()), calls=WHOLE)


def test_ctrl_c_before_judging_leaves_only_judging(commands: Commands, provider: FakeProvider) -> None:
    hold_at(provider, WHOLE - 1)
    running = commands.start("debate", MOTION, *commands.given)
    provider.arrived.wait(WHOLE)
    running.signal(signal.SIGINT)
    check_goes_on(commands, provider, check_stopped(commands, running.ended()), calls=1)


@pytest.mark.parametrize("times", [2, 4])
def test_impatience_loses_nothing(commands: Commands, provider: FakeProvider, times: int) -> None:
    hold_at(provider, 1)
    running = commands.start("debate", MOTION, *commands.given)
    provider.arrived.wait(2)
    for _ in range(times):
        running.signal(signal.SIGINT)
    ended = running.ended()
    assert ended.code == 130
    assert "Traceback" not in ended.said
    # The third leaves at once, maybe before the record was told; it can be resumed all the same.
    debate, status = stands(commands)
    assert status in {"INTERRUPTED", "RUNNING"}
    check_goes_on(commands, provider, debate, calls=WHOLE - 1)


def test_ctrl_c_between_attempts_does_not_wait(commands: Commands, provider: FakeProvider) -> None:
    provider.retry_after = "100"
    provider.mishaps = Mishaps().at(0, Mishap.HTTP_429)
    running = commands.start("debate", MOTION, *commands.given)
    running.until("a call failed (rate limited)")
    running.signal(signal.SIGINT)
    check_goes_on(commands, provider, check_stopped(commands, running.ended()), calls=WHOLE)


@contextmanager
def silent_server() -> Iterator[tuple[str, socket.socket]]:
    """An address at which connections are taken and never answered."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", listening


def test_ctrl_c_before_the_first_call_says_that_nothing_happened(commands: Commands) -> None:
    with silent_server() as (address, listening):
        running = commands.start("debate", MOTION, "--seat", "all=openai_compatible:fake", "--base-url", address)
        with closing(listening.accept()[0]):
            running.signal(signal.SIGINT)
            ended = running.ended()
    assert ended.code == 130
    assert (ended.out, ended.err) == ("", "Stopped before the debate began. Nothing was recorded or spent.\n")
    assert commands.run("list").out.startswith("No debates yet")


def test_a_process_that_ignores_hangups_goes_on(commands: Commands, provider: FakeProvider) -> None:
    provider.hold()
    running = commands.start("debate", MOTION, *commands.given, ignored=[signal.SIGHUP])
    provider.arrived.wait(1)
    running.signal(signal.SIGHUP)
    provider.release()
    assert running.ended().code == 0


def test_a_window_that_is_closed_stops_the_debate(commands: Commands, provider: FakeProvider) -> None:
    hold_at(provider, 1)
    running = commands.start("debate", MOTION, *commands.given, terminal=TERMINAL)
    provider.arrived.wait(2)
    running.until("ROUND 1")
    running.leave()
    assert running.ended().code == 130
    debate, status = stands(commands)
    assert status == "INTERRUPTED"
    check_goes_on(commands, provider, debate, calls=WHOLE - 1)


def test_a_reader_that_leaves_stops_the_debate(commands: Commands, provider: FakeProvider) -> None:
    hold_at(provider, 1)
    running = commands.start("debate", MOTION, *commands.given)
    running.until("Motion")
    provider.arrived.wait(2)
    running.leave()
    provider.release()
    ended = running.ended()
    assert "its reader closed the pipe" in ended.err
    debate = check_stopped(commands, ended)
    check_goes_on(commands, provider, debate, calls=WHOLE - provider.answered.count)


def test_a_killed_debate_explains_the_call_in_flight(commands: Commands, provider: FakeProvider) -> None:
    hold_at(provider, 1)
    running = commands.start("debate", MOTION, *commands.given)
    provider.arrived.wait(2)
    running.signal(signal.SIGKILL)
    assert running.ended().code == -signal.SIGKILL
    debate, status = stands(commands)
    assert status == "RUNNING"
    provider.release()
    resumed = commands.run("resume", debate)
    assert (resumed.code, resumed.err) == (0, "")
    assert "1 turn already taken" in resumed.out
    assert "a call was under way when the debate stopped" in " ".join(resumed.out.split())
    assert provider.arrived.count == WHOLE + 1
    assert commands.run("verify", debate).code == 0


def test_of_two_resumes_one_is_refused_and_nothing_is_lost(commands: Commands, provider: FakeProvider) -> None:
    provider.hold()
    running = commands.start("debate", MOTION, *commands.given)
    provider.arrived.wait(1)
    running.signal(signal.SIGKILL)
    running.ended()
    debate, _ = stands(commands)
    both: list[Command] = [commands.start("resume", debate) for _ in range(2)]
    provider.arrived.wait(2)
    provider.release()
    ended = sorted((each.ended() for each in both), key=lambda each: each.code)
    assert stands(commands) == (debate, "COMPLETE")
    assert commands.run("verify", debate).code == 0
    assert ended[0].code == 0
    if ended[1].code:
        assert ended[1].code == 7
        assert f"The debate {debate} is being held by another process" in ended[1].err
        assert f"disputatio show {debate}" in ended[1].err
    else:
        # It came when the other had ended already.
        assert f"The debate {debate} is over" in ended[1].err
    assert provider.arrived.count == 1 + WHOLE


def test_a_debate_that_is_being_held_is_not_taken_over(commands: Commands, provider: FakeProvider) -> None:
    provider.hold()
    running = commands.start("debate", MOTION, *commands.given)
    provider.arrived.wait(1)
    debate, _ = stands(commands)
    before = rows(commands, "SELECT count(*) FROM events")
    refused = commands.run("resume", debate)
    assert refused.code == 7
    assert f"The debate {debate} is being held by another process" in refused.err
    assert rows(commands, "SELECT count(*) FROM events") == before
    provider.release()
    assert running.ended().code == 0
    assert provider.arrived.count == WHOLE


def test_final_output_has_no_control_characters(commands: Commands, provider: FakeProvider) -> None:
    provider.hold()
    running = commands.start("debate", MOTION, *commands.given, "--plain", terminal=TERMINAL)
    provider.arrived.wait(1)
    running.signal(signal.SIGINT)
    ended = running.ended()
    assert not CONTROL.search(re.sub(r"\x1b\[[0-9;]*m", "", ended.out.replace("\r\n", "\n")))
