"""No text of the corpus does anything on a surface: with any of them a surface has the structure of peaceful words."""

from __future__ import annotations

import html
import io
import json
import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from injection_corpus import Words, attacks, in_turn
from laden_reports import STAGES, laden, laden_events
from markdown_it import MarkdownIt
from rich.console import Console

from disputatio import MemoryStore, import_transcripts_sync
from disputatio._cli.main import main
from disputatio._cli.screen import print_list
from disputatio._cli.streams import print_json, tell
from disputatio._terminal import LiveView, PlainView, print_report, print_result
from disputatio.errors import DisputatioError
from disputatio.formats.registry import find_format
from disputatio.motion import clean, read_evidence, read_motion
from disputatio.record.chain import seal
from disputatio.record.events import Event
from disputatio.record.store import DebateRow
from disputatio.record.verified import find_debate
from disputatio.report.argdown import render_argdown
from disputatio.report.columns import columns
from disputatio.report.headings import heading
from disputatio.report.json_export import render_json
from disputatio.report.markdown import render_markdown
from disputatio.report.page import render_page
from disputatio.report.reading import DebateReport
from disputatio.report.text import render_text

pytestmark = pytest.mark.slow

PEACE = tuple(f"Plain words about {matter}." for matter in ("a road", "two bridges", "the river", "some boats"))
_STYLE = re.compile(r"\x1b\[[\d;]*m|\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A")


def check_clean(text: str, what: object) -> None:
    """Nothing in ``text`` is anything but visible characters, spaces and line feeds."""
    assert clean(text) == text, what
    found = {char for char in text if unicodedata.category(char) in {"Cc", "Cs"} and char != "\n"}
    assert not found, (what, found)


def begun(text: str) -> list[str]:
    """How the lines begin that are not indented: a seat's words never begin a line of their own."""
    return [line.split(" ")[0] for line in text.split("\n") if line and not line.startswith(" ")]


class Tags(HTMLParser):
    """The elements of a page with their attributes, without texts and without what only names places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, frozenset[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, frozenset(name for name, _ in attrs)))


def blocks(markdown: str) -> list[str]:
    """The skeleton of a Markdown text: its blocks, one beside the other, without what stands in them."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown)
    inline = {child.type for token in tokens for child in token.children or ()}
    assert inline <= {"strong_open", "strong_close", "em_open", "em_close", "text", "text_special", "hardbreak"}
    return [token.type for token in tokens if token.type != "inline"]


def argdown_heads(text: str) -> list[str]:
    """The signs of an Argdown text that structure it, line by line: how each begins, and what is not escaped in it."""
    _, front, body = text.split("===\n", 2)
    heads = [line.partition(":")[0] for line in front.splitlines()]
    for line in body.splitlines():
        begun = re.match(r"\s*(?:[-+_#]|\[[\w -]+\]:?|<[\w -]+>:?|)", line)
        assert begun is not None
        heads.append(begun.group() + "".join(re.findall(r"[\[\]<>{}#@*]", re.sub(r"\\.", "", line))))
    return heads


@pytest.mark.parametrize("name", STAGES)
def test_every_surface_keeps_its_structure_under_every_attack(name: str) -> None:
    calm = laden(name, Words(*PEACE, most=1))
    calm_tags = set(Tags(render_page(calm)).found)
    for number in range(3 if name == "sourced" else 1):
        report, width = laden(name, in_turn(start=number * 61)), (40, 72, 120)[number]
        text, markdown, argdown = render_text(report, width), render_markdown(report), render_argdown(report)
        for shown in (text, markdown, argdown):
            check_clean(shown, name)
        assert max(map(columns, text.split("\n"))) <= width
        assert begun(text) == begun(render_text(calm, width))
        assert blocks(markdown) == blocks(render_markdown(calm))
        assert argdown_heads(argdown) == argdown_heads(render_argdown(calm))
        exported = render_json(report)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\ud800-\udfff]", exported)
        assert json.loads(exported)["id"] == "7f3a"
        page = render_page(report)
        check_clean(page.replace("\t", " "), name)
        assert set(Tags(page).found) <= calm_tags


def test_every_attack_was_on_the_surfaces() -> None:
    """Texts that are left when hidden characters are gone can be read on the page of the sourced debate."""
    told = " ".join(
        html.unescape(re.sub(r"<[^>]*>", "", render_page(laden("sourced", in_turn(most=6, start=number * 61)))))
        for number in range(4)
    )
    told = " ".join(told.split())
    lost = [attack.name for attack in attacks() if " ".join(clean(attack.text).split())[:80] not in told]
    # Those that stood only in places which show no more than the beginning of a text.
    assert len(lost) <= len(attacks()) // 50, lost


def transcript(words: Words, folder: Any) -> DebateReport:
    """An imported debate in which the transcript's author says ``words`` in every place."""
    claims = [{"id": f"P{number}", "text": f"[P1] {words()}"} for number in range(1, 140)]
    body = {
        "motion": words(),
        "held": words(),
        "language": words(),
        "seats": {"pro": words(), "con": {"model": words()}},
        "turns": [
            {"seat": "pro", "phase": words(), "at": words(), "claims": claims, "note": words()},
            {"seat": "con", "phase": words(), "text": words()},
        ],
        "judgments": [{"judge": words(), "winner": words(), "margin": words()}],
        "remark": words(),
    }
    file = folder / "debate.json"
    file.write_text(json.dumps(body), "utf-8")
    (debate,) = import_transcripts_sync([file], store=MemoryStore())
    # There is a warning for each reference that leads nowhere, and the attacks hold some.
    return replace(debate.report(), warnings=())


def test_an_imported_transcript_structures_nothing(tmp_path: Any) -> None:
    calm = transcript(Words(*PEACE, most=1), tmp_path)
    report = transcript(in_turn(), tmp_path)
    text, markdown, argdown, page = (
        render_text(report, 60),
        render_markdown(report),
        render_argdown(report),
        render_page(report),
    )
    for shown in (text, markdown, argdown, page):
        check_clean(shown.replace("\t", " ") if shown is page else shown, "imported")
    assert max(map(columns, text.split("\n"))) <= 60
    titles = {row.name.upper().split(" ")[0] for row in (*report.phases, *calm.phases)}
    assert [row for row in begun(text) if row not in titles] == [
        row for row in begun(render_text(calm, 60)) if row not in titles
    ]
    assert blocks(markdown) == blocks(render_markdown(calm))
    assert argdown_heads(argdown) == argdown_heads(render_argdown(calm))
    assert set(Tags(page).found) <= set(Tags(render_page(calm)).found)
    assert json.loads(render_json(report))["imported"]["file"] == "debate.json"


def sealed(events: list[Event]) -> list[Any]:
    return [
        seal(event, debate="7f3a", seq=place, at="2026-01-31T12:00:00.000000Z", previous="0" * 64)
        for place, event in enumerate(events, start=1)
    ]


def terminal(*, colour: bool) -> Console:
    more: dict[str, Any] = {"color_system": "truecolor"} if colour else {"no_color": True}
    options = {"markup": False, "highlight": False, "emoji": False, "legacy_windows": False, "_environ": {}} | more
    return Console(file=io.StringIO(), force_terminal=colour, width=90, height=24, **options)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_is_sent_nothing_but_text_and_our_own_colours(colour: bool) -> None:
    for name in ("sourced", "degraded"):
        console = terminal(colour=colour)
        view: Any = LiveView(console) if colour else PlainView(console)
        with view:
            for row in sealed(laden_events(name, in_turn())):
                view.on_event(row.event(), row)
        report = laden(name, in_turn(start=30))
        print_result(console, report)
        print_report(console, report)
        told = _STYLE.sub("", written(console)) if colour else written(console)
        check_clean(told.replace("\r", "") if colour else told, name)


def test_what_is_being_written_moves_no_cursor() -> None:
    """Raw output is shown while it comes, before any rule has read it."""
    console = terminal(colour=True)
    opened, asked, *_ = sealed(laden_events("freeform", Words(*PEACE, most=1)))
    with LiveView(console) as view:
        view.on_event(opened.event(), opened)
        view.on_event(asked.event(), asked)
        for attack in attacks():
            raw = json.dumps({"speech": attack.text}) if len(attack.text) % 2 else attack.text
            view.on_text("round-1/pro", "", raw)
            if len(attack.text) % 3:
                view.note(attack.text)
            check_clean(view._render_region().plain, attack.name)
    check_clean(_STYLE.sub("", written(console)).replace("\r", ""), "all of it")


def test_the_list_of_debates_has_one_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    """What the list shows is read from a database, which others may have written."""
    rows = [DebateRow("7f3a", attack.text, attack.text, attack.text, attack.text, 1, "0") for attack in attacks()]
    print_list(rows)
    told = capsys.readouterr().out
    check_clean(told.replace("\t", " "), "list")
    assert len(told.splitlines()) == len(rows)
    print_json([{"motion": row.motion} for row in rows])
    told = capsys.readouterr().out
    assert all(char.isprintable() or char in "\n\u00a0\u3000" for char in told)
    assert len(json.loads(told)) == len(rows)


def test_an_error_is_two_plain_sentences_whatever_it_names(capsys: pytest.CaptureFixture[str]) -> None:
    store = MemoryStore()
    for attack in attacks():
        for work in (
            lambda text=attack.text: find_debate(store, text),
            lambda text=attack.text: find_format(text),
            lambda text=attack.text: read_motion(text.encode("utf-8", "surrogatepass") + b"\xff"),
            lambda text=attack.text: read_evidence("S1", text, b"\xff"),
        ):
            with pytest.raises(DisputatioError) as failed:
                work()
            tell(failed.value.cause, failed.value.next_step)
        told = capsys.readouterr().err
        check_clean(told, attack.name)
        assert len(told.splitlines()) == 8, attack.name


@pytest.mark.parametrize("attack", attacks()[::40], ids=lambda attack: attack.name)
def test_hostile_arguments_fail_in_plain_sentences(
    attack: Any, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    url = f"sqlite:///{tmp_path / 'debates.db'}"
    for arguments in (["show", attack.text, "--store", url], ["debate", "m", "--format", attack.text], [attack.text]):
        with pytest.raises(SystemExit) as left:
            main([row for row in arguments if "\0" not in row])
        told = capsys.readouterr()
        assert left.value.code != 1, told.err
        check_clean(told.err, attack.name)
        assert len(told.err.splitlines()) <= 4


def test_the_heading_of_a_result_stays_one_sentence_on_one_line() -> None:
    for name in STAGES:
        for number in range(8):
            told = heading(laden(name, in_turn(most=1, start=number * 61)))
            assert "\n" not in told.text + told.next_step
            check_clean(told.text + told.next_step, name)


def test_nothing_of_a_debate_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(0):
        report = laden("sourced", Words("a word that only this test says"))
        for render in (render_text, render_markdown, render_argdown, render_json, render_page):
            render(report)
        DebateReport.of("7f3a", laden_events("sourced", Words("a word that only this test says")))
    assert "a word that only this test says" not in caplog.text
