"""Providers that drip, that never come to an end, and that ask for a rest without one: each call ends in its time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import pytest
from attack_table import Attack
from endless_servers import CHUNKED, CLOSE, EVENTS, JSON, OK, Attacker, Script, serving
from rooms import Carrier, PatientClock, hold, proposal_of
from test_endless_answers import BEGUN, called, completion, delta

from disputatio.participants.call import Call, Fault, FaultKind, OutputMode, Segment
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote import open_client
from disputatio.participants.turn_taking import LONGEST_ASKED_REST_S

pytestmark = pytest.mark.slow
LIMIT_S = 1.0
SPARE_S = 4.0
"""Seconds that this machine may take beyond the limit of a call."""


def bytewise(*parts: bytes) -> Iterable[bytes]:
    """``parts`` one byte after the other, the last of them for ever."""
    first = b"".join(parts[:-1])
    return (bytes([one]) for one in itertools.chain(first, itertools.cycle(parts[-1])))


WHOLE: dict[str, Script] = {
    "a status line": lambda: bytewise(b"HTTP/1.1 200 ", b"O"),
    "a header": lambda: bytewise(OK, b"X: ", b"a"),
    "headers": lambda: bytewise(OK, b"X-One: a\r\n"),
    "interim responses": lambda: bytewise(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a text": lambda: [OK, JSON, CLOSE, bytewise(BEGUN, b"word ")],
    "a text of a stated length": lambda: [OK, JSON, b"Content-Length: 900000\r\n", CLOSE, bytewise(BEGUN, b"word ")],
    "a text in pieces of HTTP": lambda: [OK, JSON, CHUNKED, CLOSE, bytewise(b"1\r\na\r\n")],
    "blanks after the answer": lambda: [OK, JSON, CLOSE, completion("Well said."), bytewise(b" ")],
    "trailers": lambda: [OK, JSON, CHUNKED, CLOSE, bytewise(b"0\r\n", b"X-One: a\r\n")],
    "an error": lambda: [b"HTTP/1.1 500 No\r\n", JSON, CLOSE, bytewise(b'{"error": "', b"a")],
}
STREAMED: dict[str, Script] = {
    "a stream": lambda: [OK, EVENTS, CLOSE, bytewise(delta(content="word "))],
    "comments": lambda: [OK, EVENTS, CLOSE, bytewise(b": still here\n\n")],
    "empty events": lambda: [OK, EVENTS, CLOSE, bytewise(b"data:\n\n")],
    "reasoning": lambda: [OK, EVENTS, CLOSE, bytewise(delta(reasoning_content="I think "))],
    "a stream that never ends": lambda: [
        OK,
        EVENTS,
        CLOSE,
        delta(content="Well said."),
        delta("stop"),
        bytewise(b": still here\n\n"),
    ],
}


@pytest.mark.parametrize(("way", "streamed"), [("direct", False), ("library", False), ("direct", True)])
async def test_a_provider_that_drips_is_stopped_in_time(attack: Attack, way: str, streamed: bool) -> None:
    """Byte by byte, in the frame of HTTP and in what it carries, a hundred bytes a second."""
    scripts = STREAMED if streamed else WHOLE
    limits = {"pause_s": 0.01, "timeout_s": LIMIT_S, "together": True}
    for name, found in (await called(scripts, way=way, streamed=streamed, **limits)).items():
        attack.figure("longest call", found["seconds"], "s")
        said = found["kind"] == "timed_out" and f"within {LIMIT_S:g} s" in found["message"]
        # An event without data is no answer, which is known before the time is over.
        said = said or (name == "empty events" and found["kind"] == "garbled")
        # What has all its words and only no end may count as an answer.
        whole = name == "a stream that never ends" and found["text"] == "Well said."
        attack.check((said or whole) and found["seconds"] < LIMIT_S + SPARE_S, (name, way, found))


RESTS = ("inf", "-inf", "nan", "-1", "-1e308", "1e308", "1e400", "999999999999", "0x10", "1_0", " ", "9" * 5_000, "١")


def refusing(rest: str, header: str) -> list[bytes]:
    body = b'{"error": {"message": "slow down"}}'
    return [b"HTTP/1.1 429 No\r\n", f"{header}: {rest}\r\n".encode(), JSON, CLOSE, body]


@pytest.mark.parametrize("header", ["Retry-After", "retry-after-ms", "x-ratelimit-reset-tokens"])
async def test_no_asked_rest_is_without_an_end(attack: Attack, header: str) -> None:
    call = Call((Segment("user", "Speak."),), None, "", OutputMode.TEXT, None, 900)
    for rest in RESTS:
        attacker = Attacker(refusing(rest, header))
        async with serving(attacker):
            seating = ModelSeating(provider="openai_compatible", model="any", base_url=f"{attacker.url}/v1")
            model_client = open_client(seating, "sk-test")
            fault = await model_client.call(call)
            await model_client.aclose()
        assert isinstance(fault, Fault)
        attack.check(fault.kind is FaultKind.RATE_LIMITED, (rest, fault))
        wait = fault.retry_after_s
        attack.check(wait is None or (math.isfinite(wait) and wait >= 0), (rest, fault))


async def test_a_debate_rests_no_longer_than_it_may(attack: Attack) -> None:
    """A provider refuses every call of a debate and asks for a rest that no debate has time for."""

    for rest in (None, 0.0, 1e308, 119.9, 120.0, 120.1, -1.0):
        refusal = Fault(FaultKind.RATE_LIMITED, "slow down", retry_after_s=rest)
        clock, carrier = PatientClock(), Carrier(lambda _, fault=refusal: fault)
        _, history, _ = await hold(proposal_of("freeform"), lambda *_, way=carrier: way, clock=clock)
        attack.check(history.closed is not None, rest)
        attack.check(all(0 <= row <= LONGEST_ASKED_REST_S for row in clock.rests), (rest, clock.rests))
        attack.figure("longest rest", max(clock.rests, default=0), "s")
