"""Every extra can be installed beside every other one, under the versions that the constraints pin."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
NOT_FOR_USERS = {"all", "test"}


@cache
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@cache
def pins() -> dict[str, Version]:
    """What is installed for this Python and this machine."""
    rows = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines()]
    here = [row for row in rows if row.marker is None or row.marker.evaluate()]
    return {canonicalize_name(row.name): Version(str(row.specifier).removeprefix("==")) for row in here}


def test_all_has_every_extra_for_users() -> None:
    extras = project()["optional-dependencies"]
    (whole,) = map(Requirement, extras["all"])
    assert whole.name == project()["name"]
    assert whole.extras == set(extras) - NOT_FOR_USERS


def test_every_requirement_of_every_extra_is_pinned() -> None:
    extras = project()["optional-dependencies"]
    wanted = [Requirement(row) for rows in (project()["dependencies"], *extras.values()) for row in rows]
    for row in wanted:
        if row.name == project()["name"]:
            continue
        pinned = pins().get(canonicalize_name(row.name))
        assert pinned is not None, f"{row.name} has no pin in constraints.txt"
        assert row.specifier.contains(pinned), f"{row} is pinned to {pinned}"


@pytest.mark.slow
def test_all_extras_resolve_together_under_the_constraints(tmp_path: Path) -> None:
    """The real resolver, which needs the package index; with every package pinned it has nothing to search for."""
    options = ["--dry-run", "--no-input", "--disable-pip-version-check", "--retries", "0"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *options,
        "-c",
        str(ROOT / "constraints.txt"),
        f"{ROOT}[all,test]",
    ]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    if ended.returncode and re.search(
        r"NewConnectionError|Temporary failure in name resolution|ConnectTimeout", ended.stderr
    ):
        pytest.skip("no package index can be reached from here")
    assert ended.returncode == 0, ended.stderr[-2_000:]
    chosen = re.search(r"^Would install (.+)$", ended.stdout, re.MULTILINE)
    names = [row.rpartition("-")[0] for row in (chosen[1].split() if chosen else [])]
    assert [row for row in names if row != "disputatio" and canonicalize_name(row) not in pins()] == []
