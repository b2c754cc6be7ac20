"""The combined verdict of the judges, and how far it can be trusted.

A single judge with a single session is taken as it is; otherwise the judges are a panel. A void finding never counts. A
judge whose sessions disagree about an argument gives it no standing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.formats.jury import SIDES, JuryRules, Ruling
from disputatio.formats.turns.adjudication import Adjudication, Irregularity, Judgement, MarkedAnswer
from disputatio.judging.agreement import Agreement, Ratings, cohen_kappa, fleiss_kappa, krippendorff_alpha
from disputatio.judging.consistency import RetestReport, compare_retest
from disputatio.judging.fallacies import FoundFallacy
from disputatio.judging.judge_scores import TIE, JudgeScores, ScoreSpread, measure_spread
from disputatio.judging.panel_verdict import Orders, PanelMethod, PanelStatus, PanelVerdict, measure_agreement
from disputatio.judging.panels import Panel
from disputatio.judging.scoring import Rubric, round_half_up, weigh_scores
from disputatio.judging.standing import Mark, Standing, combine_marks
from disputatio.judging.votes import MAJORITY, Ballot, Silence, by_weight, count_votes
from disputatio.judging.weights import Weights
from disputatio.kernel import JsonObject

SPLIT, VOID, NOT_HEARD = "SPLIT", "VOID", "NOT_HEARD"
_STANDINGS = {row.value: row for row in Standing}
"""Standings by name; other results have no standing."""
_WEIGHTED = frozenset({PanelMethod.WEIGHTED_MEAN, PanelMethod.WEIGHTED_VOTE})


def make_panel(judges: Sequence[str], rules: JuryRules) -> Panel:
    """Return the panel that ``judges`` form under ``rules``.

    Raises:
        InvalidInputError: weights are missing, not wanted, or not those of the judges.
    """
    if rules.method in _WEIGHTED and set(dict(rules.weights)) != set(judges):
        raise InvalidInputError(
            f"The method {rules.method} needs the weight of every judge, and has it for: "
            f"{', '.join(judge for judge, _ in rules.weights) or 'none'}.",
            f"Set {', '.join(f'judging.weights.{judge}' for judge in judges)}, and no other.",
        )
    if rules.weights and rules.method not in _WEIGHTED:
        raise InvalidInputError(
            f"There are weights of judges, and the method {rules.method} does not weigh.",
            "Set judging.method to weighted or weighted-vote, or leave the weights out.",
        )
    return Panel(
        judges=tuple(judges),
        sides=SIDES,
        method=rules.method,
        orders=Orders.BOTH if rules.both_orders else Orders.ONE,
        weights=Weights.fixed(dict(rules.weights)) if rules.weights else None,
        dead_zone=rules.dead_zone,
    )


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """One judge on one argument over all sessions: a standing, SPLIT, VOID or NOT_HEARD, and why."""

    judge: str
    result: str
    reason: str

    @property
    def standing(self) -> Standing | None:
        """The standing; None where the result is not one."""
        return _STANDINGS.get(self.result)


@dataclass(frozen=True, slots=True)
class ArgumentFinding:
    """What the jury found on one argument.

    Attributes:
        result: a standing; SPLIT without a majority for one; VOID where every finding is; empty without a ruling.
        reason: why, in a judge's words.
        void: why the finding is void; empty where it is not.
        scores: points by criterion, of one judge as given, of several the mean; None where none counts.
        score: weighted points, by the method where there are several judges.
        fallacies: each once.
        irregular: new arguments and cross-references, each once.
        marks: the combined mark of every answer by its id, with the words of a judge who gave it.
        judges: the result of every judge.
        notes: every finding of every judge as JSON, retests included.
    """

    result: str
    reason: str
    void: str
    scores: Mapping[str, float] | None
    score: Fraction | None
    fallacies: tuple[FoundFallacy, ...]
    judges: tuple[JudgeResult, ...]
    notes: tuple[JsonObject, ...]
    irregular: tuple[Irregularity, ...] = ()
    marks: Mapping[str, tuple[Mark, str]] = field(default_factory=dict)

    def mark(self, answer: str) -> Mark:
        """Return how well the answer meets its question; UNMARKED where no judge quoted it."""
        return self.marks[answer][0] if answer in self.marks else Mark.UNMARKED

    def answer_json(self, answer: str) -> JsonObject:
        """Return the mark of an answer as the record keeps it."""
        mark, words = self.marks.get(answer, (Mark.UNMARKED, ""))
        return {"id": answer, "mark": mark.value, "words": words}

    @property
    def standing(self) -> Standing | None:
        """The standing; None where the result is not one."""
        return _STANDINGS.get(self.result)


@dataclass(frozen=True, slots=True)
class JuryVerdict:
    """What the jury found over the whole debate. ``panel`` is None for one judge with one session."""

    judges: tuple[str, ...]
    rules: JuryRules
    rubric: Rubric
    rulings: tuple[Ruling, ...]
    panel: PanelVerdict | None
    points: Mapping[str, Fraction]
    agreement: tuple[Agreement, ...]
    retests: tuple[RetestReport, ...]

    @property
    def opinions(self) -> tuple[tuple[str, Adjudication], ...]:
        """Each judge with an adjudication, and the first one that counts."""
        found: dict[str, Adjudication] = {}
        for row in self.rulings:
            if row.adjudication is not None and not row.session.again:
                found.setdefault(row.judge, row.adjudication)
        return tuple((judge, found[judge]) for judge in self.judges if judge in found)

    @property
    def spreads(self) -> tuple[tuple[str, ScoreSpread], ...]:
        """The spread of each judge's scores over all sessions that count."""
        return tuple(
            (judge, measure_spread([score for row in self._rows(judge) for score in row.scores.values()]))
            for judge, _ in self.opinions
        )

    @property
    def reading(self) -> str:
        """The verdict of a panel: the winner, the method, the votes, and whether it survived the swap."""
        panel = self.panel
        if panel is None:
            return ""
        number = len(panel.findings)
        by = f"the {panel.method.value} of {number} judges" if number > 1 else "one judge"
        if panel.status is PanelStatus.UNDECIDED:
            return f"{panel.end} by {by}: {panel.reason}"
        return f"{panel.end} by {by}{_tally(panel)}: {_swap(panel)}; {panel.reading}"

    def on(self, argument: str) -> ArgumentFinding:
        """Return what the jury found on ``argument``."""
        words = tuple(self.judge_result(judge, argument) for judge in self.judges)
        counting = [row.judge for row in words if row.result not in {VOID, NOT_HEARD}]
        counted = [row for judge in counting for row in self._rows(judge) if row.argument == argument]
        result, reason = self._together(words)
        void = next((row.reason for row in words if row.result == VOID), "") if result == VOID else ""
        one = counted[0] if counted and self.panel is None else None
        return ArgumentFinding(
            result=result,
            reason=reason,
            void=void,
            scores=dict(one.scores) if one else _means(counted),
            score=weigh_scores(one.scores, self.rubric) if one else self.points.get(argument),
            fallacies=tuple({(row.fallacy, row.words): row for found in counted for row in found.fallacies}.values()),
            judges=words,
            notes=tuple(self._notes(argument)),
            irregular=tuple({(row.breach, row.words): row for found in counted for row in found.irregular}.values()),
            marks=_marks(counted),
        )

    def as_json(self) -> JsonObject:
        """Return what the record and the exports keep besides the arguments."""
        return {
            "panel": None if self.panel is None else self.panel.as_json(),
            "agreement": [row.as_json() for row in self.agreement],
            "retests": [row.as_json() for row in self.retests],
            "score_spread": [{"judge": judge, **spread.as_json()} for judge, spread in self.spreads],
            "anonymous": self.rules.hides_sides,
            "opinions": [
                {
                    "judge": judge,
                    "key_insight": row.key_insight,
                    "unresolved_questions": list(row.unresolved_questions),
                    "recommendation": row.recommendation,
                }
                for judge, row in self.opinions
            ],
        }

    def _rows(self, judge: str) -> list[Judgement]:
        """Return the findings of ``judge`` that count."""
        return [
            row
            for ruling in self.rulings
            if ruling.judge == judge and not ruling.session.again and ruling.adjudication
            for row in ruling.adjudication.judgements
            if not row.void_because
        ]

    def judge_result(self, judge: str, argument: str) -> JudgeResult:
        """Return the result of ``judge`` on ``argument`` over all sessions."""
        sat = [row for row in self.rulings if row.judge == judge and not row.session.again]
        failed = next((row.failure or "no reason was given" for row in sat if row.adjudication is None), "")
        if failed or not sat:
            return JudgeResult(judge, NOT_HEARD, failed)
        rows = [row for ruling in sat for row in _judgements(ruling) if row.argument == argument]
        void = next((row.void_because for row in rows if row.void_because), "")
        if void or not rows:
            return JudgeResult(judge, VOID, void)
        words = list(dict.fromkeys(row.standing.value for row in rows))
        if len(words) > 1:
            return JudgeResult(judge, SPLIT, f"{' and '.join(words)}, by the order of the sides")
        return JudgeResult(judge, words[0], rows[0].reason)

    def _together(self, words: tuple[JudgeResult, ...]) -> tuple[str, str]:
        if len(words) == 1:
            (row,) = words
            return ("", "") if row.result == NOT_HEARD else (row.result, row.reason if row.standing else "")
        heard = {row.result for row in words} - {NOT_HEARD}
        if heard <= {VOID}:
            return (VOID, "") if heard else ("", "")
        ballots = [
            Ballot.cast(row.judge, row.result)
            if row.standing
            else Ballot.silent(row.judge, Silence.ABSTAINED, row.result)
            for row in words
        ]
        weights = dict(self.rules.weights)
        found = count_votes(by_weight(weights) if weights else MAJORITY, self.judges, ballots, tuple(Standing)).winner
        if found is None:
            return SPLIT, "the judges part: " + ", ".join(f"{row.judge} {row.result}" for row in words)
        return found, next(f"{row.judge}: {row.reason}" for row in words if row.result == found)

    def _notes(self, argument: str) -> Iterable[JsonObject]:
        for ruling in self.rulings:
            for row in _judgements(ruling):
                if row.argument == argument:
                    void = row.void_because
                    yield {
                        "judge": ruling.judge,
                        "first_shown": ruling.session.order[0],
                        "again": ruling.session.again,
                        "void": void,
                        "rests_on": list(row.grounds.named),
                        "standing": None if void else row.standing.value,
                        "reason": row.reason,
                        "criteria": None if void else row.scores,
                        "weighted": None if void else round_half_up(weigh_scores(row.scores, self.rubric), 4),
                    }


def build_jury_verdict(
    rulings: Sequence[Ruling], judges: Sequence[str], rules: JuryRules, rubric: Rubric, sides: Mapping[str, str]
) -> JuryVerdict:
    """Combine the rulings.

    Args:
        rulings: one for every judge in every session.
        judges: the registered judges, in order.
        rules: how they are combined.
        rubric: what was scored.
        sides: the side of each argument.
    """
    panel, points = None, dict[str, Fraction]()
    # An argument that is void in one session is left out of all sessions of that judge, to keep them comparable.
    void = {(row.judge, found.argument) for row in rulings for found in _judgements(row) if found.void_because}
    scores = {(row.judge, row.session): _scores(row, rubric, sides, void) for row in rulings}
    if rulings and (len(judges) > 1 or len(rules.sessions) > 1):
        bench = make_panel(judges, rules)
        panel = bench.verdict([row for (_, session), row in scores.items() if not session.again])
        points = bench.arguments(panel.findings)
    first, *_, last = rules.sessions * 2
    retests = [
        compare_retest(scores[judge, first], scores[judge, last])
        for judge in judges
        if last.again and (judge, last) in scores
    ]
    found = JuryVerdict(tuple(judges), rules, rubric, tuple(rulings), panel, points, (), tuple(retests))
    if panel is None or len(judges) < 2:
        return found
    words = [[found.judge_result(judge, argument).standing for argument in sides] for judge in judges]
    return replace(found, agreement=_agreement(panel, words))


def _scores(ruling: Ruling, rubric: Rubric, sides: Mapping[str, str], void: Set[tuple[str, str]]) -> JudgeScores:
    order = ruling.session.order
    if ruling.adjudication is None:
        return JudgeScores.failed(ruling.judge, order, ruling.failure)
    findings: dict[str, dict[str, dict[str, int]]] = {}
    for row in ruling.adjudication.judgements:
        if (ruling.judge, row.argument) not in void:
            findings.setdefault(sides[row.argument], {})[row.argument] = row.scores
    return JudgeScores.from_findings(ruling.judge, order, findings, rubric)


def _agreement(panel: PanelVerdict, words: list[list[Standing | None]]) -> tuple[Agreement, ...]:
    """Return alpha and W of the points, alpha and kappa of the standings: Cohen's for two judges, Fleiss' for more."""
    alpha, w = measure_agreement(panel)
    standings: Ratings = [[result and result.value for result in row] for row in words]
    name = "Cohen's" if len(words) == 2 else "Fleiss'"
    kappa = cohen_kappa(standings[0], standings[1]) if len(words) == 2 else fleiss_kappa(standings)
    return (
        replace(alpha, measure="Krippendorff's alpha (points)"),
        replace(w, measure="Kendall's W (points)"),
        replace(krippendorff_alpha(standings), measure="Krippendorff's alpha (standings)"),
        replace(kappa, measure=f"{name} kappa (standings)"),
    )


def _judgements(ruling: Ruling) -> tuple[Judgement, ...]:
    return ruling.adjudication.judgements if ruling.adjudication else ()


def _marks(rows: Sequence[Judgement]) -> dict[str, tuple[Mark, str]]:
    """Return the combined mark of every answer, with the words of the first finding that gave it."""
    given: dict[str, list[MarkedAnswer]] = {}
    for row in rows:
        for marked in row.answers:
            given.setdefault(marked.id, []).append(marked)
    found = {answer: combine_marks(row.mark for row in marks) for answer, marks in given.items()}
    return {
        answer: (mark, next((row.words for row in given[answer] if row.mark is mark), ""))
        for answer, mark in found.items()
    }


def _means(rows: Sequence[Judgement]) -> dict[str, float] | None:
    if not rows:
        return None
    return {key: round_half_up(Fraction(sum(row.scores[key] for row in rows), len(rows))) for key in rows[0].scores}


def _tally(panel: PanelVerdict) -> str:
    """Return how many judges found for whom, in brackets; nothing for one judge."""
    if len(panel.findings) == 1:
        return ""
    heard = [row.verdict for row in panel.findings if row.heard]
    counts = [f"{heard.count(side)} for {side}" for side in panel.sides if side in heard]
    counts += [f"{heard.count(TIE)} tied"] if TIE in heard else []
    counts += [f"{len(panel.failed)} not heard"] if panel.failed else []
    return f" ({', '.join(counts)})"


def _swap(panel: PanelVerdict) -> str:
    """Return whether the verdict survived the swap of the sides."""
    if panel.orders is Orders.ONE:
        return "sides shown in one order only"
    if panel.status is PanelStatus.WON:
        return "the win survived the swap of the sides"
    if panel.order_decided:
        return f"the order of the sides decided with {', '.join(panel.order_decided)}, so no win survived the swap"
    return "no win survived the swap of the sides"
