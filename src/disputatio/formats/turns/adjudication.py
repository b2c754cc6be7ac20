"""Adjudication: the judge scores every argument, finds fallacies, and gives each argument a standing with its grounds.

The judge also marks how well each answer meets its question, and names two violations that no word list can find: a new
argument after the openings, and an argument that relies on another. It quotes words for each. Code looks for them in
what that speaker said, the owner of the argument or its opponent.

The judge gives integers and sentences. Code computes weighted scores, totals and the gap from the rubric.

Grounds are ids of what was said about an argument:

    PRO-1            the argument itself
    CON on PRO-1     the response to it
    PRO-1.Q1         a question of the response
    PRO-1.A1         the answer to that question
    PRO-1.closing    what its own side finally says of it

A finding that names none of these, or names an id that does not exist in the debate, is asked for again and then void.
It may rest on the argument alone. The computed standing measures separately whether the responses were weighed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.cross_examination import Response
from disputatio.formats.turns.opening import Argument
from disputatio.judging.fallacies import FALLACIES, Fallacy, FoundFallacy, words_are_in
from disputatio.judging.scoring import HIGHEST, LOWEST, Rubric
from disputatio.judging.standing import Mark, Standing
from disputatio.kernel import JsonObject, Part, Task, Violation

OWNER, OPPONENT = "owner", "opponent"
"""Speakers about an argument. Judges who see neutral names can use them too."""


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """How well the answer ``id`` meets its question, with the words that show it; ``quoted`` where they are in the
    answer.
    """

    id: str
    given: Mark
    words: str
    quoted: bool

    @property
    def mark(self) -> Mark:
        """The mark that counts: UNMARKED where the words are not in the answer."""
        return self.given if self.quoted else Mark.UNMARKED

    def text(self) -> str:
        """Return the mark as a reader sees it."""
        doubt = "" if self.quoted else " (the answer does not have these words)"
        return f'{self.id} {self.given.value}: "{self.words}"{doubt}'


class Breach(StrEnum):
    """A rule of the debate whose violation only a reader can find."""

    NEW_ARGUMENT = "new_argument"
    """An argument that its side did not make in its opening (S3 of the protocol)."""
    CROSS_REFERENCE = "cross_reference"
    """An argument that leans on another one of its side (S2 of the protocol)."""


@dataclass(frozen=True, slots=True)
class Irregularity:
    """Words that break a rule. ``place`` is the id of what contains them; ``quoted``: they were said there."""

    breach: Breach
    words: str
    quoted: bool
    place: str

    def text(self) -> str:
        """Return the violation as a reader sees it."""
        doubt = "" if self.quoted else " (these words were not found there)"
        return f'{self.breach.value.replace("_", " ")} in {self.place}: "{self.words}"{doubt}'


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's finding on one argument. ``scores`` are integers 1 to 10, one for each criterion.

    Nothing in it counts where ``grounds`` make it void.
    """

    argument: str
    scores: dict[str, int]
    fallacies: tuple[FoundFallacy, ...]
    standing: Standing
    reason: str
    grounds: Grounds
    answers: tuple[MarkedAnswer, ...] = ()
    irregular: tuple[Irregularity, ...] = ()

    @property
    def void_because(self) -> str:
        """Why it is void; empty where it is not."""
        return self.grounds.void_because


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The judge's whole finding."""

    judgements: tuple[Judgement, ...]
    key_insight: str
    unresolved_questions: tuple[str, ...]
    recommendation: str

    def text(self) -> str:
        """The finding as a reader sees it."""
        lines = []
        for row in self.judgements:
            scores = ", ".join(f"{key} {score}" for key, score in row.scores.items())
            finding = f"{row.standing.value}. {row.reason} ({scores}; rests on {', '.join(row.grounds.named)})"
            lines.append(f"{row.argument}: {f'void, {row.void_because}' if row.void_because else finding}")
            named = [*map(MarkedAnswer.text, row.answers), *map(FoundFallacy.text, row.fallacies)]
            lines += [f"  {text}" for text in (*named, *map(Irregularity.text, row.irregular))]
        lines.append(f"Key insight: {self.key_insight}")
        lines += [f"Unresolved: {question}" for question in self.unresolved_questions]
        return "\n".join([*lines, f"Recommendation: {self.recommendation}"])


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One argument as the judge reads it: the argument, the responses, its defence.

    Attributes:
        argument: as its side stated it.
        drew: the responses to it.
        answers: the answers to the questions about it, by the id of the answer.
        hold: what its side finally says of it; empty without a closing.
        position: the final position of its side, which may contain new arguments too.
        others: the ids of what was said about it; see ``Grounds``.
    """

    argument: Argument
    drew: tuple[Response, ...]
    answers: tuple[tuple[str, str], ...] = ()
    hold: str = ""
    others: tuple[str, ...] = ()
    position: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids a finding may rest on, the argument itself first."""
        return (self.argument.id, *self.others)

    @property
    def objections(self) -> str:
        """What the other side said about it, without ids and questions."""
        return "\n".join(response.reasoning for response in self.drew)

    @property
    def defence(self) -> str:
        """The answers, and what its side finally says of it."""
        lines = [f"Answer to {_question_of(name)}: {text}" for name, text in self.answers]
        return "\n".join([*lines, self.hold] if self.hold else lines)

    @property
    def response(self) -> str:
        """The id of the response to it; empty where there is none."""
        return next((name for name in self.others if " on " in name), "")

    def said_by(self, speaker: str) -> dict[str, str]:
        """Return what ``owner`` or ``opponent`` said about it, by id."""
        if speaker == OPPONENT:
            return {self.response or OPPONENT: "\n".join(row.text() for row in self.drew)}
        own = {self.argument.id: self.argument.text(), **dict(self.answers)}
        if self.hold:
            own[f"{self.argument.id}.closing"] = self.hold
        return {**own, f"{self.argument.id} final position": self.position} if self.position else own

    def text(self) -> str:
        """Return everything said about the argument."""
        return "\n".join((self.argument.text(), *(response.text() for response in self.drew), self.defence))


@dataclass(frozen=True)
class AdjudicationSpec:
    """A finding on each of ``exhibits`` under ``rubric``."""

    exhibits: tuple[Exhibit, ...]
    rubric: Rubric
    name: str = "adjudication"

    @property
    def schema(self) -> JsonObject:
        """Requires every argument with an integer for every criterion. Grounds are ids of its own argument."""
        grounds = [schema.several(schema.one_of(row.ids), 1, _MOST_GROUNDS) for row in self.exhibits]
        return self._schema(grounds)

    @property
    def lenient_schema(self) -> JsonObject:
        """``schema`` with any words as grounds: a judge that cannot name real ones keeps its other findings."""
        return self._schema([schema.several(schema.text(0, 200), 0, 20)] * len(self.exhibits))

    def _schema(self, grounds: list[JsonObject]) -> JsonObject:
        finding = self._finding(reason=60)
        findings = {
            row.argument.id: schema.record(
                {"rests_on": named, **_marks(row), **finding, **_named_words(row, alone=len(self.exhibits) == 1)}
            )
            for row, named in zip(self.exhibits, grounds, strict=True)
        }
        overall = _overall(insight=60, question=25, least=0, most=6)
        return schema.record({"arguments": schema.record(findings), **overall})

    def _finding(self, *, reason: int) -> dict[str, JsonObject]:
        scores = {criterion.key: schema.whole(LOWEST, HIGHEST) for criterion in self.rubric.criteria}
        standing = schema.one_of([standing.value for standing in Standing])
        return {
            "reason": schema.prose(10, reason),
            **scores,
            "standing": standing,
        }

    def read(self, content: JsonObject) -> Adjudication:
        """Return the adjudication; marks each fallacy by whether its words were said."""
        rows = cast("dict[str, dict[str, Any]]", content["arguments"])
        judgements = tuple(self._judgement(exhibit, rows[exhibit.argument.id]) for exhibit in self.exhibits)
        return Adjudication(
            judgements,
            cast("str", content["key_insight"]),
            tuple(cast("list[str]", content["unresolved_questions"])),
            cast("str", content["recommendation"]),
        )

    def _judgement(self, exhibit: Exhibit, row: dict[str, Any]) -> Judgement:
        said = {OWNER: exhibit.said_by(OWNER), OPPONENT: exhibit.said_by(OPPONENT)}
        # Older records have no grounds and no speakers.
        named = row.get("rests_on", exhibit.ids[:1])
        return Judgement(
            argument=exhibit.argument.id,
            scores={criterion.key: int(row[criterion.key]) for criterion in self.rubric.criteria},
            fallacies=tuple(_fallacy(found, said) for found in row["fallacies"]),
            standing=Standing(row["standing"]),
            reason=row["reason"],
            grounds=read_grounds(named, row["reason"], exhibit.ids, self._known_ids, "\n".join(self._texts)),
            answers=_marked(exhibit, row.get("answers", {})),
            irregular=tuple(
                [_irregular(Breach.NEW_ARGUMENT, found, said) for found in row.get("new_arguments", ())]
                + [_irregular(Breach.CROSS_REFERENCE, found, said) for found in row.get("cross_references", ())]
            ),
        )

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """Everything said about each exhibit, cached for all answers of the judge."""
        return tuple(exhibit.text() for exhibit in self.exhibits)

    @cached_property
    def _known_ids(self) -> KnownIds:
        return KnownIds.of(name for exhibit in self.exhibits for name in exhibit.ids)

    def violations(self, turn: Adjudication) -> tuple[Violation, ...]:
        """Findings without real grounds, and quotes that their alleged speaker did not say."""
        void = [
            Violation("ungrounded", f"the finding on {row.argument} is void: {row.void_because}", row.argument)
            for row in turn.judgements
            if row.void_because
        ]
        unfound = [
            Violation("unfound_words", f'{what} quotes "{words}", which was not said there', row.argument)
            for row in turn.judgements
            for what, words in _unfound(row)
        ]
        return (*void, *unfound)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One argument at a time, then the overall finding."""
        if len(done) < len(self.exhibits):
            exhibit = self.exhibits[len(done)]
            argument = f"{exhibit.argument.claim} {exhibit.argument.reasoning}"
            quotes = {
                "argument": argument,
                "responses": exhibit.objections,
                "defence": exhibit.defence,
            }
            words = schema.one_of(_WORDS)
            keys = {
                "verdict": schema.begun_with(_verdicts(exhibit), 20, 320),
                **{criterion.key: words for criterion in self.rubric.criteria},
                "fallacies": _fallacies(12, 1, speakers=()),
                **{f"answer_{place}": schema.one_of(_MARKS) for place, _ in enumerate(exhibit.answers, start=1)},
            }
            task = Task(
                "judging-argument",
                {"target": exhibit.argument.id, "criteria": self._criteria()},
                {key: text for key, text in quotes.items() if text},
            )
            return Part(exhibit.argument.id, schema.record(keys), task, 260, temperature=0.7)
        if len(done) > len(self.exhibits):
            return None
        findings = "\n".join(row.argument.claim for row in self.exhibits)
        overall = schema.record(_overall(insight=30, question=24, least=1, most=1))
        return Part("overall", overall, Task("judging-overall", {}, {"findings": findings}), 320, temperature=0.3)

    def _criteria(self) -> str:
        return "\n".join(f"- {criterion.key}: {criterion.question}" for criterion in self.rubric.criteria)

    def task_values(self) -> dict[str, str]:
        """Return the values of the judge's prompt: the criteria, the fallacies, the argument ids."""
        criteria = "\n".join(f"  {line}" for line in self._criteria().splitlines())
        fallacies = "\n".join(f"  - {fallacy.value}: {about}" for fallacy, about in FALLACIES.items())
        ids = ", ".join(row.argument.id for row in self.exhibits)
        return {"criteria": criteria, "fallacies": fallacies, "arguments": ids, "sides": ""}

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The findings keyed by argument, with the overall finding."""
        *findings, overall = done
        keyed = {
            row.argument.id: self._finding_of(row, content)
            for row, content in zip(self.exhibits, findings, strict=True)
        }
        return {"arguments": keyed, **overall}

    def _finding_of(self, exhibit: Exhibit, part: JsonObject) -> JsonObject:
        """Convert a small judge's finding to the full schema.

        A small judge sees only the argument, as the first speaker, and the response, as the second. The beginning of
        its sentence says on which of the two it rests.
        """
        verdict = cast("str", part["verdict"])
        standing = next(row for beginning, row in _VERDICTS.items() if verdict.startswith(beginning))
        scores = {criterion.key: _WORDS[cast("str", part[criterion.key])] for criterion in self.rubric.criteria}
        both = [exhibit.argument.id, *exhibit.others[:1]]
        # A small judge gives a mark without a quote; the answer is short enough to quote.
        answers = {
            name: {"mark": _MARKS[cast("str", part[f"answer_{place}"])].value, "words": text[:_SHOWN_WORDS]}
            for place, (name, text) in enumerate(exhibit.answers, start=1)
        }
        named = {Standing.UPHELD: both[:1], Standing.REFUTED: both[-1:]}.get(standing, both)
        return {
            "rests_on": named,
            "reason": verdict,
            **scores,
            "standing": standing.value,
            "fallacies": [_with_speaker(found, exhibit) for found in cast("list[dict[str, str]]", part["fallacies"])],
            **({"answers": answers} if answers else {}),
            **{key: [] for key in _named_words(exhibit, alone=len(self.exhibits) == 1) if key != "fallacies"},
        }


# Asked for several numbers, a small model counts up; asked for words, it judges.
_WORDS = {"very weak": 1, "weak": 3, "fair": 5, "good": 7, "strong": 9}
_VERDICTS = {
    "The first speaker is right because": Standing.UPHELD,
    "The second speaker is right because": Standing.REFUTED,
    "The speakers are both partly right because": Standing.PARTIALLY_UPHELD,
    "The speakers leave it open because": Standing.UNCERTAIN,
}

_MARKS = {"meets the question": Mark.MET, "meets a part of it": Mark.PARTLY_MET, "avoids it": Mark.EVADED}
_GIVEN = (Mark.MET, Mark.PARTLY_MET, Mark.EVADED)

_MOST_GROUNDS = 6
_SHOWN_WORDS = 300
"""Characters quoted from an answer."""
_NAMED_WORDS = 15
"""The most words in a quote of a fallacy, a new argument or a cross-reference."""


def _verdicts(exhibit: Exhibit) -> list[str]:
    """Return how a small judge may begin; a second speaker only where there is a response."""
    if exhibit.drew:
        return list(_VERDICTS)
    return [beginning for beginning, row in _VERDICTS.items() if row in {Standing.UPHELD, Standing.UNCERTAIN}]


def _question_of(answer: str) -> str:
    """Return the id of the question of an answer: ``PRO-1.Q2`` for ``PRO-1.A2``."""
    argument, _, number = answer.rpartition(".A")
    return f"{argument}.Q{number}"


def _fallacies(words: int, most: int, *, speakers: Sequence[str]) -> JsonObject:
    keys = {
        "fallacy": schema.one_of([fallacy.value for fallacy in Fallacy]),
        "said_by": schema.one_of(speakers),
        "words": schema.prose(4, words),
    }
    return schema.several(
        schema.record({key: row for key, row in keys.items() if key != "said_by" or speakers}), 0, most
    )


def _marks(exhibit: Exhibit) -> dict[str, JsonObject]:
    """Return the key for a mark of every answer with a quote; nothing where there is no answer."""
    marked = schema.record(
        {"words": schema.text(2, _SHOWN_WORDS), "mark": schema.one_of([row.value for row in _GIVEN])}
    )
    return {"answers": schema.record({name: marked for name, _ in exhibit.answers})} if exhibit.answers else {}


def _named_words(exhibit: Exhibit, *, alone: bool) -> dict[str, JsonObject]:
    """Return the keys for quoted words: fallacies, new arguments and cross-references, where they are possible.

    Args:
        exhibit: the argument.
        alone: whether it is the only one, so that it cannot rely on another.
    """
    speakers = [OWNER, OPPONENT] if exhibit.drew else []
    words = schema.prose(2, _NAMED_WORDS)
    keys = {"fallacies": _fallacies(_NAMED_WORDS, 4, speakers=speakers)}
    if exhibit.drew or exhibit.position:
        new = schema.record({"said_by": schema.one_of(speakers or [OWNER]), "words": words})
        keys["new_arguments"] = schema.several(new, 0, 3)
    return keys if alone else {**keys, "cross_references": schema.several(words, 0, 2)}


def _found_in(words: str, said: Mapping[str, str]) -> str | None:
    """The id of the statement that contains ``words``; None if they were not said."""
    return next((place for place, text in said.items() if words_are_in(words, text)), None)


def _fallacy(found: Mapping[str, str], said: Mapping[str, Mapping[str, str]]) -> FoundFallacy:
    """Read a fallacy and look for its words in its speaker's.

    A small judge and older records name no speaker. Then the speaker of the words is meant, the owner of the argument
    first.
    """
    speaker = found.get("said_by")
    where = [said[speaker]] if speaker else [said[OWNER], said[OPPONENT]]
    place = next(filter(None, (_found_in(found["words"], texts) for texts in where)), None)
    return FoundFallacy(Fallacy(found["fallacy"]), found["words"], place is not None, place or "")


def _with_speaker(found: Mapping[str, str], exhibit: Exhibit) -> JsonObject:
    """Return a small judge's fallacy with the speaker who said its words, the owner first."""
    if not exhibit.drew:
        return dict(found)
    theirs = _found_in(found["words"], exhibit.said_by(OPPONENT)) is not None
    own = _found_in(found["words"], exhibit.said_by(OWNER)) is not None
    return {**found, "said_by": OPPONENT if theirs and not own else OWNER}


def _marked(exhibit: Exhibit, rows: Mapping[str, Mapping[str, str]]) -> tuple[MarkedAnswer, ...]:
    return tuple(
        MarkedAnswer(name, Mark(row["mark"]), row["words"], words_are_in(row["words"], text))
        for name, text in exhibit.answers
        if (row := rows.get(name)) is not None
    )


def _irregular(breach: Breach, found: Mapping[str, str] | str, said: Mapping[str, Mapping[str, str]]) -> Irregularity:
    """Read an irregularity. New arguments are looked for outside the opening, cross-references in it."""
    opening = next(iter(said[OWNER]))
    if isinstance(found, str):
        place = _found_in(found, {opening: said[OWNER][opening]})
        return Irregularity(breach, found, place is not None, place or opening)
    later = {name: text for name, text in said[found["said_by"]].items() if name != opening}
    place = _found_in(found["words"], later)
    return Irregularity(breach, found["words"], place is not None, place or found["said_by"])


def _unfound(row: Judgement) -> Iterator[tuple[str, str]]:
    """What of a finding quotes words that were not said, and the words."""
    for found in row.fallacies:
        if not found.quoted:
            yield f"the {found.fallacy.value.replace('_', ' ')} in {row.argument}", found.words
    for marked in row.answers:
        if not marked.quoted:
            yield f"the mark of {marked.id}", marked.words
    for irregular in row.irregular:
        if not irregular.quoted:
            yield f"the {irregular.breach.value.replace('_', ' ')} in {row.argument}", irregular.words


def _overall(*, insight: int, question: int, least: int, most: int) -> dict[str, JsonObject]:
    return {
        "key_insight": schema.prose(10, insight),
        "unresolved_questions": schema.several(schema.prose(8, question), least, most),
        "recommendation": schema.prose(10, insight),
    }


_QUESTION = re.compile(r"^(.+)\.Q(\d+)$")
_PREFIX = re.compile(r"[^\W\d_]+(?=-\d)")


@dataclass(frozen=True, slots=True)
class Grounds:
    """The ids one finding names.

    Attributes:
        named: the ids it rests on that exist, each once, in the given order.
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
    """The ids of a debate and their pattern, made once for all findings of a judge.

    ``mention`` matches text that looks like the id of an argument, a question or an answer; None where ids have no
    pattern.
    """

    names: frozenset[str]
    mention: re.Pattern[str] | None

    @classmethod
    def of(cls, names: Iterable[str]) -> KnownIds:
        """Return the ids ``names``, and those of the answers to the questions among them."""
        given = frozenset(names)
        prefixes = {found[0] for name in given if (found := _PREFIX.match(name))}
        prefixes |= {name.partition(" on ")[0] for name in given if " on " in name}
        words = "|".join(sorted(map(re.escape, prefixes)))
        mention = re.compile(rf"(?<![\w-])(?:{words})-\d+(?:\.[QA]\d+)?(?![\w-])") if prefixes else None
        # A judge may name an answer to say that it is missing.
        answers = {f"{found[1]}.A{found[2]}" for name in given if (found := _QUESTION.match(name))}
        return cls(given | answers, mention)


def read_grounds(given: Iterable[str], reason: str, here: Iterable[str], known: KnownIds, said: str) -> Grounds:
    """Return the grounds of one finding.

    Args:
        given: the ids it says it rests on.
        reason: its reason, whose ids are checked too.
        here: the ids of what was said about its argument.
        known: all ids of the debate, those of ``here`` among them.
        said: everything that was said in the debate. A debater may have said what looks like an id, such as a product's
            name; then the judge did not invent it.
    """
    given, here = list(dict.fromkeys(given)), set(here)
    strangers = [name for name in given if name not in known.names]
    mentioned = known.mention.findall(reason) if known.mention else []
    strangers += [name for name in mentioned if name not in known.names and name not in said]
    return Grounds(tuple(name for name in given if name in here), tuple(dict.fromkeys(strangers)))
