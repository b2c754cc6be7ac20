"""The statements about each argument, each with an anchor, so that every one can link to every other.

This is read from the statements of the turns, so it exists also where a debate has not come to a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from disputatio.motion import one_line
from disputatio.report.citations import CitationReading
from disputatio.report.imported import CLAIM_ID
from disputatio.report.page.passages import Anchors, ShownText, find_words, quotations
from disputatio.report.reading import DebateReport, Entry
from disputatio.report.review import superseded
from disputatio.report.turns.statement import Statement
from disputatio.report.verdict import StructuredReading, structured_reading

_STRENGTH = {"refute": 0, "challenge": 1, "question evidence": 1, "partial": 2, "concede": 3}
_CLAIM_MENTION = re.compile(rf"(?<![\w.-]){CLAIM_ID.pattern}(?![\w-]|\.\d)")
_MENTION = re.compile(r"\b[A-Z][A-Z0-9]{1,11}-\d{1,3}\b|\b[a-z]{2,8}_(?:bull|bear)_arg_\d\b")


@dataclass(slots=True)
class CitedPlace:
    """A citation in its place. ``href`` leads to the words in the source; empty where there are none."""

    reading: CitationReading
    anchor: str
    href: str = ""


@dataclass(slots=True)
class Said:
    """One statement in its place.

    ``kind`` is ``argument``, ``claim`` (of an imported transcript), ``response``, ``answer``, ``accepts``, ``hold``,
    ``finding`` or ``other``; ``about`` the argument it is about, or the question it answers; ``lead`` and ``points``
    its texts as they are shown; ``citations`` what it cites.
    """

    statement: Statement
    seat: str
    kind: str
    about: str
    anchor: str
    lead: ShownText
    points: list[tuple[str, str, ShownText]]
    citations: list[CitedPlace] = field(default_factory=list)

    @property
    def texts(self) -> list[ShownText]:
        """Its texts in their order."""
        return [self.lead, *(text for _, _, text in self.points)]


@dataclass(slots=True)
class SourceText:
    """A source that was laid before the seats. ``text`` is None where the record does not hold it."""

    id: str
    title: str
    sha256: str
    anchor: str
    text: ShownText | None
    kind: str


@dataclass(slots=True)
class Exchange:
    """All places of a debate."""

    anchors: Anchors
    verdict: StructuredReading | None
    said: dict[str, list[Said]] = field(default_factory=dict)
    sources: list[SourceText] = field(default_factory=list)
    quoted: dict[tuple[str, str], str] = field(default_factory=dict)
    _by_argument: dict[tuple[str, str], list[Said]] = field(default_factory=dict, repr=False)
    _indexed: int = -1

    @classmethod
    def of(cls, report: DebateReport) -> Exchange:
        """The exchange of a debate, its passages found and linked."""
        exchange = cls(Anchors(), structured_reading(report))
        questions, weaker = report.questions, superseded(report)
        for entry in report.turns:
            rows = entry.statements(questions)
            exchange.said[entry.path] = [exchange._said(entry, row, counts=entry.path not in weaker) for row in rows]
        for row in report.evidence:
            source, digest = str(row.get("source_id", "")), str(row.get("text", ""))
            text = report.texts.get(digest)
            shown_text = None if text is None else ShownText(text)
            title = one_line(str(row.get("title") or source))
            anchor, kind = exchange.anchors.add("source", source), str(row.get("kind") or "text")
            exchange.sources.append(SourceText(source, title, digest, anchor, shown_text, kind))
        exchange._link_passages()
        return exchange

    def _said(self, entry: Entry, row: Statement, *, counts: bool) -> Said:
        kind, about = entry.kind.place(row) if counts else ("other", "")
        anchor = self.anchors.add(kind, f"{entry.seat} {about}" if kind == "response" else about or entry.path)
        points = []
        for label, text in row.points:
            name = ""
            if kind == "argument" and label == "Evidence":
                name = self.anchors.add("evidence", about)
            elif kind == "response" and re.fullmatch(r"Q\d+", label):
                name = self.anchors.add("question", f"{about}.{label}")
            points.append((label, name, ShownText(text)))
        cited = [CitedPlace(each, self.anchors.add("cited", f"{entry.seat} {about}")) for each in row.citations]
        return Said(row, entry.seat, kind, about, anchor, ShownText(row.lead), points, cited)

    @property
    def everything(self) -> list[Said]:
        """All statements in the order of the turns."""
        return [row for rows in self.said.values() for row in rows]

    def about(self, kind: str, argument: str) -> list[Said]:
        """The statements of a kind about an argument, or the answers to the questions put to it."""
        rows = self.everything
        if self._indexed != len(rows):
            # A large debate asks this several times for each of its arguments.
            self._by_argument.clear()
            for row in rows:
                about = row.about.rpartition(".Q")[0] if row.kind == "answer" else row.about
                self._by_argument.setdefault((row.kind, about), []).append(row)
            self._indexed = len(rows)
        return list(self._by_argument.get((kind, argument), ()))

    def attacking(self, argument: str) -> list[Said]:
        """The criticisms of a review that aim at an argument."""
        return [
            row
            for row in self.everything
            if row.kind == "argument" and row.statement.word.endswith(f" against {argument}")
        ]

    def response_word(self, drawn: Said) -> str:
        """What a response is called where an argument drew it; of a criticism, its line of attack without its aim."""
        return drawn.statement.word.partition(" against ")[0]

    def deciding(self, argument: str) -> Said | None:
        """What decided the standing of an argument: its owner's last word if that gave ground, else a response.

        Of several responses it is the strongest; None where nothing was said about the argument.
        """
        holds = self.about("hold", argument)
        if any(row.statement.word == "withdrawn" for row in holds):
            return holds[0]
        responses = sorted(self.about("response", argument), key=lambda row: _STRENGTH.get(row.statement.word, 4))
        responses = responses or self.attacking(argument)
        if any(row.statement.word == "narrowed" for row in holds) and not _attacked(responses):
            return holds[0]
        return responses[0] if responses else None

    def _link_citations(self, cited: CitedPlace) -> None:
        """Join a citation and the words in its source, both ways."""
        source = next((row for row in self.sources if row.id == cited.reading.source), None)
        if source is None or source.text is None:
            return
        for start, end in cited.reading.spans:
            if 0 <= start < end <= len(source.text.text):
                place = source.text.add(
                    (start, end), self.anchors, "passage", cited.anchor, near=not cited.reading.sound
                )
                cited.href = cited.href or place

    def _link_passages(self) -> None:
        everything = [cited for row in self.everything for cited in row.citations]
        for cited in sorted(everything, key=lambda each: not each.reading.sound):
            self._link_citations(cited)
        for row in self.everything:
            if row.kind not in {"finding", "other"}:
                for text in row.texts:
                    self._link_quotations(text, row.anchor)
        found_words = (*self.verdict.fallacies, *self.verdict.irregular) if self.verdict else ()
        for found in found_words:
            place = self._place_of(found.argument, found.words, theirs=" on " in found.place)
            if place:
                self.quoted[found.argument, found.words] = place
                self._link_finding(found.argument, found.words, place)
        for row in self.everything:
            for text in row.texts:
                self._link_mentions(text, row.about)

    def _link_quotations(self, text: ShownText, speaker: str) -> None:
        for span, words in quotations(text.text):
            for source in self.sources:
                found = find_words(source.text.text, words) if source.text else None
                if source.text and found:
                    text.add(span, self.anchors, "quoting", source.text.add(found, self.anchors, "quoted", speaker))
                    break

    def _link_finding(self, argument: str, words: str, place: str) -> None:
        for row in self.about("finding", argument):
            for _, _, text in row.points:
                found = find_words(text.text, words)
                if found:
                    text.refer(found, place)

    def _place_of(self, argument: str, words: str, *, theirs: bool) -> str | None:
        """The passage with the words in which the judge sees a fault; a response first where it is ``theirs``."""
        kinds = ("argument", "answer", "hold", "response")
        for kind in kinds[::-1] if theirs else kinds:
            for row in self.about(kind, argument):
                for text in row.texts:
                    found = find_words(text.text, words)
                    if found:
                        return text.add(found, self.anchors, "words")
        return None

    def _link_mentions(self, text: ShownText, about: str) -> None:
        for kind, mention in (("argument", _MENTION), ("claim", _CLAIM_MENTION)):
            self._link_ids(text, about, kind, mention)

    def _link_ids(self, text: ShownText, about: str, kind: str, mention: re.Pattern[str]) -> None:
        for found in mention.finditer(text.text):
            href = self.anchors.find(kind, found.group())
            if href and found.group() != about:
                text.refer(found.span(), href)


def _attacked(responses: Iterable[Said]) -> bool:
    return any(row.statement.word in {"refute", "challenge", "question evidence"} for row in responses)
