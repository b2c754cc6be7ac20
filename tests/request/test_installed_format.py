"""A format that another package brings has its options on every surface, with no further code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

DUEL = Path(__file__).parents[2] / "examples" / "duel"
WORDS = {"minimum": 20, "maximum": 400}
STAGE = """
import asyncio, json, sys
import disputatio
from disputatio.config.keys import keys_of
from disputatio.testing import instance
from disputatio_duel import Duel

scripted = {"all": disputatio.Scripted(lambda ask, path, reasons: instance(ask.spec.schema, path))}
store = sys.argv[1]


def run(**options):
    debate = disputatio.debate_sync("We should adopt microservices", seats=scripted, store=store, **options)
    rules = debate.report().rules
    return {"id": debate.id, "status": debate.status, "words": rules["words"], "tone": rules["tone"],
            "winner": debate.outcome["winner"]}


def refusal(**options):
    try:
        run(**options)
    except disputatio.InvalidInputError as refused:
        return str(refused)


async def mcp_schema():
    from mcp import Client
    from disputatio._mcp.tools import Debates
    from disputatio._mcp.server import server_of
    from disputatio.workers.in_process_runner import InProcessRunner
    from disputatio.record.sql import SqlStore
    opened = SqlStore(store)
    holder = InProcessRunner(opened, concurrency=0)
    async with Client(server_of(Debates(opened, holder))) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    await holder.aclose()
    await opened.aclose()
    return tools["start_debate"].input_schema


def http_schema():
    from disputatio._service.app import create_app
    from disputatio._service.service import Choices, Service
    return create_app(Service(Choices(store, keyless=True)), 0.0).openapi()


print(json.dumps({
    "plain": run(format="duel"),
    "typed": run(format=Duel(words=120, tone="sharp")),
    "file": run(format="duel", config={"words": 60}),
    "bounds": refusal(format={"name": "duel", "words": 3}),
    "other": refusal(format={"name": "panel", "words": 60}),
    "keys": {key.pattern: [key.variable, key.option] for key in keys_of("duel") if key.pattern in ("words", "tone")},
    "mcp": asyncio.run(mcp_schema()),
    "http": http_schema(),
}, default=str))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example installed in it; its sources stay as they are."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(DUEL, folder / "source")
    target = folder / "target"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True, capture_output=True, cwd=folder)
    return target


def fresh(installed: Path, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in ``folder`` in a process that finds the installed package."""
    kept = {name: value for name, value in os.environ.items() if "_API_KEY" not in name and "LLM_" not in name}
    environment = {
        **kept,
        "PYTHONPATH": os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")]),
        "COLUMNS": "160",
        "NO_COLOR": "1",
        **variables,
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def staged(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("staged")
    run = fresh(installed, folder, "-c", STAGE, f"sqlite:///{folder}/store.sqlite", DISPUTATIO_TONE="sharp")
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return {**found, "store": folder / "store.sqlite"}


def tables(schema: Any) -> list[Any]:
    """Every schema of a table of the duel's options."""
    if isinstance(schema, list):
        return [found for row in schema for found in tables(row)]
    if not isinstance(schema, dict):
        return []
    own = schema.get("properties", {}).get("name", {}).get("const") == "duel"
    return [*([schema] if own else []), *(found for row in schema.values() for found in tables(row))]


def test_its_debates_run_verify_and_are_gone_on_with(installed: Path, staged: dict[str, Any]) -> None:
    assert staged["plain"]["status"] == "COMPLETE"
    assert staged["plain"]["winner"] in {"pro", "con", "draw"}
    found, store = staged["plain"]["id"], str(staged["store"])
    for command in ("verify", "show", "resume"):
        run = fresh(installed, staged["store"].parent, "-m", "disputatio", command, found, "--store", store)
        assert run.returncode == 0, run.stderr


def test_its_options_are_taken_in_python_files_and_variables(staged: dict[str, Any]) -> None:
    assert (staged["plain"]["words"], staged["plain"]["tone"]) == (80, "sharp")  # the tone by DISPUTATIO_TONE
    assert (staged["typed"]["words"], staged["typed"]["tone"]) == (120, "sharp")
    assert staged["file"]["words"] == 60
    assert staged["keys"] == {"words": ["DISPUTATIO_WORDS", "--words"], "tone": ["DISPUTATIO_TONE", "--tone"]}


def test_its_options_are_refused_as_others_are(staged: dict[str, Any]) -> None:
    assert "words is 3" in staged["bounds"]
    assert "a whole number from 20 to 400" in staged["bounds"]
    assert "words is for duel debates, and the format is panel" in staged["other"]


@pytest.mark.parametrize("surface", ["http", "mcp"])
def test_its_options_are_in_the_schema(staged: dict[str, Any], surface: str) -> None:
    found = tables(staged[surface])
    assert found
    for table in found:
        (words,) = [row for row in table["properties"]["words"]["anyOf"] if row.get("type") == "integer"]
        assert WORDS.items() <= words.items()
        assert "calm" in json.dumps(table["properties"]["tone"])


def test_a_package_that_cannot_be_loaded_is_named(installed: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(installed, tmp_path / "broken")
    (broken / "disputatio_duel.py").write_text("import a_module_that_is_nowhere\n")
    run = fresh(broken, tmp_path, "-m", "disputatio", "debate", "-f", "duel", "x")
    assert run.returncode == 2
    assert "disputatio-duel" in run.stderr
    assert "Traceback" not in run.stderr


def test_its_options_are_in_the_help_of_its_format_alone(installed: Path, tmp_path: Path) -> None:
    own = fresh(installed, tmp_path, "-m", "disputatio", "debate", "-f", "duel", "--help")
    assert own.returncode == 0, own.stderr
    assert "--words" in own.stdout
    assert "From 20 to 400" in own.stdout
    every = fresh(installed, tmp_path, "-m", "disputatio", "debate", "--help")
    assert "duel" in every.stdout
    assert "--words" not in every.stdout
