"""The workflow runs targets of the Makefile on every Python that is promised, and takes actions by commit alone."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOBS: dict[str, Any] = {
    name: job for file in FILES for name, job in yaml.safe_load(file.read_text("utf-8"))["jobs"].items()
}
STEPS: list[dict[str, Any]] = [step for job in JOBS.values() for step in job["steps"]]


def test_every_action_is_named_by_a_commit() -> None:
    assert FILES
    for file in FILES:
        for line in re.findall(r"uses: (.+)", file.read_text("utf-8")):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_every_make_target_that_is_run_exists() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    run = {target for step in STEPS for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))}
    assert run <= targets
    assert {"check", "test", "secrets", "sbom", "audit"} <= run


def test_the_suite_runs_on_every_python_that_is_promised() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    promised = [row.rpartition(" ")[2] for row in project["classifiers"] if re.search(r":: 3\.\d+$", row)]
    assert JOBS["test"]["strategy"]["matrix"]["python"] == promised
    assert project["requires-python"] == f">={promised[0]}"


def test_a_workflow_may_read_the_repository_and_nothing_more() -> None:
    for file in FILES:
        text = yaml.safe_load(file.read_text("utf-8"))
        assert text["permissions"] == {"contents": "read"}
        assert all("permissions" not in job for job in text["jobs"].values())
    checkouts = [step for step in STEPS if "actions/checkout@" in step.get("uses", "")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_nothing_from_outside_is_put_into_a_command() -> None:
    """A title or a branch in a ``run`` step would be run by the shell."""
    assert [step for step in STEPS if "${{" in step.get("run", "")] == []
