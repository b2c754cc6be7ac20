"""What a market debate brings to its opening: its knowledge base, and the tables of its rule-based analysts.

Both go into the record as texts, so that a debate is resumed and read again on exactly what it was held on. Every
debate passes through here; the modules of the market are imported for those of a market.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio.config.catalogue import motion_or_topic
from disputatio.errors import InvalidInputError
from disputatio.formats.format import Format
from disputatio.kernel import JsonObject
from disputatio.motion import Evidence
from disputatio.participants.analyst.seated import Analyst
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS, TEXTBOOK, Kind
from disputatio.record.text import digest

if TYPE_CHECKING:
    from disputatio.market.knowledge import KnowledgeBase

KNOWLEDGE = "knowledge"
"""The kind and the id of a knowledge base among the evidence of a record."""
EXAMPLE = "example"
_LARGEST_TABLE = 1 << 20
"""Bytes of a file of rules; the packaged one has some forty thousand."""


def knowledge_for(
    form: Format, given: KnowledgeBase | str | Path | None, evidence: Iterable[object]
) -> KnowledgeBase | None:
    """The knowledge base of a debate of this format: the given one, or that in the file given, else the example.

    Raises:
        InvalidInputError: one is given to a format that has none, or evidence to one that has nothing else; or the
            file cannot be used.
    """
    if not form.knows:
        if given is not None:
            raise InvalidInputError(
                f"A knowledge base is for market debates, and the format is {form.name}.", "Add --format market."
            )
        return None
    if any(True for _ in evidence):
        raise InvalidInputError(
            "A market debate argues from its knowledge base alone, and evidence is given beside it.",
            "Leave the evidence out, or take --format structured, which cites sources.",
        )
    from disputatio.market.knowledge import KnowledgeBase
    from disputatio.market.sources.files import knowledge_named

    if isinstance(given, KnowledgeBase):
        return given

    base: KnowledgeBase = knowledge_named(str(given or EXAMPLE))
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
        InvalidInputError: there is no such base or topic, or they do not fit the format or each other.
    """
    base = knowledge_for(form, knowledge, evidence)
    if base is not None and topic is None and not motion:
        motion = question_on(base)
    return motion_or_topic(motion, topic), base


HORIZONS = ("week", "month", "quarter")
_RISES = r"rise|go up|gain|increase|be higher|close higher"
_IT = "it|index|market|stock"
_WITHIN = rf"(?:within|in|over|during) (?:a|one|the next|the coming) ({'|'.join(HORIZONS)})|next ({'|'.join(HORIZONS)})"


def question_on(base: KnowledgeBase, horizon: str = "month") -> str:
    """The motion of a market debate for which none is given: will its subject rise within ``horizon``."""
    return f"Will {base.meta.subject_name} rise within a {horizon}?"


def horizon_asked(motion: str, base: KnowledgeBase) -> str | None:
    """The horizon within which ``motion`` asks whether the subject of ``base`` will rise; None where it asks another.

    A question without a horizon asks for the month ahead.
    """
    text = " ".join(motion.casefold().replace("?", " ").split())
    names = "|".join([*(re.escape(row.casefold()) for row in (base.meta.subject_name, base.meta.subject)), _IT])
    found = re.fullmatch(rf"will (?:the )?(?:{names}) (?:{_RISES})(?: (?:{_WITHIN}))?", text)
    return (found[1] or found[2] or "month") if found else None


def check_question(motion: str, base: KnowledgeBase, seats: Mapping[str, object]) -> None:
    """Refuse a motion that rule-based analysts cannot answer: they say whether the subject will rise, and nothing else.

    Raises:
        InvalidInputError: a rule-based analyst sits in one of ``seats`` that argue, and the motion asks something else.
    """
    ruled = next((seat for seat, row in seats.items() if seat.endswith(("_bull", "_bear")) and is_analyst(row)), None)
    if ruled is not None and horizon_asked(motion, base) is None:
        raise InvalidInputError(
            f"{ruled} is taken by rules, which answer one question only: {question_on(base)}",
            "Leave the motion out, ask for a week, a month or a quarter, or seat a model: --seat all=PROVIDER:MODEL.",
        )


def is_analyst(occupant: object) -> bool:
    """Whether a seat is taken by a rule-based analyst."""
    return isinstance(occupant, Analyst)


def knowledge_row(base: KnowledgeBase) -> tuple[JsonObject, str]:
    """How the record lists a knowledge base among its evidence, and its text."""
    from disputatio.market.knowledge_json import as_json

    # Its own order and not the canonical one: what is resumed lays the values before the seats as they lay.
    text = json.dumps(as_json(base), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    when = "without names or dates" if base.meta.blinded else f"as known on {base.meta.day}"
    title = f"{base.meta.subject_name}, {when}{' (synthetic)' if base.meta.synthetic else ''}"
    return {"source_id": KNOWLEDGE, "title": title, "kind": KNOWLEDGE, "text": digest(text)}, text


def knowledge_as_source(base: KnowledgeBase) -> Evidence:
    """The whole of ``base`` as a text, for seats of formats that argue from sources."""
    from disputatio.market.slices import render_slice, whole

    return Evidence(KNOWLEDGE, "What is known of the market", render_slice(whole(base)))


def recorded_knowledge(rows: Iterable[Mapping[str, Any]], texts: Mapping[str, str]) -> KnowledgeBase | None:
    """The knowledge base that a record keeps; None where it has none."""
    text = next((texts[str(row["text"])] for row in rows if row.get("kind") == KNOWLEDGE), None)
    if text is None:
        return None
    from disputatio.market.knowledge_json import from_json

    return from_json(json.loads(text))


def is_rules(seating: ModelSeating) -> bool:
    """Whether a seat is taken by a rule-based analyst and no model."""
    return PROVIDERS[seating.provider].kind is Kind.RULES


def analyst_for(seating: ModelSeating, seat: str, form: Format) -> Analyst:
    """The rule-based analyst of ``seat``.

    Raises:
        InvalidInputError: the format is none that rules can argue in, or its table cannot be read.
    """
    if not form.knows:
        raise InvalidInputError(
            f"{seat} is given to rules, which argue from a knowledge base, and the format is {form.name}.",
            "Take --format market, or seat a model: --seat all=PROVIDER:MODEL.",
        )
    if seating.model == TEXTBOOK:
        return _packaged()
    path = Path(seating.model)
    analyst = Analyst(_table_text(path), path.name)
    # Checked now and whole, so that a slip in it is told before the debate, or before the first date of a backtest.
    from disputatio.participants.analyst.table_check import check_table

    check_table(analyst.book, seat, path.name)
    return analyst


@cache
def _packaged() -> Analyst:
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
    """The rule-based analyst that a record names, with the table it argued from."""
    return Analyst(texts[str(row["table"])], "the record")
