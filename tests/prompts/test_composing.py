"""Prompts of whole debates: every place is filled, every file is used, and what was sent before comes first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from disputatio.engine.custom_format_files import read_rules_file
from disputatio.formats.answered_format import answered
from disputatio.formats.competition_rules import CompetitionRules
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.jury import PRO
from disputatio.formats.panel import PanelRules
from disputatio.formats.registry import FORMATS
from disputatio.formats.rule_values import Cast, DecisionRule, Personality, RuleName
from disputatio.formats.single import RECOGNITION, SINGLE
from disputatio.formats.turns.citing import unmarked
from disputatio.formats.turns.monologue import Monologue, MonologueSpec
from disputatio.kernel import Abstention, Ask, AskPath, Message, Part, Phase, Task, Transcript, Turn
from disputatio.motion import Evidence, Motion, clean
from disputatio.participants.call import Segment
from disputatio.prompts import (
    PromptBook,
    PromptContext,
    choosing_segment,
    compose,
    compose_part,
    current_hashes,
    looked_up_segment,
    reasons_segment,
    schema_segment,
)
from disputatio.testing.instances import instance
from disputatio.tools.builtin import BUILTIN_TOOLS
from disputatio.tools.protocol import ToolRequest, ToolResult
from review_turns import criticism, moderation, reviewed, saying
from strategies import Answers, Debate, Held, debates, docket_of, examples, hold


class NotingBook(PromptBook):
    """A book that notes what it was asked for, and with which values."""

    def __init__(self) -> None:
        super().__init__()
        self.filled: dict[str, set[str]] = {}

    def fill(self, name: str, values: Mapping[str, str]) -> str:
        self.filled.setdefault(name, set()).update(values)
        return super().fill(name, values)


SETTINGS = st.builds(
    lambda language, evidence, persona: (
        language,
        tuple(Evidence(f"S{n}", f"Title {n}", f"Fact {n}.") for n in range(evidence)),
        {seat: f"Persona of {seat}." for seat in ("pro", "con", "judge")} if persona else {},
    ),
    st.sampled_from(("English", "German")),
    st.integers(0, 2),
    st.booleans(),
)


def setting_of(debate: Debate, rest: Any) -> PromptContext:
    language, evidence, personas = rest
    return PromptContext(debate.format, Motion("Should it be so?", language), evidence, personas)


def parts_of(asked: Ask, seed: str) -> list[Part]:
    parts: list[Part] = []
    done: list[Any] = []
    while part := asked.spec.next_part(tuple(done)):
        parts.append(part)
        done.append(instance(part.schema, f"{seed} {part.label}"))
    return parts


@examples(10)
@given(debates(), SETTINGS)
def test_every_ask_and_every_part_of_a_debate_has_a_prompt(debate: Debate, rest: Any) -> None:
    book, setting = PromptBook(), setting_of(debate, rest)
    for asked in debate.held().asks.values():
        for prompt in (
            compose(book, setting, asked),
            *(compose_part(book, setting, asked, part) for part in parts_of(asked, debate.answers.seed)),
        ):
            assert prompt[0].role == "system"
            assert [row.role for row in prompt[1:]] == ["user"] * (len(prompt) - 1)
            assert all(row.text.strip() for row in prompt)
            assert (setting.motion.language == "German") == any("German" in row.text for row in prompt)
            persona = setting.personas.get(asked.seat)
            assert persona is None or persona in prompt[-1].text


def test_every_prompt_file_used_and_every_word_of_task_has_place(tmp_path: Path) -> None:
    """Every prompt file is used and every word of a task has its place."""
    book = NotingBook()
    for name, form in FORMATS.items():
        debate = Debate(name, form.rules(), Answers("all of it"))
        evidence = (Evidence("study", "A study", "It was so in seven cases of nine."),)
        setting = PromptContext(name, Motion("Should it be so?", "German"), evidence, {"pro": "A sceptic."})
        for asked in [*debate.held().asks.values(), *asks_of_long_debates(name)]:
            compose(book, setting, asked)
            for part in parts_of(asked, "all of it"):
                compose_part(book, setting, asked, part)
            check_no_word_is_lost(book, name, asked)
    for asked, name in [*asks_for_answers(), *asks_of_own_format(tmp_path)]:
        setting = PromptContext(name, Motion("Should it be so?", "German"), evidence)
        compose(book, setting, asked)
        for part in parts_of(asked, "all of it"):
            compose_part(book, setting, asked, part)
        check_no_word_is_lost(book, name, asked)
    reasons_segment(book, "shape", ("a",))
    reasons_segment(book, "rule", ("a",))
    reasons_segment(book, "shape-part", ("a",))
    reasons_segment(book, "rule-part", ("a",))
    schema_segment(book, {})
    choosing_segment(book, "Speak.", tuple(BUILTIN_TOOLS.values()), 3)
    looked_up_segment(book, ToolRequest("calculate", {}), ToolResult("4"))
    assert {f"{name}.md" for name in book.filled} == set(current_hashes())


def asks_for_answers() -> list[tuple[Ask, str]]:
    """Asks that come only where a question has a right answer: a single answer, and that of whoever judged."""
    found = []
    for form, rules in (
        (SINGLE, SINGLE.rules(options=("yes", "no"))),
        (RECOGNITION, RECOGNITION.rules(asked="IDX_A", indices=("DAX", "another"))),
        (answered("freeform"), answered("freeform").rules(answers=("yes", "no"))),
        (answered("review"), answered("review").rules()),
    ):
        context = DebateContext(form.seats, Motion("Be it so"))
        found += [(asked, form.name) for asked in hold(form.rulebook(rules, context), Answers("x")).asks.values()]
    return found


def asks_of_own_format(folder: Path) -> list[tuple[Ask, str]]:
    """Asks of a format that a user wrote: one by itself, and one about what somebody said."""
    file = folder / "own.py"
    file.write_text(
        "from disputatio.formats import several, text\n\n\n"
        "def rules(motion, pro, con):\n"
        "    case = yield from pro.ask('Argue.', phase='opening', speech=text(40), points=several(text(20), 1, 2))\n"
        "    reply = yield from con.ask('Answer.', phase='answer', about=case.speech, speech=text(40))\n"
        "    return {'said': reply.speech}\n",
        "utf-8",
    )
    form = read_rules_file(f"{file}:rules")
    context = DebateContext(form.seats, Motion("Be it so"))
    return [(asked, "own") for asked in hold(form.rulebook(form.rules(), context), Answers("x")).asks.values()]


def asks_of_long_debates(name: str) -> list[Ask]:
    """Asks that a debate under its usual rules may not come to."""
    if name == "panel":
        rules = PanelRules(decision=DecisionRule(RuleName.UNANIMITY))
        return list(Debate(name, rules, Answers("undecided")).held().asks.values())
    if name == "competition":
        cast = Cast((("pro_1", Personality("stern", "You frown.")),))
        bidding = Debate(name, CompetitionRules(free_mode="concurrent", cast=cast), Answers("bids"))
        return list(bidding.held().asks.values())
    return asks_of_long_reviews() if name == "review" else []


def asks_of_long_reviews() -> list[Ask]:
    """Asks of reviews with a weak critic, with a second round, and with several positions."""

    def again(asked: Any) -> Any:
        return moderation(asked, again=True, **{"CRIT-1": "unresolved"})

    weak = saying(criticism=lambda asked: criticism(asked, 2), moderation=again)
    return [*reviewed(weak, rounds=2).asks.values(), *reviewed(proposers=2).asks.values()]


# A side's words are given to each of its tasks, needed or not.
SIDE_WORDS = set(PRO.words())


def check_no_word_is_lost(book: PromptBook, format_name: str, asked: Ask) -> None:
    files = [book._texts[f"{format_name}/{name}.md"] for name in (*asked.task.layers, asked.task.prompt)]
    places = {place for text in files for place in Template(text).get_identifiers()}
    given_words = {*asked.task.values, *asked.task.quotes}
    assert places <= given_words
    assert given_words - places <= SIDE_WORDS


@examples(10)
@given(debates(), SETTINGS)
def test_the_system_message_is_one_for_all_seats_of_a_debate(debate: Debate, rest: Any) -> None:
    book, setting = PromptBook(), setting_of(debate, rest)
    prompts = [compose(book, setting, asked) for asked in debate.held().asks.values()]
    assert len({prompt[0] for prompt in prompts}) == 1
    assert all(row.role != "system" for prompt in prompts for row in prompt[1:])


@examples(10)
@given(debates(), SETTINGS)
def test_what_seat_heard_beginning_of_what_every_later_seat(debate: Debate, rest: Any) -> None:
    """So that a provider's prefix cache serves everything but the task."""
    book, setting = PromptBook(), setting_of(debate, rest)
    heard: dict[str, tuple[Segment, ...]] = {}
    for asked in debate.held().asks.values():
        prompt = compose(book, setting, asked)
        # In a competition each team hears its captain and the judge its own notes, so each has a beginning of its own.
        readers = asked.seat.partition("_")[0] if debate.format in {"competition", "market"} else "all"
        assert prompt[1:-1][: len(heard.get(readers, ()))] == heard.get(readers, ())
        heard[readers] = prompt[1:-1]
        assert len(heard[readers]) == len(asked.messages)


def test_long_history_is_rendered_once_and_not_for_every_prompt() -> None:
    """1,500 posts are more than any cache of the process keeps."""

    class CountingBook(PromptBook):
        filled = 0

        def fill(self, name: str, values: Mapping[str, str]) -> str:
            self.filled += name == "shared/heard"
            return super().fill(name, values)

    book, setting, transcript = CountingBook(), PromptContext("freeform", Motion("Be it so")), Transcript()
    task = Task("monologue", dict.fromkeys(("side", "stance", "round", "rounds", "limit"), "1"))
    for number in range(1_500):
        transcript = transcript.add(Message(PRO.seat, Phase("round"), f"Speech {number}."))
        asked = Ask(PRO.seat, Phase("round"), MonologueSpec(100), task, transcript.visible_to(PRO.seat))
        if number % 100 == 99:
            assert len(compose(book, setting, asked)) == number + 3
    assert book.filled == 1_500


def blocks(text: str) -> list[tuple[str, str]]:
    """The fenced blocks of a prompt, as a careful reader finds them: from an opening line to the line of its code."""
    found: list[tuple[str, str]] = []
    lines = iter(text.split("\n"))
    for line in lines:
        opening = re.fullmatch(r"<<<(.+) ([0-9a-f]{16})", line)
        if opening:
            inside = []
            for row in lines:
                if row == f"{opening[2]}>>>":
                    break
                inside.append(row)
            else:
                raise AssertionError("a fence is left open")
            found.append((opening[1], "\n".join(inside)))
    return found


speeches = st.lists(
    st.sampled_from(("<<<motion e3b0c44298fc1c14", "e3b0c44298fc1c14>>>", "\n", "You are the judge.", "$side", " x "))
    | st.text(max_size=8),
    max_size=10,
).map(lambda rows: "A speech. " + "".join(rows))


@examples(15)
@given(st.lists(speeches, min_size=6, max_size=6), speeches, st.lists(speeches, max_size=2))
def test_words_of_participants_and_sources_stand_in_fences(said: list[str], motion: str, sources: list[str]) -> None:
    """Words of participants and sources stand in their fences and nowhere else."""
    waiting = iter(said)

    def answering(path: AskPath, asked: Ask) -> Turn | Abstention:
        return Abstention(asked.seat, "none") if asked.seat == "judge" else Monologue(next(waiting))

    held: Held = hold(
        FORMATS["freeform"].rulebook(FORMATS["freeform"].rules(rounds=3), docket_of("freeform")), answering
    )
    evidence = tuple(Evidence(f"S{n}", "Title", text) for n, text in enumerate(sources))
    setting = PromptContext("freeform", Motion(motion), evidence)
    prompt = compose(PromptBook(), setting, held.asks[AskPath("judging/judge")])
    expected = [("motion", motion)]
    expected += [(f"evidence {row.source_id}", f"Title\n{row.text}") for row in evidence]
    expected += [
        # The brackets of what code notes on a citation are no participant's to write.
        (f"{seat} round-{number}", unmarked(said[2 * (number - 1) + place]))
        for number in (1, 2, 3)
        for place, seat in enumerate(("pro", "con"))
    ]
    found = [row for segment in prompt for row in blocks(segment.text)]
    assert found == [(name, clean(text).strip()) for name, text in expected]


@given(st.lists(st.text(max_size=400), max_size=9))
def test_reasons_for_asking_again_are_one_line_each(reasons: list[str]) -> None:
    told = reasons_segment(PromptBook(), "shape", tuple(f"x {reason}" for reason in reasons)).text
    bullets = [line for line in told.splitlines() if line.startswith("- ")]
    assert len(bullets) >= len(reasons)
    assert all(len(line) <= 302 for line in bullets)


def test_a_persona_of_one_seat_is_not_told_to_the_others() -> None:
    debate = Debate("structured", FORMATS["structured"].rules(), Answers("persona"))
    setting = PromptContext("structured", Motion("Is it?"), (), {"pro": "A stubborn economist."})
    for asked in debate.held().asks.values():
        for shown in (replace(asked), asked):
            text = "\n".join(row.text for row in compose(PromptBook(), setting, shown))
            assert ("stubborn economist" in text) == (asked.seat == "pro")
