"""Every surface shows a review: who said what against what, what was struck, what is flagged, how sure it is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rooms import hold, proposal_of

from disputatio.api import read_debate
from disputatio.engine.opening import Proposal
from disputatio.report.argdown import render_argdown
from disputatio.report.markdown import render_markdown
from disputatio.report.page import render_page
from disputatio.report.text import render_text
from review_turns import SOURCES, criticism, moderation, resting, speaking

pytestmark = pytest.mark.slow

RENDERED = {"text": render_text, "markdown": render_markdown, "page": render_page, "argdown": render_argdown}


def fabricating(ask: Any) -> Any:
    body = criticism(ask, 3)
    body["arguments"][1] |= resting(ask, ("audit", "Nobody was ever late."), "evidence")
    return body


async def staged(**answers: Any) -> Any:
    plain = proposal_of("review", rounds="2")
    proposal = Proposal(plain.motion, plain.format, plain.settings, SOURCES)
    debate, _, store = await hold(proposal, speaking(**answers))
    return read_debate(store, debate).report()


@pytest.mark.parametrize("name", ["text", "markdown", "page"])
async def test_the_result_of_a_review_is_shown_with_its_flags(name: str) -> None:
    report = await staged(criticism=fabricating, moderation=[again, moderation])
    shown = " ".join(re.sub(r"[\\*|]", "", RENDERED[name](report)).replace("&#39;", "'").split())
    for words in (
        "Change the limit and keep the duty.",
        "MODERATE",
        "Whether an insurer would cover it.",
        "CRITICAL, fabricated citation (round 1, CRIT-2)",
        "weak challenge",
        "the critic says 3",
        "PROP-201",
        "CRIT-203",
        "asked once more, the first critique was weak",
    ):
        assert words in shown, words


def again(ask: Any) -> Any:
    return moderation(ask, again=True, **{"CRIT-1": "unresolved"})


async def test_a_void_critique_is_not_on_the_map() -> None:
    def louder(ask: Any) -> Any:
        body = criticism(ask, 9)
        body["arguments"][0]["claim"] = "Only the second critique says this of 9 customers."
        return body

    report = await staged(criticism=[lambda ask: criticism(ask, 2), louder])
    page, argdown = render_page(report), render_argdown(report)
    assert "Ground 1 fails" in page
    assert "Ground 1 fails" not in argdown
    assert "Only the second critique says this" in argdown
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert argdown.count("[CRIT-1]: ") == 1


async def test_the_map_links_criticisms_to_their_targets() -> None:
    report = await staged()
    argdown = render_argdown(report)
    assert re.search(r"\[PROP-1\]: .*\n  \+ <PROP-1 case>\n  - \[CRIT-1\]", argdown)
    assert "  - [CRIT-4]" in argdown.partition("# PROPOSER")[0], "a criticism of the thesis attacks the motion"
    assert re.search(r"\[CRIT-1\]: .*\n  \+ <CRIT-1 case>\n  - <REBUTTER on CRIT-1>", argdown)
    page = render_page(report)
    assert 'aria-label="critic on PROP-1: challenge, CRIT-1: tail risk"' in page
