"""The formats there are: their seats, their rules and what may be set about them."""

from __future__ import annotations

from disputatio.failures import InvalidInputError
from disputatio.formats.competition import competition
from disputatio.formats.competition_terms import CompetitionRules
from disputatio.formats.format import Format
from disputatio.formats.freeform import FreeformRules, freeform
from disputatio.formats.market import ANALYSTS, MarketRules, market
from disputatio.formats.match import DEBATERS as EIGHT
from disputatio.formats.match import JUDGE
from disputatio.formats.panel import DEBATERS, PanelRules, panel
from disputatio.formats.recognition import RECOGNITION
from disputatio.formats.review import ReviewRules, review
from disputatio.formats.single import SINGLE
from disputatio.formats.structured import StructuredRules, structured
from disputatio.kernel import Seat

_TWO_SIDES = (Seat("pro"), Seat("con"), Seat("judge"))
_ROLES = (Seat("framer"), Seat("proposer"), Seat("critic"), Seat("rebutter"), Seat("moderator"))

FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        Format(
            "structured",
            "two sides, three rounds: opening, cross-examination, closing; judged by a rubric",
            _TWO_SIDES,
            StructuredRules,
            structured,
            frozenset({Seat("judge")}),
            {Seat("judge"): 9},
        ),
        Format(
            "freeform",
            "alternating monologues and a judge's five headings; the baseline",
            _TWO_SIDES,
            FreeformRules,
            freeform,
            frozenset({Seat("judge")}),
        ),
        Format(
            "panel",
            "named debaters propose, criticise, revise and agree; votes are counted after every phase",
            tuple(map(Seat, DEBATERS)),
            PanelRules,
            panel,
            frozenset(),
            free_seats=True,
        ),
        Format(
            "review",
            "a proposition, its critic, a rebuttal and a moderator; for decisions that must be challenged",
            _ROLES,
            ReviewRules,
            review,
            frozenset({Seat("moderator")}),
            {Seat("proposer"): 5},
        ),
        Format(
            "competition",
            "four against four in four stages; a judge scores every speech, code counts words and penalties",
            (*EIGHT, JUDGE),
            CompetitionRules,
            competition,
            frozenset({JUDGE}),
        ),
        Format(
            "market",
            "a bull and a bear for each of four lenses, on a point-in-time knowledge base; figures are checked",
            (*ANALYSTS, JUDGE),
            MarketRules,
            market,
            frozenset({JUDGE}),
            usual_provider="rules",
            knows=True,
        ),
    )
}


UNLISTED = {row.name: row for row in (SINGLE, RECOGNITION)}
"""What is no debate: its records are read and gone on with, but nobody is offered it as a format."""


def find_format(name: str) -> Format:
    """The format called ``name``.

    Raises:
        InvalidInputError: there is none.
    """
    if name in UNLISTED:
        return UNLISTED[name]
    if name not in FORMATS:
        raise InvalidInputError(f"There is no format called {name!r}.", f"The formats are: {', '.join(FORMATS)}.")
    return FORMATS[name]
