"""Adjudication: the judge scores every argument, finds fallacies, says how each argument stands, and on what it rests.

The judge gives integers and sentences. Weighted scores, totals and the gap are computed by code from the
rubric; the judge is never asked for a sum. A finding that names nothing real is asked again, and then void.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.cross_examination import Response
from disputatio.formats.turns.grounds import Grounds, KnownIds, read_grounds
from disputatio.formats.turns.opening import Argument
from disputatio.judging import FALLACIES, Fallacy, FoundFallacy, Rubric, Standing, words_are_in
from disputatio.judging.rubric import HIGHEST, LOWEST
from disputatio.kernel import JsonObject, Part, Task, Violation


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's finding on one argument. ``scores`` are integers 1 to 10, one for each criterion.

    Where ``grounds`` make it void, nothing in it counts.
    """

    argument: str
    scores: dict[str, int]
    fallacies: tuple[FoundFallacy, ...]
    standing: Standing
    reason: str
    grounds: Grounds

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
            lines += [f"  {fallacy.text()}" for fallacy in row.fallacies]
        lines.append(f"Key insight: {self.key_insight}")
        lines += [f"Unresolved: {question}" for question in self.unresolved_questions]
        return "\n".join([*lines, f"Recommendation: {self.recommendation}"])


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One argument as it lies before the judge: itself, what it drew, and how it was defended.

    ``others`` are the ids of what was said about it; see ``grounds``.
    """

    argument: Argument
    drew: tuple[Response, ...]
    defence: str
    others: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """What a finding on it may rest on, the argument itself first."""
        return (self.argument.id, *self.others)

    @property
    def objections(self) -> str:
        """What the other side said about it, without ids and questions."""
        return "\n".join(response.reasoning for response in self.drew)

    def text(self) -> str:
        """Everything said about the argument, where the words of a fallacy must be found."""
        return "\n".join((self.argument.text(), *(response.text() for response in self.drew), self.defence))


@dataclass(frozen=True)
class AdjudicationForm:
    """A finding on each of ``exhibits`` under ``rubric``."""

    exhibits: tuple[Exhibit, ...]
    rubric: Rubric
    name: str = "adjudication"

    @property
    def schema(self) -> JsonObject:
        """A required key for every argument, with a required integer for every criterion.

        What a finding rests on is chosen from the ids that exist for its argument.
        """
        grounds = [schema.several(schema.one_of(row.ids), 1, _MOST_GROUNDS) for row in self.exhibits]
        return self._schema(grounds)

    @property
    def lenient_schema(self) -> JsonObject:
        """The same with any words as grounds: a judge that cannot name real ones keeps its other findings."""
        return self._schema([schema.several(schema.text(0, 200), 0, 20)] * len(self.exhibits))

    def _schema(self, grounds: list[JsonObject]) -> JsonObject:
        finding, fallacies = self._finding(reason=800), _fallacies(600, 4)
        findings = {
            row.argument.id: schema.record({"rests_on": named, **finding, "fallacies": fallacies})
            for row, named in zip(self.exhibits, grounds, strict=True)
        }
        overall = _overall(insight=1200, question=500, least=0, most=6)
        return schema.record({"arguments": schema.record(findings), **overall})

    def _finding(self, *, reason: int) -> dict[str, JsonObject]:
        scores = {criterion.key: schema.whole(LOWEST, HIGHEST) for criterion in self.rubric.criteria}
        standing = schema.one_of([standing.value for standing in Standing])
        return {
            "reason": schema.text(10, reason),
            **scores,
            "standing": standing,
        }

    def read(self, content: JsonObject) -> Adjudication:
        """The finding, each fallacy marked by whether its words were said."""
        rows = cast("dict[str, dict[str, Any]]", content["arguments"])
        judgements = []
        criteria = [criterion.key for criterion in self.rubric.criteria]
        said = "\n".join(self._texts)
        for exhibit, text in zip(self.exhibits, self._texts, strict=True):
            row = rows[exhibit.argument.id]
            fallacies = tuple(
                FoundFallacy(Fallacy(found["fallacy"]), found["words"], words_are_in(found["words"], text))
                for found in row["fallacies"]
            )
            scores = {key: int(row[key]) for key in criteria}
            # A record from before findings named their grounds has none to check.
            named = row.get("rests_on", exhibit.ids[:1])
            grounds = read_grounds(named, row["reason"], exhibit.ids, self._known_ids, said)
            judgements.append(
                Judgement(exhibit.argument.id, scores, fallacies, Standing(row["standing"]), row["reason"], grounds)
            )
        return Adjudication(
            tuple(judgements),
            cast("str", content["key_insight"]),
            tuple(cast("list[str]", content["unresolved_questions"])),
            cast("str", content["recommendation"]),
        )

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """Everything said about each exhibit, made once for all answers of the judge."""
        return tuple(exhibit.text() for exhibit in self.exhibits)

    @cached_property
    def _known_ids(self) -> KnownIds:
        return KnownIds.of(name for exhibit in self.exhibits for name in exhibit.ids)

    def breaches(self, turn: Adjudication) -> tuple[Violation, ...]:
        """Findings that rest on nothing real, and fallacies whose words nobody said."""
        void = tuple(
            Violation("ungrounded", f"the finding on {row.argument} is void: {row.void_because}", row.argument)
            for row in turn.judgements
            if row.void_because
        )
        return void + tuple(
            Violation(
                "unfound_words",
                f'the {found.fallacy.value.replace("_", " ")} in {row.argument} quotes "{found.words}", '
                "which was not said there",
                row.argument,
            )
            for row in turn.judgements
            for found in row.fallacies
            if not found.quoted
        )

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
                "fallacies": _fallacies(120, 1),
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
        overall = schema.record(_overall(insight=300, question=240, least=1, most=1))
        return Part("overall", overall, Task("judging-overall", {}, {"findings": findings}), 320, temperature=0.3)

    def _criteria(self) -> str:
        return "\n".join(f"- {criterion.key}: {criterion.question}" for criterion in self.rubric.criteria)

    def task_values(self) -> dict[str, str]:
        """What the judge's prompt is filled with: the criteria, the fallacies and the argument ids."""
        fallacies = "\n".join(f"- {fallacy.value}: {about}" for fallacy, about in FALLACIES.items())
        ids = ", ".join(row.argument.id for row in self.exhibits)
        return {"criteria": self._criteria(), "fallacies": fallacies, "arguments": ids, "sides": ""}

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The findings keyed by argument, with the overall finding."""
        *findings, overall = done
        keyed = {
            row.argument.id: self._finding_of(row, content)
            for row, content in zip(self.exhibits, findings, strict=True)
        }
        return {"arguments": keyed, **overall}

    def _finding_of(self, exhibit: Exhibit, part: JsonObject) -> JsonObject:
        """A finding in the words of a small judge, as the form has it.

        A small judge is shown the argument as the first speaker and the response as the second, and nothing else. How
        its sentence begins says on which of the two it rests.
        """
        verdict = cast("str", part["verdict"])
        standing = next(row for beginning, row in _VERDICTS.items() if verdict.startswith(beginning))
        scores = {criterion.key: _WORDS[cast("str", part[criterion.key])] for criterion in self.rubric.criteria}
        both = [exhibit.argument.id, *exhibit.others[:1]]
        named = {Standing.UPHELD: both[:1], Standing.REFUTED: both[-1:]}.get(standing, both)
        return {
            "rests_on": named,
            "reason": verdict,
            **scores,
            "standing": standing.value,
            "fallacies": part["fallacies"],
        }


# Asked for numbers one after the other, a small model counts; asked for words, it judges, if badly.
_WORDS = {"very weak": 1, "weak": 3, "fair": 5, "good": 7, "strong": 9}
_VERDICTS = {
    "The first speaker is right because": Standing.UPHELD,
    "The second speaker is right because": Standing.REFUTED,
    "The speakers are both partly right because": Standing.PARTIALLY_UPHELD,
    "The speakers leave it open because": Standing.UNCERTAIN,
}

_MOST_GROUNDS = 6


def _verdicts(exhibit: Exhibit) -> list[str]:
    """How a small judge may begin; of a second speaker only where one was heard."""
    if exhibit.drew:
        return list(_VERDICTS)
    return [beginning for beginning, row in _VERDICTS.items() if row in {Standing.UPHELD, Standing.UNCERTAIN}]


def _fallacies(words: int, most: int) -> JsonObject:
    found = schema.record(
        {
            "fallacy": schema.one_of([fallacy.value for fallacy in Fallacy]),
            "words": schema.text(4, words),
        }
    )
    return schema.several(found, 0, most)


def _overall(*, insight: int, question: int, least: int, most: int) -> dict[str, JsonObject]:
    return {
        "key_insight": schema.text(10, insight),
        "unresolved_questions": schema.several(schema.text(8, question), least, most),
        "recommendation": schema.text(10, insight),
    }
