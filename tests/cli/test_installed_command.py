"""The installed command in fresh interpreters: pipes, closed streams, full disks, Ctrl-C at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import pytest
from cli_commands import Call, Commands, executable

from disputatio.testing import FakeProvider

pytestmark = pytest.mark.slow

MOTION = "We should act, und zwar für alle"


@pytest.fixture
def environ(bare: Path) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def shell(line: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which ``$D`` is the command; prints the exit codes of its pipe at the end."""
    script = f"{line}; echo codes: ${{PIPESTATUS[*]}} >&3"
    read, write = os.pipe()
    done = subprocess.run(
        ["bash", "-c", f"exec 3>&{write}; {script}"],
        env={**environ, "D": str(executable())},
        capture_output=True,
        text=True,
        pass_fds=[write],
        timeout=60,
        check=False,
    )
    os.close(write)
    with os.fdopen(read) as codes:
        done.args = codes.read().strip().removeprefix("codes: ")
    return done


def test_the_module_runs_as_the_command_does(environ: dict[str, str]) -> None:
    for command in ([str(executable())], [sys.executable, "-m", "disputatio"]):
        done = subprocess.run([*command, "--version"], env=environ, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"disputatio {version('disputatio')}\n", "")
    wrong = subprocess.run(
        [sys.executable, "-m", "disputatio", "debat"], env=environ, capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert "`disputatio --help`" in wrong.stderr


def test_who_reads_only_the_beginning_causes_no_failure(
    call: Call, seated: tuple[str, ...], environ: dict[str, str]
) -> None:
    assert call("debate", MOTION, *seated).code == 0
    debate = call("list").out.split("\t")[0]
    for command, beginning in (
        (f"show {debate}", "Disputatio"),
        (f"show {debate} --as json", "{"),
        ("--help", " "),
    ):
        done = shell(f"$D {command} | head -1", environ)
        assert done.args == "0 0"
        assert done.stdout.startswith(beginning)
        assert done.stderr == ""
    nobody = shell(f"$D show {debate} | true", environ)
    assert (nobody.args, nobody.stderr) == ("0 0", "")


def test_streams_that_are_closed_take_and_give_nothing(environ: dict[str, str]) -> None:
    assert shell("$D list >&-", environ).args == "0"
    assert shell("$D nonsense 2>&-", environ).args == "2"
    unread = shell("$D debate - <&-", environ)
    assert unread.args == "2"
    assert "The motion is empty" in unread.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_told(call: Call, seated: tuple[str, ...], environ: dict[str, str]) -> None:
    ended = shell("$D models >/dev/full", environ)
    assert ended.args == "2"
    assert ended.stderr.startswith("The output cannot be written: No space left on device.\n")
    assert "Exception ignored" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_debate_whose_output_cannot_be_written_is_stopped_and_a_result_is_kept(
    commands: Commands, provider: FakeProvider
) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        watched = commands.debate(MOTION, out=full)
        recorded = commands.debate(MOTION, "--json", out=full)
    finally:
        os.close(full)
    assert watched.code == 130
    assert "it cannot be written (No space left on device). So the debate was stopped" in watched.err
    assert "Go on with it: disputatio resume" in watched.err
    assert recorded.code == 2
    assert "The result cannot be written" in recorded.err
    debate = recorded.err.split("disputatio show ")[1].strip()
    assert commands.run("verify", debate).code == 0


def test_a_narrow_encoding_loses_letters_and_nothing_else(
    call: Call, seated: tuple[str, ...], environ: dict[str, str]
) -> None:
    assert call("debate", MOTION, *seated).code == 0
    narrow = {**environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    listed = shell("$D list", narrow)
    assert (listed.args, listed.stderr) == ("0", "")
    assert "f?r alle" in listed.stdout
    as_json = shell("$D list --json", narrow)
    assert as_json.args == "0"
    assert r"f\u00fcr alle" in as_json.stdout


def test_ctrl_c_while_the_command_is_still_starting_is_no_failure(
    environ: dict[str, str], provider: FakeProvider, seated: tuple[str, ...], bare: Path
) -> None:
    # Stands where the commands are imported: told as soon as that begins, it waits there to be interrupted.
    (bare / "typer.py").write_text("print('begun', flush=True)\nwhile True: pass\n")
    running = subprocess.Popen(
        [str(executable()), "debate", MOTION, *seated],
        env={**environ, "PYTHONPATH": str(bare)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    try:
        assert running.stdout.readline() == "begun\n"
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, out, err) == (130, "", "")
