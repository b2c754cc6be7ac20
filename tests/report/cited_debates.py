"""A staged debate that cites its sources, rightly, nearly and wrongly, from a text and from figures in JSON."""

from __future__ import annotations

from typing import Any

from staged_debates import MOTION, Answering, Staged, house_of, settings_of, staged

from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import start
from disputatio.evidence.source_files import read_source
from disputatio.formats.registry import find_format
from disputatio.motion import read_motion
from disputatio.participants.call import Call
from disputatio.record.memory import MemoryStore

STUDY = """# Release study

The median time from commit to release was 3.8 hours in the single service and 0.7 hours after the split.
Incidents rose by 12 percent in the first quarter after the split, and fell back to the old level in the third.

Two of seven teams said that they would not do it again. The study covers one company with 140 engineers.
"""
FIGURES = '{"release": {"hours_before": 3.8412, "hours_after": 0.7}, "incidents": {"change_pct": 12.4}}'
SOURCES = (read_source(STUDY, "study.md"), read_source(FIGURES, "figures.json"))

VERIFIED = "Two of seven teams said that they would not do it again."
NEAR = (
    "Incidents rose by 12 percent in the first quarter after the split, "
    "and they fell back to the old level in the third."
)
CHANGED = "The median time from commit to release was 8.3 hours in the single service and 0.7 hours after the split."
FABRICATED = "Every team that was asked reported a doubling of its speed within a fortnight."


def citing(seat: str, call: Call) -> dict[str, Any]:
    """Answers that cite. PRO insists on a changed number and on words that nobody wrote; CON on a changed value."""
    answer = staged(seat, call)
    if call.schema_name == "opening" and seat == "pro":
        first, second, third = answer["arguments"]
        first["quotations"] = [{"source": "study", "quote": CHANGED}]
        second["quotations"] = [{"source": "study", "quote": NEAR}, {"source": "study", "quote": FABRICATED}]
        third["readings"] = [{"source": "figures", "pointer": "/release/hours_before", "value": "3.84"}]
    if call.schema_name == "opening" and seat == "con":
        answer["arguments"][0]["quotations"] = [{"source": "study", "quote": VERIFIED}]
    if call.schema_name == "cross_examination" and seat == "con":
        answer["PRO-1"]["quotations"] = [
            {"source": "study", "quote": "The study covers one company with 140 engineers."}
        ]
        answer["PRO-3"]["readings"] = [{"source": "figures", "pointer": "/incidents/change_pct", "value": "21.4 %"}]
    return answer


async def hold_cited(answering: Answering = citing, store: MemoryStore | None = None) -> Staged:
    """Hold the debate on its sources in memory."""
    store = store or MemoryStore()
    proposal = Proposal(read_motion(MOTION), find_format("structured"), settings_of("structured"), SOURCES)
    return Staged(await start(proposal, house_of(store, answering)), store)
