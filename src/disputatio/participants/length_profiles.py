"""How a model usually answers: what an estimate has to assume, because no prompt says it.

What a debate sends can be counted before it is held; how wordy a model is, how it chooses and whether it quotes what is
not there cannot. What is known of a kind of participant is declared here; a user may say more (``estimate.characters``,
``estimate.share``), and debates in the store correct the rest (``disputatio.metrics.calibration``).

Rejected: to learn it by asking the model a question or two. A preview that calls somebody costs money and needs a key,
and one answer says little about others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from disputatio.participants.model_seat import ModelSeating


@dataclass(frozen=True, slots=True)
class LengthProfile:
    """How one kind of participant answers.

    Attributes:
        share: how much of what a form allows a text takes, 0 to 1, where ``characters`` is None.
        characters: how long a text is, whatever the form allows.
        by_field: how long the texts of a field are whose name has a word in it; the first that fits counts.
        more_items: how many items more than the fewest, one at least, a list has.
        settles: it agrees where it can, so that there is no further round.
        draws: it chooses at random; else there is always a further round over something.
        objects: its criticisms say no to something; else they are too weak and asked for again.
        reasoning: how many tokens it reasons in a call, on the whole.
        reasoning_range: the least and the most that are to be expected of that.
        invents: it quotes words that are not there and is asked again for it, where a form asks for words that are.
    """

    share: float = 0.5
    characters: int | None = None
    by_field: tuple[tuple[str, int], ...] = ()
    more_items: int = 0
    settles: bool = False
    draws: bool = False
    objects: bool = True
    invents: bool = False
    reasoning: int = 0
    reasoning_range: tuple[int, int] = (0, 0)

    def length(self, field: str, allowed: int) -> int:
        """How many characters a text of ``field`` has that may have ``allowed``."""
        if self.characters is None:
            return round(allowed * self.share)
        return next((length for word, length in self.by_field if word in field), self.characters)

    def least(self) -> LengthProfile:
        """The least to expect of such a participant: ``SHORT``, unless the length of its texts is known."""
        least = replace(self, reasoning=self.reasoning_range[0])
        if self.characters is None:
            return replace(least, share=min(SHORT.share, self.share), more_items=0, settles=True)
        return replace(least, more_items=0, settles=True, draws=False, objects=True, invents=False)

    def most(self) -> LengthProfile:
        """The most to expect of it: ``LONG``, unless the length of its texts is known."""
        most = replace(self, reasoning=self.reasoning_range[1])
        if self.characters is None:
            return replace(most, share=max(LONG.share, self.share), more_items=LONG.more_items, settles=False)
        return replace(most, more_items=max(LONG.more_items, self.more_items), settles=False, draws=False)


USUAL = LengthProfile()
"""Nothing is known: half of what the form allows, and every round that may be held. A prompt asks for so many words
that English takes six tenths of what the form allows (``disputatio.formats.turns.schema``)."""
SHORT = replace(USUAL, share=0.15, settles=True)
"""The least to expect: a sentence where a paragraph may stand, and nothing that needs a further round."""
LONG = replace(USUAL, share=0.8, more_items=1)
"""The most to expect of answers that are accepted: more words than the prompt asks for."""
SENTENCES = LengthProfile(
    characters=62,
    by_field=(
        *(("question", 82), ("evidence", 104)),
        *(("reason", 133), ("rationale", 133)),
        *(("recommend", 86), ("advice", 86), ("direction", 86)),
    ),
    more_items=1,
    draws=True,
    objects=False,
    invents=True,
)
"""The fake provider of ``disputatio.testing``: a made-up sentence for every text, of a length that hangs on the name of
the field alone, whatever is allowed; choices by a hash; plain assertions, also where it is to
object; quotes of what nobody said."""

FAKE_MODEL = "fake"
"""What the model of a fake provider is called in seats, so that an estimate knows it: ``openai_compatible:fake``."""


def length_profile_of(seating: ModelSeating) -> LengthProfile:
    """What is declared of the model in ``seating``; ``USUAL`` where nothing is."""
    return SENTENCES if (seating.provider, seating.model) == ("openai_compatible", FAKE_MODEL) else USUAL
