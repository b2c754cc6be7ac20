"""Answers that real providers gave, recorded by the tests of pydantic-ai: read by both ways alike, and counted exactly.

They are read from the folder that ``DISPUTATIO_CASSETTES`` names; ``tests/README.md`` says how to get them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

import pytest
from remote_server import KEY, Answer, Server, a_call, answer, serving

from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote import Endpoint, RemoteClient

FOLDER = os.environ.get("DISPUTATIO_CASSETTES", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="DISPUTATIO_CASSETTES names no folder of recorded exchanges"),
    # The recorded models are old, and a body may have what nobody expects.
    pytest.mark.filterwarnings("ignore"),
]
_PLENTY = 1_000_000


@dataclass(frozen=True)
class Exchange:
    """A request that was made and what came back."""

    name: str
    url: str
    asked: Mapping[str, Any]
    status: int
    content_type: str
    body: bytes

    @property
    def is_streamed(self) -> bool:
        return bool(self.asked.get("stream")) or "stream" in urlsplit(self.url).path.rsplit("/", 1)[-1].lower()

    @property
    def data(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The data of a stream of server-sent events."""
        lines = self.body.decode().splitlines()
        rows = [line[5:].strip() for line in lines if line.startswith("data:")]
        return [json.loads(row) for row in rows if row and row != "[DONE]"]

    def answers(self) -> Answer:
        return answer(self.body, self.status, {"Content-Type": self.content_type})


def recorded(pattern: str) -> Iterator[Exchange]:
    """The exchanges whose address matches ``pattern`` and that carried an answer in text."""
    yaml = pytest.importorskip("yaml")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in sorted(Path(FOLDER).rglob("*.yaml")):
        written = path.read_text(errors="replace")
        if not re.search(rf"uri: \S*{pattern}", written, re.MULTILINE):
            continue
        for row in (yaml.load(written, Loader=loader) or {}).get("interactions", []):
            request, response = row["request"], row["response"]
            if not re.search(pattern, request["uri"]):
                continue
            body = response.get("parsed_body")
            if body is None:
                body = (response.get("body") or {}).get("string", "")
            raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
            types = {name.lower(): value for name, value in (response.get("headers") or {}).items()}
            kind = (types.get("content-type") or ["application/json"])[0]
            asked = request.get("parsed_body")
            asked = asked if isinstance(asked, dict) else {}
            yield Exchange(path.stem, request["uri"], asked, int(response["status"]["code"]), kind, raw)


# --- what each provider counts, read from its own bytes ------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """What the bytes of an answer say: its text, its tokens, and the argument of its first call of a tool."""

    text: str
    usage: tuple[int | None, ...]
    argument: str = ""


def whole_chat(data: Any) -> Told:
    message = data["choices"][0]["message"]
    texts = message.get("content") or ""
    if isinstance(texts, list):
        texts = "".join(row.get("text", "") for row in texts if row.get("type") == "text" and row.get("text"))
    given = [row["function"].get("arguments") for row in message.get("tool_calls") or []]
    return Told(texts, chat_counts(data.get("usage")), next((row for row in given if row), ""))


def chat_counts(usage: Any) -> tuple[int | None, ...]:
    if not usage:
        return (None,) * 4
    prompt, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
    if reasoning and usage.get("total_tokens") == prompt + output + reasoning:
        output += reasoning
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    return prompt, output, usage.get("prompt_cache_hit_tokens") if cached is None else cached, reasoning


def streamed_chat(events: list[Any]) -> Told:
    if any(row.get("error") for row in events):
        raise ValueError("an error in the stream")
    deltas = [row["choices"][0].get("delta") or {} for row in events if row.get("choices")]
    calls = [row for delta in deltas for row in delta.get("tool_calls") or []]
    argument = "".join(row["function"].get("arguments") or "" for row in calls if not row.get("index"))
    usage = [row["usage"] for row in events if row.get("usage")]
    text = "".join(delta.get("content") or "" for delta in deltas)
    return Told(text, chat_counts(usage[-1] if usage else None), argument)


def streamed_groq(events: list[Any]) -> Told:
    usage = [row["x_groq"]["usage"] for row in events if (row.get("x_groq") or {}).get("usage")]
    return replace(streamed_chat(events), usage=chat_counts(usage[-1] if usage else None))


def whole_claude(data: Any) -> Told:
    text = "".join(row["text"] for row in data["content"] if row["type"] == "text")
    return Told(text, claude_counts(data["usage"]))


def claude_counts(usage: Any) -> tuple[int | None, ...]:
    if passes := usage.get("iterations"):
        # A prompt that was made shorter first was read twice, and is paid for twice.
        # An adviser is another model, which the counts of this one leave out.
        rows = [claude_counts(row) for row in passes if row.get("type") in ("message", "compaction")]
        return tuple(sum(row[place] or 0 for row in rows) for place in range(3))
    read, made = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    return usage["input_tokens"] + read + made, usage["output_tokens"], read


def streamed_claude(events: list[Any]) -> Told:
    deltas = [row["delta"] for row in events if row.get("type") == "content_block_delta"]
    usage: dict[str, Any] = {}
    for row in events:
        found = row.get("message", {}).get("usage") if row.get("type") == "message_start" else row.get("usage")
        usage |= {name: value for name, value in (found or {}).items() if value is not None}
    return Told("".join(row["text"] for row in deltas if row.get("type") == "text_delta"), claude_counts(usage))


def whole_gemini(data: Any) -> Told:
    parts = data["candidates"][0]["content"].get("parts") or []
    text = "".join(row.get("text", "") for row in parts if not row.get("thought"))
    return Told(text, gemini_counts(data["usageMetadata"]))


def gemini_counts(usage: Any) -> tuple[int | None, ...]:
    prompt = usage.get("promptTokenCount", 0) + usage.get("toolUsePromptTokenCount", 0)
    return prompt, usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0)


def streamed_gemini(events: list[Any]) -> Told:
    found = [row["candidates"][0].get("content", {}).get("parts") or [] for row in events if row.get("candidates")]
    text = "".join(part.get("text", "") for parts in found for part in parts if not part.get("thought"))
    return Told(text, gemini_counts([row["usageMetadata"] for row in events if row.get("usageMetadata")][-1]))


def whole_bedrock(data: Any) -> Told:
    text = "".join(row.get("text", "") for row in data["output"]["message"]["content"])
    usage = data["usage"]
    read, made = usage.get("cacheReadInputTokens") or 0, usage.get("cacheWriteInputTokens") or 0
    return Told(text, (usage["inputTokens"] + read + made, usage["outputTokens"]))


def whole_response(data: Any) -> Told:
    messages = [row for row in data["output"] if row["type"] == "message"]
    text = "".join(part.get("text") or "" for row in messages for part in row["content"])
    usage = data["usage"]
    cached = (usage.get("input_tokens_details") or {}).get("cached_tokens")
    reasoning = (usage.get("output_tokens_details") or {}).get("reasoning_tokens")
    return Told(text, (usage["input_tokens"], usage["output_tokens"], cached, reasoning))


def streamed_response(events: list[Any]) -> Told:
    ends = ("response.completed", "response.incomplete")
    return whole_response(next(row["response"] for row in events if row.get("type") in ends))


# --- replaying -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Protocol:
    """How the exchanges of one protocol are found, replayed and read."""

    provider: str
    pattern: str
    whole: Callable[[Any], Told]
    streamed: Callable[[list[Any]], Told] | None = None
    module: str = "openai"
    ending: str = ""
    ways: tuple[bool, ...] = (False,)

    CHAT: ClassVar[str] = r"/chat/completions"


CHAT = (whole_chat, streamed_chat)
PROTOCOLS = [
    Protocol("openai_compatible", Protocol.CHAT, *CHAT, ending="/v1", ways=(True, False)),
    Protocol("openai", r"api\.openai\.com/v1/chat", *CHAT, ending="/v1", ways=(True, False)),
    Protocol("openrouter", r"openrouter\.ai/api/v1/chat", *CHAT, ending="/v1", ways=(True, False)),
    Protocol("deepseek", r"api\.deepseek\.com/chat", *CHAT, ways=(True, False)),
    Protocol("zhipu", r"api\.z\.ai/\S+/chat", *CHAT, ways=(True, False)),
    Protocol("groq", r"api\.groq\.com/openai/v1/chat", whole_chat, streamed_groq, module="groq"),
    Protocol("mistral", r"api\.mistral\.ai/v1/chat", *CHAT, module="mistralai"),
    Protocol("anthropic", r"/v1/messages(?:\?|$)", whole_claude, streamed_claude, module="anthropic"),
    Protocol("google", r"v1beta/models/[^:]+:\w*[gG]enerateContent", whole_gemini, streamed_gemini, "google.genai"),
    Protocol("bedrock", r"/converse$", whole_bedrock, module="boto3"),
    Protocol("openai_responses", r"/v1/responses$", whole_response, streamed_response, ending="/v1"),
]


async def replay(
    protocol: Protocol, exchange: Exchange, server: Server, mode: OutputMode, *, thin: bool
) -> Reply | Fault:
    named = re.search(r"/models?/([^/:]+)", exchange.url)
    model = str(exchange.asked.get("model") or unquote(named[1] if named else "m"))
    seat = ModelSeating(provider=protocol.provider, model=model, base_url=f"{server.url}{protocol.ending}")
    endpoint = replace(Endpoint.of(seat, None if protocol.provider == "bedrock" else KEY), direct=thin)
    server.answers = [exchange.answers()]
    model_client = RemoteClient(endpoint)
    call = a_call(mode, max_tokens=_PLENTY)
    try:
        return await model_client.call(call, (lambda _: None) if exchange.is_streamed else None)
    finally:
        await model_client.aclose()


def counted(usage: Usage | None, told: Told) -> bool:
    """Whether the counts are those of the bytes, as far as the protocol of the bytes has them."""
    if usage is None:
        return False
    found = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens)
    # A count that was not reported and one of zero are the same to who adds them up.
    return all((a or 0) == (b or 0) for a, b in zip(found, told.usage, strict=False))


def judged(exchange: Exchange, told: Told | None, outcomes: list[Reply | Fault]) -> tuple[str, str]:
    """What came of an exchange, and what is wrong with it."""
    first = outcomes[0]
    if any(row != first for row in outcomes):
        return "disagreed", f"{outcomes}"
    if exchange.status != 200:
        # pydantic-ai takes what Groq's models wrote instead of calling a tool for their answer.
        taken = isinstance(first, Reply) and b"failed_generation" not in exchange.body
        return "refused", f"status {exchange.status}: {first}" if taken else ""
    if told is None:
        return "not an answer in text", ""
    if isinstance(first, Fault):
        # Reasoning that a server leaves in the text is no answer.
        words = re.sub(r"<think(?:ing)?>.*?</think(?:ing)?>", "", told.text, flags=re.DOTALL)
        wrong = bool(words.strip()) and first.kind is not FaultKind.REFUSED
        return "without an answer", str(first) if wrong else ""
    if not counted(first.usage, told):
        return "answered", f"{first.usage} is not {told.usage}"
    same = "".join(first.text.split()) == "".join(told.text.split()) or "<think" in told.text
    return "answered", "" if same else f"{first.text[:80]!r} is not {told.text[:80]!r}"


def read(protocol: Protocol, exchange: Exchange) -> Told | None:
    if exchange.status != 200:
        return None
    try:
        if exchange.is_streamed:
            return protocol.streamed(exchange.events) if protocol.streamed else None
        return protocol.whole(exchange.data)
    except (KeyError, IndexError, TypeError, ValueError, StopIteration, AttributeError):
        # A file, an image, an error with status 200, a job that is not done.
        return None


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=[row.provider for row in PROTOCOLS])
async def test_recorded_answers_are_read_and_counted(
    protocol: Protocol, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a protocol has two ways, both bring the same, and the counts are those of the bytes."""
    if importlib.util.find_spec(protocol.module.partition(".")[0]) is None:
        pytest.skip(f"{protocol.module} is not installed")
    # Amazon's library sends keys of its own only over https, and credentials anywhere.
    for name, value in (("DEFAULT_REGION", "us-east-1"), ("ACCESS_KEY_ID", "id"), ("SECRET_ACCESS_KEY", "secret")):
        monkeypatch.setenv(f"AWS_{name}", value)
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    async with serving() as server:
        for exchange in recorded(protocol.pattern):
            told = read(protocol, exchange)
            mode = OutputMode.TOOL if told is not None and told.argument else OutputMode.TEXT
            if told is not None and told.argument:
                told = replace(told, text=told.argument)
            outcomes = [await replay(protocol, exchange, server, mode, thin=thin) for thin in protocol.ways]
            kind, fault = judged(exchange, told, outcomes)
            seen[kind] += 1
            seen["streamed"] += exchange.is_streamed
            if fault:
                wrong.append(f"{exchange.name} ({exchange.url}): {fault}")
    with capsys.disabled():
        print(f"\n{protocol.provider}, {len(protocol.ways)} ways: {dict(seen)}, wrong: {len(wrong)}")
    assert seen.total(), "the folder has no exchange of this protocol"
    assert not wrong, "\n".join(wrong)
