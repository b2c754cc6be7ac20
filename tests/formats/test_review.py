"""What is true of every review: who is asked when, what is struck, what is flagged, and where it stops."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.registry import FORMATS
from disputatio.formats.review import ReviewRules
from disputatio.formats.ruleset import rules_from_json, rules_json
from disputatio.kernel import Abstention, AskPath
from disputatio.motion import Motion
from disputatio.record.text import canonical, read_json
from disputatio.report.review import review_points
from disputatio.testing.instances import instance
from review_turns import (
    CLAUSE,
    SOURCES,
    criticism,
    moderation,
    proposition,
    rebuttal,
    resting,
    reviewed,
    saying,
    silent,
)
from strategies import Debate, debates, examples, hold

any_review = debates("review")
PROPOSITION, MODERATION = AskPath("proposition/proposer"), AskPath("moderation/moderator")


def flags(held: Any) -> list[str]:
    return [row.flag for row in held.outcome.flags]


def again(ask: Any) -> dict[str, Any]:
    return moderation(ask, again=True, **{"CRIT-1": "unresolved", "CRIT-201": "unresolved", "CRIT-301": "unresolved"})


def test_one_round_asks_each_role_once() -> None:
    held = reviewed()
    assert [path.split("/")[1] for path in held.asks] == ["framer", "proposer", "critic", "rebutter", "moderator"]
    assert held.outcome.reading == "MODERATE confidence after 1 round: of 4 criticisms 0 upheld, 4 met"
    assert flags(held) == []


@examples(15)
@given(any_review)
def test_every_argument_that_stands_is_answered_and_found_on(debate: Debate) -> None:
    held = debate.held()
    for row in held.outcome.rounds:
        for contest in row.contests:
            standing = [each.id for each in contest.criticisms if each.id not in contest.struck]
            assert not contest.rebuttals or [each.target for each in contest.rebuttals.answers] == standing
        if row.moderation:
            assert [each.argument for each in row.moderation.findings] == [each.id for each in row.exhibits]
            assert [each.criticism for each in row.moderation.points] == list(row.open_criticisms)
            assert row.moderation.uncertainties
    ids = [row["id"] for row in held.outcome.as_json()["trace"]]
    assert len(ids) == len(set(ids)), "no number is given twice"


@examples(15)
@given(any_review)
def test_the_outcome_has_the_last_complete_moderation(debate: Debate) -> None:
    held = debate.held()
    body: Any = held.outcome.as_json()
    assert read_json(canonical(body)) == body
    moderated = [row for row in held.outcome.rounds if row.moderation]
    assert body["judged"] == bool(moderated)
    assert body["synthesis"] == (moderated[-1].moderation.synthesis if moderated else "")
    assert len(held.outcome.rounds) <= min(debate.rules.rounds, 3)


def test_a_weak_critic_gets_a_stronger_instruction_once() -> None:
    held = reviewed(saying(criticism=[lambda ask: criticism(ask, 4), lambda ask: criticism(ask, 9)]))
    paths = [str(path) for path in held.asks]
    assert paths.count("critique/critic") == paths.count("critique/critic#2") == 1
    second = held.asks["critique/critic#2"]
    assert second.task.prompt == "critique-again"
    assert second.task.values["strength"] == "4"
    assert "Ground 1 fails" in second.task.quotes["critique"]
    (contest,) = held.outcome.rounds[0].contests
    assert (contest.first_critique.strength.value, contest.criticism.strength.value) == (4, 9)
    assert flags(held) == []


def test_a_critic_that_stays_weak_flags_the_debate() -> None:
    held = reviewed(saying(criticism=lambda ask: criticism(ask, 3)))
    assert sum(str(path).startswith("critique/") for path in held.asks) == 2
    assert flags(held) == ["weak_challenge"]
    assert held.outcome.as_json()["challenge_strength"] == 3


def test_the_stronger_of_two_critiques_counts() -> None:
    held = reviewed(saying(criticism=[lambda ask: criticism(ask, 5), lambda ask: criticism(ask, 2)]))
    assert held.outcome.rounds[0].contests[0].criticism.strength.value == 5
    kept = reviewed(saying(criticism=[lambda ask: criticism(ask, 5), silent]))
    assert kept.outcome.rounds[0].contests[0].criticism.strength.value == 5


def empty_praise(ask: Any) -> dict[str, Any]:
    rows = criticism(ask, 10, 3)["arguments"]
    told = {"claim": "It is a bad idea all in all.", "reasoning": "Somebody may not like it so very much."}
    return {**criticism(ask, 10, 3), "arguments": [{**row, **told, "attack": "tail_risk"} for row in rows]}


def test_an_overrated_critic_is_measured_and_flagged() -> None:
    held = reviewed(saying(criticism=empty_praise))
    (contest,) = held.outcome.rounds[0].contests
    assert contest.criticism.strength.claimed == 10
    assert contest.criticism.strength.value <= 5
    assert contest.first_critique
    assert "overrated_challenge" in flags(held)


def test_a_moderator_gets_no_more_rounds_than_were_set() -> None:
    for rounds in (1, 2, 3, 7):
        held = reviewed(saying(moderation=again), rounds=rounds)
        assert len(held.outcome.rounds) == min(rounds, 3)
        assert held.outcome.stop.value == "maximum_rounds"
        assert "unresolved_at_maximum" in flags(held)
        seats = {path.rpartition("/")[2].partition("#")[0] for path in held.asks if "round-" in path}
        assert seats == (set() if rounds == 1 else {"proposer", "critic", "rebutter", "moderator"})


def test_a_further_round_has_everything_before_in_view() -> None:
    held = reviewed(saying(moderation=again), rounds=2)
    seen = [(message.seat, message.phase) for message in held.asks["proposition-round-2/proposer"].messages]
    assert seen == [
        ("framer", "framing"),
        ("proposer", "proposition"),
        ("critic", "critique"),
        ("rebutter", "rebuttal"),
        ("moderator", "moderation"),
    ]
    assert next(row["id"] for row in held.outcome.as_json()["trace"] if row["round"] == 2) == "PROP-201"


def test_a_review_ends_when_no_further_round_would_help() -> None:
    held = reviewed(rounds=3)
    assert (len(held.outcome.rounds), held.outcome.stop.value) == (1, "moderator")


@pytest.mark.parametrize("name", ["proposition", "criticism", "rebuttal", "moderation"])
def test_a_cut_off_second_round_leaves_the_first_moderation(name: str) -> None:
    def budget(ask: Any) -> Any:
        return Abstention(ask.seat, "budget", "not asked")

    first = {"proposition": proposition, "criticism": criticism, "rebuttal": rebuttal, "moderation": again}
    held = reviewed(saying(**{"moderation": [again, budget], name: [first[name], budget]}), rounds=3)
    body: Any = held.outcome.as_json()
    assert body["stopped_by"] == "ceiling"
    assert body["rounds_run"] == 2
    assert body["moderated_round"] == 1
    assert body["synthesis"] == "Change the limit and keep the duty."


def fabricated(ask: Any) -> dict[str, Any]:
    body = proposition(ask)
    body["arguments"][0] |= resting(ask, ("clause", "The supplier is not liable for any delay."), "evidence")
    body["arguments"][1] |= resting(ask, None, "evidence")
    return body


def test_fabricated_evidence_is_struck_before_it_is_read() -> None:
    held = reviewed(saying(proposition=fabricated), sources=SOURCES)
    struck = held.outcome.rounds[0].struck
    assert sorted(struck) == ["PROP-1", "PROP-2"]
    assert struck["PROP-1"].startswith("fabricated citation")
    assert struck["PROP-2"].startswith("uncited evidence")
    for path, asked in held.asks.items():
        for message in asked.messages:
            assert "The liability has no limit" not in message.text, path
            assert "Delays happen" not in message.text, path
    moderator = "\n".join(message.text for message in held.asks["moderation/moderator"].messages)
    assert "PROP-1: struck by the program" in moderator
    assert "PROP-1" not in str(held.asks["moderation/moderator"].spec.schema)
    body: Any = held.outcome.as_json()
    assert body["critical"] is True
    assert [row["flag"] for row in body["flags"] if row["critical"]] == ["fabricated_citation", "uncited_evidence"]
    assert [fact.about for fact in held.driver.facts if fact.kind == "penalty"] == ["PROP-1", "PROP-2"]


def test_a_critic_s_fabrication_is_struck_and_needs_no_answer() -> None:
    def invented(ask: Any) -> dict[str, Any]:
        body = criticism(ask)
        body["arguments"][2] |= resting(ask, ("audit", "The supplier was late in 41 of 52 deliveries."), "evidence")
        return body

    held = reviewed(saying(criticism=invented), sources=SOURCES)
    assert sorted(held.outcome.rounds[0].struck) == ["CRIT-3"]
    assert "CRIT-3" not in str(held.asks["rebuttal/rebutter"].spec.schema)
    assert all("Ground 3 fails" not in message.text for message in held.asks["moderation/moderator"].messages)


def test_a_struck_answer_leaves_its_criticism_unanswered() -> None:
    def invented(ask: Any) -> dict[str, Any]:
        body = rebuttal(ask)
        body["answers"]["CRIT-1"] |= resting(ask, ("audit", "Nobody was ever late."), "evidence")
        return body

    held = reviewed(saying(rebuttal=invented), sources=SOURCES)
    assert sorted(held.outcome.rounds[0].struck) == ["REB-1"]
    rows = {row["id"]: row for row in held.outcome.as_json()["trace"]}
    assert (rows["CRIT-1"]["computed"], rows["CRIT-1"]["computed_reason"]) == ("UPHELD", "nobody answered it")


def test_arguments_resting_on_reasoning_need_no_source() -> None:
    held = reviewed(sources=SOURCES)
    assert held.outcome.rounds[0].struck == {}
    assert CLAUSE in held.asks["critique/critic"].messages[-1].text


def test_without_sources_nothing_is_struck() -> None:
    held = reviewed()
    assert all("rests_on" not in str(asked.spec.schema) for asked in held.asks.values())


@pytest.mark.parametrize(
    ("name", "flag", "asked"),
    [
        ("framing", "unframed", 5),
        ("proposition", None, 2),
        ("criticism", "unchallenged", 4),
        ("rebuttal", None, 5),
        ("moderation", None, 5),
    ],
)
def test_nothing_is_put_in_the_place_of_a_missing_turn(name: str, flag: str | None, asked: int) -> None:
    held = reviewed(saying(**{name: silent}))
    assert len(held.asks) == asked
    assert flags(held) == ([flag] if flag else [])
    assert (held.outcome.moderation is None) == (name in {"proposition", "moderation"})


def test_positions_have_proposers_and_a_computed_ranking() -> None:
    held = reviewed(proposers=3)
    assert "proposition/position-3/proposer_3" in held.asks
    assert len([path for path in held.asks if path.startswith("critique/")]) == 3
    body: Any = held.outcome.as_json()
    assert [(row["rank"], row["position"]) for row in body["ranking"]] == [
        (1, "POSITION-1"),
        (2, "POSITION-2"),
        (3, "POSITION-3"),
    ]
    assert {row["id"].partition("-")[0] for row in body["trace"]} == {
        "PROP",
        "PROP2",
        "PROP3",
        "CRIT",
        "CRIT2",
        "CRIT3",
    }
    given = reviewed(proposers=2, positions=("Adopt it now for all.", "Defer it to spring."))
    assert "positions" not in given.asks["framing/framer"].spec.schema["properties"]
    assert given.asks["proposition/position-2/proposer_2"].task.quotes["position"] == "Defer it to spring."


def test_several_positions_that_nobody_named_are_no_debate() -> None:
    held = reviewed(saying(framing=silent), proposers=2)
    assert list(held.asks) == ["framing/framer"]
    assert held.outcome.stop.value == "no_positions"
    assert held.outcome.as_json()["judged"] is False


def test_later_evidence_is_unseen_before_its_round() -> None:
    held = reviewed(saying(moderation=again), sources=SOURCES, introduced={"audit": 2}, rounds=2)
    assert "audit" not in str(held.asks["critique/critic"].spec.schema)
    assert all("14 of 52" not in message.text for message in held.asks["moderation/moderator"].messages)
    second = held.asks["critique-round-2/critic"]
    assert "audit" in str(second.spec.schema)
    assert any("14 of 52" in message.text and message.seat == "evidence" for message in second.messages)
    never = reviewed(sources=SOURCES, introduced={"audit": 2}, rounds=2)
    assert flags(never) == ["evidence_not_reached"]


def test_given_criteria_come_before_those_of_the_framing() -> None:
    from disputatio.formats.rule_values import Brief

    held = reviewed(brief=Brief(criteria=("It is insured.",), attack_lines=("Look at the insurer.",)))
    assert held.outcome.framing.criteria == ("It is insured.", "It is lawful.")
    assert "Look at the insurer." in held.asks["critique/critic"].task.values["lines"]


@given(st.sampled_from(["refute", "partial", "concede"]), st.sampled_from(["unresolved", "resolved_for_critique"]))
def test_standings_follow_from_the_exchange_and_the_moderator(kind: str, outcome: str) -> None:
    held = reviewed(
        saying(
            rebuttal=lambda ask: rebuttal(ask, **{"CRIT-1": kind}),
            moderation=lambda ask: moderation(ask, **{"CRIT-1": outcome}),
        )
    )
    row = next(each for each in held.outcome.as_json()["trace"] if each["id"] == "CRIT-1")
    assert row["computed"] == {"refute": "UNCERTAIN", "partial": "PARTIALLY_UPHELD", "concede": "UPHELD"}[kind]
    assert row["judged"] == {"unresolved": "UNCERTAIN", "resolved_for_critique": "UPHELD"}[outcome]
    assert row["differs"] == (row["computed"] != row["judged"])
    agreed = [each["id"] for each in held.outcome.as_json()["agreed"]]
    assert agreed == (["CRIT-1"] if kind == "concede" else [])


@pytest.mark.parametrize("kind", ["refute", "partial", "concede", None])
def test_conceded_criticisms_cannot_favour_the_proposition(kind: str | None) -> None:
    answering = saying(rebuttal=(lambda ask: rebuttal(ask, **{"CRIT-1": kind})) if kind else silent)
    if kind in {"concede", None}:
        answering = saying(
            rebuttal=(lambda ask: rebuttal(ask, **{"CRIT-1": kind})) if kind else silent,
            moderation=lambda ask: moderation(ask, **{f"CRIT-{n}": "unresolved" for n in range(1, 5)}),
        )
    held = reviewed(answering)
    points: Any = held.asks[MODERATION].spec.schema["properties"]["points"]  # type: ignore[index,call-overload]
    allowed = points["properties"]["CRIT-1"]["properties"]["outcome"]["enum"]
    assert ("resolved_for_proposition" in allowed) == (kind in {"refute", "partial"})
    assert {"resolved_for_critique", "unresolved"} <= set(allowed)


def test_a_small_proposer_quotes_verified_sentences_once() -> None:
    form = reviewed(sources=SOURCES).asks[PROPOSITION].spec
    done: tuple[Any, ...] = ()
    while part := form.next_part(done):
        keys: Any = part.schema["properties"]
        row = dict.fromkeys(keys, "It is so because the limit is missing here.")
        if "the_text_says" in keys:
            row["the_text_says"] = keys["the_text_says"]["enum"][0]
        done = (*done, row)
    turn = form.read(form.join(done))
    quoted = [cited for _, cited in turn.cited]
    assert len(quoted) == 2, "there are two sentences to quote"
    assert all(cited.is_sound for cited in quoted)
    assert turn.struck == {}


# --- further rounds, questions, and what the reader is told ---------------------------------------------------


def points_of(ask: Any) -> list[str]:
    return list(ask.spec.schema["properties"]["points"]["properties"])


def further(**second: str) -> Any:
    """Round 1 leaves CRIT-2 open; in round 2 the moderator says ``second`` of it."""
    first = lambda ask: moderation(ask, again=True, **{"CRIT-2": "unresolved"})  # noqa: E731
    return reviewed(saying(moderation=[first, lambda ask: moderation(ask, **second)]), rounds=2)


def test_a_later_moderation_settles_open_criticisms() -> None:
    """A criticism that round 1 left open has a key in round 2, behind those of its own round."""
    held = further(**{"CRIT-2": "unresolved"})
    asked = held.asks["moderation-round-2/moderator"]
    assert points_of(asked) == ["CRIT-201", "CRIT-202", "CRIT-203", "CRIT-204", "CRIT-2"]
    assert asked.task.values["carried"] == "CRIT-2"
    assert "CRIT-2" not in asked.spec.schema["properties"]["findings"]["properties"], "it was scored in its own round"
    body: Any = held.outcome.as_json()
    assert [row["id"] for row in body["unresolved_points"]] == ["CRIT-2"]
    assert body["unresolved_points"][0]["claim"].startswith("Ground 2 fails")
    assert held.outcome.reading == "MODERATE confidence after 2 rounds: of 8 criticisms 0 upheld, 7 met, 1 unresolved"
    assert "unresolved_at_maximum" not in flags(held), "nobody asked for another round"


@pytest.mark.parametrize(
    ("outcome", "standing"), [("resolved_for_critique", "UPHELD"), ("resolved_for_proposition", "REFUTED")]
)
def test_the_last_state_of_a_criticism_counts_everywhere(outcome: str, standing: str) -> None:
    body: Any = further(**{"CRIT-2": outcome}).outcome.as_json()
    assert {row["id"]: row["outcome"] for row in body["resolved_points"]}["CRIT-2"] == outcome
    assert {row["id"]: row["judged"] for row in body["trace"]}["CRIT-2"] == standing
    assert body["unresolved_points"] == []
    assert body["rounds"][0]["evaluation"]["unresolved"][0]["id"] == "CRIT-2", "a round keeps what was said in it"


def test_a_small_moderator_is_asked_about_carried_criticisms() -> None:
    """One piece for it, without scores; the pieces make a turn that fits the schema."""
    form = further(**{"CRIT-2": "unresolved"}).asks["moderation-round-2/moderator"].spec
    done: tuple[Any, ...] = ()
    names = []
    while part := form.next_part(done):
        names.append(part.label)
        done = (*done, instance(part.schema, part.label))
    assert names[-2:] == ["CRIT-2", "overall"]
    turn = form.read(form.join(done))
    assert [row.criticism for row in turn.points] == list(form.criticisms)
    assert [row.argument for row in turn.findings] == [row.id for row in form.exhibits]


def test_criticisms_of_a_round_without_moderation_are_named() -> None:
    """A second round that ends before its moderation leaves its criticisms without a state, which is said."""
    again = lambda ask: moderation(ask, again=True, **{"CRIT-1": "unresolved"})  # noqa: E731
    held = reviewed(saying(moderation=[again, silent]), rounds=2)
    body: Any = held.outcome.as_json()
    assert [row["id"] for row in body["unmoderated_points"]] == ["CRIT-201", "CRIT-202", "CRIT-203", "CRIT-204"]
    assert held.outcome.reading.endswith("of 8 criticisms 0 upheld, 3 met, 1 unresolved, 4 not moderated")


def first_edition(name: str, **rules: Any) -> Any:
    """Rules as a record of before the second edition has them: it does not name the edition."""
    body: Any = {**rules_json(FORMATS[name].rules(**rules))}
    del body["edition"]
    return rules_from_json(FORMATS[name], body)


def test_records_of_the_first_edition_go_on_under_it() -> None:
    """Each moderation settles its own round alone, a question is argued as it stands, repeats leave the share."""
    rules = first_edition("review", rounds=2)
    assert rules.edition == 1
    first = lambda ask: moderation(ask, again=True, **{"CRIT-2": "unresolved"})  # noqa: E731
    echo = {
        "claim": "The liability has no limit.",
        "reasoning": "The liability has no limit, and the supplier carries it.",
    }

    def repeating(ask: Any) -> dict[str, Any]:
        rows = criticism(ask)["arguments"]
        return criticism(ask, arguments=[rows[0], *({**row, **echo, "target": "PROP-1"} for row in rows[1:])])

    for edition, keys, position, share in (
        (rules, 4, "May we change the clause?", "1 of 1 definite"),
        (ReviewRules(rounds=2), 5, "The clause exposes the supplier.", "1 of 4 definite"),
    ):
        context = DebateContext(FORMATS["review"].seats, Motion("May we change the clause?"))
        said = saying(moderation=[first, moderation])
        held = hold(FORMATS["review"].rulebook(edition, context), said)
        assert len(points_of(held.asks["moderation-round-2/moderator"])) == keys
        assert held.asks["proposition/proposer"].task.quotes["position"] == position
        weak = hold(FORMATS["review"].rulebook(edition, context), saying(criticism=repeating))
        assert share in weak.outcome.rounds[0].contests[0].criticism.strength.because


@pytest.mark.parametrize(
    ("motion", "argued"),
    [
        ("May we sign the clause?", "The clause exposes the supplier."),
        ("We should sign the clause", "We should sign the clause"),
    ],
)
def test_the_framed_thesis_is_argued_where_the_motion_asks(motion: str, argued: str) -> None:
    """Every seat that speaks for or against it has the thesis, and so has the outcome."""
    form = FORMATS["review"]
    held = hold(form.rulebook(ReviewRules(), DebateContext(form.seats, Motion(motion))), saying())
    for path in ("proposition/proposer", "critique/critic", "rebuttal/rebutter"):
        assert held.asks[path].task.quotes["position"] == argued
    assert held.outcome.as_json()["positions"][0]["text"] == argued


def test_a_question_without_a_framing_is_argued_as_it_stands() -> None:
    form = FORMATS["review"]
    context = DebateContext(form.seats, Motion("May we sign the clause?"))
    held = hold(form.rulebook(ReviewRules(), context), saying(framing=silent))
    assert held.asks["proposition/proposer"].task.quotes["position"] == "May we sign the clause?"


def test_upheld_criticisms_are_not_called_resolved() -> None:
    """All four upheld is the worst result there is, and its first words say so."""
    upheld = {f"CRIT-{n}": "resolved_for_critique" for n in range(1, 5)}
    held = reviewed(saying(moderation=lambda ask: moderation(ask, **upheld)))
    assert held.outcome.reading == "MODERATE confidence after 1 round: of 4 criticisms 4 upheld, 0 met"
    points = dict(review_points(held.outcome.as_json()))
    assert next(iter(points)) == "Synthesis"
    assert len(points["Upheld"]) == 4
    assert points["Met"] == ("no criticism",)
