"""The resolved settings of a debate, which ``resolve`` makes."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from disputatio.formats.options import FormatOptions
from disputatio.formats.rule_values import Cast
from disputatio.ledger.budget import Budget
from disputatio.options.reading import RuleValue
from disputatio.participants.model_seat import Credentials, ModelSeating, Price
from disputatio.participants.providers import PROVIDERS
from disputatio.request.configuration import Estimate, Metrics
from disputatio.request.model import Judging, Limits
from disputatio.tools.protocol import McpServer, ToolLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatScope:
    """What the configuration may set about the chosen format, and the names that other formats have.

    A configuration file may serve several formats. It may have seats, phases and rules of other formats, which have no
    effect. Empty ``phases`` and ``rubrics`` mean any well-formed name.

    Attributes:
        name: the name of the format; empty if no debate is run.
        phases: the phases whose token limits and temperatures can be set.
        rubrics: the names of the packaged rubrics.
        rules: the format's own settings (clocks, penalties...) with their defaults, by dotted name. A setting has the
            type of its default; a Decimal takes any exact number.
        repeatable: the seats that may exist several times, each with its maximum number.
        further_seats: the names of the further ones, such as ``judge_2``.
        free_seats: whether users name the seats.
        personalities: whether the debaters have personalities.
        other_seats: seats of other formats.
        other_phases: phases of other formats.
        other_rules: rules of other formats.
        usual_provider: the provider of seats without a named model; empty if the available keys decide.
    """

    name: str = ""
    phases: tuple[str, ...] = ()
    rubrics: tuple[str, ...] = ()
    rules: Mapping[str, RuleValue] = field(default_factory=dict)
    other_seats: Set[str] = frozenset()
    repeatable: Mapping[str, int] = field(default_factory=dict)
    further_seats: tuple[str, ...] = ()
    other_phases: Set[str] = frozenset()
    other_rules: Set[str] = frozenset()
    free_seats: bool = False
    personalities: bool = False
    usual_provider: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a debate.

    Attributes:
        format_name: the format these were resolved for.
        seats: the model in each seat.
        credentials: their keys. A fallback's key is under ``fallback_seat(seat)``.
        budget: the ceilings.
        limits: the limits that were set.
        judging: how the judges judge, and by which rubric.
        format: the options of the format.
        cast: the personalities of the debaters in a competition.
        language: the language of the debate, by name or tag.
        seed: None if it was not set.
        store: the URL of the store. It may hold a password, so ``repr`` leaves it out; see ``shown_store``.
        stagger: whether the first call of a phase is sent alone, so that the others can use its prompt cache.
        prices: prices by ``provider:model``, which override the price table.
        rules: the format's own settings: its defaults and what was set.
        metrics: the thresholds of metrics.
        estimate: what estimates assume about answers.
        tools: the names of the tools of each seat that has some.
        tool_limits: how much a seat may look up before a turn.
        mcp_servers: the MCP servers by name. Their addresses may hold secrets, so ``repr`` leaves them out.
        sources: the source of each value, by key: an option, a variable (with ``.env:`` if it comes from that file), a
            file with its key, or ``default``.
        asked: the keys that the command line, the program or the request itself set.
        notes: sentences on settings that were found but not used.
    """

    format_name: str
    seats: Mapping[str, ModelSeating]
    credentials: Credentials
    budget: Budget = field(default_factory=Budget)
    limits: Limits = field(default_factory=Limits)
    judging: Judging = field(default_factory=Judging)
    format: FormatOptions = field(default_factory=FormatOptions)
    cast: Cast = field(default_factory=Cast)
    language: str = "English"
    seed: int | None = None
    store: str = field(repr=False)
    stagger: bool = False
    prices: Mapping[str, Price] = field(default_factory=dict)
    rules: Mapping[str, RuleValue] = field(default_factory=dict)
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tool_limits: ToolLimits = field(default_factory=ToolLimits)
    metrics: Metrics = field(default_factory=Metrics)
    estimate: Estimate = field(default_factory=Estimate)
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict, repr=False)
    sources: Mapping[str, str] = field(default_factory=dict)
    asked: Set[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def asked_budget(self) -> Budget:
        """The ceilings among ``asked``. Those that only the environment or a file sets are None."""
        names = (name for name in ("usd", "tokens", "calls") if f"budget.{name}" in self.asked)
        return Budget(**{name: getattr(self.budget, name) for name in names})

    @property
    def shown_store(self) -> str:
        """The store's URL without its password."""
        scheme, mark, rest = self.store.partition("://")
        user_part, at, place = rest.rpartition("@")
        user, colon, _ = user_part.partition(":")
        place = place.partition("?")[0] if not self.store.startswith("sqlite") else place
        return f"{scheme}{mark}{user}{':***' if colon else ''}{at}{place}"


def fallback_seat(seat: str) -> str:
    """The name of the fallback of ``seat`` in ``Credentials``."""
    return f"{seat}/fallback"


@dataclass(frozen=True, slots=True)
class MissingKey:
    """A model without the key that it needs. ``variables`` are those that could hold the key."""

    seat: str
    provider: str
    variables: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The cause and the next step."""
        return f"{self.seat} uses {self.provider}, which needs a key: set {' or '.join(self.variables)}."


def missing_keys(settings: Settings) -> tuple[MissingKey, ...]:
    """The seats and fallbacks that need a key and have none."""
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
    """The prefix before ``LLM_`` for a seat or a side; empty for ``all``."""
    return "" if scope == "all" else f"{scope.upper().replace('-', '_')}_"
