"""A dossier holds all that a reviewer asks for, from the record alone, for every format; and says what is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from cited_debates import hold_cited
from staged_debates import ENDINGS, held

from disputatio import MemoryStore, import_transcripts
from disputatio.prompts import packaged_book
from disputatio.report.blocks import Verbatim
from disputatio.report.dossier import Surroundings, dossier_html, dossier_markdown, dossier_of
from disputatio.report.dossier.blocks import Dossier
from disputatio.report.reading import DebateReport

pytestmark = pytest.mark.slow

SECTIONS = (
    "Purpose and use",
    "Question and framing",
    "Result",
    "Data and evidence",
    "All outputs in order",
    "Models and parameters",
    "Prompts",
    "Cost against estimate",
    "Human oversight",
    "Outcomes",
    "Performance evidence",
    "Robustness and security",
    "Limitations",
    "Verification of the record",
)


def around(fault: str | None = None) -> Surroundings:
    return Surroundings(fault, "sqlite:///d.sqlite", "contract-risk", (), packaged_book().kept())


def written(report: DebateReport, fault: str | None = None) -> tuple[Dossier, str, str]:
    dossier = dossier_of(report, around(fault))
    return dossier, dossier_markdown(dossier), dossier_html(dossier)


def section(markdown: str, title: str) -> str:
    after = re.split(rf"^## \d+\. {title}\n", markdown, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(r"^## ", after, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("name", ["complete", "freeform", *ENDINGS, "embedded"])
def test_every_section_is_there_whatever_became_of_the_debate(name):
    report = held(name).report
    _, markdown, html = written(report)
    for title in SECTIONS:
        assert f". {title}\n" in markdown, title
        assert section(markdown, title).strip(), title
        assert f"</span> {title}</h2>" in html, title
    assert report.head in markdown
    assert f"disputatio verify {report.id} --head {report.head}" in html


def test_every_output_every_prompt_and_every_call_is_in_it():
    report = held("complete").report
    dossier, markdown, _ = written(report)
    for entry in report.turns:
        for text in re.findall(r"[A-Z][a-z ]{30,}", str(entry.content)):
            assert text.strip() in markdown.replace("\\", "")
    kept = {row.digest: row.text for part in dossier.sections for row in part.blocks if isinstance(row, Verbatim)}
    for call in report.calls:
        assert call.sent.path in markdown
        for _, digest in call.sent.prompt:
            assert kept[digest] == report.texts[digest]
    assert set(map(str, report.prompts.values())) <= set(kept)


def test_the_estimate_stands_beside_what_was_taken():
    report = held("complete").report
    costs = section(written(report)[1], "Cost against estimate")
    estimated = int(str(report.estimate["input_tokens"])) + int(str(report.estimate["output_tokens"]))
    assert f"{estimated:,}" in costs
    assert "times the estimate" in costs
    bare = replace(report, estimate={})
    assert "nothing to compare" in section(written(bare)[1], "Cost against estimate")


def test_a_record_that_does_not_verify_says_so_first():
    _, markdown, html = written(held("complete").report, "event 3 was altered")
    assert "THE RECORD DOES NOT VERIFY" in markdown[:400]
    assert html.index("THE RECORD DOES NOT VERIFY") < html.index("Contents")
    assert "The record does not verify: event 3 was altered." in section(markdown, "Limitations")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("complete", "One judge judged once"),
        ("complete", "No sources were given"),
        ("degraded", "1 abstention: con in closing"),
        ("degraded", "had to be asked for again"),
        ("truncated", "stopped at the ceiling"),
        ("embedded", "135 million parameters"),
        ("freeform", "summed up once and gave no scores"),
    ],
)
def test_limitations_are_worked_out_from_what_happened(name, said):
    assert said in section(written(held(name).report)[1], "Limitations").replace("\\", "")


def test_what_nobody_did_is_said_and_no_evidence_is_claimed():
    _, markdown, _ = written(held("complete").report)
    assert "Nobody has signed off this result" in section(markdown, "Human oversight")
    assert "No later outcome" in section(markdown, "Outcomes")
    assert "no measured evidence" in section(markdown, "Performance evidence")


async def test_citations_stand_with_how_their_check_came_out():
    report = (await hold_cited()).report
    data = section(written(report)[1], "Data and evidence").replace("\\", "")
    for row in report.citations:
        assert row.place in data
        assert row.status in data
    for source in report.evidence:
        assert str(source["text"]) in data


async def test_imported_debates_show_unknown_not_zero(tmp_path):
    file = tmp_path / "held.md"
    turns = "## Turn 1: PRO Opening\n\nYes, at once.\n\n## Turn 2: CON Opening\n\nNo.\n"
    file.write_text(f"# A debate\n\n- motion: Should we act?\n\n{turns}", "utf-8")
    store = MemoryStore()
    (debate,) = await import_transcripts([file], store=store)
    markdown = written(debate.report())[1]
    costs = section(markdown, "Cost against estimate")
    assert not re.search(r"\d", costs)
    assert "held elsewhere" in section(markdown, "Limitations")


@pytest.mark.parametrize("name", ["hostile", "hostile freeform"])
def test_words_of_participants_structure_nothing(name):
    _, markdown, html = written(held(name).report)
    assert "<script" not in html
    assert "<img" not in html
    assert not re.search(r"^#+ heading", markdown, re.MULTILINE)
    assert "\x1b" not in markdown + html
    assert html.count("<h1") == 1
    assert "default-src &#39;none&#39;" in html


def test_the_same_record_gives_the_same_dossier():
    report = held("complete").report
    assert written(report)[1:] == written(report)[1:]


def test_overridden_and_foreign_prompts_are_named():
    report = held("complete").report
    name = min(report.prompts)
    changed: Any = {**report.prompts, name: "0" * 64}
    other = section(written(replace(report, prompts=changed))[1], "Prompts")
    assert re.search(rf"{re.escape(name)} \| of another version", other.replace("\\", ""))
    warned = replace(report, prompts=changed, warnings=(f"The prompt {name} is overridden.",))
    assert re.search(rf"{re.escape(name)} \| overridden", section(written(warned)[1], "Prompts").replace("\\", ""))
