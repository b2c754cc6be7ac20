"""Every surface says at once who won, by which method, how many judges agree, and whether it survived the swap."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema_rs
import pytest
from staged_debates import Staged, hold, silent, staged

from disputatio.participants.call import Call, Fault
from disputatio.report.argdown import render_argdown
from disputatio.report.json_export import export_json, export_schema
from disputatio.report.markdown import render_markdown
from disputatio.report.page import render_page
from disputatio.report.text import render_text
from disputatio.report.turns.registry import sitting_of, with_real_names

pytestmark = pytest.mark.slow

SEATS = (
    "pro=ollama:pro-model",
    "con=ollama:con-model",
    *(f"{seat}=ollama:judge-model" for seat in ("judge", "judge_2")),
)
CRITERIA = ("logic", "evidence", "responsiveness", "honesty")


def scored(points: Any, grounds: Any = None) -> Any:
    """Answers whose judge gives every argument the points that ``points`` has for its id, on ``grounds``."""

    def answering(seat: str, call: Call) -> dict[str, Any] | str | Fault:
        answer = staged(seat, call)
        if call.schema_name == "adjudication":
            for argument, row in answer["arguments"].items():
                row.update(dict.fromkeys(CRITERIA, points(argument)))
                row["rests_on"] = grounds(argument) if grounds else row["rests_on"]
        return answer

    return answering


def surfaces(debate: Staged) -> dict[str, str]:
    report = debate.report
    return {
        "text": " ".join(render_text(report, 100).split()),
        "markdown": render_markdown(report).replace("\\", ""),
        "page": " ".join(render_page(report).replace("&#39;", "'").split()),
        "json": json.dumps(export_json(report)),
    }


async def test_a_verdict_says_whether_it_survived_the_swap() -> None:
    debate = await hold(answering=scored(lambda _: 7), seats=SEATS, both_orders=True, panel_method="median")
    for name, shown in surfaces(debate).items():
        assert "a tie by the median of 2 judges (2 tied)" in shown.replace("A tie", "a tie"), name
        assert "no win survived the swap of the sides" in shown, name
        assert "judged by 2 judges, each with either side shown first" in shown.replace("Judged", "judged"), name
    for width in (40, 60, 130):
        shown = " ".join(render_text(debate.report, width).split())
        assert "a tie by the median of 2 judges" in shown, width
        assert "no win survived the swap of the sides" in shown, width


async def test_a_judge_swayed_by_order_is_named() -> None:
    debate = await hold(
        answering=scored(lambda argument: 9 if argument.startswith("A-") else 4), seats=SEATS, both_orders=True
    )
    for name, shown in surfaces(debate).items():
        assert "the order of the sides decided" in shown.replace("The order", "the order"), name
        assert "no win survived the swap" in shown, name
    outcome: Any = debate.report.outcome
    assert outcome["panel"]["order_decided"] == ["judge", "judge_2"]
    assert all(row["first_shown_gains"] == 5 for row in outcome["panel"]["judges"])
    assert "scores of judge may be inflated" in surfaces(debate)["text"]


async def test_a_missing_judge_is_counted_everywhere() -> None:
    # On this stage whoever is neither a side nor the first judge answers as pro does, and so judges.
    seats = (*SEATS[:3], "judge_2=ollama:stand-in", "judge_3=ollama:stand-in")
    debate = await hold(answering=silent("judge", "adjudication"), seats=seats)
    for name, shown in surfaces(debate).items():
        assert "DEGRADED" in shown, name
        assert "judge abstained in the judging" in shown, name
        assert "1 not heard" in shown, name
        assert "by the mean of 3 judges" in shown, name


async def test_void_findings_are_shown_as_void_and_counted_nowhere() -> None:
    def grounds(argument: str) -> list[str]:
        return ["PRO-9"] if argument == "PRO-1" else [argument]

    debate = await hold(answering=scored(lambda _: 6, grounds))
    outcome: Any = debate.report.outcome
    assert outcome["totals"] == {"pro": 6, "con": 6}
    for name, shown in surfaces(debate).items():
        assert "1 finding is void and counts nowhere (judge on PRO-1: it names PRO-9, which does not exist)" in shown, (
            name
        )
    assert "void" in surfaces(debate)["text"].lower()
    assert "VOID" in surfaces(debate)["markdown"]


@pytest.mark.parametrize("given", [{}, {"both_orders": True}, {"anonymous": True, "retest": True}])
async def test_neutral_names_are_translated_back(given: dict[str, Any]) -> None:
    debate = await hold(seats=SEATS, **given)
    shown = surfaces(debate)
    # The page shows answers that were not accepted as they came, in the turns.
    shown["page"] = shown["page"].partition('id="transcript"')[0]
    for name in ("text", "markdown", "page"):
        assert not re.search(r"\b[AB]-\d", shown[name]), name
        assert "Side A" not in shown[name], name
    assert "PRO-1" in render_argdown(debate.report)
    sittings = {sitting_of(row.path) for row in debate.report.turns if row.phase == "judging"}
    expected = {"pro shown first"} if given else {""}
    expected |= {"con shown first"} if "both_orders" in given else set()
    expected |= {"again, pro shown first"} if "retest" in given else set()
    assert sittings == expected


@pytest.mark.parametrize("given", [{}, {"both_orders": True, "retest": True}])
async def test_a_jury_export_is_valid_under_the_schema(given: dict[str, Any]) -> None:
    debate = await hold(seats=SEATS, **given)
    export = json.loads(json.dumps(export_json(debate.report)))
    check = jsonschema_rs.validator_for(dict(export_schema()))
    assert [row.message for row in check.iter_errors(export)] == []
    assert {row["measure"] for row in export["outcome"]["agreement"]} == {
        "Krippendorff's alpha (points)",
        "Kendall's W (points)",
        "Krippendorff's alpha (standings)",
        "Cohen's kappa (standings)",
    }
    assert [row["judge"] for row in export["outcome"]["opinions"]] == ["judge", "judge_2"]
    export["outcome"]["panel"]["winner"] = 3
    assert list(check.iter_errors(export)), "the schema does look at the panel"


def test_real_names_come_back_by_the_path() -> None:
    said = {"arguments": {"A-1": {"reason": "B-2 meets A-1; Side A holds", "rests_on": ["Side B on A-1"]}}, "k": 3}
    assert with_real_names("judging/judge", said) == said
    assert with_real_names("judging/con-first/judge_2", {**said, "arguments": {**said["arguments"], "B-2": {}}}) == {
        "arguments": {"CON-1": {"reason": "PRO-2 meets CON-1; CON holds", "rests_on": ["PRO on CON-1"]}, "PRO-2": {}},
        "k": 3,
    }
