"""The competition: four debaters against four, and a judge.

The rules
    1. Seats. PRO speaks for the motion, CON against it. Each team has a first, second, third and fourth debater.
       Everybody hears public speeches. Only a team's four debaters read and write its channel, and only the judge the
       judge's notes.
    2. Opening. The first of PRO, then the first of CON: 3 minutes each.
    3. Cross-examination. The second of PRO, the second of CON, the third of PRO and the third of CON each put at least
       three questions in half a minute to the second or third of the other team. The chosen debater answers in 1 minute
       and asks nothing back. Then the firsts sum up, PRO before CON: 2 minutes each.
    4. Free debate. Each team has 4 minutes and a number of speeches. PRO begins, and the teams alternate while both
       have time. Before each speech the team's captain says who speaks and about what; debaters who have not spoken
       come first. A speech has an equal share of the team's words, unless another limit is set, and less where time is
       reserved for debaters who have not spoken yet. Words beyond the limit cost points and take no time from later
       speeches. A team without words or speeches stops, and the other finishes. In the concurrent mode both captains
       bid instead: the higher bid speaks; in a tie the team that did not speak last. A team that speaks twice in a row
       while the other has words left pays for it.
    5. Closing. The fourth of CON, then the fourth of PRO: 3 minutes each.
    6. Scoring. After every speech the judge scores it by five criteria and quotes the words that break a rule. After
       every stage the judge sums it up, and at the end the whole match. Where there are sources a speech may cite them;
       citations do not count as words. Code checks each citation, and everybody hears the speech with the result.
    7. Clocks count words, 250 to the minute. A speech that is too long or breaks another rule is never asked for again:
       code applies the penalty. A violation without a price lowers the speech's rule compliance.
    8. The team with the higher total wins; equal totals are a draw. The best debater has the most points per speech,
       since places speak unequally often; ties are all named. Where the teams gave different numbers of speeches the
       result says so, with the points per speech.

A debater who is silent where a speech was due has no score for it. In the free debate the captain does not call that
debater again. Where a captain is silent or names nobody, the schedule decides: the debater who has spoken least.

Source: the debate competition protocol (nine agents, four stages). Departures:
- The captain is the first debater unless set; the protocol has none.
- It does not say how to decide between two bids.
- A team has a maximum number of free speeches, and each has a limit. Every speech brings points, so many short speeches
    would win by their number.
- The best debater is found by the mean. The protocol takes the sum, although the second debater has more speeches than
    the fourth.

Editions. A record without an edition is of the first: a free speech had no limit but the words of its team, and the
best debater was found by the sum.
"""

from __future__ import annotations

from dataclasses import replace

from disputatio.formats.competition_rules import CONCURRENT, CompetitionRules
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.match import (
    BY_ATTACKER,
    BY_CAPTAIN,
    BY_SCHEDULE,
    CON,
    JUDGE,
    JUDGE_NOTES,
    PRO,
    TEAMS,
    Charge,
    Clock,
    Match,
    Silence,
    Speech,
    apply_scoring,
    channels,
    debater,
    opponent_of,
    score_json,
    team_channel,
    team_of,
    total_of_debater,
    total_of_team,
)
from disputatio.formats.match_verdict import MatchVerdict, points_text
from disputatio.formats.turns.citing import NOTHING, Citing, unmarked
from disputatio.formats.turns.scoring import (
    ABOUT,
    FINAL_POINTS,
    JUDGED,
    STAGE_POINTS,
    Foul,
    Scoring,
    ScoringSpec,
    Summation,
    SummationSpec,
    criteria_list,
)
from disputatio.formats.turns.speech import Direction, DirectionSpec, QuestionsSpec, SpeechKind, SpeechSpec, SpeechTurn
from disputatio.kernel import Abstention, Limits, Message, Phase, Rulebook, Seat, Task, ask, declare, together

OPENING, CROSS_EXAMINATION = Phase("opening"), Phase("cross-examination")
FREE_DEBATE, CLOSING, VERDICT = Phase("free_debate"), Phase("closing"), Phase("verdict")
STAGES = (OPENING, CROSS_EXAMINATION, FREE_DEBATE, CLOSING)

ATTACKERS = (debater(PRO, 2), debater(CON, 2), debater(PRO, 3), debater(CON, 3))
DEFENDERS = (2, 3)


def competition(rules: CompetitionRules, context: DebateContext) -> Rulebook[MatchVerdict]:
    """Run a match."""
    cites = bool(context.sources) and rules.edition > 1
    match = Match(channels(), citing=Citing(context.sources, context.motion.text) if cites else NOTHING)

    for team in (PRO, CON):
        match = yield from give_speech(match, debater(team, 1), OPENING, SpeechKind.OPENING, rules)
    match = yield from sum_up(match, OPENING, rules)

    for attacker in ATTACKERS:
        match = yield from cross_examine(match, attacker, rules)
    for team in (PRO, CON):
        match = yield from give_speech(match, debater(team, 1), CROSS_EXAMINATION, SpeechKind.SUMMARY, rules)
    match = yield from sum_up(match, CROSS_EXAMINATION, rules)

    match = yield from run_free_debate(match, rules)
    match = yield from sum_up(match, FREE_DEBATE, rules)

    for team in (CON, PRO):
        match = yield from give_speech(match, debater(team, 4), CLOSING, SpeechKind.CLOSING, rules)
    match = yield from sum_up(match, CLOSING, rules)

    match = yield from sum_up(match, VERDICT, rules)
    return MatchVerdict(match, rules)


def give_speech(
    match: Match,
    seat: Seat,
    stage: Phase,
    kind: SpeechKind,
    rules: CompetitionRules,
    *,
    limit: int | None = None,
    selected_by: str = BY_SCHEDULE,
    charges: tuple[Charge, ...] = (),
) -> Rulebook[Match]:
    """Ask one debater for a speech, add it for everybody, and ask the judge to score it.

    Args:
        match: the match so far.
        seat: the speaker.
        stage: the stage of the match.
        kind: the purpose of the speech.
        rules: the rules.
        limit: the most words, where it differs from the rules' number.
        selected_by: who chose the speaker.
        charges: fouls in the order of speakers.
    """
    limit = rules.words(kind) if limit is None else limit
    spec = make_spec(match, seat, kind, limit, rules)
    turn = yield from ask(
        seat,
        stage,
        spec=spec,
        task=make_task(match, seat, kind, limit, rules),
        messages=match.transcript.visible_to(seat),
        limits=find_limits(kind, rules),
    )
    if isinstance(turn, Abstention) or turn.words == 0:
        return add_silence(match, seat, stage, kind, turn)
    number = f"S{len(match.speeches) + 1}"
    given = Speech(number, seat, stage, kind, turn, limit, selected_by, spec.violations(turn), charges=charges)
    match = replace(
        match, transcript=match.transcript.add(Message(seat, stage, turn.text())), speeches=(*match.speeches, given)
    )
    match = yield from score_speech(match, given, rules)
    return match


def add_silence(match: Match, seat: Seat, stage: Phase, kind: SpeechKind, turn: SpeechTurn | Abstention) -> Match:
    """Return the match after a missing speech. A match that ran out of budget ends unfinished."""
    reason = turn.detail or turn.reason if isinstance(turn, Abstention) else "not a word was said"
    unpaid = isinstance(turn, Abstention) and turn.reason == "budget"
    silences = (*match.silences, Silence(seat, stage, kind.value, reason))
    return replace(match, silences=silences, finished=match.finished and not unpaid)


def cross_examine(match: Match, attacker: Seat, rules: CompetitionRules) -> Rulebook[Match]:
    """One attacker asks, and the opponent it chose answers. Without a question there is no answer."""
    before = len(match.speeches)
    match = yield from give_speech(match, attacker, CROSS_EXAMINATION, SpeechKind.QUESTIONS, rules)
    if len(match.speeches) == before:
        return match
    answerer = Seat(match.speeches[-1].turn.answerer)
    match = yield from give_speech(
        match, answerer, CROSS_EXAMINATION, SpeechKind.ANSWER, rules, selected_by=BY_ATTACKER
    )
    return match


def run_free_debate(match: Match, rules: CompetitionRules) -> Rulebook[Match]:
    """Speech after speech, until both teams have used up their words or have no speaker left."""
    clocks = {team: Clock(team, rules.free_words, rules.free_speeches, cap=rules.free_cap) for team in TEAMS}
    last = CON
    while any(clock.running for clock in clocks.values()):
        team, direction = yield from choose_team(match, clocks, last, rules)
        clock, other = clocks[team], clocks[opponent_of(team)]
        seat, selected_by = clock.next_by_schedule, BY_SCHEDULE
        if direction is not None:
            seat, selected_by = Seat(direction.speaker), BY_CAPTAIN
            captain, channel = debater(team, rules.captain), team_channel(team)
            match = replace(
                match, transcript=match.transcript.add(Message(captain, FREE_DEBATE, direction.text(), channel))
            )

        before = len(match.speeches)
        match = yield from give_speech(
            match,
            seat,
            FREE_DEBATE,
            SpeechKind.FREE,
            rules,
            limit=clock.limit,
            selected_by=selected_by,
            charges=charge_second_turn(team, last, other) if has_free_speech(match) else (),
        )
        if len(match.speeches) == before:
            clocks[team] = clock.without(seat)
            continue
        clocks[team], last = clock.after(seat, match.speeches[-1].words), team
    return match


def choose_team(
    match: Match, clocks: dict[str, Clock], last: str, rules: CompetitionRules
) -> Rulebook[tuple[str, Direction | None]]:
    """Return which team speaks now and its captain's direction; None where the captain was silent."""
    following = opponent_of(last) if clocks[opponent_of(last)].running else last
    if rules.free_mode != CONCURRENT or not all(clock.running for clock in clocks.values()):
        direction = yield from ask_captain(match, clocks[following], rules, bids=False)
        return following, direction
    bids = yield from together(*(ask_captain(match, clocks[team], rules, bids=True) for team in TEAMS))
    pro, con = (direction.bid if direction else 0 for direction in bids)
    team = following if pro == con else PRO if pro > con else CON
    return team, bids[TEAMS.index(team)]


def charge_second_turn(team: str, last: str, other: Clock) -> tuple[Charge, ...]:
    """Charge a team that speaks again while the other could have spoken."""
    if team != last or not other.running:
        return ()
    return (Charge(Foul.SAME_TEAM, "code", f"{team.upper()} spoke last, and {other.team.upper()} had words left"),)


def has_free_speech(match: Match) -> bool:
    """Whether the free debate has had a speech."""
    return match.last is not None and match.last.stage == FREE_DEBATE


def ask_captain(match: Match, clock: Clock, rules: CompetitionRules, *, bids: bool) -> Rulebook[Direction | None]:
    """Ask a captain which debater speaks, and about what."""
    captain = debater(clock.team, rules.captain)
    able = ", ".join(clock.able)
    counts = ", ".join(f"{seat} {clock.spoken.count(seat)}" for seat in clock.able)
    values = {
        **describe_debater(captain, rules),
        "able": able,
        "counts": counts,
        "words_left": str(clock.words_left),
        "limit": str(clock.limit),
        "seconds_left": str(clock.words_left * 60 // rules.words_a_minute),
    }
    turn = yield from ask(
        captain,
        FREE_DEBATE,
        spec=DirectionSpec(clock.able, bids, stance_of(clock.team), {"heard": last_of(match, opponent_of(clock.team))}),
        task=Task(
            "bid" if bids else "direction", values, quote_personality(captain, rules), list_layers(captain, rules)
        ),
        messages=match.transcript.visible_to(captain),
        limits=rules.direction,
    )
    return None if isinstance(turn, Abstention) else turn


def score_speech(match: Match, given: Speech, rules: CompetitionRules) -> Rulebook[Match]:
    """Ask the judge to score the last speech; compute the score, the penalties and all totals."""
    spec = ScoringSpec(given.kind, given.turn.words_said, rules.rubric)
    found = "; ".join(f"{ABOUT[Foul(row.rule)]} ({row.detail})" for row in given.broken)
    values = {
        "speaker": given.seat,
        "speech": given.id,
        "kind": KINDS[given.kind],
        "criteria": "\n".join(f"  {row}" for row in criteria_list(rules.rubric).splitlines()),
        "violations": "\n".join(f"  - {foul.value}: {ABOUT[foul]}" for foul in JUDGED[given.kind]),
        "found": found or "none",
    }
    turn = yield from ask(
        JUDGE,
        Phase(given.stage),
        spec=spec,
        task=Task("scoring", values),
        messages=match.transcript.visible_to(JUDGE),
        limits=rules.judging,
    )
    judged = apply_scoring(given, turn if isinstance(turn, Scoring) else None, rules)
    match = match.with_last(judged)
    if isinstance(turn, Scoring):
        note = unmarked(f"{given.id} {given.seat}: {points_text(judged.score)}. {turn.comment}")
        match = replace(match, transcript=match.transcript.add(Message(JUDGE, Phase(given.stage), note, JUDGE_NOTES)))
    for penalty in judged.penalties:
        yield from declare("penalty", f"{given.id} {penalty.who} {penalty.foul}", penalty.as_json())
    totals = [total_of_debater(match, given.seat), *(total_of_team(match, team) for team in TEAMS)]
    yield from declare("score", given.id, score_json(judged, totals))
    return match


def sum_up(match: Match, stage: Phase, rules: CompetitionRules) -> Rulebook[Match]:
    """Ask the judge to sum up a stage or the match; skip a stage without speeches."""
    final = stage == VERDICT
    speeches = [row for row in match.speeches if final or row.stage == stage]
    if not speeches:
        return match
    named = stage.replace("_", " ")
    said = "\n".join(row.turn.words_said for row in speeches[-2:])
    totals = ", ".join(f"{team.upper()} {points_text(total_of_team(match, team).points)}" for team in TEAMS)
    turn = yield from ask(
        JUDGE,
        stage,
        spec=SummationSpec(FINAL_POINTS if final else STAGE_POINTS, said),
        task=Task("final", {"totals": totals}) if final else Task("stage", {"stage": named, "totals": totals}),
        messages=match.transcript.visible_to(JUDGE),
        limits=rules.judging,
    )
    summation = turn if isinstance(turn, Summation) else None
    if summation:
        match = replace(match, transcript=match.transcript.add(Message(JUDGE, stage, summation.text(), JUDGE_NOTES)))
    return replace(match, summaries=(*match.summaries, (stage, summation)))


KINDS = {
    SpeechKind.OPENING: "opening statement",
    SpeechKind.QUESTIONS: "questions in cross-examination",
    SpeechKind.ANSWER: "answer in cross-examination",
    SpeechKind.SUMMARY: "summary of the cross-examination",
    SpeechKind.FREE: "speech in the free debate",
    SpeechKind.CLOSING: "closing statement",
}


def make_spec(
    match: Match, seat: Seat, kind: SpeechKind, limit: int, rules: CompetitionRules
) -> SpeechSpec | QuestionsSpec:
    """Return the spec of a speech."""
    stance, other = stance_of(team_of(seat)), opponent_of(team_of(seat))
    heard = {"heard": last_of(match, other)}
    number = sum(row.team == team_of(seat) for row in match.speeches)
    if kind is SpeechKind.QUESTIONS:
        answerers = tuple(debater(other, place) for place in DEFENDERS)
        return QuestionsSpec(answerers, limit, rules.least_questions, stance, number, heard)
    return SpeechSpec(kind, limit, stance, number, heard, match.citing)


def find_limits(kind: SpeechKind, rules: CompetitionRules) -> Limits:
    """Return the limits of a speech. A broken rule is never asked again."""
    return {
        SpeechKind.OPENING: rules.opening,
        SpeechKind.QUESTIONS: rules.cross_examination,
        SpeechKind.ANSWER: rules.cross_examination,
        SpeechKind.SUMMARY: rules.summary,
        SpeechKind.FREE: rules.free_debate,
        SpeechKind.CLOSING: rules.closing,
    }[kind]


def make_task(match: Match, seat: Seat, kind: SpeechKind, limit: int, rules: CompetitionRules) -> Task:
    """Return a debater's task: identity, personality, position, and the speech that is due."""
    before = match.last
    values = {**describe_debater(seat, rules), "limit": str(limit)}
    if kind is SpeechKind.QUESTIONS:
        answerers = (debater(opponent_of(team_of(seat)), place) for place in DEFENDERS)
        values |= {"least": str(rules.least_questions), "answerers": ", ".join(answerers)}
    elif kind is SpeechKind.ANSWER:
        values["before"] = before.seat if before else "nobody"
    elif kind is SpeechKind.FREE:
        values |= {
            "advised": str(suggest_length(match, seat, limit, rules)),
            "left": str(count_words_left(match, seat, rules)),
        }
    if rules.edition == 1:
        return Task(kind.value, values, quote_personality(seat, rules), list_layers(seat, rules))
    told = (*list_layers(seat, rules), "standards")
    return Task(kind.value, {**values, **describe_scoring(rules)}, quote_personality(seat, rules), told)


def suggest_length(match: Match, seat: Seat, limit: int, rules: CompetitionRules) -> int:
    """Return how long a free speech should be so that the whole team can speak."""
    if rules.free_cap is not None:
        return limit
    heard = {row.seat for row in match.speeches if row.stage == FREE_DEBATE and row.team == team_of(seat)}
    waiting = max(4 - len(heard - {seat}), 1)
    return max(min(limit // waiting, rules.free_words // 8), 1)


def count_words_left(match: Match, seat: Seat, rules: CompetitionRules) -> int:
    """Return the words that the team of ``seat`` has left in the free debate."""
    given = [row for row in match.speeches if row.stage == FREE_DEBATE and row.team == team_of(seat)]
    used = sum(row.words if rules.free_cap is None else min(row.words, row.limit) for row in given)
    return max(rules.free_words - used, 0)


def describe_debater(seat: Seat, rules: CompetitionRules) -> dict[str, str]:
    """Return the prompt values that say who a debater is."""
    team = team_of(seat)
    places = {1: "first", 2: "second", 3: "third", 4: "fourth"}
    return {
        "seat": seat,
        "team": team.upper(),
        "opponent": opponent_of(team).upper(),
        "stance": stance_of(team),
        "place": places[int(seat[-1])],
        "captain": debater(team, rules.captain),
    }


def describe_scoring(rules: CompetitionRules) -> dict[str, str]:
    """Return the prompt values of the criteria, the penalties and the limits."""
    prices = (
        (f"team {rules.overtime_team}, speaker {rules.overtime_individual}", Foul.OVERTIME),
        (f"speaker {rules.counter_question}", Foul.COUNTER_QUESTION),
        (f"speaker {rules.attacker_answered}", Foul.ATTACKER_ANSWERED),
        (f"team {rules.same_team}", Foul.SAME_TEAM),
    )
    limits = {
        "opening": rules.opening_words,
        "questions": rules.question_words,
        "answer": rules.answer_words,
        "summary": rules.summary_words,
        "free speech": rules.free_cap or rules.free_words,
        "closing": rules.closing_words,
    }
    weights = [f"- {row.key} ({int(row.weight * 100)} %): {row.question}" for row in rules.rubric.criteria]
    return {
        "criteria": "\n".join(weights),
        "penalties": "\n".join(f"- {ABOUT[foul]}: {price}" for price, foul in prices),
        "cap": str(rules.compliance_cap),
        "limits": ", ".join(f"{name} {words}" for name, words in limits.items()),
    }


def list_layers(seat: Seat, rules: CompetitionRules) -> tuple[str, ...]:
    """Return the prompt files before a debater's task: identity, personality, position."""
    personal = ("personality",) if rules.cast.of(seat) else ()
    return ("identity", *personal, f"position-{seat[-1]}")


def quote_personality(seat: Seat, rules: CompetitionRules) -> dict[str, str]:
    """Return the text of a debater's personality as a quote, since a user may have written it."""
    own = rules.cast.of(seat)
    return {"personality": own.about} if own else {}


def stance_of(team: str) -> str:
    """For or against the motion."""
    return "for" if team == PRO else "against"


def last_of(match: Match, team: str) -> str:
    """Return the last public words of ``team``, for models that see one text at a time."""
    return next((row.turn.words_said for row in reversed(match.speeches) if row.team == team), "")
