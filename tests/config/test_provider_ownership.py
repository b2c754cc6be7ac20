"""A model, an address and a key stay with the provider they were given with, whatever the levels are."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, missing_keys, resolve
from disputatio.errors import InvalidInputError
from disputatio.participants.model_seat import Price
from disputatio.participants.providers import PROVIDERS

SEATS = ("pro", "con", "judge")


def settle(*, file: str = "", dotenv: str = "", environ: dict[str, str] | None = None, **arguments: Any) -> Settings:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        if file:
            (directory / "disputatio.toml").write_text(file, encoding="utf-8")
        if dotenv:
            (directory / ".env").write_text(dotenv, encoding="utf-8")
        return resolve(
            format_name="structured",
            seats=SEATS,
            environ=environ or {},
            directory=directory,
            arguments=make_arguments(**arguments),
        )


@dataclass(frozen=True)
class Said:
    """What one level says of the seat: each is given or not."""

    provider: str | None
    model: str | None
    base_url: str | None
    key: str | None


def said(place: int) -> st.SearchStrategy[Said]:
    """A level with a model and a key of its own, so that it can be told whose they are."""
    return st.builds(
        Said,
        provider=st.none() | st.sampled_from(["zhipu", "deepseek", "openai_compatible"]),
        model=st.sampled_from([None, f"model-{place}"]),
        base_url=st.sampled_from([None, None, "http://one.example/v1", "http://two.example/v1"]),
        key=st.sampled_from([None, f"key-of-level-{place}"]),
    )


LEVELS = ("file all", "file pro", ".env", "environ", ".env pro", "environ pro", "--set all", "--set pro")


def expected(levels: list[Said], key_of_zhipu: bool) -> tuple[Any, ...] | None:
    """Read from the top instead of folded from the bottom; None where a clear error is due."""
    first = next((i for i, level in enumerate(levels) if level.provider), len(levels))
    unbound_address = any(level.base_url for level in levels[:first])
    automatic = "openai_compatible" if unbound_address else "zhipu" if key_of_zhipu else "embedded"

    def holds(place: int) -> str:
        named = [level.provider for level in levels[: place + 1] if level.provider]
        return named[-1] if named else automatic

    final = holds(len(levels) - 1)
    start = len(levels)
    while start > 0 and holds(start - 1) == final:
        start -= 1
    own = levels[start:]

    def address(place: int) -> str | None:
        given_here = [level.base_url for level in own[: place + 1] if level.base_url]
        return given_here[-1] if given_here else PROVIDERS[final].base_url

    models = [level.model for level in own if level.model]
    addresses = [level.base_url for level in own if level.base_url]
    keys = [
        level.key
        for place, level in enumerate(own)
        if level.key and len({address(i) for i in range(place, len(own))} - {None}) <= 1
    ]
    if final == "openai_compatible" and start == first and len({address(i) for i in range(len(own))} - {None}) <= 1:
        # Before that nothing said whose key it is.
        keys = [level.key for level in levels[:first] if level.key] + keys
    model = models[-1] if models else PROVIDERS[final].default_model
    base_url = addresses[-1] if addresses else None
    named = any(level.provider for level in levels)
    if final == "openai_compatible" and base_url is None:
        return None
    if model is None or (final == "embedded" and (models or base_url)):
        return None
    if not named and final != "openai_compatible" and keys:
        return None
    own_key = "the-zhipu-key" if final == "zhipu" and key_of_zhipu else None
    return final, model, base_url, keys[-1] if keys else own_key


def write(levels: list[Said], key_of_zhipu: bool) -> dict[str, Any]:
    """The levels as a user would write them."""
    file, dotenv, given_options = [], [], []
    environ = {"ZAI_API_KEY": "the-zhipu-key"} if key_of_zhipu else {}
    for name, level in zip(LEVELS, levels, strict=True):
        kind, _, scope = name.partition(" ")
        fields = {"provider": level.provider, "model": level.model, "base_url": level.base_url}
        if kind in {"file", "--set"}:
            if level.key:
                variable = f"KEY_{level.key[-1]}"
                environ[variable] = level.key
                fields["api_key_env"] = variable
            lines = {f"seats.{scope}.{field}": value for field, value in fields.items() if value}
            if kind == "file":
                file.extend(f'{key} = "{value}"' for key, value in lines.items())
            else:
                given_options.extend(f"{key}={value}" for key, value in lines.items())
            continue
        prefix = f"{scope.upper()}_" if scope else ""
        fields["api_key"] = level.key
        variables = {f"{prefix}LLM_{field.upper()}": value for field, value in fields.items() if value}
        if kind == ".env":
            dotenv.extend(f"{key}={value}" for key, value in variables.items())
        else:
            environ |= variables
    return {
        "file": "\n".join(file),
        "dotenv": "\n".join(dotenv),
        "environ": environ,
        "set": tuple(given_options),
    }


any_levels = given(levels=st.tuples(*(said(place) for place in range(len(LEVELS)))), key_of_zhipu=st.booleans())


@any_levels
@hypothesis_settings(max_examples=15, deadline=None)
def test_nothing_of_a_provider_leaks_to_another(levels: tuple[Said, ...], key_of_zhipu: bool):
    check_no_leak(levels, key_of_zhipu)


@pytest.mark.slow
@any_levels
@hypothesis_settings(max_examples=300, deadline=None)
def test_nothing_of_a_provider_leaks_to_another_in_hundreds(levels: tuple[Said, ...], key_of_zhipu: bool):
    """Nothing of a provider leaks to another in hundreds of ways."""
    check_no_leak(levels, key_of_zhipu)


def check_no_leak(levels: tuple[Said, ...], key_of_zhipu: bool) -> None:
    # A variable in the real environment hides the same one in .env, so the two say different things of each.
    written = write(list(levels), key_of_zhipu)
    heard = list(levels)
    for low, high in ((2, 3), (4, 5)):
        heard[low] = Said(
            *(
                None if getattr(levels[high], field) else getattr(levels[low], field)
                for field in ("provider", "model", "base_url", "key")
            )
        )
    # The other seats have only what is said of all; give them a model that always works.
    model = "embedded:smollm2-135m"
    written["set"] += (f"seats.con={model}", f"seats.judge={model}")
    due = expected(heard, key_of_zhipu)
    if due is None:
        with pytest.raises(InvalidInputError):
            settle(**written)
        return
    settled = settle(**written)
    pro = settled.seats["pro"]
    assert (pro.provider, pro.model, pro.base_url, settled.credentials.key("pro")) == due


ZHIPU = "LLM_PROVIDER=zhipu\nLLM_MODEL=glm-5\nLLM_BASE_URL=http://proxy.example/v1\nLLM_API_KEY=zhipu-key\n"


def test_a_seats_provider_brings_its_default_model():
    """A provider set for one seat brings its own default model."""
    settled = settle(dotenv=f"{ZHIPU}PRO_LLM_PROVIDER=deepseek\nDEEPSEEK_API_KEY=deep-key")
    assert settled.seats["pro"].address == "deepseek:deepseek-flash"
    assert settled.credentials.key("pro") == "deep-key"
    assert settled.sources["seats.pro.model"] == "default"
    assert settled.seats["con"].address == "zhipu:glm-5 at http://proxy.example/v1"
    assert settled.credentials.key("con") == "zhipu-key"


def test_a_provider_without_a_default_model_says():
    """A provider without a default model says which key to set."""
    with pytest.raises(InvalidInputError) as caught:
        settle(dotenv=f"{ZHIPU}PRO_LLM_PROVIDER=openrouter")
    assert "openrouter (from .env:PRO_LLM_PROVIDER)" in caught.value.cause
    assert ".env:LLM_MODEL names a model of zhipu" in caught.value.cause
    assert "PRO_LLM_MODEL" in caught.value.next_step


def test_the_same_provider_named_again_keeps_everything():
    settled = settle(dotenv=f"{ZHIPU}PRO_LLM_PROVIDER=ZhiPu")
    assert settled.seats["pro"].address == "zhipu:glm-5 at http://proxy.example/v1"
    assert settled.credentials.key("pro") == "zhipu-key"


def test_another_address_does_not_get_the_key():
    settled = settle(dotenv=ZHIPU, environ={"PRO_LLM_BASE_URL": "http://other.example/v1"})
    assert settled.credentials.key("pro") is None
    assert settled.credentials.key("con") == "zhipu-key"
    assert settled.sources["seats.pro.api_key"] == "not set (.env:LLM_API_KEY belongs to another address)"
    assert [each.seat for each in missing_keys(settled)] == ["pro"]
    (note,) = [note for note in settled.notes if "pro has no key" in note]
    assert note.endswith("Set ZAI_API_KEY, or PRO_LLM_API_KEY beside PRO_LLM_PROVIDER=zhipu and PRO_LLM_BASE_URL.")
    cured = {"PRO_LLM_PROVIDER": "zhipu", "PRO_LLM_BASE_URL": "http://other.example/v1", "PRO_LLM_API_KEY": "own-key-1"}
    assert settle(dotenv=ZHIPU, environ=cured).credentials.key("pro") == "own-key-1"


def test_a_key_waits_for_the_server_of_the_command_line():
    """``LLM_API_KEY=... disputatio debate ... --seat all=openai_compatible:M --base-url URL``"""
    url = "http://localhost:8000/v1"
    for others in ({}, {"OPENAI_API_KEY": "open-key-1"}, {"ZAI_API_KEY": "a-zai-key"}):
        environ = {"LLM_API_KEY": "my-key-1", **others}
        settled = settle(environ=environ, seat=("all=openai_compatible:m",), base_url=url)
        for seat in SEATS:
            assert settled.seats[seat].address == f"openai_compatible:m at {url}"
            assert settled.credentials.key(seat) == "my-key-1"
            assert settled.sources[f"seats.{seat}.api_key"] == "LLM_API_KEY"
        assert not settled.notes
    seats = (f"pro=openai_compatible:m at {url}", "con=embedded", "judge=embedded")
    one = settle(environ={"PRO_LLM_API_KEY": "my-key-1"}, seat=seats)
    assert (one.credentials.key("pro"), one.credentials.key("con")) == ("my-key-1", None)


def test_a_waiting_key_goes_to_no_other_provider():
    environ = {"LLM_API_KEY": "my-key-1"}
    settled = settle(environ=environ, seat=("all=zhipu:glm-5",))
    assert settled.credentials.key("pro") is None
    (note,) = [note for note in settled.notes if note.startswith("pro ")]
    assert note.endswith("Set ZAI_API_KEY, or PRO_LLM_API_KEY beside PRO_LLM_PROVIDER=zhipu.")
    owned = settle(
        environ={**environ, "LLM_PROVIDER": "zhipu"},
        seat=("all=openai_compatible:m",),
        base_url="http://localhost:8000/v1",
    )
    assert owned.credentials.key("pro") is None


def test_the_same_address_written_again_keeps_the_key():
    settled = settle(dotenv=ZHIPU, environ={"PRO_LLM_BASE_URL": "http://proxy.example/v1/"})
    assert settled.credentials.key("pro") == "zhipu-key"


def test_a_key_without_an_address_goes():
    """A key without an address goes with the first address given."""
    settled = settle(environ={"LLM_API_KEY": "my-key-1", "LLM_MODEL": "qwen3"}, base_url="http://localhost:8000/v1")
    for seat in SEATS:
        assert settled.seats[seat].address == "openai_compatible:qwen3 at http://localhost:8000/v1"
        assert settled.credentials.key(seat) == "my-key-1"
    assert settled.sources["seats.pro.provider"] == "--base-url is set"


def test_a_price_goes_with_its_model():
    dotenv = "LLM_PROVIDER=openai\nLLM_MODEL=gpt-5\nLLM_PRICE=1.25/10\nCON_LLM_MODEL=gpt-5-mini"
    settled = settle(dotenv=dotenv)
    assert settled.seats["pro"].price is not None
    assert settled.seats["con"].price is None


@pytest.mark.parametrize(
    ("variable", "provider", "model"),
    [
        ("OPENAI_API_KEY", "openai", "gpt-6.1-terra"),
        ("ANTHROPIC_API_KEY", "anthropic", "claude-sonnet-5-5"),
        ("GEMINI_API_KEY", "google", "gemini-3.8-flash"),
        ("GOOGLE_API_KEY", "google", "gemini-3.8-flash"),
        ("MISTRAL_API_KEY", "mistral", "mistral-large-4"),
        ("GROQ_API_KEY", "groq", "openai/gpt-oss-120b"),
        ("DEEPSEEK_API_KEY", "deepseek", "deepseek-flash"),
        ("ZAI_API_KEY", "zhipu", "glm-4.7"),
    ],
)
def test_a_bare_key_chooses_its_provider_and_says_so(variable: str, provider: str, model: str):
    settled = settle(environ={variable: "some-key-1"})
    assert (settled.seats["pro"].provider, settled.seats["pro"].model) == (provider, model)
    assert settled.sources["seats.pro.provider"] == f"{variable} is set"
    assert settled.credentials.key("judge") == "some-key-1"


def test_of_several_keys_the_order_decides_and_is_named():
    settled = settle(environ={"ZAI_API_KEY": "key-of-zai"}, dotenv="ANTHROPIC_API_KEY=key-of-anthropic")
    assert settled.seats["pro"].provider == "anthropic"
    assert settled.sources["seats.pro.provider"] == (
        ".env:ANTHROPIC_API_KEY is set, the first of .env:ANTHROPIC_API_KEY, ZAI_API_KEY"
    )


def test_without_any_key_the_embedded_model_debates():
    settled = settle()
    assert settled.seats["pro"].address == "embedded:smollm2-135m"
    assert settled.seats["pro"].piecewise
    assert settled.sources["seats.pro.provider"] == "default"
    assert missing_keys(settled) == ()


def test_a_key_whose_provider_has_no_default_model():
    """A key whose provider has no default model is not used silently."""
    settled = settle(environ={"OPENROUTER_API_KEY": "router-key"})
    assert settled.seats["pro"].provider == "embedded"
    assert any("OPENROUTER_API_KEY is set but not used" in note for note in settled.notes)
    named = settle(environ={"OPENROUTER_API_KEY": "router-key", "LLM_MODEL": "z-ai/glm-5.1"})
    assert named.seats["pro"].address == "openrouter:z-ai/glm-5.1"


@pytest.mark.parametrize(
    ("environ", "hint"),
    [
        ({"LLM_API_KEY": "whose-key-is-it"}, "the provider of the key is not named"),
        ({"LLM_MODEL": "gpt-5"}, "name its provider too"),
        ({"LLM_MODEL": "m", "OPENAI_API_KEY": "key-a-1", "ZAI_API_KEY": "key-b-2"}, "its provider is not named"),
        ({"LLM_PROVIDER": "openai_compatible", "LLM_MODEL": "m"}, "PRO_LLM_BASE_URL"),
        ({"LLM_PROVIDER": "embedded", "LLM_BASE_URL": "http://localhost/v1"}, "takes none"),
    ],
)
def test_what_could_be_meant_in_two_ways_is_asked(environ: dict[str, str], hint: str):
    """What could be meant in two ways is asked and not guessed."""
    with pytest.raises(InvalidInputError, match=hint):
        settle(environ=environ)


def test_a_key_of_the_mainland_platform_goes():
    """A key of the mainland platform goes to the mainland platform."""
    settled = settle(environ={"LLM_PROVIDER": "zhipu", "ZHIPUAI_API_KEY": "mainland-key"})
    assert settled.seats["pro"].base_url == "https://open.bigmodel.cn/api/paas/v4"
    both = settle(environ={"ZAI_API_KEY": "world-key", "ZHIPUAI_API_KEY": "mainland-key"})
    assert both.seats["pro"].base_url is None
    assert both.credentials.key("pro") == "world-key"


def test_a_providers_own_address_variable_moves_its_seats():
    """A providers own address variable moves its seats and is recorded."""
    environ = {"OPENAI_API_KEY": "open-key", "OPENAI_BASE_URL": "http://gateway.example/v1"}
    settled = settle(environ=environ)
    assert settled.seats["pro"].base_url == "http://gateway.example/v1"
    assert settled.sources["seats.pro.base_url"] == "OPENAI_BASE_URL"
    assert settled.credentials.key("pro") == "open-key"


def test_base_url_reaches_only_the_seats():
    """Base url reaches only the seats that have no address of their own."""
    settled = settle(
        environ={"OPENAI_API_KEY": "open-key-1"},
        seat=("pro=openai_compatible:qwen3", "con=openai:gpt-5"),
        base_url="http://localhost:8000/v1",
    )
    assert settled.seats["pro"].base_url == "http://localhost:8000/v1"
    assert settled.seats["con"].base_url is None
    assert settled.seats["judge"].address == "openai:gpt-6.1-terra"


def test_base_url_never_sends_two_providers_to_one_server():
    seats = ("all=openai:gpt-5", "judge=zhipu")
    with pytest.raises(InvalidInputError, match="the seats use openai and zhipu"):
        settle(seat=seats, base_url="http://localhost:8000/v1")
    alone = settle(seat=("all=openai:gpt-5",), base_url="http://localhost:8000/v1")
    assert {alone.seats[seat].base_url for seat in SEATS} == {"http://localhost:8000/v1"}


def test_an_address_for_one_seat_stays_beside_base_url():
    settled = settle(
        seat=("all=openai_compatible:m", "judge=openai_compatible:m at http://judge.example/v1"),
        base_url="http://debaters.example/v1",
    )
    assert settled.seats["judge"].base_url == "http://judge.example/v1"
    assert settled.seats["pro"].base_url == "http://debaters.example/v1"


def test_a_fallback_is_a_whole_seating_with_its_own_key():
    settled = settle(
        environ={
            "ZAI_API_KEY": "zai-key-1",
            "OPENAI_API_KEY": "open-key-1",
            "LLM_PROVIDER": "zhipu",
            "LLM_PERSONA": "a careful economist",
            "LLM_FALLBACK": "openai:gpt-5",
        },
        set=('price."openai:gpt-5".input=1.25', 'price."openai:gpt-5".output=10'),
    )
    fallback = settled.seats["pro"].fallback
    assert fallback is not None
    assert fallback.address == "openai:gpt-5"
    assert fallback.persona == "a careful economist"
    assert fallback.price == Price(*map(type(fallback.price.input), ("1.25", "10"))) if fallback.price else False
    assert settled.credentials.key("pro/fallback") == "open-key-1"
    assert settled.credentials.key("pro") == "zai-key-1"


def test_a_fallback_on_another_server_does_not_get_the_seats_key():
    base = {
        "LLM_PROVIDER": "openai_compatible",
        "LLM_MODEL": "m",
        "LLM_BASE_URL": "http://one.example/v1",
        "LLM_API_KEY": "key-of-one",
    }
    near = settle(environ={**base, "LLM_FALLBACK": "openai_compatible:small"})
    assert near.credentials.key("pro/fallback") == "key-of-one"
    assert near.seats["pro"].fallback is not None
    assert near.seats["pro"].fallback.base_url == "http://one.example/v1"
    far = {**base, "LLM_FALLBACK": "openai_compatible:small at http://two.example/v1"}
    assert settle(environ=far).credentials.key("pro/fallback") is None
    keyed = settle(environ={**far, "LLM_FALLBACK_API_KEY": "key-of-two"})
    assert keyed.credentials.key("pro/fallback") == "key-of-two"
    assert keyed.credentials.key("pro") == "key-of-one"


def test_the_key_of_one_fallback_does_not_go_to_another():
    environ = {
        "OPENAI_API_KEY": "open-key-1",
        "ZAI_API_KEY": "zai-key-1",
        "LLM_PROVIDER": "embedded",
        "LLM_FALLBACK": "openai:gpt-5",
        "LLM_FALLBACK_API_KEY": "fallback-key-1",
        "PRO_LLM_FALLBACK": "zhipu",
    }
    settled = settle(environ=environ)
    assert settled.credentials.key("pro/fallback") == "zai-key-1"
    assert settled.credentials.key("con/fallback") == "fallback-key-1"
    del environ["LLM_FALLBACK"]
    assert settle(environ=environ).credentials.key("pro/fallback") == "zai-key-1"
