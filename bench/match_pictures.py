"""Records the README's moving picture of a match: a real `disputatio debate` in a real terminal of 100 by 30.

Run: .venv/bin/python bench/match_pictures.py [docs/images/match.svg]

The speeches are written below and come from the fake provider, so that the picture is the same for everybody; the
screen, the clocks, the penalties and the totals are the program's. Needs the test environment (pyte).
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

from disputatio.testing.provider import FakeProvider
from disputatio.testing.provider.received import ReceivedRequest

COLUMNS, LINES = 100, 30
SECONDS_A_FRAME = 1.6
MOTION = "Cities should close their centres to private cars"

PRO = [
    (
        "The question is who a street is for. A lane of cars moves some two thousand people in an hour, and the same "
        "width of tramway moves ten times as many. We judge the motion by how many people reach the centre, and how "
        "well they breathe there."
    ),
    (
        "You say that shops will close. Yet what closes a shop is that nobody walks past it, and nobody walks along a "
        "road of six lanes. Give the pavement back, and the shop window has an audience again."
    ),
    (
        "Our opponents ask for exceptions, and we have granted every one: the permit, the ambulance, the delivery "
        "before nine. What they have not shown is a single journey that only a private car can make."
    ),
    (
        "Think of a school on a main road, with windows that are kept shut in June. Nobody in this room would choose "
        "that for a child of their own, and this motion opens the window."
    ),
]
CON = [
    (
        "The motion says close, not calm and not price. We judge it by who pays: the nurse on the late shift, whose "
        "last bus leaves before she does, and the plumber, whose tools do not fit on a tram."
    ),
    (
        "A ban moves traffic; it does not remove it. The cars that leave the centre stand in the next ring of streets, "
        "where poorer people live, and they breathe what we have saved."
    ),
    (
        "Permits, ambulances, deliveries: with every exception the motion becomes our plan, which is to charge for the "
        "street and let those who need it pay by the hour. A price asks everybody the same question; a ban does not."
    ),
    (
        "They promise trams. Trams take ten years, and the ban comes tomorrow. In between there is a city that people "
        "cannot reach, and shops that do not live to see the first rail."
    ),
]
QUESTIONS = {
    "con": [
        "Is the tram you promise to be built before the ban, or after it?",
        "Who brings the nurse home at two in the morning?",
        "Which exception would you refuse?",
    ],
    "pro": [
        "How many of your late shifts end inside the centre?",
        "Would your price not keep out the poor, and the ban everybody alike?",
        "Name one street where a price has brought traffic below half?",
    ],
}
DIRECTIONS = {
    "pro": "Answer the point about the late shift, then bring the air back in.",
    "con": "Press them on what happens before the tram is there.",
}
COMMENTS = [
    "Clear, and it sets a standard by which the rest can be judged. It did not say how the numbers were found.",
    "It met the last point of the other team directly. The example is vivid, the inference from it short.",
    "Well ordered and easy to follow. It repeats more than it adds.",
    "A strong reply: it takes the other team's own exceptions and turns them.",
]


class Speeches:
    """Gives the written answers in turn."""

    def __init__(self) -> None:
        self._said = {"pro": 0, "con": 0}
        self._judged = 0

    def answer(self, request: ReceivedRequest) -> dict[str, Any] | None:
        properties = _schema(request).get("properties", {})
        task = str(request.body["messages"][-1]["content"])
        team = "pro" if re.search(r"You are PRO_\d", task) else "con"
        if "speech" in properties:
            return {"speech": self._speech(team, answers="answer every question" in task)}
        if "questions" in properties:
            return {"answerer": properties["answerer"]["enum"][0], "questions": QUESTIONS[team]}
        if "direction" in properties:
            return {"speaker": properties["speaker"]["enum"][0], "direction": DIRECTIONS[team]}
        if "logic" in properties:
            return self._scores(request, properties)
        if "turning_point" in properties or "decisive" in properties:
            return {key: COMMENTS[number % len(COMMENTS)] for number, key in enumerate(properties)}
        return None

    def _speech(self, team: str, *, answers: bool) -> str:
        texts = PRO if team == "pro" else CON
        self._said[team] += 1
        text = texts[(self._said[team] - 1) % len(texts)]
        return f"{text} Or would you rather wait ten years?" if answers and self._said[team] == 2 else text

    def _scores(self, request: ReceivedRequest, properties: dict[str, Any]) -> dict[str, Any]:
        self._judged += 1
        heard = json.dumps(request.body["messages"])
        words = "Nobody in this room would choose that"
        found = [{"violation": "personal_attack", "words": words}] if words in heard and self._judged % 7 == 0 else []
        keys = [key for key in properties if key not in {"comment", "violations"}]
        numbers = {key: 6 + (self._judged * 3 + place * 2) % 4 for place, key in enumerate(keys)}
        return {"comment": COMMENTS[self._judged % len(COMMENTS)], "violations": found, **numbers}


def _schema(request: ReceivedRequest) -> dict[str, Any]:
    given = request.body.get("response_format", {}).get("json_schema", {}).get("schema")
    tools = request.body.get("tools") or []
    schema = given or (tools[0]["function"]["parameters"] if tools else {})
    return dict(schema)


class Terminal:
    """A real terminal with a program in it, and what it shows."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._ours = ours
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)

    def watch(self, frame: Callable[[pyte.Screen], bool]) -> None:
        """Show everything to ``frame`` until it has seen enough, or the program ends."""
        while True:
            ready, _, _ = select.select([self._ours], [], [], 0.5)
            if ready:
                try:
                    data = os.read(self._ours, 65_536)
                except OSError:
                    break
                self._stream.feed(data)
            if not frame(self._screen):
                break
        self._process.terminate()
        self._process.wait(30)
        os.close(self._ours)


def picture_of(screen: pyte.Screen) -> Text:
    """What the screen shows, with its colours."""
    text = Text(no_wrap=True, end="")
    for row in range(LINES):
        cells = [screen.buffer[row][column] for column in range(COLUMNS)]
        end = max((place + 1 for place, char in enumerate(cells) if char.data.strip()), default=0)
        for style, run in groupby(cells[:end], key=_style):
            text.append("".join(char.data or " " for char in run), style)
        text.append("\n")
    text.rstrip()
    return text


def _style(char: Any) -> Style:
    colour = None if char.fg == "default" else _COLOURS.get(char.fg, f"#{char.fg}")
    return Style(color=colour, bold=char.bold)


_COLOURS = {"brown": "yellow", "brightblack": "bright_black", "brightblue": "bright_blue"}
_COLOURS |= {name: name for name in ("black", "red", "green", "blue", "magenta", "cyan", "white")}
_COLOURS |= {"bfightmagenta": "bright_magenta", "brightmagenta": "bright_magenta", "brightcyan": "bright_cyan"}


def record() -> list[Text]:
    """The moments of a match that are worth seeing, as frames."""
    frames: list[Text] = []
    last = [0.0]

    def frame(screen: pyte.Screen) -> bool:
        shown = "\n".join(screen.display)
        streams = " words  0:" in shown
        free = "FREE DEBATE  pro" in shown
        ended = "CLOSING" in shown and streams
        wait = 0.6 if len(frames) < 5 or (free and streams and len(frames) < 18) else 4.0
        if ended or ("OPENING" in shown and streams and not frames) or (frames and time.monotonic() - last[0] > wait):
            last[0] = time.monotonic()
            frames.append(picture_of(screen))
        return not ended

    with FakeProvider(latency=0.25, chunk_latency_s=0.07, answer=Speeches().answer) as provider:
        folder = tempfile.mkdtemp()
        command = [shutil.which("disputatio", path=str(Path(sys.executable).parent)) or "disputatio", "debate", MOTION]
        command += ["-f", "competition", "--seat", "all=openai_compatible:staged", "--base-url", provider.base_url]
        command += ["--set", "rules.free_speeches=4", "--store", f"{folder}/match.sqlite"]
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "", "LANG": "C.UTF-8"}
        environment.pop("NO_COLOR", None)
        Terminal(command, environment).watch(frame)
        shutil.rmtree(folder, ignore_errors=True)
    return frames


def moving_picture(frames: list[Text], picture: Path) -> None:
    """One SVG that shows the frames in turn; where nothing moves it shows the last one."""
    parts: list[str] = []
    styles: list[str] = []
    whole = ""
    for number, text in enumerate(frames):
        console = Console(width=COLUMNS, file=io.StringIO(), record=True, force_terminal=True, color_system="truecolor")
        console.print(text)
        whole = console.export_svg(title="disputatio debate --format competition", unique_id=f"f{number}")
        styles += re.findall(rf"\.f{number}-r\d+ \{{[^}}]*\}}", whole)
        matrix = re.search(rf'<g class="f{number}-matrix">(.*?)</g>\s*</g>', whole, re.DOTALL)
        assert matrix is not None, "the export of Rich has another form"
        body = re.sub(rf' clip-path="url\(#f{number}-line-\d+\)"', "", matrix[1])
        parts.append(f'<g class="frame f{number}-matrix" id="frame{number}">{body}</g>')
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_text(_joined(whole, len(frames), parts, styles), "utf-8")


def _joined(whole: str, count: int, parts: list[str], styles: list[str]) -> str:
    """The last export with all frames in the place of its own."""
    length = count * SECONDS_A_FRAME
    share = 100 / count
    css = [*styles, ".frame { opacity: 0; }", f"#frame{count - 1} {{ opacity: 1; }}"]
    css.append(f"@keyframes turn {{ 0%, {share:.3f}% {{ opacity: 1; }} {share + 0.01:.3f}%, 100% {{ opacity: 0; }} }}")
    css.append("@media (prefers-reduced-motion: no-preference) {")
    css.append(f".frame {{ animation: turn {length:.2f}s infinite step-end; }}")
    css += [f"#frame{n} {{ animation-delay: {n * SECONDS_A_FRAME:.2f}s; opacity: 0; }}" for n in range(count)]
    css.append("}")
    last = f"f{count - 1}"
    whole = re.sub(rf"\.{last}-r\d+ \{{[^}}]*\}}\s*", "", whole)
    general = "\n".join(
        f".f{n}-matrix {{ font-family: Fira Code, monospace; font-size: 20px; line-height: 24.4px; }}"
        for n in range(count)
    )
    whole = whole.replace("</style>", "\n".join([*css, general]) + "\n</style>", 1)
    place = re.search(rf'<g class="{last}-matrix">(.*?)</g>\s*</g>', whole, re.DOTALL)
    assert place is not None, "the export of Rich has another form"
    return whole[: place.start()] + "\n".join(parts) + "</g>" + whole[place.end() :]


if __name__ == "__main__":
    moving_picture(record(), Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/match.svg"))
