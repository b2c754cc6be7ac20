"""A command line that cannot be understood gets one sentence and a next step, and exit code 2."""

from __future__ import annotations

import pytest
from cli_commands import Call, is_clear

pytestmark = pytest.mark.slow

WRONG = {
    "unknown command": (["debat"], "No such command 'debat'. Did you mean 'debate'?", "disputatio --help"),
    "motion without a command": (["Should we act?"], "No such command", 'disputatio debate "MOTION"'),
    "no motion": (["debate"], "Missing argument 'MOTION'", "disputatio debate --help"),
    "motion without quotes": (["debate", "Should", "we", "act"], "unexpected extra argument", "in quotes"),
    "unknown option": (["debate", "x", "--formt", "y"], "no option --formt here. Did you mean --format", "--help"),
    "option without a value": (["debate", "x", "--format"], "'--format' requires an argument", "--help"),
    "no id": (["show"], "Missing argument 'ID'", "disputatio show --help"),
    "unknown view": (
        ["show", "x", "--as", "pdf"],
        "'pdf' is not one of 'text', 'json', 'md'",
        "disputatio show --help",
    ),
    "argument too many": (["list", "x"], "unexpected extra argument(s) (x)", "disputatio list --help"),
    "option of nothing": (["--nonsense"], "no option --nonsense", "disputatio --help"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_command_line_is_told_in_a_sentence(call: Call, case: str) -> None:
    arguments, cause, then = WRONG[case]
    ended = call(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    said = is_clear(ended.err)
    assert cause in said
    assert then in said


def test_echoed_input_is_short_and_clean(call: Call) -> None:
    ended = call("\x1b]0;evil\x07" + "x" * 5_000)
    assert ended.code == 2
    assert len(is_clear(ended.err)) < 500


def test_without_a_command_the_help_is_shown(call: Call) -> None:
    ended = call()
    assert ended.code == 2
    assert "Run a debate on MOTION" in ended.out
    assert ended.err == ""


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["debate", "--help"], ["verify", "-h"], ["--version"]])
def test_help_and_version_are_no_errors(call: Call, arguments: list[str]) -> None:
    ended = call(*arguments)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.strip()


def test_a_misspelled_format_is_guessed(call: Call) -> None:
    ended = call("debate", "x", "--format", "structurd")
    assert ended.code == 2
    assert "Did you mean structured?" in is_clear(ended.err)


SEATS = {
    "misspelled seat": (["jugde=openai:gpt-5"], "no seat 'jugde'", "Did you mean judge?"),
    "misspelled provider": (["all=opneai:gpt-5"], "provider 'opneai'", "Did you mean openai?"),
    "no provider": (["judge"], "does not say who sits where", "SEAT=PROVIDER:MODEL"),
    "nobody": (["judge="], "does not say who sits where", "SEAT=PROVIDER:MODEL"),
    "no address": (["all=openai_compatible:fake"], "has no address of its own", "--base-url"),
    "no model": (["all=openai_compatible", "--base-url", "http://127.0.0.1:1/v1"], "no default model", ":MODEL"),
    "no key": (["all=openai:gpt-5"], "needs a key: set OPENAI_API_KEY", "disputatio doctor"),
    "no such file": (["all=embedded:/nonexistent/model.gguf"], "no model file", "--seat all="),
    "said twice": (["pro=openai:gpt-5", "--seat", "pro=openai:gpt-4"], "given twice", "Give it once"),
}


@pytest.mark.parametrize("case", SEATS)
def test_a_seat_that_cannot_be_filled_is_told_by_name(call: Call, case: str) -> None:
    given, cause, then = SEATS[case]
    ended = call("debate", "We should act", "--seat", *given)
    assert ended.code == (5 if case == "no such file" else 2)
    said = is_clear(ended.err)
    assert cause in said
    assert then in said


@pytest.mark.parametrize(
    "address",
    [
        "nonsense",
        "http://[::1",
        "ftp://host/v1",
        "127.0.0.1:80/v1",
        "http://user:hunter2@host/v1",
        "http://h/v1?key=hunter2",
    ],
)
def test_a_bad_address_is_refused_without_its_password(call: Call, address: str) -> None:
    ended = call("debate", "We should act", "--seat", "all=openai_compatible:fake", "--base-url", address)
    assert ended.code == 2
    assert "--base-url" in is_clear(ended.err)
    assert "hunter2" not in ended.said
