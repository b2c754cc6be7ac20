"""Weights of the Hub come once, whole and as the Hub states, or not at all."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedded_stage import a_call, needs_library, own_cache

from disputatio.errors import InvalidInputError
from disputatio.participants.call import Fault, FaultKind
from disputatio.participants.embedded import EmbeddedClient, ModelUnavailableError, obtain
from disputatio.participants.embedded.hub_download import Reference
from disputatio.participants.embedded.weights import find_local
from hub_server import FILE, MODEL, REPOSITORY, Hub, hub_server, weights

CONTENT = weights()
SIZE = len(CONTENT)
FETCH = f"""
import asyncio, sys
from disputatio.errors import DisputatioError
from disputatio.participants.embedded import obtain
try:
    asyncio.run(obtain({MODEL!r}, lambda line: print(line, flush=True)))
except DisputatioError as failure:
    sys.exit(str(failure))
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    for name in ("HF_TOKEN", "HF_HUB_CACHE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return own_cache(monkeypatch, tmp_path / "cache")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[Hub]:
    with hub_server(Hub(CONTENT)) as found:
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        yield found


def folder(cache: Path) -> Path:
    return cache / "embedded" / "weights" / "hub" / REPOSITORY


def left(cache: Path) -> list[str]:
    """What is in the folder besides the lock."""
    return sorted(path.name for path in folder(cache).iterdir() if path.suffix != ".lock")


def is_whole(path: Path) -> bool:
    return path.read_bytes() == CONTENT


async def refusal() -> ModelUnavailableError:
    with pytest.raises(ModelUnavailableError) as refused:
        await obtain(MODEL)
    assert refused.value.next_step
    return refused.value


async def test_a_file_comes_once_with_size_and_folder_first(hub: Hub, cache: Path) -> None:
    lines: list[str] = []
    file = await obtain(MODEL, lines.append)
    assert is_whole(file.path)
    assert file.path == folder(cache) / FILE
    assert left(cache) == [FILE]
    assert lines[0] == f"Fetching {FILE} of {REPOSITORY} once, 3.0 MB, into {folder(cache)}"
    assert lines[-2:] == [f"Fetching {FILE}: 3.0 MB of 3.0 MB", f"Checking {FILE} of {REPOSITORY}"]
    before = len(hub.requests)
    assert await obtain(MODEL, lines.append) == find_local(MODEL) == file
    assert len(hub.requests) == before, "what is here is not asked for again"


@pytest.mark.parametrize("at", [1, 24, SIZE // 2, SIZE - 1])
async def test_a_fetch_that_breaks_off_goes_on_from_there(hub: Hub, cache: Path, at: int) -> None:
    hub.breaks = [at]
    assert is_whole((await obtain(MODEL)).path)
    assert hub.ranges == [None, f"bytes={at}-"]
    assert left(cache) == [FILE]


@pytest.mark.slow
async def test_a_hub_that_brings_nothing_more_is_given_up(hub: Hub, cache: Path) -> None:
    hub.breaks = [1_000_000, 0, 0, 0]
    failure = await refusal()
    assert failure.cause == f"The Hub broke off {FILE} of {REPOSITORY} at 1.0 MB of 3.0 MB."
    assert failure.next_step == "Start it again: it goes on from there."
    assert [Path(name).suffix for name in left(cache)] == [".part"]
    assert find_local(MODEL) is None
    hub.requests.clear()
    assert is_whole((await obtain(MODEL)).path)
    assert hub.ranges == ["bytes=1000000-"]


def test_a_fetch_that_was_killed_goes_on_from_there(hub: Hub, cache: Path) -> None:
    hub.breaks, hub.stalls = [2_000_000], True
    with subprocess.Popen([sys.executable, "-c", FETCH], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(f"Fetching {FILE}: 1."):
                break
        process.kill()
    hub.go_on.set()
    assert [Path(name).suffix for name in left(cache)] == [".part"]
    here = (folder(cache) / left(cache)[0]).stat().st_size
    assert 0 < here <= 2_000_000
    hub.requests.clear()
    assert is_whole(asyncio.run(obtain(MODEL)).path)
    assert hub.ranges == [f"bytes={here}-"]


async def test_a_store_without_ranges_is_asked_for_all_again(hub: Hub, cache: Path) -> None:
    hub.breaks, hub.takes_ranges = [1_000], False
    assert is_whole((await obtain(MODEL)).path)
    assert left(cache) == [FILE]


@pytest.mark.slow
async def test_parts_of_another_version_are_not_mixed_in(hub: Hub, cache: Path) -> None:
    hub.content, hub.breaks = weights(), [1_000_000, 0, 0, 0]
    await refusal()
    hub.content = CONTENT
    hub.requests.clear()
    assert is_whole((await obtain(MODEL)).path)
    assert hub.ranges == [None]
    assert left(cache) == [FILE]


async def test_a_wrong_hash_leaves_nothing(hub: Hub, cache: Path) -> None:
    hub.stated = hashlib.sha256(b"another").hexdigest()
    failure = await refusal()
    assert "its SHA-256 differs" in failure.cause
    assert left(cache) == []


async def test_more_bytes_than_stated_leave_nothing(hub: Hub, cache: Path) -> None:
    hub.stated_size = SIZE - 1
    assert "its SHA-256 differs" in (await refusal()).cause
    assert left(cache) == []


async def test_a_file_without_a_stated_hash_is_not_fetched(hub: Hub, cache: Path) -> None:
    hub.stated = "0123456789abcdef"
    assert "states no SHA-256" in (await refusal()).cause
    assert hub.ranges == []


async def test_a_disk_without_room_is_told_before_any_byte(hub: Hub, cache: Path) -> None:
    hub.stated_size = 10**15
    failure = await refusal()
    assert failure.cause == f"There is no room for {FILE} of {REPOSITORY} (1000000.0 GB) in {folder(cache)}."
    assert "DISPUTATIO_CACHE" in failure.next_step
    assert hub.ranges == []


def test_a_disk_that_fills_up_keeps_nothing(hub: Hub, cache: Path) -> None:
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000)){FETCH}"
    done = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"There is no room for {FILE} of {REPOSITORY} (3.0 MB)")
    assert "Traceback" not in done.stderr
    assert left(cache) == []


@pytest.mark.parametrize(
    ("status", "code", "kind", "words"),
    [
        (404, "EntryNotFound", FaultKind.NO_SUCH_MODEL, "The Hub has no file"),
        (401, "GatedRepo", FaultKind.KEY_MISSING, "granted access"),
        (403, "GatedRepo", FaultKind.KEY_MISSING, "granted access"),
        (401, "RepoNotFound", FaultKind.KEY_MISSING, "it is private, is not there, or HF_TOKEN is not valid"),
        (503, "", FaultKind.NOT_INSTALLED, "The Hub answered 503"),
    ],
)
async def test_a_refusal_is_told_apart(
    hub: Hub, cache: Path, status: int, code: str, kind: FaultKind, words: str
) -> None:
    hub.refuses = (status, code)
    failure = await refusal()
    assert words in failure.cause
    assert failure.kind is kind
    assert failure.kind.is_setup, "a debate does not begin, and no call is made again"
    assert left(cache) == []


async def test_a_hub_that_is_not_reached_is_called_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    failure = await refusal()
    assert failure.cause.endswith("the Hub at 127.0.0.1:9 was not reached.")
    assert "HF_ENDPOINT" in failure.next_step
    monkeypatch.setenv("HF_ENDPOINT", "not-an-address")
    assert "which is no address" in (await refusal()).cause
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "HF_HUB_OFFLINE" in (await refusal()).cause


async def test_the_token_goes_to_the_hub_and_not_to_its_store(
    hub: Hub, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_ofthistest")
    await obtain(MODEL)
    assert {(who, token) for _, who, _, _, token in hub.requests} == {("hub", "Bearer hf_ofthistest"), ("store", None)}


async def test_two_fetches_at_once_ask_for_the_bytes_once(hub: Hub, cache: Path) -> None:
    lines: list[str] = []
    first, second = await asyncio.gather(obtain(MODEL, lines.append), obtain(MODEL, lines.append))
    assert first == second
    assert hub.ranges == [None]
    assert f"Waiting for another process that fetches {FILE} of {REPOSITORY}" in lines


async def test_what_the_hubs_own_library_has_is_used(cache: Path, tmp_path: Path) -> None:
    home = tmp_path / "hf" / "hub" / "models--maker--model-GGUF"
    blob = home / "blobs" / hashlib.sha256(CONTENT).hexdigest()
    blob.parent.mkdir(parents=True)
    blob.write_bytes(CONTENT)
    snapshot = home / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / FILE).symlink_to(blob)
    assert (await obtain(MODEL)).path == snapshot / FILE


@needs_library
async def test_a_fetch_that_failed_is_not_made_by_every_call(hub: Hub, cache: Path) -> None:
    hub.stated = hashlib.sha256(b"another").hexdigest()
    model_client = EmbeddedClient(MODEL)
    found = [await model_client.probe(), await model_client.call(a_call()), await model_client.call(a_call())]
    assert all(isinstance(row, Fault) and row.kind is FaultKind.NOT_INSTALLED for row in found)
    assert hub.ranges == [None]


@needs_library
async def test_a_probe_fetches_so_that_no_debate_waits(hub: Hub, cache: Path) -> None:
    assert await EmbeddedClient(MODEL).probe() is None
    assert left(cache) == [FILE]


@pytest.mark.parametrize(
    "text",
    [
        *("hf:", "hf:owner/repo", "hf:owner/repo/", "hf:owner//file.gguf", "hf:a/b/model.bin"),
        *("hf:a/b/../../x.gguf", "hf:../b/x.gguf", "hf:a/b/x y.gguf", "hf:a/b/.../x.gguf", "hf:a/b/x.gguf?x.gguf"),
    ],
)
def test_a_reference_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"hf:owner/repo/file\.gguf"):
        Reference.read(text)


def test_a_reference_may_name_a_file_in_a_folder() -> None:
    assert Reference.read("hf:owner/repo/q4/model.GGUF") == Reference("owner/repo", "q4/model.GGUF")
