r"""A debate as Argdown, the text format for argument maps (argdown.org).

How the debate is read as a map:

- the motion is a statement; the arguments of the first side support it, those of the other attack it;
- each argument is a statement, its claim, supported by an argument, its reasoning and evidence;
- a refutation attacks the claim (``-``), since it says that it has an error;
- a challenge undercuts the reasoning (``_``): the evidence does not carry the claim. A partial response does the same,
  because it leaves the core of the claim alone and disputes how far it reaches;
- a concession supports the claim (``+``);
- an answer to a question of a response attacks that response;
- a citation that its source bears out is a statement in the source's words, which supports the case of its
  argument, with its status as a tag; one that no source bears out supports nothing and is told in the case;
- a criticism of a review attacks the claim of the argument it aims at, or the motion where it aims at the thesis, and
  is an argument of its own; the rebuttal answers it;
- the standings and the score of an argument are tags and data on its claim.

Participants' text can be read in it and can structure nothing: every character that Argdown could take for structure
stands behind a backslash, and a text never leaves its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from disputatio.motion import one_line
from disputatio.report.amounts import spoken
from disputatio.report.citations import CitationReading
from disputatio.report.headings import heading
from disputatio.report.reading import DebateReport
from disputatio.report.review import superseded
from disputatio.report.summary import decided_sentence
from disputatio.report.turns.statement import Statement
from disputatio.report.verdict import TraceLine, structured_reading

_SPECIAL = re.compile(
    r"[\\@#*_\[\]<>{}|=`~]|(?<=-)-|-(?=-)|/(?=[/*])|(?<=/)/|\.(?=[^\s.]*+\.)|:(?=[^\s:]*+:)|\((?=\d++\))|(?<=\])\("
)
_START = re.compile(r"^[-+_(]")
_AIMED = re.compile(r"PROP\d*-\d+")
_NAME = re.compile(r"[^\w -]+")
_SIGNS = {"refute": "-", "challenge": "_", "question evidence": "_", "partial": "_", "concede": "+"}


def escaped(text: str) -> str:
    """``text`` on one line, as Argdown that shows exactly it."""
    line = _SPECIAL.sub(lambda found: f"\\{found.group()}", one_line(text))
    return _START.sub(lambda found: f"\\{found.group()}", line)


def render_argdown(report: DebateReport) -> str:
    """The debate as Argdown; where it has no arguments, its motion and its verdict."""
    statements = _Said(report)
    sides = list(dict.fromkeys(seat for seat, _ in statements.arguments))
    data = {"title": one_line(report.motion, 200), "debate": report.id, "status": heading(report).text}
    front = "\n".join(f"{key}: {_quoted(value)}" for key, value in data.items())
    blocks = [f"===\n{front}\n==="]
    lines = [f"[Motion]: {escaped(report.motion) or 'A debate'}"]
    for seat, row in statements.arguments:
        if row.mark in statements.aimed:
            continue
        supports = seat == sides[0] or seat.endswith("_bull")
        lines.append(f"  {'+' if supports else '-'} [{_name(row.mark)}]")
    blocks.append("\n".join(lines))
    for seat in sides:
        blocks.append(f"# {escaped(seat.upper())}")
        blocks += [statements.argument(row) for owner, row in statements.arguments if owner == seat]
    blocks += _claims(report)
    verdict = decided_sentence(report)
    if verdict:
        blocks.append(f"# Verdict\n\n[Verdict]: {escaped(verdict)}")
    return "\n\n".join(blocks) + "\n"


def _claims(report: DebateReport) -> list[str]:
    """The claims of an imported transcript: it says which claim names which, not whether to support or to attack it."""
    blocks = []
    for entry in report.turns:
        rows = entry.statements() if report.imported is not None else ()
        blocks += [f"# {escaped(f'{entry.seat.upper()}, {entry.phase}')}"] if rows else []
        blocks += [f"[{_name(row.mark)}]: {escaped(row.lead)}" if row.mark else escaped(row.lead) for row in rows]
    return blocks


class _Said:
    """The statements of a debate, grouped by the argument they are about."""

    def __init__(self, report: DebateReport) -> None:
        questions = report.questions
        self.arguments: list[tuple[str, Statement]] = []
        self.responses: dict[str, list[tuple[str, Statement]]] = {}
        self.answers: dict[str, list[tuple[str, Statement]]] = {}
        self.aimed: dict[str, str] = {}
        verdict = structured_reading(report)
        self.trace = {row.id: row for row in verdict.trace} if verdict else {}
        weaker = superseded(report)
        for entry in report.turns:
            if entry.path in weaker:
                continue
            for row in entry.statements(questions):
                kind, about = entry.kind.place(row)
                if kind == "argument":
                    self.arguments.append((entry.seat, row))
                    self._aim(row)
                elif kind == "response":
                    self.responses.setdefault(about, []).append((entry.seat, row))
                elif kind == "answer":
                    self.answers.setdefault(about.partition(".")[0], []).append((entry.seat, row))

    def _aim(self, row: Statement) -> None:
        """Keep what a criticism of a review aims at; one of the whole position attacks the motion."""
        target = row.word.rpartition(" against ")[2]
        if _AIMED.fullmatch(target):
            self.aimed[row.mark] = target

    def argument(self, row: Statement) -> str:
        """An argument with everything said to it."""
        name = _name(row.mark)
        lines = [f"[{name}]: {escaped(row.lead) or 'no claim'}{_standing(self.trace.get(row.mark))}"]
        lines.append(f"  + <{name} case>")
        lines += [f"  - [{_name(mark)}]" for mark, target in self.aimed.items() if target == row.mark]
        inner: list[str] = []
        for seat, response in self.responses.get(row.mark, ()):
            sign = _SIGNS.get(response.word, "-")
            title = f"<{_name(seat.upper())} on {name}>"
            lines += [f"  {sign} {title}"] if sign != "_" else []
            inner += [f"  {sign} {title}"] if sign == "_" else []
        case = " ".join([*(f"{label}: {text}" if label else text for label, text in row.points), *_unsound(row)])
        cites = [(_name(f"{name} citation {number}"), cited) for number, cited in enumerate(_sound(row), start=1)]
        inner += [f"  + [{title}]" for title, _ in cites]
        blocks = ["\n".join(lines), "\n".join([f"<{name} case>: {escaped(case) or 'no reasoning'}", *inner])]
        blocks += [_citation(title, cited) for title, cited in cites]
        answers = self.answers.get(row.mark, [])
        for seat, response in self.responses.get(row.mark, ()):
            blocks.append(self._response(name, seat, response, answers))
        blocks += [f"<{_name(f'Answer {answer.mark}')}>: {escaped(answer.lead)}" for _, answer in answers]
        return "\n\n".join(blocks)

    def _response(self, name: str, seat: str, response: Statement, answers: Iterable[tuple[str, Statement]]) -> str:
        questions = " ".join(f"{label}: {text}" for label, text in response.points)
        cited = " ".join(
            [*(f"{row.place}, {row.status}: {row.shown}" for row in _sound(response)), *_unsound(response)]
        )
        words = " ".join(piece for piece in (f"{response.word}:", response.lead, questions, cited) if piece)
        lines = [f"<{_name(seat.upper())} on {name}>: {escaped(words)}"]
        if response.word != "concede":
            lines += [f"  - <{_name(f'Answer {answer.mark}')}>" for _, answer in answers]
        return "\n".join(lines)


def _sound(row: Statement) -> list[CitationReading]:
    return [cited for cited in row.citations if cited.sound]


def _unsound(row: Statement) -> list[str]:
    """What an argument or a response cites in vain: it supports nothing, so it is no statement of the map."""
    return [f"{cited.place}, {cited.status}: {cited.sentence}" for cited in row.citations if not cited.sound]


def _citation(title: str, cited: CitationReading) -> str:
    data = f"source: {_quoted(cited.place)}, status: {_quoted(cited.status)}"
    return f"[{title}]: {escaped(cited.shown)} #({_name(cited.status)}) {{{data}}}"


def _name(text: str) -> str:
    """A name for a statement or an argument: letters, digits, spaces and hyphens, none of which structures anything."""
    return _NAME.sub(" ", one_line(text, 60).replace("_", " ")).strip(" -") or "unnamed"


def _standing(row: TraceLine | None) -> str:
    """Tags and data on the claim of an argument."""
    if row is None:
        return ""
    word = row.judged or row.computed
    tags = f" #({_name(spoken(word).lower())})" if word else ""
    data: Mapping[str, Any] = {
        key: value
        for key, value in (("judged", row.judged), ("computed", row.computed), ("score", row.score))
        if value is not None
    }
    pairs = ", ".join(f"{key}: {_quoted(value)}" for key, value in data.items())
    return f"{tags} {{{pairs}}}" if pairs else tags


def _quoted(value: Any) -> str:
    """``value`` as YAML; its text holds nothing that could end the front matter or the data."""
    text = json.dumps(one_line(value) if isinstance(value, str) else value, ensure_ascii=False)
    return "".join(f"\\u{ord(char):04x}" if char in "={}" else char for char in text)
