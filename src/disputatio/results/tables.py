"""The tables of debates: their columns, declared once, and the rows that a result gives each of them.

Data frames, exported files and the reference of the columns are all made from here. A value that is missing is None in
every table: an unreported number is never 0, and a missing text is never empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, TypeAlias, get_args

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import quote
from disputatio.motion import clean, count_words
from disputatio.results.result import Result
from disputatio.results.values import Argument, Call, Citation, Score, Turn, Vote

TableName: TypeAlias = Literal["debates", "turns", "arguments", "scores", "votes", "citations", "doubts", "calls"]
TABLE_NAMES: Final[tuple[TableName, ...]] = get_args(TableName)


class ColumnType(StrEnum):
    """What a column holds."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``about`` says what it holds, and when it is missing."""

    name: str
    type: ColumnType
    about: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is, its columns, and the rows of a result in their order."""

    name: TableName
    row: str
    columns: tuple[Column, ...]
    values: Callable[[Result], Iterable[tuple[Any, ...]]]

    def rows(self, result: Result) -> Iterator[tuple[Any, ...]]:
        """The rows of ``result``, each with a value for every column; the first is the id of the debate."""
        for row in self.values(result):
            yield tuple(map(_plain, (result.report.id, *row)))


def table_called(name: str) -> Table:
    """The table of this name.

    Raises:
        InvalidInputError: there is none.
    """
    found = TABLES.get(name)
    if found is None:
        raise InvalidInputError(f"There is no table called {quote(name)}.", f"Tables are: {', '.join(TABLE_NAMES)}.")
    return found


def _plain(value: Any) -> Any:
    """``value`` as a table holds it: texts without control characters, and nothing for a text that is empty."""
    if isinstance(value, str):
        return clean(str(value)) or None
    return value


_T, _I, _N, _F = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.FLAG


def _columns(*rows: tuple[str, ColumnType, str]) -> tuple[Column, ...]:
    return tuple(Column(*row) for row in (("debate", _T, "id of the debate"), *rows))


_DEBATES = _columns(
    ("opened_at", ColumnType.TIME, "when it was opened, UTC"),
    ("format", _T, "`structured`, `freeform`, `panel`, `review`, `competition`, `market` or another"),
    ("motion", _T, "the question or proposition"),
    ("language", _T, "its language"),
    ("status", _T, "`COMPLETE`, `DEGRADED`, `DEBATE_TRUNCATED`, `FAILED`, `INTERRUPTED`, `RUNNING` or `IMPORTED`"),
    ("decided", _F, "whether there is a decision"),
    ("decision_kind", _T, "what `decision` is: `Recommendation`, `Decision`, `Result`, `Answer`, `Stated result`"),
    ("decision", _T, "the decision in words; missing where there is none"),
    ("no_decision", _T, "why there is none; missing where there is one"),
    ("worst_doubt_kind", _T, "the kind of the worst doubt, as in [worst doubt](worst-doubt.md)"),
    ("worst_doubt", _T, "the worst doubt in a sentence"),
    ("calls", _I, "calls to models, failed and lost ones included; missing for an imported debate, as below"),
    ("failed_calls", _I, "those that brought a fault"),
    ("lost_calls", _I, "those under way when the process died"),
    ("input_tokens", _I, "those that were reported; missing where none were"),
    ("output_tokens", _I, "the same of the output, reasoning included"),
    ("cached_tokens", _I, "the part of the input that came from a cache; missing where no call reported it"),
    ("reasoning_tokens", _I, "the part of the output that was reasoning; missing where no call reported it"),
    ("tokens_complete", _F, "whether every call that answered reported its tokens; else the sums are lower bounds"),
    ("usd", _N, "known cost in US dollars; missing where no price is known"),
    ("usd_complete", _F, "whether the cost of every call is known; else `usd` is a lower bound"),
    ("seconds", _N, "time it took, pauses apart"),
    ("software", _T, "the program that wrote the record"),
    ("events", _I, "events in the record"),
    ("head", _T, "the last hash of the record's chain"),
)
_TURNS = _columns(
    ("number", _I, "place in the debate, from 1"),
    ("path", _T, "name of the turn in the record"),
    ("seat", _T, "who was asked"),
    ("phase", _T, "phase of the debate"),
    ("form", _T, "kind of turn, such as `opening`"),
    ("state", _T, "`taken`, `abstained` or `open` (asked, and the record has no more)"),
    ("text", _T, "what was said, a statement on each line; missing where no turn came"),
    ("words", _I, "words in `text`, with the ids and words of the rules in it; missing where no turn came"),
    ("asked", _I, "how often the seat was asked; 0 where nobody here asked"),
    ("rejected", _I, "answers that were not accepted"),
    ("violations", _I, "rules that the accepted turn breaks"),
    ("citations", _I, "citations in it"),
    ("repaired", _F, "whether its JSON had to be mended"),
    ("reason", _T, "why there is no turn, in a word of the record"),
    ("detail", _T, "the same in a sentence"),
)
_ARGUMENTS = _columns(
    ("argument", _T, "id such as `PRO-1`"),
    ("seat", _T, "who made it"),
    ("side", _T, "the side it speaks for"),
    ("turn", _T, "path of the turn it was made in"),
    ("claim", _T, "its claim"),
    ("owner", _T, "what its side says of it in the end: `stands`, `narrowed`, `withdrawn`; missing where it does not"),
    ("judged", _T, "the judges' standing, such as `UPHELD`, `SPLIT` or `VOID`; missing where nobody judged it"),
    ("computed", _T, "the standing that code computed from the exchange"),
    ("differs", _F, "whether the two part"),
    ("strength", _N, "computed strength, 0 to 1"),
    ("score", _N, "weighted score, 1 to 10; missing where there is none"),
    ("score_state", _T, "`given`, `missing`, `void`, `not judged` or `unknown`"),
    ("responses", _I, "responses it drew"),
    ("refuted", _I, "of them, those that call it wrong"),
    ("conceded", _I, "of them, those that accept it"),
    ("conceded_by", _T, "the side that conceded it while the other holds it"),
    ("fallacies", _I, "faults that the judges found in it"),
    ("citations", _I, "citations for or against it"),
    ("unverified", _I, "of them, those that the sources do not bear out"),
)
_SCORES = _columns(
    ("kind", _T, "what is rated: `side`, `argument`, `criterion`, `speech` or `debater`"),
    ("about", _T, "the side, argument, speech or seat"),
    ("side", _T, "the side it counts for"),
    ("criterion", _T, "the criterion; missing unless one is rated"),
    ("value", _N, "the score; missing unless it was given"),
    ("state", _T, "`given`, `missing` (the judge gave none), `void`, `not judged` or `unknown` (held elsewhere)"),
)
_VOTES = _columns(
    ("body", _T, "`panel` or `jury`"),
    ("number", _I, "number of the count, from 1"),
    ("after", _T, "phase before the count; missing for a jury"),
    ("voter", _T, "the seat"),
    ("option", _T, "what it voted for; missing where it has no vote"),
    ("state", _T, "`cast`, `kept` (silent, an earlier vote counts) or `missing` (no vote, and still registered)"),
    ("reason", _T, "why, or why there is no vote"),
    ("last", _F, "whether it belongs to the last count"),
)
_CITATIONS = _columns(
    ("turn", _T, "path of the turn it stands in"),
    ("seat", _T, "who cited"),
    ("about", _T, "the argument it supports or answers"),
    ("source", _T, "id of the source"),
    ("pointer", _T, "JSON pointer of a cited value; missing where words are quoted"),
    ("said", _T, "words or value as the seat gave them"),
    ("words", _T, "the source's own words"),
    ("status", _T, "`verified`, `repaired` or `unverified`"),
    ("why", _T, "why it is not verified"),
)
_DOUBTS = _columns(
    ("rank", _I, "1 is the worst"),
    ("kind", _T, "the kind in words, as in [worst doubt](worst-doubt.md)"),
    ("text", _T, "the doubt in a sentence"),
)
_CALLS = _columns(
    ("call", _T, "name of the call in the record"),
    ("turn", _T, "path of the turn it was made for"),
    ("part", _T, "part of the turn; missing where it asked for all of it"),
    ("seat", _T, "who was asked"),
    ("model", _T, "model that was asked for"),
    ("served_model", _T, "model that the provider says it used"),
    ("mode", _T, "how the structure was asked for: `native`, `tool`, `prompted` or `text`"),
    ("state", _T, "`answered`, `failed`, `lost` or `in flight`"),
    ("fault", _T, "why there is no answer, in a word of the record"),
    ("input_tokens", _I, "missing where the provider did not report them, as below"),
    ("output_tokens", _I, "those of the output"),
    ("cached_tokens", _I, "the part of the input that came from a cache"),
    ("reasoning_tokens", _I, "the part of the output that was reasoning"),
    ("usd", _N, "cost in US dollars, of a lost call its reservation; missing where no price is known"),
    ("usd_basis", _T, "how the cost was found"),
    ("latency_ms", _I, "milliseconds until the answer; missing where none came"),
)


def _debates(result: Result) -> Iterable[tuple[Any, ...]]:
    report, decision, cost, worst = result.report, result.decision, result.cost, result.doubts[0]
    yield (
        report.opened_at,
        report.format,
        report.motion,
        report.language,
        report.status.value,
        bool(decision),
        decision.kind.value if decision else None,
        decision.text,
        decision.missing,
        worst.kind.value,
        worst.text,
        cost.calls,
        cost.failed,
        cost.lost,
        cost.input_tokens,
        cost.output_tokens,
        cost.cached_tokens,
        cost.reasoning_tokens,
        cost.tokens_complete,
        None if cost.usd is None else float(cost.usd),
        cost.usd_complete,
        cost.seconds,
        report.software,
        report.events,
        report.head,
    )


def _turn(row: Turn) -> tuple[Any, ...]:
    return (
        row.number,
        row.path,
        row.seat,
        row.phase,
        row.form,
        row.state.value,
        row.text,
        None if row.text is None else count_words(row.text),
        row.asked,
        row.rejected,
        len(row.violations),
        row.citations,
        row.repaired,
        row.reason,
        row.detail,
    )


def _arguments(result: Result) -> Iterable[tuple[Any, ...]]:
    cited: dict[str, list[Citation]] = {}
    for citation in result.citations:
        cited.setdefault(citation.about, []).append(citation)
    for row in result.arguments:
        yield _argument(row, cited.get(row.id, []))


def _argument(row: Argument, cited: list[Citation]) -> tuple[Any, ...]:
    return (
        row.id,
        row.seat,
        row.side,
        row.turn,
        row.claim,
        row.owner,
        row.judged,
        row.computed,
        row.differs,
        row.strength,
        row.score,
        row.score_state.value,
        len(row.responses),
        sum(each.kind == "refute" for each in row.responses),
        sum(each.kind == "concede" for each in row.responses),
        row.conceded_by,
        len(row.fallacies),
        len(cited),
        sum(not each.sound for each in cited),
    )


def _score(row: Score) -> tuple[Any, ...]:
    return row.of.value, row.about, row.side, row.criterion, row.value, row.state.value


def _vote(row: Vote) -> tuple[Any, ...]:
    return row.body, row.count, row.after, row.voter, row.option, row.state.value, row.reason, row.last


def _citation(row: Citation) -> tuple[Any, ...]:
    return row.turn, row.seat, row.about, row.source, row.pointer, row.said, row.words, row.status, row.why


def _call(row: Call) -> tuple[Any, ...]:
    return (
        row.id,
        row.turn,
        row.part,
        row.seat,
        row.model,
        row.served_model,
        row.mode,
        row.state.value,
        row.fault,
        row.input_tokens,
        row.output_tokens,
        row.cached_tokens,
        row.reasoning_tokens,
        None if row.usd is None else float(row.usd),
        row.usd_basis,
        row.latency_ms,
    )


def _doubts(result: Result) -> Iterable[tuple[Any, ...]]:
    return ((rank, row.kind.value, row.text) for rank, row in enumerate(result.doubts, start=1))


TABLES: Final[dict[str, Table]] = {
    table.name: table
    for table in (
        Table("debates", "One row for each debate.", _DEBATES, _debates),
        Table(
            "turns",
            "One row for each turn that was asked for, also where none came.",
            _TURNS,
            lambda result: map(_turn, result.turns),
        ),
        Table(
            "arguments",
            "One row for each argument, and for each claim of an imported transcript.",
            _ARGUMENTS,
            _arguments,
        ),
        Table(
            "scores",
            "One row for each thing that is rated, also where the score is missing.",
            _SCORES,
            lambda result: map(_score, result.scores),
        ),
        Table(
            "votes",
            "One row for each voter in each count of a panel, and for each of several judges.",
            _VOTES,
            lambda result: map(_vote, result.votes),
        ),
        Table(
            "citations",
            "One row for each citation in a turn.",
            _CITATIONS,
            lambda result: map(_citation, result.citations),
        ),
        Table("doubts", "One row for each reason to doubt a result.", _DOUBTS, _doubts),
        Table(
            "calls",
            "One row for each call to a model.",
            _CALLS,
            lambda result: map(_call, result.calls),
        ),
    )
}
"""Every table by its name, in the order of the reference."""
