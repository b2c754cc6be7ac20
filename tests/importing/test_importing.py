"""A transcript becomes a record that says what the file says and nothing else."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import disputatio
from disputatio import InvalidInputError, MemoryStore, ResumeMismatchError
from disputatio._cli.main import main
from disputatio.importing.imported_record import import_transcript
from disputatio.importing.transcript_file import read_transcript
from disputatio.record.events import DebateClosed, TranscriptImported, TurnTaken, VoteCounted
from disputatio.record.text import digest
from disputatio.record.verified import read_verified
from disputatio.report.json_export import export_schema
from strategies import examples

pytestmark = pytest.mark.slow

SUNDAYS = Path(__file__).with_name("library_sundays.md")
AS_JSON = {
    "motion": "The town library should open on Sundays",
    "seats": {"pro": {"model": "first-model"}},
    "turns": [
        {"seat": "PRO", "claims": [{"id": "P1", "text": "Most readers work."}, "No id here."], "words": 4},
        {"seat": "Con", "phase": "Opening", "text": "[P1] is a guess.", "at": "19:10"},
    ],
    "judgments": [{"judge": "somebody", "winner": "con", "margin": 2}],
    "room": {"name": "north"},
}


def imported(*files: Path, store: Any = None) -> list[disputatio.Debate]:
    return list(disputatio.import_transcripts_sync(files, store=store or MemoryStore()))


@pytest.fixture(scope="module")
def sundays() -> disputatio.Debate:
    return imported(SUNDAYS)[0]


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_what_the_file_says_is_in_the_record(sundays: disputatio.Debate) -> None:
    opened, source, *rest = sundays.events
    assert opened.motion == {"text": "The town library should open on Sundays", "language": ""}  # type: ignore[union-attr]
    assert isinstance(source, TranscriptImported)
    assert (source.file, source.held, source.stated) == (
        "library_sundays.md",
        "2026-03-01, in the evening",
        {"room": "north hall"},
    )
    assert sundays.texts == {digest(SUNDAYS.read_text("utf-8")): SUNDAYS.read_text("utf-8")}
    turns = [row for row in rest if isinstance(row, TurnTaken)]
    assert [(row.seat, row.phase) for row in turns] == [
        ("pro", "opening"),
        ("con", "opening"),
        ("pro", "answer"),
        ("pro", "answer 2"),
    ]
    assert turns[0].content == {
        "at": "19:00",
        "stated": {"raw_words": "24"},
        "claims": [
            {"id": "", "text": "A word before the numbered claims.", "refers_to": [], "referred_to_by": []},
            {
                "id": "P1.1",
                "text": "Most readers work on the other days.\nThey said so in the survey.",
                "refers_to": [],
                "referred_to_by": ["C1.1"],
            },
            {"id": "P1.2", "text": "A Sunday costs less than a branch.", "refers_to": [], "referred_to_by": ["C1.2"]},
        ],
    }


def test_what_the_file_does_not_say_is_unknown_and_not_zero(sundays: disputatio.Debate) -> None:
    exported = sundays.as_json()
    totals: Any = exported["totals"]
    assert {totals[key] for key in ("calls", "answered", "lost", "usd", "seconds", "input_tokens")} == {None}
    assert [row.kind for row in sundays.events if row.kind in {"CallSent", "CallMade", "TurnAsked"}] == []
    for text in (sundays.text(), sundays.markdown(), sundays.html()):
        assert "0.00 USD" not in text
        assert "unknown: the debate was held elsewhere" in squeezed(text)
    assert read_transcript(SUNDAYS).seats == {"pro": "first-model", "con": "second-model"}


def test_every_surface_says_that_it_was_imported(sundays: disputatio.Debate) -> None:
    said = "held elsewhere, and imported from the transcript library"
    for text in (sundays.text(60), sundays.markdown(), sundays.html(), sundays.argdown()):
        assert "IMPORTED" in text
        assert said in squeezed(text).replace("\\", "")
    exported: Any = sundays.as_json()
    assert exported["status"] == sundays.status == "IMPORTED"
    assert said in exported["heading"]
    assert exported["imported"]["transcript"] == digest(SUNDAYS.read_text("utf-8"))
    assert jsonschema_rs.validator_for(export_schema()).is_valid(exported)
    assert sundays.exit_code == 0


def test_references_lead_to_the_claims_they_name_and_back(sundays: disputatio.Debate) -> None:
    page = sundays.html()
    begun = r'<section class="said claim" id="([^"]+)"'
    places = dict(re.findall(begun + r'.*?<span class="mark">([^<]+)</span>', page, re.DOTALL))
    by_claim = {claim: place for place, claim in places.items()}
    assert list(by_claim) == ["P1.1", "P1.2", "C1.1", "C1.2", "P2.1", "P2.2"]
    blocks = dict(re.findall(begun + r"(.*?)</section>", page, re.DOTALL))
    links = {claim: re.findall(r'href="#([^"]+)"', blocks[place]) for claim, place in by_claim.items()}
    assert links["C1.2"] == [by_claim["P1.2"], by_claim["C1.1"]]
    assert links["C1.1"] == [by_claim["P1.1"], by_claim["C1.2"], by_claim["P2.1"]]
    assert links["P1.1"] == [by_claim["C1.1"]]
    assert "Referred to by: C1.2, P2.1" in squeezed(sundays.text())


def test_a_reference_to_no_claim_is_told(sundays: disputatio.Debate) -> None:
    assert "C1.2 refers to P9.9, which the transcript does not have" in squeezed(sundays.text())
    assert "1 of them to claims that the transcript does not have" in squeezed(sundays.text())


def test_judgments_are_counted_and_no_winner_is_made_of_them(sundays: disputatio.Debate) -> None:
    votes = next(row for row in sundays.events if isinstance(row, VoteCounted))
    assert votes.body["named"] == {"pro": 1, "con": 1}
    assert votes.body["without_winner"] == 1
    assert votes.body["judges"] == [
        {"judge": "a third model", "winner": "pro", "margin": "+1.5"},
        {"judge": "a fourth", "winner": "second-model", "margin": "-0.5"},
        {"judge": "a fifth", "winner": None},
    ]
    closed = sundays.events[-1]
    assert isinstance(closed, DebateClosed)
    assert closed.outcome == {
        "judgment": "Of 3 judges in the transcript 1 named pro, 1 named con and 1 named no winner.",
        "judgments": ["a third model: pro (margin +1.5)", "a fourth: second-model (margin -0.5)", "a fifth: no winner"],
    }
    for text in (sundays.text(), sundays.markdown(), sundays.html()):
        assert "a fourth: second-model" in squeezed(text)
        assert "Of 3 judges in the transcript 1 named pro" in squeezed(text)


def test_argdown_has_each_claim_as_a_statement(sundays: disputatio.Debate) -> None:
    """Argdown has each claim as a statement and no relation that nobody stated."""
    argdown = sundays.argdown()
    assert "\n[P1 2]: A Sunday costs less than a branch" in argdown
    assert not re.search(r"^\s+[-+_]", argdown, re.MULTILINE)


def test_json_tells_the_same_kind_of_things(tmp_path: Path) -> None:
    file = tmp_path / "sundays.json"
    file.write_text(json.dumps(AS_JSON), "utf-8")
    transcript = read_transcript(file)
    assert transcript.seats == {"pro": "first-model", "con": ""}
    assert [(row.seat, row.phase, row.at) for row in transcript.turns] == [("pro", "", ""), ("con", "opening", "19:10")]
    assert transcript.turns[1].claims[0].references == ("P1",)
    assert transcript.turns[0].stated == {"words": "4"}
    assert transcript.stated == {"room": '{"name": "north"}'}
    (debate,) = imported(file)
    assert "not named (transcript)" in debate.text()
    assert "19:10" in debate.text()


def test_the_same_file_is_known_again_and_nothing_is_written(tmp_path: Path) -> None:
    store = MemoryStore()
    first = imported(SUNDAYS, store=store)[0]
    copy = tmp_path / "other name.md"
    copy.write_bytes(SUNDAYS.read_bytes())
    found = asyncio.run(import_transcript(read_transcript(copy), store))
    assert (found.id, found.known, len(store.debates())) == (first.id, True, 1)
    assert tuple(store.read(first.id)) == first.record
    copy.write_text(SUNDAYS.read_text("utf-8").replace("Sundays", "Mondays"), "utf-8")
    assert not asyncio.run(import_transcript(read_transcript(copy), store)).known


def test_the_record_verifies_and_an_altered_transcript_is_found(sundays: disputatio.Debate) -> None:
    store = MemoryStore()
    debate = imported(SUNDAYS, store=store)[0]
    assert read_verified(store, debate.id) == debate.record
    store._texts[debate.id] = {name: text + " " for name, text in debate.texts.items()}
    with pytest.raises(disputatio.VerificationError, match="was altered"):
        read_verified(store, debate.id)


def test_an_imported_debate_is_not_resumed() -> None:
    store = MemoryStore()
    debate = imported(SUNDAYS, store=store)[0]
    with pytest.raises(ResumeMismatchError, match=r"was held elsewhere and imported from library_sundays\.md"):
        disputatio.resume_sync(debate.id, store=store)
    assert tuple(store.read(debate.id)) == debate.record


BAD = {
    "nothing.md": ("", "it has no turn"),
    "no-motion.md": ("## PRO Opening\n\nx", "it does not say what was debated"),
    "silent.md": ("- motion: x\n\n## PRO Opening\n\n## CON Opening\n\nx", "line 3: the turn of pro is empty"),
    "twice.md": (
        "- motion: x\n\n## PRO Opening\n\n[P1] a\n\n## CON Opening\n\n[P1] b",
        "line 7: the claim P1 is in line 3 already",
    ),
    "judges.md": (
        "- motion: x\n\n## PRO A\n\nx\n\n## Judgments\n\nall liked it",
        "line 7: the judgments are not a table",
    ),
    "broken.json": ('{\n"motion": "x",\n', "line 3: it is not JSON"),
    "list.json": ("[]", "it is not a JSON object"),
    "no-turns.json": ('{"motion": "x"}', "turns: it is not a list of turns"),
    "seat.json": ('{"motion": "x", "turns": [{"text": "a"}]}', "turns[0].seat: it does not name a seat"),
    "text.json": ('{"motion": "x", "turns": [{"seat": "pro", "text": []}]}', "turns[0].text: it is not text"),
    "id.json": (
        '{"motion": "x", "turns": [{"seat": "pro", "claims": [{"id": "no id", "text": "x"}]}]}',
        "turns[0].claims[0].id: it is not an id",
    ),
    "deep-fact.json": (
        '{"motion": "x", "turns": [{"seat": "pro", "text": "y"}], "more": ' + '{"a":' * 45_000 + "1" + "}" * 45_001,
        "it is nested too deeply",
    ),
    "deep.json": ('{"motion": "x", "turns": ' + "[" * 100_000, "it is"),
    "binary.md": ("a\x00b", "it looks like binary data"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    """A bad file is refused in one sentence that names the place."""
    file = tmp_path / name
    file.write_text(BAD[name][0], "utf-8")
    with pytest.raises(InvalidInputError) as failed:
        read_transcript(file)
    assert failed.value.cause.startswith(f"The transcript {name}")
    assert BAD[name][1] in failed.value.cause
    assert failed.value.next_step
    assert "\n" not in failed.value.cause


def test_where_one_file_is_bad_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.md"
    bad.write_text("no turn", "utf-8")
    url = f"sqlite:///{tmp_path / 'debates.db'}"
    with pytest.raises(SystemExit) as left:
        main(["import", str(SUNDAYS), str(bad), "--store", url])
    assert left.value.code == 2
    assert "The transcript bad.md: it has no turn." in capsys.readouterr().err
    assert not (tmp_path / "debates.db").exists()


def test_the_command_tells_what_it_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command tells what it imported and the debate is listed and shown."""
    url = f"sqlite:///{tmp_path / 'debates.db'}"

    def told(*arguments: str) -> str:
        with pytest.raises(SystemExit) as left:
            main([*arguments, "--store", url])
        assert left.value.code == 0
        return capsys.readouterr().out

    debate_id, _, rest = told("import", str(SUNDAYS)).partition("  ")
    assert rest == (
        "library_sundays.md: 4 turns, 6 numbered claims, 5 references, 3 judgments, 1 to claims it does not have\n"
    )
    assert told("import", str(SUNDAYS)) == f"{debate_id}  library_sundays.md was imported before\n"
    assert "\timported\tIMPORTED\tThe town library should open on Sundays" in told("list")
    assert "Most readers work on the other days." in told("show", debate_id, "--full")
    assert json.loads(told("import", "--json", str(SUNDAYS)))[0]["dangling_references"] == [
        {"in": "C1.2", "to": "P9.9"}
    ]


words = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)


lines_of_transcripts = st.sampled_from(("## PRO Opening", "- motion: x", "[P1] a", "| a |", "## Judges"))


@examples(30)
@given(st.lists(words | lines_of_transcripts, max_size=12))
def test_any_text_is_a_transcript_or_is_refused(lines: list[str]) -> None:
    """And what is read can be taken in and shown."""
    from disputatio.importing.transcript_file import read_markdown_transcript

    try:
        transcript = read_markdown_transcript("any.md", "\n".join(lines))
    except InvalidInputError:
        return
    store = MemoryStore()
    found = asyncio.run(import_transcript(transcript, store))
    assert read_verified(store, found.id)
