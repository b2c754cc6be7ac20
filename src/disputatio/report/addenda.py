"""What was attached to a debate after its end, as every surface shows it: outcomes and sign-offs.

What was attached before the debate was resumed is about an earlier result, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from disputatio.motion import clean, one_line
from disputatio.record.events import OutcomeAttached, SignedOff
from disputatio.report.text_spans import Line, Role, Span, flow, span

NO_PROOF = (
    "Names are as they were given on the command line or by a program; the record shows that they were not altered "
    "since, not who gave them."
)
_DECISIONS = {"approve": "approved", "reject": "rejected", "return": "returned"}


@dataclass(frozen=True, slots=True)
class Addendum:
    """One outcome or sign-off.

    Attributes:
        kind: ``outcome`` or ``sign-off``.
        at: when it was recorded, by the clock of the machine; None where the events came without envelopes.
        word: the verdict or the decision; empty where none was given.
        by: the name that was given; may be empty.
        text: the result or the comment.
        note: what else was said of an outcome.
        head: the hash of the event before it: what it is about is the record up to there.
        overtaken: whether the debate was resumed since.
    """

    kind: str
    at: str | None
    word: str
    by: str
    text: str
    note: str
    head: str
    overtaken: bool = False

    @classmethod
    def of(cls, event: OutcomeAttached | SignedOff, at: str | None) -> Addendum:
        """The addendum that ``event`` records."""
        if isinstance(event, OutcomeAttached):
            said, note, kind, word = event.text, clean(event.note), "outcome", event.verdict
        else:
            said, note, kind, word = event.comment, "", "sign-off", event.decision
        return cls(kind, at, one_line(word, 20), one_line(event.by, 200), clean(said), note, one_line(event.head, 64))

    def overtake(self) -> Addendum:
        """The same, of a result that is no longer the last word."""
        return replace(self, overtaken=True)

    @property
    def title(self) -> str:
        """``Outcome: right, by A. Reviewer, 2026-01-31 12:00 UTC``."""
        what = "Outcome" if self.kind == "outcome" else "Sign-off"
        word = _DECISIONS.get(self.word, self.word)
        parts = [f"{what}: {word}" if word else what]
        parts += [f"by {self.by}"] if self.by else []
        parts += [f"{self.at[:16].replace('T', ' ')} UTC"] if self.at else []
        parts += ["about an earlier result, before the debate was gone on with"] if self.overtaken else []
        return ", ".join(parts)

    @property
    def texts(self) -> tuple[str, ...]:
        """What was said, with the note behind it."""
        return tuple(text for text in (self.text, f"Note: {self.note}" if self.note else "") if text)


def addenda_lines(addenda: tuple[Addendum, ...], width: int) -> list[Line]:
    """Outcomes and sign-offs, laid out; nothing where there are none."""
    if not addenda:
        return []
    measure = min(width, 100)
    lines: list[Line] = [(), (Span("After the debate", Role.TITLE),)]
    for row in addenda:
        lines += flow([span(row.title, Role.LEAD)], measure, first=(Span("  "),), hang=4)
        for text in row.texts:
            lines += flow([span(text)], measure, first=(Span("    "),), hang=4)
    return [*lines, *flow([span(NO_PROOF, Role.QUIET)], measure, first=(Span("  "),), hang=2)]
