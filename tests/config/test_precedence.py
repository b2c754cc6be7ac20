"""For each setting the highest level that has it wins, and ``sources`` names that level."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from disputatio._cli.arguments import make_arguments
from disputatio.config import FormatScope, Settings, resolve

SEATS = ("pro_1", "pro_2", "con_1", "judge")

# The levels of the seat pro_2, lowest first, with the name its source is given by.
LEVELS = (
    ("file", "all", "disputatio.toml: seats.all.max_tokens"),
    ("file", "pro", "disputatio.toml: seats.pro.max_tokens"),
    ("file", "pro_2", "disputatio.toml: seats.pro_2.max_tokens"),
    (".env", "LLM_MAX_TOKENS", ".env:LLM_MAX_TOKENS"),
    ("environ", "LLM_MAX_TOKENS", "LLM_MAX_TOKENS"),
    (".env", "PRO_LLM_MAX_TOKENS", ".env:PRO_LLM_MAX_TOKENS"),
    ("environ", "PRO_LLM_MAX_TOKENS", "PRO_LLM_MAX_TOKENS"),
    (".env", "PRO_2_LLM_MAX_TOKENS", ".env:PRO_2_LLM_MAX_TOKENS"),
    ("environ", "PRO_2_LLM_MAX_TOKENS", "PRO_2_LLM_MAX_TOKENS"),
    ("--set", "all", "--set seats.all.max_tokens=..."),
    ("--set", "pro", "--set seats.pro.max_tokens=..."),
    ("--set", "pro_2", "--set seats.pro_2.max_tokens=..."),
)


def settle(
    *,
    file: str = "",
    dotenv: str = "",
    environ: dict[str, str] | None = None,
    seats: tuple[str, ...] = SEATS,
    options: FormatScope | None = None,
    **arguments: Any,
) -> Settings:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        if file:
            (directory / "disputatio.toml").write_text(file, encoding="utf-8")
        if dotenv:
            (directory / ".env").write_text(dotenv, encoding="utf-8")
        return resolve(
            format_name="freeform",
            seats=seats,
            environ=environ or {},
            directory=directory,
            arguments=make_arguments(**arguments),
            options=options or FormatScope(),
        )


@given(st.sets(st.integers(0, len(LEVELS) - 1)))
@hypothesis_settings(max_examples=30, deadline=None)
def test_a_seat_takes_each_setting_from_the_highest_level(chosen: set[int]):
    """A seat takes each setting from the highest level that has it."""
    file, dotenv, environ, given_options = [], [], {}, []
    for place in sorted(chosen):
        kind, name, _ = LEVELS[place]
        value = str(1000 + place)
        if kind == "file":
            file.append(f"[seats.{name}]\nmax_tokens = {value}")
        elif kind == ".env":
            dotenv.append(f"{name}={value}")
        elif kind == "environ":
            environ[name] = value
        else:
            given_options.append(f"seats.{name}.max_tokens={value}")
    settled = settle(file="\n".join(file), dotenv="\n".join(dotenv), environ=environ, set=tuple(given_options))
    expected = (1000 + max(chosen), LEVELS[max(chosen)][2]) if chosen else (None, "default")
    assert (settled.seats["pro_2"].max_tokens, settled.sources["seats.pro_2.max_tokens"]) == expected
    # The other side hears only what is said of all.
    heard = [place for place in chosen if place in {0, 3, 4, 9}]
    assert settled.seats["con_1"].max_tokens == (1000 + max(heard) if heard else None)


# Key, its value by level (file, .env, environ, command line), and how Settings give it.
PLAIN: dict[str, tuple[tuple[str, str, str, dict[str, Any]], Any]] = {
    "language": (
        ("language = 'German'", "DISPUTATIO_LANGUAGE", "French", {"language": "Thai"}),
        lambda settled: settled.language,
    ),
    "seed": (("seed = 11", "DISPUTATIO_SEED", "13", {"seed": "14"}), lambda settled: settled.seed),
    "budget.usd": (
        ("[budget]\nusd = 0.1", "DISPUTATIO_BUDGET_USD", "0.3", {"budget_usd": "0.4"}),
        lambda settled: settled.budget.usd,
    ),
    "budget.tokens": (
        ("[budget]\ntokens = 11", "DISPUTATIO_BUDGET_TOKENS", "13", {"budget_tokens": 14}),
        lambda settled: settled.budget.tokens,
    ),
    "budget.calls": (
        ("[budget]\ncalls = 11", "DISPUTATIO_MAX_CALLS", "13", {"max_calls": 14}),
        lambda settled: settled.budget.calls,
    ),
    "rounds": (
        ("rounds = 2", "DISPUTATIO_ROUNDS", "3", {"set": ("rounds=4",)}),
        lambda settled: settled.format.rounds,
    ),
    "rubric": (
        ("rubric = 'a'", "DISPUTATIO_RUBRIC", "b", {"set": ("rubric=c",)}),
        lambda settled: settled.judging.rubric,
    ),
    "store": (
        ("store = 'sqlite:////a'", "DISPUTATIO_STORE", "sqlite:////b", {"store": "sqlite:////c"}),
        lambda settled: settled.store,
    ),
}


@pytest.mark.parametrize("key", PLAIN)
def test_the_order_of_sources_is_the_same_for_every_setting(key: str):
    """Each higher source replaces the one below it; the value below is still what it was."""
    (file, variable, value, arguments), taken = PLAIN[key]
    bottom = settle()
    from_file = settle(file=file)
    from_dotenv = settle(file=file, dotenv=f"{variable}={value}")
    from_environ = settle(file=file, dotenv=f"{variable}=not-looked-at", environ={variable: value})
    from_command = settle(file=file, dotenv=f"{variable}={value}", environ={variable: value}, **arguments)

    assert [each.sources[key] for each in (bottom, from_file, from_dotenv, from_environ)] == [
        "default",
        f"disputatio.toml: {key}",
        f".env:{variable}",
        variable,
    ]
    assert from_command.sources[key].startswith("--")
    values = [taken(each) for each in (bottom, from_file, from_dotenv, from_command)]
    assert len(set(values)) == 4
    assert taken(from_environ) == taken(from_dotenv)


def test_a_variable_set_to_nothing_hides_the_one_in_dotenv():
    hidden = settle(dotenv="LLM_MAX_TOKENS=7", environ={"LLM_MAX_TOKENS": ""})
    assert hidden.seats["judge"].max_tokens is None
    assert settle(dotenv="LLM_MAX_TOKENS=7").seats["judge"].max_tokens == 7
    assert settle(dotenv="LLM_MAX_TOKENS=\n").seats["judge"].max_tokens is None


def test_the_environment_of_the_process(monkeypatch: pytest.MonkeyPatch):
    """The environment of the process is neither read nor changed."""
    import os

    monkeypatch.setenv("LLM_MAX_TOKENS", "99")
    monkeypatch.setenv("NAME_OUTSIDE", "outside")
    before = dict(os.environ)
    settled = settle(dotenv="LLM_PERSONA=${NAME_OUTSIDE:-inside}\nDISPUTATIO_SEED=5")
    assert settled.seats["judge"].max_tokens is None
    assert settled.seats["judge"].persona == "inside"
    assert settled.seed == 5
    assert dict(os.environ) == before


def test_dotenv_can_refer_to_its_own_and_to_real_variables():
    settled = settle(dotenv="WHO=a lawyer\nLLM_PERSONA=${WHO} from ${TOWN}", environ={"TOWN": "Turin"})
    assert settled.seats["judge"].persona == "a lawyer from Turin"
    both = settle(dotenv="TOWN=Rome\nLLM_PERSONA=from ${TOWN}", environ={"TOWN": "Turin"})
    assert both.seats["judge"].persona == "from Turin"


def test_the_default_store_is_one_file_in_the_users_data_folder():
    path = Path(platformdirs.user_data_dir("disputatio", appauthor=False)) / "debates.sqlite"
    assert settle().store == f"sqlite:///{path.as_posix()}"
    assert settle().sources["store"] == "default"


def test_resolving_twice_gives_the_same_settings():
    arguments: dict[str, Any] = {
        "file": "language = 'German'\n[seats.judge]\nprovider = 'ollama'\nmodel = 'qwen3:8b'",
        "environ": {"OPENAI_API_KEY": "sk-1234567890abcdef"},
    }
    assert settle(**arguments) == settle(**arguments)


def test_every_seat_value_has_a_source():
    settled = settle(environ={"ZAI_API_KEY": "k-123456"})
    fields = "provider model base_url api_key temperature max_tokens timeout attempts persona piecewise mode price"
    for seat in SEATS:
        for name in [*fields.split(), "fallback"]:
            assert settled.sources[f"seats.{seat}.{name}"]


def test_rules_of_a_format_take_the_type_of_their_default():
    from decimal import Decimal

    rules = {"free_debate_minutes": 4, "penalties.overtime_team": Decimal(-3), "concurrent": False}
    options = FormatScope(rules=rules, other_rules=frozenset({"softening"}))
    file = "[rules]\nfree_debate_minutes = 6\nsoftening = true\n[rules.penalties]\novertime_team = -2.5"
    settled = settle(file=file, options=options, set=("rules.concurrent=yes",))
    assert settled.rules == {
        "free_debate_minutes": 6,
        "penalties.overtime_team": Decimal("-2.5"),
        "concurrent": True,
    }
    assert settled.sources["rules.penalties.overtime_team"] == "disputatio.toml: rules.penalties.overtime_team"
    assert settle(options=options).rules == rules
