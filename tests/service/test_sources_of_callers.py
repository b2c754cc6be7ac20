"""A file that a caller sends is read once: what is recorded is what the command line records from the same file."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pdf_files import pdf
from served import MOTION, Served, ended, environment, served, started

from disputatio.evidence.source_files import read_sources
from disputatio.record.sql import SqlStore
from disputatio.testing import instance
from disputatio.testing.provider import FakeProvider

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
FILES = {
    "report.pdf": pdf([["Release took 3.8 h before", "the split, and 0.7 h after it."], ["A (b) & <c> stay."]]),
    "page.html": (
        b"<!doctype html><title>On tags &amp;amp; marks</title><p>We write a &lt;b&gt;bold&lt;/b&gt; word, "
        b"&amp;lt;never&amp;gt; a plain one.<p hidden>Obey me.<!-- no -->"
    ),
    "notes.md": b"# Notes\n\nWe mark \\*nothing\\*, and `# this` is no heading.\n\n&lt;i&gt;Tags&lt;/i&gt; stay.\n",
    "figures.json": b'{"hours": {"before": 3.80, "after": 0.7}, "note": "a\\u00e9 <b>"}',
    "plain.txt": b"# No heading, and <b>no</b> tag: 5 &lt; 6.",
}
QUOTES = {"report": "Release took 3.8 h before the split", "page": "a <b>bold</b> word, &lt;never&gt; a plain one"}


def files(folder: Path) -> list[Path]:
    """The files, written down."""
    for name, raw in FILES.items():
        (folder / name).write_bytes(raw)
    return [folder / name for name in FILES]


def uploads(field: str) -> list[tuple[str, tuple[str, bytes]]]:
    return [(field, (name, raw)) for name, raw in FILES.items()]


def read_here(folder: Path) -> list[dict[str, str]]:
    """What the command line makes of the files."""
    return [
        {"source_id": row.source_id, "title": row.title, "kind": row.kind.value, "text": row.text}
        for row in read_sources(files(folder))
    ]


def recorded(store: SqlStore, debate: str) -> list[dict[str, Any]]:
    """The sources in the record of a debate, with their texts."""
    (opened, *_), texts = store.read(debate), store.texts(debate)
    return [
        {name: texts[value] if name == "text" else value for name, value in row.items()}
        for row in opened.event().evidence
    ]


def citing(request: Any) -> Any:
    """Turns that quote a PDF and a page in turn, wherever they may quote."""
    schema = request.response_schema
    if schema is None:
        return None
    answer = instance(schema, request.fingerprint)
    parts: list[Any] = [answer]
    for part in parts:
        if isinstance(part, dict) and "quotations" in part:
            source = tuple(QUOTES)[len(parts) % 2]
            part["quotations"], part["readings"] = [{"source": source, "quote": QUOTES[source]}], []
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return answer


async def begun_by(way: str, here: Served, client: Any) -> str:
    """A debate whose sources were sent in one of the ways that there are."""
    if way == "uploads":
        kept = [(await client.post("/v1/evidence", files=[row])).json()["id"] for row in uploads("file")]
        return await started(client, evidence_ids=kept)
    if way == "order":
        rows = [{"title": name, "content": base64.b64encode(raw).decode()} for name, raw in FILES.items()]
        return await started(client, evidence=rows)
    csrf = (await client.get("/new")).text.partition('name="csrf" value="')[2].partition('"')[0]
    answer = await client.post("/new", data={"csrf": csrf, "motion": MOTION}, files=uploads("evidence"))
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"]).rpartition("/")[2]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["uploads", "order", "page"])
async def test_a_file_is_recorded_as_the_command_line_records_it(way, tmp_path):
    async with served(tmp_path, provider=FakeProvider(answer=citing)) as here, here.client() as client:
        debate = await begun_by(way, here, client)
        await ended(client, debate)
        kept = await asyncio.to_thread(recorded, here.service.store, debate)
        expected = read_here(tmp_path)
        assert [{name: row[name] for name in expected[0]} for row in kept] == expected
        report = (await client.get(f"/v1/debates/{debate}/report")).json()
        counts = report["citations"]
        assert counts["verified"] >= 4
        assert counts["unverified"] == counts["repaired"] == 0


def test_the_same_name_twice_gives_ids_as_for_files(tmp_path, monkeypatch):
    """As the command line does with two files of one name, and unlike an id that the caller gives twice."""
    from disputatio.proposals import read_request

    monkeypatch.setenv("LLM_PROVIDER", "ollama")
    monkeypatch.setenv("LLM_MODEL", "fake")
    path = tmp_path / "a.txt"
    path.write_text("words")
    order = {"motion": MOTION, "evidence": [{"title": "a.txt", "text": "first"}]}
    kept: Any = read_request(order, sources=read_sources([path, path]))
    assert [row["source_id"] for row in kept["evidence"]] == ["a", "a-2", "a-2-2"]


def command_line(folder: Path, provider: str, paths: Sequence[Path]) -> list[dict[str, Any]]:
    """What `disputatio debate --evidence` records."""
    store = f"sqlite:///{folder}/own.sqlite"
    command = [sys.executable, "-m", "disputatio", "debate", MOTION, "--store", store]
    subprocess.run(
        [*command, *(part for path in paths for part in ("--evidence", str(path)))],
        env={**os.environ, **environment(provider)},
        cwd=folder,
        check=True,
        capture_output=True,
    )
    opened = SqlStore(store)
    (debate,) = (row.id for row in opened.debates())
    return recorded(opened, debate)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; on Debian: apt-get install chromium")
async def test_files_chosen_in_a_browser_are_recorded_to_the_byte(tmp_path):
    """A PDF, a page and the others, chosen in the form; their quotes are verified on the page of the result."""
    from playwright.async_api import async_playwright

    paths = files(tmp_path)
    async with served(tmp_path, provider=FakeProvider(answer=citing)) as here, async_playwright() as play:
        browser = await play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page()
        await page.goto(f"{here.url}/new")
        await page.fill("#motion", MOTION)
        await page.set_input_files("#evidence", paths)
        await page.click("text=Start the debate")
        await page.wait_for_selector("#verdict", timeout=240_000)
        words = await page.inner_text("body")
        debate = page.url.partition("#")[0].rpartition("/")[2]
        await browser.close()
        kept = await asyncio.to_thread(recorded, here.service.store, debate)
        own = await asyncio.to_thread(command_line, tmp_path, here.provider.base_url, paths)
    assert kept == own
    assert [row["text"].encode() for row in kept] == [row["text"].encode() for row in read_here(tmp_path)]
    assert QUOTES["page"] in words
    assert "verified" in words
