"""Sets up the knowledge base of a market debate, and the tables of its rule-based analysts.

Both go into the record as texts, so a debate is resumed and read with exactly the data that it used. Every debate uses
this module, so it imports the modules of the market only for market debates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio.config.catalogue import motion_or_topic
from disputatio.errors import InvalidInputError, VerificationError
from disputatio.formats.format import Format
from disputatio.kernel import JsonObject
from disputatio.motion import Evidence, one_line
from disputatio.participants.analyst.participant import Analyst
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS, TEXTBOOK, Kind
from disputatio.record.text import digest

if TYPE_CHECKING:
    from disputatio.market.knowledge import KnowledgeBase

KNOWLEDGE = "knowledge"
"""The kind and the id of a knowledge base among the evidence of a record."""
EXAMPLE = "example"
"""The name of the synthetic knowledge base that comes with the package."""
_LARGEST_TABLE = 1 << 20
"""Bytes of a table of rules; the packaged one has some forty thousand."""


def choose_knowledge(
    form: Format, given: KnowledgeBase | str | Path | None, evidence: Iterable[object]
) -> KnowledgeBase | None:
    """The knowledge base of a debate: ``given``, or the one in that file, or the example; None for other formats.

    Raises:
        InvalidInputError: the format has no knowledge base, or there is evidence besides it, or the file is unusable.
    """
    if not form.knows:
        if given is not None:
            raise InvalidInputError(
                f"A knowledge base is for market debates, and the format is {form.name}.", "Add --format market."
            )
        return None
    if any(True for _ in evidence):
        raise InvalidInputError(
            "A market debate uses its knowledge base alone, and evidence is given too.",
            "Leave the evidence out, or use --format structured, which cites sources.",
        )
    from disputatio.market.knowledge import KnowledgeBase
    from disputatio.market.sources.files import load_named

    if isinstance(given, KnowledgeBase):
        return given

    base: KnowledgeBase = load_named(str(given or EXAMPLE))
    return base


def motion_and_knowledge(
    form: Format,
    motion: str | None,
    topic: str | None,
    knowledge: KnowledgeBase | str | Path | None,
    evidence: Sequence[object],
) -> tuple[str, KnowledgeBase | None]:
    """The motion of a debate and its knowledge base; a market debate without a motion asks about its subject.

    Raises:
        InvalidInputError: there is no such base or topic, or they do not fit each other or the format.
    """
    base = choose_knowledge(form, knowledge, evidence)
    if base is not None and topic is None and not motion:
        motion = default_question(base)
    return motion_or_topic(motion, topic), base


HORIZONS = ("week", "month", "quarter")
_RISES = r"rise|go up|gain|increase|be higher|close higher"
_SUBJECTS = "it|index|market|stock"
_WITHIN = rf"(?:within|in|over|during) (?:a|one|the next|the coming) ({'|'.join(HORIZONS)})|next ({'|'.join(HORIZONS)})"


def default_question(base: KnowledgeBase, horizon: str = "month") -> str:
    """The motion of a market debate without one: will its subject rise within ``horizon``?"""
    return f"Will {base.meta.subject_name} rise within a {horizon}?"


def find_horizon(motion: str, base: KnowledgeBase) -> str | None:
    """The horizon within which ``motion`` asks whether the subject of ``base`` will rise; None for other questions.

    A question without a horizon is about the next month.
    """
    text = " ".join(motion.casefold().replace("?", " ").split())
    names = "|".join([*(re.escape(row.casefold()) for row in (base.meta.subject_name, base.meta.subject)), _SUBJECTS])
    match = re.fullmatch(rf"will (?:the )?(?:{names}) (?:{_RISES})(?: (?:{_WITHIN}))?", text)
    return (match[1] or match[2] or "month") if match else None


def check_question(motion: str, base: KnowledgeBase, seats: Mapping[str, object]) -> None:
    """Refuse a motion that rule-based analysts cannot answer. They only say whether the subject will rise.

    Raises:
        InvalidInputError: a rule-based analyst has one of ``seats`` that argue, and the motion asks something else.
    """
    analyst = next((key for key, row in seats.items() if key.endswith(("_bull", "_bear")) and is_analyst(row)), None)
    if analyst is not None and find_horizon(motion, base) is None:
        raise InvalidInputError(
            f"{analyst} is taken by rules, which answer one question only: {default_question(base)}",
            "Leave the motion out, ask for a week, a month or a quarter, or seat a model: --seat all=PROVIDER:MODEL.",
        )


def is_analyst(occupant: object) -> bool:
    """Whether a seat is taken by a rule-based analyst."""
    return isinstance(occupant, Analyst)


def knowledge_row(base: KnowledgeBase) -> tuple[JsonObject, str]:
    """How the record lists a knowledge base among its evidence, and its text."""
    from disputatio.market.knowledge_json import as_json

    # Not the canonical order: a resumed debate must show the values in the same order as before.
    text = json.dumps(as_json(base), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    when = "without names or dates" if base.meta.blinded else f"as known on {base.meta.day}"
    title = f"{base.meta.subject_name}, {when}{' (synthetic)' if base.meta.synthetic else ''}"
    return {"source_id": KNOWLEDGE, "title": title, "kind": KNOWLEDGE, "text": digest(text)}, text


def knowledge_as_source(base: KnowledgeBase) -> Evidence:
    """All of ``base`` as one text, for formats that argue from sources."""
    from disputatio.market.slices import render_slice, take_whole

    return Evidence(KNOWLEDGE, "What is known of the market", render_slice(take_whole(base)))


def recorded_knowledge(rows: Iterable[Mapping[str, Any]], texts: Mapping[str, str]) -> KnowledgeBase | None:
    """The knowledge base in a record; None if it has none."""
    text = next((texts[str(row["text"])] for row in rows if row.get("kind") == KNOWLEDGE), None)
    if text is None:
        return None
    from disputatio.market.knowledge_json import from_json

    return from_json(json.loads(text))


def is_rule_based(seating: ModelSeating) -> bool:
    """Whether a rule-based analyst takes a seat, rather than a model."""
    return PROVIDERS[seating.provider].kind is Kind.RULES


def make_analyst(seating: ModelSeating, seat: str, form: Format) -> Analyst:
    """The rule-based analyst of ``seat``.

    Raises:
        InvalidInputError: rules cannot argue in this format, or the table cannot be read.
    """
    if not form.knows:
        raise InvalidInputError(
            f"{seat} is given to rules, which argue from a knowledge base, and the format is {form.name}.",
            "Use --format market, or seat a model: --seat all=PROVIDER:MODEL.",
        )
    if seating.model == TEXTBOOK:
        return _packaged_analyst()
    path = Path(seating.model)
    analyst = Analyst(_table_text(path), path.name)
    # Check all of it now, so that a mistake is reported before the debate or the first date of a backtest.
    from disputatio.participants.analyst.table_check import check_table

    check_table(analyst.book, seat, path.name)
    return analyst


@cache
def _packaged_analyst() -> Analyst:
    from disputatio.participants.analyst.textbook import packaged_text

    return Analyst(packaged_text())


def _table_text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_TABLE:
            raise InvalidInputError(f"The rules in {path} are too large.", "A table has less than a megabyte.")
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInputError(
            f"The rules in {path} cannot be read: {cause}.", "Give the path of a TOML file: rules:PATH.toml."
        ) from None


def recorded_analyst(row: Mapping[str, Any], texts: Mapping[str, str]) -> Analyst:
    """The rule-based analyst in a record, with the table that it used."""
    return Analyst(texts[str(row["table"])], "the record")


_SENT = "The knowledge base"


def knowledge_to_store(form: Format, given: str | dict[str, Any] | None, as_of: str | None) -> str | None:
    """The knowledge base of a request as it is stored: the text of its file, or None for the example.

    Args:
        form: of the debate.
        given: the file as text or as JSON, or ``example``.
        as_of: the day of which one is built from the history that is installed here.

    Raises:
        InvalidInputError: the format is not market, both are given, the file is invalid or was changed, or the history
            does not cover that day.
    """
    if not form.knows:
        if given is not None or as_of is not None:
            raise InvalidInputError(
                f"A knowledge base is for market debates, and the format is {form.name}.",
                "Leave knowledge and as_of out, or use the format market.",
            )
        return None
    base = pick_knowledge(read_knowledge(given) if given is not None and as_of is None else given, as_of)
    return None if base is None else knowledge_text(base)


def load_stored_knowledge(form: Format, stored: str | dict[str, Any] | None, sources: int) -> KnowledgeBase | None:
    """The knowledge base of a stored request; None for a format that has none.

    Raises:
        InvalidInputError: it comes with other sources, or it cannot be read.
    """
    given = read_knowledge(stored) if stored is not None and form.knows else None
    return choose_knowledge(form, given, range(sources))


def knowledge_text(base: KnowledgeBase) -> str:
    """The file of a knowledge base as text, in its own order, which is the order of the values in prompts."""
    from disputatio.market.sources.files import serialize

    return serialize(base).decode()


def read_knowledge(given: str | bytes | dict[str, Any]) -> KnowledgeBase | None:
    """The knowledge base in a request; None if it names the example.

    Raises:
        InvalidInputError: it is not a knowledge base, or was changed after it was saved.
    """
    from disputatio.market.sources.files import parse

    if isinstance(given, str) and given.strip().casefold() == EXAMPLE:
        return None
    try:
        raw = json.dumps(given).encode() if isinstance(given, dict) else given
        return parse(raw if isinstance(raw, bytes) else raw.encode("utf-8", "replace"), _SENT)
    except VerificationError as changed:
        raise InvalidInputError(changed.cause, changed.next_step) from None


def pick_knowledge(given: Any, as_of: str | None) -> Any:
    """The knowledge base of a market debate: ``given``, or that of the day.

    Raises:
        InvalidInputError: both are given, or the history does not cover that day.
    """
    if as_of is None:
        return given
    if given is not None:
        raise InvalidInputError(
            "knowledge and as_of are both given, and a debate has one knowledge base.", "Leave one of them out."
        )
    return build_knowledge(as_of)


def build_knowledge(as_of: str) -> KnowledgeBase:
    """The market as it was known on a day, from the history that is installed here.

    Raises:
        InvalidInputError: this is not a day, or the history does not cover it.
    """
    from disputatio.market.sources.builder import build, open_source
    from disputatio.market.sources.moments import parse_as_of

    try:
        return build(parse_as_of(as_of), open_source("packages"))
    except InvalidInputError as unknown:
        # The operator of the server decides where history comes from.
        step = "Choose a day that the history installed here covers." if "--source" in unknown.next_step else None
        raise InvalidInputError(unknown.cause, step or unknown.next_step) from None
    except OverflowError:
        raise InvalidInputError(
            f"{one_line(as_of, 40)!r} is not a day of the calendar.", "Choose a day that history covers."
        ) from None
