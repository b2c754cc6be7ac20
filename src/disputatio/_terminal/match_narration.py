"""Lay out a match: each speech under its speaker and word count, its score below, and the totals after each stage.

Some lines are printed once. Others belong to the region that is redrawn while a debater speaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from disputatio._terminal.match_state import (
    FREE,
    SPEECHES,
    TEAMS,
    MatchState,
    count_content_words,
    format_clock,
    team_of,
)
from disputatio._terminal.progress import OpenAsk, Progress, measure_progress
from disputatio._terminal.visibility import Visibility, describe_hidden
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
    """Lays out the events of a match.

    Args:
        state: the state of the match after the event.
        visibility: what the screen may show.
        fancy: whether the screen can show more than ASCII.
    """

    def __init__(self, state: MatchState, visibility: Visibility, *, fancy: bool) -> None:
        self.state, self._visibility, self._fancy = state, visibility, fancy

    def lay_out(self, event: TurnTaken | ScoreGiven | PenaltyGiven, width: int) -> list[Line] | None:
        """The lines of ``event``; None if a match shows it as other debates do."""
        width = min(width, MEASURE)
        if isinstance(event, PenaltyGiven):
            return []
        if isinstance(event, ScoreGiven):
            speech = SpeechReading.of(event.body)
            if speech is None:
                return None
            return self._score_lines(speech, event.body, width) if self._visibility.shows_scores else []
        if not self._visibility.shows_turn(event.seat, event.form):
            return [(Span("  "), span(describe_hidden(event.seat, event.form), Role.QUIET))]
        if event.form in SPEECHES:
            return self._speech_lines(event, width)
        if event.form == "direction":
            return self._direction_lines(event, width)
        if event.form == "scoring":
            # Its numbers are shown with the score that code computes from them.
            return []
        return self._summary_lines(event, width) if event.form == _SUMMED else None

    def _speech_lines(self, event: TurnTaken, width: int) -> list[Line]:
        statements = turn_kind(event.form).statements(event.seat, event.content)
        limit = self._limit_of(event)
        head = self.speaker_line(event.seat, event.phase, event.form)
        if event.form == "questions" and statements:
            head = (*head, span(f" {statements[0].mark[:1].lower()}{statements[0].mark[1:]}", Role.QUIET))
            statements = tuple(Statement("", "", "", row.points) for row in statements)
        words = count_content_words(event.content)
        count = f"{words}/{limit} words" if limit is not None else f"{words} words"
        over = limit is not None and words > limit
        right = span(f"{count}{'  OVERTIME' if over else ''}", Role.WARNING if over else Role.QUIET)
        return [_spread(head, (right,), width), *self.statement_lines(statements, event.seat, width)]

    def _limit_of(self, event: TurnTaken) -> int | None:
        """The limit that the speech had when it began. The state has updated the free debate's clock since."""
        if event.phase == FREE:
            return self.state.free_limit
        return self.state.limit(event.seat, event.phase, event.form)

    def speaker_line(self, seat: str, phase: str, form: str) -> Line:
        """The speaker, their style, and the kind of speech."""
        style = style_name(one_line(self.state.styles.get(seat, ""), 30))
        kind = self.state.kind(seat, phase, form) if form in SPEECHES else ""
        about = ", ".join(row for row in (style, kind) if row)
        return (
            Span("  "),
            span(seat_name(seat), seat_role(seat)),
            *((span(f"  {about}", Role.QUIET),) if about else ()),
        )

    def statement_lines(self, statements: Sequence[Statement], seat: str, width: int) -> list[Line]:
        """Statements, next to a bar in the colour of the team."""
        bar = (Span("  "), Span(_bar_sign(self._fancy), seat_role(seat)))
        lines: list[Line] = []
        for row in statements:
            texts = [("", row.lead)] if row.lead else []
            for label, text in (*texts, *row.points):
                labels = [span(f"{label} ", Role.LABEL)] if label else []
                rows = flow([*labels, span(text)], width - 4, hang=min(columns(label) + 1, 3) if label else 0)
                lines += [(*bar, *line) for line in rows]
        return lines

    def _direction_lines(self, event: TurnTaken, width: int) -> list[Line]:
        content: Mapping[str, Any] = event.content
        speaker = seat_name(str(content.get("speaker", "")))
        bid = f" (bids {content['bid']})" if isinstance(content.get("bid"), int) else ""
        head = [
            span(f"{seat_name(event.seat)} as captain", seat_role(event.seat)),
            span(f" to {seat_name(team_of(event.seat))} alone{bid}: ", Role.QUIET),
            span(speaker, seat_role(event.seat)),
            # Only the higher of two bids leads to a speech.
            span(". " if bid else " next. ", Role.QUIET),
            span(str(content.get("direction", "")), Role.QUIET),
        ]
        return flow(head, width, first=(Span("  "),), hang=4)

    def _score_lines(self, speech: SpeechReading, body: Mapping[str, Any], width: int) -> list[Line]:
        """The judge's numbers, fouls and penalties, and the totals of the teams."""
        criteria = speech.criteria
        head = [
            span(pad(speech.id, 4), Role.QUIET),
            span(
                f"{criteria}  " if criteria else "the judge gave no score  ", Role.PLAIN if criteria else Role.WARNING
            ),
            span(f"= {speech.shown}" if criteria else "", Role.LEAD),
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
        """The totals of both teams."""
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

    def _summary_lines(self, event: TurnTaken, width: int) -> list[Line]:
        """The judge's summary of a stage, and the totals."""
        if event.phase == "verdict":
            # The result, which follows, has the verdict.
            note = [span("JUDGE", Role.JUDGE), span(" has given the verdict: see below.", Role.QUIET)]
            return flow(note, width, first=(Span("  "),), hang=4)
        stage = spoken(one_line(event.phase, 40))
        lines: list[Line] = [(Span("  "), span("JUDGE", Role.JUDGE), span(f"  on the {stage}", Role.QUIET))]
        for row in turn_kind(event.form).statements(event.seat, event.content):
            lines += flow([span(f"{row.mark}: ", Role.LABEL), span(row.lead)], width, first=(Span("    "),), hang=6)
        return [*lines, (), *self.board(width)]

    def board(self, width: int) -> list[Line]:
        """Everybody's total so far, a line for each team."""
        lines: list[Line] = []
        for team in TEAMS if self._visibility.shows_scores else ():
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
        """A speech while it is made: the speaker, the words against the limit, and the end of the text so far."""
        visible = self._visibility.shows_turn(ask.seat, ask.form)
        head = self.speaker_line(ask.seat, ask.phase, ask.form)
        limit = self.state.limit(ask.seat, ask.phase, ask.form)
        state = measure_progress(ask, progress.questions, now)
        words = ask.draft.words(progress.questions) if ask.draft.begun else 0
        if visible and words and limit is not None and not ask.trouble:
            right = self._clock(words, limit, width, seat_role(ask.seat))
        else:
            writes = ask.draft.begun and not ask.trouble
            note = f"{turn_kind(ask.form).activity}, {_waited(ask, now)}" if writes else state.words
            room = max(0, width - line_columns(head) - 3)
            right = (span(cut(one_line(note), room), Role.WARNING if ask.trouble else Role.QUIET),)
        lines: list[Line] = [_spread(head, right, width)]
        if not each:
            return lines
        statements = ask.draft.statements(progress.questions) if visible else ()
        last = self.statement_lines(statements, ask.seat, min(width, MEASURE))[-each:]
        return [*lines, *last, *([()] * (each - len(last)))]

    def _clock(self, words: int, limit: int, width: int, role: Role) -> Line:
        over = words > limit
        time, most = (format_clock(self.state.seconds(number)) for number in (words, limit))
        count = f"{words} / {limit} words  {time} / {most}"
        spans: list[Span] = []
        if width >= 76:
            size = _BAR if width < 110 else 2 * _BAR
            done = min(size, words * size // max(1, limit))
            full, empty = ("━", "─") if self._fancy else ("#", ".")
            spans += [Span(full * done, Role.WARNING if over else role), Span(empty * (size - done), Role.QUIET)]
            spans.append(Span("  "))
        return (*spans, span(f"{count}{'  OVERTIME' if over else ''}", Role.WARNING if over else Role.PLAIN))

    def head(self, phase: str, width: int) -> Line:
        """The line above the current speeches: both totals, the stage, and the clocks of the free debate."""
        ends: list[tuple[str, str]] = []
        for team in TEAMS:
            total = self.state.totals.get(team) if self._visibility.shows_scores else None
            ends.append((team, team.upper() if total is None else f"{team.upper()} {total:.2f}"))
        stage = spoken(one_line(phase, 40)).upper() or "MATCH"
        if phase == FREE:
            clocks = (f"{team} {format_clock(self.state.seconds(self.state.words_left(team)))}" for team in TEAMS)
            stage = f"{stage}  {', '.join(clocks)} left"
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


def _spread(left: Line, right: Line, width: int) -> Line:
    """``left`` and ``right`` at the two ends of a line, at least two spaces apart."""
    if line_columns(left) + 2 + line_columns(right) > width:
        left = left[:2]
        room = max(0, width - line_columns(left) - 2)
        right = (Span(cut("".join(row.text for row in right), room), right[-1].role),)
    return (*left, Span(" " * max(2, width - line_columns(left) - line_columns(right))), *right)
