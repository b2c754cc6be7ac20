"""What a panel came to, read from its record: the votes after every phase, the report, and what became of the decision.

Everything is read as plain JSON, so the record of a later version is still shown as far as it is understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from disputatio.motion import one_line
from disputatio.report.amounts import capital, counted, listed
from disputatio.report.json_values import as_object, objects_in
from disputatio.report.reading import DebateReport

KEPT = "* kept from an earlier phase: the debater was silent"
SILENT = "- no vote"


@dataclass(frozen=True, slots=True)
class BallotReading:
    """What one debater's vote was at a count. ``vote`` is empty where it has none; ``why`` then says why."""

    voter: str
    vote: str
    kept: bool
    why: str

    @property
    def shown(self) -> str:
        """The vote in a table."""
        return f"{self.vote}{'*' if self.kept else ''}" if self.vote else "-"


@dataclass(frozen=True, slots=True)
class CountReading:
    """The count after one phase. ``weighed`` is the weight behind each option, where the rule weighs."""

    number: int
    phase: str
    tally: Mapping[str, int]
    weighed: Mapping[str, str]
    ballots: tuple[BallotReading, ...]
    winner: str
    level: bool
    needed: str
    reason: str

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> CountReading | None:
        """The count that a record keeps; None where it is none of a panel."""
        if not isinstance(body.get("ballots"), list | tuple):
            return None
        return cls(
            number=body["round"] if isinstance(body.get("round"), int) else 0,
            phase=one_line(str(body.get("phase") or ""), 60),
            tally={str(key): int(value) for key, value in as_object(body.get("tally")).items()},
            weighed={str(key): str(value) for key, value in as_object(body.get("weighed")).items()},
            ballots=tuple(
                BallotReading(
                    one_line(str(row.get("voter") or ""), 60),
                    one_line(str(row.get("vote") or ""), 60),
                    bool(row.get("carried")),
                    one_line(str(row.get("reason") or row.get("silence") or ""), 300),
                )
                for row in objects_in(body["ballots"])
            ),
            winner=one_line(str(body.get("winner") or ""), 60),
            level=bool(body.get("tied")),
            needed=one_line(str(body.get("needed") or ""), 40),
            reason=one_line(str(body.get("reason") or ""), 400),
        )

    @property
    def after(self) -> str:
        """Which phase it followed."""
        return f"round {self.number} {self.phase}"

    @property
    def result(self) -> str:
        """What it came to, in a few words."""
        if self.winner:
            return f"{self.winner} is decided"
        if self.level:
            return "level: nothing is decided"
        more = "more than " if self.weighed else ""
        return f"undecided, {more}{self.needed} needed" if any(self.tally.values()) else "nobody voted"

    def votes_for(self, option: str) -> str:
        """The votes for an option, and their weight where the rule weighs."""
        votes = str(self.tally.get(option, 0))
        return f"{votes} ({self.weighed[option]})" if option in self.weighed else votes


@dataclass(frozen=True, slots=True)
class DebaterReading:
    """What one debater did: its votes phase by phase, its words, and how often it changed its vote."""

    name: str
    votes: tuple[str, ...]
    words: int
    share: str
    changed: int
    model: str
    persona: bool


@dataclass(frozen=True, slots=True)
class PanelReading:
    """The decision of a panel. ``report_text`` has its nine lines; ``findings`` are what goes back to the author."""

    sentence: str
    decision: str
    rule_text: str
    options: tuple[str, ...]
    counts: tuple[CountReading, ...]
    debaters: tuple[DebaterReading, ...]
    report_text: str
    findings: tuple[tuple[str, str, str], ...]
    escalates: bool
    alike: bool
    diversity: str
    dominance: str

    @property
    def notes(self) -> list[str]:
        """What the signs in the votes mean, where they occur."""
        shown_last = {ballot.shown[-1:] for count in self.counts for ballot in count.ballots}
        return [text for sign, text in (("*", KEPT), ("-", SILENT)) if sign in shown_last]

    @property
    def silences(self) -> list[str]:
        """Who has no vote at the end, and why."""
        ballots = self.counts[-1].ballots if self.counts else ()
        return [f"{row.voter} has no vote and still counts: {row.why}" for row in ballots if not row.vote]


def panel_reading(report: DebateReport) -> PanelReading | None:
    """The decision of a panel; None where the outcome is none of that kind."""
    outcome: Mapping[str, Any] = report.outcome
    if not isinstance(outcome.get("votes"), list | tuple) or not isinstance(outcome.get("report"), Mapping):
        return None
    counts = tuple(count for row in objects_in(outcome["votes"]) if (count := CountReading.of(row)) is not None)
    conduct = as_object(outcome.get("conduct"))
    voices = {str(row.get("debater")): row for row in objects_in(as_object(outcome.get("diversity")).get("debaters"))}
    return PanelReading(
        sentence=one_line(str(outcome.get("reading") or ""), 600),
        decision=one_line(str(outcome["report"].get("decision") or ""), 60),
        rule_text=one_line(str(outcome.get("rule_text") or ""), 200),
        options=tuple(one_line(str(row), 60) for row in outcome.get("options") or ()),
        counts=counts,
        debaters=tuple(_debater(row, counts, voices) for row in objects_in(conduct.get("debaters"))),
        report_text=str(outcome.get("report_text") or ""),
        findings=tuple(
            (str(row.get("debater") or ""), str(row.get("stance") or ""), str(row.get("rationale") or ""))
            for row in objects_in(outcome.get("findings"))
        ),
        escalates=outcome.get("escalate") is True,
        alike=as_object(outcome.get("diversity")).get("alike") is True,
        diversity=_diversity(as_object(outcome.get("diversity"))),
        dominance=one_line(str(conduct.get("dominance") or ""), 200),
    )


def _debater(
    row: Mapping[str, Any], counts: Sequence[CountReading], voices: Mapping[str, Mapping[str, Any]]
) -> DebaterReading:
    name = str(row.get("debater") or "")
    voice = voices.get(name, {})
    return DebaterReading(
        name=one_line(name, 60),
        votes=tuple(ballot.shown for count in counts for ballot in count.ballots if ballot.voter == one_line(name, 60)),
        words=row["words"] if isinstance(row.get("words"), int) else 0,
        share=_percent(str(row.get("share") or "0")),
        changed=row["changed"] if isinstance(row.get("changed"), int) else 0,
        model=one_line(str(voice.get("model") or ""), 80),
        persona=voice.get("persona") is True,
    )


def _percent(share: str) -> str:
    try:
        return f"{round(Fraction(share) * 100)} %"
    except (ValueError, ZeroDivisionError):
        return ""


def _diversity(body: Mapping[str, Any]) -> str:
    models = [one_line(str(row), 80) for row in body.get("models") or ()]
    families = [one_line(str(row), 40) for row in body.get("families") or ()]
    if not models:
        return ""
    prompts = body["prompts"] if isinstance(body.get("prompts"), int) else 0
    debaters = counted(len(body.get("debaters") or ()), "debater")
    return (
        f"{debaters}: {counted(len(models), 'model')}, {counted(len(families), 'family', 'families')} "
        f"({listed(families)}), {counted(prompts, 'prompt')}"
    )


def tally_words(reading: PanelReading) -> str:
    """The last count in words: ``release 1, revise 2``."""
    if not reading.counts:
        return "none"
    return ", ".join(f"{option} {reading.counts[-1].votes_for(option)}" for option in reading.options)


def count_words(count: CountReading, options: Sequence[str] = ()) -> str:
    """One count in a sentence, as it is shown while the debate runs."""
    tally = ", ".join(f"{option} {count.votes_for(option)}" for option in (options or count.tally))
    return f"Votes after {count.after}: {tally}. {capital(count.reason)}."


def escalation_sentences(report: DebateReport) -> list[str]:
    """What became of a decision to escalate, also of one that a resumed debate has since replaced; else empty."""
    if not report.escalations and report.outcome.get("escalate") is not True:
        return []
    if not report.escalations:
        how = f"disputatio resume {report.id} --escalate person (or a format such as structured, or http://...)"
        return [f"Nobody was named to take the decision. Hand it over: {how}"]
    return [escalation_words(row.to, row.name, row.answer, row.debate, row.failure) for row in report.escalations]


def escalation_words(to: str, name: str, answer: str, debate: str, failure: str) -> str:
    """What came of handing a decision over, in a sentence."""
    who = {
        "person": "a person",
        "debate": f"a {one_line(name, 60)} debate{f' ({debate})' if debate else ''}",
        "callback": f"the callback at {one_line(name, 120)}",
        "function": f"the function {one_line(name, 120)}",
    }.get(to, one_line(f"{to} {name}", 120))
    if failure and to == "person":
        return f"A person was asked: {one_line(failure, 300).rstrip('.')}."
    if failure:
        return f"It could not be handed over to {who}: {one_line(failure, 300).rstrip('.')}."
    decided = {"person": "who decided", "debate": "which came to"}.get(to, "which answered")
    return (
        f"It was handed over to {who}, {decided}: {one_line(answer, 400)}"
        if answer
        else f"It was handed over to {who}."
    )


def panel_sureness(reading: PanelReading) -> list[str]:
    """How far the decision can be trusted, in sentences."""
    sentences = ["the votes were counted by code over all registered debaters"]
    sentences += ["the first proposals were made without hearing anybody"] if len(reading.debaters) > 1 else []
    sentences += [row for row in (reading.diversity, reading.dominance) if row]
    return [*sentences, *reading.silences]
