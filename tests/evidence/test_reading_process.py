"""A file is read by a process that ends at its limits, knows no keys, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from disputatio.errors import InvalidInputError
from disputatio.evidence.reading_process import Limits, SourceReader
from disputatio.evidence.source_files import read_source, read_sources
from disputatio.motion.motion import SourceKind


def left_open(number: int) -> bytes:
    """A page that takes a time that is the square of ``number``, and that no plain bound refuses."""
    return b"<p>" + b"".join(b"<b a%d>" % n for n in range(number)) + b"words</p>"


ENDLESS = left_open(300_000)


def refusal(reader: SourceReader, raw: bytes, kind: SourceKind = SourceKind.HTML) -> str:
    with pytest.raises(InvalidInputError) as refused:
        reader.extract(raw, kind, "The source a.html")
    assert refused.value.next_step
    return refused.value.cause


def processes_below() -> set[str]:
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


@pytest.mark.slow
def test_a_file_that_takes_too_much_processor_time_is_refused() -> None:
    with SourceReader(Limits(cpu_s=1)) as reader:
        cause = refusal(reader, ENDLESS)
        assert cause == "The source a.html cannot be read within 1 s of processor time."
        # The next one has a process of its own, with all its time.
        assert reader.extract(b"<p>words", SourceKind.HTML, "The source").text == "words"


@pytest.mark.slow
def test_a_file_that_takes_too_long_is_refused() -> None:
    with SourceReader(Limits(wall_s=0.5)) as reader:
        assert refusal(reader, ENDLESS) == "The source a.html cannot be read within 0.5 s."


@pytest.mark.slow
def test_a_file_that_takes_too_much_memory_is_refused() -> None:
    page = b"<p>" + b"".join(b"<b a%d>" % n for n in range(400)) + b"</p>" + b"<p>words" * 20_000
    with SourceReader(Limits(memory_bytes=300 << 20)) as reader:
        cause = refusal(reader, page)
        # The library that reads HTML has an error of its own for it.
        assert cause.startswith(
            ("The source a.html cannot be read within 300 MB", "The source a.html cannot be read as")
        )


def test_one_process_reads_one_file_after_another() -> None:
    before = processes_below()
    with SourceReader() as reader:
        for number in range(3):
            assert reader.extract(f"<p>{number}", SourceKind.HTML, "The source").text == str(number)
            assert len(processes_below() - before) == 1
    assert processes_below() == before


def test_the_process_knows_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with SourceReader() as reader:
        reader.extract("<p>words", SourceKind.HTML, "The source")
        (child,) = {int(number) for number in processes_below()} & {reader._process.pid}  # type: ignore[union-attr]
        assert b"sk-secret" not in Path(f"/proc/{child}/environ").read_bytes()


@pytest.mark.slow
def test_another_thread_stops_what_is_being_read() -> None:
    with SourceReader() as reader:
        stopping = threading.Timer(0.5, reader.stop)
        stopping.start()
        assert refusal(reader, ENDLESS) == "The source a.html was not read: its reading was stopped."
        assert refusal(reader, b"<p>words") == "The source a.html was not read: its reading was stopped."
        stopping.join()


@pytest.mark.slow
def test_nothing_goes_on_when_the_reader_is_killed() -> None:
    script = (
        "import os, threading; from disputatio.evidence.reading_process import *\n"
        "reader = SourceReader(Limits(wall_s=1))\n"
        "reader.extract('<p>x', SourceKind.HTML, 'x'); print(reader._process.pid, flush=True)\n"
        "threading.Timer(0.3, os._exit, [9]).start()\n"
        "reader.extract('<p>' + ''.join(f'<b a{n}>' for n in range(300_000)), SourceKind.HTML, 'x')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 9, ended.stderr
    with contextlib.suppress(ProcessLookupError):
        child = os.pidfd_open(int(ended.stdout))
        try:
            assert select.select([child], [], [], 30)[0]
        finally:
            os.close(child)


def test_a_program_without_a_guard_is_not_started_again(tmp_path: Path) -> None:
    """What `multiprocessing` would do: import the caller's main module in every process."""
    program = tmp_path / "program.py"
    program.write_text(
        "print('begun', flush=True)\n"
        "from disputatio.evidence.source_files import read_source\n"
        "print(read_source(b'<p>words', 'a.html').text)\n"
    )
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["begun", "words"]


def test_files_beside_the_program_are_not_imported(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported')")
    script = "from disputatio.evidence.source_files import read_source; print(read_source(b'<p>words', 'a.html').text)"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (ended.stdout.strip(), ended.stderr) == ("words", "")


@pytest.mark.parametrize(
    ("raw", "name", "counts"),
    [
        (b"Words.", "a.txt", 0),
        (b"# Words", "a.md", 0),
        (b'{"a": 1}', "a.json", 0),
        (b"a <b>b</b>", "a.md", 1),
        (b"words " * 5_000, "a.md", 1),
        (b"<p>words", "a.html", 1),
    ],
)
def test_only_what_may_be_costly_needs_a_process(
    raw: bytes, name: str, counts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    popen: Callable[..., object] = subprocess.Popen

    def counted(*args: object, **named: object) -> object:
        started.append(args)
        return popen(*args, **named)

    monkeypatch.setattr(subprocess, "Popen", counted)
    read_source(raw, name)
    assert len(started) == counts


def test_all_files_of_a_debate_share_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / f"{number}.html" for number in range(3)]
    for path in paths:
        path.write_text(f"<p>{path.stem}")
    started: list[object] = []
    popen: Callable[..., object] = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **named: started.append(args) or popen(*args, **named))
    assert [source.text for source in read_sources(paths)] == ["0", "1", "2"]
    assert len(started) == 1


def test_a_system_that_starts_no_process_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.delitem(sys.modules, "multiprocessing.spawn", raising=False)
    with pytest.raises(InvalidInputError, match="no process could be started for it"):
        read_source(b"<p>words", "a.html")
