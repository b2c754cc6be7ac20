"""No key is in a message, a source, a note, a finding or the text of any value."""

from __future__ import annotations

import string
import tempfile
import traceback
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, diagnose, resolve
from disputatio.config.environment import read_environment
from disputatio.errors import InvalidInputError
from disputatio.participants.providers import PROVIDERS

KEY_VARIABLES = sorted(
    {variable for each in PROVIDERS.values() for variable in each.key_variables}
    | {"LLM_API_KEY", "PRO_LLM_API_KEY", "LLM_FALLBACK_API_KEY", "TEAM_API_KEY"}
)
OTHER_VARIABLES = (
    "LLM_PROVIDER",
    "LLM_MODEL",
    "LLM_BASE_URL",
    "LLM_TEMPERATURE",
    "LLM_PRICE",
    "LLM_FALLBACK",
    "PRO_LLM_PROVIDER",
    "PRO_LLM_MODE",
    "DISPUTATIO_LANGUAGE",
    "DISPUTATIO_SEED",
    "DISPUTATIO_BUDGET_USD",
)
SECRETS = st.text(string.ascii_letters + string.digits + "-_", min_size=12, max_size=30)
WORDS = st.sampled_from(["zhipu", "openai", "openai_compatible", "0.5", "http://host.example/v1", "m"])


def everything_said(environ: dict[str, str], directory: Path, **arguments: Any) -> tuple[str, Settings | None]:
    """All text that a user could see of one resolution, with the settings where there are any."""
    try:
        settled = resolve(
            format_name="structured",
            seats=("pro", "con"),
            environ=environ,
            directory=directory,
            arguments=make_arguments(**arguments),
        )
    except InvalidInputError as refusal:
        shown = "".join(traceback.format_exception_only(refusal))
        return f"{shown} {refusal!r} {refusal.__context__} {refusal.cause} {refusal.next_step}", None
    found = diagnose(settled, environ=environ, directory=directory, installed=lambda _: True)
    return f"{settled!r} {settled} {settled.sources} {settled.notes} {found}", settled


@given(
    secret=SECRETS,
    holders=st.sets(st.sampled_from(KEY_VARIABLES), min_size=1, max_size=4),
    others=st.dictionaries(st.sampled_from(OTHER_VARIABLES), WORDS, max_size=4),
    misplaced=st.none() | st.sampled_from(["LLM_TEMPERATURE", "LLM_PRICE", "PRO_LLM_MODE", "DISPUTATIO_SEED"]),
    in_dotenv=st.booleans(),
)
@hypothesis_settings(max_examples=30, deadline=None)
def test_a_key_is_in_nothing_that_is_shown(
    secret: str, holders: set[str], others: dict[str, str], misplaced: str | None, in_dotenv: bool
):
    """Also not where the same key was put into the wrong variable and is complained about there."""
    environ = {**others, **dict.fromkeys(holders, secret)}
    if misplaced:
        environ[misplaced] = secret
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        if in_dotenv:
            lines = (f"{name}={value}" for name, value in environ.items())
            (directory / ".env").write_text("\n".join(lines), encoding="utf-8")
            environ = {}
        said, settled = everything_said(environ, directory)
    assert secret not in said
    if settled is not None and settled.credentials.by_seat:
        assert secret in settled.credentials.by_seat.values()


@pytest.mark.parametrize(
    "arguments",
    [
        {"seat": ("pro=sk-ant-abcdefghijklmnop",)},
        {"seat": ("sk-ant-abcdefghijklmnop",)},
        {"seat": ("pro=openai:sk-ant-abcdefghijklmnop bad",)},
        {"set": ("seats.pro.api_key=sk-ant-abcdefghijklmnop",)},
        {"set": ("seats.pro.temperature=sk-ant-abcdefghijklmnop",)},
        {"set": ("sk-ant-abcdefghijklmnop",)},
        {"set": ("seats.pro.sk-ant-abcdefghijklmnop=1",)},
        {"budget_usd": "sk-ant-abcdefghijklmnop"},
        {"base_url": "http://sk-ant-abcdefghijklmnop@host/v1"},
        {"language": "sk-ant-abcdefghijklmnop!"},
        {"store": "mysql://user:sk-ant-abcdefghijklmnop@host/db"},
    ],
)
def test_a_key_typed_in_the_wrong_place_is_not_repeated(tmp_path: Path, arguments: dict[str, Any]):
    said, settled = everything_said({}, tmp_path, **arguments)
    assert settled is None
    assert "abcdefghijklmnop" not in said


def test_a_key_that_cannot_be_sent_is_refused(tmp_path: Path):
    """A key that cannot be sent is refused without being shown."""
    for value in ("two words-secret", "line\nbreak-secret", "schlüssel-secret"):
        said, settled = everything_said({"LLM_PROVIDER": "zhipu", "ZAI_API_KEY": value}, tmp_path)
        assert settled is None
        assert "secret" not in said
        assert "ZAI_API_KEY" in said


def test_the_password_of_a_store_is_not_shown(tmp_path: Path):
    environ = {"DISPUTATIO_STORE": "postgresql+psycopg://debater:hunter22@db.example/debates?sslkey=hunter22"}
    said, settled = everything_said(environ, tmp_path)
    assert "hunter22" not in said
    assert settled is not None
    assert settled.shown_store == "postgresql+psycopg://debater:***@db.example/debates"
    assert "hunter22" in settled.store


def test_the_environment_as_a_value_does_not_show_its_variables(tmp_path: Path):
    environment = read_environment({"ZAI_API_KEY": "very-secret-1"}, tmp_path)
    assert "very-secret-1" not in repr(environment)
    assert "very-secret-1" not in repr(environment.get("ZAI_API_KEY"))
    assert "very-secret-1" not in repr(make_arguments(set=("seats.pro.api_key=very-secret-1",)))
