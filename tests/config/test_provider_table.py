"""The provider table says what is so, and what people write for a model is read as they mean it."""

from __future__ import annotations

import re
import string
import tomllib
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from genai_prices import Usage, calc_price, data
from hypothesis import given, settings
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean, quote
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import (
    AUTOMATIC_ORDER,
    OTHER_EXTRAS,
    PROVIDERS,
    Kind,
    SeatValue,
    family,
    parse_seat_value,
    provider_named,
)

PROJECT = Path(__file__).parents[2]


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        PROVIDERS["new"] = PROVIDERS["openai"]  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        PROVIDERS["openai"].free = True  # type: ignore[misc]


@pytest.mark.parametrize("name", [name for name, each in PROVIDERS.items() if each.price_id])
def test_every_default_model_has_a_price(name: str):
    """Every default model has a price where the provider is priced."""
    provider = PROVIDERS[name]
    if provider.default_model is None:
        assert provider.price_id in {each.id for each in data.providers}
        return
    used = Usage(input_tokens=1000, output_tokens=1000)
    price = calc_price(used, provider.default_model, provider_id=provider.price_id)
    assert price.total_price > 0


def test_zhipu_is_priced_by_the_platform_it_is_reached_at():
    zhipu = PROVIDERS["zhipu"]
    assert zhipu.price_id_at(None) == "zai"
    assert zhipu.price_id_at("https://open.bigmodel.cn/api/paas/v4") == "zhipuai"
    assert zhipu.price_id_at("http://localhost:8000/v1") == "zai"
    assert PROVIDERS["openai_compatible"].price_id_at("http://localhost:8000/v1") is None


def test_every_extra_in_the_table_is_one_that_can_be_installed():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = {each.extra for each in PROVIDERS.values() if each.extra} | set(OTHER_EXTRAS)
    assert extras <= set(project["project"]["optional-dependencies"])
    assert PROVIDERS["anthropic"].install == "pip install 'disputatio[anthropic]'"
    assert PROVIDERS["openai"].install is None


def test_only_what_runs_on_ones_own_machine_is_declared_free():
    assert {name for name, each in PROVIDERS.items() if each.free} == {"embedded", "ollama", "lmstudio", "rules"}


def test_a_key_variable_belongs_to_one_provider():
    # OpenAI's two protocols are one provider to whoever has its key.
    owners = [each for each in PROVIDERS.values() if each.name != "openai_responses"]
    assert PROVIDERS["openai_responses"].key_variables == PROVIDERS["openai"].key_variables
    variables = [variable for each in owners for variable in each.key_variables]
    assert len(variables) == len(set(variables))
    assert PROVIDERS["zhipu"].key_variables == ("ZAI_API_KEY", "ZHIPUAI_API_KEY")
    assert PROVIDERS["google"].key_variables == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert PROVIDERS["openai_compatible"].key_variables == ()


def test_a_provider_is_chosen_by_its_key_only_where_it_needs_one():
    needing = {name for name, each in PROVIDERS.items() if each.needs_key}
    # The key of openai chooses openai, whose other protocol has to be named.
    assert set(AUTOMATIC_ORDER) == needing - {"openai_responses"}


def test_only_servers_of_ones_own_have_no_own_address():
    assert [name for name, each in PROVIDERS.items() if each.needs_address] == ["azure", "openai_compatible"]
    assert {each.kind for each in PROVIDERS.values() if not each.takes_address} == {
        Kind.EMBEDDED,
        Kind.BEDROCK,
        Kind.RULES,
    }


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("openai:gpt-5", SeatValue("openai", "gpt-5")),
        ("OpenAI:gpt-5", SeatValue("openai", "gpt-5")),
        ("ollama:qwen3:8b", SeatValue("ollama", "qwen3:8b")),
        ("embedded", SeatValue("embedded")),
        ("embedded:/models/my model.gguf", SeatValue("embedded", "/models/my model.gguf")),
        ("hf:Qwen/Qwen3-GGUF/q4.gguf", SeatValue("embedded", "hf:Qwen/Qwen3-GGUF/q4.gguf")),
        ("embedded:hf:Qwen/Qwen3-GGUF/q4.gguf", SeatValue("embedded", "hf:Qwen/Qwen3-GGUF/q4.gguf")),
        ("groq:openai/gpt-oss-120b", SeatValue("groq", "openai/gpt-oss-120b")),
        ("zhipu", SeatValue("zhipu")),
        ("zai:glm-4.7", SeatValue("zhipu", "glm-4.7")),
        ("lm-studio:a", SeatValue("lmstudio", "a")),
        ("openai-responses:gpt-5", SeatValue("openai_responses", "gpt-5")),
        ("azure:my-gpt.5", SeatValue("azure", "my-gpt.5")),
        (
            "azure:a at https://r.openai.azure.com?api-version=2024-10-21",
            SeatValue("azure", "a", "https://r.openai.azure.com?api-version=2024-10-21"),
        ),
        ("gemini", SeatValue("google")),
        (
            "openai-compatible:m at http://localhost:8000/v1",
            SeatValue("openai_compatible", "m", "http://localhost:8000/v1"),
        ),
        ("bedrock:us.amazon.nova-pro-v1:0", SeatValue("bedrock", "us.amazon.nova-pro-v1:0")),
    ],
)
def test_a_model_is_read_as_people_write_it(written: str, meant: SeatValue):
    assert parse_seat_value(f"  {written} ") == meant


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("", "names no model"),
        (":gpt-5", "names no model"),
        ("openai:", "No model follows"),
        ("openai:  ", "No model follows"),
        ("opnai:gpt-5", "Did you mean openai?"),
        ("gpt-5", "write openai:gpt-5"),
        ("claude-sonnet-5-5", "write anthropic:claude-sonnet-5-5"),
        ("openai:gpt 5", "not a model name"),
        ("openai:gpt\x1b[31m", "not a model name"),
        ("openai:" + "x" * 301, "not a model name"),
        ("embedded:gpt-5", "cannot be run embedded"),
        ("hf:qwen", "cannot be run embedded"),
    ],
)
def test_what_names_no_model_says_what_would(written: str, hint: str):
    with pytest.raises(InvalidInputError) as caught:
        parse_seat_value(written, source="--seat pro=...")
    assert hint in str(caught.value)
    assert caught.value.next_step
    assert "\x1b" not in str(caught.value)


_MODEL = st.text(string.ascii_letters + string.digits + ".:/-_", min_size=1, max_size=30)
_ADDRESSED = [name for name, each in PROVIDERS.items() if each.takes_address]


@given(
    provider=st.sampled_from(_ADDRESSED),
    model=_MODEL,
    url=st.none() | st.integers(1, 65535).map(lambda port: f"http://localhost:{port}/v1"),
)
@settings(deadline=None)
def test_what_a_seating_shows_can_be_given_back(provider: str, model: str, url: str | None):
    """The address in a report or a record is itself a valid seat value, with the same meaning."""
    if provider == "azure":
        # The name of a deployment is a part of its address.
        model = "d" + re.sub("[:/]", "-", model)
    address = ModelSeating(provider=provider, model=model, base_url=url).address
    assert parse_seat_value(address) == SeatValue(provider, model, url)


@given(st.text(max_size=40))
@settings(deadline=None)
def test_any_text_is_a_model_or_a_clear_refusal(written: str):
    said = ""
    try:
        said = parse_seat_value(written).provider
    except InvalidInputError as refusal:
        said = str(refusal)
    assert said.isprintable()
    assert said in PROVIDERS or said.endswith((".", "such as openai:gpt-5 or embedded."))


@pytest.mark.parametrize(
    ("name", "provider", "expected"),
    [
        ("gpt-5", "openai", "gpt"),
        ("o3-mini", "openai", "gpt"),
        ("openai/gpt-oss-120b", "groq", "gpt"),
        ("anthropic/claude-opus-5", "openrouter", "claude"),
        ("us.anthropic.claude-sonnet-4-5-v1:0", "bedrock", "claude"),
        ("meta-llama/Llama-3.3-70B-Instruct", "vllm", "llama"),
        ("qwen3:8b", "ollama", "qwen"),
        ("hf:bartowski/Qwen2.5-3B-GGUF/Qwen2.5-3B-Q4_K_M.gguf", "embedded", "qwen"),
        ("smollm2-135m", "embedded", "smollm"),
        ("HuggingFaceTB/SmolLM2-1.7B-Instruct", "vllm", "smollm"),
        ("glm-4.7", "zhipu", "glm"),
        ("z-ai/glm-5.1", "openrouter", "glm"),
        ("deepseek-chat", "openai_compatible", "deepseek"),
        ("deepseek-r1-distill-llama-70b", "groq", "llama"),
        ("mixtral-8x22b-instruct", "mistral", "mistral"),
        ("gemini-3.8-flash", "google", "gemini"),
        ("gemma-3-27b-it", "google", "gemma"),
        ("anthropic/some-new-name", "openrouter", "claude"),
        ("my-own-deployment", "openai", "gpt"),
        ("zephyr-7b-beta", "vllm", "zephyr"),
        ("/home/claude/models/qwen.gguf", "embedded", "qwen"),
        ("/home/claude/models/zephyr.gguf", "embedded", "zephyr"),
        ("C:\\llama\\zephyr.gguf", "embedded", "zephyr"),
    ],
)
def test_a_family_is_found_whoever_serves_the_model(name: str, provider: str, expected: str):
    assert family(name, provider) == expected


@pytest.mark.parametrize(
    ("price_id", "expected"),
    [("openai", "gpt"), ("anthropic", "claude"), ("deepseek", "deepseek"), ("zai", "glm"), ("x-ai", "grok")],
)
def test_all_models_a_maker_sells_are_of_its_family(price_id: str, expected: str):
    """The maintained price list is the oracle: these makers sell only models of their own."""
    models = next(each.models for each in data.providers if each.id == price_id)
    assert {family(model.id, price_id) for model in models} == {expected}


@given(st.text(max_size=60), st.sampled_from(["", *PROVIDERS]))
@settings(deadline=None)
def test_every_name_has_a_family(name: str, provider: str):
    assert family(name, provider)


_KEYS = st.builds(
    lambda prefix, rest: prefix + rest,
    st.sampled_from(["sk-", "sk-ant-", "sk-or-v1-", "gsk_", "AIzaSy", "xai-", "hf_"]),
    st.text(string.ascii_letters + string.digits, min_size=20, max_size=40),
)


@given(key=_KEYS, before=st.sampled_from(["", "Bearer ", "https://user:"]))
@settings(max_examples=50, deadline=None)
def test_what_looks_like_a_key_is_never_shown(key: str, before: str):
    assert key[-12:] not in quote(f"{before}{key}")


def test_a_shown_value_is_short_and_on_one_line():
    assert len(quote("x" * 1000)) < 70
    assert "\n" not in quote("a\nb")
    assert quote("") == "empty"
    assert quote(True) == "true"
    assert quote({"a": 1}) == "a table"
    assert "secret" not in quote("https://user:secret@host/v1")
    assert "secret" not in quote("https://host/v1?key=secret")


def test_two_names_that_are_as_near_are_both_offered():
    assert did_you_mean("MODLE", ["MODE", "MODEL", "PRICE"]) == "Did you mean MODE or MODEL? "
    assert did_you_mean("opnai", PROVIDERS) == "Did you mean openai? "
    assert did_you_mean("zzzzz", PROVIDERS) == ""


def test_an_unknown_provider_lists_the_known_ones():
    with pytest.raises(InvalidInputError) as caught:
        provider_named("nobody", source="PRO_LLM_PROVIDER")
    assert "PRO_LLM_PROVIDER" in caught.value.cause
    assert all(name in caught.value.next_step for name in PROVIDERS)
