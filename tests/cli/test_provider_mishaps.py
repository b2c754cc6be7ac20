"""Whatever a provider does, a debate ends with its documented exit code, a sentence and a whole record."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli_commands import CONTROL, Call, Commands, is_clear

from disputatio.testing import FakeProvider, Mishap, MishapFamily, Mishaps, refused_base_url

MOTION = "We should act"
ONCE = ("--set", "seats.all.attempts=1")
HARMLESS = {
    Mishap.SLOW_DRIP,
    Mishap.WRONG_CONTENT_TYPE,
    Mishap.FENCED_JSON,
    Mishap.TRAILING_COMMA,
    Mishap.SINGLE_QUOTES,
    Mishap.PROSE_AROUND_JSON,
    Mishap.DUPLICATED_ANSWER,
    Mishap.ESCAPE_SEQUENCES,
}
"""What is mended, or never was wrong."""
UNSURE = {Mishap.HALF_JSON, Mishap.MALFORMED_JSON}
"""What is mended at times."""
SILENT = {Mishap.HANG, Mishap.STALLED_STREAM}


def expected(mishap: Mishap) -> set[int]:
    if mishap in UNSURE:
        return {0, 4, 5}
    return {0} if mishap in HARMLESS else {5}


def patience(mishap: Mishap) -> tuple[str, ...]:
    return ("--set", f"seats.all.timeout={0.3 if mishap in SILENT else 60}")


def rows(commands: Commands, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(commands.store)) as database:
        return database.execute(query).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("mishap", Mishap)
def test_a_mishap_in_every_call_ends_in_a_sentence(
    call: Call, seated: tuple[str, ...], provider: FakeProvider, mishap: Mishap
) -> None:
    provider.mishaps = Mishaps().always(mishap)
    ended = call("debate", MOTION, *seated, *ONCE, *patience(mishap), "--json")
    assert ended.code in expected(mishap)
    assert not CONTROL.search(ended.said)
    assert "Traceback" not in ended.said
    export = json.loads(ended.out)
    # A mode that the server refused is turned down here, without another request.
    known = sum("said so before" in (row["message"] or "") for row in export["calls"])
    assert len(export["calls"]) - known == provider.arrived.count >= 2
    if ended.code:
        said = ended.err.strip()
        assert said.startswith(("FAILED: no seat took a turn", "DEGRADED: "))
        if mishap.family is not MishapFamily.CONTENT:
            # The address, so that it is clear who failed.
            assert provider.base_url in said
    else:
        assert ended.err == ""
    assert call("verify", export["id"]).code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mishap", "cause"),
    [
        (Mishap.HTTP_401, "does not accept the key (status 401)"),
        (Mishap.HTTP_402, "quota or balance is used up (status 402)"),
        (Mishap.HTTP_404, "does not have this model"),
        (Mishap.HTTP_429, "asks for fewer requests (status 429) and to wait 1 s"),
        (Mishap.HTTP_500, "failed (status 500)"),
        (Mishap.HTTP_502, "(status 502)"),
        (Mishap.HANG, "gave no finished answer within 0.3 s"),
        (Mishap.CUT_STREAM, "closed the connection"),
        (Mishap.GARBAGE_BODY, "the body is not JSON"),
        (Mishap.HTML_PAGE, "the body is not JSON"),
        (Mishap.ERROR_BODY_200, "an error with status 200"),
        (Mishap.EMPTY_CHOICES, "sent something that is not an answer"),
        (Mishap.NULL_CONTENT, "the answer is empty"),
        (Mishap.CUT_AT_LENGTH, "did not fit the form"),
        (Mishap.DEPTH_BOMB, "nested too deeply"),
        (Mishap.PROSE_INSTEAD, "did not fit the form"),
    ],
)
def test_the_cause_is_named_in_people_s_words(
    call: Call, seated: tuple[str, ...], provider: FakeProvider, mishap: Mishap, cause: str
) -> None:
    provider.mishaps = Mishaps().always(mishap)
    ended = call("debate", MOTION, *seated, *ONCE, *patience(mishap), "--plain")
    assert ended.code == 5
    assert cause in " ".join(ended.err.split())
    assert cause in " ".join(ended.out.split())
    assert re.search(r"disputatio resume [0-9a-f]{8}\n", ended.err)


ON_A_TERMINAL = (
    Mishap.CUT_STREAM,
    Mishap.ERROR_IN_STREAM,
    Mishap.STALLED_STREAM,
    Mishap.SLOW_DRIP,
    Mishap.NON_UTF8,
    Mishap.ESCAPE_SEQUENCES,
    Mishap.VERY_LONG_ANSWER,
    Mishap.DEPTH_BOMB,
)
OWN_CODES = re.compile(r"\x1b\[(?:[0-9;]*m|\?25[hl]|2K|[0-9]*[AK])|\r")


@pytest.mark.slow
@pytest.mark.parametrize("mishap", ON_A_TERMINAL)
def test_failing_streams_end_and_move_no_cursor(commands: Commands, provider: FakeProvider, mishap: Mishap) -> None:
    provider.mishaps = Mishaps().always(mishap)
    ended = commands.debate(MOTION, *ONCE, *patience(mishap), terminal=(80, 24))
    assert all(request.body.get("stream") for request in provider.requests), "a terminal is streamed to"
    assert ended.code in expected(mishap)
    assert "Traceback" not in ended.out
    assert not CONTROL.search(OWN_CODES.sub("", ended.out))
    assert ended.out.count("\x1b[?25l") == ended.out.count("\x1b[?25h"), "the cursor is back"
    assert rows(commands, "SELECT count(*) FROM events WHERE kind = 'CallMade'") == [(provider.arrived.count,)]


@pytest.mark.slow
def test_a_mishap_that_passes_costs_an_attempt_and_nothing_else(
    call: Call, seated: tuple[str, ...], provider: FakeProvider
) -> None:
    provider.mishaps = Mishaps().at(1, Mishap.HTTP_429)
    ended = call("debate", MOTION, *seated, "--json")
    assert (ended.code, ended.err) == (0, "")
    assert len(json.loads(ended.out)["calls"]) == provider.arrived.count == 4


@pytest.mark.slow
def test_a_refused_connection_is_told_before_a_debate_begins(call: Call, provider: FakeProvider) -> None:
    with refused_base_url() as address:
        ended = call("debate", MOTION, "--seat", "all=openai_compatible:fake", "--base-url", address)
    assert ended.code == 5
    said = is_clear(ended.err)
    assert "No seat can be used" in said
    assert "the connection was refused" in said
    assert "Nothing was spent" in said
    assert "--seat all=PROVIDER:MODEL" in said
    assert call("list").out.startswith("No debates yet")


@pytest.mark.slow
def test_one_seat_that_cannot_be_reached_is_named(call: Call, provider: FakeProvider) -> None:
    with refused_base_url() as address:
        ended = call(
            "debate",
            MOTION,
            "--seat",
            f"all=openai_compatible:fake at {provider.base_url}",
            "--seat",
            f"judge=openai_compatible:fake at {address}",
        )
    assert ended.code == 5
    said = is_clear(ended.err)
    assert "The seat judge cannot be used" in said
    assert "--seat judge=PROVIDER:MODEL" in said
    assert provider.arrived.count == 0


KEYS = ("sk-right-key-0123456789abcdef", "sk-wrong-key-0123456789abcdef")


@pytest.mark.slow
@pytest.mark.parametrize("key", [None, *KEYS])
def test_a_key_is_used_and_never_shown_or_kept(
    call: Call,
    bare: Path,
    seated: tuple[str, ...],
    provider: FakeProvider,
    monkeypatch: pytest.MonkeyPatch,
    key: str | None,
) -> None:
    provider.api_key = KEYS[0]
    if key is not None:
        monkeypatch.setenv("LLM_PROVIDER", "openai_compatible")
        monkeypatch.setenv("LLM_API_KEY", key)
    debate = call("debate", MOTION, *seated)
    assert debate.code == (0 if key == KEYS[0] else 5)
    if debate.code:
        assert "does not accept the key" in is_clear(debate.err)
    shown = debate.said
    for command in (["doctor", *seated[:4]], ["doctor", *seated[:4], "--json"], ["list", "--json"], ["models"]):
        shown += call(*command).said
    kept = [path for path in bare.parent.rglob("*") if path.is_file()]
    assert kept
    for secret in KEYS:
        assert secret[3:] not in shown
        assert not any(secret[3:].encode() in path.read_bytes() for path in kept)
