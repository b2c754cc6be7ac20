"""What a debate is run with, once every source has been read: plain frozen values.

Nothing here reads anything. ``resolve`` in ``resolve.py`` makes these values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from disputatio.formats.brief import Brief
from disputatio.formats.cast import Cast
from disputatio.ledger.budget import Budget
from disputatio.participants.providers import PROVIDERS, SeatValue
from disputatio.participants.seating import Credentials, ModelSeating, Price
from disputatio.tools.mcp_server import McpServer
from disputatio.tools.offer import ToolLimits

RuleValue: TypeAlias = bool | int | Decimal | str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """What a debate was asked for with: by a command line, a program or an order. None and empty mean not given.

    Names and values are separate here and stay so: a name that holds ``=`` cannot become a value. ``KEY=VALUE`` is
    text of the real command line, and only ``disputatio._cli`` reads it.

    Attributes:
        seat: seats with their models, as ``PROVIDER:MODEL`` or already taken apart; ``all`` covers every seat.
        base_url: the server's address for the seats that need one.
        budget_usd: ceiling in US dollars, as text so that it stays exact.
        budget_tokens: ceiling in tokens, input and output together.
        max_calls: ceiling in calls, repeated ones included.
        config: path of the configuration file, from the working directory.
        set: keys of the configuration file, each by its levels, with their values: text, or a file's own types.
        tools: seats with what they may look up: words, or a text with commas.
        mcp: MCP servers by name, each with its command or its address.
        judges: how many judges there are.
        both_orders: whether each judges with either side shown first.
        anonymous: whether the judges see neutral names for the sides.
        retest: whether each judges once more, to be compared with itself.
        stagger: whether the first call of a phase leaves before those that begin like it.
        panel_method: how several judges become one.
        debaters: names in the order in which they speak: words, or a text with commas.
        options: what may be voted for: words, or a text with commas.
        rounds: the most rounds.
        decision: the rule by which a panel decides.
        threshold: the votes it needs, for ``threshold_vote``.
        escalate: where an escalated decision goes.
        preset: the preset of a review.
        task_type: what kind of decision a review is about.
        position: the positions of a review, each in a sentence.
        personalities: path of a file with personalities for the debaters of a competition.
        personality: seats with the names of personalities; ``pro``, ``con`` and ``all`` cover several.
        remote: whether this came from another process. Then it may name no address, file, repository or command, and
            ``resolve`` refuses it where it does.
    """

    seat: tuple[tuple[str, str | SeatValue], ...] = ()
    base_url: str | None = None
    budget_usd: str | Decimal | None = None
    budget_tokens: str | int | None = None
    max_calls: str | int | None = None
    language: str | None = None
    seed: str | int | None = None
    config: str | None = None
    store: str | None = field(default=None, repr=False)
    set: tuple[tuple[tuple[str, ...], object], ...] = field(default=(), repr=False)
    tools: tuple[tuple[str, str | Sequence[str]], ...] = ()
    mcp: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    judges: str | int | None = None
    both_orders: bool | None = None
    anonymous: bool | None = None
    retest: bool | None = None
    stagger: bool | None = None
    panel_method: str | None = None
    debaters: str | Sequence[str] | None = None
    options: str | Sequence[str] | None = None
    rounds: str | int | None = None
    decision: str | None = None
    threshold: str | int | None = None
    escalate: str | None = None
    preset: str | None = None
    task_type: str | None = None
    position: tuple[str, ...] = ()
    personalities: str | None = None
    personality: tuple[tuple[str, str], ...] = ()
    remote: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatOptions:
    """What the chosen format lets the configuration decide, and what other formats are called.

    A configuration file may serve several formats: seats, phases and rules of the others are allowed in it
    and have no effect. Empty ``phases`` and ``rubrics`` take any well-formed name.

    Attributes:
        phases: the phases whose token limits and temperatures can be set.
        rubrics: the names of the rubrics that come with the package.
        rules: the format's own settings (clocks, penalties...) with their defaults, by dotted name. A
            setting takes the type of its default; a Decimal takes any exact number.
        repeatable: the seats that there may be several of, each with the most there may be.
        further_seats: what the further ones are called, such as ``judge_2``.
        maximum_rounds: the most rounds the format allows; None where it does not say.
        free_seats: whether users name the seats.
        personalities: whether the debaters have personalities.
        other_seats: seats of other formats.
        other_phases: phases of other formats.
        other_rules: rules of other formats.
        usual_provider: who takes a seat for which nothing names a model; empty where the keys that are set decide.
    """

    phases: tuple[str, ...] = ()
    rubrics: tuple[str, ...] = ()
    rules: Mapping[str, RuleValue] = field(default_factory=dict)
    maximum_rounds: int | None = None
    other_seats: Set[str] = frozenset()
    repeatable: Mapping[str, int] = field(default_factory=dict)
    further_seats: tuple[str, ...] = ()
    other_phases: Set[str] = frozenset()
    other_rules: Set[str] = frozenset()
    free_seats: bool = False
    personalities: bool = False
    usual_provider: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Limits that were set; what is None or missing is left to the format.

    Attributes:
        closing_words: the most words of a closing.
        minimum_arguments: the fewest arguments of an opening.
        maximum_arguments: the most arguments of an opening.
        evidence_chars: how many characters of the evidence every seat is shown.
        max_tokens: tokens of an answer, by phase.
        temperature: sampling temperature, by phase.
    """

    closing_words: int | None = None
    minimum_arguments: int | None = None
    maximum_arguments: int | None = None
    evidence_chars: int | None = None
    max_tokens: Mapping[str, int] = field(default_factory=dict)
    temperature: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSettings:
    """What a review is about: the brief of its preset, another task type, and the positions to be weighed."""

    brief: Brief = field(default_factory=Brief)
    task_type: str | None = None
    positions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricChoice:
    """Which rubric judges: one that comes with the package, or the user's own; never both, maybe neither.

    ``criteria`` are names with weights whose sum is exactly 1, in the order they were given; ``questions`` what the
    judge is asked about those that have a question of their own.
    """

    name: str | None = None
    criteria: tuple[tuple[str, Decimal], ...] = ()
    questions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingSettings:
    """How judges judge, where a format has a bench of them.

    Attributes:
        both_orders: each judges with either side shown first.
        anonymous: the judges see neutral names for the sides.
        retest: each judges once more, to be compared with itself.
        method: how several judges become one.
        weights: of the judges, by seat.
        dead_zone: points below which a gap is a tie.
    """

    both_orders: bool = False
    anonymous: bool = False
    retest: bool = False
    method: str = "mean"
    weights: Mapping[str, Decimal] = field(default_factory=dict)
    dead_zone: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSettings:
    """What is voted on and how it is decided, where a format has debaters who vote; None is left to the format.

    Attributes:
        options: what may be voted for.
        rule: the name of the decision rule.
        threshold: the votes that ``threshold_vote`` needs.
        share: of the electorate or of its weight, exact.
        weights: of debaters, by name.
        escalate: ``person``, the name of a format, or the address of a callback. An address may hold a secret, so it is
            not part of ``repr``.
    """

    options: tuple[str, ...] | None = None
    rule: str | None = None
    threshold: int | None = None
    share: Fraction | None = None
    weights: Mapping[str, Decimal] = field(default_factory=dict)
    escalate: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSettings:
    """The thresholds of ``disputatio metrics``; None watches nothing.

    Attributes:
        challenge_strength: the least mean strength of critiques, 1 to 10.
        low_confidence: the largest share of syntheses with LOW confidence, 0 to 1.
        cost_ratio: the most tokens taken for one that was estimated.
        agreement: the largest share of debates that agree with the first proposer.
        one_conclusion: the largest share in which all roles reach one conclusion.
        tilt: the largest mean tilt of moderators to either side, in points.
        uncertainties: the most uncertainties a debate, on average.
        degraded: the largest share of debates that are not whole.
        fewest: no alert rests on fewer debates.
    """

    challenge_strength: float | None = 6.5
    low_confidence: float | None = 0.3
    cost_ratio: float | None = 1.5
    agreement: float | None = None
    one_conclusion: float | None = None
    tilt: float | None = None
    uncertainties: float | None = None
    degraded: float | None = None
    fewest: int = 1


@dataclass(frozen=True, slots=True)
class EstimateSettings:
    """What is assumed of answers before anybody has answered; None leaves it to what is known of each model.

    Attributes:
        characters: how long one text of an answer is, whatever its form allows.
        share: how much of what its form allows a text takes, 0 to 1, where ``characters`` is None.
    """

    characters: int | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a debate is run with.

    Attributes:
        format_name: the format these were resolved for.
        seats: the model in each seat.
        credentials: their keys; a fallback's key is under ``fallback_seat(seat)``.
        budget: the ceilings.
        limits: the limits that were set.
        rubric: the rubric that was chosen.
        judging: how the judges judge.
        panel: what a panel votes on and how it decides.
        review: what a review is about.
        cast: who argues how, in a competition.
        language: the language of the debate, by name or tag.
        seed: None where none was set.
        store: URL of the store; may hold a password, so it is not part of ``repr``; see ``shown_store``.
        rounds: None leaves it to the format.
        stagger: the first call of a phase leaves before those that begin like it, which its cache then serves.
        prices: prices by ``provider:model``, which override the price table.
        rules: the format's own settings: its defaults and what was set.
        metrics: the thresholds of metrics.
        estimate: what estimates assume of answers.
        tools: by seat, what its tools are called; seats without tools are left out.
        tool_limits: how much a seat may look up before a turn.
        mcp_servers: the MCP servers that were named, by name; their addresses may hold secrets and are not shown.
        sources: where each value came from, by key: an option, a variable (``.env:`` before it where it
            comes from that file), a file with its key, or ``default``.
        asked: the keys that the command line, the program or the order itself set.
        notes: sentences on what was found but not used.
    """

    format_name: str
    seats: Mapping[str, ModelSeating]
    credentials: Credentials
    budget: Budget = field(default_factory=Budget)
    limits: LimitSettings = field(default_factory=LimitSettings)
    rubric: RubricChoice = field(default_factory=RubricChoice)
    judging: JudgingSettings = field(default_factory=JudgingSettings)
    panel: PanelSettings = field(default_factory=PanelSettings)
    review: ReviewSettings = field(default_factory=ReviewSettings)
    cast: Cast = field(default_factory=Cast)
    language: str = "English"
    seed: int | None = None
    store: str = field(repr=False)
    rounds: int | None = None
    stagger: bool = False
    prices: Mapping[str, Price] = field(default_factory=dict)
    rules: Mapping[str, RuleValue] = field(default_factory=dict)
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tool_limits: ToolLimits = field(default_factory=ToolLimits)
    metrics: MetricSettings = field(default_factory=MetricSettings)
    estimate: EstimateSettings = field(default_factory=EstimateSettings)
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict, repr=False)
    sources: Mapping[str, str] = field(default_factory=dict)
    asked: Set[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def shown_store(self) -> str:
        """The store's URL without its password."""
        scheme, mark, rest = self.store.partition("://")
        user_part, at, place = rest.rpartition("@")
        user, colon, _ = user_part.partition(":")
        place = place.partition("?")[0] if not self.store.startswith("sqlite") else place
        return f"{scheme}{mark}{user}{':***' if colon else ''}{at}{place}"


def fallback_seat(seat: str) -> str:
    """The name under which ``Credentials`` hold the key of the fallback of ``seat``."""
    return f"{seat}/fallback"


@dataclass(frozen=True, slots=True)
class MissingKey:
    """A model that cannot be called before a key is set. ``variables`` are those that would do."""

    seat: str
    provider: str
    variables: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The cause and the next step."""
        return f"{self.seat} uses {self.provider}, which needs a key: set {' or '.join(self.variables)}."


def missing_keys(settings: Settings) -> tuple[MissingKey, ...]:
    """The seats, and fallbacks of seats, whose provider needs a key and that have none."""
    found = []
    for seat, seating in settings.seats.items():
        field_name = f"{variable_prefix(seat)}LLM_API_KEY"
        pairs = [(seat, seating, field_name)]
        if seating.fallback is not None:
            fallback_field = f"{variable_prefix(seat)}LLM_FALLBACK_API_KEY"
            pairs.append((fallback_seat(seat), seating.fallback, fallback_field))
        for name, model, variable in pairs:
            provider = PROVIDERS[model.provider]
            if provider.needs_key and settings.credentials.key(name) is None:
                found.append(MissingKey(name, provider.name, (*provider.key_variables, variable)))
    return tuple(found)


def variable_prefix(scope: str) -> str:
    """What stands before ``LLM_`` in the environment for a seat, a side, or ``all`` (nothing)."""
    return "" if scope == "all" else f"{scope.upper().replace('-', '_')}_"
