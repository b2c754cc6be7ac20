"""What has been said, and who may read it.

A floor is a value. Posting makes a new floor, so a branch that runs beside another cannot see what the
other says before the two are joined, whichever answers first: the content of a debate cannot depend on
the order in which answers arrive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from disputatio.kernel.names import Channel, Phase, Seat

PUBLIC = Channel("public")


class ForbiddenPostError(Exception):
    """A rulebook let a seat write to a channel that is not its own."""


@dataclass(frozen=True, slots=True)
class Post:
    """One thing said: the text a reader of its channel sees, and who said it when."""

    seat: Seat
    phase: Phase
    text: str
    channel: Channel = PUBLIC


@dataclass(frozen=True, slots=True)
class Floor:
    """All posts so far, in the order of the rules, with the channels each seat may read.

    ``readers`` maps a channel to the seats that may read it. ``public`` is open to everyone; a channel
    that is not named is open to nobody. ``writers`` maps a channel to the seats that may write to it; a
    channel that is not named there is open to whoever the rules let write.
    """

    posts: tuple[Post, ...] = ()
    readers: tuple[tuple[Channel, frozenset[Seat]], ...] = field(default=())
    writers: tuple[tuple[Channel, frozenset[Seat]], ...] = field(default=())
    # What a seat was shown grows with every post; read anew each time it would take the square of a debate's length.
    _seen: dict[Seat, tuple[Post, ...]] = field(default_factory=dict, compare=False, repr=False)

    def post(self, *posts: Post) -> Floor:
        """This floor with more posts at its end.

        Raises:
            ForbiddenPostError: a seat may not write to the channel of its post. The rulebook is wrong then.
        """
        for post in posts:
            if not self.may_write(post.seat, post.channel):
                raise ForbiddenPostError(f"{post.seat} may not write to {post.channel}")
        longer = (*self.posts, *posts)
        seen: dict[Seat, tuple[Post, ...]] = {}
        for seat, before in self._seen.items():
            new = [post for post in posts if self.may_read(seat, post.channel)]
            # Who was shown everything so far need not have a copy of it.
            seen[seat] = longer if before is self.posts and len(new) == len(posts) else (*before, *new)
        return Floor(longer, self.readers, self.writers, seen)

    def may_write(self, seat: Seat, channel: Channel) -> bool:
        """Whether ``seat`` may write to ``channel``."""
        return all(seat in seats for name, seats in self.writers if name == channel)

    def may_read(self, seat: Seat, channel: Channel) -> bool:
        """Whether ``seat`` may read ``channel``."""
        return channel == PUBLIC or any(name == channel and seat in seats for name, seats in self.readers)

    def seen_by(self, seat: Seat, phases: Iterable[Phase] | None = None) -> tuple[Post, ...]:
        """The posts ``seat`` may read, in order; only those of ``phases`` where given."""
        if seat not in self._seen:
            shown = tuple(post for post in self.posts if self.may_read(seat, post.channel))
            self._seen[seat] = self.posts if len(shown) == len(self.posts) else shown
        if phases is None:
            return self._seen[seat]
        wanted = frozenset(phases)
        return tuple(post for post in self._seen[seat] if post.phase in wanted)
