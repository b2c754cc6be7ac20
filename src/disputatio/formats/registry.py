"""The registered formats.

A format's module is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from disputatio.errors import InvalidInputError
from disputatio.formats import options
from disputatio.formats.format import Format, all_is_public
from disputatio.kernel import Seat

_TWO_SIDES = (Seat("pro"), Seat("con"), Seat("judge"))
_ROLES = (Seat("framer"), Seat("proposer"), Seat("critic"), Seat("rebutter"), Seat("moderator"))


def _structured() -> Format:
    from disputatio.formats.structured import StructuredRules, structured

    return Format(
        "structured",
        "two sides, three rounds: opening, cross-examination, closing; judged by a rubric",
        _TWO_SIDES,
        StructuredRules,
        structured,
        frozenset({Seat("judge")}),
        {Seat("judge"): 9},
        public=all_is_public,
        forkable=True,
        options=options.Structured,
    )


def _freeform() -> Format:
    from disputatio.formats.freeform import FreeformRules, freeform

    return Format(
        "freeform",
        "alternating monologues and a judge's five headings; the baseline",
        _TWO_SIDES,
        FreeformRules,
        freeform,
        frozenset({Seat("judge")}),
        public=all_is_public,
        options=options.Freeform,
    )


def _panel() -> Format:
    from disputatio.formats.panel import DEBATERS, PanelRules, panel

    return Format(
        "panel",
        "named debaters propose, criticise, revise and agree; votes are counted after every phase",
        tuple(map(Seat, DEBATERS)),
        PanelRules,
        panel,
        frozenset(),
        free_seats=True,
        public=all_is_public,
        options=options.Panel,
    )


def _review() -> Format:
    from disputatio.formats.review import ReviewRules, review

    return Format(
        "review",
        "a proposition, its critic, a rebuttal and a moderator; for decisions that must be challenged",
        _ROLES,
        ReviewRules,
        review,
        frozenset({Seat("moderator")}),
        {Seat("proposer"): 5},
        public=all_is_public,
        forkable=True,
        options=options.Review,
    )


def _competition() -> Format:
    from disputatio.formats.competition import competition
    from disputatio.formats.competition_rules import CompetitionRules
    from disputatio.formats.match import DEBATERS, JUDGE, SPEECHES

    return Format(
        "competition",
        "four against four in four stages; a judge scores every speech, code counts words and penalties",
        (*DEBATERS, JUDGE),
        CompetitionRules,
        competition,
        frozenset({JUDGE}),
        public=SPEECHES.__contains__,
        options=options.Competition,
    )


def _market() -> Format:
    from disputatio.formats.market import ANALYSTS, MarketRules, market

    return Format(
        "market",
        "a bull and a bear for each of four lenses, on a point-in-time knowledge base; figures are checked",
        (*ANALYSTS, Seat("judge")),
        MarketRules,
        market,
        frozenset({Seat("judge")}),
        usual_provider="rules",
        knows=True,
        options=options.Market,
    )


def _single() -> Format:
    from disputatio.formats.single import SINGLE

    return SINGLE


def _recognition() -> Format:
    from disputatio.formats.single import RECOGNITION

    return RECOGNITION


class _Formats(Mapping[str, Format]):
    """Formats by name, each made when it is first asked for.

    Args:
        makers: make the formats of this package.
    """

    def __init__(self, **makers: Callable[[], Format]) -> None:
        self._plugins: Callable[[], object] = lambda: None
        self._makers: dict[str, Callable[[], Format]] = {name: cache(maker) for name, maker in makers.items()}

    def register(self, debate_format: Format) -> None:
        """Add a format."""
        self._makers[debate_format.name] = lambda: debate_format

    def look_in(self, plugins: Callable[[], object]) -> None:
        """Call ``plugins`` to register more formats when a name is unknown or all formats are listed."""
        self._plugins = plugins

    def has(self, name: str) -> bool:
        """Whether ``name`` is registered; does not look for plugins."""
        return name in self._makers

    def __getitem__(self, name: str) -> Format:
        if name not in self._makers:
            self._plugins()
        return self._makers[name]()

    def __contains__(self, name: object) -> bool:
        if name not in self._makers:
            self._plugins()
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        self._plugins()
        return iter(tuple(self._makers))

    def __len__(self) -> int:
        self._plugins()
        return len(self._makers)


_PACKAGED = _Formats(
    structured=_structured,
    freeform=_freeform,
    panel=_panel,
    review=_review,
    competition=_competition,
    market=_market,
)
FORMATS: Mapping[str, Format] = _PACKAGED
"""Every format that is offered to users; `register` adds to it."""


def look_for_formats(plugins: Callable[[], object]) -> None:
    """Call ``plugins`` to register formats of other packages when a name is unknown or all formats are listed.

    Formats are pure, so the caller looks up what is installed.
    """
    _PACKAGED.look_in(plugins)


def register(debate_format: Format) -> None:
    """Offer another format, with its options, on every surface.

    Raises:
        InvalidInputError: the name is taken.
    """
    if _PACKAGED.has(debate_format.name) or debate_format.name in UNLISTED:
        raise InvalidInputError(
            f"There is a format called {debate_format.name!r} already.", "Give the other one a name of its own."
        )
    _PACKAGED.register(debate_format)


UNLISTED: Mapping[str, Format] = _Formats(single=_single, recognition=_recognition)
"""Not debates: their records can be read and resumed, but users are not offered them."""


def find_format(name: str) -> Format:
    """Return the format called ``name``.

    Raises:
        InvalidInputError: there is none.
    """
    if name in UNLISTED:
        return UNLISTED[name]
    if name not in FORMATS:
        raise InvalidInputError(f"There is no format called {name!r}.", f"The formats are: {', '.join(FORMATS)}.")
    return FORMATS[name]
