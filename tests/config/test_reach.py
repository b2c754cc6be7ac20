"""What an order reaches is what the configuration of this process reaches without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio.config import Arguments, Settings, resolve
from disputatio.config.reach import IN_FILES, TOOLS, check_reach
from disputatio.config.seats import ResolvedSeat
from disputatio.errors import InvalidInputError
from disputatio.options import Given, options_in
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS, SeatValue
from disputatio.request.formats import options_of, options_of_formats
from disputatio.request.model import DebateRequest

ENVIRONMENT = {"OPENAI_API_KEY": "key-of-openai", "ANTHROPIC_API_KEY": "key-of-anthropic"}
PROXY = "http://proxy.example/v1"
FILE = f'[seats.all]\nprovider = "openai"\nmodel = "gpt-5"\nbase_url = "{PROXY}"\n'


def asked(seat: Any = (), set: Any = (), tools: Any = (), mcp: Any = (), **more: Any) -> Arguments:  # noqa: A002
    """These values as a remote caller could give them."""
    named = [*((("seats", name), who) for name, who in seat), *set]
    named += [(("seats", name, "tools"), list(words) or ["none"]) for name, words in tools]
    named += [(("mcp_servers", name), address) for name, address in mcp]
    rows = [(tuple(path), Given(value, f"{'.'.join(path)} of the request")) for path, value in named]
    config, base_url = more.pop("config", None), more.pop("base_url", None)
    further = make_arguments(**more)
    return Arguments(given=(*rows, *further.given), config=config, base_url=base_url)


def ordered(folder: Path, file: str = "", **given: Any) -> Settings:
    """What an order with these values is resolved to, under this configuration file."""
    (folder / "disputatio.toml").write_text(file)
    return resolve(
        format_name="freeform",
        seats=("pro", "con", "judge"),
        environ=ENVIRONMENT,
        directory=folder,
        arguments=replace(asked(**given), remote=True),
    )


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"seat": (("pro", SeatValue("openai", "x", "http://evil.example/v1")),)}, "address"),
        ({"seat": (("pro", "openai:x at http://evil.example/v1"),)}, "address"),
        ({"seat": (("pro", SeatValue("embedded", "/etc/x.gguf")),)}, "weights"),
        ({"seat": (("pro", SeatValue("embedded", "hf:evil/weights/x.gguf")),)}, "weights"),
        ({"seat": (("pro", SeatValue("embedded", "qwen3-4b")),)}, "weights"),
        ({"seat": (("all", "embedded:qwen3-0.6b"),)}, "weights"),
        ({"seat": (("pro", SeatValue("rules", "/etc/x.toml")),)}, "rules"),
        ({"base_url": "http://evil.example/v1"}, "base_url"),
        ({"config": "/etc/x.toml"}, "config"),
        ({"store": "sqlite:////tmp/x"}, "store"),
        ({"escalate": "http://evil.example"}, "escalate"),
        ({"personalities": "x.toml"}, "personalities"),
        ({"mcp": (("files", "sh -c true"),)}, "mcp_servers.files"),
        ({"tools": (("pro", ("files",)),)}, "tools"),
        ({"set": ((("seats", "pro", "base_url"), "http://evil.example"),)}, "address"),
        ({"set": ((("seats", "pro", "persona"), "@/etc/passwd"),)}, "seats.pro.persona"),
        ({"set": ((("seats", "pro", "fallback"), "openai:x at http://evil.example"),)}, "seats.pro.fallback"),
        ({"set": ((("seats", "pro", "api_key_env"), "HOME"),)}, "seats.pro.api_key_env"),
        ({"set": ((("price", "openai:gpt-5", "input"), "0"),)}, "price"),
        ({"set": ((("estimate", "characters"), 5),)}, "estimate"),
        ({"set": ((("tools", "timeout"), 5),)}, "tools.timeout"),
    ],
)
def test_what_an_order_may_not_bring_is_refused(tmp_path: Path, given: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        ordered(tmp_path, FILE, **given)
    assert word in refused.value.cause
    assert refused.value.next_step


def test_a_key_that_is_refused_is_not_read(tmp_path: Path) -> None:
    """Reading some values opens files, and the answer would tell whether a file is there."""
    told = set()
    for path in ("@there.txt", "@missing.txt"):
        (tmp_path / "there.txt").write_text("secret")
        with pytest.raises(InvalidInputError) as refused:
            ordered(tmp_path, set=((("seats", "pro", "persona"), path),))
        told.add(refused.value.cause)
    assert len(told) == 1


def test_a_model_reaches_its_configured_provider(tmp_path: Path) -> None:
    """A model goes where the configuration reaches its provider."""
    settings = ordered(tmp_path, FILE, seat=(("pro", "openai:gpt-6"), ("con", "anthropic:x")))
    found = {seat: (row.provider, row.model, row.base_url) for seat, row in settings.seats.items()}
    assert found == {
        "pro": ("openai", "gpt-6", PROXY),
        "con": ("anthropic", "x", None),
        "judge": ("openai", "gpt-5", PROXY),
    }


def test_azure_and_responses_go_where_the_configuration_has_them(tmp_path: Path) -> None:
    """An order brings a deployment's name, which is a part of the address and cannot lead to another one."""
    own = '[seats.all]\nprovider = "azure"\nmodel = "own"\nbase_url = "https://r.openai.azure.com"\n'
    own += 'api_key_env = "ANTHROPIC_API_KEY"\n'
    settings = ordered(tmp_path, own, seat=(("pro", "azure:other"), ("con", "openai-responses:gpt-5")))
    assert settings.seats["pro"].base_url == "https://r.openai.azure.com"
    assert settings.seats["con"].base_url is None
    assert settings.credentials.key("con") == "key-of-openai"
    for evil in ("..", "../x", "x/../../y", "x?y", "a%2fb"):
        with pytest.raises(InvalidInputError, match="deployment"):
            ordered(tmp_path, own, seat=(("pro", f"azure:{evil}"),))
    with pytest.raises(InvalidInputError, match="address"):
        ordered(tmp_path, own, seat=(("pro", "azure:x at https://evil.example"),))
    with pytest.raises(InvalidInputError, match="no address of its own"):
        ordered(tmp_path, "", seat=(("pro", "azure:x"),))


def test_two_names_together_do_not_lead_past_an_address(tmp_path: Path) -> None:
    """On a command line ``all`` is a level of its own, and drops the address that the file has for ``pro``."""
    settings = ordered(tmp_path, FILE, seat=(("all", "anthropic:x"), ("pro", "openai:gpt-6")))
    assert settings.seats["pro"].base_url == PROXY
    assert settings.seats["con"].provider == "anthropic"


def test_files_of_the_configuration_stay_where_they_are(tmp_path: Path) -> None:
    file = '[seats.judge]\nprovider = "embedded"\nmodel = "/own/weights.gguf"\n'
    assert ordered(tmp_path, file, seat=(("pro", "embedded"),)).seats["judge"].model == "/own/weights.gguf"
    assert ordered(tmp_path, file, seat=(("judge", "embedded"),)).seats["judge"].model == "/own/weights.gguf"
    assert ordered(tmp_path, file, seat=(("judge", "embedded:smollm2-135m"),)).seats["judge"].model == "smollm2-135m"
    with pytest.raises(InvalidInputError, match="weights"):
        # What another seat has is not this one's.
        ordered(tmp_path, file, seat=(("pro", "embedded:/own/weights.gguf"),))


def test_a_local_model_is_open_where_the_configuration_has_it(tmp_path: Path) -> None:
    """Anything else would let an order make the server fetch gigabytes."""
    file = '[seats.judge]\nprovider = "embedded"\nmodel = "qwen3-4b"\n'
    assert ordered(tmp_path, file, seat=(("judge", "embedded:qwen3-4b"),)).seats["judge"].model == "qwen3-4b"
    for seat, model in (("judge", "qwen3-8b"), ("pro", "qwen3-4b")):
        with pytest.raises(InvalidInputError, match="a model to fetch"):
            ordered(tmp_path, file, seat=((seat, f"embedded:{model}"),))


def test_tools_of_the_configuration_stay_and_none_are_added(tmp_path: Path) -> None:
    file = '[seats.pro]\ntools = ["files"]\n[mcp_servers]\nfiles = "own-server"\n'
    assert ordered(tmp_path, file).tools == {"pro": ("files",)}
    assert ordered(tmp_path, file, tools=(("pro", ("search",)), ("con", ()))).tools == {"pro": ("search",)}
    with pytest.raises(InvalidInputError, match="files"):
        ordered(tmp_path, file, tools=(("con", ("files",)),))


SEATING = ModelSeating(provider="openai", model="gpt-5")
OWN = ResolvedSeat(SEATING, "key", None, {}, ())


@pytest.mark.parametrize(
    "found",
    [
        replace(OWN, seating=replace(SEATING, base_url="http://evil.example/v1")),
        replace(OWN, seating=replace(SEATING, model="/etc/x.gguf")),
        replace(OWN, seating=replace(SEATING, persona="of a file")),
        replace(OWN, seating=replace(SEATING, fallback=SEATING)),
        replace(OWN, seating=replace(SEATING, timeout_s=1)),
        replace(OWN, key="another key"),
        replace(OWN, fallback_key="another key"),
        replace(OWN, tools=("files",)),
    ],
)
def test_the_last_check_rests_on_none_before_it(found: ResolvedSeat) -> None:
    """Whatever way led there: a seat that differs from the configuration's own is refused."""
    check_reach("pro", OWN, OWN)
    with pytest.raises(InvalidInputError, match="pro"):
        check_reach("pro", found, OWN)


def how_to() -> str:
    """The section of the how-to that says what a caller can reach."""
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "serve.md").read_text("utf-8")
    return text.partition("## What a caller can reach")[2].partition("\n## ")[0]


def test_what_is_open_is_listed_in_the_how_to() -> None:
    """The page says what a key of scope run can reach; this is what it may set."""
    section = how_to()
    for word in ("provider", "model", *TOOLS, *IN_FILES, *IN_FILES.values()):
        assert f"`{word}`" in section, word
    rows = [*options_in(DebateRequest), *(row for name in options_of_formats() for row in options_of(name))]
    open_keys = {row.key.split(".")[0] for row in rows if row.key and not row.local} - {"seats"}
    for key in open_keys:
        assert f"`{key}`" in section, key


def test_the_how_to_names_what_needs_no_key() -> None:
    """A caller reaches these providers without the server having said anything about them."""
    section = how_to()
    for provider in PROVIDERS.values():
        if not provider.needs_key:
            assert f"`{provider.name}`" in section, provider.name
        if provider.base_url and (port := urlsplit(provider.base_url).port):
            assert f"{port}" in section, provider.name
