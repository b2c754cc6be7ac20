"""Debates with a known right reading: what a careful reader would say of each, and what would be false comfort."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cited_debates import FABRICATED, SOURCES
from rooms import hold as run_review
from rooms import proposal_of
from staged_debates import MOTION, held, hold, house_of, settings_of, silent, staged

import disputatio
from disputatio.api import read_debate
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import start
from disputatio.formats.registry import find_format
from disputatio.motion import read_motion
from disputatio.participants.call import Call, Fault
from disputatio.record.chain import seal
from disputatio.record.events import DebateInterrupted
from disputatio.record.memory import MemoryStore
from disputatio.report.doubts import DoubtKind
from disputatio.report.reading import DebateReport
from disputatio.testing import instance
from review_turns import SOURCES as REVIEWED
from review_turns import criticism, speaking

Answer = dict[str, Any] | str | Fault
CRITERIA = ("logic", "evidence", "responsiveness", "honesty")


@dataclass(frozen=True)
class Reading:
    """What the first screen of a debate must say.

    Attributes:
        worst: the worst doubt.
        says: words that stand in its decision, its grounds, its worst doubt or its scores.
        never: words that would be false comfort anywhere on it.
        decided: whether there is a decision.
    """

    worst: DoubtKind
    says: tuple[str, ...]
    never: tuple[str, ...] = ()
    decided: bool = True


def withdrawn(seat: str, call: Call) -> Answer:
    """Pro takes all of its arguments back in its closing; the judge scores it higher all the same."""
    answer = favouring("pro")(seat, call)
    if isinstance(answer, dict) and call.schema_name == "closing" and seat == "pro":
        answer["own_arguments"] = {
            key: {"status": "withdrawn", "because": "the objection is right"} for key in answer["own_arguments"]
        }
        answer["shift"] = "weakened"
    return answer


def favouring(side: str) -> Callable[[str, Call], Answer]:
    """Answers whose judge finds as the computation does and scores the arguments of ``side`` higher."""

    def answering(seat: str, call: Call) -> Answer:
        answer: Any = staged(seat, call)
        if call.schema_name == "adjudication":
            for argument, row in answer["arguments"].items():
                row.update(dict.fromkeys(CRITERIA, 8 if argument.lower().startswith(side) else 5))
                row["standing"], row["fallacies"] = "UPHELD", []
        return dict(answer)

    return answering


def split(seat: str, call: Call) -> Answer:
    """The first judge finds for pro, the other for con."""
    return favouring("pro" if seat == "judge" else "con")(seat, call)


def fabricating(seat: str, call: Call) -> Answer:
    """Every argument rests on a quotation that stands in no source."""
    answer: Any = favouring("pro")(seat, call)
    if call.schema_name == "opening":
        for row in answer["arguments"]:
            row["quotations"] = [{"source": "study", "quote": FABRICATED}]
    return dict(answer)


async def _cited() -> DebateReport:
    store = MemoryStore()
    motion, form, settings = read_motion(MOTION), find_format("structured"), settings_of("structured")
    debate = await start(Proposal(motion, form, settings, SOURCES), house_of(store, fabricating))
    return DebateReport.of(debate, store.read(debate), store.texts(debate))


async def _review(**answers: Any) -> DebateReport:
    plain = proposal_of("review", rounds="2")
    proposal = Proposal(plain.motion, plain.format, plain.settings, REVIEWED)
    debate, _, store = await run_review(proposal, speaking(**answers))
    return read_debate(store, debate).report()


def _weak(ask: Any) -> Any:
    return criticism(ask, 1, 3)


def _mute(_ask: Any) -> Any:
    return {}


async def _panel(votes: Mapping[str, str]) -> DebateReport:
    def script(ask: Any, _path: Any, _reasons: Any) -> Any:
        return {"stance": f"{ask.seat} stands here.", "rationale": "It has a reason.", "vote": votes[ask.seat]}

    seats = {name: disputatio.Scripted(script) for name in votes}
    rules = disputatio.Panel(rounds=1, threshold=2)
    debate = await disputatio.debate("We should release", format=rules, seats=seats, store=MemoryStore())
    return debate.report()


async def _scripted(format_name: str) -> DebateReport:
    scripted = disputatio.Scripted(lambda ask, path, _: instance(ask.spec.schema, path))
    debate = await disputatio.debate(MOTION, format=format_name, seats={"all": scripted}, store=MemoryStore())
    return debate.report()


async def _market() -> DebateReport:
    return (await disputatio.debate(format="market", store=MemoryStore())).report()


async def _imported() -> DebateReport:
    with TemporaryDirectory() as folder:
        file = Path(folder, "held.md")
        turns = "## Turn 1: PRO Opening\n\nYes, at once.\n\n## Turn 2: CON Opening\n\nNo.\n"
        file.write_text(f"# A debate\n\n- motion: Should we act?\n\n{turns}", "utf-8")
        (debate,) = await disputatio.import_transcripts([file], store=MemoryStore())
        return debate.report()


async def _stopped(status: str) -> DebateReport:
    debate = await hold(max_calls="5")
    cut = [row for row in debate.events if row.kind not in {"BudgetReached", "DebateClosed"}]
    if status == "interrupted":
        last, event = cut[-1], DebateInterrupted(reason="stopped")
        cut.append(seal(event, debate=debate.id, seq=last.seq + 1, at=last.at, previous=last.hash))
    return DebateReport.of(debate.id, cut, debate.store.texts(debate.id))


async def _held(answering: Any, **more: Any) -> DebateReport:
    return (await hold(answering=answering, **more)).report


async def _older() -> DebateReport:
    seats = ("pro=ollama:pro-model", "con=ollama:con-model", "judge=ollama:judge-model")
    return dataclasses.replace(await _held(favouring("con"), seats=seats), software="disputatio 0.0.1")


_JURY = ("pro=ollama:pro-model", "con=ollama:con-model", "judge=ollama:judge-model", "judge_2=ollama:stand-in")
_MAKERS: dict[str, Callable[[], Any]] = {
    "withdrawn": lambda: _held(withdrawn),
    "fabricated": _cited,
    "split jury": lambda: _held(split, seats=_JURY),
    "weak critic": lambda: _review(criticism=_weak),
    "silent critic": lambda: _review(criticism=_mute),
    "con never spoke": lambda: _held(silent("con", "opening")),
    "level panel": lambda: _panel({"planner": "release", "critic": "revise", "operator": "escalate"}),
    "imported": _imported,
    "interrupted": lambda: _stopped("interrupted"),
    "running": lambda: _stopped("running"),
    "single": lambda: _scripted("single"),
    "freeform": lambda: _scripted("freeform"),
    "competition": lambda: _scripted("competition"),
    "panel": lambda: _panel({"planner": "release", "critic": "release", "operator": "release"}),
    "review": _review,
    "market": _market,
    "older": _older,
}
_STAGED = {"truncated", "failed", "unjudged", "degraded", "embedded", "complete"}


@cache
def read_report(name: str) -> DebateReport:
    """The report of one of these debates; made once for all tests."""
    if name in _STAGED:
        return held(name).report
    report: DebateReport = asyncio.run(_MAKERS[name]())
    return report


READINGS: dict[str, Reading] = {
    "withdrawn": Reading(
        DoubtKind.CONTRADICTED,
        ("Withdrawn: PRO-1, PRO-2, PRO-3", "Pro moved: weakened", "Pro withdrew all 3 of its arguments"),
    ),
    "fabricated": Reading(DoubtKind.FALSE_EVIDENCE, ("6 of 6 citations fail the check against the sources",)),
    "split jury": Reading(DoubtKind.SPLIT, ("The judges disagree", "found for pro", "found for con")),
    "weak critic": Reading(
        DoubtKind.UNCHALLENGED,
        ("no evidence that the decision was challenged", "but the challenge was weak"),
        ("Challenge strength",),
    ),
    "silent critic": Reading(DoubtKind.UNCHALLENGED, ("No criticism was raised", "DEGRADED: critic abstained")),
    "con never spoke": Reading(DoubtKind.ONE_SIDED, ("Con has no argument",)),
    "truncated": Reading(
        DoubtKind.UNJUDGED,
        ("None: the ceiling was reached", "not heard: con in the closing"),
        ("Upheld: PRO",),
        decided=False,
    ),
    "failed": Reading(DoubtKind.NO_RESULT, ("None: no seat took a turn",), ("matched",), decided=False),
    "unjudged": Reading(
        DoubtKind.UNJUDGED, ("None: nobody judged", "computed, not judged"), ("evenly matched",), decided=False
    ),
    "embedded": Reading(DoubtKind.NO_WEIGHT, ("135 million parameters",)),
    "level panel": Reading(DoubtKind.SPLIT, ("release 1", "revise 1", "escalate 1")),
    "imported": Reading(DoubtKind.IMPORTED, ("held elsewhere", "states no result"), ("COMPLETE",), decided=False),
    "interrupted": Reading(DoubtKind.NO_RESULT, ("None yet", "stopped before its end"), decided=False),
    "running": Reading(DoubtKind.NO_RESULT, ("None yet", "the record has no end"), decided=False),
    "degraded": Reading(DoubtKind.INCOMPLETE, ("con abstained in the closing",)),
    "single": Reading(DoubtKind.UNCHALLENGED, ("nobody challenged the answer",)),
    "older": Reading(DoubtKind.UNCHECKED, ("another version wrote the record",)),
}
