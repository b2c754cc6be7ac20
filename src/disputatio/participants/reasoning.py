"""How much room a model has to reason, and when the limit of a call went into reasoning.

Reasoning tokens are output tokens, and a model spends them before the first word of its answer. So the limit that is
sent is that of the answer plus an *allowance* for reasoning. The rules of the allowance:

1. A model that reasons by default starts with that of the effort ``medium``, a seat with a ``reasoning_effort`` with
   that of its effort. A number of tokens is the allowance itself. Any other model starts without one.
2. A call is *cut while reasoning* where its output ended at the limit, there is no whole answer, and reasoning took
   more than the allowance. Such a call is a fault of its own kind, because being brief does not help.
3. It raises the allowance: to ``EIGHTFOLD`` what reasoning took, or, where the model had not finished reasoning and
   nobody knows what it needs, to ``LARGEST`` at once. Limits that are not used cost nothing, calls that are cut do.
4. The allowance is never less than ``THREEFOLD`` the most that the model was seen to reason in a call.
5. It never makes the limit larger than ``LARGEST_LIMIT``, or than the model's context window has left where that is
   known. A user's own number may.
6. A server that does not take the limit is asked again with a smaller one, which holds from then on: first with a
   smaller allowance, then with the limit that answers usually need.

What is learned holds for the model at its address with this effort, in all debates of the process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from disputatio.participants.call import Call, Fault, FaultKind, Reply, Segment
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS, Kind

EFFORTS: Final = ("none", "minimal", "low", "medium", "high")
"""What a seat's ``reasoning_effort`` may be, besides a number of tokens; least reasoning first."""

ALLOWANCES: Final = {"none": 0, "minimal": 2_000, "low": 4_000, "medium": 10_000, "high": 25_000}
"""Tokens for each effort: at least the budgets that pydantic-ai sends for them to Claude (1,024, 2,048, 10,000, 16,384)
and Gemini (128, 2,048, 8,192, 24,576), since a budget has to be smaller than the limit."""

LARGEST: Final = 60_000
"""The largest allowance that is chosen here; a user may choose a larger one."""
LARGEST_LIMIT: Final = 65_536
"""Tokens of output: the most that Gemini and DeepSeek take; OpenAI's and Anthropic's reasoning models take as much."""
FEWEST_SEEN: Final = 5
"""Calls of a model whose reasoning was counted; fewer say nothing about the next."""
EIGHTFOLD: Final = 8
THREEFOLD: Final = 3
"""A model's calls differ: with a log-normal spread of 0.5, 1 in 70 takes three times the median, 1 in 60,000 eight."""

_CHARS_PER_TOKEN: Final = 3
"""Fewer than prose usually has, so that prompt, allowance and answer fit the window together."""
_LEAST_LOWERED: Final = 1_000
_SMALLER: Final = 8
"""Part of an allowance that is tried after one that was refused: in the usual attempts a call comes down to nothing."""
_OWN_REASONER: Final = (
    # OpenAI: gpt-5 and what follows it; from 5.1 to 5.4 only the variants that always reason do so unasked.
    r"(?:chatgpt-)?o[134](?:-|$)",
    r"gpt-oss",
    r"gpt-5(?!-chat)(?!\.)",
    r"gpt-5\.1-codex",
    r"gpt-5\.[1-4].*-(?:pro|chat)",
    r"gpt-5\.(?:[5-9]|\d\d)",
    r"gpt-(?:[6-9]|\d\d)",
    r"claude-(?:fable|mythos)",
    r"claude-(?:opus|sonnet)-[5-9]",
    r"claude-haiku-5-5",
    r"gemini-2\.5-(?!flash-lite)",
    r"gemini-[3-9]",
    r"gemini-(?:pro|flash)-latest",
    r"deepseek-(?:r\d|reasoner|flash|v4)",
    r"q[vw]q",
    r"qwen-?3(?!.*(?:instruct|coder|embed|-vl-|guard))",
    r"magistral",
    r"glm-(?:4\.[5-9]|[5-9])",
    r"kimi-k(?:2\.[5-9]|[3-9])",
    r"grok-(?:[4-9]|3-mini)(?!.*non-reasoning)",
    r"minimax-m",
    r"seed-oss",
    r"smollm3",
    r"hunyuan-t",
    r"ernie-x",
    r"exaone-deep",
)
_REASONER: Final = re.compile(
    rf"(?:^|[/.:])(?:{'|'.join(_OWN_REASONER)})|(?<!non-)(?<!no-)(?:thinking|reasoning|-think$)"
)
_WINDOW_TOLD: Final = re.compile(r"maximum context length is (\d+)")
_MOST_TOLD: Final = re.compile(r"(?:at most|less than or equal to|maximum of|maximum value is) `?(\d[\d,]*)")
_LIMIT_REFUSED: Final = re.compile(
    r"max_?(?:completion_|output_|new_)?tokens?\b|maxOutputTokens|output token limit|completion tokens"
    r"|in the completion",
    re.IGNORECASE,
)

ModelKey: TypeAlias = tuple[str, str, str, str]
"""What something is known about: provider, model, address and effort."""


def model_key(seating: ModelSeating) -> ModelKey:
    """What knowledge about the model in ``seating`` is kept under."""
    effort = seating.reasoning_effort
    return seating.provider, seating.model, seating.base_url or "", "" if effort is None else str(effort)


def reasons_by_default(seating: ModelSeating) -> bool:
    """Whether the model is known to reason when nobody says how much; by its name, whoever serves it."""
    # The embedded model writes under a grammar, which leaves no place to reason in.
    return not _is_fixed(seating) and _REASONER.search(seating.model.lower()) is not None


def first_allowance(seating: ModelSeating) -> int:
    """The tokens for reasoning that the model is given before anything is known of it; see the rules above."""
    effort = seating.reasoning_effort
    if _is_fixed(seating):
        return 0
    if isinstance(effort, int):
        return effort
    if effort is not None:
        return ALLOWANCES[effort]
    return ALLOWANCES["medium"] if reasons_by_default(seating) else 0


def most_reasoning(allowance: int) -> int:
    """The most tokens that a model with this allowance is expected to reason in a call, on the whole.

    Three times as many, with what calls took that were cut: so a model with the allowance of ``medium`` may have a
    median of 12,000.
    """
    return allowance * 3


def expected_reasoning(seating: ModelSeating, seen: ReasoningStats) -> tuple[int, int, int]:
    """The least, the usual and the most tokens that the model is expected to reason in a call, on the whole.

    Half, all and twice the mean of what was seen, where ``FEWEST_SEEN`` calls were; else nothing, a fifth and
    three times the model's first allowance. For a model that reasons by default that is 0, 2,000 and 30,000.
    """
    if seen.calls >= FEWEST_SEEN:
        mean = seen.tokens // seen.calls
        return mean // 2, mean, 2 * mean
    allowance = first_allowance(seating)
    return 0, allowance // 5, most_reasoning(allowance)


@dataclass(frozen=True, slots=True)
class ReasoningStats:
    """What was seen of a model's reasoning.

    Attributes:
        calls: calls whose reasoning was counted; one that was cut counts with what it took until then.
        tokens: what they took together.
        largest: the most that one of them took.
    """

    calls: int = 0
    tokens: int = 0
    largest: int = 0

    def __add__(self, other: ReasoningStats) -> ReasoningStats:
        """Both together."""
        return ReasoningStats(self.calls + other.calls, self.tokens + other.tokens, max(self.largest, other.largest))


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of one model.

    Attributes:
        seen: what was seen of its reasoning.
        raised: what a call that was cut raised its allowance to.
        most: the largest limit that its server takes; None where it refused none.
        window: its context window as its server told it; None where it did not.
    """

    seen: ReasoningStats = ReasoningStats()
    raised: int = 0
    most: int | None = None
    window: int | None = None


_NOTHING: Final = _Known()


def no_window(_: ModelSeating) -> int | None:
    """No model's context window is known."""
    return None


class Allowances:
    """The allowances of models, and what was learned about them.

    Args:
        window: a model's context window in tokens, None where it is not known.
    """

    def __init__(self, window: Callable[[ModelSeating], int | None] = no_window) -> None:
        self._window = window
        self._known: dict[ModelKey, _Known] = {}
        self._looked_up: set[ModelKey] = set()

    def claim_lookups(self, seatings: Iterable[ModelSeating]) -> dict[ModelKey, ModelSeating]:
        """Those of ``seatings`` that nobody has asked this for yet: what debates of before know is looked up once."""
        new = {model_key(row): row for row in seatings if not _is_fixed(row)}
        new = {key: row for key, row in new.items() if key not in self._looked_up}
        self._looked_up.update(new)
        return new

    def seen(self, seating: ModelSeating) -> ReasoningStats:
        """What was seen of its reasoning."""
        return self._known.get(model_key(seating), _NOTHING).seen

    def of(self, seating: ModelSeating, answer: int, prompt: Sequence[Segment] = ()) -> int:
        """The tokens for reasoning in a call whose answer has ``answer`` tokens at most; see ``room``."""
        return self.room(seating, answer, answer, prompt)[1]

    def room(self, seating: ModelSeating, answer: int, usual: int, prompt: Sequence[Segment]) -> tuple[int, int]:
        """The tokens for the answer in a call, and those for reasoning, by the rules at the top of this module.

        Args:
            seating: who is called.
            answer: the most tokens of the answer.
            usual: those that such answers usually need; the first number is no smaller.
            prompt: what is sent.
        """
        known, chosen = self._known.get(model_key(seating), _NOTHING), first_allowance(seating)
        wanted = max(chosen, min(max(known.raised, THREEFOLD * known.seen.largest), LARGEST))
        most = max(LARGEST_LIMIT, chosen + answer) if known.most is None else known.most
        window = self._window(seating) if known.window is None else known.window
        if window is not None:
            most = min(most, window - sum(len(row.text) for row in prompt) // _CHARS_PER_TOKEN)
        answer = min(answer, max(usual, most))
        return answer, max(0, min(wanted, most - answer))

    def smaller_calls(self, seating: ModelSeating, call: Call) -> Iterator[Call]:
        """``call``, then the same with ever less room, down to the least that is of use.

        First there is less to reason in: down to what the model was seen to need and a quarter more; where it was not
        seen, to half of what it starts with. Then the answer has no more than answers usually need.
        """
        yield call
        seen = self.seen(seating)
        least = seen.largest * 5 // 4 if seen.calls else first_allowance(seating) // 2
        allowance = call.reasoning_allowance
        while allowance // 2 and allowance // 2 >= least:
            allowance //= 2
            yield call.with_room(call.answer_tokens, allowance)
        if call.least_tokens < call.answer_tokens:
            yield call.with_room(call.least_tokens, allowance)

    def judge(self, seating: ModelSeating, call: Call, outcome: Reply | Fault) -> Reply | Fault:
        """``outcome`` as it is to be recorded, after what it teaches was learned.

        A reply whose limit went into reasoning becomes a fault that says so, and the refusal of a limit that can be
        smaller one that another call can cure.
        """
        if isinstance(outcome, Reply) and not _is_fixed(seating) and _is_cut_while_reasoning(outcome, call):
            outcome = _cut(seating, call, outcome)
        elif isinstance(outcome, Fault) and call.max_tokens > call.least_tokens and _is_refused_limit(outcome, call):
            outcome = replace(outcome, kind=FaultKind.LIMIT_TOO_LARGE)
        self.learn_from(seating, call.max_tokens, call.reasoning_allowance, outcome)
        return outcome

    def learn_from(self, seating: ModelSeating, limit: int, allowance: int, outcome: Reply | Fault) -> None:
        """Take in a call that was judged: one of now, or one that a record tells of.

        Args:
            seating: who was called.
            limit: the limit that was sent.
            allowance: how much of it was for reasoning.
            outcome: what came of it.
        """
        tokens = outcome.usage.reasoning_tokens if outcome.usage else None
        key = model_key(seating)
        known = self._known.get(key, _NOTHING)
        if isinstance(outcome, Fault) and outcome.kind is FaultKind.LIMIT_TOO_LARGE:
            self._known[key] = _lowered(known, outcome.message, limit, allowance)
            return
        if isinstance(outcome, Fault) and outcome.kind is FaultKind.CUT_WHILE_REASONING:
            finished = bool(outcome.text.strip()) and tokens is not None
            needed = max(EIGHTFOLD * (tokens or 0), ALLOWANCES["medium"]) if finished else LARGEST
            known = replace(known, raised=max(known.raised, needed))
        elif tokens is None:
            return
        seen = ReasoningStats(1, tokens, tokens) if tokens is not None else ReasoningStats()
        self._known[key] = replace(known, seen=known.seen + seen)

    def remember(self, seating: ModelSeating, seen: ReasoningStats) -> None:
        """Take in what debates of before have seen of a model, unless this process has seen it itself."""
        if not self.seen(seating).calls:
            key = model_key(seating)
            self._known[key] = replace(self._known.get(key, _NOTHING), seen=seen)


def _is_fixed(seating: ModelSeating) -> bool:
    """Whether the model never reasons, whatever it is called."""
    provider = PROVIDERS.get(seating.provider)
    return provider is not None and provider.kind in (Kind.EMBEDDED, Kind.RULES)


def _is_cut_while_reasoning(reply: Reply, call: Call) -> bool:
    """Rule 2. What was reasoned is what the provider reported, else what the answer cannot account for.

    Byte-level tokenizers make at most one token of a byte, so output beyond the bytes of the text was not text.
    """
    if reply.finish != "length":
        return False
    reasoned = reply.usage.reasoning_tokens
    if not reply.text.strip():
        return reasoned != 0
    if reasoned is None and reply.usage.output_tokens is not None:
        reasoned = reply.usage.output_tokens - len(reply.text.encode("utf-8", "replace"))
    return reasoned is not None and reasoned > call.reasoning_allowance and not _is_whole(reply.text)


def _is_whole(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _cut(seating: ModelSeating, call: Call, reply: Reply) -> Fault:
    reasoned = reply.usage.reasoning_tokens
    took = f"{reasoned:,} of the" if reasoned is not None and reasoned < call.max_tokens else "the"
    message = (
        f"{seating.address} used {took} {call.max_tokens:,} tokens of its limit for reasoning and gave no whole "
        "answer; a lower reasoning_effort, or a larger number of tokens as reasoning_effort or max_tokens, leaves room."
    )
    return Fault(
        FaultKind.CUT_WHILE_REASONING, message, usage=reply.usage, served_model=reply.served_model, text=reply.text
    )


def _is_refused_limit(fault: Fault, call: Call) -> bool:
    """Whether a smaller limit may cure ``fault``. Without room to reason, a prompt that is too long mostly is that."""
    if fault.kind is FaultKind.CONTEXT_TOO_LONG and call.reasoning_allowance:
        return True
    refusable = fault.kind in (FaultKind.BAD_REQUEST, FaultKind.CONTEXT_TOO_LONG)
    return refusable and _LIMIT_REFUSED.search(fault.message) is not None


def _lowered(known: _Known, words: str, limit: int, allowance: int) -> _Known:
    """``known`` after the server refused ``limit``: its words say what it takes, or less is tried."""
    if (told := _WINDOW_TOLD.search(words)) and known.window is None:
        return replace(known, window=int(told[1]))
    lowered = allowance // _SMALLER if allowance // _SMALLER >= _LEAST_LOWERED else 0
    # Without room to reason there is only that of the answer left, which shrinks to what answers usually need.
    most = limit - allowance + lowered if allowance else 1
    if (told := _MOST_TOLD.search(words)) and int(told[1].replace(",", "")) < limit:
        most = int(told[1].replace(",", ""))
    return replace(known, most=most if known.most is None else min(most, known.most))
