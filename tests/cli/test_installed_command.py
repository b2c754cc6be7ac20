"""The installed command in fresh interpreters: pipes, closed streams, full disks, Ctrl-C at once."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import pytest
from cli_commands import Call, Commands, executable

import disputatio
from disputatio.testing import FakeProvider
from strategies import FULL

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
        (f"show {debate}", f"freeform {debate}"),
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
def test_unwritable_output_stops_and_keeps_the_result(commands: Commands, provider: FakeProvider) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        watched = commands.debate(MOTION, out=full)
        recorded = commands.debate(MOTION, "--json", out=full)
    finally:
        os.close(full)
    assert watched.code == 130
    assert "stopped because its output is lost: it cannot be written (No space left on device)" in watched.err
    assert "To continue: disputatio resume" in watched.err
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


@pytest.mark.parametrize("mask", ["000", "022", "0777"])
def test_what_a_command_keeps_is_its_users_alone(
    environ: dict[str, str], provider: FakeProvider, seated: tuple[str, ...], bare: Path, mask: str
) -> None:
    """Debates and keys, with all that lies beside them, whatever the umask."""
    home = bare / "kept"
    home.mkdir()
    words = {"M": MOTION, "STORE": str(home / "debates.sqlite"), "SEATED": " ".join(seated)}
    line = f'umask {mask}; $D keys add one --store "$STORE" && $D debate "$M" $SEATED --store "$STORE"'
    done = shell(line, {**environ, **words})
    assert done.args == "0", done.stderr
    kept = {path.name: path.stat().st_mode & 0o077 for path in home.iterdir()}
    assert "debates.sqlite" in kept
    assert not any(kept.values()), kept
    assert (home / "debates.sqlite").stat().st_mode & 0o777 == 0o600


LOOPS = {
    "in the module": "print('begun', flush=True)\nwhile True: pass\n",
    "in a callback": "class A:\n def __del__(self):\n  print('begun', flush=True)\n  while True: pass\nA()\n",
    "in a class": "class A:\n def __set_name__(self, *_):\n  print('begun', flush=True)\n  while True: pass\n"
    "class B:\n a = A()\n",
    "where all is caught": "try:\n print('begun', flush=True)\n while True: pass\n"
    "except BaseException as error:\n raise ImportError('no') from error\n",
}
"""Modules that say when their import has begun, and go on with it until they are interrupted."""


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("library", ["typer", "uvicorn"])
def test_ctrl_c_during_an_import_is_no_failure(environ: dict[str, str], bare: Path, library: str, loop: str) -> None:
    """``typer`` is imported before the command, ``uvicorn`` by it."""
    (bare / f"{library}.py").write_text(LOOPS[loop])
    running = subprocess.Popen(
        [str(executable()), "serve", "--port", "0"],
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


AT_A_CALL = """
import os, signal, sys
left = int(sys.argv.pop(1))
def count(*_):
    global left
    left -= 1
    if not left:
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
from disputatio._cli.main import main
sys.argv[0] = "disputatio"
sys.setprofile(count)
try:
    main()
finally:
    sys.setprofile(None)
    if left > 0:
        os.write(1, b"It had ended.")
"""
"""Runs a command in which Ctrl-C comes at a call of a function, the so-and-so-many-th of the process."""
FEW = (50, 1_500, 40_000, 150_000, 400_000)
MANY = tuple(round(50 * 1.2**step) for step in range(56))


@pytest.mark.parametrize("command", ["debate", "list", "serve", "mcp", "doctor"])
@pytest.mark.parametrize("number", MANY if FULL else FEW)
def test_ctrl_c_while_a_command_begins_says_nothing(
    environ: dict[str, str], bare: Path, seated: tuple[str, ...], command: str, number: int
) -> None:
    words = {"debate": [MOTION, *seated], "serve": ["--port", "0"], "doctor": list(seated)}.get(command, [])
    done = subprocess.run(
        [sys.executable, "-c", AT_A_CALL, str(number), command, *words],
        env=environ,
        cwd=bare,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "It had ended." not in done.stdout:
        # Where it had begun to work already, it says what it stops.
        assert all("Traceback" not in said and "ignored" not in said for said in (done.stdout, done.stderr))
        assert done.returncode == 130, done.stderr


def test_nothing_slow_is_imported_before_ctrl_c_is_looked_after(environ: dict[str, str]) -> None:
    code = "import sys; before = set(sys.modules); import disputatio._cli.main; print(set(sys.modules) - before)"
    # Without ``site``, which may import anything.
    path = f"import sys; sys.path.extend({[str(Path(disputatio.__file__).parents[1])]!r}); "
    done = subprocess.run(
        [sys.executable, "-S", "-c", path + code], env=environ, capture_output=True, text=True, check=True
    )
    slow = {"collections", "contextlib", "enum", "functools", "re", "signal", "types", "typing"}
    assert slow.isdisjoint(ast.literal_eval(done.stdout))
