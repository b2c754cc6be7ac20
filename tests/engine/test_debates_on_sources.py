"""Debates on sources: read from files of every kind, kept in the record, shown by shares, the same after a kill."""

from __future__ import annotations

import json
import re
import sys

import pytest
from pdf_files import pdf
from rooms import first_events_of, go_on, hold, proposal_of

from disputatio.engine.preview import preview
from disputatio.engine.runtime import recorded_source
from disputatio.errors import InvalidInputError
from disputatio.evidence.source_files import read_source, read_sources
from disputatio.evidence.sources import Source
from disputatio.ledger.prices import context_window
from disputatio.participants.call import Call
from disputatio.participants.model_seat import ModelSeating
from disputatio.prompts.layout import lay_out
from disputatio.record.history import semantic_content
from disputatio.record.memory import MemoryStore
from disputatio.testing import InstanceClient

pytestmark = pytest.mark.slow

WORDS = "Releases took 3.8 hours before the split and 0.7 hours after it."
FILES = {
    "plain.txt": WORDS.encode(),
    "marked.md": f"# Report\n\n*Releases* took **3.8 hours** before the split.\n\n- {WORDS}\n".encode(),
    "page.html": f"<title>A page</title><p>{WORDS}</p><script>no()</script>".encode(),
    "paper.pdf": pdf([[WORDS], ["A second page."]]),
    "figures.json": b'{"release": {"hours": 3.8412, "note": "after the split"}, "big": 12345678901234567890.5}',
}


@pytest.fixture
def sources(tmp_path):
    for name, raw in FILES.items():
        (tmp_path / name).write_bytes(raw)
    read = read_sources([tmp_path / name for name in FILES])
    for name in FILES:
        (tmp_path / name).unlink()
    return tuple(read)


def on(sources, **given):
    proposal = proposal_of(**given)
    return type(proposal)(proposal.motion, proposal.format, proposal.settings, tuple(sources))


def meaning_of(store, debate):
    return semantic_content(row.event() for row in store.read(debate))


def instances(_seating, _key):
    return InstanceClient()


class Listening(InstanceClient):
    """Keeps every call it gets."""

    heard: list[Call]

    def __init__(self, heard):
        super().__init__()
        self.heard = heard

    async def call(self, call, on_text=None):
        self.heard.append(call)
        return await super().call(call, on_text)


async def test_a_debate_cites_files_of_every_kind(sources):
    """A debate cites files of every kind and its record rebuilds them without the files."""
    debate, history, store = await hold(on(sources), instances)
    assert history.status.value == "COMPLETE"
    assert [row["kind"] for row in history.opened.evidence] == ["text", "markdown", "html", "pdf", "json"]
    again = [recorded_source(row, store.texts(debate)) for row in history.opened.evidence]
    for kept, given in zip(again, sources, strict=True):
        assert kept == given
        assert (kept.value, dict(kept.places)) == (given.value, dict(given.places))
        assert kept.passages == given.passages
    checked = [row for turn in history.answered.values() for row in getattr(turn, "citations", ())]
    assert checked
    assert {row["status"] for row in checked} <= {"verified", "repaired", "unverified"}
    broken = [row for turn in history.answered.values() for row in turn.violations]
    unverified = sum(row["status"] == "unverified" for row in checked)
    assert sum(row["rule"] == "unverified_citation" for row in broken) == unverified > 0


@pytest.mark.slow
async def test_a_debate_on_sources_goes_on_from_any_event(sources):
    """A debate on sources goes on from any event to the same end."""
    proposal = on(sources)
    debate, history, store = await hold(proposal, instances)
    total = len(store.read(debate))
    for kept in range(2, total, 5):
        cut = await first_events_of(store, debate, kept)
        resumed = await go_on(debate, on(()), instances, cut)
        assert resumed.status is history.status
        assert meaning_of(cut, debate) == meaning_of(store, debate), kept


def long_source(name: str, about: str) -> Source:
    rows = [f"In year {number} the {about} of the town was counted by {number + 3} people." for number in range(1, 100)]
    (source,) = read_sources([Source(name, name, "\n\n".join(rows))])
    return source


@pytest.mark.slow
async def test_seats_with_one_share_see_one_excerpt():
    """Seats with one share see one excerpt that says what it leaves out."""
    heard: list[Call] = []
    given = on(
        [long_source("splits", "split of services"), long_source("weather", "weather")],
        set=("limits.evidence_chars=4000",),
    )
    debate, history, store = await hold(given, lambda _seating, _key: Listening(heard))
    assert history.status.value == "COMPLETE"
    assert dict(history.opened.shares) == dict.fromkeys(("con", "judge", "pro"), 4000)
    systems = {call.segments[0].text for call in heard}
    assert len(systems) == 1
    (system,) = systems
    assert "[splits#" in system
    assert "Left out of weather for length" in system
    assert len(system) < 4000 + 8000
    first = [call.segments for call in heard]
    heard.clear()
    cut = await first_events_of(store, debate, 1)
    await go_on(debate, given, lambda _seating, _key: Listening(heard), cut)
    assert {call.segments[0].text for call in heard} == systems
    assert sorted(map(str, (call.segments for call in heard))) == sorted(map(str, first))


def test_in_an_excerpt_of_json_every_passage_says():
    """In an excerpt of json every passage says where its first value stands."""
    rows = [{"year": year, "school": f"School {year}", "late": year * 2.5} for year in range(200)]
    figures = read_source(json.dumps({"rows": rows}), "figures.json")
    ((_, _, shown),) = lay_out((figures,), "late at school 120", 2000).texts
    passages = re.findall(r"^\[(figures#\d+), from (\S+)\]\n(.+)$", shown, re.MULTILINE)
    assert passages
    for passage_id, pointer, line in passages:
        span = figures.places[pointer]
        assert figures.text[span.start : span.end] in line
        assert any(row.id == passage_id and row.start <= span.start < row.end for row in figures.passages)


async def test_sources_that_must_be_searched(monkeypatch):
    """Sources that must be searched without the library are refused before anything is spent."""
    monkeypatch.setitem(sys.modules, "bm25s", None)
    store = MemoryStore()
    given = on([long_source("parks", "number of parks")], set=("limits.evidence_chars=4000",))
    with pytest.raises(InvalidInputError, match="pip install 'disputatio\\[evidence\\]'"):
        await hold(given, instances, store)
    assert not store.debates()


async def test_a_preview_counts_the_sources(sources):
    bare, sourced = await preview(on(())), await preview(on(sources))
    assert sourced.calls == bare.calls
    assert sourced.input_tokens > bare.input_tokens


@pytest.mark.parametrize(
    ("provider", "model", "window"),
    [("openai", "gpt-4o", 128_000), ("ollama", "nobody-knows-it", 32_768), ("embedded", "smollm2-135m", 4_096)],
)
def test_the_window_of_a_model_is_the_known_one_or_counted(provider, model, window):
    """The window of a model is the known one or counted with as unknown."""
    assert context_window(ModelSeating(provider=provider, model=model)) == window


async def test_a_seat_is_shown_a_quarter_of_its_window(sources):
    """A seat is shown a quarter of its window and a small one less."""
    _, history, _ = await hold(on(sources, set=("seats.pro.piecewise=true",)), instances)
    assert dict(history.opened.shares) == {"pro": 3_000, "con": 24_576, "judge": 24_576}
