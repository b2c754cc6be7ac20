"""What the gateway makes of answers."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remote_server import a_call, answer, chunk, completion, opened, serving, stream, tool_call

from disputatio.participants.call import Fault, FaultKind, ModelClient, OutputMode, Reply, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote import RemoteClient, open_client
from disputatio.participants.remote.response import TAGS

ANSWER = '{"score": 3, "why": "so", "pick": "pro"}'

pytestmark = pytest.mark.usefixtures("warm_libraries")


async def asked(body: object, mode: OutputMode = OutputMode.NATIVE) -> Reply | Fault:
    async with serving(answer(body)) as server, opened(server.seat()) as model_client:
        return await model_client.call(a_call(mode))


async def streamed(events: list[object], mode: OutputMode = OutputMode.NATIVE) -> tuple[Reply | Fault, list[str]]:
    heard: list[str] = []
    async with serving(stream(events)) as server, opened(server.seat()) as model_client:
        return await model_client.call(a_call(mode), on_text=heard.append), heard


async def replied(body: object, mode: OutputMode = OutputMode.NATIVE) -> Reply:
    reply = await asked(body, mode)
    assert isinstance(reply, Reply), reply
    return reply


async def test_a_reply_holds_text_served_model_usage_and_finish() -> None:
    assert await replied(completion('{"score": 3}')) == Reply(
        text='{"score": 3}', served_model="served-model", usage=Usage(12, 5, None), finish="stop"
    )


async def test_in_tool_mode_text_is_tools_argument_as_it_was_written() -> None:
    """In tool mode the text is the tools argument as it was written."""
    written = '{ "score":3,  "why": "\\u00e4" }'
    reply = await replied(completion(None, message=tool_call(written), finish_reason="tool_calls"), OutputMode.TOOL)
    assert (reply.text, reply.finish) == (written, "stop")


async def test_model_answers_in_words_instead_of_calling_tool_is_heard() -> None:
    """A model that answers in words instead of calling the tool is heard."""
    assert (await replied(completion('{"score": 3}'), OutputMode.TOOL)).text == '{"score": 3}'


async def test_an_answer_cut_at_the_limit_is_a_reply_that_says_so() -> None:
    assert (await replied(completion('{"sco', finish_reason="length"))).finish == "length"
    empty = await replied(completion(None, finish_reason="length"))
    assert (empty.text, empty.finish) == ("", "length")


@pytest.mark.parametrize(("raw", "finish"), [("eos", "eos"), (None, "stop"), ("tool_calls", "stop"), ("stop", "stop")])
async def test_finish_is_the_providers_word_where_it_is_another(raw: str | None, finish: str) -> None:
    assert (await replied(completion("{}", finish_reason=raw))).finish == finish


class TestUsage:
    """Missing is not zero."""

    @pytest.mark.parametrize(
        ("usage", "expected"),
        [
            (None, Usage(None, None, None)),
            ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage(0, 0, None)),
            ({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}, Usage(9, 4, None)),
            (
                {
                    "prompt_tokens": 9,
                    "completion_tokens": 4,
                    "total_tokens": 13,
                    "prompt_tokens_details": {"cached_tokens": 0},
                },
                Usage(9, 4, 0),
            ),
            (
                {
                    "prompt_tokens": 9,
                    "completion_tokens": 4,
                    "total_tokens": 13,
                    "prompt_tokens_details": {"cached_tokens": 8},
                },
                Usage(9, 4, 8),
            ),
            (
                {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13, "prompt_cache_hit_tokens": 6},
                Usage(9, 4, 6),
            ),
            (
                {
                    "prompt_tokens": 9,
                    "completion_tokens": 400,
                    "total_tokens": 409,
                    "completion_tokens_details": {"reasoning_tokens": 380},
                },
                Usage(9, 400, reasoning_tokens=380),
            ),
            (
                {
                    "prompt_tokens": 9,
                    "completion_tokens": 4,
                    "total_tokens": 13,
                    "completion_tokens_details": {"reasoning_tokens": 0},
                },
                Usage(9, 4, reasoning_tokens=0),
            ),
            # xAI leaves its reasoning out of the completion, and charges it.
            (
                {
                    "prompt_tokens": 9,
                    "completion_tokens": 4,
                    "total_tokens": 113,
                    "completion_tokens_details": {"reasoning_tokens": 100},
                },
                Usage(9, 104, reasoning_tokens=100),
            ),
        ],
    )
    async def test_it_is_what_the_server_counted(self, usage: dict[str, object] | None, expected: Usage) -> None:
        assert (await replied(completion("{}", usage=usage))).usage == expected
        reply, _ = await streamed([chunk({"content": "{}"}), chunk({}, "stop"), chunk(None, usage=usage)])
        assert isinstance(reply, Reply)
        assert reply.usage == expected

    async def test_a_body_without_the_key_counts_nothing(self) -> None:
        body = completion("{}")
        del body["usage"]
        assert (await replied(body)).usage == Usage()

    async def test_tokens_of_an_answer_that_is_none_are_still_told(self) -> None:
        for body in (completion(None), completion("x", choices=[]), completion("x", finish_reason="content_filter")):
            fault = await asked(body)
            assert isinstance(fault, Fault)
            assert (fault.usage, fault.served_model) == (Usage(12, 5, None), "served-model")


async def test_fields_that_some_servers_leave_out_do_not_cost_answer() -> None:
    """Fields that some servers leave out do not cost the answer."""
    reply = await replied({"choices": [{"message": {"content": "{}"}}]})
    assert reply == Reply(text="{}", served_model=None, usage=Usage(), finish="stop")


async def test_thinking_is_not_part_of_the_answer() -> None:
    thinking = [
        completion("{}", message={"reasoning_content": "Hm."}),
        completion("<think>Hm.</think>\n{}"),
    ]
    for body in thinking:
        assert (await replied(body)).text == "{}"
    reply, heard = await streamed(
        [chunk({"reasoning_content": "Hm."}), chunk({"content": "{"}), chunk({"content": "}"}), chunk({}, "stop")]
    )
    assert isinstance(reply, Reply)
    assert (reply.text, heard) == ("{}", ["{", "}"])


@pytest.mark.parametrize(("opening", "closing"), TAGS)
@pytest.mark.parametrize("opened", [True, False])
async def test_reasoning_in_tags_is_neither_answer_nor_heard(opening: str, closing: str, opened: bool) -> None:
    """Some models' templates open the tag in the prompt, so that only its end is written."""
    thought = f"{opening if opened else ''}Hm, {{so}} it is.{closing}\n\n"
    assert (await replied(completion(thought + ANSWER))).text == ANSWER
    for size in (1, 7, 1000):
        whole = thought + ANSWER
        pieces = [whole[place : place + size] for place in range(0, len(whole), size)]
        reply, heard = await streamed([*(chunk({"content": piece}) for piece in pieces), chunk({}, "stop")])
        assert isinstance(reply, Reply)
        assert reply.text == ANSWER
        if opened:
            assert "".join(heard).strip() == ANSWER


@pytest.mark.parametrize(("opening", "closing"), TAGS)
async def test_who_is_cut_while_reasoning_has_said_nothing(opening: str, closing: str) -> None:
    cut = await replied(completion(f"{opening}Hm, so it", finish_reason="length"))
    assert (cut.text.strip(), cut.finish) == ("", "length")
    reply, heard = await streamed([chunk({"content": f"{opening}Hm, so it"}), chunk({}, "length")])
    assert isinstance(reply, Reply)
    assert (reply.text.strip(), "".join(heard).strip()) == ("", "")
    assert closing not in cut.text


async def test_a_tag_that_an_answer_quotes_stays() -> None:
    quoting = '{"score": 3, "why": "it said </think> and </reasoning>"}'
    assert (await replied(completion(quoting))).text == quoting


class TestStreaming:
    async def test_written_text_arrives_in_pieces_and_adds_up_to_the_reply(self) -> None:
        pieces = ['{"sc', 'ore"', ": 3}"]
        reply, heard = await streamed([*[chunk({"content": piece}) for piece in pieces], chunk({}, "stop")])
        assert isinstance(reply, Reply)
        assert heard == pieces
        assert reply.text == "".join(pieces)
        assert reply.served_model == "served-model"

    async def test_in_tool_mode_the_argument_is_what_is_heard(self) -> None:
        more = {"tool_calls": [{"index": 0, "function": {"arguments": '": 3}'}}]}
        reply, heard = await streamed(
            [chunk(tool_call('{"score')), chunk(more), chunk({}, "tool_calls")], OutputMode.TOOL
        )
        assert isinstance(reply, Reply)
        assert (reply.text, "".join(heard)) == ('{"score": 3}', '{"score": 3}')

    async def test_text_is_passed_on_before_the_answer_is_complete(self) -> None:
        heard = asyncio.Event()

        async def half(request):  # type: ignore[no-untyped-def]
            from aiohttp import web

            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(f"data: {json.dumps(chunk({'content': 'first'}))}\n\n".encode())
            await heard.wait()
            await response.write(f"data: {json.dumps(chunk({}, 'stop'))}\n\ndata: [DONE]\n\n".encode())
            return response

        async with serving(half) as server, opened(server.seat()) as model_client:
            reply = await model_client.call(a_call(OutputMode.TEXT), on_text=lambda _: heard.set())
            assert isinstance(reply, Reply)

    async def test_a_server_that_names_no_model_has_named_none(self) -> None:
        reply, _ = await streamed([chunk({"content": "x"}, model=""), chunk({}, "stop", model="")])
        assert isinstance(reply, Reply)
        assert reply.served_model is None

    async def test_what_the_listener_raises_is_raised(self) -> None:
        """A bug of the caller is not a fault of the provider, and the gateway goes on working."""

        def broken_screen(_: str) -> None:
            raise ZeroDivisionError("the caller's")

        answered = stream([chunk({"content": "x"}), chunk({}, "stop")])
        async with serving(answered) as server, opened(server.seat()) as model_client:
            with pytest.raises(ZeroDivisionError, match="the caller's"):
                await model_client.call(a_call(), on_text=broken_screen)
            assert isinstance(await model_client.call(a_call(), on_text=lambda _: None), Reply)


async def test_cancellation_is_passed_on_and_frees_the_connection() -> None:
    arrived, gone = asyncio.Event(), asyncio.Event()

    async def never(_):  # type: ignore[no-untyped-def]
        arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()

    async with serving(never) as server, opened(server.seat()) as model_client:
        task = asyncio.create_task(model_client.call(a_call()))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await gone.wait()
        server.answers = [answer()]
        assert isinstance(await model_client.call(a_call()), Reply)


class TestGateway:
    def test_it_keeps_to_the_protocol_of_gateways(self) -> None:
        model_client: ModelClient = open_client(ModelSeating(provider="openai", model="gpt-5"), "k")
        assert isinstance(model_client, RemoteClient)

    @pytest.mark.parametrize("provider", ["openai", "openai_compatible", "anthropic", "google", "groq", "bedrock"])
    def test_modes_come_best_first(self, provider: str) -> None:
        model_client = open_client(ModelSeating(provider=provider, model="m"), "k")
        assert model_client.modes == (OutputMode.NATIVE, OutputMode.TOOL, OutputMode.PROMPTED)

    def test_a_fixed_mode_is_the_only_one(self) -> None:
        seating = ModelSeating(provider="openai", model="m", mode=OutputMode.PROMPTED)
        assert open_client(seating, "k").modes == (OutputMode.PROMPTED,)

    async def test_closing_twice_same_as_once_and_later_call_opens_again(self) -> None:
        """Closing twice is the same as once and a later call opens again."""
        async with serving() as server:
            model_client = open_client(server.seat(), None)
            await model_client.aclose()
            assert isinstance(await model_client.call(a_call()), Reply)
            await model_client.aclose()
            await model_client.aclose()
            assert isinstance(await model_client.call(a_call()), Reply)
            await model_client.aclose()

    @pytest.mark.slow
    def test_making_one_imports_no_model_library(self) -> None:
        script = (
            "import sys; from disputatio.participants.remote import open_client;"
            "from disputatio.participants.model_seat import ModelSeating;"
            "open_client(ModelSeating(provider='openai', model='m'), 'k').modes;"
            "print([m for m in ('pydantic_ai', 'openai', 'aiohttp', 'httpx2', 'pydantic') if m in sys.modules])"
        )
        printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
        assert printed.strip() == "[]"

    async def test_a_key_is_in_no_representation(self) -> None:
        model_client = open_client(ModelSeating(provider="openai", model="m"), "sk-very-secret-key")
        assert "secret" not in repr(vars(model_client))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def damaged_completions(draw: st.DrawFn) -> object:
    """A completion with any JSON in the place of one of its parts."""
    body = completion("{}")
    where = draw(
        st.sampled_from(["choices", "usage", "model", "message", "content", "finish_reason", "all", "tool_calls"])
    )
    junk = draw(JSON)
    choice = body["choices"][0]
    match where:
        case "all":
            return junk
        case "choices" | "usage" | "model":
            body[where] = junk
        case "message" | "finish_reason":
            choice[where] = junk
        case _:
            choice["message"][where] = junk
    return body


@given(bodies=st.lists(damaged_completions(), min_size=8, max_size=8))
@pytest.mark.slow
def test_no_body_makes_a_call_raise(bodies: list[object]) -> None:
    """Whatever a server sends with status 200, it is a reply or a fault that can be tried again."""

    async def scenario() -> None:
        async with serving() as server, opened(server.seat()) as model_client:
            for body in bodies:
                server.answers = [answer(json.dumps(body))]
                outcome = await model_client.call(a_call())
                if isinstance(outcome, Fault):
                    assert outcome.kind in {FaultKind.GARBLED, FaultKind.REFUSED}, outcome
                else:
                    assert isinstance(outcome.text, str)

    asyncio.run(scenario())
