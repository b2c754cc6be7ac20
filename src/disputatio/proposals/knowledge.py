"""The knowledge base of a market debate in an order: the example, one that was sent, or history up to a day.

It is read or built when the order is taken in, and kept whole in it: whoever holds the debate needs no history of its
own, and holds it on exactly what was asked for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from disputatio.engine.market_setup import knowledge_for
from disputatio.errors import InvalidInputError, VerificationError
from disputatio.formats.format import Format
from disputatio.motion import one_line

if TYPE_CHECKING:
    from disputatio.market.knowledge import KnowledgeBase

EXAMPLE = "example"
"""The name of the synthetic knowledge base that comes with the package."""
_SENT = "The knowledge base"


def kept_knowledge(form: Format, given: str | dict[str, Any] | None, as_of: str | None) -> str | None:
    """The knowledge base of an order as it is kept: the text of its file, or None for the example.

    Args:
        form: of the debate.
        given: the file as text or as JSON, or ``example``.
        as_of: the day of which one is built from the history that is installed here.

    Raises:
        InvalidInputError: it is for no market debate, both are given, it is no knowledge base or was changed, or
            nothing is known of that day.
    """
    if not form.knows:
        if given is not None or as_of is not None:
            raise InvalidInputError(
                f"A knowledge base is for market debates, and the format is {form.name}.",
                "Leave knowledge and as_of out, or order the format market.",
            )
        return None
    sent = read_knowledge(given) if given is not None and as_of is None else given
    found = knowledge_chosen(sent, as_of)
    return None if found is None else text_of(found)


def base_of(form: Format, kept: str | dict[str, Any] | None, sources: int) -> KnowledgeBase | None:
    """The knowledge base that a kept order names; None for a format that has none.

    Raises:
        InvalidInputError: there are sources beside it, or it cannot be read.
    """
    given = read_knowledge(kept) if kept is not None and form.knows else None
    return knowledge_for(form, given, range(sources))


def text_of(base: KnowledgeBase) -> str:
    """The file of a knowledge base as text, in its own order: values lie before the seats as they lie there."""
    from disputatio.market.sources.files import written

    return written(base).decode()


def read_knowledge(given: str | bytes | dict[str, Any]) -> KnowledgeBase | None:
    """The knowledge base that was sent; None where the example is named.

    Raises:
        InvalidInputError: it is none, or was changed after it was saved.
    """
    from disputatio.market.sources.files import read

    if isinstance(given, str) and given.strip().casefold() == EXAMPLE:
        return None
    try:
        raw = json.dumps(given).encode() if isinstance(given, dict) else given
        return read(raw if isinstance(raw, bytes) else raw.encode("utf-8", "replace"), _SENT)
    except VerificationError as changed:
        raise InvalidInputError(changed.cause, changed.next_step) from None


def knowledge_chosen(given: Any, as_of: str | None) -> Any:
    """The knowledge base of a market debate: the one given, or the one of that day.

    Raises:
        InvalidInputError: both are given, or nothing is known of that day.
    """
    if as_of is None:
        return given
    if given is not None:
        raise InvalidInputError(
            "knowledge and as_of are both given, and a debate has one knowledge base.", "Leave one of them out."
        )
    return knowledge_as_of(as_of)


def knowledge_as_of(as_of: str) -> KnowledgeBase:
    """The market as it was known on a day, from the history that is installed here.

    Raises:
        InvalidInputError: it is no day, or nothing is known of it.
    """
    from disputatio.market.sources.builder import build, open_source
    from disputatio.market.sources.moments import read_as_of

    try:
        return build(read_as_of(as_of), open_source("packages"))
    except InvalidInputError as unknown:
        # Where history comes from is up to whoever runs the server.
        step = "Choose a day that the history installed here covers." if "--source" in unknown.next_step else None
        raise InvalidInputError(unknown.cause, step or unknown.next_step) from None
    except OverflowError:
        raise InvalidInputError(
            f"{one_line(as_of, 40)!r} is no day that a calendar has.", "Choose a day that history covers."
        ) from None
