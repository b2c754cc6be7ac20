"""Variants of a case: one injected flaw, the sides swapped, or padded with empty sentences.

A seed alone decides what is injected where. An injected flaw changes one passage of one argument, so any other finding
of the judge is about that passage.

    each fallacy        a sentence that commits it, at the end of the argument's reasoning
    fabricated_figure   a sentence attributing to a source a percentage that is in no source
    misquoted_source    a quotation turned into its opposite by one word or one figure
    dropped_response    an evasive answer to the question about the argument
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.evaluation.cases import SIDES, CaseDebate
from disputatio.judging.fallacies import Fallacy

FABRICATED, MISQUOTED, DROPPED = "fabricated_figure", "misquoted_source", "dropped_response"
FLAWS = (FABRICATED, MISQUOTED, *(fallacy.value for fallacy in Fallacy), DROPPED)


class Variant(StrEnum):
    """The kinds of variants without a flaw."""

    CLEAN = "clean"
    AGAIN = "again"
    SWAPPED = "swapped"
    PADDED = "padded"


@dataclass(frozen=True, slots=True)
class InjectedFlaw:
    """A flaw, where it is, and the words that a judge who noticed it would repeat."""

    kind: str
    argument: str
    words: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class CaseVariant:
    """One debate to be judged. ``flaw`` is its flaw; ``padded_side`` is the side whose arguments were padded."""

    case: CaseDebate
    kind: str
    debate: CaseDebate
    flaw: InjectedFlaw | None = None
    padded_side: str = ""

    @property
    def key(self) -> str:
        """Its name within an experiment."""
        return f"{self.case.id}/{self.kind}"


def keep_unchanged(case: CaseDebate, kind: Variant = Variant.CLEAN) -> CaseVariant:
    """Return the debate unchanged; ``AGAIN`` marks a second judging."""
    return CaseVariant(case, kind.value, case)


def swap_sides(case: CaseDebate) -> CaseVariant:
    """Return the same debate on the contrary motion, with the sides swapped."""
    body = {**case.body, "motion": case.body["counter_motion"], "counter_motion": case.body["motion"]}
    return CaseVariant(
        case, Variant.SWAPPED.value, CaseDebate(case.id, {**body, "pro": case.body["con"], "con": case.body["pro"]})
    )


def pad_side(case: CaseDebate, seed: int) -> CaseVariant:
    """Add three empty sentences to each argument of one side."""
    chance = _chance(seed, case, Variant.PADDED.value)
    side, body = chance.choice(SIDES), copy.deepcopy(dict(case.body))
    for row in body[side]["arguments"]:
        row["reasoning"] = " ".join([row["reasoning"], *chance.sample(_EMPTY, 3)])
    return CaseVariant(case, Variant.PADDED.value, CaseDebate(case.id, body), padded_side=side)


def inject_flaw(case: CaseDebate, kind: str, seed: int) -> CaseVariant | None:
    """Inject a flaw of ``kind``; None if the case has no place for it (no quotation, no source).

    Raises:
        InvalidInputError: there is no such flaw.
    """
    if kind not in FLAWS:
        raise InvalidInputError(f"There is no flaw called {kind!r}.", f"Flaws are: {', '.join(FLAWS)}.")
    chance, body = _chance(seed, case, kind), copy.deepcopy(dict(case.body))
    if kind == MISQUOTED:
        planted = _misquote(body, chance)
    elif kind == FABRICATED:
        planted = _fabricate(body, chance)
    elif kind == DROPPED:
        planted = _drop(body, chance)
    else:
        planted = _commit(body, Fallacy(kind), chance)
    return None if planted is None else CaseVariant(case, kind, CaseDebate(case.id, body), planted)


def _chance(seed: int, case: CaseDebate, kind: str) -> random.Random:
    return random.Random(f"{seed} {case.id} {kind}")  # noqa: S311  (reproducible by its seed)


def _somewhere(body: Mapping[str, Any], chance: random.Random) -> tuple[str, int]:
    side = chance.choice(SIDES)
    return side, chance.randrange(len(body[side]["arguments"]))


def _commit(body: Mapping[str, Any], fallacy: Fallacy, chance: random.Random) -> InjectedFlaw:
    side, place = _somewhere(body, chance)
    sentence = chance.choice(_SENTENCES[fallacy][side]).format(change=body["change"], subject=body["subject"])
    sentence = sentence[0].upper() + sentence[1:]
    row = body[side]["arguments"][place]
    row["reasoning"] = f"{row['reasoning']} {sentence}"
    return InjectedFlaw(fallacy.value, f"{side.upper()}-{place + 1}", sentence)


def _fabricate(body: Mapping[str, Any], chance: random.Random) -> InjectedFlaw | None:
    if not body["sources"]:
        return None
    side, place = _somewhere(body, chance)
    known = set(re.findall(r"\d+", str(body)))
    figure = chance.choice([number for number in range(53, 98) if str(number) not in known])
    title = chance.choice(body["sources"])["title"]
    sentence = f'"{title}" puts the share of those for whom this was decisive at {figure} percent.'
    row = body[side]["arguments"][place]
    row["evidence"] = f"{row['evidence']} {sentence}"
    return InjectedFlaw(FABRICATED, f"{side.upper()}-{place + 1}", sentence, str(figure))


def find_quotations(body: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    """Find every quoted passage of the evidence that stands in a source: side, place of the argument, words."""
    texts = [source["text"] for source in body["sources"]]
    return [
        (side, place, words)
        for side in SIDES
        for place, row in enumerate(body[side]["arguments"])
        for words in re.findall(r'"([^"]+)"', row["evidence"])
        if any(words in text for text in texts)
    ]


def _misquote(body: Mapping[str, Any], chance: random.Random) -> InjectedFlaw | None:
    changed = [(*row, found) for row in find_quotations(body) if (found := _contrary(row[2]))]
    if not changed:
        return None
    side, place, words, (contrary, mark) = chance.choice(changed)
    row = body[side]["arguments"][place]
    row["evidence"] = row["evidence"].replace(f'"{words}"', f'"{contrary}"')
    return InjectedFlaw(MISQUOTED, f"{side.upper()}-{place + 1}", contrary, mark)


def _contrary(words: str) -> tuple[str, str] | None:
    """Replace the first word of the table in a quotation, else its first figure; return the new text and that word."""
    for found in re.finditer(r"[A-Za-z]+", words):
        other = _CONTRARIES.get(found.group())
        if other:
            return words[: found.start()] + other + words[found.end() :], _around(words, found.span(), other)
    figure = re.search(r"\d+", words)
    if figure is None:
        return None
    number = int(figure.group())
    other = str(number // 2 + 1 if number > 4 else number * 2 + 1)
    return words[: figure.start()] + other + words[figure.end() :], _around(words, figure.span(), other)


def _around(words: str, place: tuple[int, int], other: str) -> str:
    """The changed word with its neighbours, since the word alone is too common to recognise."""
    before, after = words[: place[0]].split(), words[place[1] :].split()
    return " ".join([*before[-1:], other, *after[:1]])


def _drop(body: Mapping[str, Any], chance: random.Random) -> InjectedFlaw:
    side, place = _somewhere(body, chance)
    row = body[side]["defences"][place]
    row.update(answer=chance.choice(_EVASIONS), status="stands", because="It stands as it was put.")
    return InjectedFlaw(DROPPED, f"{side.upper()}-{place + 1}", row["answer"])


_EVASIONS = (
    "That question leads away from the matter.",
    "There is a time for questions of this kind, and it is another one.",
    "Many questions can be asked, and we thank the other side for this one.",
)
_CONTRARIES = {
    "most": "few",
    "Most": "Few",
    "fell": "rose",
    "rose": "fell",
    "fewer": "more",
    "more": "less",
    "less": "more",
    "higher": "lower",
    "lower": "higher",
    "above": "below",
    "below": "above",
    "earlier": "later",
    "later": "earlier",
    "longer": "shorter",
    "shorter": "longer",
    "harder": "easier",
    "easier": "harder",
    "lost": "gained",
    "without": "despite",
    "needs": "saves",
    "all": "no",
    "All": "None of the",
}
_EMPTY = (
    "It is worth dwelling on this, because it is a point that deserves to be dwelt on at some length by everyone.",
    "There is a great deal that could be said here, and a great deal of it has been said elsewhere by others.",
    "Seen as a whole, and taking everything together as one should, the matter has to be seen as a whole.",
    "In this as in so many things, one consideration leads to the next, and that is how considerations are.",
    "Whoever thinks about it will think about it in one way or another, and that in itself gives something to think.",
)
_S = Fallacy
_SENTENCES: Mapping[Fallacy, Mapping[str, tuple[str, ...]]] = {
    _S.STRAW_MAN: {
        "pro": (
            "those who speak against {change} are saying that nothing may ever change again, and that is absurd.",
            "the other side holds that {subject} would ruin the whole country, which nobody can believe.",
        ),
        "con": (
            "those who want {change} are saying that everything else should be given up for it, and that is absurd.",
            "the other side holds that {subject} would solve every problem there is, which nobody can believe.",
        ),
    },
    _S.APPEAL_TO_AUTHORITY: {
        "pro": (
            "a world-famous singer has come out for {change}, and that alone shows that it is right.",
            "the best-loved actor of our time is for {change}, so there is no need to look further.",
        ),
        "con": (
            "a world-famous singer has come out against {change}, and that alone shows that it is wrong.",
            "the best-loved actor of our time is against {change}, so there is no need to look further.",
        ),
    },
    _S.SLIPPERY_SLOPE: {
        "pro": (
            "if {change} is refused today, the next good idea will be refused too, then all others, for ever.",
            "once {change} is put off, all else will be put off as well, and in the end everything will stand still.",
        ),
        "con": (
            "once {change} is allowed, the next demand will follow, then another, until nothing we know is left.",
            "give way on {subject} and there is no stopping: step by step everything will be taken from us.",
        ),
    },
    _S.FALSE_DILEMMA: {
        "pro": (
            "either {change} begins at once or everything is lost; there is no third way.",
            "one is for {change} or one does not care at all, and nothing lies between.",
        ),
        "con": (
            "either {change} is stopped for ever or we lose all control; there is no third way.",
            "one is against {change} or one does not care at all, and nothing lies between.",
        ),
    },
    _S.ANECDOTAL_EVIDENCE: {
        "pro": (
            "a cousin of mine saw something of the kind once and was delighted, which proves that {change} works.",
            "I spoke to one man at a bus stop who was all for {change}, so it is plain what people want.",
        ),
        "con": (
            "a cousin of mine saw something of the kind once and was appalled, which proves that {change} fails.",
            "I spoke to one man at a bus stop who was against {change}, so it is plain what people want.",
        ),
    },
    _S.CIRCULAR_REASONING: {
        "pro": (
            "{change} is right because it is the right thing to do.",
            "that {change} is worth it follows from the fact that it is worth it.",
        ),
        "con": (
            "{change} is wrong because it is the wrong thing to do.",
            "that {change} is not worth it follows from the fact that it is not worth it.",
        ),
    },
    _S.AD_HOMINEM: {
        "pro": (
            "those who speak against {change} are idle people who never did a day's work, so they need no answer.",
            "whoever argues against {change} is a coward, and a coward's reasons are worth nothing.",
        ),
        "con": (
            "those who want {change} are vain people who never did a day's work, so they need no answer.",
            "whoever argues for {change} is a dreamer and a fool, and a fool's reasons are worth nothing.",
        ),
    },
}
