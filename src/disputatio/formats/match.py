"""A match so far: its speeches, their penalties, and all scores. All arithmetic is exact.

    score of a speech  = the rubric's weights over the judge's integers
    individual total   = scores of its speeches + its own penalties
    team total         = totals of its four debaters + penalties of the team; it may be negative
    points per speech  = total / number of scored speeches

A speech the judge did not score has no score, which is not zero. It could be worth anything on the scale, so a team
wins only where no missing score could change that.

Source: the debate competition protocol (three layers of scoring). Departure: it has no rule for a missing score.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from disputatio.formats.competition_rules import PRICED, CompetitionRules
from disputatio.formats.turns.citing import NOTHING, Citing
from disputatio.formats.turns.scoring import ABOUT, Foul, Scoring, Summation
from disputatio.formats.turns.speech import SpeechKind, SpeechTurn
from disputatio.judging.scoring import HIGHEST, LOWEST, Rubric, round_half_up, weigh_scores
from disputatio.kernel import Channel, JsonObject, Seat, Transcript, Violation

PRO, CON = "pro", "con"
TEAMS = (PRO, CON)
JUDGE = Seat("judge")
PLACES = (1, 2, 3, 4)
DEBATERS = tuple(Seat(f"{team}_{place}") for team in TEAMS for place in PLACES)
JUDGE_NOTES = Channel("judge_notes")
BY_SCHEDULE, BY_CAPTAIN, BY_ATTACKER = "schedule", "captain", "attacker"
COMPLIANCE = "rule_compliance"
SPEECHES = frozenset({"speech", "questions"})
"""The kinds of turns everybody hears. Directions are for one team, the judge's texts for the judge."""


def debater(team: str, place: int) -> Seat:
    """The debater of ``team`` in ``place``, 1 to 4."""
    return Seat(f"{team}_{place}")


def members(team: str) -> tuple[Seat, ...]:
    """The four debaters of ``team``."""
    return tuple(debater(team, place) for place in PLACES)


def team_of(seat: str) -> str:
    """The team of a debater."""
    return seat.partition("_")[0]


def opponent_of(team: str) -> str:
    """The other team."""
    return CON if team == PRO else PRO


def team_channel(team: str) -> Channel:
    """The channel that one team alone reads and writes."""
    return Channel(f"team_{team}")


def channels() -> Transcript:
    """Return the empty transcript of a match. Debaters use the public and their team's channel; the judge has notes."""
    rights = (
        *((team_channel(team), frozenset(members(team))) for team in TEAMS),
        (JUDGE_NOTES, frozenset({JUDGE})),
    )
    return Transcript(readers=rights, writers=rights)


@dataclass(frozen=True, slots=True)
class Charge:
    """A foul. It does not count if the words that the judge quotes were not said.

    ``by`` is ``code`` or ``judge``; ``shown`` are the words or the finding that show it.
    """

    foul: Foul
    by: str
    shown: str
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Penalty:
    """The points a speech lost: ``who`` is a debater or a team; ``points`` are negative or zero."""

    speech: str
    who: str
    foul: Foul
    points: int
    reason: str

    def as_json(self) -> JsonObject:
        """Return the form of the record and the exports."""
        return {
            "speech": self.speech,
            "who": self.who,
            "violation": self.foul.value,
            "points": self.points,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Speech:
    """One speech, numbered through the match: S1, S2, ...

    ``limit`` is in words. ``broken`` are the violations the spec found; ``charges`` begin with those of the speaking
    order. ``score`` is None where the judge gave none.
    """

    id: str
    seat: Seat
    stage: str
    kind: SpeechKind
    turn: SpeechTurn
    limit: int
    selected_by: str
    broken: tuple[Violation, ...] = ()
    scoring: Scoring | None = None
    score: Fraction | None = None
    counted: tuple[tuple[str, int], ...] = ()
    charges: tuple[Charge, ...] = ()
    penalties: tuple[Penalty, ...] = ()

    @property
    def words(self) -> int:
        """Its words."""
        return self.turn.words

    @property
    def team(self) -> str:
        """The team of its speaker."""
        return team_of(self.seat)

    def as_json(self) -> JsonObject:
        """Return the form of the record and the exports."""
        return {
            "id": self.id,
            "seat": self.seat,
            "team": self.team,
            "stage": self.stage,
            "kind": self.kind.value,
            "speaker_selected_by": self.selected_by,
            "answerer": self.turn.answerer or None,
            "words": self.words,
            "limit": self.limit,
            "scored": self.score is not None,
            "criteria": dict(self.scoring.scores) if self.scoring else {},
            "counted": dict(self.counted),
            "score": None if self.score is None else round_half_up(self.score),
            "exact": None if self.score is None else str(self.score),
            "comment": self.scoring.comment if self.scoring else "",
            "violations": [
                {"violation": row.foul.value, "found_by": row.by, "shown": row.shown, "counts": row.counts}
                for row in self.charges
            ],
            "penalties": [row.as_json() for row in self.penalties],
        }


@dataclass(frozen=True, slots=True)
class Silence:
    """A speech that was due and not given, and why."""

    seat: str
    stage: str
    kind: str
    reason: str

    def as_json(self) -> JsonObject:
        """As the record and the exports keep it."""
        return {"seat": self.seat, "stage": self.stage, "kind": self.kind, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Clock:
    """One team in the free debate: the words it has left, who has spoken how often, who fell silent.

    ``cap`` is the most words of one speech; None where there is no such limit.
    """

    team: str
    words_left: int
    speeches_left: int
    spoken: tuple[str, ...] = ()
    silent: frozenset[str] = frozenset()
    cap: int | None = None

    @property
    def limit(self) -> int:
        """The most words of the next speech. Time is kept back for those of the team who have not spoken yet."""
        if self.cap is None:
            return self.words_left
        waiting = max(sum(seat not in self.spoken for seat in self.able) - 1, 0)
        kept = min(self.cap, self.words_left // (waiting + 1)) * waiting
        return min(self.cap, self.words_left - kept)

    @property
    def able(self) -> tuple[Seat, ...]:
        """Who may speak: those who have not spoken yet, and when all have, everybody; never who fell silent."""
        able = tuple(seat for seat in members(self.team) if seat not in self.silent)
        return tuple(seat for seat in able if seat not in self.spoken) or able

    @property
    def running(self) -> bool:
        """Whether the team may speak again."""
        return self.words_left > 0 and self.speeches_left > 0 and bool(self.able)

    @property
    def next_by_schedule(self) -> Seat:
        """Who speaks where no captain says: who has spoken least, and of those the first."""
        return min(self.able, key=lambda seat: (self.spoken.count(seat), seat))

    def after(self, seat: str, words: int) -> Clock:
        """The clock after a speech. What is beyond its limit has its price, and takes no time from those who follow."""
        used = words if self.cap is None else min(words, self.limit)
        return replace(
            self,
            words_left=max(self.words_left - used, 0),
            speeches_left=self.speeches_left - 1,
            spoken=(*self.spoken, seat),
        )

    def without(self, seat: str) -> Clock:
        """The clock after a debater who was to speak did not."""
        return replace(self, silent=self.silent | {seat})


@dataclass(frozen=True, slots=True)
class Match:
    """All turns so far, in order. ``citing`` is what speeches may cite."""

    transcript: Transcript
    speeches: tuple[Speech, ...] = ()
    silences: tuple[Silence, ...] = ()
    summaries: tuple[tuple[str, Summation | None], ...] = ()
    finished: bool = True
    citing: Citing = NOTHING

    def with_last(self, speech: Speech) -> Match:
        """The match with ``speech`` in the place of the last one."""
        return replace(self, speeches=(*self.speeches[:-1], speech))

    @property
    def last(self) -> Speech | None:
        """The last speech."""
        return self.speeches[-1] if self.speeches else None

    @property
    def penalties(self) -> tuple[Penalty, ...]:
        """All penalties, in order."""
        return tuple(row for speech in self.speeches for row in speech.penalties)

    def spoken_by(self, seat: str) -> tuple[Speech, ...]:
        """The speeches of a debater."""
        return tuple(row for row in self.speeches if row.seat == seat)


@dataclass(frozen=True, slots=True)
class Total:
    """The exact points of a debater or a team, and how many of its speeches have no score.

    ``points`` is None where a debater did not speak.
    """

    who: str
    points: Fraction | None
    penalties: int
    speeches: int
    unscored: int

    @property
    def mean(self) -> Fraction | None:
        """The points per scored speech; None without one."""
        scored = self.speeches - self.unscored
        return self.points / scored if self.points is not None and scored else None

    @property
    def mean_range(self) -> tuple[Fraction, Fraction]:
        """The least and the most that the points per speech could be with the missing scores."""
        return self.lowest / max(self.speeches, 1), self.highest / max(self.speeches, 1)

    @property
    def lowest(self) -> Fraction:
        """The least it could be with the missing scores."""
        return (self.points or Fraction(0)) + LOWEST * self.unscored

    @property
    def highest(self) -> Fraction:
        """The most it could be with the missing scores."""
        return (self.points or Fraction(0)) + HIGHEST * self.unscored


def total_of_debater(match: Match, seat: str) -> Total:
    """Return the individual total: scores of all speeches plus own penalties."""
    speeches = match.spoken_by(seat)
    penalties = sum(row.points for row in match.penalties if row.who == seat)
    scores = [row.score for row in speeches if row.score is not None]
    points = sum(scores, Fraction(penalties)) if speeches else None
    return Total(seat, points, penalties, len(speeches), len(speeches) - len(scores))


def total_of_team(match: Match, team: str) -> Total:
    """Return the team total: the totals of its four debaters plus penalties of the team."""
    four = [total_of_debater(match, seat) for seat in members(team)]
    penalties = sum(row.points for row in match.penalties if row.who == team)
    points = sum((row.points for row in four if row.points is not None), Fraction(penalties))
    return Total(team, points, penalties, sum(row.speeches for row in four), sum(row.unscored for row in four))


def score_json(speech: Speech, totals: Iterable[Total]) -> JsonObject:
    """Return the score fact of a speech, with the totals after it."""
    body = speech.as_json()
    running = {
        row.who: round_half_up(row.points) if row.points is not None and row.speeches else None for row in totals
    }
    return {**body, "totals": running}


def apply_scoring(speech: Speech, scoring: Scoring | None, rules: CompetitionRules) -> Speech:
    """Return the speech with its score, its charges and its penalties.

    A foul without a price lowers rule compliance only, to the rules' cap at most.
    """
    charges = collect_charges(speech, scoring)
    fouls = {row.foul for row in charges if row.counts}
    counted, score = _counted(scoring, rules.rubric, HIGHEST if fouls <= PRICED else rules.compliance_cap)
    penalties = tuple(
        Penalty(speech.id, who, row.foul, -price, f"{ABOUT[row.foul]}: {row.shown}")
        for row in _once(charges)
        for who, price in (("team", rules.team_price(row.foul)), ("individual", rules.own_price(row.foul)))
        if price
    )
    owners = {"team": speech.team, "individual": speech.seat}
    return replace(
        speech,
        scoring=scoring,
        score=score,
        counted=counted,
        charges=charges,
        penalties=tuple(replace(row, who=owners[row.who]) for row in penalties),
    )


def _counted(scoring: Scoring | None, rubric: Rubric, cap: int) -> tuple[tuple[tuple[str, int], ...], Fraction | None]:
    if scoring is None:
        return (), None
    numbers = {key: min(number, cap) if key == COMPLIANCE else number for key, number in scoring.scores.items()}
    return tuple(numbers.items()), weigh_scores(numbers, rubric)


def _once(charges: tuple[Charge, ...]) -> tuple[Charge, ...]:
    """Return the charges that count: each foul once a speech, by its first finder."""
    first: dict[Foul, Charge] = {}
    for row in charges:
        if row.counts:
            first.setdefault(row.foul, row)
    return tuple(first.values())


def collect_charges(speech: Speech, scoring: Scoring | None) -> tuple[Charge, ...]:
    """Return the fouls that code found in a speech, then those of the judge."""
    by_code = tuple(Charge(Foul(row.rule), "code", row.detail) for row in speech.broken)
    by_judge = tuple(Charge(row.foul, "judge", row.words, row.said) for row in (scoring.findings if scoring else ()))
    return (*speech.charges, *by_code, *by_judge)
