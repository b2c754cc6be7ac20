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
posts = st.lists(
    st.builds(Message, st.sampled_from(SEATS), st.sampled_from(PHASES), st.text(max_size=5), st.sampled_from(CHANNELS)),
    max_size=12,
).map(tuple)


@examples(40)
@given(readers, posts, st.sampled_from(SEATS), st.none() | st.frozensets(st.sampled_from(PHASES)))
def test_a_seat_sees_exactly_the_posts_of_its_channels_in_order(
    rights: tuple[tuple[Channel, frozenset[Seat]], ...],
    said: tuple[Message, ...],
    seat: Seat,
    phases: frozenset[Phase] | None,
) -> None:
    allowed = {PUBLIC, *(channel for channel, seats in rights if seat in seats)}
    expected = [row for row in said if row.channel in allowed and (phases is None or row.phase in phases)]
    assert list(Transcript(readers=rights).post(*said).seen_by(seat, phases)) == expected


@given(readers, posts, posts)
def test_posting_makes_a_new_floor_and_leaves_the_old_one(
    rights: tuple[tuple[Channel, frozenset[Seat]], ...], first: tuple[Message, ...], second: tuple[Message, ...]
) -> None:
    before = Transcript(readers=rights).post(*first)
    after = before.post(*second)
    assert before.posts == first
    assert after.posts == first + second
    assert after.readers == before.readers
    for seat in SEATS:
        assert after.seen_by(seat)[: len(before.seen_by(seat))] == before.seen_by(seat), "what was heard stays"


@given(readers, posts, posts, posts)
def test_what_is_made_of_each_post_is_made_once_a_list(
    rights: tuple[tuple[Channel, frozenset[Seat]], ...],
    first: tuple[Message, ...],
    here: tuple[Message, ...],
    there: tuple[Message, ...],
) -> None:
    """Posts made afterwards, and by floors that go on elsewhere, are neither left out nor mixed in."""
    made: list[Message] = []

    def make(post: Message) -> tuple[str, Message]:
        made.append(post)
        return ("made", post)

    transcript = Transcript(readers=rights).post(*first)
    before = transcript.seen_by(SEATS[0])
    one, other = transcript.post(*here), transcript.post(*there)
    for shown in (one.seen_by(SEATS[0]), before, other.seen_by(SEATS[0]), one.post(*there).seen_by(SEATS[0])):
        assert isinstance(shown, Messages)
        made.clear()
        assert shown.each(make) == [("made", post) for post in shown]
        made.clear()
        assert shown.each(make) == [("made", post) for post in shown]
        assert made == []
    longest = one.post(*there).seen_by(SEATS[0])
    assert isinstance(longest, Messages)
    longest.each(make)
    made.clear()
    longer = longest.followed_by(first)
    longer.each(make)
    assert made == list(first), "what was made before is not made again"


@given(posts, st.sampled_from(SEATS))
def test_a_channel_that_is_not_named_is_open_to_nobody(said: tuple[Message, ...], seat: Seat) -> None:
    assert all(row.channel == PUBLIC for row in Transcript().post(*said).seen_by(seat))


def test_the_judge_does_not_read_what_a_team_tells_itself() -> None:
    team = Channel("team_pro")
    transcript = Transcript(readers=((team, frozenset({Seat("pro_1"), Seat("pro_2")})),))
    transcript = transcript.post(Message(Seat("pro_1"), Phase("opening"), "speak second", team))
    assert [row.text for row in transcript.seen_by(Seat("pro_2"))] == ["speak second"]
    assert transcript.seen_by(Seat("judge")) == ()
    assert transcript.seen_by(Seat("con_1")) == ()


@given(readers, posts, posts, posts)
def test_floors_that_go_on_from_the_same_one_do_not_hear_each_other(
    rights: tuple[tuple[Channel, frozenset[Seat]], ...],
    first: tuple[Message, ...],
    here: tuple[Message, ...],
    there: tuple[Message, ...],
) -> None:
    before = Transcript(readers=rights).post(*first)
    for seat in SEATS[:2]:
        before.seen_by(seat)
    one, other = before.post(*here), before.post(*there)
    for transcript, said in ((one.post(*there), (*first, *here, *there)), (other, (*first, *there)), (before, first)):
        assert transcript.posts == said
        for seat in SEATS:
            assert transcript.seen_by(seat) == tuple(row for row in said if transcript.may_read(seat, row.channel))


@given(posts, st.integers(-14, 14), st.integers(-14, 14))
def test_posts_are_read_as_a_tuple_is(said: tuple[Message, ...], start: int, end: int) -> None:
    seen = Transcript().post(*said).post(*said[:2]).posts
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
