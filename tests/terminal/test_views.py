"""Watching a debate: every turn is shown once and stays, and nothing a participant writes can move the cursor."""

import asyncio
import io
import re
import unicodedata
from typing import Any

import pytest
from rich.console import Console
from staged_debates import LONG, WIDE, Staged, go_on, held, hold, hostile, silent, staged

from disputatio._terminal import LiveView, PlainView, open_view, print_interrupted, print_report, print_result
from disputatio.ledger.budget import Budget
from disputatio.participants.call import Call, Fault, FaultKind
from disputatio.record.chain import Sealed
from disputatio.record.events import CallSent, TurnAsked
from disputatio.report.text import render_text

pytestmark = pytest.mark.slow


def terminal(width: int = 80, height: int = 24, **more: Any) -> Console:
    options: dict[str, Any] = {"color_system": "truecolor", "legacy_windows": False, "_environ": {}} | more
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=height, **options)


def pipe(width: int = 80) -> Console:
    return Console(file=io.StringIO(), force_terminal=False, width=width, _environ={})


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


class Screen:
    """What a terminal shows of the codes that the live view uses; any other code is an error."""

    _CODES = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])")

    def __init__(self) -> None:
        self.rows: list[str] = [""]
        self.row = self.column = 0

    def feed(self, text: str) -> None:
        place = 0
        while place < len(text):
            code = self._CODES.match(text, place)
            if code:
                self._obey(code.group(1), code.group(2))
                place = code.end()
                continue
            self._put(text[place])
            place += 1

    def _put(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row, self.column = self.row + 1, 0
            self.rows += [""] * (self.row + 1 - len(self.rows))
        else:
            assert unicodedata.category(char) not in {"Cc", "Cs"}, f"the view wrote {char!r}"
            row = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = row[: self.column] + char + row[self.column + 1 :]
            self.column += 1

    def _obey(self, given: str, kind: str) -> None:
        if kind == "A":
            self.row = max(0, self.row - int(given or 1))
        elif kind == "K":
            assert given == "2"
            self.rows[self.row] = ""
        else:
            assert kind == "m" or (kind in "hl" and given == "?25"), f"the view wrote the code {given}{kind}"

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows).rstrip("\n")


def shown(console: Console) -> str:
    """What stands on the terminal at the end, scrolled-out lines included."""
    screen = Screen()
    screen.feed(written(console))
    return screen.text


async def watched(view: Any, format_name: str = "structured", answering: Any = staged, **more: Any) -> Staged:
    with view:
        return await hold(format_name, answering, observer=view, **more)


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("format_name", ["structured", "freeform"])
async def test_the_live_view_leaves_exactly_the_transcript_behind(format_name: str) -> None:
    live, plain = terminal(), pipe()
    await watched(LiveView(live), format_name)
    await watched(PlainView(plain), format_name)
    without_ids = [re.sub(r"  [0-9a-f]{8}$", "", text, flags=re.MULTILINE) for text in (shown(live), written(plain))]
    assert sorted(without_ids[0].splitlines()) == sorted(without_ids[1].rstrip("\n").splitlines())


async def test_every_turn_is_told_when_it_is_taken_and_only_once() -> None:
    console = pipe(100)
    debate = await watched(PlainView(console))
    told = squeezed(written(console))
    for claim in ("Teams can own services end to end", "The domain is not yet known"):
        assert told.count(claim) == 1
    for phase in ("OPENING", "CROSS-EXAMINATION", "CLOSING", "JUDGING"):
        assert told.count(phase) == 1
    result = squeezed(render_text(debate.report).partition("Argument trace")[2])
    assert "Key insight" in result
    assert "Key insight" not in told


async def test_plain_lines_hold_no_control_code() -> None:
    for answering in (staged, hostile("\x1b[2J\x9b31m\x07 [red]x[/red]")):
        console = pipe()
        debate = await watched(PlainView(console), answering=answering)
        print_result(console, debate.report)
        print_interrupted(console, debate.id)
        assert not [char for char in written(console) if unicodedata.category(char) == "Cc" and char != "\n"]


async def test_hostile_words_move_no_cursor_and_style_nothing() -> None:
    console = terminal(100)
    codes = "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\x1b[5A\x9b2J"
    words = f"{codes} [bold red]x[/bold red] [link=http://e]y[/link] :smile:"
    debate = await watched(LiveView(console), answering=hostile(words), pace={"pause": 0.002, "step": 400})
    print_result(console, debate.report)
    print_report(console, debate.report)
    told = shown(console)
    assert "\x1b]" not in written(console)
    assert "[bold red]x[/bold red] [link=http://e]y[/link]" in squeezed(told)
    assert ":smile:" in told


async def test_incidents_are_told_in_one_line_each() -> None:
    tries: list[str] = []

    def answering(seat: str, call: Call) -> Any:
        if (seat, call.schema_name) == ("con", "opening"):
            tries.append(seat)
            if len(tries) == 1:
                return Fault(FaultKind.RATE_LIMITED, "OpenAI answered 429", retry_after_s=0.001)
            if len(tries) == 2:
                return "not JSON"
        if (seat, call.schema_name) == ("con", "closing"):
            return "{}"
        return staged(seat, call)

    console = pipe(200)
    debate = await watched(PlainView(console), answering=answering)
    told = squeezed(written(console))
    assert "! con: a call failed (rate limited): OpenAI answered 429" in told
    assert (
        "! con is asked again in the opening: its answer did not fit the form: the answer holds no JSON object" in told
    )
    assert "con abstained in the closing (3 answers did not fit the form" in told
    assert debate.report.status == "DEGRADED"


async def test_a_ceiling_that_is_reached_is_told() -> None:
    console = pipe(200)
    await watched(PlainView(console), max_calls="5")
    assert "! the ceiling is reached: 5 of 5 calls are spent or reserved" in squeezed(written(console))


async def test_a_fallback_that_takes_over_is_told() -> None:
    def answering(seat: str, call: Call) -> Any:
        if (seat, call.schema_name) == ("pro", "opening") and not seen:
            seen.append(1)
            return Fault(FaultKind.KEY_REJECTED, "the key is not accepted")
        return staged(seat, call)

    seen: list[int] = []
    console = pipe(200)
    await watched(PlainView(console), answering=answering, set=("seats.pro.fallback=ollama:con-model",))
    assert "! pro: ollama:pro-model gave up, ollama:con-model takes over" in squeezed(written(console))


async def test_a_resumed_view_shows_only_what_is_new() -> None:
    debate = await hold(max_calls="5")
    console = pipe(120)
    view = PlainView(console)
    view.opened(debate.id, debate.events)
    with view:
        await go_on(debate, observer=view, budget=Budget(calls=50))
    told = squeezed(written(console))
    assert told.startswith(f"Disputatio structured debate {debate.id}")
    assert "Resumed: 5 turns already taken. Nothing of this is asked or paid again." in told
    assert "Teams can own services end to end" not in told
    assert "JUDGING" in told
    assert "answer" in told


async def test_a_new_view_shows_a_resumed_debate() -> None:
    debate = await hold(answering=silent("judge", "adjudication"))
    for view in (PlainView(pipe()), LiveView(terminal())):
        with view:
            await go_on(debate, observer=view)
        debate = await hold(answering=silent("judge", "adjudication"))


class Picture:
    """A live view's region, drawn without a terminal."""

    def __init__(self, width: int = 80, height: int = 24) -> None:
        self.now = 0.0
        self.console = terminal(width, height)
        self.view = LiveView(self.console, clock=lambda: self.now)

    def lines(self) -> list[str]:
        return str(self.view._render_region()).split("\n")

    def replay(self, events: list[Sealed]) -> None:
        for row in events:
            self.view.on_event(row.event(), row)


def opening_asks() -> list[Sealed]:
    rows = list(held("complete").events)
    wanted = [row for row in rows if isinstance(row.event(), TurnAsked | CallSent) and "opening" in row.body]
    return [rows[0], *wanted]


def test_the_region_shows_speaker_progress_and_words() -> None:
    picture = Picture()
    with picture.view:
        picture.replay(opening_asks())
        waiting = picture.lines()
        picture.view.on_text("opening/pro", "", '{"arguments": [{"claim": "Teams can own ser')
        picture.view.on_text("opening/pro", "", "vices end to")
        speaking = picture.lines()
    assert any("pro" in line and "waiting for ollama:pro-model, 0 s" in line for line in waiting)
    assert any("pro" in line and "1 of 3 arguments, 6 words" in line for line in speaking)
    assert any("PRO-1" in line and "Teams can own services end to" in line for line in speaking)
    assert not any("{" in line or '"claim"' in line for line in speaking)
    assert "opening: 2 calls" in speaking[-1]


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("height", [6, 12, 24])
def test_the_region_keeps_its_shape_while_words_arrive(width: int, height: int) -> None:
    from rich.cells import cell_len

    picture = Picture(width, height)
    with picture.view:
        picture.replay(opening_asks())
        sizes = {len(picture.lines())}
        for word in f"{WIDE} {LONG} {WIDE}".split(" "):
            picture.view.on_text("opening/pro", "", word if picture.now else '{"arguments": [{"claim": "' + word)
            picture.now += 1.3
            lines = picture.lines()
            sizes.add(len(lines))
            assert all(cell_len(line) < width for line in lines)
    assert len(sizes) == 1
    assert sizes.pop() <= height


def test_new_calls_and_rejections_clear_the_draft() -> None:
    picture = Picture()
    first, *asks = opening_asks()
    with picture.view:
        picture.replay([first, *asks])
        picture.view.on_text("opening/pro", "", '{"arguments": [{"claim": "A stale claim')
        assert "A stale claim" in "\n".join(picture.lines())
        again = next(row for row in asks if row.kind == "CallSent" and "opening/pro" in row.body)
        picture.replay([again])
        assert "A stale claim" not in "\n".join(picture.lines())


def test_a_piecewise_turn_counts_its_pieces() -> None:
    picture = Picture(120)
    rows = [row for row in held("embedded").events if row.kind in {"DebateOpened", "TurnAsked", "CallSent"}]
    upto = next(place for place, row in enumerate(rows) if row.kind == "CallSent" and '"part":"argument-2"' in row.body)
    seat = rows[upto].event().seat  # type: ignore[union-attr]
    with picture.view:
        picture.replay(rows[: upto + 1])
        picture.view.on_text(f"opening/{seat}", "argument-2", '{"claim": "Hiring is har')
        region = "\n".join(picture.lines())
    assert "2 of 3 arguments, about the people involved, 3 words" in region
    assert f"{seat.upper()}-2" in region


async def test_ten_thousand_pieces_of_output_cost_no_picture_each() -> None:
    picture = Picture()
    with picture.view:
        picture.replay(opening_asks())
        before = len(written(picture.console))
        for _ in range(10_000):
            picture.view.on_text("opening/pro", "", "word ")
        assert len(written(picture.console)) == before
        await asyncio.sleep(0)
        assert len(written(picture.console)) == before


async def test_a_preparation_is_shown_until_the_debate_speaks() -> None:
    picture = Picture()
    with picture.view:
        picture.view.note("Fetching the model, 34 %")
        assert "Fetching the model, 34 %" in "\n".join(picture.lines())
        picture.view.note("Fetching the model, 67 %")
        region = "\n".join(picture.lines())
        assert "67 %" in region
        assert "34 %" not in region
        picture.replay(opening_asks())
        assert "Fetching" not in "\n".join(picture.lines())


def test_the_view_fits_the_terminal() -> None:
    assert isinstance(open_view(terminal()), LiveView)
    assert isinstance(open_view(terminal(), plain=True), PlainView)
    assert isinstance(open_view(pipe()), PlainView)
    assert isinstance(open_view(terminal(_environ={"TERM": "dumb"})), PlainView)


async def test_without_colours_nothing_is_coloured() -> None:
    console = terminal(_environ={"NO_COLOR": "1"})
    debate = await watched(LiveView(console))
    print_result(console, debate.report)
    codes = {number for codes in re.findall(r"\x1b\[([\d;]*)m", written(console)) for number in codes.split(";")}
    assert codes <= {"", "0", "1", "2"}


async def test_a_terminal_that_can_write_only_ascii_is_not_given_more() -> None:
    raw = io.BytesIO()
    console = Console(
        file=io.TextIOWrapper(raw, encoding="ascii", write_through=True), force_terminal=True, width=80, _environ={}
    )
    debate = await watched(LiveView(console), answering=hostile(WIDE), motion=f"Should we {WIDE}?")
    print_result(console, debate.report)
    assert b"PRO-1" in raw.getvalue()


def test_an_interruption_says_how_to_go_on() -> None:
    console = pipe()
    print_interrupted(console, "7f3a9c21")
    assert "disputatio resume 7f3a9c21" in written(console)


def test_the_view_gives_the_terminal_back_when_the_debate_fails() -> None:
    console = terminal()
    view = LiveView(console)

    def stopped() -> None:
        with view:
            for row in opening_asks():
                view.on_event(row.event(), row)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert written(console).rindex("\x1b[?25h") > written(console).rindex("\x1b[?25l")
    assert "waiting for" not in shown(console)
