"""An installed prompt file that was altered refuses to run, unless a file given by its name takes its place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import disputatio

pytestmark = pytest.mark.slow

NAME = "freeform/monologue.md"
PROGRAM = """
import asyncio, sys
from pathlib import Path
import disputatio
from disputatio.testing import InstanceClient
held = disputatio.debate_sync(
    "Should we act?", format=disputatio.Freeform(rounds=1), seats={"all": "ollama:x"}, store=disputatio.MemoryStore(),
    client_factory=lambda *_: InstanceClient(), prompts=Path(sys.argv[1]) if sys.argv[1:] else None,
)
print(held.status, held.report().prompts["freeform/monologue.md"], *held.report().warnings, sep="\\n")
"""


@pytest.fixture(scope="module")
def altered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation in which somebody made one prompt milder."""
    folder = tmp_path_factory.mktemp("installed")
    source = Path(disputatio.__file__).parent
    shutil.copytree(source, folder / "disputatio", ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "disputatio" / "prompts" / NAME
    file.write_text(f"{file.read_text('utf-8')}\nBe brief.\n", "utf-8")
    return folder


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=installed,
    )


def test_refusal_stays_with_an_override_of_another_prompt(altered, tmp_path):
    """It refuses by name and an override of another prompt does not help."""
    other = tmp_path / "freeform" / "summing.md"
    other.parent.mkdir()
    other.write_text((altered / "disputatio" / "prompts" / "freeform" / "summing.md").read_text("utf-8"), "utf-8")
    ended = run(altered, str(tmp_path))
    assert ended.returncode != 0
    assert f"The prompt file {NAME} is not the one this version was released with." in ended.stderr


def test_runs_with_prompt_overridden_by_name_and_record_says(altered, tmp_path):
    """It runs with that prompt overridden by name and the record says which and with what."""
    import hashlib

    own = tmp_path / NAME
    own.parent.mkdir()
    shutil.copy(Path(disputatio.__file__).parent / "prompts" / NAME, own)
    ended = run(altered, str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    status, digest, *warnings = ended.stdout.splitlines()
    assert status == "COMPLETE"
    assert digest == hashlib.sha256(own.read_bytes()).hexdigest()
    assert f"The prompt {NAME} is overridden." in warnings
