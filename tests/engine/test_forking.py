"""A fork keeps the turns that do not depend on what was struck, asks the others again, and names its parent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from cited_debates import hold_cited
from rooms import PatientClock, proposal_of, settings_for
from rooms import hold as run_review
from staged_debates import Staged, hold, house_of, settings_of, silent, staged

import disputatio
from disputatio.debates import read_debate
from disputatio.engine.forking import Fork, check_people, fork, fork_of
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Resumption, Runtime, resume
from disputatio.errors import InvalidInputError, ResumeMismatchError
from disputatio.ledger.budget import Budget
from disputatio.record.chain import Sealed
from disputatio.record.events import CallSent, DebateClosed, DebateForked, DebateOpened
from disputatio.record.history import History, Status, semantic_content
from disputatio.record.memory import MemoryStore
from disputatio.record.store import EventBatch
from disputatio.record.verified import load_verified, read_verified
from disputatio.report.page import render_page
from disputatio.report.reading import DebateReport
from disputatio.report.text import Detail, render_text
from review_turns import SOURCES as REVIEWED
from review_turns import moderation, speaking

OPENINGS = {"opening/pro", "opening/con"}
CROSS = {"cross-examination/pro", "cross-examination/con"}


@cache
def structured() -> Staged:
    return asyncio.run(hold())


@cache
def cited() -> Staged:
    return asyncio.run(hold_cited())


@cache
def reviewed() -> Staged:
    plain = proposal_of("review")
    proposal = Proposal(plain.motion, plain.format, plain.settings, REVIEWED)
    debate, _, store = asyncio.run(run_review(proposal, speaking()))
    return Staged(debate, store)


def looked_at(parent: Staged, *struck: str) -> Fork:
    return fork_of(parent.id, load_verified(parent.store, parent.id), struck)


def forked(parent: Staged, *struck: str, answering: Any = staged) -> Staged:
    """A fork of a debate of the stage, in a store that holds a copy of its parent."""
    store = copied(parent)
    settings = settings_of("structured")
    return Staged(asyncio.run(ask_again(parent, struck, Resumption(settings), house_of(store, answering))), store)


async def ask_again(parent: Staged, struck: Sequence[str], resumption: Resumption, runtime: Runtime) -> str:
    read = load_verified(runtime.store, parent.id)
    return await fork(fork_of(parent.id, read, struck), read, resumption, runtime)


def copied(debate: Staged, events: Sequence[Sealed] | None = None) -> MemoryStore:
    store = MemoryStore()
    texts = debate.store.texts(debate.id)
    rows = tuple(debate.events if events is None else events)

    async def write() -> None:
        await store.append(EventBatch(debate.id, rows, dict(texts), None))

    asyncio.run(write())
    return store


def history(debate: Staged) -> History:
    return History.of(row.event() for row in debate.events)


def prompts_of(debate: Staged) -> dict[str, str]:
    """Every prompt of a debate as one text, by the path of its turn."""
    found, texts = history(debate), debate.store.texts(debate.id)
    prompts: dict[str, str] = {}
    for sent in found.calls:
        prompts[sent.path] = "\n".join(texts[name] for _, name in found.prompts[sent.call])
    return prompts


CLAIM = "Teams can own services end to end"
RESPONSE = "What is said for PRO-2 rests on one team"


@pytest.mark.parametrize(
    ("struck", "kept"), [(("PRO-2",), OPENINGS), (("CON on PRO-2",), OPENINGS | CROSS), (("PRO-1", "CON-3"), OPENINGS)]
)
def test_turns_that_saw_nothing_of_it_are_kept(struck, kept) -> None:
    found = looked_at(structured(), *struck)
    assert set(found.kept) == kept
    assert set(found.again) == set(history(structured()).asked) - kept


@pytest.mark.parametrize(("struck", "words"), [("PRO-2", CLAIM), ("CON on PRO-2", RESPONSE)])
def test_kept_are_exactly_the_turns(struck, words) -> None:
    """The recorded prompts of the parent are the oracle: nobody who was shown the words keeps their turn."""
    prompts = prompts_of(structured())
    found = looked_at(structured(), struck)
    assert {path for path, text in prompts.items() if words not in text} == set(found.kept)
    assert len(found.kept) < len(prompts)


@pytest.mark.parametrize(("struck", "words"), [("PRO-2", CLAIM), ("CON on PRO-2", RESPONSE)])
def test_no_seat_that_is_asked_again_is_shown_it(struck, words) -> None:
    prompts = prompts_of(forked(structured(), struck))
    assert prompts
    assert not [path for path, text in prompts.items() if words in text]


def test_kept_turns_are_asked_of_nobody_and_stand_as_they_were() -> None:
    asked: list[str] = []

    def counting(seat: str, call: Any) -> Any:
        asked.append(f"{call.schema_name} {seat}")
        return staged(seat, call)

    new = forked(structured(), "CON on PRO-2", answering=counting)
    assert sorted(asked) == ["adjudication judge", "closing con", "closing pro"]
    before, after = history(structured()), history(new)
    for path in OPENINGS | CROSS:
        assert after.answered[path] == before.answered[path]
        assert path not in after.sent
    assert DebateReport.of(new.id, new.events).totals.calls == 3


def test_the_trace_of_a_fork_has_nothing_of_what_was_struck() -> None:
    """The trace of a fork has nothing of what was struck and keeps its numbers."""
    outcome = forked(structured(), "PRO-2").report.outcome
    assert [row["id"] for row in outcome["trace"]] == ["PRO-1", "PRO-3", "CON-1", "CON-2", "CON-3"]
    trace = {row["id"]: row for row in forked(structured(), "CON on PRO-2").report.outcome["trace"]}
    assert (trace["PRO-2"]["drew"], trace["PRO-2"]["computed"]) == ([], "UNCERTAIN")


def test_the_record_names_its_parent_verifies() -> None:
    """The record names its parent verifies and leaves the parent alone."""
    new = forked(structured(), "PRO-2")
    assert read_verified(new.store, new.id)
    assert list(new.store.read(structured().id)) == list(structured().events)
    first, second = (row.event() for row in new.events[:2])
    assert isinstance(first, DebateOpened)
    assert isinstance(second, DebateForked)
    assert (second.parent, second.head) == (structured().id, structured().events[-1].hash)
    assert second.struck == ("PRO-2",)
    assert {row.id: row.parent for row in new.store.debates()} == {new.id: structured().id, structured().id: ""}
    assert history(structured()).forked is None


def test_every_surface_names_the_parent() -> None:
    """Every surface names the parent and drops what was struck."""
    new = forked(structured(), "PRO-2")
    report = new.report
    for detail in Detail:
        assert f"A fork of {structured().id} without PRO-2: 2 turns kept, 5 turns asked again." in " ".join(
            render_text(report, 200, detail).split()
        )
    page = render_page(report)
    assert f"<code>{structured().id}</code>" in page
    for shown in (page, render_text(report, 200, Detail.FULL)):
        assert CLAIM not in shown
        assert "Boundaries drawn early are cheap" in shown
    debate = read_debate(new.store, new.id)
    assert debate.as_json()["forked"]["parent"] == structured().id


def test_a_fork_of_a_fork_leaves_out_both() -> None:
    first = forked(structured(), "PRO-2")
    second = forked(first, "CON-1")
    found = history(second).forked
    assert found is not None
    assert (found.parent, found.struck) == (first.id, ("PRO-2", "CON-1"))
    assert [row["id"] for row in second.report.outcome["trace"]] == ["PRO-1", "PRO-3", "CON-2", "CON-3"]
    with pytest.raises(InvalidInputError, match="'PRO-2' is not a part"):
        looked_at(first, "PRO-2")


@pytest.mark.parametrize("struck", ["PRO-2", "CON on PRO-2"])
def test_a_fork_that_was_cut_off_anywhere_goes(struck) -> None:
    """A fork that was cut off anywhere goes on to the same end."""
    whole = forked(structured(), struck)
    wanted = semantic_content(row.event() for row in whole.events)
    kept = len(history(whole).forked.kept)
    for length in range(2 + 2 * kept, len(whole.events)):
        store = copied(whole, whole.events[:length])
        asyncio.run(resume(whole.id, Resumption(settings_of("structured")), house_of(store, staged)))
        again = Staged(whole.id, store)
        assert semantic_content(row.event() for row in again.events) == wanted, length


def test_a_struck_quote_is_shown_to_nobody_who_is_asked_again() -> None:
    quote = next(row for row in cited().report.outcome["trace"] if row["id"] == "CON-1")["citations"][0]["words"]
    found = looked_at(cited(), "CON-1 quote 1")
    assert set(found.kept) == OPENINGS
    # The source itself stays before every seat: what is left out is that CON-1 cites it.
    before, after = prompts_of(cited()), prompts_of(forked(cited(), "CON-1 quote 1"))
    assert before["closing/pro"].count(quote) == after["closing/pro"].count(quote) + 1


@pytest.mark.parametrize(
    ("struck", "first_again"),
    [
        ("REB-2", "moderation/moderator"),
        ("CRIT-2", "rebuttal/rebutter"),
        ("PROP-2", "critique/critic"),
        ("PROP-1 quote 1", "critique/critic"),
    ],
)
def test_a_review_is_asked_again_from_where_it_was_said(struck, first_again) -> None:
    found = looked_at(reviewed(), struck)
    order = list(history(reviewed()).asked)
    place = order.index(first_again)
    assert (list(found.kept), list(found.again)) == (order[:place], order[place:])
    # Nobody can find that a criticism was met which was not answered.
    unanswered = {"CRIT-2": "unresolved"} if struck == "REB-2" else {}
    settled = partial(moderation, **unanswered)
    store = copied(reviewed())
    runtime = Runtime(store, clock=PatientClock(), client_factory=speaking(moderation=settled), checks_first=False)
    resumption = Resumption(settings_for("review"))
    new = Staged(asyncio.run(ask_again(reviewed(), (struck,), resumption, runtime)), store)
    assert new.report.missing == (), new.report.missing
    trace = {row["id"]: row for row in new.report.outcome["trace"]}
    assert struck not in trace
    if struck == "REB-2":
        assert trace["CRIT-2"]["computed_reason"] == "nobody answered it"
    assert "A fork of" in render_text(new.report, 120)


def test_a_missing_turn_is_asked_again() -> None:
    parent = asyncio.run(hold(answering=silent("con", "closing")))
    new = forked(parent, "CON on PRO-2")
    assert new.report.status is Status.COMPLETE
    assert "closing/con" in looked_at(parent, "CON on PRO-2").again


def test_the_estimate_is_what_those_turns_took_in_the_parent() -> None:
    found = looked_at(structured(), "CON on PRO-2")
    assert (found.calls, found.input_tokens, found.output_tokens) == (3, 2700, 420)
    opened = history(forked(structured(), "CON on PRO-2")).opened
    assert opened is not None
    assert opened.estimate["calls"] == 3


def test_ceilings_are_those_of_the_fork_alone() -> None:
    store = copied(structured())
    resumption = Resumption(settings_of("structured"), budget=Budget(calls=2))
    new = Staged(asyncio.run(ask_again(structured(), ("CON on PRO-2",), resumption, house_of(store, staged))), store)
    assert new.report.status is Status.TRUNCATED
    assert len([row for row in new.events if row.kind == CallSent.kind]) == 2
    with pytest.raises(InvalidInputError, match="stopped at its ceiling, so turns are missing: it cannot be forked"):
        looked_at(new, "PRO-1")


BAD = {
    "unknown": (structured, ("PRO-9",), "'PRO-9' is not a part of the debate"),
    "a judge's": (structured, ("judge",), "'judge' is not a part of the debate"),
    "hostile": (structured, ("\x1b[31m<b>",), "is not a part of the debate"),
    "nothing": (structured, (), "No part to strike is named."),
    "freeform": (lambda: asyncio.run(hold("freeform")), ("PRO-1",), "the format freeform cannot be forked"),
    "truncated": (lambda: asyncio.run(hold(max_calls="5")), ("PRO-1",), "stopped at its ceiling"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence_and_a_next_step(name) -> None:
    make, struck, words = BAD[name]
    parent = make()
    with pytest.raises(InvalidInputError, match=words) as refused:
        looked_at(parent, *struck)
    assert refused.value.next_step
    assert refused.value.cause.isprintable()


def test_an_unfinished_debate_is_resumed_first() -> None:
    cut = [row for row in structured().events if row.kind != DebateClosed.kind]
    store = copied(structured(), cut)
    with pytest.raises(InvalidInputError, match="has not ended: it cannot be forked"):
        fork_of(structured().id, load_verified(store, structured().id), ("PRO-1",))


async def test_an_imported_transcript_cannot_be_forked(tmp_path: Path) -> None:
    file, store = tmp_path / "held.md", MemoryStore()
    file.write_text("# A debate\n\n- motion: Should we act?\n\n## Turn 1: PRO Opening\n\nYes, at once.\n", "utf-8")
    (debate,) = await disputatio.import_transcripts([file], store=store)
    with pytest.raises(
        InvalidInputError, match=r"imported from held\.md, so its seats cannot be asked again"
    ) as refused:
        await disputatio.fork(debate.id, ["PRO-1"], store=store)
    assert "show" in refused.value.next_step


def test_a_person_is_not_asked_again_by_a_machine() -> None:
    opened = history(structured()).opened
    assert opened is not None
    seated = replace(opened, seats={**opened.seats, "con": {"kind": "person", "name": "Ada"}})
    with pytest.raises(InvalidInputError, match="The seat con was taken by a person"):
        check_people(seated, {})


def test_other_prompts_than_the_parents_are_refused(tmp_path) -> None:
    folder = tmp_path / "prompts" / "structured"
    folder.mkdir(parents=True)
    (folder / "judging.md").write_text("Judge.", "utf-8")
    resumption = Resumption(settings_of("structured"), prompts=tmp_path / "prompts")
    with pytest.raises(ResumeMismatchError):
        asyncio.run(ask_again(structured(), ("PRO-2",), resumption, house_of(copied(structured()), staged)))
