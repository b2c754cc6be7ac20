"""Records leave a store for files and come back with the same head; nothing is lost or trusted that was altered."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from disputatio.errors import InvalidInputError, VerificationError
from disputatio.record.archive import ArchivedRecord, archive_path, read_archive, remove, restore, write_archive
from disputatio.record.sql import SqlStore
from disputatio.record.store import EventBatch
from disputatio.record.text import digest
from disputatio.record.verified import read_verified
from record_makers import Pen, asked, call_sent, chains, closed, opened


def a_record(debate: str = "d1", text: str = "Größe \u2028 \U0001f600 counts") -> ArchivedRecord:
    pen = Pen(debate)
    for event in (opened(), asked(), call_sent("round-1/pro", prompt=(("user", digest(text)),)), closed()):
        pen.write(event)
    return ArchivedRecord(debate, tuple(pen.chain), {digest(text): text})


@settings(max_examples=30, deadline=None)
@given(chains())
def test_any_record_is_read_back_as_it_was(tmp_path_factory, made):
    path = tmp_path_factory.mktemp("archive") / "d1.jsonl.gz"
    record = ArchivedRecord("d1", tuple(made[0]), made[1])
    write_archive(path, record)
    assert read_archive(path) == record
    assert not list(path.parent.glob("*.part"))


async def test_a_record_comes_back_with_its_head_and_row(open_store, tmp_path: Path):
    store: SqlStore = open_store()
    record, other = a_record(), a_record("d2")
    for row in (record, other):
        await store.append(EventBatch(row.debate, row.events, row.texts))
    before, rows = read_verified(store, "d1"), store.debates()
    path = archive_path(tmp_path, rows[0].opened_at, "d1")
    write_archive(path, ArchivedRecord("d1", before, store.texts("d1")))
    assert remove(store, read_archive(path))
    assert store.row("d1") is None
    assert not store.read("d1")
    assert not store.texts("d1")
    assert read_verified(store, "d2") == other.events
    assert await restore(store, read_archive(path))
    assert read_verified(store, "d1") == before
    assert store.debates() == rows
    assert not await restore(store, read_archive(path)), "it is there already"


async def test_what_grew_since_its_file_was_written_stays(open_store, tmp_path: Path):
    store: SqlStore = open_store()
    record = a_record()
    await store.append(EventBatch("d1", record.events, record.texts))
    shorter = ArchivedRecord("d1", record.events[:-1], record.texts)
    assert not remove(store, shorter)
    assert read_verified(store, "d1") == record.events
    path = tmp_path / "d1.jsonl.gz"
    write_archive(path, shorter)
    write_archive(path, record)
    with pytest.raises(InvalidInputError, match="another record"):
        write_archive(path, shorter)
    assert read_archive(path) == record


def test_every_altered_line_is_found(tmp_path: Path):
    path = tmp_path / "d1.jsonl.gz"
    write_archive(path, a_record())
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    for number, line in enumerate(lines):
        altered = json.loads(line)
        if isinstance(altered, dict):
            altered["head"] = "0" * 64
        elif isinstance(altered, str):
            altered += " not"
        else:
            altered[3] = altered[3].replace("{", '{"more":1,', 1)
        for changed in ([json.dumps(altered).encode() + b"\n"], []):
            path.write_bytes(gzip.compress(b"".join([*lines[:number], *changed, *lines[number + 1 :]])))
            with pytest.raises((VerificationError, InvalidInputError)):
                read_archive(path)


NO_ARCHIVES = {
    "nothing": b"",
    "no gzip": b"no gzip",
    "a list": gzip.compress(b"[]\n"),
    "cut off": gzip.compress(b"{}")[:-5],
    "only signs of gzip": b"\x1f\x8b",
}


@pytest.mark.parametrize("content", NO_ARCHIVES.values(), ids=NO_ARCHIVES)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "d1.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError):
        read_archive(path)
    with pytest.raises(InvalidInputError):
        read_archive(tmp_path)
