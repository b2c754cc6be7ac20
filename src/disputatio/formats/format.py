"""What a format is: its seats, its rules and what may be set about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from disputatio.formats.options import FormatOptions
from disputatio.kernel import JsonObject, Rulebook, Seat

if TYPE_CHECKING:
    from disputatio.formats.debate_context import DebateContext


class Outcome(Protocol):
    """What a rulebook returns."""

    def as_json(self) -> JsonObject:
        """The outcome as the record keeps it."""


def nothing_is_public(form: str) -> bool:  # noqa: ARG001  (see `Format.public`)
    """Not every seat reads what is said."""
    return False


def all_is_public(form: str) -> bool:  # noqa: ARG001  (see `Format.public`)
    """Every seat reads every turn."""
    return True


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of debate.

    Attributes:
        name: what people type.
        about: one line for a list of formats.
        seats: every seat, debaters first.
        rules: the class of its settings; its fields and their defaults are what may be set.
        rulebook: makes a fresh debate under given rules, on what its docket says.
        judges: the seats whose absence leaves a debate unjudged.
        repeatable: the seats that there may be several of (``judge_2``, ``judge_3``), each with the most there may be.
        free_seats: whether users name the seats; ``seats`` are then those of a debate for which nobody did.
        file_text: the text of the file its rules are in, where they are a user's own.
        usual_provider: who takes a seat for which nothing names a model; empty where the keys that are set decide.
        knows: whether it is held on a knowledge base, and on nothing else.
        prompts: the folder of prompts that its asks name; that of its own name where empty.
        options: the class of what may be asked of it besides what every debate takes.
        forkable: whether what was said can be struck, so that the debate can be forked without it.
        public: whether every seat may read turns of a form, given by its name, while the debate goes on. It is for
            surfaces; the rules themselves decide by channels.
    """

    name: str
    about: str
    seats: tuple[Seat, ...]
    rules: type[Any]
    rulebook: Callable[[Any, DebateContext], Rulebook[Outcome]]
    judges: frozenset[Seat]
    repeatable: Mapping[Seat, int] = field(default_factory=dict)
    free_seats: bool = False
    file_text: str = ""
    usual_provider: str = ""
    knows: bool = False
    forkable: bool = False
    public: Callable[[str], bool] = nothing_is_public
    options: type[FormatOptions] = FormatOptions
    prompts: str = ""

    @property
    def prompt_folder(self) -> str:
        """The folder of prompts that its asks name."""
        return self.prompts or self.name

    @property
    def further_seats(self) -> tuple[Seat, ...]:
        """The seats there may be besides ``seats``."""
        return tuple(
            Seat(f"{first}_{number}") for first, most in self.repeatable.items() for number in range(2, most + 1)
        )

    def seats_named(self, names: Iterable[str]) -> tuple[Seat, ...]:
        """The seats of a debate where ``names`` are seated: whoever names the third judge has a second one."""
        if self.free_seats:
            return tuple(Seat(name) for name in dict.fromkeys(names)) or self.seats
        # A docket holds sources and knowledge, whose modules nobody needs who only asks what a format is called.
        from disputatio.formats.debate_context import place_of

        given = list(names)
        taken: list[Seat] = []
        for first in self.seats:
            places = [place for name in given if (place := place_of(name, first)) is not None]
            most = min(max(places, default=1), self.repeatable.get(first, 1))
            taken += [first, *(Seat(f"{first}_{number}") for number in range(2, most + 1))]
        return tuple(taken)
