"""TOML and YAML say the same things, exactly, and no file is picked by chance."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio.config import FormatScope, Settings, resolve
from disputatio.engine.opening import _rubric
from disputatio.errors import InvalidInputError
from disputatio.participants.model_seat import Price


def weights_of(settled: Settings) -> dict[str, Decimal]:
    """The weights of the criteria, by name."""
    return {name: row.weight for name, row in settled.judging.criteria.items()}


def settle(directory: Path, environ: dict[str, str] | None = None, **arguments: Any) -> Settings:
    return resolve(
        format_name="structured",
        seats=("pro", "con", "judge"),
        environ=environ or {},
        directory=directory,
        arguments=make_arguments(**arguments),
        options=FormatScope(rules={"penalties.overtime": Decimal(-3)}),
    )


TOML = """
language = "German"
seed = 7
rounds = 2

[budget]
usd = 0.10
tokens = 200_000
calls = 40

[criteria]
logic = 0.1
evidence = 0.2
clarity = 0.7

[limits]
closing_words = 150
minimum_arguments = 2
maximum_arguments = 4

[limits.max_tokens]
cross-examination = 1200

[limits.temperature]
judging = 0.1

[rules.penalties]
overtime = -2.5

[price."vllm:qwen3"]
input = 0.07
output = 0.40

[seats]
con = "ollama:qwen3:8b"

[seats.all]
timeout = 60

[seats.pro]
provider = "vllm"
model = "qwen3"
persona = "@personas/pro.txt"
"""
YAML = """
language: German
seed: 7
rounds: 2
budget: {usd: 0.10, tokens: 200_000, calls: 40}
criteria:
  logic: 0.1
  evidence: 0.2
  clarity: 0.7
limits:
  closing_words: 150
  minimum_arguments: 2
  maximum_arguments: 4
  max_tokens: {cross-examination: 1200}
  temperature:
    judging: 0.1
rules:
  penalties:
    overtime: -2.5
price:
  "vllm:qwen3": {input: 0.07, output: 0.40}
seats:
  all: {timeout: 60}
  con: ollama:qwen3:8b
  pro:
    provider: vllm
    model: qwen3
    persona: "@personas/pro.txt"
"""


def test_both_languages_give_the_same_settings(tmp_path: Path):
    (tmp_path / "personas").mkdir()
    (tmp_path / "personas" / "pro.txt").write_text("A dry engineer.\n", encoding="utf-8")
    for name, text in (("disputatio.toml", TOML), ("a.yaml", YAML), ("a.yml", YAML)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    settled = [settle(tmp_path), settle(tmp_path, config="a.yaml"), settle(tmp_path, config="a.yml")]
    assert len({str(replace(each, sources={})) for each in settled}) == 1
    one = settled[1]
    assert one.budget.usd == Decimal("0.10")
    assert weights_of(one) == {"logic": Decimal("0.1"), "evidence": Decimal("0.2"), "clarity": Decimal("0.7")}
    assert one.seats["pro"].persona == "A dry engineer."
    assert one.seats["pro"].price == Price(Decimal("0.07"), Decimal("0.40"))
    assert one.seats["pro"].timeout_s == 60
    assert one.seats["con"].address == "ollama:qwen3:8b"
    assert one.limits.max_tokens == {"cross-examination": 1200}
    assert one.limits.temperature == {"judging": 0.1}
    assert one.rules == {"penalties.overtime": Decimal("-2.5")}
    assert one.sources["seats.con.model"] == "a.yaml: seats.con"
    assert settled[0].sources["budget.usd"] == "disputatio.toml: budget.usd"


@pytest.mark.parametrize("name", ["disputatio.toml", "disputatio.yaml", "disputatio.yml"])
def test_a_file_in_the_working_directory_is_found(tmp_path: Path, name: str):
    text = "language = 'Thai'" if name.endswith("toml") else "language: Thai"
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert settle(tmp_path).sources["language"] == f"{name}: language"


def test_of_two_files_neither_is_picked(tmp_path: Path):
    (tmp_path / "disputatio.toml").write_text("language = 'Thai'", encoding="utf-8")
    (tmp_path / "disputatio.yaml").write_text("language: Lao", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"disputatio\.toml and disputatio\.yaml"):
        settle(tmp_path)
    assert settle(tmp_path, config="disputatio.yaml").language == "Lao"


def test_a_named_file_replaces_the_one_that_lies_there(tmp_path: Path):
    (tmp_path / "disputatio.toml").write_text("language = 'Thai'\nseed = 3", encoding="utf-8")
    (tmp_path / "other.toml").write_text("language = 'Lao'", encoding="utf-8")
    settled = settle(tmp_path, config="other.toml")
    assert (settled.language, settled.seed) == ("Lao", None)


def test_paths_in_a_file_start_from_the_file(tmp_path: Path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "voice.txt").write_text("A poet.", encoding="utf-8")
    text = "store = 'debates.sqlite'\n[seats.pro]\npersona = '@voice.txt'"
    (tmp_path / "deep" / "c.toml").write_text(text, encoding="utf-8")
    settled = settle(tmp_path, config="deep/c.toml")
    assert settled.seats["pro"].persona == "A poet."
    assert settled.store == f"sqlite:///{(tmp_path / 'deep' / 'debates.sqlite').as_posix()}"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("language: German\nlanguage: Thai", "not valid YAML (at line 2"),
        ("language: [", "not valid YAML"),
        ("- German", "a list instead of keys"),
        ("German", "'German' instead of keys"),
        ("5: German", "The key 5"),
        ("language: no", "language is false"),
        ("budget:\n  usd: .inf", "budget.usd"),
        ("a: !!python/object/apply:os.getcwd []", "not valid YAML"),
        ("seats: &s\n  pro: *s", "not valid YAML"),
        ("? [a]\n: b", "not valid YAML"),
    ],
)
def test_yaml_that_says_nothing_usable_is_refused_with_its_place(tmp_path: Path, text: str, hint: str):
    (tmp_path / "disputatio.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInputError) as caught:
        settle(tmp_path)
    assert hint in caught.value.cause
    assert caught.value.next_step


@pytest.mark.parametrize("text", ["", "# nothing but a remark\n", "seats:\n"])
def test_an_empty_yaml_file_sets_nothing_or_says_so(tmp_path: Path, text: str):
    (tmp_path / "disputatio.yaml").write_text(text, encoding="utf-8")
    if "seats" in text:
        with pytest.raises(InvalidInputError, match="seats is nothing"):
            settle(tmp_path)
    else:
        assert settle(tmp_path).language == "English"


def test_yaml_numbers_stay_exact(tmp_path: Path):
    (tmp_path / "disputatio.yaml").write_text("budget:\n  usd: 0.1000000000000000000001", encoding="utf-8")
    assert settle(tmp_path).budget.usd == Decimal("0.1000000000000000000001")


@pytest.mark.parametrize(("name", "text"), [("disputatio.toml", "seed = 5"), ("disputatio.yml", "seed: 5")])
def test_a_file_from_an_editor_that_marks_utf8_is_read(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert settle(tmp_path).seed == 5


def test_a_file_that_is_no_text_is_a_clear_error(tmp_path: Path):
    (tmp_path / "disputatio.toml").write_bytes(b"language = '\xff'")
    with pytest.raises(InvalidInputError, match="is not UTF-8 text"):
        settle(tmp_path)


def test_a_key_may_be_in_a_variable_of_ones_own(tmp_path: Path):
    text = "[seats.pro]\nprovider = 'zhipu'\napi_key_env = 'TEAM_KEY'"
    (tmp_path / "disputatio.toml").write_text(text, encoding="utf-8")
    settled = settle(tmp_path, environ={"TEAM_KEY": "team-key-1"})
    assert settled.credentials.key("pro") == "team-key-1"
    assert settled.sources["seats.pro.api_key"] == ("TEAM_KEY (named by disputatio.toml: seats.pro.api_key_env)")


def test_set_takes_any_key_of_a_file(tmp_path: Path):
    settled = settle(
        tmp_path,
        set=(
            "limits.closing_words=150",
            "limits.temperature.cross-examination=0.4",
            'price."openai:gpt=odd".input=1',
            'price."openai:gpt=odd".output=2',
            "seats.pro=ollama:qwen3:8b",
            "seats.con.persona=a=b",
        ),
    )
    assert settled.limits.closing_words == 150
    assert settled.limits.temperature == {"cross-examination": 0.4}
    assert settled.prices == {"openai:gpt=odd": Price(Decimal(1), Decimal(2))}
    assert settled.seats["pro"].address == "ollama:qwen3:8b"
    assert settled.seats["con"].persona == "a=b"
    assert settled.sources["limits.closing_words"] == "--set limits.closing_words=..."


def test_prices_are_found_by_any_name_of_the_provider(tmp_path: Path):
    settled = settle(
        tmp_path,
        environ={"ZAI_API_KEY": "zai-key-1"},
        set=('price."ZAI:glm-4.7".input=1', 'price."zhipu:glm-4.7".output=2'),
    )
    assert settled.seats["pro"].price == Price(Decimal(1), Decimal(2))
    assert settled.sources["seats.pro.price"] == 'price."zhipu:glm-4.7"'


def test_a_seats_own_price_goes_above_the_table(tmp_path: Path):
    environ = {"ZAI_API_KEY": "zai-key-1", "PRO_LLM_PRICE": "0/0"}
    settled = settle(tmp_path, environ=environ, set=('price."zhipu:glm-4.7".input=1', 'price."zhipu:glm-4.7".output=2'))
    assert settled.seats["pro"].price == Price(Decimal(0), Decimal(0))
    assert settled.seats["con"].price == Price(Decimal(1), Decimal(2))


def test_a_higher_rubric_is_never_mixed_with_a_lower_one(tmp_path: Path):
    (tmp_path / "disputatio.toml").write_text("[criteria]\nlogic = 0.5\nclarity = 0.5", encoding="utf-8")
    assert settle(tmp_path).judging.rubric is None
    named = settle(tmp_path, environ={"DISPUTATIO_RUBRIC": "debate"})
    assert (named.judging.rubric, weights_of(named)) == ("debate", {})
    own = settle(tmp_path, environ={"DISPUTATIO_RUBRIC": "debate"}, set=("criteria.evidence=1",))
    assert (own.judging.rubric, weights_of(own)) == (None, {"evidence": Decimal(1)})


def test_a_criterion_of_ones_own_has_a_question(tmp_path: Path):
    text = '[criteria]\nlogic = 0.5\n[criteria.cost]\nweight = 0.5\nquestion = "Is the cost credible? 1 = a guess."'
    (tmp_path / "disputatio.toml").write_text(text, encoding="utf-8")
    settled = settle(tmp_path)
    assert weights_of(settled) == {"logic": Decimal("0.5"), "cost": Decimal("0.5")}
    assert settled.judging.criteria["cost"].question == "Is the cost credible? 1 = a guess."
    rubric = _rubric(settled)
    assert rubric is not None
    asked = [row.question for row in rubric.criteria]
    assert asked == ["How good is its logic? 1 = very poor, 10 = excellent.", "Is the cost credible? 1 = a guess."]


@pytest.mark.parametrize("question", ["", "x" * 301, "two\nlines"])
def test_a_question_that_is_no_line_is_refused(tmp_path: Path, question: str):
    with pytest.raises(InvalidInputError, match=r"criteria.cost.question .*cannot be used"):
        settle(tmp_path, set=("criteria.cost.weight=1", f"criteria.cost.question={question}"))


def test_a_question_needs_a_criterion(tmp_path: Path):
    with pytest.raises(InvalidInputError, match="asks about a criterion without a weight"):
        settle(tmp_path, set=("criteria.logic=1", "criteria.cost.question=Is it credible?"))
