"""Every mishap shows on the wire as it is named, happens when it is told to, and leaves the provider well."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import jsonschema_rs
import pytest
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from disputatio.testing.provider import FakeProvider, Mishap, MishapFamily, Mishaps
from disputatio.testing.provider.answers import Answer
from disputatio.testing.provider.mishap_responses import spoil_text
from disputatio.testing.provider.received import ReceivedRequest

pytestmark = pytest.mark.slow

Body = dict[str, Any]

SCHEMA: Body = {
    "type": "object",
    "properties": {
        "arguments": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"claim": {"type": "string"}, "kind": {"enum": ["refute", "concede"]}},
                "required": ["claim", "kind"],
                "additionalProperties": False,
            },
            "minItems": 2,
        },
        "score": {"type": "integer", "minimum": 1, "maximum": 10},
    },
    "required": ["arguments", "score"],
    "additionalProperties": False,
}
FORMAT: Body = {"type": "json_schema", "json_schema": {"name": "turn", "strict": True, "schema": SCHEMA}}
REQUEST: Body = {
    "model": "m",
    "messages": [{"role": "user", "content": "Should the pilot go on?"}],
    "response_format": FORMAT,
}
OF_FAMILY = {family: [mishap for mishap in Mishap if mishap.family is family] for family in MishapFamily}
BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])


@dataclass
class Seen:
    """What a client saw of one response."""

    status: int
    headers: Body
    body: bytes
    error: Exception | None

    @property
    def events(self) -> list[Any]:
        """The JSON of all events but the closing one."""
        lines = [line for line in self.body.split(b"\n\n") if line.startswith(b"data: {")]
        return [json.loads(line.removeprefix(b"data: ")) for line in lines]

    @property
    def content(self) -> str | None:
        """The answer, from one body or from all events."""
        if self.headers["Content-Type"] != "text/event-stream":
            found: str | None = json.loads(self.body)["choices"][0]["message"]["content"]
            return found
        deltas = [choice["delta"].get("content") for event in self.events for choice in event["choices"]]
        return "".join(delta for delta in deltas if delta)


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened


async def see(session: aiohttp.ClientSession, provider: FakeProvider, *, stream: bool) -> Seen:
    seen = Seen(0, {}, b"", None)
    try:
        async with session.post(f"{provider.base_url}/chat/completions", json=REQUEST | {"stream": stream}) as response:
            seen.status, seen.headers = response.status, dict(response.headers)
            async for piece in response.content.iter_any():
                seen.body += piece
    except aiohttp.ClientError as error:
        seen.error = error
    return seen


STATUSES = {
    Mishap.HTTP_400: (400, None),
    Mishap.HTTP_401: (401, "invalid_api_key"),
    Mishap.HTTP_402: (402, "insufficient_credits"),
    Mishap.HTTP_403: (403, None),
    Mishap.HTTP_404: (404, "model_not_found"),
    Mishap.HTTP_408: (408, None),
    Mishap.HTTP_429: (429, "rate_limit_exceeded"),
    Mishap.HTTP_429_WITHOUT_WAIT: (429, "rate_limit_exceeded"),
    Mishap.HTTP_500: (500, None),
    Mishap.HTTP_503: (503, None),
    Mishap.HTTP_529: (529, None),
    Mishap.QUOTA_EXHAUSTED: (429, "insufficient_quota"),
    Mishap.CONTEXT_TOO_LONG: (400, "context_length_exceeded"),
    Mishap.SCHEMA_REJECTED: (400, "invalid_json_schema"),
    Mishap.MODE_UNSUPPORTED: (400, None),
}


@BOTH_WAYS
@pytest.mark.parametrize("mishap", OF_FAMILY[MishapFamily.STATUS])
async def test_mishap_of_status_is_error_status_with_error_body(
    mishap: Mishap, stream: bool, session: aiohttp.ClientSession
) -> None:
    """A mishap of status is an error status with an error body."""
    async with FakeProvider(mishaps=Mishaps().always(mishap), retry_after="7") as provider:
        seen = await see(session, provider, stream=stream)
    assert seen.headers.get("Retry-After") == ("7" if mishap is Mishap.HTTP_429 else None)
    if mishap is Mishap.HTTP_502:
        assert (seen.status, seen.headers["Content-Type"]) == (502, "text/html")
    else:
        assert (seen.status, json.loads(seen.body)["error"]["code"]) == STATUSES[mishap]


@BOTH_WAYS
@pytest.mark.parametrize("mishap", [Mishap.CONNECTION_RESET, Mishap.CONNECTION_CLOSED])
async def test_a_lost_connection_brings_not_a_byte(
    mishap: Mishap, stream: bool, session: aiohttp.ClientSession
) -> None:
    async with FakeProvider(mishaps=Mishaps().always(mishap)) as provider:
        seen = await see(session, provider, stream=stream)
        await provider.abandoned.reach(1)
    assert (seen.status, seen.body) == (0, b"")
    wanted = aiohttp.ClientOSError if mishap is Mishap.CONNECTION_RESET else aiohttp.ServerDisconnectedError
    assert isinstance(seen.error, wanted)


@BOTH_WAYS
@pytest.mark.parametrize("mishap", [Mishap.TRUNCATED_BODY, Mishap.CUT_STREAM])
async def test_a_cut_answer_begins_well_and_ends_in_an_error(
    mishap: Mishap, stream: bool, session: aiohttp.ClientSession
) -> None:
    async with FakeProvider() as provider:
        whole = await see(session, provider, stream=stream)
        provider.mishaps = Mishaps().always(mishap)
        seen = await see(session, provider, stream=stream)
        await provider.abandoned.reach(1)
    assert seen.status == 200
    assert isinstance(seen.error, aiohttp.ClientPayloadError)
    assert 0 < len(seen.body) < len(whole.body)
    ends_within = not seen.body.endswith(b"\n\n")
    assert ends_within == (not stream or mishap is Mishap.TRUNCATED_BODY)


@BOTH_WAYS
async def test_a_hanging_answer_never_begins(stream: bool, session: aiohttp.ClientSession) -> None:
    async with FakeProvider(mishaps=Mishaps().always(Mishap.HANG)) as provider:
        call = asyncio.create_task(see(session, provider, stream=stream))
        await provider.arrived.reach(1)
        done, _ = await asyncio.wait({call}, timeout=0.05)
        assert not done
    seen = await call
    assert (seen.status, type(seen.error)) == (0, aiohttp.ServerDisconnectedError)


@BOTH_WAYS
async def test_a_stalled_answer_begins_and_never_ends(stream: bool, session: aiohttp.ClientSession) -> None:
    async with FakeProvider(mishaps=Mishaps().always(Mishap.STALLED_STREAM)) as provider:
        call = asyncio.create_task(see(session, provider, stream=stream))
        await provider.arrived.reach(1)
        done, _ = await asyncio.wait({call}, timeout=0.05)
        assert not done
    seen = await call
    assert seen.status == 200
    assert seen.body
    assert isinstance(seen.error, aiohttp.ClientPayloadError)


@BOTH_WAYS
async def test_a_slow_drip_brings_the_whole_answer_in_the_end(stream: bool, session: aiohttp.ClientSession) -> None:
    async with FakeProvider(drip_s=0.002) as provider:
        whole = await see(session, provider, stream=stream)
        provider.mishaps = Mishaps().always(Mishap.SLOW_DRIP)
        loop = asyncio.get_running_loop()
        start = loop.time()
        seen = await see(session, provider, stream=stream)
        assert loop.time() - start >= 0.02
    assert seen.content == whole.content


@BOTH_WAYS
@pytest.mark.parametrize("mishap", OF_FAMILY[MishapFamily.ENVELOPE])
async def test_a_mishap_of_envelope_is_status_200_without_an_answer(
    mishap: Mishap, stream: bool, session: aiohttp.ClientSession
) -> None:
    async with FakeProvider() as provider:
        whole = await see(session, provider, stream=stream)
        provider.mishaps = Mishaps().always(mishap)
        seen = await see(session, provider, stream=stream)
    assert (seen.status, seen.error) == (200, None)
    assert seen.body != whole.body
    expected_type = "text/event-stream" if stream else "application/json"
    is_html = mishap in {Mishap.HTML_PAGE, Mishap.WRONG_CONTENT_TYPE}
    assert seen.headers["Content-Type"] == ("text/html" if is_html else expected_type)
    if mishap in NO_COMPLETION:
        assert not seen.events
        with pytest.raises(ValueError, match=r"codec|Expecting"):
            json.loads(seen.body)
    elif mishap in {Mishap.ERROR_BODY_200, Mishap.ERROR_IN_STREAM}:
        last = seen.events[-1] if stream else json.loads(seen.body)
        assert last["error"]["message"]
    elif mishap is Mishap.EMPTY_CHOICES:
        assert all(each["choices"] == [] for each in (seen.events if stream else [json.loads(seen.body)]))
    elif mishap is Mishap.NON_UTF8:
        with pytest.raises(UnicodeDecodeError):
            seen.body.decode()
    elif mishap is Mishap.WRONG_CONTENT_TYPE:
        assert stream or jsonschema_rs.is_valid(SCHEMA, json.loads(seen.content or ""))
    else:
        assert message_of(seen, stream=stream) == MESSAGES[mishap]


NO_COMPLETION = {Mishap.GARBAGE_BODY, Mishap.EMPTY_BODY, Mishap.HTML_PAGE}
MESSAGES = {
    Mishap.NULL_CONTENT: ("", None, "stop"),
    Mishap.EMPTY_CONTENT: ("", None, "stop"),
    Mishap.BLANK_CONTENT: (" \n\t ", None, "stop"),
    Mishap.REFUSAL: ("", "I cannot help with that.", "stop"),
    Mishap.CONTENT_FILTER: ('{"arguments"', None, "content_filter"),
}
"""Content, refusal and finish reason."""


def message_of(seen: Seen, *, stream: bool) -> tuple[str, str | None, str | None]:
    part = "delta" if stream else "message"
    choices = [choice for event in (seen.events if stream else [json.loads(seen.body)]) for choice in event["choices"]]
    content = "".join(choice[part].get("content") or "" for choice in choices)
    refusal = "".join(choice[part].get("refusal") or "" for choice in choices)
    return content, refusal or None, choices[-1]["finish_reason"]


@BOTH_WAYS
@pytest.mark.parametrize("mishap", OF_FAMILY[MishapFamily.CONTENT])
async def test_mishap_of_content_proper_completion_of_another_answer(
    mishap: Mishap, stream: bool, session: aiohttp.ClientSession
) -> None:
    """A mishap of content is a proper completion of another answer."""
    async with FakeProvider() as provider:
        whole = await see(session, provider, stream=stream)
        provider.mishaps = Mishaps().always(mishap)
        seen = await see(session, provider, stream=stream)
    assert (seen.status, seen.error) == (200, None)
    assert seen.content != whole.content
    finish = message_of(seen, stream=stream)[2]
    assert finish == ("length" if mishap is Mishap.CUT_AT_LENGTH else "stop")


# The answers that are spoiled.


def reason(text: str) -> str:
    """Why ``text`` is no answer under the schema: no JSON, too deep, or the first keyword it breaks."""
    try:
        value = json.loads(text)
    except ValueError:
        return "no JSON"
    except RecursionError:
        return "too deep"
    errors = [str(error.schema_path[-1]) for error in jsonschema_rs.iter_errors(SCHEMA, value)]
    return errors[0] if errors else "none"


REASONS = {
    Mishap.CUT_AT_LENGTH: "no JSON",
    Mishap.HALF_JSON: "no JSON",
    Mishap.MISSING_KEY: "required",
    Mishap.EXTRA_KEY: "additionalProperties",
    Mishap.WRONG_ENUM: "enum",
    Mishap.WRONG_TYPE: "type",
    Mishap.FENCED_JSON: "no JSON",
    Mishap.TRAILING_COMMA: "no JSON",
    Mishap.SINGLE_QUOTES: "no JSON",
    Mishap.PROSE_AROUND_JSON: "no JSON",
    Mishap.PROSE_INSTEAD: "no JSON",
    Mishap.DUPLICATED_ANSWER: "no JSON",
    Mishap.VERY_LONG_ANSWER: "none",
    Mishap.DEPTH_BOMB: "too deep",
    Mishap.ESCAPE_SEQUENCES: "enum",
}
GOOD = json.dumps({"arguments": [{"claim": "A.", "kind": "refute"}, {"claim": "B.", "kind": "concede"}], "score": 7})


@pytest.mark.parametrize("mishap", REASONS)
def test_a_spoiled_answer_is_wrong_in_the_way_it_is_named_for(mishap: Mishap) -> None:
    for seed in range(20):
        assert reason(spoil_text(Answer(GOOD, "m", SCHEMA, seed=seed), mishap)) == REASONS[mishap]


def test_malformed_answers_come_in_many_ways() -> None:
    texts = {spoil_text(Answer(GOOD, "m", SCHEMA, seed=seed), Mishap.MALFORMED_JSON) for seed in range(200)}
    assert len(texts) > 20
    assert GOOD not in texts


@pytest.mark.parametrize("mishap", [Mishap.MISSING_KEY, Mishap.EXTRA_KEY, Mishap.WRONG_ENUM, Mishap.WRONG_TYPE])
def test_misshapen_answer_is_wrong_in_places_change_with_seed(mishap: Mishap) -> None:
    """A misshapen answer is wrong in places that change with the seed."""
    assert len({spoil_text(Answer(GOOD, "m", SCHEMA, seed=seed), mishap) for seed in range(30)}) > 1


def test_control_sequences_stand_in_strings_of_answer_stays_json() -> None:
    """Control sequences stand in strings of an answer that stays json."""
    spoiled = json.loads(spoil_text(Answer(GOOD, "m", SCHEMA), Mishap.ESCAPE_SEQUENCES))
    claim = spoiled["arguments"][0]["claim"]
    assert "\x1b[2J" in claim
    assert "<script>" in claim


@pytest.mark.parametrize(("text", "schema"), [(GOOD, SCHEMA), ("Only prose.", None)], ids=["JSON", "prose"])
def test_very_long_answer_has_more_characters_than_anybody_reads(text: str, schema: Body | None) -> None:
    """A very long answer has more characters than anybody reads."""
    assert len(spoil_text(Answer(text, "m", schema), Mishap.VERY_LONG_ANSWER)) > 300_000


@pytest.mark.parametrize("mishap", [Mishap.MISSING_KEY, Mishap.EXTRA_KEY, Mishap.WRONG_ENUM, Mishap.WRONG_TYPE])
def test_prose_has_no_shape_to_spoil(mishap: Mishap) -> None:
    assert spoil_text(Answer("Only prose.", "m"), mishap) == "Only prose."


# When it happens.


def request(index: int, attempt: int = 0, text: str = "x") -> ReceivedRequest:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return ReceivedRequest(index, attempt, body, {}, f"print of {text}")


def test_a_mishap_by_place_happens_there_and_nowhere_else() -> None:
    mishaps = Mishaps().at(1, Mishap.HTTP_500).at((3, 4), Mishap.HANG)
    assert [mishaps(request(index)) for index in range(6)] == [
        None,
        Mishap.HTTP_500,
        None,
        Mishap.HANG,
        Mishap.HANG,
        None,
    ]


def test_the_first_rule_that_fits_decides() -> None:
    mishaps = Mishaps().at(0, Mishap.HTTP_500).when(lambda each: each.prompt == "x", Mishap.HANG)
    assert mishaps(request(0)) is Mishap.HTTP_500
    assert mishaps(request(1)) is Mishap.HANG
    assert mishaps(request(1, text="y")) is None


def test_adding_a_rule_leaves_the_old_rules_alone() -> None:
    old = Mishaps()
    old.always(Mishap.HANG)
    assert old(request(0)) is None


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 1.0])
def test_mishaps_at_random_meet_their_share_of_the_attempts(probability: float) -> None:
    mishaps = Mishaps().at_random(probability, Mishap.HTTP_500, Mishap.HANG, seed=3)
    met = [mishaps(request(n, text=f"{n}")) for n in range(2000)]
    share = sum(mishap is not None for mishap in met) / 2000
    # Four standard deviations of a fair draw; both ends are exact.
    assert abs(share - probability) <= 4 * (probability * (1 - probability) / 2000) ** 0.5
    if probability > 0:
        assert set(met) - {None} == {Mishap.HTTP_500, Mishap.HANG}


def test_mishaps_at_random_do_not_depend_on_the_order_of_arrival() -> None:
    mishaps = Mishaps().at_random(0.5, Mishap.HTTP_500)
    assert [mishaps(request(0, text=f"{n}")) for n in range(50)] == [
        mishaps(request(50 - n, text=f"{n}")) for n in range(50)
    ]


async def test_mishap_on_first_attempts_passes_when_request_made_again(
    session: aiohttp.ClientSession,
) -> None:
    """A mishap on first attempts passes when the request is made again."""
    async with FakeProvider(mishaps=Mishaps().first_attempts(2, Mishap.HTTP_503)) as provider:
        statuses = [(await see(session, provider, stream=False)).status for _ in range(3)]
    assert statuses == [503, 503, 200]


# What is left after it.


@pytest.fixture(scope="module", autouse=True)
def _loaded_client() -> None:
    """The client loads most of itself at its first use, which is no part of what any test here times."""
    _ = AsyncOpenAI(api_key="any").chat.completions


ENDLESS = {Mishap.HANG, Mishap.STALLED_STREAM}
HARMLESS = {Mishap.SLOW_DRIP, Mishap.WRONG_CONTENT_TYPE}
"""What the openai client reads as if nothing had happened."""


@BOTH_WAYS
@pytest.mark.parametrize("mishap", Mishap)
async def test_after_a_mishap_the_openai_client_is_served_as_before(mishap: Mishap, stream: bool) -> None:
    # Loading certificates takes 50 ms a client, and the address is no https one.
    plain = DefaultAsyncHttpxClient(verify=False)
    async with (
        FakeProvider(mishaps=Mishaps().at(0, mishap), drip_s=0.001) as provider,
        AsyncOpenAI(base_url=provider.base_url, api_key="any", max_retries=0, http_client=plain) as client,
    ):

        async def answer(client: Any) -> str:
            if not stream:
                plain = await client.chat.completions.create(**REQUEST)
                return str(plain.choices[0].message.content)
            chunks = await client.chat.completions.create(**REQUEST, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks])

        met: str | Exception
        try:
            met = await answer(client.with_options(timeout=0.1) if mishap in ENDLESS else client)
        except Exception as error:  # noqa: BLE001 - whatever the client makes of it; the provider is under test
            met = error
        right = await answer(client)
    assert jsonschema_rs.is_valid(SCHEMA, json.loads(right))
    assert (met == right) == (mishap in HARMLESS)
