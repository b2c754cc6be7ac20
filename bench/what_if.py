"""Measures in Chromium how long a page of 1,000 arguments takes to show what follows from striking one of them.

Run: .venv/bin/python bench/what_if.py [ARGUMENTS]

Prints the times of many strikes: of the computation alone, of everything until the page has its new layout, and of
the same where every argument is struck at once by the address. Ends with 1 where a strike takes more than 50 ms.
Needs the test environment (playwright) and Debian's chromium.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import disputatio
from disputatio.report.page import render_page
from disputatio.report.reading import DebateReport
from disputatio.testing import instance

MOST_MS = 50
RUNS = 41
STRIKE = """async (runs) => {
  const buttons = [...document.querySelectorAll('.cell > .strike')], computing = [], whole = [];
  const graph = JSON.parse(document.getElementById('argument-graph').textContent);
  for (let run = 0; run < runs; run++) {
    const button = buttons[(run * 379) % buttons.length];
    let start = performance.now();
    whatIf.recompute(graph, [button.dataset.strike]);
    computing.push(performance.now() - start);
    start = performance.now();
    button.click();
    document.body.getBoundingClientRect();
    whole.push(performance.now() - start);
    button.click();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  return {computing, whole};
}"""
ALL = """async () => {
  const ids = [...document.querySelectorAll('.cell > .strike')].map((button) => button.dataset.strike);
  const shown = new Promise((done) => addEventListener('hashchange', () => {
    document.body.getBoundingClientRect();
    done(performance.now());
  }));
  const start = performance.now();
  location.hash = '#without=' + ids.map(encodeURIComponent).join(',');
  return (await shown) - start;
}"""


def widened(report: DebateReport, number: int) -> DebateReport:
    """``report``, of a structured debate, with ``number`` arguments a side: copies of its own."""
    sides = {side: [row for row in report.outcome["trace"] if row["side"] == side] for side in ("pro", "con")}

    def name(side: str, place: int) -> str:
        return f"{side.upper()}-{place}"

    def copies(side: str, rows: Mapping[str, Any]) -> dict[str, Any]:
        """What stands by an argument's id, for every argument of the side."""
        known = [rows[row["id"]] for row in sides[side]]
        return {name(side, place): known[(place - 1) % len(known)] for place in range(1, number + 1)}

    def content(form: str, seat: str, body: Mapping[str, Any]) -> dict[str, Any]:
        other = "con" if seat == "pro" else "pro"
        if form == "opening":
            rows = body["arguments"]
            return {**body, "arguments": [rows[place % len(rows)] for place in range(number)]}
        if form == "cross_examination":
            return copies(other, body)
        if form == "closing":
            of = len(sides[seat])
            answers = {
                f"{name(seat, place)}.{question}": text
                for place in range(1, number + 1)
                for key, text in body.get("answers", {}).items()
                for argument, _, question in [key.rpartition(".")]
                if argument == name(seat, (place - 1) % of + 1)
            }
            return {**body, "answers": answers, "own_arguments": copies(seat, body["own_arguments"])}
        return dict(body) if form != "adjudication" else {**body, "arguments": {}}

    def traced(row: Mapping[str, Any], place: int) -> dict[str, Any]:
        new = name(row["side"], place)
        answers = [
            {**drawn, "answers": [{**a, "id": f"{new}.{a['id'].rpartition('.')[2]}"} for a in drawn["answers"]]}
            for drawn in row["drew"]
        ]
        return {**row, "id": new, "drew": answers}

    trace = [traced(rows[(place - 1) % len(rows)], place) for rows in sides.values() for place in range(1, number + 1)]
    phases = tuple(
        replace(
            phase,
            entries=tuple(replace(row, content=content(row.form, row.seat, row.content)) for row in phase.entries),
        )
        for phase in report.phases
    )
    return replace(report, phases=phases, outcome={**report.outcome, "trace": trace})


def wide_report(arguments: int) -> DebateReport:
    """A debate of so many arguments, held without any model."""
    result = disputatio.debate_sync(
        "We should adopt microservices",
        seats={"all": disputatio.Scripted(lambda ask, path, _: instance(ask.spec.schema, path))},
        store=disputatio.MemoryStore(),
    )
    return widened(result.report(), arguments // 2)


def main(arguments: int) -> int:
    """Measure, print, and say whether a strike stays under the limit."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("There is no Chromium here. On Debian: apt-get install chromium")
    text = render_page(wide_report(arguments))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        file = Path(folder) / "debate.html"
        file.write_text(text, "utf-8")
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(file.as_uri())
        shown = page.locator(".map .node").count()
        found = page.evaluate(STRIKE, RUNS)
        every = page.evaluate(ALL)
        browser.close()
    print(f"{shown:,} arguments, {RUNS} strikes of one argument, in ms (median, most):")
    for label, key in (("computed again", "computing"), ("shown, with the layout done", "whole")):
        print(f"  {label:<28} {statistics.median(found[key]):6.1f} {max(found[key]):6.1f}")
    print(f"  {'all struck at once':<28} {every:6.1f}")
    held = statistics.median(found["whole"]) <= MOST_MS and shown == arguments
    print(f"A strike {'stays within' if held else 'takes more than'} {MOST_MS} ms.")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
