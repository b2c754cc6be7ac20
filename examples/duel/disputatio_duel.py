"""A duel: two speeches, one question each way, and a winner."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Literal

from disputatio.formats import Speaker, choice, text, together
from disputatio.formats.custom_debate import make_format
from disputatio.formats.options import FormatOptions
from disputatio.options import Whole, option


class Duel(FormatOptions):
    """Two speeches, one question each way, and a winner."""

    name: Literal["duel"] = "duel"
    words: Whole | None = option(None, "Most words of a speech; 80 unless set.", ge=20, le=400, metavar="N")
    tone: Literal["calm", "sharp"] | None = option(None, "How the two speak; calm unless set.", metavar="TONE")


def duel(
    pro: Speaker, con: Speaker, judge: Speaker, *, words: int = 80, tone: str = "calm"
) -> Generator[Any, Any, dict[str, Any]]:
    """Ask both for a speech, each for an answer to the other's question, and the judge for a winner."""
    case, reply = yield from together(
        pro.ask(f"Argue for the motion, in a {tone} voice.", speech=text(words)),
        con.ask(f"Argue against the motion, in a {tone} voice.", speech=text(words)),
    )
    for asker, answerer, speech in ((con, pro, case.speech), (pro, con, reply.speech)):
        put = yield from asker.ask("Put the hardest question to this speech.", about=speech or "", question=text(30))
        yield from answerer.ask("Answer the question.", about=put.question or "", answer=text(60))
    ruling = yield from judge.ask("Who argued better?", why=text(60), winner=choice("pro", "con", "draw"))
    return {"winner": ruling.winner, "reading": ruling.why}


DUEL = make_format(duel, Duel)
"""What the entry point names."""
