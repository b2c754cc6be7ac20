"""Tells a match: each speech under its speaker's name and clock, its score below it, the board after each stage.

Lines that are printed once and stay, and the lines of the region that moves while a speech is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from disputatio._terminal.match_state import FREE, SPEECHES, TEAMS, MatchState, clock, said_words, team_of
from disputatio._terminal.progress import OpenAsk, Progress, standing
from disputatio._terminal.visibility import Visibility, held_back
from disputatio.motion import one_line
from disputatio.record.events import PenaltyGiven, ScoreGiven, TurnTaken
from disputatio.report.amounts import seat_name, spoken, style_name, whole_seconds
from disputatio.report.columns import columns, cut, pad
from disputatio.report.match import PenaltyReading, SpeechReading
from disputatio.report.text_spans import Line, Role, Span, flow, line_columns, span
from disputatio.report.transcript import MEASURE, seat_role
from disputatio.report.turns.registry import turn_kind
from disputatio.report.turns.statement import Statement

_SUMMED = "summation"
_BAR = 12


def _bar_sign(fancy: bool) -> str:  # noqa: FBT001
    return "▎ " if fancy else "| "


class MatchNarration:
    """Says what the events of a match tell.

    Args:
        state: the match, already told of each event.
        hearing: who looks at the screen.
        fancy: whether the screen can show more than ASCII.
    """

    def __init__(self, state: MatchState, visibility: Visibility, *, fancy: bool) -> None:
        self.state, self._hearing, self._fancy = state, visibility, fancy

    def tells(self, event: TurnTaken | ScoreGiven | PenaltyGiven, width: int) -> list[Line] | None:
        """The lines of ``event``; None where a match says nothing of its own about it."""
        width = min(width, MEASURE)
        if isinstance(event, PenaltyGiven):
            return []
        if isinstance(event, ScoreGiven):
            speech = SpeechReading.of(event.body)
            if speech is None:
                return None
            return self._scored(speech, event.body, width) if self._hearing.facts else []
        if not self._hearing.turn(event.seat, event.form):
            return [(Span("  "), span(held_back(event.seat, event.form), Role.QUIET))]
        if event.form in SPEECHES:
            return self._speech(event, width)
        if event.form == "direction":
            return self._direction(event, width)
        if event.form == "scoring":
            # Its numbers are told with the score that code makes of them.
            return []
        return self._summed(event, width) if event.form == _SUMMED else None

    def _speech(self, event: TurnTaken, width: int) -> list[Line]:
        said = turn_kind(event.form).statements(event.seat, event.content)
        limit = self._limit_of(event)
        head = self.speaker(event.seat, event.phase, event.form)
        if event.form == "questions" and said:
            head = (*head, span(f" {said[0].mark[:1].lower()}{said[0].mark[1:]}", Role.QUIET))
            said = tuple(Statement("", "", "", row.points) for row in said)
        words = said_words(event.content)
        told = f"{words}/{limit} words" if limit is not None else f"{words} words"
        late = limit is not None and words > limit
        right = span(f"{told}{'  OVERTIME' if late else ''}", Role.WARNING if late else Role.QUIET)
        lines: list[Line] = [_ends(head, (right,), width)]
        return lines + self.words(said, event.seat, width)

    def _limit_of(self, event: TurnTaken) -> int | None:
        """The limit that held when the speech began; the state has wound the clock of the free debate since."""
        if event.phase == FREE:
            return self.state.free_limit
        return self.state.limit(event.seat, event.phase, event.form)

    def speaker(self, seat: str, phase: str, form: str) -> Line:
        """Who speaks, how they argue, and what for."""
        style = style_name(one_line(self.state.styles.get(seat, ""), 30))
        kind = self.state.kind(seat, phase, form) if form in SPEECHES else ""
        about = ", ".join(row for row in (style, kind) if row)
        return (
            Span("  "),
            span(seat_name(seat), seat_role(seat)),
            *((span(f"  {about}", Role.QUIET),) if about else ()),
        )

    def words(self, said: Sequence[Statement], seat: str, width: int) -> list[Line]:
        """What was said, beside a bar in the colour of the team."""
        bar = (Span("  "), Span(_bar_sign(self._fancy), seat_role(seat)))
        lines: list[Line] = []
        for row in said:
            texts = [("", row.lead)] if row.lead else []
            for label, text in (*texts, *row.points):
                shown = [span(f"{label} ", Role.LABEL)] if label else []
                laid = flow([*shown, span(text)], width - 4, hang=min(columns(label) + 1, 3) if label else 0)
                lines += [(*bar, *line) for line in laid]
        return lines

    def _direction(self, event: TurnTaken, width: int) -> list[Line]:
        content: Mapping[str, Any] = event.content
        speaker = seat_name(str(content.get("speaker", "")))
        bid = f" (bids {content['bid']})" if isinstance(content.get("bid"), int) else ""
        head = [
            span(f"{seat_name(event.seat)} as captain", seat_role(event.seat)),
            span(f" to {seat_name(team_of(event.seat))} alone{bid}: ", Role.QUIET),
            span(speaker, seat_role(event.seat)),
            # Of two bids one wins the floor: the other team's debater does not speak.
            span(". " if bid else " next. ", Role.QUIET),
            span(str(content.get("direction", "")), Role.QUIET),
        ]
        return flow(head, width, first=(Span("  "),), hang=4)

    def _scored(self, speech: SpeechReading, body: Mapping[str, Any], width: int) -> list[Line]:
        """The judge's numbers, what was broken and what it cost, and where the teams stand."""
        shown = speech.criteria
        head = [
            span(pad(speech.id, 4), Role.QUIET),
            span(f"{shown}  " if shown else "the judge gave no score  ", Role.PLAIN if shown else Role.WARNING),
            span(f"= {speech.shown}" if shown else "", Role.LEAD),
        ]
        lines = flow(head, width, first=(Span("    "),), hang=8)
        if speech.comment:
            comment = [span("JUDGE: ", Role.JUDGE), span(speech.comment, Role.QUIET)]
            lines += flow(comment, width, first=(Span("        "),), hang=8)
        for text in speech.fouls:
            proven = text in speech.proven
            sign = "! " if proven else "- "
            lines += flow(
                [span(f"{sign}{text}", Role.WARNING if proven else Role.QUIET)],
                width,
                first=(Span("        "),),
                hang=10,
            )
        for penalty in speech.penalties:
            lines += flow([_penalty(penalty)], width, first=(Span("        "),), hang=10)
        return [*lines, self.board_line(width)] if body.get("totals") else lines

    def board_line(self, width: int) -> Line:
        """The totals of both teams, with who leads."""
        spans: list[Span] = [Span("        ")]
        for number, team in enumerate(TEAMS):
            if number:
                spans.append(Span("   "))
            total = self.state.totals.get(team)
            spans += [
                span(team.upper(), seat_role(team)),
                span(" -" if total is None else f" {total:.2f}", Role.LEAD),
            ]
        line = tuple(spans)
        return line if line_columns(line) <= width else line[1:]

    def _summed(self, event: TurnTaken, width: int) -> list[Line]:
        """The judge on a stage, and the board."""
        if event.phase == "verdict":
            # It stands in the result, which follows.
            told = [span("JUDGE", Role.JUDGE), span(" has given the verdict: see below.", Role.QUIET)]
            return flow(told, width, first=(Span("  "),), hang=4)
        stage = spoken(one_line(event.phase, 40))
        lines: list[Line] = [(Span("  "), span("JUDGE", Role.JUDGE), span(f"  on the {stage}", Role.QUIET))]
        for row in turn_kind(event.form).statements(event.seat, event.content):
            lines += flow([span(f"{row.mark}: ", Role.LABEL), span(row.lead)], width, first=(Span("    "),), hang=6)
        return [*lines, (), *self.board(width)]

    def board(self, width: int) -> list[Line]:
        """Everybody's total so far, a line for each team."""
        lines: list[Line] = []
        for team in TEAMS if self._hearing.facts else ():
            total, lost = self.state.totals.get(team), self.state.penalties.get(team, 0)
            head: Line = (
                Span("  "),
                Span(pad(team.upper(), 5), seat_role(team)),
                span(pad("-" if total is None else f"{total:.2f}", 8), Role.LEAD),
            )
            rows = [f"{seat.upper()} {self._total(seat)}" for seat in (f"{team}_{place}" for place in range(1, 5))]
            rows += [f"team penalties {lost}"] if lost else []
            lines += flow([span(", ".join(row.replace(" ", "\u00a0") for row in rows))], width, first=head, hang=15)
        return [tuple(Span(row.text.replace("\u00a0", " "), row.role) for row in line) for line in lines]

    def _total(self, seat: str) -> str:
        total = self.state.totals.get(seat)
        lost = self.state.penalties.get(seat, 0)
        return "-" if total is None else f"{total:.2f}{f' ({lost})' if lost else ''}"

    def region(self, ask: OpenAsk, progress: Progress, now: float, width: int, each: int) -> list[Line]:
        """A speech while it is made: who, the clock against the limit, and the end of what was said so far."""
        heard = self._hearing.turn(ask.seat, ask.form)
        head = self.speaker(ask.seat, ask.phase, ask.form)
        limit = self.state.limit(ask.seat, ask.phase, ask.form)
        how = standing(ask, progress.questions, now)
        words = ask.draft.words(progress.questions) if ask.draft.begun else 0
        if heard and words and limit is not None and not ask.trouble:
            right = self._clock(words, limit, width, seat_role(ask.seat))
        else:
            told = f"{turn_kind(ask.form).activity}, {_waited(ask, now)}" if ask.draft.begun else how.words
            told = how.words if ask.trouble else told
            room = max(0, width - line_columns(head) - 3)
            right = (span(cut(one_line(told), room), Role.WARNING if ask.trouble else Role.QUIET),)
        lines: list[Line] = [_ends(head, right, width)]
        if not each:
            return lines
        shown = self.words(ask.draft.statements(progress.questions), ask.seat, min(width, MEASURE)) if heard else []
        shown = shown[-each:]
        return [*lines, *shown, *([()] * (each - len(shown)))]

    def _clock(self, words: int, limit: int, width: int, role: Role) -> Line:
        over = words > limit
        told = f"{words} / {limit} words  {clock(self.state.seconds(words))} / {clock(self.state.seconds(limit))}"
        spans: list[Span] = []
        if width >= 76:
            size = _BAR if width < 110 else 2 * _BAR
            done = min(size, words * size // max(1, limit))
            full, empty = ("━", "─") if self._fancy else ("#", ".")
            spans += [Span(full * done, Role.WARNING if over else role), Span(empty * (size - done), Role.QUIET)]
            spans.append(Span("  "))
        return (*spans, span(f"{told}{'  OVERTIME' if over else ''}", Role.WARNING if over else Role.PLAIN))

    def head(self, phase: str, width: int) -> Line:
        """The line above the speeches that are made: both totals, the stage and what is left on the clocks."""
        ends: list[tuple[str, str]] = []
        for team in TEAMS:
            total = self.state.totals.get(team) if self._hearing.facts else None
            ends.append((team, team.upper() if total is None else f"{team.upper()} {total:.2f}"))
        stage = spoken(one_line(phase, 40)).upper() or "MATCH"
        if phase == FREE:
            left = ", ".join(f"{team} {clock(self.state.seconds(self.state.left(team)))}" for team in TEAMS)
            stage = f"{stage}  {left} left"
        inner = width - 4 - columns(ends[0][1]) - columns(ends[1][1])
        if inner < 1:
            return (Span("  "), span(cut(stage, width - 2), Role.TITLE))
        middle = cut(stage, inner)
        gap = max(0, inner - columns(middle))
        return (
            Span("  "),
            Span(ends[0][1], seat_role("pro")),
            Span(" " * (gap // 2 + 1)),
            span(middle, Role.TITLE),
            Span(" " * (gap - gap // 2 + 1)),
            Span(ends[1][1], seat_role("con")),
        )


def _waited(ask: OpenAsk, now: float) -> str:
    return whole_seconds(max(0, int(now - ask.since)))


def _penalty(row: PenaltyReading) -> Span:
    return span(f"! {row.who.upper()} {row.points} for {row.foul}", Role.WARNING)


def _ends(left: Line, right: Line, width: int) -> Line:
    """``left`` and ``right`` at the two ends of a line, or with two spaces between where it is narrow."""
    if line_columns(left) + 2 + line_columns(right) > width:
        left = left[:2]
        room = max(0, width - line_columns(left) - 2)
        right = (Span(cut("".join(row.text for row in right), room), right[-1].role),)
    return (*left, Span(" " * max(2, width - line_columns(left) - line_columns(right))), *right)
