"""A setting that cannot be used names its key, its source and what is allowed."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from disputatio._cli.arguments import make_arguments
from disputatio.config import FormatScope, Settings, resolve
from disputatio.errors import ExitCode, InvalidInputError

OPTIONS = FormatScope(
    phases=("opening", "cross-examination", "closing"),
    rubrics=("debate", "review"),
    rules={"minutes": 4},
    other_seats=frozenset({"critic"}),
    other_phases=frozenset({"framing", "closing"}),
    other_rules=frozenset({"softening_words"}),
)


def settle(directory: Path, *, file: str = "", environ: dict[str, str] | None = None, **arguments: Any) -> Settings:
    if file:
        (directory / "disputatio.toml").write_text(file, encoding="utf-8")
    return resolve(
        format_name="review",
        seats=("pro", "con", "judge"),
        environ=environ or {},
        directory=directory,
        arguments=make_arguments(**arguments),
        options=OPTIONS,
    )


VARIABLES = [
    ("LLM_TEMPERATURE", "hot", "from 0 to 2"),
    ("LLM_TEMPERATURE", "2.1", "from 0 to 2"),
    ("LLM_TEMPERATURE", "-0.1", "from 0 to 2"),
    ("LLM_TEMPERATURE", "nan", "from 0 to 2"),
    ("PRO_LLM_MAX_TOKENS", "0", "from 1 to"),
    ("PRO_LLM_MAX_TOKENS", "1.5", "a whole number"),
    ("PRO_LLM_MAX_TOKENS", "1e3", "a whole number"),
    ("LLM_TIMEOUT", "0", "seconds"),
    ("LLM_TIMEOUT", "-5", "seconds"),
    ("LLM_ATTEMPTS", "0", "from 1 to 20"),
    ("LLM_PIECEWISE", "maybe", "true or false"),
    ("LLM_MODE", "json", "native, tool, prompted"),
    ("LLM_MODE", "text", "native, tool, prompted"),
    ("LLM_PRICE", "5", "INPUT/OUTPUT"),
    ("LLM_PRICE", "1/2/3/4", "INPUT/OUTPUT"),
    ("LLM_PRICE", "-1/2", "INPUT/OUTPUT"),
    ("LLM_PRICE", "inf/2", "INPUT/OUTPUT"),
    ("LLM_PRICE", "/", "INPUT/OUTPUT"),
    ("LLM_PROVIDER", "opnai", "Did you mean openai?"),
    ("LLM_FALLBACK", "ollama", "PROVIDER:MODEL"),
    ("LLM_FALLBACK", "nobody:m", "Allowed are: openai"),
    ("LLM_FALLBACK", "embedded", "a model other than the seat's own"),
    ("LLM_FALLBACK", "openai_compatible:m", "at URL"),
    ("LLM_PERSONA", "@missing.txt", "The file cannot be read"),
    ("LLM_PERSONA", "x" * 8001, "up to 8,000 characters"),
    ("LLM_BASE_URL", "localhost:8000", "http://localhost:8000/v1"),
    ("LLM_BASE_URL", "ftp://host/v1", "http://localhost:8000/v1"),
    ("LLM_BASE_URL", "http://", "http://localhost:8000/v1"),
    ("LLM_BASE_URL", "http://host:port/v1", "http://localhost:8000/v1"),
    ("LLM_BASE_URL", "http://user:pw@host/v1", "without user"),
    ("LLM_BASE_URL", "http://host/v1?key=abc", "without user"),
    ("DISPUTATIO_SEED", "-1", "from 0 to 2147483647"),
    ("DISPUTATIO_SEED", "2147483648", "from 0 to 2147483647"),
    ("DISPUTATIO_STORE", "mysql://host/db", "postgresql://"),
    ("DISPUTATIO_ROUNDS", "4", "from 1 to 3"),
    ("DISPUTATIO_RUBRIC", "reviw", "Did you mean review?"),
    ("DISPUTATIO_LANGUAGE", "Ger\x1bman", "a language"),
    ("DISPUTATIO_LANGUAGE", "x" * 61, "a language"),
]


@pytest.mark.parametrize(("variable", "value", "allowed"), VARIABLES)
def test_a_bad_variable_is_named_with_what_is_allowed(tmp_path: Path, variable: str, value: str, allowed: str):
    environ = {variable: value}
    if variable == "LLM_BASE_URL":
        environ |= {"LLM_MODEL": "m", "LLM_PROVIDER": "openai_compatible"}
    with pytest.raises(InvalidInputError) as caught:
        settle(tmp_path, environ=environ)
    assert variable in caught.value.cause
    assert allowed in caught.value.next_step
    assert str(caught.value).isprintable()
    assert "pw" not in str(caught.value)
    assert "key=abc" not in str(caught.value)
    assert caught.value.exit_code is ExitCode.INVALID_INPUT


FILES = [
    ("langage = 'German'", "langage", "Did you mean language?"),
    ("language = false", "language", "Put it in quotes."),
    ("language = ''", "language", "a language"),
    ("[budget]\nusd = 0", "budget.usd", "positive amount"),
    ("[budget]\nusd = -0.5", "budget.usd", "positive amount"),
    ("[budget]\nusd = inf", "budget.usd", "positive amount"),
    ("[budget]\nusd = nan", "budget.usd", "positive amount"),
    ("[budget]\nusd = true", "budget.usd", "positive amount"),
    ("[budget]\nusd = '$5'", "budget.usd", "positive amount"),
    ("[budget]\nusd = [1]", "budget.usd", "positive amount"),
    ("[budget]\ntokens = 0", "budget.tokens", "from 1"),
    ("[budget]\ncalls = 1.5", "budget.calls", "a whole number"),
    ("[budget]\ncall = 5", "budget.call", "Did you mean calls?"),
    ("budget = 5", "budget", "a table"),
    ("[limits]\nclosing_words = 0", "limits.closing_words", "from 1"),
    ("[limits.max_tokens]\nopenning = 5", "limits.max_tokens.openning", "Did you mean opening?"),
    ("[limits.temperature]\nclosing = 3", "limits.temperature.closing", "from 0 to 2"),
    ("[limits]\nminimum_arguments = 5\nmaximum_arguments = 3", "limits.minimum_arguments", "not above"),
    ("[seats.prol]\nmodel = 'm'", "seats.prol", "Did you mean pro?"),
    ("[seats.pro]\nmodell = 'm'", "seats.pro.modell", "Did you mean model?"),
    ("[seats.pro]\nmodel = 5", "seats.pro.model", "in quotes"),
    ("[seats.pro]\napi_key = 'sk-abcdefghijkl'", "seats.pro.api_key", "api_key_env"),
    ("[seats.pro]\nprovider = 'opnai'", "seats.pro.provider", "Did you mean openai?"),
    ("[seats.pro]\nprovider = 'zhipu'\napi_key_env = 'NOT_SET'", "seats.pro.api_key_env", "Set NOT_SET"),
    ("[seats.pro]\napi_key_env = 'not a name'", "seats.pro.api_key_env", "environment variable"),
    ("[seats]\npro = 5", "seats.pro", "PROVIDER:MODEL"),
    ("seats = 5", "seats", "a table"),
    ("rounds = 9", "rounds", "from 1 to 3"),
    ("rubric = 'nothing'", "rubric", "one of debate, review"),
    ("rubric = 'debate'\n[criteria]\nlogic = 1", "rubric", "not both"),
    ("[criteria]\nlogic = 0.5\nclarity = 0.4", "criteria", "exactly 1"),
    ("[criteria]\nlogic = 0.1\nb = 0.2\nc = 0.70000000000000000001", "criteria", "exactly 1"),
    ("[criteria]\nlogic = 1\nclarity = 0", "criteria.clarity", "above 0"),
    ("[criteria]\n'Bad name' = 1", "criteria", "in small letters"),
    ("[rules]\nminuts = 5", "rules.minuts", "Did you mean minutes?"),
    ("[rules]\nminutes = 'long'", "rules.minutes", "a whole number"),
    ('[price."openai:gpt-5"]\ninput = 1', "output price", "Set price"),
    ('[price."openai:gpt-5"]\ninput = -1\noutput = 1', "price.", "0 or more"),
    ("[price.openai]\ninput = 1\noutput = 1", "names no model", "provider and model"),
    ('[price."nobody:m"]\ninput = 1\noutput = 1', "nobody", "Allowed are"),
    ("language = 'a'\nlanguage = 'b'\n", "not valid TOML (at line 2", "once"),
    ("language", "not valid TOML", "Correct it"),
]


@pytest.mark.parametrize(("file", "named", "allowed"), FILES)
def test_a_bad_entry_of_a_file_is_named_with_what_is_allowed(tmp_path: Path, file: str, named: str, allowed: str):
    with pytest.raises(InvalidInputError) as caught:
        settle(tmp_path, file=file)
    assert named in caught.value.cause
    assert "disputatio.toml" in caught.value.cause or "price" in caught.value.cause
    assert allowed in caught.value.next_step
    assert str(caught.value).isprintable()


ARGUMENTS: list[tuple[dict[str, Any], str, str]] = [
    ({"seat": ("judge",)}, "--seat", "SEAT=PROVIDER:MODEL"),
    ({"seat": ("=openai:gpt-5",)}, "--seat", "SEAT=PROVIDER:MODEL"),
    ({"seat": ("judge=",)}, "--seat", "SEAT=PROVIDER:MODEL"),
    ({"seat": ("jugde=openai:gpt-5",)}, "jugde", "Did you mean judge?"),
    ({"seat": ("critic=openai:gpt-5",)}, "critic", "Allowed are: all, pro, con, judge"),
    ({"seat": ("pro=openai:gpt-5", "pro=zhipu")}, "twice", "Give it once"),
    ({"seat": ("pro=openai:gpt-5",), "set": ("seats.pro.model=o3",)}, "twice", "Give it once"),
    ({"base_url": "localhost"}, "--base-url", "http://localhost:8000/v1"),
    ({"seat": ("all=embedded",), "base_url": "http://localhost/v1"}, "--base-url", "seats.pro.base_url"),
    ({"budget_usd": "free"}, "--budget-usd", "positive amount"),
    ({"budget_usd": "0"}, "--budget-usd", "positive amount"),
    ({"budget_usd": Decimal("NaN")}, "--budget-usd", "positive amount"),
    ({"budget_tokens": -5}, "--budget-tokens", "from 1"),
    ({"max_calls": "many"}, "--max-calls", "from 1"),
    ({"seed": "1.5"}, "--seed", "a whole number"),
    ({"language": ""}, "--language", "a language"),
    ({"store": "redis://host"}, "--store", "postgresql://"),
    ({"config": "missing.toml"}, "--config", "path of a"),
    ({"config": "settings.ini"}, "--config", ".toml, .yaml or .yml"),
    ({"set": ("language",)}, "--set", "KEY=VALUE"),
    ({"set": ("=5",)}, "--set", "KEY=VALUE"),
    ({"set": ("lang uage=5",)}, "--set", "quotes"),
    ({"set": ("a\nb=5",)}, "--set", "quotes"),
    ({"set": ("budget=5",)}, "budget", "budget.usd=0.50"),
    ({"set": ("langage=German",)}, "langage", "Did you mean language?"),
    ({"set": ("seats.critic.model=m",)}, "seats.critic", "Allowed are"),
    ({"set": ("limits.closing_words=few",)}, "--set limits.closing_words=...", "from 1"),
]


@pytest.mark.parametrize(("arguments", "named", "allowed"), ARGUMENTS)
def test_a_bad_option_is_named_with_what_is_allowed(
    tmp_path: Path, arguments: dict[str, Any], named: str, allowed: str
):
    with pytest.raises(InvalidInputError) as caught:
        settle(tmp_path, **arguments)
    assert named in caught.value.cause
    assert allowed in caught.value.next_step
    assert str(caught.value).isprintable()


def test_a_bad_unused_value_in_a_file_is_found(tmp_path: Path):
    """Otherwise it would come up on the day that the higher setting is taken away."""
    file = "[seats.pro]\ntemperature = 'hot'\n[seats.critic]\nmax_tokens = 5"
    with pytest.raises(InvalidInputError, match=r"seats\.pro\.temperature"):
        settle(tmp_path, file=file, environ={"PRO_LLM_TEMPERATURE": "0.5"})


def test_a_file_may_speak_of_seats_phases(tmp_path: Path):
    """A file may speak of seats phases and rules of other formats."""
    file = (
        "seats.critic.provider = 'ollama'\n[limits.max_tokens]\nframing = 5\nopening = 900\n"
        "[rules]\nsoftening_words = true"
    )
    settled = settle(tmp_path, file=file)
    assert set(settled.seats) == {"pro", "con", "judge"}
    assert settled.limits.max_tokens == {"opening": 900}
    assert settled.rules == {"minutes": 4}
    assert not [key for key in settled.sources if "framing" in key or "critic" in key]
    with pytest.raises(InvalidInputError, match="framing"):
        settle(tmp_path, set=("limits.max_tokens.framing=5",))


@given(
    st.decimals(allow_nan=True, allow_infinity=True) | st.text(max_size=12) | st.integers() | st.floats(),
)
@hypothesis_settings(max_examples=60, deadline=None)
def test_a_budget_is_exact_positive_and_finite_or_refused(value: Any):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        try:
            usd = settle(Path(folder), budget_usd=value).budget.usd
        except InvalidInputError as refusal:
            usd = None
            named = "--budget-usd" in refusal.cause
        else:
            named = True
    assert named
    if usd is not None:
        assert usd.is_finite()
        assert usd > 0
        assert usd == Decimal(repr(value) if isinstance(value, float) else value)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=6))
@hypothesis_settings(max_examples=30, deadline=None)
def test_weights_that_add_up_exactly_are_taken_and_no_others(parts: list[int]):
    """Weights are thousandths of a million here, so that the sum is known in whole numbers."""
    import tempfile

    weights = [f"criterion_{place} = {Decimal(part).scaleb(-6):f}" for place, part in enumerate(parts)]
    file = "[criteria]\n" + "\n".join(weights)
    with tempfile.TemporaryDirectory() as folder:
        if sum(parts) != 10**6:
            with pytest.raises(InvalidInputError, match="add up to"):
                settle(Path(folder), file=file)
            return
        assert len(settle(Path(folder), file=file).judging.criteria) == len(parts)


@pytest.mark.parametrize("weights", [("0.1", "0.2", "0.7"), ("0.30", "0.30", "0.25", "0.15"), ("1",)])
def test_weights_that_binary_numbers_cannot_add_are_taken(tmp_path: Path, weights: tuple[str, ...]):
    lines = [f"c{place} = {weight}" for place, weight in enumerate(weights)]
    rubric = settle(tmp_path, file="[criteria]\n" + "\n".join(lines)).judging.criteria
    assert sum(row.weight for row in rubric.values()) == 1
    assert [str(row.weight) for row in rubric.values()] == list(weights)
