"""Give the configured critic propositions with a known fatal flaw, and measure its critiques.

A case has three to five arguments. One has the flaw; ``fair`` names sound ones. Code decides whether a criticism names
the flaw (``CriticCase.names_flaw``). Its word lists were written with the case, before any critic was asked. At least
one list has no word of the proposition, so repeating the proposition never names the flaw.

Each case is a review with its own record: the proposition is given, the configured model is the critic, and no other
seat speaks. A weak critique is asked for once more, as in any review. Measures:

    strength     of the critique that counts (``judging.challenge``): the lower of what the critic claims and what code
                 finds. Its mean over the cases should exceed 7.
    catch        whether a criticism that stands names the known flaw
    fair         whether a criticism aims at a sound argument. A critic that attacks nothing else has found nothing.
    softening    phrases that take back what was said (``judging.softening``), over all accepted criticisms

The word lists are short, so a critic may name a flaw in other words and be counted as missing it: the share caught is a
lower bound. Strength says how specific a critique is; catches say whether it is right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from disputatio.config import Settings
from disputatio.engine.opening import Proposal, open_prompts
from disputatio.errors import InvalidInputError
from disputatio.evaluation.experiment import ExperimentResult, Trial
from disputatio.evaluation.input_files import read_json
from disputatio.evaluation.statistics.intervals import Estimate, Rate, mean_estimate, rate
from disputatio.formats.registry import find_format
from disputatio.judging.critic_language import find_softening
from disputatio.kernel import Abstention, Ask, AskPath, JsonObject
from disputatio.motion import Motion, one_line
from disputatio.participants.local_models import EMBEDDED_MODEL
from disputatio.participants.scripted import Scripted
from disputatio.record.history import History
from disputatio.record.text import canonical, digest

SCHEMA = "disputatio/critic-cases"


@dataclass(frozen=True, slots=True)
class CriticCase:
    """A proposition with a known flaw.

    Attributes:
        id: its name.
        task_type: the kind of decision.
        motion: what is proposed.
        proposition: thesis, arguments and objections, as a proposer gives them.
        flawed: the number of the flawed argument, from 1.
        flaw: the flaw in a sentence.
        words: lists of word beginnings; naming the flaw takes one of each list.
        fair: the numbers of the sound arguments.
    """

    id: str
    task_type: str
    motion: str
    proposition: JsonObject
    flawed: int
    flaw: str
    words: tuple[tuple[str, ...], ...]
    fair: tuple[int, ...]

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that decides the check."""
        return digest(canonical([self.motion, self.proposition, self.flawed, self.words, self.fair]))

    def names_flaw(self, target: int | None, text: str) -> bool:
        """Whether a criticism names the flaw.

        It must aim at the flawed argument or the whole proposition (``target`` None) and have a word beginning with an
        entry of each list, in any case.
        """
        if target not in {None, self.flawed}:
            return False
        return all(any(_has(text, word) for word in group) for group in self.words)


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.casefold())}", text.casefold()) is not None


def load_packaged_critic_cases() -> tuple[CriticCase, ...]:
    """Load the packaged cases."""
    text = files("disputatio.evaluation").joinpath("critic_cases.json").read_text("utf-8")
    return _cases(json.loads(text), "critic_cases.json")


def read_critic_cases(path: Path) -> tuple[CriticCase, ...]:
    """Read the cases of a file.

    Raises:
        InvalidInputError: it cannot be read, or a case does not fit; names the case and the key.
    """
    return _cases(read_json(path, "See docs/reference/judge-checks.md."), str(path))


def _cases(body: Any, source: str) -> tuple[CriticCase, ...]:
    rows = body.get("cases") if isinstance(body, Mapping) and body.get("schema") == SCHEMA else None
    if not isinstance(rows, list) or not rows:
        raise InvalidInputError(
            f"{source} contains no cases.", f'It is an object with "schema": "{SCHEMA}" and "cases".'
        )
    found = tuple(_case(row, number, source) for number, row in enumerate(rows, start=1))
    names = [row.id for row in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"{source} has two cases called {twice!r}.", "Give each a name of its own.")
    return found


def _case(row: Any, number: int, source: str) -> CriticCase:
    try:
        arguments = [{key: str(each[key]) for key in ("claim", "reasoning", "evidence")} for each in row["arguments"]]
        met = [{key: str(each[key]) for key in ("objection", "answer")} for each in row["objections"]]
        flaw = row["flaw"]
        case = CriticCase(
            str(row["id"]),
            str(row["task_type"]),
            str(row["motion"]),
            {"thesis": str(row["thesis"]), "arguments": arguments, "objections": met},
            int(flaw["argument"]),
            str(flaw["what"]),
            tuple(tuple(map(str, group)) for group in flaw["words"]),
            tuple(map(int, row["fair"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"Case {number} of {source} does not fit: {one_line(str(error), 80)}.",
            "It has id, task_type, motion, thesis, arguments, objections, flaw (argument, what, words) and fair.",
        ) from None
    _check(case, len(arguments), source)
    return case


def _check(case: CriticCase, arguments: int, source: str) -> None:
    numbers: Sequence[int] = (case.flawed, *case.fair)
    wrong = ""
    if not 3 <= arguments <= 5:
        wrong = f"it has {arguments} arguments, and a proposition has 3 to 5"
    elif any(not 1 <= number <= arguments for number in numbers) or case.flawed in case.fair:
        wrong = "flaw.argument and fair name missing arguments, or the same one"
    elif not case.words or not all(case.words):
        wrong = "flaw.words has no words"
    if wrong:
        raise InvalidInputError(f"The case {case.id!r} of {source} cannot be used: {wrong}.", "Correct the file.")


JSON_VERSION = 1
WANTED = 7.0
"""The mean strength that the review pattern requires of a critic."""
FEWEST = 20


def make_critic_trials(cases: Sequence[CriticCase], settings: Settings, prompts: Path | None = None) -> list[Trial]:
    """Make one review for each case, in which only the critic is a model."""
    form = find_format("review")
    return [
        Trial(
            case.id,
            Proposal(
                Motion(case.motion, settings.language),
                form,
                replace(settings, format=settings.format.model_copy(update={"rounds": 1})),
                (),
                {seat: _silent(seat) for seat in ("framer", "rebutter", "moderator")} | {"proposer": _proposer(case)},
                prompts,
            ),
        )
        for case in cases
    ]


def _proposer(case: CriticCase) -> Scripted:
    def said(_ask: Ask, _path: AskPath, _reasons: tuple[str, ...]) -> JsonObject:
        return case.proposition

    return Scripted(said, f"case {case.id} {case.digest[:12]}")


def _silent(seat: str) -> Scripted:
    def said(ask: Ask, _path: AskPath, _reasons: tuple[str, ...]) -> Abstention:
        return Abstention(ask.seat, "not_asked", "only the critic is checked")

    return Scripted(said, f"no {seat}")


@dataclass(frozen=True, slots=True)
class CriticReading:
    """What the critic did with one case.

    Attributes:
        key: the case.
        strength: the strength that counts; 0 without a critique.
        claimed: the strength the critic claims.
        first: the strength before it was asked again; None if it was not.
        caught: whether it names the flaw.
        criticisms: how many stand.
        at_fair: how many of them aim at a sound argument.
        softening: softening phrases.
        failure: why there is no critique; empty if there is one.
    """

    key: str
    strength: int = 0
    claimed: int = 0
    first: int | None = None
    caught: bool = False
    criticisms: int = 0
    at_fair: int = 0
    softening: tuple[str, ...] = ()
    failure: str = ""


def read_critique(case: CriticCase, history: History | None) -> CriticReading:
    """Read the critique from the record of a case."""
    if history is None or history.closed is None:
        return CriticReading(case.id, failure="not held")
    outcome: Mapping[str, Any] = history.closed.outcome
    held = [row for each in outcome.get("rounds") or () for row in each["contests"]]
    criticism = held[0]["criticism"] if held else None
    if criticism is None:
        silent = [row for path, row in history.answered.items() if path.startswith("critique")]
        reason = str(getattr(silent[0], "reason", "")) if silent else ""
        return CriticReading(case.id, failure=reason or "no critique")
    rows = [row for row in criticism["arguments"] if not row["struck"]]
    texts = [(_number(row["target"]), f"{row['claim']} {row['reasoning']}") for row in rows]
    first = criticism["first_challenge"]
    return CriticReading(
        case.id,
        int(criticism["challenge"]["strength"]),
        int(criticism["challenge"]["claimed"]),
        None if first is None else int(first["strength"]),
        any(case.names_flaw(target, text) for target, text in texts),
        len(rows),
        sum(target in case.fair for target, _ in texts),
        tuple(words for _, text in texts for words in find_softening(text)),
    )


def _number(target: str) -> int | None:
    """The number of an argument; None for the whole proposition."""
    last = target.rpartition("-")[2]
    return int(last) if last.isdigit() else None


@dataclass(frozen=True, slots=True)
class CriticReport:
    """The report of ``check-critic``. ``prompts`` are the hashes of the critic's prompt files."""

    critic: str
    small: bool
    cases: tuple[CriticCase, ...]
    readings: tuple[CriticReading, ...]
    strength: Estimate
    claimed: Estimate
    caught: Rate
    asked_again: Rate
    only_fair: Rate
    softened: Rate
    prompts: Mapping[str, str] = field(repr=False)
    result: ExperimentResult = field(repr=False)

    @property
    def criticised(self) -> tuple[CriticReading, ...]:
        """The cases with a critique."""
        return tuple(row for row in self.readings if not row.failure)

    @property
    def failures(self) -> dict[str, int]:
        """How often each reason for a missing critique came."""
        found: dict[str, int] = {}
        for row in self.readings:
            if row.failure:
                found[row.failure] = found.get(row.failure, 0) + 1
        return found

    @property
    def good_enough(self) -> bool:
        """Whether the mean strength exceeds the target and at least one known flaw was named.

        A critique can be specific and find nothing, so strength alone does not pass.
        """
        return self.strength.value is not None and self.strength.value > WANTED and self.caught.count > 0

    def as_json(self) -> JsonObject:
        """The stable JSON form, version ``JSON_VERSION``."""
        return {
            "schema": "disputatio/critic-check",
            "version": JSON_VERSION,
            "critic": self.critic,
            "wanted_above": WANTED,
            "good_enough": self.good_enough,
            "cases": {case.id: case.digest for case in self.cases},
            "prompts": dict(self.prompts),
            "critiques": len(self.criticised),
            "failures": dict(self.failures),
            "strength": self.strength.as_json(),
            "claimed": self.claimed.as_json(),
            "caught": self.caught.as_json(),
            "asked_again": self.asked_again.as_json(),
            "attacked_fair_points_only": self.only_fair.as_json(),
            "softened": self.softened.as_json(),
            "by_case": {
                row.key: {
                    "strength": row.strength or None,
                    "claimed": row.claimed or None,
                    "first_strength": row.first,
                    "caught": row.caught if not row.failure else None,
                    "criticisms": row.criticisms,
                    "at_fair_points": row.at_fair,
                    "softening": list(row.softening),
                    "failure": row.failure,
                }
                for row in self.readings
            },
            **self.result.as_json(),
        }


def make_critic_report(
    cases: Sequence[CriticCase], settings: Settings, result: ExperimentResult, prompts: Path | None = None
) -> CriticReport:
    """Compute the report of an experiment. Cases that did not run stay in the counts."""
    histories = {row.key: row.history for row in result.finished}
    readings = tuple(read_critique(case, histories.get(case.id)) for case in cases)
    criticised = [row for row in readings if not row.failure]
    critic = settings.seats["critic"]
    return CriticReport(
        critic.address,
        critic.provider == "embedded" and critic.model == EMBEDDED_MODEL,
        tuple(cases),
        readings,
        mean_estimate([float(row.strength) for row in criticised]),
        mean_estimate([float(row.claimed) for row in criticised]),
        rate(sum(row.caught for row in criticised), len(criticised)),
        rate(sum(row.first is not None for row in criticised), len(criticised)),
        rate(sum(bool(row.criticisms) and row.at_fair == row.criticisms for row in criticised), len(criticised)),
        rate(sum(bool(row.softening) for row in criticised), len(criticised)),
        open_prompts(prompts).hashes("review", small=critic.piecewise),
        result,
    )


def report_lines(report: CriticReport) -> list[str]:
    """Render the report as text."""
    failed = "".join(f", {count} {reason.replace('_', ' ')}" for reason, count in report.failures.items())
    lines = [
        f"The critic {report.critic} on {len(report.cases)} propositions with a known flaw",
        f"{len(report.criticised)} of {len(report.cases)} criticised{failed}",
        "",
        f"Strength that counts   {report.strength.text()}  (mean, 95 % interval; wanted above {WANTED:g})",
        f"Strength claimed       {report.claimed.text()}",
        f"Flaw named             {report.caught.text()}  (a lower bound: other words do not count)",
        f"Asked again as weak    {report.asked_again.text()}",
        f"Only fair points hit   {report.only_fair.text()}",
        f"Softened itself        {report.softened.text()}",
        "",
    ]
    lines += [f"  {row.key:20} {_case_words(row)}" for row in report.readings]
    lines.append("")
    if report.strength.value is None:
        lines.append("There is no critique to judge by.")
    else:
        word = "above" if report.strength.value > WANTED else "not above"
        lines.append(f"The mean strength is {word} {WANTED:g}.")
        if not report.caught.count:
            lines.append("Not one known flaw was named: strength alone does not pass.")
    if len(report.criticised) < FEWEST:
        lines.append(f"This rests on {len(report.criticised)} critiques; the pattern asks for at least {FEWEST}.")
    if report.small:
        lines.append(
            "The embedded model of 135 million parameters is asked piece by piece, and code chooses what it attacks "
            "and how. Its strength is that of the code; look at the flaws it names."
        )
    return lines + report.result.lines()


def _case_words(row: CriticReading) -> str:
    if row.failure:
        return f"no critique: {row.failure.replace('_', ' ')}"
    again = f", {row.first} at first" if row.first is not None else ""
    return f"strength {row.strength}{again}, flaw {'named' if row.caught else 'not named'}"
