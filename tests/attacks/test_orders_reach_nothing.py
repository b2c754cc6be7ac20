"""No order reaches an address, a file, a repository or a command that the server's own configuration does not name."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from attack_table import Attack
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.client.streamable_http import streamable_http_client

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, fallback_seat
from disputatio.config.process import settings_for
from disputatio.engine.escalation import configured_recipient
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime, start
from disputatio.errors import InvalidInputError
from disputatio.formats.registry import FORMATS, find_format
from disputatio.kernel import JsonObject
from disputatio.motion import read_motion
from disputatio.proposals import proposal_of, read_request
from disputatio.record.sql import SqlStore
from disputatio.testing import FakeProvider
from disputatio.workers import Job, JobState, NewCeilings
from disputatio.workers.in_process_runner import InProcessRunner
from disputatio.workers.job_table import JobTable
from mcp import Client
from strategies import examples

MOTION = "We should split the service"
SECRET = "sk-of-the-server-0123456789"  # noqa: S105  (invented)
CANARY = "canary-of-a-file"
FREEFORM = find_format("freeform")


@dataclass
class Listener:
    """A server of the attacker's. It notes each request with the key that came with it."""

    url: str = ""
    heard: list[tuple[str, str]] = field(default_factory=list)


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    found = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.heard.append((self.path, self.headers.get("Authorization", "")))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_HEAD = do_POST  # noqa: N815  (the names of the base class)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


Asked = Callable[[Mapping[str, Any]], Awaitable[tuple[str, str]]]
"""Orders a debate; gives its id, or nothing where it was refused, and the answer as text."""


@dataclass
class Surface:
    """A server in a process of its own, and the way to order debates of it."""

    name: str
    url: str
    provider: FakeProvider
    folder: Path

    @asynccontextmanager
    async def caller(self) -> AsyncIterator[Asked]:
        if self.name == "http":
            async with httpx.AsyncClient(timeout=60) as client:

                async def post(body: Mapping[str, Any]) -> tuple[str, str]:
                    answer = await client.post(f"{self.url}/v1/debates", json=dict(body))
                    return (str(answer.json().get("id", "")) if answer.status_code == 201 else ""), answer.text

                yield post
            return
        async with (
            httpx2.AsyncClient(timeout=60) as http,
            Client(streamable_http_client(self.url, http_client=http)) as assistant,
        ):

            async def call(body: Mapping[str, Any]) -> tuple[str, str]:
                result = await assistant.call_tool("start_debate", dict(body))
                started = result.structured_content or {}
                return ("" if result.is_error else str(started["debate_id"])), str(result.content)

            yield call

    def debates(self) -> list[str]:
        """The debates that its store has."""
        told = subprocess.run(
            [sys.executable, "-m", "disputatio", "list", "--json", "--store", f"{self.folder}/store.sqlite"],
            capture_output=True,
            text=True,
            check=True,
        )
        return [str(row["id"]) for row in json.loads(told.stdout)]


@pytest.fixture(scope="module", params=["http", "mcp"])
def surface(
    request: pytest.FixtureRequest, listener: Listener, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Surface]:
    folder = tmp_path_factory.mktemp(request.param)
    words = ["serve"] if request.param == "http" else ["mcp", "--http"]
    words += ["--port", "0", "--store", f"{folder}/store.sqlite"]
    with FakeProvider() as provider:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.endswith("API_KEY")},
            "OPENAI_API_KEY": SECRET,
            "LLM_PROVIDER": "openai_compatible",
            "LLM_MODEL": "fake",
            "LLM_BASE_URL": provider.base_url,
            "HF_ENDPOINT": listener.url,
            "DISPUTATIO_HOME": str(folder),
            "PYTHONUNBUFFERED": "1",
        }
        with subprocess.Popen(
            [sys.executable, "-m", "disputatio", *words],
            env=environment,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                line = process.stdout.readline()
                found = re.search(r"http://[\d.:]+(?:/mcp)?", line)
                assert found is not None, line
                yield Surface(request.param, found.group(), provider, folder)
            finally:
                process.terminate()
                process.wait(20)


def attacks(listener: Listener, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Orders that name something which is not theirs to name, in every place that takes a name or a value."""
    at = f"openai:fake at {listener.url}/v1"
    rules, weights = folder / "own.toml", folder / "own.gguf"
    rules.write_text(f'name = "{CANARY}"\n')
    weights.write_text(CANARY)
    repository = "hf:somebody/weights/model.gguf"
    panel = {"format": "panel", "debaters": ["ada", "bo"]}
    market = {"format": "market"}
    for seat in ("all", "pro", "PRO", "judge"):
        yield f"an address in the name of {seat}", {"seats": {f"{seat}={at}": "embedded"}}
        yield f"an address for {seat}", {"seats": {seat: at}}
    yield "an address after a line break", {"seats": {f"judge=embedded\nall={at}": "embedded"}}
    yield "an address after a blank", {"seats": {f" all = {at}": "embedded"}}
    yield "an address in the name of a debater", {**panel, "seats": {f"ada={at}": "embedded"}}
    yield "an address as a debater", {"format": "panel", "debaters": [f"ada={at}", "bo"]}
    yield "a file of weights in a name", {"seats": {f"all=embedded:{weights}": "embedded"}}
    yield "a file of the system in a name", {"seats": {"all=embedded:/etc/passwd": "embedded"}}
    yield "a file of weights", {"seats": {"all": f"embedded:{weights}"}}
    yield "a repository in a name", {"seats": {f"all={repository}": "embedded"}}
    yield "a repository", {"seats": {"all": repository}}
    yield "a repository as embedded", {"seats": {"all": f"embedded:{repository}"}}
    yield "a model to fetch", {"seats": {"all": "embedded:qwen3-4b"}}
    yield "a model to fetch in a name", {"seats": {"judge=embedded:qwen3-0.6b": "embedded"}}
    yield "a file of rules in a name", {**market, "seats": {f"all=rules:{rules}": "rules"}}
    yield "a file of rules", {**market, "seats": {"all": f"rules:{rules}"}}
    for key in ("seats.all.base_url", "seats.all", "seats.all.fallback", "limits.x=1\nseats.all.base_url"):
        yield f"the setting {key!r}", {"settings": {key: at if key.endswith(("all", "fallback")) else listener.url}}
    yield "a setting that ends early", {"settings": {f"limits.closing_words=150 #{listener.url}": 1}}
    yield "a setting in quotes", {"settings": {'"seats".all.base_url': listener.url}}
    yield "a command", {"settings": {"mcp_servers.x": f"touch {folder}/touched"}}
    yield "a command after a line", {"settings": {"limits.closing_words=9\nmcp_servers.x": f"touch {folder}/touched"}}
    yield "a persona from a file", {"settings": {"seats.all.persona": "@/etc/passwd"}}
    yield "another variable's key", {"settings": {"seats.all.api_key_env": "OPENAI_API_KEY"}}
    yield "another store", {"settings": {"store": f"sqlite:///{folder}/other.sqlite"}}
    yield "another file of personalities", {"settings": {"personalities": str(rules)}}
    yield "a callback", {**panel, "settings": {"escalate": listener.url}}
    yield "a format in a file", {"format": f"{folder}/evil.py:rules"}
    yield "tools of a server", {"tools": {"all": ["files"]}}
    yield "tools of a server in a name", {"tools": {"all=files,": ["search"]}}
    yield "a personality in a name", {"format": "competition", "personality": {f"all={rules}": "logical"}}
    yield "two debaters in one", {"format": "panel", "debaters": ["ada,bo", "cleo"]}
    yield "two options in one", {**panel, "options": ["adopt,reject", "wait"]}
    yield "a field of the command line", {"base_url": f"{listener.url}/v1"}
    yield "a file of settings", {"config": str(rules)}
    yield "a folder of prompts", {"prompts": str(folder)}
    yield "a command in its group", {"tools": {"mcp": {"x": f"touch {folder}/touched"}}}
    yield "tools of a server in their group", {"tools": {"by_seat": {"all": ["files"]}}}
    yield "variables for a server", {"tools": {"mcp_env": {"x": ["OPENAI_API_KEY"]}}}
    yield "a callback in its format", {"format": {"name": "panel", "debaters": ["ada", "bo"], "escalate": listener.url}}
    yield "a file in its format", {"format": {"name": "competition", "personalities": str(rules)}}
    yield "what each personality is told", {"format": {"name": "competition", "personalities": {"x": CANARY}}}
    yield "an address for a baseline", {"baseline": "single", "seats": {"answerer": at}}


@pytest.mark.slow
async def test_no_order_reaches_what_is_not_the_servers(surface: Surface, listener: Listener, attack: Attack) -> None:
    """Over HTTP and MCP, by servers in processes of their own that hold a real key."""
    listener.heard.clear()
    async with surface.caller() as order:
        for name, body in attacks(listener, surface.folder):
            debate, answer = await order({"motion": MOTION, **body})
            attack.check(not debate, f"{name} was taken: {answer[:200]}")
            attack.check(SECRET not in answer and CANARY not in answer, f"{name} gave something away: {answer[:200]}")
        attack.check(not listener.heard, f"the attacker's server heard {listener.heard[:3]}")
        attack.check(not surface.debates(), "a debate has begun")
        attack.check(not (surface.folder / "touched").exists(), "a command was run")
        # Without the attack such an order is taken, and goes to the server's own model.
        honest = {"motion": MOTION, "format": "freeform", "seats": {"pro": "openai_compatible:x"}}
        debate, answer = await order(honest)
        attack.check(debate, f"an honest order was refused: {answer[:300]}")


@pytest.fixture
def trap(listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JsonObject:
    """An order as an earlier version let it through and kept it."""
    listener.heard.clear()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    return {"motion": MOTION, "format": "freeform", "seats": {f"all=openai:fake at {listener.url}/v1": "embedded"}}


async def finished(runner: InProcessRunner, debate: str) -> Job:
    """The job once it is over."""
    async with asyncio.timeout(30):
        while (job := await runner.job(debate)) is None or not job.state.is_over:
            await asyncio.sleep(0.05)
    return job


async def test_an_order_that_was_kept_before_reaches_nothing(
    trap: JsonObject, listener: Listener, tmp_path: Path, attack: Attack
) -> None:
    """It waits in the table of jobs while the server is replaced by a newer one."""
    store = SqlStore(f"sqlite:///{tmp_path}/store.sqlite")
    JobTable(store).add_job(Job("trap", JobState.WAITING, "debates", 0, "2026-01-01"), trap, None)
    runner = InProcessRunner(store)
    await runner.start()
    job = await finished(runner, "trap")
    await runner.aclose()
    await store.aclose()
    attack.check(job.state is JobState.FAILED and "no seat can have" in job.reason, job)
    attack.check(not listener.heard, f"the attacker's server heard {listener.heard}")


async def test_a_debate_that_was_opened_before_is_not_gone_on_with(
    trap: JsonObject, listener: Listener, tmp_path: Path, attack: Attack
) -> None:
    """Its record has the attacker's address already, so that going on would send the key there."""
    store = SqlStore(f"sqlite:///{tmp_path}/store.sqlite")
    seats = make_arguments(seat=[f"all=openai:fake at {listener.url}/v1"])
    proposal = Proposal(read_motion(MOTION, "English"), FREEFORM, settings_for(FREEFORM, seats))
    await start(proposal, Runtime(store, checks_first=False), debate="trap")
    attack.check(("/v1/chat/completions", f"Bearer {SECRET}") in listener.heard, "the trap was set")
    listener.heard.clear()
    JobTable(store).add_job(Job("trap", JobState.ENDED, "debates", 0, "2026-01-01"), trap, None)
    runner = InProcessRunner(store)
    attack.check(await runner.resume("trap", NewCeilings()), "it was not taken up")
    job = await finished(runner, "trap")
    await runner.aclose()
    await store.aclose()
    attack.check(job.state is JobState.FAILED and "no seat can have" in job.reason, job)
    attack.check(not listener.heard, f"the attacker's server heard {listener.heard}")


OWN_CONFIGURATION = """
store = "sqlite:///own.sqlite"
escalate = "http://own.example/callback"
personalities = "own.toml"
[seats.all]
provider = "openai"
model = "own-model"
base_url = "http://proxy.own.example/v1"
fallback = "anthropic:own-fallback"
persona = "@own.txt"
[seats.con]
provider = "openai_compatible"
model = "own-model"
base_url = "http://con.own.example/v1"
api_key_env = "OWN_KEY"
[seats.judge]
provider = "embedded"
model = "/own/weights.gguf"
tools = ["files", "search"]
[mcp_servers]
files = "own-server --root /own"
"""
OWN_KEYS = {
    "OPENAI_API_KEY": "key-of-openai",
    "ANTHROPIC_API_KEY": "key-of-anthropic",
    "DEEPSEEK_API_KEY": "key-of-deepseek",
    "OWN_KEY": "key-of-con",
}
OWN_ADDRESSES = {
    ("openai", None): "key-of-openai",
    ("openai", "http://proxy.own.example/v1"): "key-of-openai",
    ("openai_compatible", "http://con.own.example/v1"): "key-of-con",
    ("anthropic", None): "key-of-anthropic",
    ("deepseek", None): "key-of-deepseek",
    ("ollama", "http://ollama.own.example/v1"): None,
    **{(name, None): None for name in ("vllm", "lmstudio", "bedrock", "embedded", "rules")},
}
"""Every server that the configuration above can reach, with the one key that may go there. Written by hand."""
OWN_FILES = {"embedded": {"smollm2-135m", "/own/weights.gguf"}, "rules": {"textbook"}}
EVIL = "http://evil.example/v1"
_MODELS = (
    *("openai", "openai:gpt-5", "openai_compatible:x", "deepseek", "ollama:x", "vllm:x", "embedded", "rules"),
    *("anthropic:x", "bedrock:x", "lmstudio:x"),
)
_BAITS = (
    *(f"openai:x at {EVIL}", f" at {EVIL}", f"={EVIL}", f"all=openai:x at {EVIL}", "=", "\n", "\r", "\x00", "\u2028"),
    *("'", '"', "#", ",", ";", ".", "..", "${OPENAI_API_KEY}", "$OPENAI_API_KEY", "%(x)s", "{x}", "@/etc/passwd", "0"),
    *("embedded:/etc/passwd", "/etc/x.gguf", "hf:evil/weights/x.gguf", "rules:/evil.toml", "file:///etc/passwd", "K"),
    *("base_url", "seats.all.base_url", "persona", "mcp_servers.x", "fallback", "api_key_env", "escalate", "store"),
    *("[seats.all]", "files", "search", "none", "x", "all", "openai"),
)
baits = st.sampled_from(_BAITS) | st.text(max_size=6)


def spoiled(*good: str) -> st.SearchStrategy[str]:
    """One of ``good`` as it is, or with something around it that could be taken for more."""
    plain = st.sampled_from(good)
    return plain | st.builds("{}{}{}".format, baits, plain, baits) | st.lists(baits, max_size=4).map("".join)


def spoiled_fields(scopes: tuple[str, ...]) -> dict[str, st.SearchStrategy[Any]]:
    """Every field of an order that takes words, with words that it should not take."""
    seats = spoiled(*scopes)
    keys = ("limits.closing_words", "judging.dead_zone", "rubric", "criteria.logic", "rules.speech_words")
    values = spoiled("150", "0.5", "logic") | st.booleans() | st.integers() | st.floats()
    return {
        "seats": st.dictionaries(seats, spoiled(*_MODELS), max_size=3),
        "settings": st.dictionaries(spoiled(*keys), values, max_size=3),
        "tools": st.dictionaries(seats, st.lists(spoiled("search", "calculate", "none"), max_size=2), max_size=2),
        "personality": st.dictionaries(seats, spoiled("logical", "own", "none"), max_size=3),
        "debaters": st.lists(spoiled("ada", "bo", "cleo"), max_size=3),
        "options": st.lists(spoiled("adopt", "reject"), max_size=3),
        "positions": st.lists(spoiled("We split it all at once", "We split it next year"), max_size=2),
        "people": st.lists(seats, max_size=2),
        "evidence": st.lists(st.fixed_dictionaries({"title": spoiled("a.md"), "text": spoiled("One")}), max_size=2),
        **{name: spoiled(word) for name, word in _WORDS.items()},
    }


_WORDS = {
    "language": "German",
    "panel_method": "mean",
    "decision": "majority",
    "preset": "contract-risk",
    "task_type": "contract",
    "topic": "remote-work",
    "budget_usd": "0.50",
    "knowledge": "example",
    "as_of": "2020-01-02",
}


@st.composite
def orders(draw: st.DrawFn) -> dict[str, Any]:
    """An order that could be held, then with up to three of its fields spoiled."""
    form = find_format(draw(st.sampled_from(tuple(FORMATS))))
    seats = ("ada", "bo") if form.free_seats else form.seats
    scopes = ("all", *seats, *(["pro", "con"] if form.name == "competition" else []))
    body: dict[str, Any] = {"motion": MOTION, "format": form.name}
    if draw(st.booleans()):
        body["seats"] = draw(st.dictionaries(st.sampled_from(scopes), st.sampled_from(_MODELS), max_size=3))
    if draw(st.booleans()):
        body["tools"] = draw(st.dictionaries(st.sampled_from(scopes), st.just(["search", "calculate"]), max_size=2))
    fields = spoiled_fields(scopes)
    for name in draw(st.lists(st.sampled_from(sorted(fields)), max_size=3, unique=True)):
        body[name] = draw(fields[name])
    return body


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("own")
    (folder / "disputatio.toml").write_text(OWN_CONFIGURATION)
    (folder / "own.toml").write_text("[own]\nabout = 'as the server says'\n")
    (folder / "own.txt").write_text("as the server says")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in (*os.environ,):
            if name.endswith("_API_KEY") or name.startswith(("LLM_", "DISPUTATIO_")):
                patch.delenv(name)
        for name, value in {**OWN_KEYS, "OLLAMA_BASE_URL": "http://ollama.own.example/v1"}.items():
            patch.setenv(name, value)
        yield folder


def strange(settings: Settings) -> Iterator[str]:
    """What ``settings`` reach that the configuration above does not."""
    rows = [(seat, seat, row) for seat, row in settings.seats.items()]
    rows += [(seat, fallback_seat(seat), row.fallback) for seat, _, row in rows if row.fallback is not None]
    for seat, name, row in rows:
        key = settings.credentials.key(name)
        if OWN_ADDRESSES.get((row.provider, row.base_url), "nowhere") != key:
            yield f"{name} at {row.provider} {row.base_url} with {key}"
        if row.model not in OWN_FILES.get(row.provider, {row.model}):
            yield f"{name} is {row.model}"
        if row.persona not in {"", "as the server says"}:
            yield f"{name} is told {row.persona}"
        if name != seat and (row.provider, row.model) != ("anthropic", "own-fallback"):
            yield f"{name} is {row.address}"
        if not set(settings.tools.get(seat, ())) <= {
            "search",
            "calculate",
            *(["files"] if seat[:5] == "judge" else []),
        }:
            yield f"{seat} looks up {settings.tools[seat]}"
    if [row.command for row in settings.mcp_servers.values()] != [("own-server", "--root", "/own")]:
        yield f"{settings.mcp_servers}"
    escalate = configured_recipient(settings) or "http://own.example/callback"
    if (settings.store, escalate) != ("sqlite:///own.sqlite", "http://own.example/callback"):
        yield f"{settings.store} {escalate}"


@examples(300)
@given(body=orders())
@example(body={"motion": MOTION, "format": "freeform", "seats": {"all": "deepseek", "pro": "openai:gpt-5"}})
@example(body={"motion": MOTION, "format": "freeform", "seats": {f"all=openai:x at {EVIL}": "embedded"}})
def test_requests_resolve_only_to_configured_models(own_server: Path, body: dict[str, Any]) -> None:
    """Whatever is in the names and values of an order: it is refused in a sentence, or stays within."""
    settings = refused = None
    try:
        kept = read_request(body)
        settings = proposal_of(json.loads(json.dumps(kept)), {}, people_missing=True).settings
    except InvalidInputError as error:
        refused = error
    if refused is not None:
        assert 0 < len(refused.cause) < 1_500
        assert not [key for key in OWN_KEYS.values() if key in f"{refused}"]
    if settings is not None:
        assert not list(strange(settings))


@pytest.mark.parametrize(
    "body",
    [
        {"format": "structured"},
        {"format": "structured", "seats": {"all": "deepseek", "judge": "embedded"}, "judges": 2},
        {"format": "structured", "seats": {"con": "openai_compatible:another"}, "tools": {"pro": ["search"]}},
        {"format": "structured", "settings": {"limits.closing_words": 150, "criteria.logic": "1"}},
        {"format": "panel", "seats": {"ada": "ollama:x", "bo": "openai"}},
        {"format": "competition", "personality": {"pro": "own"}, "seats": {"judge": "vllm:x"}},
        {"format": "market", "motion": "", "seats": {"all": "rules", "judge": "deepseek"}},
    ],
)
def test_an_honest_order_is_taken_under_the_same_configuration(own_server: Path, body: dict[str, Any]) -> None:
    """So that what is refused above is not refused for nothing."""
    settings = proposal_of(read_request({"motion": MOTION, **body}), {}).settings
    assert not list(strange(settings))
