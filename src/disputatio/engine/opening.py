"""Sets a debate up: joins motion, settings and format, and refuses what cannot go well before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from disputatio.config import FormatOptions, Settings, fallback_seat, missing_keys
from disputatio.engine.running import Plan
from disputatio.engine.table import ModelSeat, Sitter, Table, chain_of
from disputatio.failures import InvalidInputError, ProviderError
from disputatio.formats.registry import FORMATS, Format
from disputatio.formats.ruleset import rules_json
from disputatio.judging import RUBRICS, Criterion, Rubric
from disputatio.kernel import Limits
from disputatio.ledger import Budget, PriceBook
from disputatio.motion import Evidence, Motion
from disputatio.participants.call import Fault, FaultKind
from disputatio.participants.gateways import SharedGateways
from disputatio.participants.providers import PROVIDERS, Kind, family
from disputatio.participants.scripted import Scripted
from disputatio.participants.seating import ModelSeating
from disputatio.prompts import PromptBook, Setting, packaged_book
from disputatio.record.events import DebateOpened
from disputatio.record.text import digest

_COMMON = {"minimum_arguments", "maximum_arguments", "closing_words", "rubric", "rounds"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A debate as it was asked for. ``participants`` take seats in place of the models in ``settings``."""

    motion: Motion
    format: Format
    settings: Settings
    evidence: tuple[Evidence, ...] = ()
    participants: Mapping[str, Scripted] = field(default_factory=dict)
    prompts: Path | None = None


def format_options(form: Format) -> FormatOptions:
    """What the configuration may decide about ``form``."""
    defaults = form.rules()
    limits = {row.name for row in fields(defaults) if isinstance(getattr(defaults, row.name), Limits)}
    own = {
        row.name: getattr(defaults, row.name)
        for row in fields(defaults)
        if row.name not in limits and row.name not in _COMMON
    }
    others = [row for name, row in FORMATS.items() if name != form.name]
    phases = _phases(defaults)
    return FormatOptions(
        phases=tuple(sorted(phases)),
        rubrics=tuple(RUBRICS),
        rules=own,
        maximum_rounds=10 if hasattr(defaults, "rounds") else 1,
        other_seats=frozenset(seat for row in others for seat in row.seats) - frozenset(form.seats),
        other_phases=frozenset(phase for row in others for phase in _phases(row.rules())) - phases,
        other_rules=frozenset(row.name for other in others for row in fields(other.rules)) - frozenset(own),
    )


def _phases(rules: Any) -> frozenset[str]:
    """The phases whose token limits and temperatures can be set."""
    return frozenset(
        row.name.replace("_", "-") for row in fields(rules) if isinstance(getattr(rules, row.name), Limits)
    )


def rules_of(form: Format, settings: Settings) -> Any:
    """The rules of ``form`` with everything that ``settings`` change.

    Raises:
        InvalidInputError: a bound is out of order.
    """
    rules = form.rules()
    known = {row.name for row in fields(rules)}
    changes: dict[str, Any] = {name: value for name, value in settings.rules.items() if name in known}
    limits = settings.limits
    common = {
        "minimum_arguments": limits.minimum_arguments,
        "maximum_arguments": limits.maximum_arguments,
        "closing_words": limits.closing_words,
        "rounds": settings.rounds,
        "rubric": _rubric(settings),
    }
    changes.update({name: value for name, value in common.items() if value is not None and name in known})
    for field_name in known:
        now = getattr(rules, field_name)
        phase = field_name.replace("_", "-")
        if isinstance(now, Limits):
            tokens, temperature = limits.max_tokens.get(phase), limits.temperature.get(phase)
            now = replace(now, max_tokens=tokens or now.max_tokens)
            changes[field_name] = now if temperature is None else replace(now, temperature=temperature)
    rules = replace(rules, **changes)
    if "minimum_arguments" in known and rules.minimum_arguments > rules.maximum_arguments:
        raise InvalidInputError(
            f"limits.minimum_arguments is {rules.minimum_arguments} and limits.maximum_arguments is "
            f"{rules.maximum_arguments}.",
            "Set the minimum no higher than the maximum.",
        )
    return rules


def _rubric(settings: Settings) -> Rubric | None:
    if settings.rubric.criteria:
        criteria = tuple(
            Criterion(
                name, Fraction(weight), f"How good is its {name.replace('_', ' ')}? 1 = very poor, 10 = excellent."
            )
            for name, weight in settings.rubric.criteria
        )
        return Rubric("own", criteria)
    return RUBRICS[settings.rubric.name] if settings.rubric.name else None


def seat_table(
    form: Format, settings: Settings, participants: Mapping[str, Scripted], gateways: SharedGateways
) -> Table:
    """Who sits where.

    Raises:
        InvalidInputError: a participant is given for a seat that the format does not have, or a key is missing.
    """
    unknown = sorted(set(participants) - set(form.seats))
    if unknown:
        raise InvalidInputError(
            f"The format {form.name} has no seat called {unknown[0]}.", f"Its seats are: {', '.join(form.seats)}."
        )
    missing = [row for row in missing_keys(settings) if row.seat.split("/")[0] not in participants]
    if missing:
        raise InvalidInputError(missing[0].sentence, "`disputatio doctor` shows what was found, and from where.")
    table: dict[str, Sitter] = {}
    for seat in form.seats:
        if seat in participants:
            table[seat] = participants[seat]
            continue
        seatings = chain_of(settings.seats[seat])
        keys = [settings.credentials.key(seat), settings.credentials.key(fallback_seat(seat))]
        carriers = tuple(gateways.get(row, key) for row, key in zip(seatings, keys, strict=False))
        table[seat] = ModelSeat(seatings[: len(carriers)], carriers)
    return table


def plan_of(proposal: Proposal, table: Table, book: PromptBook) -> Plan:
    """What a run of ``proposal`` rests on."""
    personas = {
        str(seat): sitter.seatings[0].persona
        for seat, sitter in table.items()
        if isinstance(sitter, ModelSeat) and sitter.seatings[0].persona
    }
    setting = Setting(proposal.format.name, proposal.motion, proposal.evidence, personas)
    rules = rules_of(proposal.format, proposal.settings)
    return Plan(proposal.format, rules, setting, table, book, proposal.settings.seed)


def book_of(overrides: Path | None) -> PromptBook:
    """The prompts of a run: those of the package, or with the files of a folder in their place."""
    return packaged_book() if overrides is None else PromptBook(overrides)


def check_prices(table: Table, budget: Budget, prices: PriceBook) -> None:
    """Refuse a ceiling in money over a model whose price nobody knows.

    Raises:
        InvalidInputError: names the seat and what would do.
    """
    if budget.usd is None or budget.tokens is not None:
        return
    for seat, seating in _seatings(table):
        if not prices.known(seating):
            raise InvalidInputError(
                f"There is a ceiling of {budget.usd} USD, but no price is known for {seat} ({seating.address}).",
                "Give its price (seats.NAME.price in the configuration, LLM_PRICE=INPUT/OUTPUT in USD per million "
                "tokens), or a ceiling in tokens with --budget-tokens.",
            )


def blind_spots(table: Table) -> tuple[str, ...]:
    """The warning that all models are of one family, where they are."""
    families = {family(seating.model, seating.provider) for _, seating in _seatings(table)}
    if len(families) != 1:
        return ()
    return (f"All seats are of one model family ({families.pop()}): they share its blind spots.",)


def opened_event(plan: Plan, budget: Budget, software: str) -> tuple[DebateOpened, dict[str, str]]:
    """The first event of a record, with the texts it names."""
    setting = plan.setting
    small = any(isinstance(row, ModelSeat) and row.seatings[0].piecewise for row in plan.table.values())
    texts = {digest(source.text): source.text for source in setting.evidence}
    overridden = tuple(f"The prompt {name} is overridden." for name in plan.book.overridden)
    event = DebateOpened(
        format=plan.format.name,
        motion={"text": setting.motion.text, "language": setting.motion.language},
        seats={seat: sitter.as_json() for seat, sitter in plan.table.items()},
        rules=rules_json(plan.rules),
        prompts=dict(plan.book.hashes(plan.format.name, small=small)),
        budget=budget.as_json(),
        evidence=tuple(
            {"source_id": row.source_id, "title": row.title, "text": digest(row.text)} for row in setting.evidence
        ),
        seed=plan.seed,
        software=software,
        warnings=(*blind_spots(plan.table), *overridden),
    )
    return event, texts


def _seatings(table: Table) -> list[tuple[str, ModelSeating]]:
    return [
        (seat, seating)
        for seat, sitter in table.items()
        if isinstance(sitter, ModelSeat)
        for seating in sitter.seatings
    ]


async def probe_table(table: Table) -> dict[str, Fault | None]:
    """Whether the model in each seat can be reached, asked without spending a token where that is possible."""
    results: dict[int, Fault | None] = {}
    found: dict[str, Fault | None] = {}
    for seat, sitter in table.items():
        if isinstance(sitter, ModelSeat):
            gateway = sitter.gateways[0]
            if id(gateway) not in results:
                results[id(gateway)] = await gateway.probe()
            found[seat] = results[id(gateway)]
    return found


def check_reachable(table: Table, probes: Mapping[str, Fault | None]) -> None:
    """Refuse to start where a seat's model certainly cannot answer and nobody can take over.

    A compatible server's list of models is not believed: many answer to more names than they list.

    Raises:
        ProviderError: names the seat, the cause and the next step.
    """
    unusable = {seat: fault for seat, fault in probes.items() if fault and _is_certain(fault, table[seat])}
    if not unusable:
        return
    seat, fault = next(iter(unusable.items()))
    models = [name for name, sitter in table.items() if isinstance(sitter, ModelSeat)]
    shared = len(models) > 1 and all(unusable.get(name) == fault for name in models)
    raise ProviderError(
        f"{'No seat' if shared else f'The seat {seat}'} can{'' if shared else 'not'} be used: {fault.message}",
        f"Nothing was spent. Cure that, or choose another model: --seat {'all' if shared else seat}=PROVIDER:MODEL. "
        "`disputatio doctor` tests all seats.",
    )


def _is_certain(fault: Fault, sitter: Sitter) -> bool:
    """Whether a seat certainly cannot answer: a fallback may, and a model that is not listed may."""
    if not isinstance(sitter, ModelSeat) or len(sitter.seatings) > 1:
        return False
    compatible = PROVIDERS[sitter.seatings[0].provider].kind is Kind.OPENAI_COMPATIBLE
    if fault.kind is FaultKind.NO_SUCH_MODEL and compatible:
        return False
    return fault.kind.is_setup or fault.kind is FaultKind.UNREACHABLE
