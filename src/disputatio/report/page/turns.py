"""Each ask as the page shows it: what was said, who served it, what it cost, and what was not accepted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from disputatio.motion import clean, one_line
from disputatio.report.amounts import capital, counted, duration, listed, seat_name, spoken
from disputatio.report.headings import abstained
from disputatio.report.match import SpeechReading, speeches_by_path
from disputatio.report.page.exchange import Exchange, Said
from disputatio.report.page.passages import Anchors
from disputatio.report.reading import DebateReport, Entry, EntryState
from disputatio.report.spending import CallReading, Totals

_LONGEST_RAW = 4_000
_FEW = 5


@dataclass(frozen=True, slots=True)
class Refused:
    """An answer that was not accepted: the reasons, and its text as far as the record has it."""

    because: str
    reasons: tuple[str, ...]
    raw: str


@dataclass(frozen=True, slots=True)
class TurnView:
    """One ask. ``absence`` says why there is no turn; it is empty where there is one, ``open`` where one may come."""

    entry: Entry
    anchor: str
    said: list[Said]
    absence: str
    open: bool
    facts: str
    broken: tuple[tuple[str, str], ...]
    refused: tuple[Refused, ...]
    calls: tuple[CallReading, ...]
    card: SpeechReading | None = None

    @property
    def conclusion(self) -> bool:
        """Whether the turn is a judge's, laid out over the whole width."""
        return self.entry.kind.concludes


@dataclass(frozen=True, slots=True)
class PhaseView:
    """One phase. ``abreast``: its turns are laid out side by side where there is room."""

    title: str
    anchor: str
    turns: tuple[TurnView, ...]

    @property
    def told(self) -> str:
        """What is in it, where it is folded."""
        return f"{counted(len(self.turns), 'turn')} of {listed(list(dict.fromkeys(_names(self.turns))))}"

    @property
    def abreast(self) -> bool:
        """Whether two sides speak in it."""
        seats = [row.entry.seat.rpartition("_")[2] for row in self.turns]
        paired = seats == ["bull", "bear"] * (len(seats) // 2)
        return (len(self.turns) == 2 or paired) and not any(row.conclusion for row in self.turns)


def _names(turns: tuple[TurnView, ...]) -> Iterable[str]:
    names = list(dict.fromkeys(seat_name(row.entry.seat) for row in turns))
    return names if len(names) <= _FEW else [*names[: _FEW - 1], "others"]


def phase_views(report: DebateReport, exchange: Exchange) -> list[PhaseView]:
    """All phases and their turns."""
    phases, cards = [], speeches_by_path(report)
    for phase in report.phases:
        title = spoken(one_line(phase.name, 60))
        anchor = exchange.anchors.add("phase", phase.name)
        turns = tuple(replace(_turn(report, row, exchange), card=cards.get(row.path)) for row in phase.entries)
        phases.append(PhaseView(capital(title), anchor, turns))
    return phases


def _turn(report: DebateReport, entry: Entry, exchange: Exchange) -> TurnView:
    calls = tuple(row for row in report.calls if row.sent.path == entry.path)
    return TurnView(
        entry=entry,
        anchor=_anchor(exchange.anchors, entry),
        said=exchange.said.get(entry.path, []),
        absence=_absence(entry),
        open=entry.state is EntryState.OPEN,
        facts=_facts(entry, calls),
        broken=tuple((spoken(one_line(str(row.get("rule")), 60)), str(row.get("detail"))) for row in entry.broken),
        refused=_refused(entry, calls),
        calls=calls,
    )


def _anchor(anchors: Anchors, entry: Entry) -> str:
    return anchors.add("turn", entry.path)


def _absence(entry: Entry) -> str:
    if entry.state is EntryState.OPEN:
        return f"{entry.seat} has not spoken."
    if entry.state is EntryState.ABSTAINED:
        return f"{abstained(entry.seat, entry.phase, entry.detail or entry.reason)}."
    return ""


def _facts(entry: Entry, calls: tuple[CallReading, ...]) -> str:
    """Who served the turn, and what it took."""
    served = [f"served by {one_line(', '.join(entry.served), 100)}"] if entry.served else []
    if not calls:
        return entry.spoken_at or ", ".join(served)
    waited = sum(row.made.latency_ms for row in calls if row.made)
    return "; ".join([*served, Totals.of(calls, None).line, f"{duration(waited / 1000)} waiting for the model"])


def _refused(entry: Entry, calls: tuple[CallReading, ...]) -> tuple[Refused, ...]:
    answers: dict[str, list[str]] = {}
    for row in calls:
        if row.made and row.state == "answered":
            answers.setdefault(row.sent.part, []).append(row.made.text)
    refused = []
    for rejected in entry.rejections:
        rows = answers.get(rejected.part, [])
        raw = clean(rows.pop(0)) if rows else ""
        if len(raw) > _LONGEST_RAW:
            raw = f"{raw[:_LONGEST_RAW]}… ({counted(len(raw) - _LONGEST_RAW, 'more character')}; the record has them)"
        because = "broke a rule" if rejected.because == "rule" else "did not fit the form"
        refused.append(Refused(because, rejected.reasons, raw))
    return tuple(refused)
