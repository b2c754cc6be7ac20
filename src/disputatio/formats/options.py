"""The options of each format, one class each; every surface offers them.

A format of another package names its own class in ``Format.options``. An option with the name of a rule sets that rule;
``changes_of`` says what the others mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from disputatio.motion import one_line
from disputatio.options import Amount, Many, Options, Share, Whole, option
from disputatio.options.field import ShallowObject
from disputatio.options.reading import (
    Given,
    bad_name_hint,
    bad_value,
    check_unique,
    escalation,
    file_path,
    names,
    text,
    weight,
)


def _live(value: object) -> object:
    if isinstance(value, str | bytes | bool | int | float | dict | list | tuple):
        raise ValueError("input should be an object of the program")
    return value


Live = Annotated[SkipJsonSchema[Any], AfterValidator(_live)]
"""An object or a function, which only a program can pass."""
Word = Annotated[str, Field(min_length=1, max_length=60)]
Sentence = Annotated[str, Field(min_length=1, max_length=400)]
FILE = "a file of this machine"
LONGEST_KNOWLEDGE = 2_000_000
"""In characters; a knowledge base usually has about ten thousand."""

MOST_NAMES = 100
DEBATER = r"(?!all\Z)[a-z][a-z0-9_]{0,31}"
read_debaters = names(
    f"1 to {MOST_NAMES} different names of small letters, digits and _ between commas, such as ada,bo,cleo; "
    "the name all is taken",
    DEBATER,
    1,
    MOST_NAMES,
    small=True,
)
_read_options = names(
    "two or more different options of letters, digits, spaces and - between commas, such as adopt,reject",
    r"\w(?:[\w -]{0,38}\w)?",
    2,
    MOST_NAMES,
)
_preset = text("the name of a preset, such as contract", r"[a-z][a-z0-9_-]{0,59}")
_kind = text("a kind of decision in small letters, such as contract or contract-risk", r"[a-z][a-z0-9_-]{0,39}")
_personality = text("the name of a personality, such as logical, or none", r"[\w-]{1,60}")


def _task_type(key: str, given: Given) -> str:
    """A kind of decision, as the gate calls it."""
    # Imported late, here and below, because help pages import this module.
    from disputatio.judging.gate import find_task_type

    return find_task_type(str(_kind(key, given)))


_MOST_POSITIONS, _LONGEST_POSITION = 5, 300


def _positions(key: str, given: Given) -> tuple[str, ...]:
    """Read the positions of a review, each a sentence; semicolons separate them in one text."""
    allowed = f"2 to {_MOST_POSITIONS} different sentences of 10 to {_LONGEST_POSITION} characters"
    rows = given.value if isinstance(given.value, list | tuple) else str(given.value).split(";")
    texts = [one_line(row) for row in rows if isinstance(row, str) and row.strip()]
    wrong = next((row for row in texts if not 10 <= len(row) <= _LONGEST_POSITION), None)
    if not 2 <= len(texts) <= _MOST_POSITIONS or wrong is not None:
        raise bad_value(key, given, allowed, bad_name_hint(wrong))
    return check_unique(key, given, texts, allowed)


def _personalities(key: str, given: Given) -> Any:
    """Read the path of a personalities file, or a program's own by name."""
    return given.value if isinstance(given.value, dict) else file_path(key, given)


class FormatOptions(Options):
    """What every format takes. ``name`` says which format the options are of."""

    ABOUT: ClassVar[str] = ""
    if TYPE_CHECKING:
        # Each format narrows it to its own name. Type checkers do not let a subclass narrow a field that is a text.
        name: Any = ""
    else:
        name: str = ""
    rules: dict[Word, bool | Whole | Amount | Sentence] = option(
        default_factory=dict,
        help="A rule of the format by its name, such as a clock or a penalty.",
        key="rules.<rule>",
        flag="",
        variable="",
        # The format reads it, with the type of the rule's default.
        read=lambda _, given: given.value,
        examples=[{"turn_words": 150}],
    )

    def changes_of(self, seats: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002  (for the classes below)
        """Return the rules that these options change, by name; None leaves a rule as it is.

        Args:
            seats: the seats of the debate.
        """
        return {name: getattr(self, name) for name in type(self).model_fields if name not in {"name", "rules"}}


class Structured(FormatOptions):
    """Two sides, three rounds, judged by a rubric."""

    name: Literal["structured"] = "structured"


class Freeform(FormatOptions):
    """Alternating monologues and a judge's finding."""

    name: Literal["freeform"] = "freeform"
    rounds: Whole | None = option(None, "Most rounds.", ge=1, le=10, metavar="N")


class Panel(FormatOptions):
    """Named debaters and a counted vote."""

    name: Literal["panel"] = "panel"
    debaters: Many[Word] | None = option(
        None,
        "The debaters in the order in which they speak; else those that seats are given for.",
        max_length=MOST_NAMES,
        metavar="NAMES",
        read=read_debaters,
        examples=["ada,bo,cleo"],
    )
    options: Many[Word] | None = option(
        None,
        "What is voted on: release,revise,escalate unless set.",
        max_length=MOST_NAMES,
        metavar="WORDS",
        read=_read_options,
        examples=["adopt,reject,revise"],
    )
    rounds: Whole | None = option(None, "Most rounds.", ge=1, le=10, metavar="N")
    decision: Literal["threshold_vote", "majority", "super-majority", "unanimity", "weighted"] | None = option(
        None,
        "The rule by which votes become a decision; threshold_vote unless set.",
        key="decision.rule",
        metavar="RULE",
    )
    threshold: Whole | None = option(
        None,
        "Votes that threshold_vote needs; more than half of the debaters unless set.",
        ge=1,
        le=10_000,
        key="decision.threshold",
        metavar="N",
    )
    share: Share | None = option(
        None,
        "Share that super-majority (2/3 unless set) or weighted (1/2 unless set) needs.",
        key="decision.share",
        flag="",
        variable="",
        examples=["2/3"],
    )
    weights: dict[Word, Annotated[Amount, Field(ge=0, le=1_000_000)]] = option(
        default_factory=dict,
        help="What each debater's vote counts under the rule weighted; 1 unless set.",
        key="decision.weights.<seat>",
        flag="",
        variable="",
        read=weight,
    )
    escalate: str | Live | None = option(
        None,
        "Who takes an escalated decision: person, a format such as structured, or the address of a callback.",
        metavar="WHERE",
        read=escalation,
        repr=False,
        local="a callback or a terminal of this machine",
    )

    def changes_of(self, seats: Sequence[str]) -> Mapping[str, Any]:
        """The electorate, the options and the decision rule that the four options of it make."""
        from disputatio.formats.rule_values import DecisionRule, RuleName

        rule = RuleName(self.decision) if self.decision else RuleName.THRESHOLD_VOTE
        if self.decision is None and self.weights:
            rule = RuleName.WEIGHTED
        elif self.decision is None and self.share is not None:
            rule = RuleName.SUPER_MAJORITY
        weights = tuple((debater, Fraction(weight)) for debater, weight in sorted(self.weights.items()))
        decision = DecisionRule(rule, self.threshold, self.share, weights)
        return {"debaters": tuple(seats), "options": self.options, "rounds": self.rounds, "decision": decision}


class Review(FormatOptions):
    """A proposer, a critic who must challenge, and a moderator."""

    name: Literal["review"] = "review"
    rounds: Whole | None = option(None, "Most rounds.", ge=1, le=3, metavar="N")
    preset: Word | None = option(
        None,
        "What the review looks for: contract-risk, security-threat-model, architecture-decision, investment-thesis "
        "or regulatory-compliance.",
        metavar="NAME",
        read=_preset,
        examples=["contract-risk"],
    )
    task_type: Word | None = option(
        None,
        "What kind of decision is reviewed; that of the preset unless set, else general.",
        metavar="TYPE",
        read=_task_type,
        examples=["contract"],
    )
    positions: Many[Sentence] | None = option(
        None,
        "2 to 5 positions that the review weighs, each with a proposer of its own.",
        max_length=5,
        flag="--position",
        variable="",
        metavar="SENTENCE",
        read=_positions,
        repeat=True,
    )
    proposers: Whole | None = option(
        None, "Number of proposers where no positions are given; 1 unless set.", ge=1, le=5, flag="", metavar="N"
    )

    def changes_of(self, seats: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002  (as above)
        """The rounds and the positions; what a preset is, only the catalogue knows."""
        return {"rounds": self.rounds, "positions": self.positions}


class Competition(FormatOptions):
    """Two teams of four with speeches, free debate, clocks and penalties."""

    name: Literal["competition"] = "competition"
    personality: dict[Word, Word] = option(
        default_factory=dict,
        help="How a debater argues: logical, emotional, data_driven, aggressive, diplomatic or none; "
        "pro, con and all cover several. By place unless set.",
        key="personality.<seat>",
        variable="",
        metavar="SEAT=NAME",
        missing="who argues how",
        read=_personality,
        repeat=True,
        examples=["pro_2=aggressive"],
    )
    personalities: str | dict[Word, str] | None = option(
        None,
        "Your own personalities in TOML or YAML, or what each is told by name.",
        metavar="FILE",
        read=_personalities,
        local=FILE,
    )

    def changes_of(self, seats: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002  (as above)
        """Nothing: the cast is made from the catalogue of personalities."""
        return {}


class Market(FormatOptions):
    """A bull and a bear for each of four lenses, on a knowledge base."""

    name: Literal["market"] = "market"
    knowledge: Annotated[str, Field(min_length=1, max_length=LONGEST_KNOWLEDGE)] | ShallowObject | Live | None = option(
        None,
        "The knowledge base, as `disputatio market build` writes it; example is the synthetic one.",
        flag="--knowledge",
        key="",
        variable="",
        metavar="FILE",
        examples=["example"],
    )
    as_of: Annotated[str, Field(min_length=10, max_length=40)] | None = option(
        None,
        "Debate the S&P 500 as it was known at the close of this day, from installed data.",
        key="",
        variable="",
        metavar="DATE",
        examples=["2008-10-31"],
    )

    def changes_of(self, seats: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002  (as above)
        """Nothing: a knowledge base is laid before the seats, and changes no rule."""
        return {}
