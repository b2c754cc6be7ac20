"""What a match came to, read from its record: the scoreboard, the speeches with their clocks, fouls and penalties.

Everything is read as plain JSON, so the record of a later version is still shown as far as it is understood.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from disputatio.motion import one_line
from disputatio.report.amounts import capital, counted, seat_name, spoken, style_name, with_names
from disputatio.report.json_values import as_number, as_object, objects_in, short
from disputatio.report.reading import DebateReport
from disputatio.report.turns.speeches import summary_points

_KINDS = {"free": "free speech", "summary": "summary", "opening": "opening", "closing": "closing"}


@dataclass(frozen=True, slots=True)
class SpeechReading:
    """One speech with its clock and what the judge and the rules made of it. ``score`` is None where there is none."""

    id: str
    seat: str
    stage: str
    kind: str
    selected_by: str
    words: int
    limit: int
    score: float | None
    criteria: str
    comment: str
    fouls: tuple[str, ...]
    penalties: tuple[PenaltyReading, ...]

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> SpeechReading | None:
        """The speech that a record keeps; None where it is none of a match."""
        if not isinstance(body.get("words"), int) or not isinstance(body.get("seat"), str):
            return None
        given, counts = as_object(body.get("criteria")), as_object(body.get("counted"))
        return cls(
            id=short(body.get("id"), 20),
            seat=short(body.get("seat"), 40),
            stage=short(body.get("stage"), 40),
            kind=_KINDS.get(str(body.get("kind")), short(body.get("kind"), 40)),
            selected_by=short(body.get("speaker_selected_by"), 40),
            words=body["words"],
            limit=body["limit"] if isinstance(body.get("limit"), int) else 0,
            score=as_number(body.get("score")),
            criteria=", ".join(
                f"{spoken(str(key))} {value}{_capped(value, counts.get(key))}" for key, value in given.items()
            ),
            comment=short(body.get("comment"), 600),
            fouls=tuple(_foul(row) for row in objects_in(body.get("violations"))),
            penalties=tuple(PenaltyReading.of(row) for row in objects_in(body.get("penalties"))),
        )

    @property
    def over(self) -> bool:
        """Whether it was too long."""
        return self.words > self.limit

    @property
    def clock(self) -> str:
        """Its words against the limit."""
        return f"{self.words}/{self.limit}"

    @property
    def shown(self) -> str:
        """Its score, for people."""
        return "no score" if self.score is None else f"{self.score:.2f}"

    @property
    def proven(self) -> tuple[str, ...]:
        """The violations that count."""
        return tuple(row for row in self.fouls if not row.endswith(_NOT_SAID))

    @property
    def cost(self) -> str:
        """Its penalties in a few words."""
        return ", ".join(f"{seat_name(row.who)} {row.points}" for row in self.penalties if row.points)


@dataclass(frozen=True, slots=True)
class PenaltyReading:
    """Points deducted for a speech."""

    speech: str
    who: str
    points: int
    foul: str
    reason: str

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> PenaltyReading:
        """The penalty that a record keeps."""
        return cls(
            speech=short(body.get("speech"), 20),
            who=short(body.get("who"), 40),
            points=body["points"] if isinstance(body.get("points"), int) else 0,
            foul=spoken(short(body.get("violation"), 60)),
            reason=short(body.get("reason"), 400),
        )

    @property
    def sentence(self) -> str:
        """The penalty in a sentence."""
        return f"{seat_name(self.who)} {self.points} for {self.foul} in {self.speech}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Scored:
    """A row of the scoreboard: a debater or a team."""

    who: str
    total: float | None
    penalties: int
    speeches: int
    unscored: int
    words: int
    style: str
    mean: float | None = None

    @property
    def per_speech(self) -> str:
        """The points per speech, for people; a dash where the record does not tell them."""
        return "-" if self.mean is None else f"{self.mean:.2f}"

    @property
    def shown(self) -> str:
        """The total, for people."""
        return "none" if self.total is None else f"{self.total:.2f}"


@dataclass(frozen=True, slots=True)
class MatchReading:
    """The result of a match. ``winner`` is ``pro``, ``con`` or ``draw``; empty if it is not known."""

    sentence: str
    best: str
    judged: bool
    teams: tuple[Scored, ...]
    debaters: tuple[Scored, ...]
    speeches: tuple[SpeechReading, ...]
    penalties: tuple[PenaltyReading, ...]
    stages: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    notes: tuple[str, ...]
    winner: str = ""

    @property
    def final(self) -> tuple[tuple[str, str], ...]:
        """The judge's last word."""
        return next((points for stage, points in self.stages if stage == "verdict"), ())

    @property
    def between(self) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
        """The summaries of the stages."""
        return tuple(row for row in self.stages if row[0] != "verdict")


def match_reading(report: DebateReport) -> MatchReading | None:
    """The result of a match; None where the outcome is none of that kind."""
    outcome: Mapping[str, Any] = report.outcome
    if not isinstance(outcome.get("teams"), Mapping) or not isinstance(outcome.get("speeches"), list | tuple):
        return None
    return MatchReading(
        sentence=capital(with_names(short(outcome.get("reading"), 600))),
        best=with_names(short(outcome.get("best_debater_text"), 300)),
        judged=outcome.get("judged") is True,
        teams=tuple(_scored(str(team), row) for team, row in _teams(outcome["teams"])),
        debaters=tuple(_scored(str(row.get("seat")), row) for row in objects_in(outcome.get("debaters"))),
        speeches=tuple(row for body in objects_in(outcome["speeches"]) if (row := SpeechReading.of(body)) is not None),
        penalties=tuple(PenaltyReading.of(row) for row in objects_in(outcome.get("penalties"))),
        stages=tuple(
            (
                short(row.get("stage"), 40),
                summary_points(as_object(row.get("points"))),
            )
            for row in objects_in(outcome.get("stages"))
        ),
        notes=tuple(_notes(outcome)),
        winner=short(outcome.get("winner"), 20),
    )


def speeches_by_path(report: DebateReport) -> dict[str, SpeechReading]:
    """Each speech of a match by the path of its turn; the record numbers speeches in the order of their turns."""
    match = match_reading(report)
    turns = [row for row in report.turns if row.kind.heard_by == "all"]
    if match is None or [row.seat for row in turns] != [row.seat for row in match.speeches]:
        return {}
    return {turn.path: speech for turn, speech in zip(turns, match.speeches, strict=True)}


def _teams(teams: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(((team, as_object(row)) for team, row in teams.items()), key=lambda row: (row[0] != "pro", row[0]))


def _scored(who: str, row: Mapping[str, Any]) -> Scored:
    counts = {key: row[key] if isinstance(row.get(key), int) else 0 for key in ("penalties", "speeches", "unscored")}
    words = row.get("words", row.get("free_words"))
    style = style_name(short(row.get("personality") or "", 40))
    return Scored(
        short(who, 40),
        as_number(row.get("total")),
        **counts,
        words=words or 0,
        style=style,
        mean=as_number(row.get("mean")),
    )


def _notes(outcome: Mapping[str, Any]) -> Iterable[str]:
    """What is missing or uneven, in sentences."""
    speeches = {team: row.get("speeches") for team, row in _teams(outcome["teams"])}
    if len(set(speeches.values())) > 1:
        numbers = " and ".join(f"{seat_name(team)} gave {number}" for team, number in speeches.items())
        yield one_line(f"Every speech brings points, and {numbers}: compare the points per speech.", 200)
    unscored = [str(row) for row in outcome.get("unscored") or ()]
    if unscored:
        them = "It is" if len(unscored) == 1 else "They are"
        number = counted(len(unscored), "speech has", "speeches have")
        yield one_line(f"{number} no score, because the judge was silent: {', '.join(unscored)}. {them} not zero.", 400)
    for row in objects_in(outcome.get("silences")):
        yield one_line(f"{seat_name(str(row.get('seat')))} was silent in {spoken(str(row.get('stage')))}", 120) + "."
    unspoken = [seat_name(str(row)) for row in outcome.get("unspoken") or ()]
    if unspoken:
        yield one_line(f"Not heard in the free debate: {', '.join(unspoken)}.", 300)


def match_sureness(reading: MatchReading) -> list[str]:
    """How far the result can be trusted, in sentences."""
    sentences = ["words, penalties and totals were counted by code; the scores are one judge's"]
    void = sum(row.endswith(_NOT_SAID) for speech in reading.speeches for row in speech.fouls)
    if void:
        sentences.append(f"{counted(void, 'violation')} named by the judge did not count: the words were not said")
    return sentences


_NOT_SAID = "(nobody said these words: it does not count)"


def _foul(row: Mapping[str, Any]) -> str:
    doubt = "" if row.get("counts") is not False else f" {_NOT_SAID}"
    what, by = spoken(short(row.get("violation"), 60)), short(row.get("found_by"), 20)
    return f"{what}, found by {by}: {short(row.get('shown'), 300)}{doubt}"


def _capped(given: Any, counts: Any) -> str:
    return "" if counts in {None, given} else f" (counts {counts})"
