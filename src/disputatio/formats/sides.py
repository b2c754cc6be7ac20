"""The two sides of a debate and what each has put forward so far."""

from __future__ import annotations

from dataclasses import dataclass

from disputatio.formats.turns.closing import Closing, Hold
from disputatio.formats.turns.cross_examination import CrossExamination, Question, Response, ResponseKind
from disputatio.formats.turns.opening import Argument, Opening
from disputatio.kernel import Seat

JUDGE = Seat("judge")


@dataclass(frozen=True, slots=True)
class Side:
    """For or against the motion. ``prefix`` numbers its arguments."""

    seat: Seat
    prefix: str
    stance: str

    def words(self) -> dict[str, str]:
        """How a prompt names the side and its task."""
        other = "con" if self.seat == "pro" else "pro"
        point, quality = ("benefit", "a good idea") if self.seat == "pro" else ("problem", "a bad idea")
        return {
            "side": self.seat.upper(),
            "stance": self.stance,
            "opponent": other.upper(),
            "point": point,
            "quality": quality,
        }


PRO = Side(Seat("pro"), "PRO", "for")
CON = Side(Seat("con"), "CON", "against")


@dataclass(frozen=True, slots=True)
class Case:
    """What one side has said; None where it has not spoken, or abstained."""

    side: Side
    opening: Opening | None = None
    examination: CrossExamination | None = None
    closing: Closing | None = None

    def after(self, *, examination: CrossExamination | None = None, closing: Closing | None = None) -> Case:
        """The case with one more turn."""
        return Case(self.side, self.opening, examination or self.examination, closing or self.closing)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Its arguments; none where it abstained from the opening."""
        return self.opening.arguments if self.opening else ()

    @property
    def argument_ids(self) -> str:
        """The ids of its arguments, as a list for people."""
        return ", ".join(argument.id for argument in self.arguments)

    @property
    def responses(self) -> tuple[Response, ...]:
        """Its responses to the other side's arguments."""
        return self.examination.responses if self.examination else ()

    def questions_from(self, other: Case) -> tuple[Question, ...]:
        """The questions that ``other`` put to this side."""
        return tuple(question for response in other.responses for question in response.questions)

    def conceded_of(self, other: Case) -> tuple[Argument, ...]:
        """The arguments of ``other`` that this side conceded, whole or in part."""
        accepted = {ResponseKind.CONCEDE, ResponseKind.PARTIAL}
        targets = {response.target for response in self.responses if response.kind in accepted}
        return tuple(argument for argument in other.arguments if argument.id in targets)

    def hold(self, argument: str) -> Hold | None:
        """What it said last of its own ``argument``; None where it gave no closing."""
        if self.closing is None:
            return None
        return next((held.hold for held in self.closing.holds if held.argument == argument), None)

    def answered(self, question: str) -> str | None:
        """Its answer to ``question``; None where it gave none."""
        answers = self.closing.answers if self.closing else ()
        return next((answer.text for answer in answers if answer.question == question), None)
