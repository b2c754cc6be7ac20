"""What the README and the documents say can be done, is done here."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import disputatio
from disputatio._cli.app import app
from strategies import FULL

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")])
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^(?:    |\$ )\s*(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(disputatio (?:[^\\\n]|\\\n)*)", re.MULTILINE)
_MAKE = re.compile(r"^\s*(?:\$ )?make ([a-z-]+)", re.MULTILINE)


def commands():
    for document in DOCUMENTS:
        for match in _COMMAND.finditer(document.read_text("utf-8")):
            yield pytest.param(match[1], id=f"{document.name}: {match[1][:50]}")


@cache
def whole_program():
    from typer.main import get_command

    return get_command(app)


@pytest.mark.parametrize("line", list(commands()))
def test_every_command_in_the_documents_is_one_the_program_takes(line):
    _, name, *arguments = shlex.split(line.replace("\\\n", " "), comments=True)
    command = whole_program().commands[name]
    while hasattr(command, "commands"):
        name, *arguments = arguments
        command = command.commands[name]
    to_a_file = arguments.index(">") if ">" in arguments else len(arguments)
    command.make_context(name, arguments[:to_a_file])


def test_every_make_target_in_the_documents_exists():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for document in [*DOCUMENTS, ROOT / "CONTRIBUTING.md"]:
        for target in _MAKE.findall(document.read_text("utf-8")):
            assert target in targets, f"{document.name} names make {target}"


def test_every_link_between_documents_leads_somewhere():
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text("utf-8")):
            assert target.startswith("http") or (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_test_folder_that_the_threat_model_names_exists():
    named = re.findall(r"`(tests/[a-z_/]+)`", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert len(named) > 20
    assert [folder for folder in named if not any((ROOT / folder).glob("test_*.py"))] == []


def examples():
    for document in DOCUMENTS:
        for place, block in enumerate(_PYTHON.findall(document.read_text("utf-8"))):
            marks = [pytest.mark.embedded] if '"embedded"' in block else []
            yield pytest.param(block, id=f"{document.name}-{place}", marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("block", list(examples()))
def test_every_example_in_the_documents_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISPUTATIO_STORE", f"sqlite:///{tmp_path}/store.sqlite")
    if '"embedded"' in block and not FULL:
        # As a reader may have it: a settings file in the folder, here for a debate of one argument a side.
        (tmp_path / "disputatio.toml").write_text("[limits]\nminimum_arguments = 1\nmaximum_arguments = 1\n")
    exec(compile(block, "example", "exec"), {"__name__": "example"})  # noqa: S102  (our own documents)


def programs(folder):
    """The programs of the documents and the examples, as files of their own."""
    for document in DOCUMENTS:
        for place, block in enumerate(_PYTHON.findall(document.read_text("utf-8"))):
            (folder / f"{document.stem.replace('-', '_')}_{place}.py").write_text(block, "utf-8")
    for example in sorted((ROOT / "examples").rglob("*.py")):
        shutil.copy(example, folder / f"example_{example.stem}.py")
    found = sorted(map(str, folder.glob("*.py")))
    assert len(found) > 20
    return found


def checked(command, folder):
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False, cwd=folder)


@pytest.mark.slow
def test_every_example_passes_mypy_as_strictly_as_it_can(tmp_path):
    """With the options and the cache of `make types`, which are as strict and know the package already."""
    assert tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["strict"] is True
    run = checked(["mypy", "--config-file", str(ROOT / "pyproject.toml"), *programs(tmp_path)], ROOT)
    assert run.returncode == 0, run.stdout


@pytest.mark.slow
def test_every_example_passes_pyright_as_strictly_as_it_can(tmp_path):
    """Pyright is taken from basedpyright, which brings all it needs; the rules are those of pyright's strict mode."""
    pytest.importorskip("basedpyright", reason="basedpyright is not installed")
    programs(tmp_path)
    rules = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "reportMissingTypeStubs": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"include": ["."], **rules}), "utf-8")
    (tmp_path / "wrong.py").write_text(
        "import disputatio\ndisputatio.Scripted(lambda ask: ask.nothing)\ndisputatio.load('x').cost.calls + 'text'\n",
        "utf-8",
    )
    run = checked(["basedpyright", "--pythonpath", sys.executable, "--outputjson"], tmp_path)
    faults = json.loads(run.stdout)["generalDiagnostics"]
    assert not [row for row in faults if not row["file"].endswith("wrong.py")], run.stdout
    assert {row["range"]["start"]["line"] + 1 for row in faults} == {2, 3}, "a wrong program is found out"


def test_the_front_door_offers_exactly_what_it_promises():
    assert sorted(disputatio.__all__) == [
        "Budget",
        "Competition",
        "Debate",
        "DebateRequest",
        "DisputatioError",
        "Estimate",
        "Evidence",
        "ExitCode",
        "Freeform",
        "GateDecision",
        "InvalidInputError",
        "Judging",
        "Limits",
        "Market",
        "MemoryStore",
        "Motion",
        "Panel",
        "Person",
        "PersonLeftError",
        "ProviderError",
        "RecordError",
        "ResumeMismatchError",
        "Review",
        "Scripted",
        "SeatOptions",
        "StoreError",
        "Structured",
        "Tools",
        "UnknownDebateError",
        "VerificationError",
        "attach_outcome",
        "debate",
        "debate_sync",
        "estimate",
        "estimate_sync",
        "fork",
        "fork_sync",
        "import_transcripts",
        "import_transcripts_sync",
        "load",
        "load_all",
        "open_store",
        "recording",
        "resume",
        "resume_sync",
        "should_debate",
        "sign_off",
        "topics",
    ]
    assert all(hasattr(disputatio, name) for name in disputatio.__all__)


def test_the_exit_codes_in_the_readme_are_those_of_the_program():
    told = dict(
        re.findall(r"(\d+) ([a-z ]+)[;,.]", (ROOT / "README.md").read_text("utf-8").split("Exit codes:")[1][:260])
    )
    assert {int(code) for code in told} <= {int(code) for code in disputatio.ExitCode}
    assert told["3"].startswith("truncated")


def test_api_reference_is_generated():
    from disputatio._cli.api_reference import PUBLIC_MODULES, api_reference

    written = (ROOT / "docs/reference/api.md").read_text("utf-8")
    assert written == api_reference(), "run: make reference"
    assert "0x" not in written
    assert all(f"## {module}\n" in written for module in PUBLIC_MODULES)


def test_command_line_reference_is_generated():
    from disputatio._cli.reference import reference

    written = (ROOT / "docs/reference/command-line.md").read_text("utf-8")
    assert written == reference(), "run: make reference"


def test_every_module_that_a_document_names_exists():
    """A file such as ``engine/opening.py`` is looked for in the package, beside the tests and in the benchmark."""
    made_by_users = {"my_debate.py"}
    there = [
        path.relative_to(ROOT).as_posix()
        for top in ("src", "tests", "bench", "examples")
        for path in (ROOT / top).rglob("*.py")
    ]
    for document in DOCUMENTS:
        for name in set(re.findall(r"`([\w/]+\.py)`", document.read_text("utf-8"))) - made_by_users:
            assert any(f"/{path}".endswith(f"/{name}") for path in there), f"{document.name} names {name}"
