"""The free-form debate: alternating monologues, then a judge with five headings.

The rules
    1. Pro and con speak in turn for the given number of rounds. Each hears everything before.
    2. The judge states the strengths of each side, where they agree, what is uncertain, and a recommendation.

It has no typed arguments, scores or standings. It is the baseline for the structured debate.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.jury import CON, JUDGE, PRO, Side
from disputatio.formats.turns.monologue import HEADINGS, Monologue, MonologueSpec, Summing, SummingSpec
from disputatio.kernel import JsonObject, Limits, Message, Phase, Rulebook, Task, Transcript, ask

JUDGING = Phase("judging")


@dataclass(frozen=True, slots=True)
class FreeformRules:
    """The rules of a free-form debate."""

    rounds: int = 3
    speech_words: int = 250
    speech: Limits = field(default=Limits(max_tokens=900, temperature=0.7))
    judging: Limits = field(default=Limits(max_tokens=1500, temperature=0.2))


@dataclass(frozen=True, slots=True)
class FreeformVerdict:
    """The judge's five headings; None where the judge abstained."""

    headings: dict[str, str] | None
    speeches: int

    def as_json(self) -> JsonObject:
        """Return the verdict as the record and the exports keep it."""
        return {
            "format": "freeform",
            "judged": self.headings is not None,
            "speeches": self.speeches,
            "headings": self.headings,
            "recommendation": (self.headings or {}).get("recommendation", ""),
        }


def freeform(rules: FreeformRules, context: DebateContext) -> Rulebook[FreeformVerdict]:  # noqa: ARG001  (speeches cite nothing)
    """Run a free-form debate."""
    transcript, spec = Transcript(), MonologueSpec(rules.speech_words)
    for number in range(1, rules.rounds + 1):
        for side in (PRO, CON):
            transcript = yield from give_monologue(side, number, transcript, spec, rules)
    if not transcript.messages:
        return FreeformVerdict(None, 0)
    task = Task("summing", {"headings": ", ".join(HEADINGS.values())})
    turn = yield from ask(
        JUDGE, JUDGING, spec=SummingSpec(), task=task, messages=transcript.visible_to(JUDGE), limits=rules.judging
    )
    return FreeformVerdict(turn.headings if isinstance(turn, Summing) else None, len(transcript.messages))


def give_monologue(
    side: Side, number: int, transcript: Transcript, spec: MonologueSpec, rules: FreeformRules
) -> Rulebook[Transcript]:
    """Ask one side for a speech and add it to the transcript."""
    phase = Phase(f"round-{number}")
    words = {
        **side.words(),
        "limit": str(rules.speech_words),
        "round": str(number),
        "rounds": str(rules.rounds),
    }
    turn = yield from ask(
        side.seat,
        phase,
        spec=spec,
        task=Task("monologue", words),
        messages=transcript.visible_to(side.seat),
        limits=rules.speech,
    )
    return transcript.add(Message(side.seat, phase, turn.text())) if isinstance(turn, Monologue) else transcript
