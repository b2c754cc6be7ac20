"""The 40 published transcripts of a debate benchmark import as records, with the references their publisher counted."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import jsonschema_rs
import pytest
from recorded import folder

import disputatio
from disputatio.record.events import TurnTaken
from disputatio.record.verified import read_verified
from disputatio.report.json_export import export_schema

pytestmark = pytest.mark.slow


def files() -> list[Path]:
    return sorted((folder("lechmazur_debate") / "transcripts").glob("*.md"))


@cache
def _imported(paths: tuple[Path, ...]) -> tuple[disputatio.MemoryStore, tuple[disputatio.Debate, ...]]:
    store = disputatio.MemoryStore()
    return store, disputatio.import_transcripts_sync(paths, store=store)


def imported() -> tuple[disputatio.MemoryStore, tuple[disputatio.Debate, ...]]:
    return _imported(tuple(files()))


def named(text: str, key: str) -> list[list[str]]:
    """What the file itself lists under ``key``, turn by turn."""
    rows = re.findall(rf"^- {key}: (.*)$", text, re.MULTILINE)
    return [re.findall(r"\[([^\]]+)\]", row) for row in rows]


def test_all_forty_import_with_ten_turns_each_and_verify() -> None:
    store, debates = imported()
    assert len(debates) == len({debate.id for debate in debates}) == 40
    for debate in debates:
        assert debate.status == "IMPORTED"
        assert sum(isinstance(event, TurnTaken) for event in debate.events) == 10
        assert read_verified(store, debate.id)


def test_claims_and_references_match_the_publisher() -> None:
    """A claim that is named beside another in one pair of brackets, as happens once, was not counted there."""
    more = []
    for file, debate in zip(files(), imported()[1], strict=True):
        text = file.read_text("utf-8")
        turns = [event for event in debate.events if isinstance(event, TurnTaken)]
        for turn, claims, cited in zip(turns, named(text, "claim_ids"), named(text, "cited_claim_ids"), strict=True):
            rows = turn.content["claims"]
            assert isinstance(rows, list | tuple)
            assert [row["id"] for row in rows] == claims
            found = dict.fromkeys(name for row in rows for name in row["refers_to"])
            assert set(cited) <= set(found)
            more += sorted(set(found) - set(cited))
    assert more == ["C2.1"]


def test_no_reference_leads_nowhere() -> None:
    for debate in imported()[1]:
        report = debate.report()
        assert report.warnings == ()
        assert any("all of them found" in row or "no claim refers" in row for row in debate.as_json()["sureness"])


class Links(HTMLParser):
    """The ids of a page and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.add(given.get("id") or "")
        self.links.add(given.get("href") or "")


@pytest.mark.slow
def test_all_forty_render_as_reports() -> None:
    valid = jsonschema_rs.validator_for(export_schema())
    for file, debate in zip(files(), imported()[1], strict=True):
        words = [line.partition("] ")[2] for line in file.read_text("utf-8").splitlines() if line.startswith("[")]
        text = " ".join(debate.text(100).split())
        assert [row for row in words if " ".join(row.split()) not in text] == []
        page = Links(debate.html())
        assert {link[1:] for link in page.links if link} <= page.ids
        references = {name for found in named(file.read_text("utf-8"), "cited_claim_ids") for name in found}
        assert {f"#claim-{name.replace('.', '-')}" for name in references} <= page.links
        assert valid.is_valid(debate.as_json())
        assert debate.markdown().startswith("# ")
        assert debate.argdown()
