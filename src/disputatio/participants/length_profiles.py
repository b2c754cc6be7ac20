"""How long a model's answers usually are: what an estimate has to assume.

The input of a debate can be counted beforehand; the length of answers cannot. Users may set it
(``estimate.characters``, ``estimate.share``), and debates in the store correct it (``disputatio.metrics.calibration``).

Rejected: calling the model to find out. A preview would cost money and need a key, and one answer says little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from disputatio.participants.model_seat import ModelSeating


@dataclass(frozen=True, slots=True)
class LengthProfile:
    """How one kind of participant answers.

    Attributes:
        share: length of a text as a share of what the schema allows, 0 to 1, if ``characters`` is None.
        characters: length of a text in characters.
        by_field: pairs of a word and a length, for fields whose name contains the word; the first match counts.
        more_items: items of a list beyond the fewest allowed (at least one).
        settles: it agrees where it can, so there is no further round.
        draws: it chooses at random; else there is always a further round.
        objects: its criticisms object to something; else they are too weak and requested again.
        reasoning: mean reasoning tokens of a call.
        reasoning_range: the least and the most to expect of that mean.
        invents: it quotes words that are not in the source, and is asked again.
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
        """Characters of a text of ``field`` that may have ``allowed``."""
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
"""The least to expect: a sentence in place of a paragraph, and no further round."""
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
"""The fake provider of ``disputatio.testing``: one sentence for every text, its length set by the field's name; choices
by a hash; plain assertions, even as criticism; invented quotes."""

FAKE_MODEL = "fake"
"""The model name by which an estimate recognises a fake provider: ``openai_compatible:fake``."""


def length_profile_of(seating: ModelSeating) -> LengthProfile:
    """The declared profile of the model in ``seating``, else ``USUAL``."""
    return SENTENCES if (seating.provider, seating.model) == ("openai_compatible", FAKE_MODEL) else USUAL
