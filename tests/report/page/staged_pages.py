"""Pages to look at: the staged debates, one with sources that are quoted, and ones whose every word is hostile."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import Enum
from functools import cache
from typing import Any

from cited_debates import hold_cited
from rooms import hold as run_review
from rooms import proposal_of
from staged_debates import MOTION, Staged, held, hold, hostile, house_of, settings_of, staged

import disputatio
from disputatio.api import read_debate
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import start
from disputatio.formats.registry import find_format
from disputatio.market.knowledge import PriceHistory
from disputatio.market.sources.files import load_example
from disputatio.motion import read_evidence, read_motion
from disputatio.participants.call import Call
from disputatio.record.memory import MemoryStore
from disputatio.report.page import render_page
from disputatio.report.reading import DebateReport
from review_turns import SOURCES as REVIEWED
from review_turns import speaking

CANARY = "window.canary=1"
ATTACK = (
    f"</title></style></script></svg></textarea>--> <script>{CANARY}</script> <img src=x onerror={CANARY}> "
    f"<svg/onload={CANARY}> \"' onfocus={CANARY} autofocus tabindex=1 x=' <a href=javascript:{CANARY}>a</a> "
    f"javascript:{CANARY} {{{{ 7*7 }}}} {{% raw %}} ${{{CANARY}}} }} body{{display:none}} "
    "@import 'http://e.example/x'; "
    "<meta http-equiv=refresh content=0> <base href=http://e.example/> <iframe srcdoc=x></iframe> "
    "<form action=http://e.example><input autofocus></form> &lt;b&gt; ]]> \x1b[31m \u202e\U000e0041 #verdict"
)
SCRIPTS = (
    "هل ينبغي للشركة الناشئة أن تبني خدمات مصغرة منذ اليوم الأول؟ האם כדאי? "
    "👩\u200d👩\u200d👧🏳️\u200d🌈👍🏽 क्या हमें सूक्ष्म सेवाएँ ျမန္မာ ไทยไม่มีช่องว่างระหว่างคำเลยสักนิดเดียว "
    "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz ﷽﷽﷽ ＷＩＤＥ"
)
QUOTED = "3.8 hours from commit to release against 0.7 hours after the split"
SOURCE = (
    f"Benchmark of one team.\n\nMeasured over a month: {QUOTED.replace(' ', chr(10), 1)}.\nNothing else was measured."
)


def quoting(seat: str, call: Call) -> dict[str, Any]:
    """Answers whose first argument quotes the source."""
    answer = staged(seat, call)
    if call.schema_name == "opening" and seat == "pro":
        answer["arguments"][0]["evidence"] = f'The team\'s own log: "{QUOTED}".'
    return answer


async def _sourced() -> Staged:
    store = MemoryStore()
    evidence = (read_evidence("benchmark", "benchmark.md", SOURCE),)
    motion = read_motion(MOTION)
    proposal = Proposal(motion, find_format("structured"), settings_of("structured"), evidence)
    return Staged(await start(proposal, house_of(store, quoting)), store)


async def _market(*, history: bool) -> DebateReport:
    """A debate of the rules' own analysts, with or without charts of a price."""
    knowledge = None
    if history:
        days = tuple(f"2026-{month:02}-{day:02}" for month in range(1, 10) for day in range(1, 21))
        rising = tuple(100_000.0 + 37 * place for place in range(len(days)))
        lines = {"close": rising, "ma20": (None,) * 20 + rising[20:], "rsi_14": (50.0,) * len(days)}
        knowledge = replace(load_example(), history=PriceHistory(days, lines))
    debate = await disputatio.debate(format=disputatio.Market(knowledge=knowledge), store=MemoryStore())
    return debate.report()


async def _review() -> DebateReport:
    plain = proposal_of("review", rounds="2")
    proposal = Proposal(plain.motion, plain.format, plain.settings, REVIEWED)
    debate, _, store = await run_review(proposal, speaking())
    return read_debate(store, debate).report()


def _in_a_thread(work: Callable[[], DebateReport]) -> DebateReport:
    """What ``work`` gives, from a thread of its own: a test that drives a browser has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def _elsewhere(work: Callable[[], Staged]) -> DebateReport:
    return _in_a_thread(lambda: work().report)


@cache
def report_of(name: str) -> DebateReport:
    """The report of a debate by its name; ``poisoned`` and ``poisoned whole`` are hostile in every field."""
    if name == "sourced":
        return _elsewhere(lambda: asyncio.run(_sourced()))
    if name == "cited":
        return _elsewhere(lambda: asyncio.run(hold_cited()))
    if name == "scripts":
        return _elsewhere(lambda: asyncio.run(hold(answering=hostile(SCRIPTS))))
    if name in {"market", "market history"}:
        return _in_a_thread(lambda: asyncio.run(_market(history=name == "market history")))
    if name == "review":
        return _in_a_thread(lambda: asyncio.run(_review()))
    if name == "poisoned":
        return poisoned(report_of("sourced"), keep=_STRUCTURE)
    if name == "poisoned cited":
        return poisoned(report_of("cited"), keep=_STRUCTURE)
    if name == "poisoned whole":
        return poisoned(report_of("cited"), keep=frozenset())
    if name == "poisoned freeform":
        return poisoned(report_of("freeform"), keep=_STRUCTURE)
    return _elsewhere(lambda: held(name))


@cache
def page_of(name: str) -> str:
    """The page of a debate by its name."""
    return render_page(report_of(name))


_STRUCTURE = frozenset({"form", "seat", "path", "side", "response", "judged", "computed", "status", "id", "text"})
"""Words that decide how a record is read; with these kept every part of the page has hostile words in it."""


def poisoned(report: DebateReport, keep: frozenset[str]) -> DebateReport:
    """``report`` with the attack in every text, apart from the fields in ``keep``; all of ``texts`` are hostile."""
    texts = {digest: f"{ATTACK} {text}" for digest, text in report.texts.items()}
    bad: DebateReport = _poison(dataclasses.replace(report, texts={}), keep)
    return dataclasses.replace(bad, texts=texts, evidence=tuple({**row, "text": _digest(row)} for row in bad.evidence))


def _digest(row: Mapping[str, Any]) -> str:
    return str(row["text"]).removeprefix(ATTACK).strip()


def _poison(value: Any, keep: frozenset[str], name: str = "") -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        kept = name in keep or name in {"cost_usd", "opened_at", "last_at", "usd"} or (keep and value in _WORDS)
        return value if kept else f"{ATTACK} {value}"
    if isinstance(value, Mapping):
        return {key: _poison(row, keep, str(key)) for key, row in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_poison(row, keep, name) for row in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return dataclasses.replace(value, **{field: _poison(getattr(value, field), keep, field) for field in fields})
    return value


_WORDS = frozenset({"refute", "challenge", "partial", "concede", "stands", "narrowed", "withdrawn"})
