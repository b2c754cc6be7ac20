"""What providers' refusals mean, and what of their words is fit to be shown."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.participants.call import FaultKind, OutputMode
from disputatio.participants.remote.error_details import LONGEST, codes_in, message_in, one_line
from disputatio.participants.remote.rejection import Rejection

K = FaultKind
NATIVE, TOOL, TEXT = OutputMode.NATIVE, OutputMode.TOOL, OutputMode.TEXT


def read(status: int | None, body: object, mode: OutputMode = NATIVE, *, zhipu: bool = False) -> FaultKind:
    return Rejection(status, codes_in(body), message_in(body), zhipu=zhipu).kind(mode)


def openai(message: str, code: object = None, kind: str | None = "invalid_request_error") -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


# As the services send them; who says it in which words is the point of the table.
BODIES = [
    # OpenAI
    (429, openai("You exceeded your current quota, please check your plan.", "insufficient_quota"), K.QUOTA_EXHAUSTED),
    (429, openai("Rate limit reached for gpt-5 on tokens per min (TPM)", "rate_limit_exceeded"), K.RATE_LIMITED),
    (403, openai("Project does not have access to model gpt-5", "model_not_found"), K.NO_SUCH_MODEL),
    (400, openai("Invalid schema for response_format 'x': 'required' is required"), K.SCHEMA_UNSUPPORTED),
    (400, openai("Invalid prompt: flagged as potentially violating our usage policy", "invalid_prompt"), K.REFUSED),
    (400, openai("max_tokens is too large: 99999. This model supports at most 16384 completion tokens"), K.BAD_REQUEST),
    # Azure
    (400, openai("The response was filtered by our content management policy", "content_filter"), K.REFUSED),
    # DeepSeek
    (402, openai("Insufficient Balance", kind="unknown_error"), K.QUOTA_EXHAUSTED),
    (400, openai("Model Not Exist"), K.NO_SUCH_MODEL),
    (400, openai("This response_format type is unavailable now"), K.SCHEMA_UNSUPPORTED),
    (400, openai("Content Exists Risk"), K.REFUSED),
    # OpenRouter
    (402, {"error": {"code": 402, "message": "Insufficient credits. Add more using https://..."}}, K.QUOTA_EXHAUSTED),
    (
        404,
        {"error": {"code": 404, "message": "No endpoints found that can handle the requested parameters."}},
        K.SCHEMA_UNSUPPORTED,
    ),
    (404, {"error": {"code": 404, "message": "No endpoints found for a/b."}}, K.NO_SUCH_MODEL),
    (403, {"error": {"code": 403, "message": "a/b requires moderation on X. Your input was flagged for Y"}}, K.REFUSED),
    (400, {"error": {"code": 400, "message": "a/b is not a valid model ID"}}, K.NO_SUCH_MODEL),
    # Groq
    (400, openai("Failed to generate JSON. Please adjust your prompt.", "json_validate_failed"), K.GARBLED),
    (400, openai("This model does not support response format `json_schema`."), K.SCHEMA_UNSUPPORTED),
    (413, openai("Request Entity Too Large", "request_too_large"), K.CONTEXT_TOO_LONG),
    (400, openai("Please reduce the length of the messages or completion."), K.CONTEXT_TOO_LONG),
    # Anthropic
    (
        400,
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"},
        },
        K.CONTEXT_TOO_LONG,
    ),
    (
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}},
        K.QUOTA_EXHAUSTED,
    ),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, K.SERVER_ERROR),
    # Mistral
    (400, {"object": "error", "message": "Invalid model: x", "type": "invalid_model", "code": "1500"}, K.NO_SUCH_MODEL),
    (
        400,
        {"object": "error", "message": "too large for model with 32768 maximum context length", "code": "3051"},
        K.CONTEXT_TOO_LONG,
    ),
    (401, {"detail": "Unauthorized"}, K.KEY_REJECTED),
    # Gemini
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "The input token count (9) exceeds the maximum number of tokens allowed (8).",
                "status": "INVALID_ARGUMENT",
            }
        },
        K.CONTEXT_TOO_LONG,
    ),
    (
        404,
        {"error": {"code": 404, "message": "models/x is not found for API version v1beta", "status": "NOT_FOUND"}},
        K.NO_SUCH_MODEL,
    ),
    # llama.cpp
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
            }
        },
        K.CONTEXT_TOO_LONG,
    ),
    (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, K.SERVER_ERROR),
    (
        400,
        {"error": {"code": 400, "message": "failed to parse grammar", "type": "invalid_request_error"}},
        K.SCHEMA_UNSUPPORTED,
    ),
    # vLLM
    (
        400,
        {"object": "error", "message": "This model's maximum context length is 4096 tokens. However,", "code": 400},
        K.CONTEXT_TOO_LONG,
    ),
    (
        404,
        {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404},
        K.NO_SUCH_MODEL,
    ),
    # Ollama
    (404, openai("model 'x' not found", kind="not_found_error"), K.NO_SUCH_MODEL),
    # LM Studio
    (
        400,
        {"error": "Trying to keep the first 9 tokens when context the overflows. Context length is 8"},
        K.CONTEXT_TOO_LONG,
    ),
    (404, {"error": {"message": "No models loaded. Please load a model in the developer page."}}, K.NO_SUCH_MODEL),
    (429, {"error": "No models loaded"}, K.NO_SUCH_MODEL),
    # One request over the limit of a minute: waiting does not cure it.
    (
        429,
        openai(
            "Request too large for gpt-5 in organization org-x on tokens per min (TPM): Limit 10000, Requested 12062. "
            "The input or output tokens must be reduced in order to run successfully.",
            "rate_limit_exceeded",
            "tokens",
        ),
        K.CONTEXT_TOO_LONG,
    ),
    # A gate before the provider, and a country that it does not serve
    (
        403,
        openai(
            "Country, region, or territory not supported", "unsupported_country_region_territory", "request_forbidden"
        ),
        K.BAD_REQUEST,
    ),
    (400, {"error": {"code": 400, "message": "User location is not supported for the API use."}}, K.BAD_REQUEST),
    (403, "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>", K.BAD_REQUEST),
    (403, "<html><head><title>Attention Required! | Cloudflare</title></head></html>", K.BAD_REQUEST),
    (403, "error code: 1020", K.BAD_REQUEST),
    (403, openai("Your key may not use this endpoint"), K.KEY_REJECTED),
    # FastAPI servers
    (
        422,
        {
            "detail": [
                {"type": "extra_forbidden", "loc": ["body", "response_format"], "msg": "response_format: Extra inputs"}
            ]
        },
        K.SCHEMA_UNSUPPORTED,
    ),
]


@pytest.mark.parametrize(("status", "body", "kind"), BODIES)
def test_a_body_is_read_as_its_provider_means_it(status: int, body: object, kind: FaultKind) -> None:
    assert read(status, body) is kind


ZHIPU = [
    (429, {"error": {"code": "1113", "message": "余额不足或无可用资源包,请充值。"}}, K.QUOTA_EXHAUSTED),
    (429, {"error": {"code": "1302", "message": "High concurrency usage of this API"}}, K.RATE_LIMITED),
    (400, {"error": {"code": "1211", "message": "模型不存在，请检查模型代码。"}}, K.NO_SUCH_MODEL),
    (400, {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}}, K.REFUSED),
]


@pytest.mark.parametrize(("status", "body", "kind"), ZHIPU)
def test_zhipus_numbers_are_read_at_zhipu(status: int, body: object, kind: FaultKind) -> None:
    assert read(status, body, zhipu=True) is kind


def test_zhipus_numbers_mean_nothing_elsewhere() -> None:
    assert read(429, {"error": {"code": "1113", "message": "wait"}}) is K.RATE_LIMITED


class TestStructure:
    """SCHEMA_UNSUPPORTED makes the caller try a lesser mode, so it is said only where that can help."""

    COMPLAINT = openai("Unknown parameter: 'response_format'.")

    def test_only_a_call_that_asked_for_it_can_be_refused_for_it(self) -> None:
        assert read(400, self.COMPLAINT, NATIVE) is K.SCHEMA_UNSUPPORTED
        assert read(400, self.COMPLAINT, TEXT) is K.BAD_REQUEST
        assert read(400, self.COMPLAINT, OutputMode.PROMPTED) is K.BAD_REQUEST

    def test_tools_are_refused_in_their_own_words(self) -> None:
        for words in (
            "registry/x does not support tools",
            "`tool_choice` must be auto",
            "Function calling is not enabled",
        ):
            assert read(400, openai(words), TOOL) is K.SCHEMA_UNSUPPORTED
        jinja = {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}}
        assert read(500, jinja, TOOL) is K.SCHEMA_UNSUPPORTED

    @pytest.mark.parametrize("status", [401, 402, 403, 429, 500, 503])
    def test_no_other_cause_is_mistaken_for_it(self, status: int) -> None:
        assert read(status, openai("while handling response_format of json_schema"), NATIVE) is not K.SCHEMA_UNSUPPORTED


def test_talk_of_tokens_in_a_rate_limit_is_not_a_long_prompt() -> None:
    words = "Too many tokens, please wait before trying again."
    assert read(429, {"message": words, "code": "ThrottlingException"}) is K.RATE_LIMITED


def test_what_a_debate_is_about_is_not_taken_for_the_cause() -> None:
    """A server that quotes the prompt must not turn a motion about credit into an empty account."""
    assert read(500, openai("cannot answer: 'insufficient funds are no excuse'", kind=None)) is K.SERVER_ERROR


@given(st.one_of(st.none(), st.integers(100, 999)), st.sampled_from(list(OutputMode)), st.text(max_size=40))
def test_every_status_has_a_kind(status: int | None, mode: OutputMode, words: str) -> None:
    assert Rejection(status, frozenset(), words).kind(mode) in FaultKind


@given(st.integers(500, 599), st.sampled_from(list(OutputMode)))
def test_a_failing_server_is_worth_another_try(status: int, mode: OutputMode) -> None:
    assert Rejection(status).kind(mode).worth_retrying


class TestWords:
    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ({"error": {"message": "a"}}, "a"),
            ({"error": "a"}, "a"),
            ({"message": "a", "code": 3}, "a"),
            ({"detail": [{"msg": "a", "loc": ["b"]}]}, "a"),
            ({"Error": {"Message": "a", "Code": "b"}}, "a"),
            ([{"error": {"message": "a"}}], "a"),
            (
                {"error": {"message": "Provider returned error", "metadata": {"raw": '{"error":{"message":"a"}}'}}},
                "Provider returned error: a",
            ),
            ('{"error": {"message": "a"}}', "a"),
            (b'{"error": {"message": "a"}}', "a"),
            ("just words", "just words"),
            ("<!DOCTYPE html><html><title> Bad\n Gateway </title>...", 'a web page titled "Bad Gateway"'),
            ("<html><body>x</body></html>", "a web page"),
            (None, ""),
            ({"error": {"code": 5}}, ""),
            (7, ""),
        ],
    )
    def test_the_sentence_for_people_is_found(self, body: object, words: str) -> None:
        assert message_in(body) == words

    @given(
        st.recursive(
            st.none() | st.text(max_size=5) | st.integers(),
            lambda i: (
                st.lists(i)
                | st.dictionaries(st.sampled_from(["error", "message", "detail", "metadata", "raw", "code", "type"]), i)
            ),
            max_leaves=10,
        )
    )
    def test_any_body_can_be_read(self, body: object) -> None:
        assert isinstance(message_in(body), str)
        assert message_in(json.dumps(body)) is not None
        assert all(code == code.lower() for code in codes_in(body))

    @pytest.mark.parametrize("depth", [20, 400, 900, 100_000])
    @pytest.mark.parametrize(("opening", "closing"), [('{"error":', "}"), ("[", "]"), ('{"code":1,"error":', "}")])
    def test_a_deeply_nested_body_is_no_trap(self, opening: str, closing: str, depth: int) -> None:
        body = f'{opening * depth}"x"{closing * depth}'
        assert isinstance(message_in(body), str)
        assert codes_in(body) <= {"1"}

    def test_a_very_long_number_is_no_trap(self) -> None:
        assert codes_in({"code": 10**5000}) == frozenset()


SECRET = "a7f3" + "k9" * 12


class TestOneLine:
    @given(st.text(max_size=600))
    def test_it_is_one_printable_line_of_bounded_length(self, text: str) -> None:
        line = one_line(text)
        assert len(line) <= LONGEST
        assert line.isprintable()
        assert line == " ".join(line.split())

    @given(st.text(max_size=300), st.text(max_size=300))
    def test_the_key_is_never_in_it(self, before: str, after: str) -> None:
        assert SECRET not in one_line(f"{before}{SECRET}{after}", SECRET)

    @given(
        st.text(alphabet=st.characters(categories=["L", "N", "P", "Zs"]), max_size=LONGEST).map(
            lambda t: " ".join(t.split())
        )
    )
    def test_plain_short_text_is_left_as_it_is(self, text: str) -> None:
        if not any(mark in text for mark in ("-", "_", "AIza", "AKIA", "ASIA", "earer", "://", "key=")):
            assert one_line(text) == text

    @pytest.mark.parametrize(
        "text",
        [
            "Incorrect API key provided: sk-proj-********************abcd.",
            "invalid gsk_abcdefghijklmnop",
            "API key AIzaSyA1234567890 not valid",
            "credential AKIAIOSFODNN7EXAMPLE",
            "Authorization: Bearer eyJhbGciOi.eyJzdWIi",
            "connect to https://ann:hunter22222@host failed",
            "GET /v1/models?key=hunter22222",
        ],
    )
    def test_what_looks_like_a_key_is_masked(self, text: str) -> None:
        line = one_line(text)
        assert "[key]" in line
        for part in ("abcd", "abcdefghijklmnop", "SyA123", "IOSFODNN", "eyJ", "hunter"):
            assert part not in line

    def test_a_placeholder_is_not_hunted_through_the_text(self) -> None:
        assert one_line("the key is wrong", "key") == "the key is wrong"
