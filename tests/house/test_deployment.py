"""The files for containers name what there is: commands, variables, extras, files. No container is started here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from disputatio._cli.app import app

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
OWN = {name: row for name, row in COMPOSE["services"].items() if row.get("image") == "disputatio"}


def test_there_are_a_database_an_api_and_two_workers() -> None:
    assert set(COMPOSE["services"]) == {"database", "api", "worker"}
    assert COMPOSE["services"]["worker"]["deploy"]["replicas"] == 2
    assert all(row["depends_on"]["database"]["condition"] == "service_healthy" for row in OWN.values())


@pytest.mark.parametrize("service", sorted(OWN))
def test_its_commands_are_ones_the_program_takes(service: str) -> None:
    from typer.main import get_command

    name, *arguments = OWN[service]["command"]
    command: Any = get_command(app).commands[name]  # type: ignore[attr-defined]
    command.make_context(name, list(arguments))


def test_its_variables_are_in_the_example_and_in_the_documents() -> None:
    text = (ROOT / "deploy" / "compose.yaml").read_text("utf-8")
    asked = set(re.findall(r"\$\{([A-Z_]+)", text))
    example = set(re.findall(r"^([A-Z_]+)=", (ROOT / "deploy" / "example.env").read_text("utf-8"), re.MULTILINE))
    assert asked == example
    table = (ROOT / "docs" / "how-to" / "deploy.md").read_text("utf-8")
    assert {name for name in asked if name not in table} == set()


def test_a_container_is_given_longer_to_stop_than_it_drains() -> None:
    words = OWN["worker"]["command"]
    drain = float(words[words.index("--drain") + 1])
    assert float(OWN["worker"]["stop_grace_period"].removesuffix("s")) > drain


def test_the_image_is_made_of_files_and_extras_that_exist() -> None:
    text = (ROOT / "deploy" / "Containerfile").read_text("utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (named,) = re.findall(r"'\.\[([a-z,]+)\]'", text)
    assert set(named.split(",")) <= set(extras)
    for files in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / file).exists() for file in files.split())
