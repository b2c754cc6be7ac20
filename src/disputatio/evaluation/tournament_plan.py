"""The matches of a tournament: every pair on every topic in every format, once on each side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from disputatio.config import Settings
from disputatio.engine.opening import Proposal
from disputatio.engine.preview import Preview, preview
from disputatio.errors import InvalidInputError
from disputatio.evaluation.experiment import Trial
from disputatio.formats.debate_context import place_of
from disputatio.formats.format import Format
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.motion import Motion
from disputatio.participants.local_models import EMBEDDED_MODEL
from disputatio.participants.providers import family

PRO, CON, JUDGE = "pro", "con", "judge"
WITH_WINNERS = frozenset({"structured", "competition", "own"})
"""The formats that name a winner. A user's own format must name it in its result."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One motion of a tournament; the report calls it ``name``."""

    name: str
    motion: Motion


@dataclass(frozen=True, slots=True)
class Pairing:
    """One match: who speaks for the motion and who against it. ``number`` counts repetitions from 1."""

    pro: str
    con: str
    topic: Topic
    format: Format
    number: int = 1

    @property
    def key(self) -> str:
        """Its name within the experiment."""
        return "|".join((self.pro, self.con, self.topic.name, name_format(self.format), str(self.number)))


def name_format(form: Format) -> str:
    """The name of a format; for a user's own the function too."""
    rules = form.rules()
    return f"{rules.where}:{rules.function}" if form.name == "own" else form.name


@dataclass(frozen=True, slots=True)
class Tournament:
    """Players, topics and formats. ``settings_for`` returns the settings of a match by its format and players."""

    players: tuple[str, ...]
    judge: str
    topics: tuple[Topic, ...]
    formats: tuple[Format, ...]
    settings_for: Callable[[Format, str, str], Settings]
    repeats: int = 1

    @property
    def pairings(self) -> tuple[Pairing, ...]:
        """Every match, both sides of a pair one after the other."""
        return tuple(
            Pairing(pro, con, topic, form, number)
            for number in range(1, self.repeats + 1)
            for form in self.formats
            for topic in self.topics
            for first, second in combinations(self.players, 2)
            for pro, con in ((first, second), (second, first))
        )

    def trials(self) -> tuple[Trial, ...]:
        """The matches as debates to run."""
        return tuple(Trial(row.key, self.proposal(row)) for row in self.pairings)

    def proposal(self, row: Pairing) -> Proposal:
        """One match as a debate; a repetition differs only by its seed."""
        settings = self.settings_for(row.format, row.pro, row.con)
        if row.number > 1:
            settings = replace(settings, seed=(settings.seed or 0) + row.number - 1)
        return Proposal(row.topic.motion, row.format, replace(settings, budget=UNLIMITED))

    def warnings(self) -> tuple[str, ...]:
        """What makes the ranking less fair."""
        own = find_family(self.judge)
        kin = [name for name in self.players if find_family(name) == own]
        said = []
        if kin:
            who = f"{', '.join(kin)} {'is' if len(kin) == 1 else 'are'}"
            said.append(f"{who} of the judge's model family ({own}), and judges favour their own family.")
        if self.judge == f"embedded:{EMBEDDED_MODEL}":
            said.append("The judge is the small embedded model, whose scores mean nothing. Name another with --judge.")
        return tuple(said)


def find_family(address: str) -> str:
    """The model family of a player."""
    provider, _, model = address.partition(":")
    return family(model.partition("@")[0], provider)


def check_tournament(tournament: Tournament) -> None:
    """Refuse an impossible tournament.

    Raises:
        InvalidInputError: fewer than two players, a player twice, the judge among the players, no topic or a topic
            twice, or a
        format without two sides, a judge, or a winner.
    """
    players = tournament.players
    if len(players) < 2:
        named = f"Only {players[0]} plays" if players else "Nobody plays"
        raise InvalidInputError(
            f"{named}, and it takes two.", "Name two or more: --models ollama:qwen3:8b,openai:gpt-5."
        )
    twice = next((name for name in players if players.count(name) > 1), None)
    if twice:
        raise InvalidInputError(f"{twice} is named twice among the models.", "Name each once.")
    if tournament.judge in players:
        raise InvalidInputError(
            f"{tournament.judge} plays, so it cannot judge its own matches.",
            "Name a model that does not play: --judge PROVIDER:MODEL.",
        )
    if not tournament.topics:
        raise InvalidInputError(
            "There is no topic.",
            'Name topics (--topics remote-work,exams) or motions (--motion "..."); see `disputatio topics`.',
        )
    names = [row.motion.text for row in tournament.topics]
    again = next((row for row in names if names.count(row) > 1), None)
    if again:
        raise InvalidInputError(
            f"The motion {again[:80]!r} is given twice.", "Give each once; --repeat repeats matches."
        )
    for form in tournament.formats:
        _check_format(form)


def _check_format(form: Format) -> None:
    name = name_format(form)
    missing = [side for side in (PRO, CON) if not any(_stands_on(str(seat), side) for seat in form.seats)]
    if missing:
        raise InvalidInputError(
            f"The format {name} has no seat {missing[0]}, and a tournament needs two sides.",
            "Use structured or competition, or your own rules with the seats pro, con and judge.",
        )
    if form.name not in WITH_WINNERS or JUDGE not in form.judges:
        raise InvalidInputError(
            f"The format {name} names no winner.",
            "Use structured or competition, or your own rules whose judge names one.",
        )


def _stands_on(seat: str, side: str) -> bool:
    return place_of(seat, side) is not None or seat == f"{side}_1"


async def estimate_matches(tournament: Tournament, *, batch: bool = False) -> tuple[Preview, ...]:
    """Preview each match, in the order of the pairings. The topic makes no difference."""
    known: dict[tuple[str, str, str], Preview] = {}
    for row in tournament.pairings:
        kind = (name_format(row.format), row.pro, row.con)
        if kind not in known:
            known[kind] = await preview(tournament.proposal(row), batch=batch)
    return tuple(known[name_format(row.format), row.pro, row.con] for row in tournament.pairings)


def check_ceiling(budget: Budget, previews: Sequence[Preview]) -> None:
    """Refuse a ceiling that does not cover one match.

    Raises:
        InvalidInputError: names the ceiling and what the smallest match would take.
    """
    tokens = min(row.input_tokens + row.output_tokens for row in previews)
    calls = min(row.calls for row in previews)
    prices = [row.usd for row in previews if row.usd is not None]
    for option, unit, ceiling, needed in (
        ("--budget-tokens", "tokens", budget.tokens, tokens),
        ("--max-calls", "calls", budget.calls, calls),
        ("--budget-usd", "USD", budget.usd, min(prices, default=None)),
    ):
        if ceiling is not None and needed is not None and ceiling < needed:
            shown = f"{needed:.4f}" if unit == "USD" else f"{needed:,}"
            raise InvalidInputError(
                f"A ceiling of {ceiling:,} {unit} is too small for one match, which would take about {shown}.",
                f"Give more with {option}; --dry-run shows what all matches would take.",
            )
