"""Puts the page together.

Every text passes one gate on its way in: the environment takes hidden characters out and escapes the rest, so a
template cannot forget to. The policy in the head of the page allows its own style and its own script, by their hashes,
and nothing else: no network, no other script, no inline handler, no form.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from disputatio.motion import clean, one_line
from disputatio.report.addenda import NO_PROOF
from disputatio.report.amounts import capital, dollars, seat_name, spoken
from disputatio.report.baselines import HEADS, MEANING, table_of
from disputatio.report.consultations import offered
from disputatio.report.headings import heading
from disputatio.report.imported import imported_facts
from disputatio.report.market import market_reading
from disputatio.report.page.argument_graph import ArgumentGraph
from disputatio.report.page.argument_map import argument_map
from disputatio.report.page.charts import charts_of
from disputatio.report.page.exchange import Exchange
from disputatio.report.page.turns import phase_views
from disputatio.report.page.what_if import what_if_graph
from disputatio.report.presenters.registry import sureness
from disputatio.report.reading import DebateReport
from disputatio.report.summary import first_blocks, result_sections, result_sentence
from disputatio.report.templates import escaping_environment, fit_to_show
from disputatio.report.transcript import ceiling, excerpted
from disputatio.report.verdict import (
    NOT_TRUTH,
    StructuredReading,
    TraceLine,
)

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(report: DebateReport, places: Sequence[tuple[str, str]] = (), fork: str = "") -> str:
    """The debate as one HTML file that needs no other file and no network; the same record gives the same text.

    Args:
        report: the debate.
        places: links to where the page came from, as labels and addresses, for a server that shows it; a file of its
            own has none.
        fork: the address at which a server forks the debate without what a reader struck; empty without a server.
    """
    exchange = Exchange.of(report)
    graph = what_if_graph(report, exchange)
    verdict = exchange.verdict
    style, script = _asset("page.css"), _asset("page.js")
    title, entries = first_blocks(report)
    sides, phases = argument_map(exchange, graph), phase_views(report, exchange)
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            exchange=exchange,
            title=title,
            entries=entries,
            head=heading(report),
            verdict=verdict,
            decided=_turning_points(verdict),
            sections=[row for row in result_sections(report) if not row.is_at_turns],
            market=market_reading(report),
            charts=charts_of(report),
            baselines=table_of(report, result_sentence(report)),
            baseline_heads=HEADS,
            baseline_meaning=MEANING,
            sureness=[f"{capital(row)}." for row in sureness(report)],
            sides=sides,
            phases=phases,
            folds=len(report.turns) >= _MANY,
            seat_class=_class_name,
            turn_anchors={row.entry.path: row.anchor for phase in phases for row in phase.turns},
            reachable=_reachable(exchange, sides, phases),
            ceiling=ceiling(report.budget),
            tools=offered(report.tools),
            imported_facts=imported_facts(report.imported) if report.imported else (),
            excerpted=excerpted(report),
            not_truth=NOT_TRUTH,
            no_proof=NO_PROOF,
            places=places,
            style=Markup(style),  # noqa: S704  (a file of this package)
            script=Markup(script),  # noqa: S704  (a file of this package)
            arguable=_data(graph) if graph else "",
            what_if=Markup(_asset("what_if.js")) if graph else "",  # noqa: S704  (a file of this package)
            fork=fork,
            policy=page_policy(arguable=graph is not None),
        )
    )


def page_policy(*, arguable: bool = True) -> str:
    """What a page may load and run: its own style and scripts, and nothing else.

    Args:
        arguable: whether it has the script by which a reader strikes what was said.
    """
    style = _hash(_asset("page.css"))
    names = ("page.js", "what_if.js") if arguable else ("page.js",)
    scripts = " ".join(f"'{_hash(_asset(name))}'" for name in names)
    return f"default-src 'none'; style-src '{style}'; script-src {scripts}; base-uri 'none'; form-action 'none'"


def _data(graph: ArgumentGraph) -> Markup:
    """The graph as JSON for the script; no text in it can end the element that holds it, or is hidden from sight."""
    body = json.dumps(_cleaned(graph.as_json()), ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        body = body.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(body)  # noqa: S704  (made harmless above)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(key): _cleaned(row) for key, row in value.items()}
    return [_cleaned(row) for row in value] if isinstance(value, list | tuple) else value


def render_transcript(report: DebateReport) -> str:
    """What was said so far, as a part of another page that has the style and the icons of this one."""
    exchange = Exchange.of(report)
    template = _environment().get_template("transcript.html")
    return template.render(exchange=exchange, phases=phase_views(report, exchange), folds=False)


def page_asset(name: str) -> str:
    """A style sheet, script or template of the page, for another page that shows parts of it."""
    return _asset(name)


_MANY = 20
"""From so many turns on the page folds what was said, phase by phase."""


def _reachable(exchange: Exchange, sides: Sequence[object], phases: Sequence[object]) -> frozenset[str]:
    """The sections to which an entry of the first screen can lead."""
    verdict = exchange.verdict
    found = {"map": sides, "trace": verdict and verdict.trace, "transcript": phases, "sources": exchange.sources}
    return frozenset({"grounds", "record", *(name for name, rows in found.items() if rows)})


def _turning_points(verdict: StructuredReading | None) -> list[TraceLine]:
    """The arguments that did not come through whole, and those on which judge and computation part."""
    rows = verdict.trace if verdict else ()
    # Eight analysts bring many arguments, of which most are weakened: that is no turn.
    passed = {"UPHELD", "WEAKENED"}
    return [row for row in rows if (row.judged or row.computed) not in passed or row.differs]


def _finalized(value: Any) -> Any:
    """What an expression of a template gives, made fit to be shown."""
    if value is None:
        raise ValueError("a template shows a value that is missing")
    return fit_to_show(value)


@cache
def _environment() -> Environment:
    environment = escaping_environment(_asset, _finalized)
    environment.filters |= {"seat_name": seat_name, "capitalize_first": capital}
    environment.filters |= {"spoken": spoken, "one_line": one_line, "dollars": dollars, "class_name": _class_name}
    return environment


_CLASSES = frozenset(
    {
        *("pro", "con", "judge"),
        *("upheld", "partially_upheld", "refuted", "uncertain"),
        *("refute", "challenge", "partial", "concede"),
        *("stands", "narrowed", "withdrawn"),
        *("verified", "repaired", "unverified"),
    }
)


# The roles of a review are painted as the sides and the judge of a debate.
_ROLES = {"bull": "pro", "bear": "con", "question evidence": "challenge", "weakened": "partially_upheld"}
_ROLES |= {"proposer": "pro", "rebutter": "pro", "critic": "con", "moderator": "judge"}


def _class_name(word: str | None) -> str:
    """A word of the record as a class of the style sheet; words that it does not know get none."""
    name = re.sub(r"^[a-z]+_(?=(bull|bear)$)|_\d+$", "", (word or "").lower())
    name = _ROLES.get(name, name)
    return name if name in _CLASSES else "other"


@cache
def _asset(name: str) -> str:
    return files("disputatio.report.page").joinpath("templates", name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
