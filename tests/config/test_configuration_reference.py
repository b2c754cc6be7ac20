"""The reference lists exactly the keys, variables, options and providers that exist, and its examples work."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.keys import KEY_VARIABLES, Key, keys_of
from disputatio.config.reference import groups, tables
from disputatio.formats.options import FormatOptions
from disputatio.formats.registry import FORMATS
from disputatio.participants.call import OutputMode
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import AUTOMATIC_ORDER, PROVIDERS, Kind
from disputatio.participants.shared_clients import open_client
from disputatio.request.formats import options_of

REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return re.split(r"^## ", REFERENCE.split(f"\n## {title}\n")[1], flags=re.MULTILINE)[0]


def table(title: str, first_column: str) -> list[list[str]]:
    """The rows of the table in a section whose first column is called so."""
    rows: list[list[str]] = []
    inside = False
    for line in section(title).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == first_column:
            inside = True
        elif inside and not set(cells[0]) <= {"-"}:
            rows.append(cells)
    return rows


def words(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))


def names(key: Key) -> tuple[tuple[str, ...], ...]:
    return (key.pattern,), (key.variable,) if key.variable else (), (key.option,) if key.option else ()


def test_the_tables_of_keys_are_the_keys_there_are():
    documented = {(words(key), words(variable), words(option)) for key, variable, option, _ in table("Keys", "key")}
    assert documented == {names(key) for name in FORMATS for key in keys_of(name)}


def test_each_format_has_a_table_of_its_own_options():
    for name in FORMATS:
        own = [row.key for row in options_of(name) if row.key and row.name not in FormatOptions.model_fields]
        part = section("Keys").partition("<!-- end")[0].partition(f"### Format {name}\n")[2].partition("\n### ")[0]
        assert re.findall(r"^\| `([^`]+)`", part, re.MULTILINE) == own, name


def test_every_bound_choice_and_default_is_in_the_tables():
    for name, about, keys in groups():
        assert about.endswith("."), name
        for key in keys:
            if key.row is None:
                continue
            part = section("Keys").partition(f"### {name}\n")[2].partition("\n### ")[0]
            (line,) = [row for row in part.splitlines() if row.startswith(f"| `{key.pattern}` |")]
            assert key.row.help.rstrip(".").replace("|", "\\|") in line
            assert all(word in line for word in key.row.choices)
            high = key.row.bounds.get("le")
            assert high is None or key.row.is_many or key.row.bounds.get("gt") is not None or f"{high:,}" in line


def test_the_variables_that_hold_keys_are_listed():
    assert [words(row[0])[0] for row in table("Keys", "variable")] == list(KEY_VARIABLES.values())


def test_the_table_of_providers_is_the_providers_there_are():
    documented = [tuple(words(cell) for cell in row) for row in table("Providers", "provider")]
    real = [
        (
            (each.name,),
            (each.base_url,) if each.base_url else (),
            each.key_variables,
            (each.default_model,) if each.default_model else (),
            (each.install,) if each.install else (),
        )
        for each in PROVIDERS.values()
    ]
    assert documented == real


def test_the_addresses_that_variables_move_are_listed():
    moving = {each.base_url_variable for each in PROVIDERS.values() if each.base_url_variable}
    assert moving == set(re.findall(r"[A-Z]+_BASE_URL|[A-Z_]+_ENDPOINT", section("Providers"))) - {"LLM_BASE_URL"}


def test_the_order_of_automatic_providers_is_as_documented():
    named = re.findall(r"`([A-Z_]+_API_KEY)`", section("Where no provider is named"))
    order = [variable for name in AUTOMATIC_ORDER for variable in PROVIDERS[name].key_variables]
    assert [name for name in named if name != "LLM_API_KEY"] == order


def test_the_tables_are_what_the_options_say():
    assert tables() in REFERENCE, "run: python -m disputatio.config.reference docs/reference/configuration.md"


def example(language: str, containing: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", REFERENCE, flags=re.DOTALL)
    (found,) = [block for block in blocks if containing in block]
    return str(found)


def settle(directory: Path, **arguments: object) -> Settings:
    return resolve(
        format_name="structured",
        seats=("pro", "con", "judge"),
        environ={"TEAM_ANTHROPIC_KEY": "team-key-1", "OPENAI_API_KEY": "open-key-1"},
        directory=directory,
        arguments=make_arguments(**arguments),  # type: ignore[arg-type]
    )


def test_the_two_example_files_work_and_say_the_same(tmp_path: Path):
    (tmp_path / "a.toml").write_text(example("toml", "[seats.pro]"), encoding="utf-8")
    (tmp_path / "a.yaml").write_text(example("yaml", "seats:"), encoding="utf-8")
    toml, yaml = settle(tmp_path, config="a.toml"), settle(tmp_path, config="a.yaml")
    assert replace(toml, sources={}) == replace(yaml, sources={})
    assert toml.budget.usd == Decimal("0.50")
    assert toml.seats["pro"].price is not None
    assert toml.credentials.key("judge") == "team-key-1"
    assert toml.credentials.key("judge/fallback") == "open-key-1"


def test_the_example_command_works(tmp_path: Path):
    arguments = shlex.split(example("sh", "--budget-usd").replace("\\\n", " "))[3:]
    given: dict[str, list[str]] = {}
    for option, value in zip(arguments[::2], arguments[1::2], strict=True):
        given.setdefault(option.removeprefix("--").replace("-", "_"), []).append(value)
    settled = settle(tmp_path, seat=tuple(given["seat"]), set=tuple(given["set"]), budget_usd=given["budget_usd"][0])
    assert settled.seats["con"].address == "ollama:qwen3:8b"
    assert settled.limits.closing_words == 150
    assert "vllm:qwen3-32b" in settled.prices


def test_the_example_env_file_works(tmp_path: Path):
    (tmp_path / ".env").write_text(example("sh", "ZAI_API_KEY"), encoding="utf-8")
    settled = settle(tmp_path)
    assert settled.seats["con"].address == "zhipu:glm-4.7"
    assert settled.seats["pro"].address == "openai_compatible:deepseek-chat at https://api.deepseek.com/v1"


def test_the_example_of_the_ownership_rule_is_true(tmp_path: Path):
    block = re.search(r"An example: with\n\n((?:    .*\n)+)", REFERENCE)
    assert block is not None
    lines = [line.strip().replace("...", "zhipu-key-1") for line in block[1].splitlines()]
    (tmp_path / ".env").write_text("\n".join([*lines, "DEEPSEEK_API_KEY=deep-key-1"]), encoding="utf-8")
    settled = settle(tmp_path)
    assert settled.seats["pro"].address == "deepseek:deepseek-flash"
    assert settled.credentials.key("pro") == "deep-key-1"
    assert settled.credentials.key("con") == "zhipu-key-1"


def test_the_guide_to_models_has_a_row_for_every_provider() -> None:
    """Its column of native schemas is what the gateways try."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "models.md").read_text(encoding="utf-8")
    table = page.partition("## What each provider gives")[2].partition("\n\n*Fake server*")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")][2:]
    named = {re.findall(r"`([\w-]+)", row[1])[0].replace("-", "_"): row for row in rows}
    assert set(named) == set(PROVIDERS) - {"rules"}
    for name, row in named.items():
        if PROVIDERS[name].kind is Kind.EMBEDDED:
            continue
        modes = open_client(ModelSeating(provider=name, model="m", base_url="http://localhost/v1"), "key").modes
        assert row[3].startswith("yes" if OutputMode.NATIVE in modes else "no"), name
