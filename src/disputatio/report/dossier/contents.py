"""The contents of a dossier, section by section, all from the record.

The order follows what a model-risk reviewer asks: what it is for (SR 11-7, model development and use), what was asked,
what came of it, on which data, by whose words, with which models and prompts, at what cost, under whose eyes, with what
evidence that it works (SR 11-7, outcomes analysis; EU AI Act Article 15, accuracy and robustness), how the record is
protected (Article 15, cybersecurity), and what it cannot show. A dossier claims conformity with neither.

A section that has nothing to show says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from disputatio.motion import one_line
from disputatio.report.addenda import NO_PROOF
from disputatio.report.amounts import capital, dollars, spoken
from disputatio.report.blocks import ArgumentTrace, Block, Bullets, Facts, Paragraph, Said, Section, Under, grid
from disputatio.report.citations import checked_sentence
from disputatio.report.dossier.appendices import appendices, number_words
from disputatio.report.dossier.blocks import Dossier
from disputatio.report.dossier.limits import limitations
from disputatio.report.dossier.performance import Performance, performance_blocks
from disputatio.report.headings import heading
from disputatio.report.panel import escalation_sentences, panel_reading
from disputatio.report.presenters.registry import presenter_of
from disputatio.report.reading import DebateReport, Entry, EntryState
from disputatio.report.spending import Totals
from disputatio.report.transcript import ceiling, excerpted
from disputatio.report.verdict import NOT_TRUTH, structured_reading

SR = "SR 11-7"
ACT = "EU AI Act, Article 15"
_FRAMING = ("thesis", "positions", "scope", "criteria", "key_evidence", "evidence_wanted")
"""In the order in which a reader needs them; the record sorts them by name."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a dossier needs that is not in the record of its debate.

    Attributes:
        fault: what the check of the chain found; None where it is whole.
        place: the store the record was read from, without a password.
        task_type: what kind of decision it was about.
        experience: labels and texts on other debates of that kind in the store; empty where there are none.
        prompts: the text of packaged prompt files by name, to be matched by their hashes.
        measured: an evaluation on labelled questions of that kind; None where there is none.
        measure: the command that makes one; empty where there are no labelled questions of that kind.
    """

    fault: str | None
    place: str
    task_type: str
    experience: tuple[tuple[str, str], ...] = ()
    prompts: Mapping[str, tuple[str, str]] | None = None
    measured: Performance | None = None
    measure: str = ""


def dossier_of(report: DebateReport, around: Surroundings) -> Dossier:
    """The dossier of a debate."""
    limits = limitations(report, around.fault)
    return Dossier(
        id=report.id,
        title="Model risk dossier",
        subject=report.motion or "A debate",
        caution=_caution(report, around),
        facts=_front(report, around),
        sections=(
            _purpose(report, around),
            _question(report),
            _result(report),
            _data(report),
            _outputs(report),
            _models(report),
            _prompts(report, around),
            _costs(report),
            _oversight(report),
            _outcomes(report),
            _performance(report, around),
            _robustness(report),
            Section("Limitations", (Bullets(tuple(limits)),), f"{SR}: model limitations and assumptions"),
            _verification(report, around),
            *appendices(report, around.prompts or {}),
        ),
    )


def _caution(report: DebateReport, around: Surroundings) -> str:
    sentences = [] if heading(report).whole else [heading(report).text]
    if around.fault:
        sentences.insert(0, f"THE RECORD DOES NOT VERIFY: {around.fault}. Nothing below can be relied on.")
    if report.outcome.get("critical"):
        sentences.append("A citation failed its check; what rested on it was struck (section 3).")
    return " ".join(sentences)


def _front(report: DebateReport, around: Surroundings) -> tuple[tuple[str, str], ...]:
    signed = [row for row in report.addenda if row.kind == "sign-off" and not row.overtaken]
    verdict = structured_reading(report)
    return (
        ("Debate", f"{report.id}, {report.format}"),
        ("Task type", around.task_type),
        ("Status", report.status.value),
        *((("Result", verdict.reading),) if verdict is not None else ()),
        ("Held", f"{_minute(report.opened_at)} to {_minute(report.last_at)} UTC"),
        ("Sign-off", signed[-1].title.partition(": ")[2] if signed else "none"),
        ("Software", report.software or "not recorded"),
        ("Events in the record", str(report.events)),
        ("Head of the chain", report.head or "not recorded"),
    )


def _minute(at: str | None) -> str:
    return f"{at[:10]} {at[11:19]}" if at else "an unknown time"


def _purpose(report: DebateReport, around: Surroundings) -> Section:
    is_special = around.task_type not in {report.format, "general"}
    kind = f" of the kind {one_line(spoken(around.task_type), 60)}" if is_special else ""
    origin = "was held elsewhere and imported" if report.imported else "was held by this software"
    return Section(
        "Purpose and use",
        (
            Paragraph(
                f"This dossier documents one debate in the format {report.format} that {origin}: language models, and "
                "any other participants named below, argued by rules that a program kept. It is made from the record "
                "of the debate alone; nothing in it was edited."
            ),
            Paragraph(
                "Intended use: as documentation that a question was put under structured challenge before a decision"
                f"{kind}. The result supports a person who decides; it is not "
                "the decision."
            ),
            Paragraph(
                f"What scores and findings measure: {NOT_TRUTH}. No statement of a participant was checked against the "
                "world; citations were checked against the sources that were given, where there were any."
            ),
        ),
        f"{SR}: purpose, intended use and scope",
    )


def _question(report: DebateReport) -> Section:
    rows = [("Question as put", report.motion), ("Language", report.language or "not recorded")]
    framing = report.outcome.get("framing")
    blocks: list[Block] = [Facts(tuple(rows))]
    if isinstance(framing, Mapping):
        facts = {name: framing[name] for name in (*_FRAMING, *framing) if name in framing}
        blocks += [Under("Framing"), Facts(tuple(_pairs(facts)))]
    elif report.format == "review":
        blocks.append(Paragraph("The question was not framed: it was debated as it stands.", strong=True))
    brief: Any = report.rules.get("brief")
    if isinstance(brief, Mapping):
        facts = {name: brief[name] for name in ("name", "framing", "criteria", "attack_lines") if brief.get(name)}
        blocks += [Under("Brief given to the seats"), Facts(tuple(_pairs(facts)))] if facts else []
    return Section("Question and framing", tuple(blocks))


def _pairs(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A JSON object as labels and texts."""
    return [(_label(name), _flat(value)) for name, value in body.items() if value not in (None, "", [], {}, ())]


def _label(name: str) -> str:
    return capital(spoken(name))


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        filled = {name: row for name, row in value.items() if row not in (None, "")}
        return ", ".join(f"{spoken(str(name))}: {_flat(row)}" for name, row in filled.items())
    if isinstance(value, list | tuple):
        rows = [_flat(row) for row in value]
        if any(row.endswith((".", "!", "?")) for row in rows):
            return "\n".join(f"{number}. {row}" for number, row in enumerate(rows, 1)) if len(rows) > 1 else rows[0]
        return ("\n" if any(isinstance(row, Mapping) for row in value) else "; ").join(rows)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _result(report: DebateReport) -> Section:
    if not report.closed:
        return Section("Result", (Paragraph("The debate has no end, and so no result.", strong=True),))
    presenter = presenter_of(report)
    sections = presenter.sections(report, lambda _: False)
    blocks: list[Block] = [Paragraph(presenter.sentence(report), strong=True)] if presenter.has_trace else []
    for section in sections:
        blocks.append(Under(section.title))
        for block in section.blocks:
            blocks += _trace(block.verdict) if isinstance(block, ArgumentTrace) else [block]
    return Section("Result", tuple(blocks) or (Paragraph("The record holds no result."),))


def _trace(verdict: Any) -> list[Block]:
    if not verdict.trace:
        return []
    rows = [
        (
            row.id,
            row.claim,
            (row.judged or "-").replace("_", " "),
            row.computed.replace("_", " "),
            "-" if row.score is None else f"{row.score:.2f}",
            row.void or row.judged_reason or row.computed_reason or "-",
        )
        for row in verdict.trace
    ]
    return [
        Under("Every argument and how it stands"),
        Paragraph(
            f"As the {verdict.judge} found, and as computed by rule from the exchange alone; scores from 1 to 10."
        ),
        grid(("id", "claim", verdict.judge, "computed", "score", "reason"), rows, {0, 2, 3, 4}),
    ]


def _data(report: DebateReport) -> Section:
    if not report.evidence:
        return Section(
            "Data and evidence",
            (
                Paragraph(
                    "No source was given. What seats state as evidence was checked against nothing.", strong=True
                ),
                *_consulted(report),
            ),
            f"{SR}: data quality and relevance",
        )
    rows = []
    for row in report.evidence:
        text = report.texts.get(str(row.get("text")))
        size = "not kept" if text is None else f"{len(text):,}"
        since = f", from round {row['round']}" if "round" in row else ""
        title = f"{row.get('title') or row.get('source_id')}{since}"
        rows.append((str(row.get("source_id")), title, str(row.get("kind", "")), size, str(row.get("text"))))
    blocks: list[Block] = [grid(("id", "title", "kind", "characters", "SHA-256"), rows, {0, 2, 3, 4})]
    if excerpted(report):
        blocks.append(Paragraph(excerpted(report)))
    blocks += [Under("Citations and their check"), Paragraph(capital(f"{checked_sentence(report.citations)}."))]
    cited = [
        (entry.speaker, row.about, row.place, row.status, row.sentence)
        for entry in report.turns
        for row in entry.citations
    ]
    if cited:
        blocks.append(grid(("seat", "for", "source", "status", "words"), cited, {0, 1, 2, 3}))
    return Section("Data and evidence", (*blocks, *_consulted(report)), f"{SR}: data quality and relevance")


def _consulted(report: DebateReport) -> list[Block]:
    looked_up = [(entry.speaker, row.line) for entry in report.entries for row in entry.consultations]
    return [Under("Looked up by seats"), grid(("seat", "tool and result"), looked_up)] if looked_up else []


def _outputs(report: DebateReport) -> Section:
    blocks: list[Block] = [
        Paragraph(
            "In the order of the debate, as accepted. Answers that were not accepted stand with their reasons where "
            "they occurred; their raw text is in the record and in the JSON export."
        )
    ]
    questions = report.questions
    for phase in report.phases:
        blocks.append(Under(capital(spoken(phase.name))))
        for entry in phase.entries:
            blocks += _entry(entry, questions)
    return Section("All outputs in order", tuple(blocks), f"{SR}: effective challenge")


def _entry(entry: Entry, questions: Mapping[str, str]) -> list[Block]:
    rejected = tuple(f"Not accepted ({row.because}): {'; '.join(row.reasons)}" for row in entry.rejections)
    blocks: list[Block] = [Bullets(rejected)] if rejected else []
    if entry.state is EntryState.ABSTAINED:
        return [*blocks, Said(f"{entry.speaker} abstained", (f"{entry.reason}: {entry.detail}",))]
    if entry.state is EntryState.OPEN:
        return [*blocks, Said(f"{entry.speaker}", ("was not heard",))]
    statements = entry.statements(questions)
    served = f" ({', '.join(entry.served)})" if entry.served else ""
    for place, row in enumerate(statements):
        name = f"{entry.speaker}{served}: " if not place else ""
        mark = f"{name}{' '.join(filter(None, (row.mark, row.word)))}"
        texts = [f"Asked: {row.context}"] if row.context else []
        texts += [row.lead, *(_point(label, text) for label, text in row.points)]
        texts += [f"Cites {one.place}, {one.status}: {one.sentence}" for one in row.citations]
        blocks.append(Said(mark.rstrip(": "), tuple(text for text in texts if text)))
    broken = tuple(f"Rule broken, accepted after asking again: {row.get('detail')}" for row in entry.broken)
    return [*blocks, Bullets(broken)] if broken else blocks


def _point(label: str, text: str) -> str:
    """A further text with its label; a number needs no colon."""
    if not label:
        return text
    return f"{label} {text}" if label.endswith(".") else f"{label}: {text}"


def _models(report: DebateReport) -> Section:
    calls: dict[str, list[Any]] = {}
    for row in report.calls:
        calls.setdefault(row.sent.seat, []).append(row)
    rows = []
    for seat in report.seats:
        seat_calls = calls.get(seat.seat, [])
        heats = sorted({f"{row.sent.temperature:g}" for row in seat_calls if row.sent.temperature is not None})
        rows.append(
            (
                seat.seat,
                seat.who + (f", then {', then '.join(seat.fallbacks)}" if seat.fallbacks else ""),
                ", ".join(seat.served) or ("not reported" if seat.kind == "model" else "no model"),
                ", ".join(heats) or "-",
                ", ".join(sorted({row.sent.mode for row in seat_calls})) or "-",
                str(max((row.sent.max_tokens for row in seat_calls), default=0)) if seat_calls else "-",
            )
        )
    blocks: list[Block] = [
        grid(("seat", "asked", "served", "temperature", "output mode", "most tokens"), rows, {0, 3, 4, 5}),
    ]
    personas = [(seat.seat, seat.persona) for seat in report.seats if seat.persona]
    blocks += [Under("Personas"), Facts(tuple(personas))] if personas else []
    rules = {name: value for name, value in report.rules.items() if name != "brief"}
    blocks += [Under("Parameters of the debate"), Facts((*_pairs(rules), *_general(report)))]
    return Section("Models and parameters", tuple(blocks), f"{SR}: model documentation")


def _general(report: DebateReport) -> list[tuple[str, str]]:
    rows = [("Ceiling", "none: held elsewhere" if report.imported else ceiling(report.budget))]
    rows.append(("Seed", "none" if report.seed is None else str(report.seed)))
    return rows


def _prompts(report: DebateReport, around: Surroundings) -> Section:
    if not report.prompts:
        return Section("Prompts", (Paragraph("The record names no prompt: nobody was asked by this software."),))
    changed = {word for row in report.warnings for word in row.split() if word.endswith(".md")}
    known = around.prompts or {}
    rows = []
    for name, digest in sorted(report.prompts.items()):
        state = "overridden" if name in changed else "as released"
        if name not in changed and (name not in known or known[name][0] != digest):
            state = "of another version"
        rows.append((name, state, str(digest)))
    text = (
        "Each file is locked by its SHA-256 in the package, and a file that was altered refuses to run unless it is "
        "given by name with --prompts; the record then says which. The prompts as they were sent, one text for each "
        "segment, are in the appendix."
    )
    return Section("Prompts", (Paragraph(text), grid(("file", "state", "SHA-256"), rows, {0, 1, 2})))


def _costs(report: DebateReport) -> Section:
    totals, expected = report.totals, report.estimate
    if report.imported:
        sentence = "The debate was held elsewhere: neither an estimate nor what it took is known."
        return Section("Cost against estimate", (Paragraph(sentence),))
    tokens = None if totals.input_tokens is None else totals.input_tokens + (totals.output_tokens or 0)
    foreseen = int(str(expected["input_tokens"])) + int(str(expected["output_tokens"])) if expected else None
    usd = expected.get("usd") if expected else None
    rows = [
        ("calls", number_words(expected.get("calls") if expected else None), number_words(totals.calls)),
        ("tokens, input and output", number_words(foreseen), number_words(tokens)),
        ("cost", "unknown" if usd is None else dollars(Decimal(str(usd))), totals.money),
    ]
    reasons = totals.reasoning_tokens is not None
    if reasons:
        foreseen_reasoning = expected.get("reasoning_tokens") if expected else None
        rows.insert(2, ("of these, reasoning", number_words(foreseen_reasoning), number_words(totals.reasoning_tokens)))
    blocks: list[Block] = [grid(("", "estimated", "taken"), rows)]
    if foreseen and tokens is not None:
        blocks.append(Paragraph(f"Tokens taken were {tokens / foreseen:.2f} times the estimate."))
    else:
        blocks.append(Paragraph("There is nothing to compare: no estimate, or no token counts, are in the record."))
    by_seat = []
    for seat in report.seats:
        seat_calls = [row for row in report.calls if row.sent.seat == seat.seat]
        costs = [row.usd for row in seat_calls]
        known = sum((cost for cost in costs if cost is not None), Decimal(0))
        used = [[row.tokens(name) for row in seat_calls] for name in ("input_tokens", "output_tokens")]
        reasoned = Totals.of(seat_calls, None).reasoning_tokens
        by_seat.append(
            (
                seat.seat,
                str(len(seat_calls)),
                *(number_words(None if None in each else sum(filter(None, each))) for each in used),
                *([number_words(reasoned)] if reasons else []),
                "unknown" if None in costs else dollars(known),
            )
        )
    apart = ("of these, reasoning",) if reasons else ()
    head = ("seat", "calls", "input tokens", "output tokens", *apart, "cost")
    blocks += [Under("By seat"), grid(head, by_seat)]
    return Section("Cost against estimate", (*blocks, Paragraph(capital(f"{totals.line}."))))


def _oversight(report: DebateReport) -> Section:
    signed = [row for row in report.addenda if row.kind == "sign-off"]
    blocks: list[Block] = [Said(row.title, (*row.texts, f"Signed at head {row.head}")) for row in signed]
    if not [row for row in signed if not row.overtaken]:
        blocks.insert(0, Paragraph("Nobody has signed off this result.", strong=True))
    if panel_reading(report) is not None and (report.escalations or report.outcome.get("escalate")):
        blocks += [Under("Escalation"), *map(Paragraph, escalation_sentences(report))]
    if signed:
        blocks.append(Paragraph(NO_PROOF))
    return Section("Human oversight", tuple(blocks), f"{SR}: governance; EU AI Act, Article 14")


def _outcomes(report: DebateReport) -> Section:
    rows = [row for row in report.addenda if row.kind == "outcome"]
    blocks: list[Block] = [Said(row.title, row.texts) for row in rows]
    if not rows:
        blocks.append(Paragraph("No later outcome or expert finding is attached to this debate.", strong=True))
    return Section("Outcomes", tuple(blocks), f"{SR}: outcomes analysis")


_UNMEASURED = "there is no measured evidence that debates answer such questions better than a single model does"


def _performance(report: DebateReport, around: Surroundings) -> Section:
    kind = one_line(around.task_type, 60)
    blocks: list[Block] = []
    if around.measured is not None:
        seated = frozenset(row.who for row in report.seats if row.kind == "model")
        blocks += performance_blocks(around.measured, seated)
    elif around.measure:
        blocks += [
            Paragraph(
                f"There are labelled questions for the task type {kind}, and no evaluation on them lies beside this "
                f"store: {_UNMEASURED}.",
                strong=True,
            ),
            Facts((("To measure it", around.measure),)),
        ]
    else:
        blocks.append(
            Paragraph(
                f"There is no labelled set of questions for the task type {kind}, so {_UNMEASURED}.",
                strong=True,
            )
        )
    if around.experience:
        blocks += [
            Paragraph(
                "What the store holds on debates of this kind. This is experience, not a measurement of accuracy:"
            ),
            Facts(around.experience),
        ]
    return Section("Performance evidence", tuple(blocks), f"{ACT}(1): accuracy; {SR}: ongoing monitoring")


def _robustness(report: DebateReport) -> Section:
    rejected, abstained = len(report.rejections), sum(row.state is EntryState.ABSTAINED for row in report.entries)
    broken = sum(len(row.violations) for row in report.turns)
    rows = [
        ("Turns taken", str(len(report.turns))),
        ("Abstentions", str(abstained)),
        ("Answers not accepted", str(rejected)),
        ("Rules broken in accepted turns", str(broken)),
        ("Calls that failed", str(report.totals.failed)),
        ("Calls lost with a process", str(report.totals.lost)),
        ("Times resumed", str(report.resumed)),
    ]
    outcome: Mapping[str, Any] = report.outcome
    strengths = [
        row["criticism"]["challenge"]
        for round_ in outcome.get("rounds") or ()
        if isinstance(round_, Mapping)
        for row in round_.get("contests") or ()
        if row.get("criticism")
    ]
    if strengths:
        values = [
            f"{row['strength']} of 10 (claimed {row['claimed']}, measured {row['measured']})" for row in strengths
        ]
        rows.append(("Strength of the challenge", "; ".join(values)))
    blocks = (
        Facts(tuple(rows)),
        Paragraph(
            "Against manipulation: what participants, sources and tools say is fenced in prompts as data; prompts are "
            "locked by hash; every event is chained by hash; keys are not in the record."
        ),
    )
    return Section("Robustness and security", blocks, f"{ACT}(4) and (5): robustness, cybersecurity")


def _verification(report: DebateReport, around: Surroundings) -> Section:
    found = "The record verifies: no event and no text was altered." if around.fault is None else around.fault
    steps = (
        "Take the events of the debate in order; the first follows a hash of 64 zeros.",
        "For each, join with line feeds: disputatio-1, the debate's id, number, time, kind, body, the hash before it.",
        "The SHA-256 of that text in UTF-8 must be the event's hash. The last hash is the head.",
        "Every text that an event names (prompts, schemas, evidence) must have the SHA-256 it is named by.",
    )
    head = f" --head {report.head}" if report.head else ""
    return Section(
        "Verification of the record",
        (
            Paragraph(found, strong=around.fault is not None),
            Facts(
                (
                    ("Events", str(report.events)),
                    ("Head", report.head or "not recorded"),
                    ("Store", around.place),
                    ("Command", f"disputatio verify {report.id}{head}"),
                )
            ),
            Under("How to recompute it without this software"),
            Bullets(steps),
            Paragraph(
                "A whole chain shows that nothing was altered since it was written. It does not show that nobody with "
                "write access rewrote all of it: for that, keep the head where the store's owner cannot change it."
            ),
        ),
        f"{ACT}(5): cybersecurity",
    )
