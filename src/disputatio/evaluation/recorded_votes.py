"""Read recorded votes: each voter's answer to each item, and the right answer.

A user's own file is CSV, TSV or JSONL with a column ``gold`` (or ``GT``), one column for each voter, and optionally
``item``. An empty cell is an unreadable answer, ``X`` an abstention. Some published sets are recognised by the files in
their folder: cti_bench, llmbar, llm_agora, chateval_faireval, prd.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from disputatio.errors import InvalidInputError
from disputatio.evaluation.input_files import json_objects, read_text
from disputatio.judging.consistency import SwapPair
from disputatio.judging.judge_scores import TIE
from disputatio.judging.votes import Ballot, Silence
from disputatio.judging.weights import Review

ABSTAINED = "X"
_GOLD = ("gold", "gt", "label", "answer", "known")
_NAMES_OF_ITEMS = ("item", "id", "question_id", "index", "row_in_task")


@dataclass(frozen=True, slots=True)
class RecordedItem:
    """One item. ``given`` maps voters to an option, ``X`` for an abstention, or "" for an unreadable answer."""

    id: str
    known: str
    given: Mapping[str, str]

    def ballot(self, voter: str) -> Ballot:
        """The ballot of ``voter``."""
        choice = self.given.get(voter, "")
        if choice == ABSTAINED:
            return Ballot.silent(voter, Silence.ABSTAINED, "abstained")
        return Ballot.cast(voter, choice) if choice else Ballot.silent(voter, Silence.FAILED, "unreadable")


@dataclass(frozen=True, slots=True)
class RecordedSet:
    """Items that the same voters answered.

    ``swaps`` are, for each judge that judged in both orders, its pairs of verdicts; these judges need not be voters.
    ``reviews`` are for sets in which voters judge each other's answers. ``without_gold`` rows lack a right answer and
    are left out.
    """

    name: str
    voters: tuple[str, ...]
    items: tuple[RecordedItem, ...]
    swaps: Mapping[str, tuple[SwapPair, ...]] = field(default_factory=dict)
    reviews: tuple[Review, ...] = ()
    without_gold: int = 0


def read_recorded_votes(path: Path) -> tuple[RecordedSet, ...]:
    """Read the sets of a folder or file.

    Raises:
        InvalidInputError: there is none, or it cannot be read; names what is missing.
    """
    try:
        if path.is_file():
            return (_read_table(path),)
        if path.is_dir():
            for mark, read in _KNOWN.items():
                if (path / mark).exists():
                    return read(path)
            found = sorted(row for row in path.iterdir() if row.suffix in {".csv", ".tsv", ".jsonl"})
            if found:
                return tuple(_read_table(row) for row in found)
    except OSError as error:
        raise InvalidInputError(
            f"{path} cannot be read: {(error.strerror or 'unknown cause').lower()}.", "Give a file that can be read."
        ) from None
    raise InvalidInputError(
        f"There are no recorded votes in {path}.",
        "Give a CSV, TSV or JSONL file with a column gold and one for each voter, or the folder of a known set.",
    )


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV, TSV or JSONL file, all values as text.

    Raises:
        InvalidInputError: it is not one of these; names the line.
    """
    text = read_text(path, "Give a file that can be read.")
    if path.suffix != ".jsonl":
        delimiter = "\t" if path.suffix == ".tsv" else ","
        return [
            {key: value or "" for key, value in row.items() if key is not None}
            for row in csv.DictReader(text.splitlines(), delimiter=delimiter)
        ]
    return [
        {str(key): "" if value is None else str(value) for key, value in body.items()}
        for _, body in json_objects(path, text)
    ]


def _read_table(path: Path) -> RecordedSet:
    """Read a user's own file."""
    rows = read_rows(path)
    if not rows:
        raise InvalidInputError(f"{path} has no row of votes.", "Give a row for each item.")
    columns = list(rows[0])
    gold = next((name for name in columns if name.casefold() in _GOLD), None)
    number = next((name for name in columns if name.casefold() in _NAMES_OF_ITEMS), None)
    voters = [name for name in columns if name not in {gold, number}]
    if gold is None or not voters:
        raise InvalidInputError(
            f"{path} has no column gold, or no column of a voter.", f"Its columns are: {', '.join(columns)}."
        )
    found = _wide(path.stem, voters, rows, gold, number)
    if not found.items:
        raise InvalidInputError(
            f"{path} has no right answer: {gold} is empty in all {len(rows)} rows.", "Fill in that column."
        )
    return found


def _wide(
    name: str, voters: Sequence[str], rows: Iterable[Mapping[str, str]], gold: str, number: str | None = None
) -> RecordedSet:
    """Read rows with one column for each voter. Options are compared in upper case; rows without a right answer are
    left out.
    """
    rows = list(rows)
    items = [
        RecordedItem(
            row[number] if number else str(place),
            row[gold].strip().upper(),
            {voter: row[voter].strip().upper() for voter in voters},
        )
        for place, row in enumerate(rows)
        if row[gold].strip()
    ]
    return RecordedSet(name, tuple(voters), tuple(items), without_gold=len(rows) - len(items))


def _cti_benchmark(folder: Path) -> tuple[RecordedSet, ...]:
    found = []
    for task in ("mcq", "rcm"):
        rows = read_rows(folder / "responses" / f"cti-{task}-responses.tsv")
        found.append(_wide(f"cti-{task}", [name for name in rows[0] if name != "GT"], rows, "GT"))
    return tuple(found)


FIVE = ("GPT-4", "ChatGPT", "LLaMA2", "PaLM2", "Falcon")
_PLAIN = "Vanilla"


def _llmbar(folder: Path) -> tuple[RecordedSet, ...]:
    """For each subset a panel of the five judges under the plain prompt; both orders are items of their own."""
    groups: dict[str, dict[tuple[str, str], list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in read_rows(folder / "llmbar_decisions.csv"):
        groups[row["subset"]][row["evaluator"], row["strategy"]].append(row)
    found = []
    for subset, judges in groups.items():
        panel = [who for who in FIVE if (who, _PLAIN) in judges]
        items = []
        for rows in zip(*(judges[who, _PLAIN] for who in panel), strict=True):
            for column, order in (("winner_orig", "as given"), ("winner_swapped", "swapped")):
                given = {who: row[column] for who, row in zip(panel, rows, strict=True)}
                items.append(RecordedItem(f"{rows[0]['item']} {order}", rows[0]["gold"], given))
        swaps = {
            f"{who} / {strategy}": tuple(
                SwapPair(("1", "2"), row["winner_orig"] or None, row["winner_swapped"] or None, row["gold"])
                for row in rows
            )
            for (who, strategy), rows in judges.items()
        }
        found.append(RecordedSet(f"llmbar {subset.removeprefix('LLMBar/')}", tuple(panel), tuple(items), swaps))
    return tuple(found)


def _llm_agora(folder: Path) -> tuple[RecordedSet, ...]:
    voters = ("agent1", "agent2", "agent3")
    groups: dict[str, list[RecordedItem]] = defaultdict(list)
    for row in read_rows(folder / "llm_agora_votes.csv"):
        name = f"{row['task']} ({row['prompt']}) response {row['response_round']}"
        items = groups[name]
        items.append(RecordedItem(str(len(items)), row["gold"], {voter: row[voter] for voter in voters}))
    return tuple(RecordedSet(name, voters, tuple(items)) for name, items in groups.items())


_SAID = {"Assistant 1": "CHATGPT", "Assistant 2": "VICUNA13B", "Same": TIE}


def _chateval(folder: Path) -> tuple[RecordedSet, ...]:
    labels = (folder / "fairEval_human_labels.txt").read_text("utf-8").split()
    voters = ("Alice", "Bob", "Candy")
    found = []
    for turns in ("two", "three"):
        body = json.loads((folder / f"{turns}_turns_sequential_pair_comparison_results.json").read_text("utf-8"))
        items = []
        for number, (row, label) in enumerate(zip(body, labels, strict=True)):
            said = [_SAID.get(given["evaluation"], "") for given in row["evaluation"]]
            known = TIE if label == "TIE" else label
            items.append(RecordedItem(str(number), known, dict(zip(voters, said, strict=True))))
        found.append(RecordedSet(f"chateval {turns} turns", voters, tuple(items)))
    return tuple(found)


# Reviewers are contestants too, under other names.
_REVIEWERS = {"gpt4": "gpt-4", "gpt35": "gpt-3.5", "vicuna-13b": "vicuna"}


def _prd(folder: Path) -> tuple[RecordedSet, ...]:
    """Verdicts by place (first, second, tie). The right one is the sign of the mean human score, for both orders."""
    given: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    people: dict[tuple[str, str, str], int] = defaultdict(int)
    reviews = []
    for row in read_rows(folder / "prd_ratings.csv"):
        item, score = (row["question_id"], row["model_a"], row["model_b"]), int(row["score_minus1_A_plus1_B"])
        if row["reviewer"] == "human":
            people[item] += score
            people[item[0], item[2], item[1]] -= score
        else:
            reviewer = _REVIEWERS.get(row["reviewer"], row["reviewer"])
            given[item][reviewer] = _place(score)
            winner = {-1: item[1], 0: TIE, 1: item[2]}[score]
            reviews.append(Review(reviewer, item[1], item[2], winner))
    voters = tuple(sorted({voter for row in given.values() for voter in row}))
    items = [RecordedItem(" ".join(item), _place(people[item]), row) for item, row in given.items() if item in people]
    return (RecordedSet("prd", voters, tuple(items), reviews=tuple(reviews)),)


def _place(score: int) -> str:
    return TIE if score == 0 else "first" if score < 0 else "second"


_KNOWN: Mapping[str, Callable[[Path], tuple[RecordedSet, ...]]] = {
    "responses/cti-mcq-responses.tsv": _cti_benchmark,
    "llmbar_decisions.csv": _llmbar,
    "llm_agora_votes.csv": _llm_agora,
    "fairEval_human_labels.txt": _chateval,
    "prd_ratings.csv": _prd,
}
