"""Sets up a debate: joins motion, settings and format, and refuses what cannot work before anything is spent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio.config import Settings, fallback_seat, missing_keys
from disputatio.engine.debate_run import Plan
from disputatio.engine.market_setup import check_question, choose_knowledge, is_rule_based, knowledge_row, make_analyst
from disputatio.engine.review_setup import check_introduced, review_rules, warn_of_moderator_family
from disputatio.engine.seat_assignments import ModelSeat, Occupant, SeatAssignments, fallback_chain, list_personas
from disputatio.errors import InvalidInputError, ProviderError
from disputatio.evidence.sources import Source, SourceSet
from disputatio.formats.debate_context import numbered
from disputatio.formats.format import Format
from disputatio.formats.jury import JuryRules
from disputatio.formats.jury_verdict import make_panel
from disputatio.formats.ruleset import rules_json
from disputatio.formats.turns.citing import Citing
from disputatio.judging.panel_verdict import PanelMethod
from disputatio.judging.scoring import RUBRICS, Criterion, Rubric
from disputatio.kernel import JsonObject, Limits, Seat
from disputatio.ledger.budget import Budget
from disputatio.ledger.prices import PriceBook, context_window, known_window
from disputatio.motion import Evidence, Motion, one_line
from disputatio.motion.motion import SourceKind
from disputatio.participants.analyst.participant import Analyst
from disputatio.participants.call import Fault, FaultKind
from disputatio.participants.human import Participant
from disputatio.participants.local_models import EMBEDDED_MODEL
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS, Kind, family
from disputatio.participants.reasoning import EFFORTS
from disputatio.participants.shared_clients import SharedClients
from disputatio.prompts import PromptBook, PromptContext, packaged_book
from disputatio.record.events import DebateOpened
from disputatio.record.text import digest
from disputatio.tools.protocol import record_offer

if TYPE_CHECKING:
    from disputatio.market.knowledge import KnowledgeBase

EVIDENCE_PART = 4
"""The evidence gets one part in so many of a model's context window; the debate and the answer get the rest."""
CHARS_PER_TOKEN = 3
"""Fewer than in usual prose, so that the part is not exceeded."""

SMALL_SHARE = 3_000
"""Characters of evidence for a seat that is asked piece by piece."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A requested debate. ``participants`` take seats in place of the models in ``settings``.

    ``introduced`` names the sources in ``evidence`` that a later round of a review introduces, with that round.
    ``knowledge`` is the knowledge base of a market debate; None means the example.
    """

    motion: Motion
    format: Format
    settings: Settings
    evidence: tuple[Evidence | Source, ...] = ()
    participants: Mapping[str, Participant] = field(default_factory=dict)
    prompts: Path | None = None
    introduced: Mapping[str, int] = field(default_factory=dict)
    knowledge: KnowledgeBase | None = None


def make_rules(form: Format, settings: Settings) -> Any:
    """The rules of ``form``, changed as ``settings`` say.

    Raises:
        InvalidInputError: a minimum is above its maximum, or an option does not fit the format.
    """
    rules = form.rules()
    known = {row.name for row in fields(rules)}
    changes: dict[str, Any] = {name: value for name, value in settings.rules.items() if name in known}
    if "bench" not in known:
        _check_no_jury_options(form, settings)
    limits = settings.limits
    common = {
        "minimum_arguments": limits.minimum_arguments,
        "maximum_arguments": limits.maximum_arguments,
        "closing_words": limits.closing_words,
        "rubric": _rubric(settings),
        "bench": _jury_rules(settings),
        "cast": settings.cast,
        **settings.format.changes_of(tuple(settings.seats)),
        **review_rules(form, settings),
    }
    changes.update({name: value for name, value in common.items() if value is not None and name in known})
    for name in known:
        row = getattr(rules, name)
        phase = name.replace("_", "-")
        if isinstance(row, Limits):
            tokens, temperature = limits.max_tokens.get(phase), limits.temperature.get(phase)
            row = row if tokens is None else replace(row, max_tokens=tokens, fixed=True)
            changes[name] = row if temperature is None else replace(row, temperature=temperature)
    rules = replace(rules, **changes)
    if "minimum_arguments" in known and rules.minimum_arguments > rules.maximum_arguments:
        raise InvalidInputError(
            f"limits.minimum_arguments is {rules.minimum_arguments} and limits.maximum_arguments is "
            f"{rules.maximum_arguments}.",
            "Set the minimum no higher than the maximum.",
        )
    return rules


_METHODS = {"weighted": PanelMethod.WEIGHTED_MEAN, "weighted-vote": PanelMethod.WEIGHTED_VOTE}
"""The method that each word of a user means, where the panel has another name for it."""


def _jury_rules(settings: Settings) -> JuryRules:
    chosen = settings.judging
    return JuryRules(
        both_orders=chosen.both_orders,
        anonymous=chosen.anonymous,
        retest=chosen.retest,
        method=_METHODS.get(chosen.method) or PanelMethod(chosen.method),
        weights=tuple((judge, Fraction(weight)) for judge, weight in sorted(chosen.weights.items())),
        dead_zone=Fraction(chosen.dead_zone),
    )


def _check_no_jury_options(form: Format, settings: Settings) -> None:
    """Refuse jury options on the command line that would do nothing. A file may serve several formats."""
    for key, source in settings.sources.items():
        if key.startswith("judging.") and key in settings.asked:
            raise InvalidInputError(
                f"{source} is for formats whose judges give scores, and {form.name} has one judge who gives none.",
                "Leave it out, or use --format structured.",
            )


def _rubric(settings: Settings) -> Rubric | None:
    chosen = settings.judging
    if chosen.criteria:
        question = "How good is its {}? 1 = very poor, 10 = excellent."
        criteria = tuple(
            Criterion(name, Fraction(row.weight), row.question or question.format(name.replace("_", " ")))
            for name, row in chosen.criteria.items()
        )
        return Rubric("own", criteria)
    return RUBRICS[chosen.rubric] if chosen.rubric else None


def assign_seats(
    form: Format, settings: Settings, participants: Mapping[str, Participant], model_clients: SharedClients
) -> SeatAssignments:
    """Put a participant, a model or an analyst into each seat.

    Raises:
        InvalidInputError: the format does not have the seat of a participant, or a key is missing.
    """
    seats = tuple(settings.seats) if form.free_seats else form.seats
    unknown = sorted(set(participants) - {*seats, *form.further_seats})
    if unknown:
        raise InvalidInputError(
            f"The format {form.name} has no seat called {unknown[0]}.", f"Its seats are: {', '.join(seats)}."
        )
    missing = [row for row in missing_keys(settings) if row.seat.split("/")[0] not in participants]
    if missing:
        raise InvalidInputError(missing[0].sentence, "`disputatio doctor` shows each setting and its source.")
    assignments: dict[str, Occupant] = {}
    for seat in form.seats_named([*settings.seats, *participants]):
        if seat in participants:
            assignments[seat] = participants[seat]
            continue
        seatings = fallback_chain(settings.seats[seat])
        if is_rule_based(seatings[0]):
            assignments[seat] = make_analyst(seatings[0], seat, form)
            continue
        keys = [settings.credentials.key(seat), settings.credentials.key(fallback_seat(seat))]
        clients = tuple(model_clients.get(row, key) for row, key in zip(seatings, keys, strict=False))
        assignments[seat] = ModelSeat(seatings[: len(clients)], clients)
    return assignments


def make_plan(proposal: Proposal, assignments: SeatAssignments, book: PromptBook) -> Plan:
    """The plan of a run of ``proposal``."""
    knowledge = choose_knowledge(proposal.format, proposal.knowledge, proposal.evidence)
    if knowledge is not None:
        check_question(proposal.motion.text, knowledge, assignments)
    shares = share_evidence(assignments, proposal.settings) if proposal.evidence else {}
    prompt_context = PromptContext(
        proposal.format.prompt_folder,
        proposal.motion,
        proposal.evidence,
        list_personas(assignments),
        shares,
        dict(proposal.introduced),
    )
    check_searchable(prompt_context, assignments)
    rules = make_rules(proposal.format, proposal.settings)
    check_introduced(prompt_context, rules, proposal.introduced)
    if isinstance(getattr(rules, "bench", None), JuryRules):
        # Refuse weights of unknown judges now, and not after all of them have spoken.
        make_panel(numbered(Seat("judge"), map(Seat, assignments)), rules.bench)
    seed, staggers = proposal.settings.seed, proposal.settings.stagger
    return Plan(proposal.format, rules, prompt_context, assignments, book, seed, knowledge=knowledge, staggers=staggers)


async def prepare_plan(proposal: Proposal, assignments: SeatAssignments, book: PromptBook) -> Plan:
    """Like ``make_plan``, but lays out sources in a thread, because searching long ones takes seconds.

    Raises:
        InvalidInputError: as ``make_plan``.
    """
    if not proposal.evidence:
        return make_plan(proposal, assignments, book)
    return await asyncio.to_thread(make_plan, proposal, assignments, book)


def share_evidence(assignments: SeatAssignments, settings: Settings) -> dict[str, int]:
    """How many characters of the evidence each model sees: the configured number, or a part of its context window.

    A fallback gets the same prompt, so the smallest window of a seat decides. A seat that is asked piece by piece gets
    at most ``SMALL_SHARE`` characters.
    """
    models = {str(seat): occupant for seat, occupant in assignments.items() if isinstance(occupant, ModelSeat)}
    return {seat: settings.limits.evidence_chars or _share_of(occupant) for seat, occupant in models.items()}


def _share_of(occupant: ModelSeat) -> int:
    share = min(context_window(row) for row in occupant.seatings) * CHARS_PER_TOKEN // EVIDENCE_PART
    return min(share, SMALL_SHARE) if occupant.seatings[0].piecewise else share


def check_searchable(prompt_context: PromptContext, assignments: SeatAssignments) -> None:
    """Choose the evidence of every seat now rather than in the middle of the debate.

    Raises:
        InvalidInputError: the sources must be searched, and the library for it is not installed.
    """
    for seat, occupant in assignments.items():
        prompt_context.laid_out(seat)
        if prompt_context.evidence and isinstance(occupant, ModelSeat) and occupant.seatings[0].piecewise:
            Citing(SourceSet(prompt_context.evidence), prompt_context.motion.text).sentences("", 1)


def open_prompts(overrides: Path | None) -> PromptBook:
    """The prompts of the package, some of them replaced by the files in ``overrides``."""
    return packaged_book() if overrides is None else PromptBook(overrides)


def check_prices(assignments: SeatAssignments, budget: Budget, prices: PriceBook) -> None:
    """Refuse a ceiling in money if the price of a model is unknown.

    Raises:
        InvalidInputError: names the seat and the next step.
    """
    if budget.usd is None or budget.tokens is not None:
        return
    for seat, seating in _list_seatings(assignments):
        if not prices.known(seating):
            raise InvalidInputError(
                f"There is a ceiling of {budget.usd} USD, but no price is known for {seat} ({seating.address}).",
                "Give its price (seats.NAME.price in the configuration, LLM_PRICE=INPUT/OUTPUT in USD per million "
                "tokens), or a ceiling in tokens with --budget-tokens.",
            )


def check_token_limits(assignments: SeatAssignments) -> None:
    """Refuse token limits for reasoning and answer that exceed the context window of the model.

    Raises:
        InvalidInputError: names the seat, the numbers and the next step.
    """
    for seat, seating in _list_seatings(assignments):
        window, effort = known_window(seating), seating.reasoning_effort
        limits = {
            "reasoning_effort": effort if isinstance(effort, int) else 0,
            "max_tokens": seating.max_tokens or 0,
        }
        if window is None or sum(limits.values()) < window:
            continue
        numbers = " and ".join(f"{name} {tokens:,}" for name, tokens in limits.items() if tokens)
        raise InvalidInputError(
            f"The seat {seat} has {numbers}, and the context window of {seating.address} has {window:,} tokens, "
            "the prompt included.",
            f"Set smaller numbers, or a word as reasoning_effort: {', '.join(EFFORTS)}.",
        )


def warn_of_one_family(assignments: SeatAssignments) -> tuple[str, ...]:
    """A warning if all models are of one family."""
    families = {family(seating.model, seating.provider) for _, seating in _list_seatings(assignments)}
    if len(families) != 1 or any(isinstance(occupant, Analyst) for occupant in assignments.values()):
        return ()
    return (f"All seats are of one model family ({families.pop()}): they share its blind spots.",)


def warn_of_equal_debaters(plan: Plan) -> tuple[str, ...]:
    """A warning if all debaters of a panel are one model with one prompt."""
    voices = plan.context.voices
    if not plan.format.free_seats or len(voices) < 2 or len({(row.model, row.persona) for row in voices}) > 1:
        return ()
    warning = f"All debaters are the same model ({voices[0].model}) with the same prompt: their agreement shows little."
    next_step = "Give them different models (--seat NAME=PROVIDER:MODEL) or personas (seats.NAME.persona)."
    return (f"{warning} {next_step}",)


def explain_question(plan: Plan) -> tuple[str, ...]:
    """How a debate with two sides reads a motion that is a question, with a hint if it offers several options."""
    motion = plan.prompt_context.motion
    if not (motion.is_question and plan.book.has(f"{plan.format.prompt_folder}/yes-or-no")):
        return ()
    if not motion.offers_options:
        return ("The motion is a question: pro answers yes, con answers no.",)
    hint = (
        "The motion offers several options, and this debate has two sides: pro answers yes, con answers no. A panel "
        "votes on options (--format panel --options A,B,C), and a review weighs positions (--format review --position "
        "A --position B)."
    )
    return (hint,)


def warn_of_language(assignments: SeatAssignments, language: str) -> tuple[str, ...]:
    """A warning if the small embedded model must write a language other than English."""
    small = [
        seat for seat, row in _list_seatings(assignments) if row.provider == "embedded" and row.model == EMBEDDED_MODEL
    ]
    if not small or language == "English":
        return ()
    seats = " and ".join(dict.fromkeys(small))
    return (f"The small embedded model writes English only: do not expect {one_line(language, 40)} of {seats}.",)


def make_opening(plan: Plan, budget: Budget, software: str) -> tuple[DebateOpened, dict[str, str]]:
    """The first event of a record, and the texts that it names."""
    prompt_context = plan.prompt_context
    small = any(isinstance(row, ModelSeat) and row.seatings[0].piecewise for row in plan.assignments.values())
    texts = {digest(source.text): source.text for source in prompt_context.evidence}
    overridden = tuple(f"The prompt {name} is overridden." for name in plan.book.overridden)
    tools, tool_texts = record_offer(plan.tools, tuple(plan.assignments)) if plan.tools else ({}, {})
    texts |= tool_texts
    texts |= {row.table: row.text for row in plan.assignments.values() if isinstance(row, Analyst)}
    knowledge: tuple[JsonObject, ...] = ()
    if plan.knowledge is not None:
        row, text = knowledge_row(plan.knowledge)
        knowledge, texts[str(row["text"])] = (row,), text
    if plan.format.file_text:
        texts[digest(plan.format.file_text)] = plan.format.file_text
    event = DebateOpened(
        format=plan.format.name,
        motion={"text": prompt_context.motion.text, "language": prompt_context.motion.language},
        seats={seat: occupant.as_json() for seat, occupant in plan.assignments.items()},
        rules=rules_json(plan.rules),
        prompts=dict(plan.book.hashes(plan.format.prompt_folder, small=small, tools=bool(tools))),
        budget=budget.as_json(),
        evidence=tuple(_evidence_row(row, prompt_context.introduced) for row in prompt_context.evidence) + knowledge,
        shares=dict(prompt_context.shares),
        seed=plan.seed,
        software=software,
        warnings=(
            *warn_of_one_family(plan.assignments),
            *warn_of_moderator_family(plan.format, plan.assignments),
            *warn_of_equal_debaters(plan),
            *explain_question(plan),
            *warn_of_language(plan.assignments, prompt_context.motion.language),
            *overridden,
            *(plan.tools.warnings if plan.tools else ()),
        ),
        tools=tools,
    )
    return event, texts


def _evidence_row(source: Evidence | Source, introduced: Mapping[str, int]) -> JsonObject:
    """A source as the record lists it."""
    row: JsonObject = {
        "source_id": source.source_id,
        "title": source.title,
        "kind": (source.kind if isinstance(source, Source) else SourceKind.TEXT).value,
        "text": digest(source.text),
    }
    return {**row, "round": introduced[source.source_id]} if source.source_id in introduced else row


def _list_seatings(assignments: SeatAssignments) -> list[tuple[str, ModelSeating]]:
    return [
        (seat, seating)
        for seat, occupant in assignments.items()
        if isinstance(occupant, ModelSeat)
        for seating in occupant.seatings
    ]


async def probe_models(assignments: SeatAssignments) -> dict[str, Fault | None]:
    """Probe the model of each seat, without spending a token if that is possible. None means that it can be reached."""
    by_client: dict[int, Fault | None] = {}
    by_seat: dict[str, Fault | None] = {}
    for seat, occupant in assignments.items():
        if isinstance(occupant, ModelSeat):
            client = occupant.model_clients[0]
            if id(client) not in by_client:
                by_client[id(client)] = await client.probe()
            by_seat[seat] = by_client[id(client)]
    return by_seat


def check_reachable(assignments: SeatAssignments, probes: Mapping[str, Fault | None]) -> None:
    """Refuse to start if a seat's model certainly cannot answer and has no fallback.

    The list of models of a compatible server is not trusted: many servers accept more names than they list.

    Raises:
        ProviderError: names the seat, the cause and the next step.
    """
    unusable = {seat: fault for seat, fault in probes.items() if fault and _is_certain(fault, assignments[seat])}
    if not unusable:
        return
    seat, fault = next(iter(unusable.items()))
    models = [name for name, occupant in assignments.items() if isinstance(occupant, ModelSeat)]
    shared = len(models) > 1 and all(unusable.get(name) == fault for name in models)
    raise ProviderError(
        f"{'No seat' if shared else f'The seat {seat}'} can{'' if shared else 'not'} be used: {fault.message}",
        f"Nothing was spent. Fix that, or choose another model: --seat {'all' if shared else seat}=PROVIDER:MODEL. "
        "`disputatio doctor` tests all seats.",
    )


def _is_certain(fault: Fault, occupant: Occupant) -> bool:
    """Whether a seat certainly cannot answer. A fallback may answer, and so may a model that is not listed."""
    if not isinstance(occupant, ModelSeat) or len(occupant.seatings) > 1:
        return False
    compatible = PROVIDERS[occupant.seatings[0].provider].kind is Kind.OPENAI_COMPATIBLE
    if fault.kind is FaultKind.NO_SUCH_MODEL and compatible:
        return False
    return fault.kind.is_setup or fault.kind is FaultKind.UNREACHABLE
