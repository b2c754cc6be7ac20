"""What a judge's finding rests on: ids of what was really said about an argument, checked by code.

About PRO-1 there may be said, and so be named:

    PRO-1            the argument itself
    CON on PRO-1     the response to it
    PRO-1.Q1         a question that the response puts
    PRO-1.A1         the answer to that question
    PRO-1.closing    what its own side says of it at the end

A finding is void where it names nothing of this, or names what does not exist anywhere in the debate. To rest on the
argument alone is allowed: it may be decided by what it says itself, and whether the responses were weighed is
measured elsewhere, by the standing computed from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_QUESTION = re.compile(r"^(.+)\.Q(\d+)$")
_PREFIX = re.compile(r"[^\W\d_]+(?=-\d)")


@dataclass(frozen=True, slots=True)
class Grounds:
    """What one finding names.

    Attributes:
        named: the ids it rests on that exist, each once, in the order given.
        invented: the ids it names, as a ground or in its reason, that do not exist.
    """

    named: tuple[str, ...]
    invented: tuple[str, ...]

    @property
    def void_because(self) -> str:
        """Why the finding is void; empty where it is not."""
        if self.invented:
            return f"it names {', '.join(self.invented)}, which does not exist"
        return "" if self.named else "it names nothing that was said about the argument"


@dataclass(frozen=True, slots=True)
class KnownIds:
    """The ids of a debate, and the form that they have. Made once for a judge's findings.

    ``mention`` finds in a text what has the form of an id of an argument, a question or an answer; None where no id has
    a form.
    """

    names: frozenset[str]
    mention: re.Pattern[str] | None

    @classmethod
    def of(cls, names: Iterable[str]) -> KnownIds:
        """The ids ``names``, and those of the answers to the questions among them."""
        given = frozenset(names)
        prefixes = {found[0] for name in given if (found := _PREFIX.match(name))}
        prefixes |= {name.partition(" on ")[0] for name in given if " on " in name}
        words = "|".join(sorted(map(re.escape, prefixes)))
        mention = re.compile(rf"(?<![\w-])(?:{words})-\d+(?:\.[QA]\d+)?(?![\w-])") if prefixes else None
        # Who says that an answer is missing names it; the question is there, so the name means something.
        answers = {f"{found[1]}.A{found[2]}" for name in given if (found := _QUESTION.match(name))}
        return cls(given | answers, mention)


def read_grounds(given: Iterable[str], reason: str, here: Iterable[str], known: KnownIds, said: str) -> Grounds:
    """The grounds of one finding.

    Args:
        given: the ids it says it rests on.
        reason: its reason, whose ids are checked too.
        here: the ids of what was said about its argument.
        known: all ids of the debate, those of ``here`` among them.
        said: everything that was said in the debate. What looks like an id and was said by a debater, such as the
            name of a product, is no invention of the judge.
    """
    given, here = list(dict.fromkeys(given)), set(here)
    strangers = [name for name in given if name not in known.names]
    mentioned = known.mention.findall(reason) if known.mention else []
    strangers += [name for name in mentioned if name not in known.names and name not in said]
    return Grounds(tuple(name for name in given if name in here), tuple(dict.fromkeys(strangers)))
