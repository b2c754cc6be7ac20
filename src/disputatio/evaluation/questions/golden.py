"""Golden sets: labelled questions for each task type, to measure whether a debate is worth its cost there.

    architecture, investment, compliance   packaged, each label with its reason and its source
    contract                               made from LegalBench clauses (CC BY 4.0) in a folder of the user
    security                               the CyberMetric questions in a folder of the user

The last two are the work of others and are not packaged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.evaluation.questions.items import Item, Kind, QuestionSet, check_questions, read_item
from disputatio.evaluation.recorded_votes import read_rows
from disputatio.motion import Evidence, one_line

FEWEST = 20
PACKAGED = ("architecture", "investment", "compliance")


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """A task type, its preset of reviews, and how to read its questions."""

    task_type: str
    preset: str
    read: Callable[[Path | None], QuestionSet]

    @property
    def packaged(self) -> bool:
        """Whether its questions are packaged."""
        return self.task_type in PACKAGED


def golden_set(task_type: str, data: Path | None = None) -> QuestionSet:
    """Load the labelled questions of ``task_type``.

    Raises:
        InvalidInputError: there is no such set, or its folder is missing, unneeded or wrong.
    """
    chosen = GOLDEN.get(task_type)
    if chosen is None:
        raise InvalidInputError(
            f"There is no golden set called {one_line(task_type, 40)!r}.", f"There are: {', '.join(GOLDEN)}."
        )
    return chosen.read(data)


def _packaged(task_type: str) -> Callable[[Path | None], QuestionSet]:
    def read(data: Path | None) -> QuestionSet:
        if data is not None:
            raise InvalidInputError(f"The golden set {task_type} is packaged.", "Leave --data out.")
        text = files("disputatio.evaluation.questions").joinpath(f"{task_type}.json").read_text("utf-8")
        body: Any = json.loads(text)
        items = tuple(
            read_item(f"{task_type}, question {n}", n, row) for n, row in enumerate(body["questions"], start=1)
        )
        return check_questions(QuestionSet(task_type, items, body["about"], "Apache-2.0"), task_type)

    return read


def _folder(task_type: str, data: Path | None, what: str) -> Path:
    if data is None:
        raise InvalidInputError(
            f"The golden set {task_type} is the work of others and is not packaged.",
            f"Give the folder of {what} with --data FOLDER.",
        )
    return data


# The label of each clause set of LegalBench as a question.
_CLAUSES: Mapping[str, str] = {
    "cuad_anti-assignment": "Does this clause require the other party's consent or notice before a party may assign "
    "the contract to a third party?",
    "cuad_audit_rights": "Does this clause give a party the right to audit the books, records or premises of the "
    "other to check that it complies with the contract?",
    "cuad_cap_on_liability": "Does this clause cap a party's liability for a breach of its obligations, in amount or "
    "in the time in which claims may be brought?",
    "cuad_change_of_control": "Does this clause give a party the right to terminate, or require consent or notice, "
    "where the other party undergoes a change of control?",
    "cuad_exclusivity": "Does this clause commit a party to deal exclusively with the other?",
    "cuad_insurance": "Does this clause require a party to maintain insurance for the benefit of the other?",
    "cuad_liquidated_damages": "Does this clause award a party liquidated damages for breach, or a fee on termination?",
    "cuad_most_favored_nation": "Does this clause entitle a party to better terms where the other gives them to a "
    "third party?",
    "cuad_non-compete": "Does this clause restrict a party from competing with the other, or from operating in a "
    "certain region or business?",
    "cuad_source_code_escrow": "Does this clause require a party to deposit its source code in escrow with a third "
    "party?",
    "cuad_termination_for_convenience": "Does this clause let a party terminate the contract without cause?",
    "cuad_uncapped_liability": "Does this clause leave a party's liability for a breach uncapped?",
    "contract_nli_limited_use": "Does this clause forbid the receiving party to use confidential information for any "
    "purpose but the one stated in the agreement?",
    "contract_nli_survival_of_obligations": "Does this clause let some obligations survive the agreement's end?",
}


def _contract(data: Path | None) -> QuestionSet:
    folder = _folder("contract", data, "LegalBench's contract tasks (TSV files such as cuad_audit_rights.tsv)")
    items: list[Item] = []
    for task in ("contract_qa", *_CLAUSES):
        path = folder / f"{task}.tsv"
        if not path.exists():
            continue
        for row in read_rows(path):
            question = row.get("question") or _CLAUSES[task]
            citation = f"LegalBench {task}, item {row['index']}" + (
                f", {row['document_name']}" if "document_name" in row else ""
            )
            items.append(
                Item(
                    f"{task}-{row['index']}",
                    Kind.YES_NO,
                    question,
                    row["answer"].strip().lower(),
                    (("yes", "yes"), ("no", "no")),
                    (Evidence("clause", "Clause", row["text"].strip()),),
                    citation=citation,
                    group=task,
                )
            )
    if not items:
        raise InvalidInputError(
            f"There is no contract task of LegalBench in {folder}.", "Give the folder with its TSV files."
        )
    return check_questions(
        QuestionSet("contract", tuple(items), "Clauses of contracts and what they do", "CC BY 4.0"), str(folder)
    )


def _security(data: Path | None) -> QuestionSet:
    folder = _folder("security", data, "CyberMetric's questions (CyberMetric-80-v1.json, CyberMetric-500-v1.json)")
    items: list[Item] = []
    asked: set[str] = set()
    for path in sorted(folder.glob("CyberMetric-*.json"), key=lambda row: (len(row.name), row.name)):
        body: Any = json.loads(path.read_text("utf-8"))
        for number, row in enumerate(body["questions"]):
            # The shorter lists are contained in the longer ones.
            if (question := str(row["question"]).strip()) in asked:
                continue
            asked.add(question)
            options = tuple((label, str(text).strip()) for label, text in row["answers"].items())
            items.append(
                Item(
                    f"{path.stem}-{number}",
                    Kind.CHOICE,
                    question,
                    str(row["solution"]).strip(),
                    options,
                    citation=f"{path.name}, question {number + 1}",
                    group=path.stem,
                )
            )
    if not items:
        raise InvalidInputError(f"There is no CyberMetric file in {folder}.", "Give the folder with its JSON files.")
    return check_questions(
        QuestionSet("security", tuple(items), "Multiple choice on security", "none stated"), str(folder)
    )


GOLDEN: Mapping[str, GoldenSet] = {
    "contract": GoldenSet("contract", "contract-risk", _contract),
    "security": GoldenSet("security", "security-threat-model", _security),
    "architecture": GoldenSet("architecture", "architecture-decision", _packaged("architecture")),
    "investment": GoldenSet("investment", "investment-thesis", _packaged("investment")),
    "compliance": GoldenSet("compliance", "regulatory-compliance", _packaged("compliance")),
}
