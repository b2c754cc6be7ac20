"""Channels are readable by their readers alone, and posting never changes an older floor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.kernel import PUBLIC, Channel, Message, Messages, Phase, Seat, Transcript
from strategies import examples

SEATS = tuple(map(Seat, ("pro_1", "pro_2", "con_1", "judge")))
CHANNELS = (PUBLIC, Channel("team_pro"), Channel("team_con"), Channel("judge_notes"), Channel("nobody's"))
PHASES = (Phase("opening"), Phase("closing"))

readers = st.dictionaries(st.sampled_from(CHANNELS[1:4]), st.frozensets(st.sampled_from(SEATS))).map(
    lambda rows: tuple(rows.items())
)
messages = st.lists(
    st.builds(Message, st.sampled_from(SEATS), st.sampled_from(PHASES), st.text(max_size=5), st.sampled_from(CHANNELS)),
    max_size=12,
).map(tuple)


@examples(40)
@given(readers, messages, st.sampled_from(SEATS), st.none() | st.frozensets(st.sampled_from(PHASES)))
def test_a_seat_sees_exactly_the_posts_of_its_channels_in_order(
    rights: tuple[tuple[Channel, frozenset[Seat]], ...],
    said: tuple[Message, ...],
    seat: Seat,
    phases: frozenset[Phase] | None,
) -> None:
    allowed = {PUBLIC, *(channel for channel, seats in rights if seat in seats)}
    expected = [row for row in said if row.channel in allowed and (phases is None or row.phase in phases)]
    assert list(Transcript(readers=rights).add(*said).visible_to(seat, phases)) == expected


@given(readers, messages, messages)
def test_adding_a_message_leaves_the_old_transcript(
    rights: tuple[tuple[Channel, frozenset[Seat]], ...], first: tuple[Message, ...], second: tuple[Message, ...]
) -> None:
    before = Transcript(readers=rights).add(*first)
    after = before.add(*second)
    assert before.messages == first
    assert after.messages == first + second
    assert after.readers == before.readers
    for seat in SEATS:
        assert after.visible_to(seat)[: len(before.visible_to(seat))] == before.visible_to(seat), "what was heard stays"


@given(readers, messages, messages, messages)
def test_each_makes_one_result_for_each_message_of_a_list(
    rights: tuple[tuple[Channel, frozenset[Seat]], ...],
    first: tuple[Message, ...],
    here: tuple[Message, ...],
    there: tuple[Message, ...],
) -> None:
    """Posts made afterwards, and by floors that go on elsewhere, are neither left out nor mixed in."""
    made: list[Message] = []

    def make(message: Message) -> tuple[str, Message]:
        made.append(message)
        return ("made", message)

    transcript = Transcript(readers=rights).add(*first)
    before = transcript.visible_to(SEATS[0])
    one, other = transcript.add(*here), transcript.add(*there)
    for shown in (one.visible_to(SEATS[0]), before, other.visible_to(SEATS[0]), one.add(*there).visible_to(SEATS[0])):
        assert isinstance(shown, Messages)
        made.clear()
        assert shown.each(make) == [("made", message) for message in shown]
        made.clear()
        assert shown.each(make) == [("made", message) for message in shown]
        assert made == []
    longest = one.add(*there).visible_to(SEATS[0])
    assert isinstance(longest, Messages)
    longest.each(make)
    made.clear()
    longer = longest.followed_by(first)
    longer.each(make)
    assert made == list(first), "what was made before is not made again"


@given(messages, st.sampled_from(SEATS))
def test_a_channel_that_is_not_named_is_open_to_nobody(said: tuple[Message, ...], seat: Seat) -> None:
    assert all(row.channel == PUBLIC for row in Transcript().add(*said).visible_to(seat))


def test_the_judge_does_not_read_what_a_team_tells_itself() -> None:
    team = Channel("team_pro")
    transcript = Transcript(readers=((team, frozenset({Seat("pro_1"), Seat("pro_2")})),))
    transcript = transcript.add(Message(Seat("pro_1"), Phase("opening"), "speak second", team))
    assert [row.text for row in transcript.visible_to(Seat("pro_2"))] == ["speak second"]
    assert transcript.visible_to(Seat("judge")) == ()
    assert transcript.visible_to(Seat("con_1")) == ()


@given(readers, messages, messages, messages)
def test_transcripts_with_a_common_prefix_stay_separate(
    rights: tuple[tuple[Channel, frozenset[Seat]], ...],
    first: tuple[Message, ...],
    here: tuple[Message, ...],
    there: tuple[Message, ...],
) -> None:
    before = Transcript(readers=rights).add(*first)
    for seat in SEATS[:2]:
        before.visible_to(seat)
    one, other = before.add(*here), before.add(*there)
    for transcript, said in ((one.add(*there), (*first, *here, *there)), (other, (*first, *there)), (before, first)):
        assert transcript.messages == said
        for seat in SEATS:
            assert transcript.visible_to(seat) == tuple(row for row in said if transcript.may_read(seat, row.channel))


@given(messages, st.integers(-14, 14), st.integers(-14, 14))
def test_posts_are_read_as_a_tuple_is(said: tuple[Message, ...], start: int, end: int) -> None:
    seen = Transcript().add(*said).add(*said[:2]).messages
    same = (*said, *said[:2])
    assert (len(seen), [*seen], seen[start:end], seen[::-1]) == (len(same), [*same], same[start:end], same[::-1])
    assert seen == same
    assert hash(seen) == hash(same)
    assert seen != (*same, *same, None)
    if -len(same) <= start < len(same):
        assert seen[start] == same[start]
    else:
        with pytest.raises(IndexError):
            _ = seen[start]
