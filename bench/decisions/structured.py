"""Structured debate: what answers, judges, fallacies, citations and prompts come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from decisions.point import Played, Point, play
from disputatio.evidence.citations import Quotation, check_citation
from disputatio.evidence.findings import Status
from disputatio.evidence.sources import Source, SourceSet
from disputatio.judging.judge_scores import JudgeScores
from disputatio.judging.panel_verdict import PanelMethod
from disputatio.judging.panels import Panel
from disputatio.kernel import Ask
from disputatio.motion import Motion
from disputatio.prompts import PromptBook, PromptContext, compose

PLAIN = "It was measured over two years in nine towns, and the figures are published."
MISQUOTED = "words that neither side ever said in this debate"
SENTENCE = "Costs for patients in rural clinics rose by 12 per cent on average, and containers suggest a cause."


def judged(write: Callable[[Ask, str, dict[str, Any]], None], mark: str = "met") -> Played:
    """A debate whose answers are all marked ``mark``; ``write`` changes the finding on each argument."""

    def answering(ask: Ask, made: dict[str, Any]) -> dict[str, Any]:
        if ask.spec.name == "cross_examination":
            return {name: {**row, "response": "challenge"} for name, row in made.items()}
        if ask.spec.name == "closing":
            held = {name: {"status": "stands", "because": PLAIN} for name in made["own_arguments"]}
            return {**made, "own_arguments": held, "answers": dict.fromkeys(made.get("answers", ()), PLAIN)}
        if ask.spec.name == "adjudication":
            for name, row in made["arguments"].items():
                row |= {"fallacies": [], "new_arguments": [], "cross_references": [], "reason": PLAIN}
                if "answers" in row:
                    row["answers"] = {key: {"words": PLAIN, "mark": mark} for key in row["answers"]}
                write(ask, name, row)
        return made

    return play("structured", "We should act", answering)


def trace(played: Played) -> dict[str, dict[str, Any]]:
    """The rows of its trace by argument."""
    return {row["id"]: row for row in played.outcome["trace"]}


def marked_answers() -> tuple[str, bool]:
    """The same debate, once with every question met and once with every question evaded."""
    found = [
        Counter(row["computed"] for row in trace(judged(lambda *_: None, mark)).values()) for mark in ("met", "evaded")
    ]
    words = ["; ".join(f"{number} {name}" for name, number in row.items()) for row in found]
    return f"all met: {words[0]}; all evaded: {words[1]}", found[0] != found[1]


def judges() -> tuple[str, bool]:
    """Three judges in both orders: pro leads in each order, and the medians of the totals put con ahead."""
    points = {"ada": ((6, 5), (3, 7)), "bo": ((2, 7), (6, 5)), "cy": ((6, 5), (6, 5))}
    orders = (("pro", "con"), ("con", "pro"))
    rows = [
        JudgeScores.from_totals(judge, order, {"pro": Fraction(pro), "con": Fraction(con)})
        for judge, both in points.items()
        for order, (pro, con) in zip(orders, both, strict=True)
    ]
    verdict = Panel(tuple(points), ("pro", "con"), PanelMethod.MEDIAN).verdict(rows)
    return f"{verdict.heading}: {verdict.reason}", verdict.winner is None and "wins" not in verdict.heading


def fallacies() -> tuple[str, bool]:
    """Words of CON against PRO-1 are pinned on PRO."""

    def write(ask: Ask, name: str, row: dict[str, Any]) -> None:
        if name == "PRO-1":
            exhibit = next(each for each in ask.spec.exhibits if each.argument.id == name)
            words = " ".join(exhibit.drew[0].reasoning.split()[:8])
            pinned = {"straw_man": "owner", "ad_hominem": "opponent"}
            row["fallacies"] = [{"fallacy": kind, "said_by": who, "words": words} for kind, who in pinned.items()]

    owner, opponent = trace(judged(write))["PRO-1"]["fallacies"]
    said = f"pinned on the owner: {'found' if owner['quoted'] else 'not found'}; on the opponent: in {opponent['in']}"
    return said, not owner["quoted"] and opponent["quoted"] and opponent["in"].startswith("CON")


def named_breaches() -> tuple[str, bool]:
    """The judge names a new argument in the closing."""

    def write(_ask: Ask, name: str, row: dict[str, Any]) -> None:
        if name == "PRO-1":
            row["new_arguments"] = [{"said_by": "owner", "words": PLAIN}]

    found = trace(judged(write))["PRO-1"]["irregular"]
    holds = [row["quoted"] for row in found] == [True]
    return "; ".join(f"{row['breach']} in {row['in']}" for row in found), holds


def citations() -> tuple[str, bool]:
    """One word swapped in a sentence of the source, and other spellings of it."""
    sources = SourceSet([Source("page", "A page", SENTENCE)])

    def status(old: str, new: str) -> Status:
        return check_citation(sources, Quotation("page", SENTENCE.replace(old, new))).status

    swapped = (("Costs", "Taxes"), ("containers", "Kubernetes"), ("patients", "doctors"), ("suggest", "prove"))
    spelled = (("12 per cent", "12%"), ("on average", "in average"))
    refused = sum(status(*row) is Status.UNVERIFIED for row in swapped)
    passed = sum(status(*row) is not Status.UNVERIFIED for row in spelled)
    loose = sources.find_unstated_figures("A 2018 study saw 36 %, and 12% here.")
    said = f"{refused} of 4 swapped words refused, {passed} of 2 spellings pass; in no source: {', '.join(loose)}"
    return said, (refused, passed, loose) == (4, 2, ("2018", "36 %"))


def scores() -> tuple[str, bool]:
    """Every argument has a weighted score, and its criteria stand in the rubric's order."""
    played = judged(lambda *_: None)
    rows = trace(played).values()
    keys = [row.key for row in played.asks["judging/judge"].spec.rubric.criteria]
    holds = all(row["weighted"] is not None and list(row["criteria"]) == keys for row in rows)
    return f"{len(rows)} weighted scores; criteria: {', '.join(keys)}", holds


def questions() -> tuple[str, bool]:
    """What a side reads of a motion that is a question, and whether options are seen."""
    motion = Motion("Postgres, MySQL or MongoDB?")
    asks = judged(lambda *_: None).asks
    text = "\n".join(
        row.text for row in compose(PromptBook(), PromptContext("structured", motion), asks["opening/pro"])
    )
    told = next((line for line in text.splitlines() if "The motion is a question" in line), "nothing")
    return f"{told} Options are seen: {motion.offers_options}", "answer is yes" in told and motion.offers_options


def prompts() -> tuple[str, bool]:
    """What the judge and the sides are told."""
    asks, setting = judged(lambda *_: None).asks, PromptContext("structured", Motion("We should act"))
    judge, side = (
        "\n".join(row.text for row in compose(PromptBook(), setting, asks[path]))
        for path in ("judging/judge", "opening/pro")
    )
    holds = {
        "criteria under their field": "\n  - logic:" in judge,
        "known facts and their source": "Use the facts that you know and say where they come from" in side,
        "no credit for new arguments": "give it no credit" in judge,
    }
    return ", ".join(name for name, held in holds.items() if held), all(holds.values())


POINTS = (
    Point(1, "answers that meet and that evade", "6 of 6 UNCERTAIN, whatever is answered", marked_answers),
    Point(2, "the median of three judges", "winner pro, gap -1.0, puts con ahead", judges),
    Point(3, "words of CON pinned on PRO", "printed as PRO-1's straw man", fallacies),
    Point(4, "a new argument in stock phrases of nobody", "not found", named_breaches),
    Point(5, "words swapped in quotes", "swapped words repaired, 12% refused", citations),
    Point(6, "scores of arguments", "shown on wide terminals, by the alphabet", scores),
    Point(7, "a question with options", "no side told, no hint", questions),
    Point(8, "prompts", "criteria as fields; measure instead of known facts", prompts),
)
"""What was measured before, and what is said now."""
