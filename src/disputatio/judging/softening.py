"""Softening words: how a critic takes back in one clause what it says in the next.

The rule: a criticism is stated as a direct claim. What weakens it, agrees before it objects, or praises what it attacks
is softening, and each occurrence is a breach. Words inside quotation marks are somebody else's and are left alone.

Source: the review pattern (softening language is forbidden to the critic, "while I acknowledge" and "this is generally
reasonable but" among it). The rest of the table is our choice; it holds phrases that have hardly another use in a
criticism, so a plain "may" or "but" is not in it.
"""

from __future__ import annotations

import re

SOFTENING = (
    "while i acknowledge",
    "i acknowledge that",
    "while i agree",
    "i agree with",
    "i agree that",
    "i concede that",
    "i accept that",
    "i understand that",
    "i appreciate",
    "admittedly",
    "to be fair",
    "in fairness",
    "i grant that",
    "that said",
    "having said that",
    "generally reasonable",
    "largely reasonable",
    "mostly reasonable",
    "generally sound",
    "largely sound",
    "broadly sound",
    "broadly correct",
    "largely correct",
    "generally correct",
    "is reasonable, but",
    "is reasonable but",
    "is valid, but",
    "is valid but",
    "makes sense, but",
    "makes sense but",
    "a good point",
    "a fair point",
    "a valid point",
    "good points",
    "valid points",
    "well-reasoned",
    "well reasoned",
    "well-intentioned",
    "has merit",
    "have merit",
    "has its merits",
    "only a minor",
    "a minor concern",
    "a minor issue",
    "minor concerns",
    "a slight concern",
    "a small concern",
    "might want to consider",
    "may want to consider",
    "could perhaps",
    "might perhaps",
    "it might be worth",
    "it may be worth",
    "somewhat concerning",
    "perhaps a little",
    "not necessarily wrong",
    "with all due respect",
    "no serious objection",
    "overall i support",
    "on balance i support",
)
"""Softening phrases in small letters."""

_OPENING = re.compile(r"[\"“„«]|(?<!\w)['‘]")
_INSIDE = {
    mark: re.compile(inside)
    for mark, inside in {
        '"': r"[^\"\n]*+",
        "“": r"[^”\n]*+",
        "„": r"[^“”\n]*+",
        "«": r"[^»\n]*+",
        "'": r"[^'\n]++",
        "‘": r"[^’\n]++",
    }.items()
}
_CLOSING = {
    mark: re.compile(closing)
    for mark, closing in {'"': '"', "“": "”", "„": "[“”]", "«": "»", "'": r"'(?!\w)", "‘": r"’(?!\w)"}.items()
}
_PHRASES = re.compile(
    r"(?<!\w)(?:" + "|".join(re.escape(row).replace(r"\ ", r"\s+") for row in SOFTENING) + r")(?!\w)",
    re.IGNORECASE,
)


def softening_in(text: str) -> tuple[str, ...]:
    """The softening phrases of ``text`` outside of quotation marks, as they stand there, each once."""
    plain = _without_quotes(text.replace("’s", "'s"))
    return tuple(dict.fromkeys(" ".join(found.group().split()) for found in _PHRASES.finditer(plain)))


def _without_quotes(text: str) -> str:
    """``text`` with a space in place of each quote; a mark that is not closed on its line stays.

    Where an opening mark is not closed, the next ones of its kind up to the same place are not either. They are not
    tried again, so that a text of opening marks takes linear time.
    """
    parts: list[str] = []
    end, tried = 0, dict.fromkeys(_INSIDE, 0)
    for opening in _OPENING.finditer(text):
        mark, start = opening.group(), opening.start()
        if start < end or start < tried[mark]:
            continue
        inside = _INSIDE[mark].match(text, opening.end())
        closing = _CLOSING[mark].match(text, inside.end()) if inside else None
        if closing:
            parts.append(text[end:start])
            end = closing.end()
        elif inside:
            tried[mark] = inside.end()
    return " ".join([*parts, text[end:]])
