"""How many tokens a model gets for reasoning, and how to detect that reasoning used up the limit of a call.

Reasoning tokens are output tokens, and a model spends them before its answer. So the limit of a call is that of the
answer plus an *allowance* for reasoning:

1. A model that reasons by default starts with the allowance of the effort ``medium``. A seat with a
   ``reasoning_effort`` starts with that of its effort; a number of tokens is the allowance itself. Others start at 0.
2. A call is *cut while reasoning* if its output ended at the limit, the answer is incomplete, and reasoning took more
   than the allowance. This is a separate kind of fault, because a shorter answer does not help.
3. Such a fault raises the allowance to ``EIGHTFOLD`` the reasoning of the call. If the model did not finish reasoning,
   the allowance becomes ``LARGEST``: an unused limit costs nothing, a cut call does.
4. The allowance is at least ``THREEFOLD`` the most reasoning seen in a call.
5. The limit never exceeds ``LARGEST_LIMIT``, or the rest of a known context window. A user's own number may.
6. If a server refuses the limit, the call is repeated with a smaller one, which is kept: first with a smaller
   allowance, then with the limit that answers usually need.

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
"""The largest automatic allowance; users may set a larger one."""
LARGEST_LIMIT: Final = 65_536
"""Tokens of output: the most that Gemini and DeepSeek take; OpenAI's and Anthropic's reasoning models take as much."""
FEWEST_SEEN: Final = 5
"""Calls with counted reasoning that are needed for a prediction."""
EIGHTFOLD: Final = 8
THREEFOLD: Final = 3
"""A model's calls differ: with a log-normal spread of 0.5, 1 in 70 takes three times the median, 1 in 60,000 eight."""

_CHARS_PER_TOKEN: Final = 3
"""Fewer than in usual prose, so that prompt, allowance and answer fit the window together."""
_LEAST_LOWERED: Final = 1_000
_SMALLER: Final = 8
"""Divides an allowance after a refusal: it reaches zero within the usual attempts."""
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
"""Provider, model, address and effort."""


def model_key(seating: ModelSeating) -> ModelKey:
    """The key under which facts about the model in ``seating`` are kept."""
    effort = seating.reasoning_effort
    return seating.provider, seating.model, seating.base_url or "", "" if effort is None else str(effort)


def reasons_by_default(seating: ModelSeating) -> bool:
    """Whether the model is known, by its name, to reason when no effort is set."""
    # The embedded model writes under a grammar, which leaves no room to reason.
    return not _is_fixed(seating) and _REASONER.search(seating.model.lower()) is not None


def first_allowance(seating: ModelSeating) -> int:
    """The allowance of a model that nothing was learned about; see rule 1."""
    effort = seating.reasoning_effort
    if _is_fixed(seating):
        return 0
    if isinstance(effort, int):
        return effort
    if effort is not None:
        return ALLOWANCES[effort]
    return ALLOWANCES["medium"] if reasons_by_default(seating) else 0


def most_reasoning(allowance: int) -> int:
    """The highest expected mean of reasoning tokens per call: three times the allowance, cut calls included.

    So a model with the allowance of ``medium`` may have a median of 12,000.
    """
    return allowance * 3


def expected_reasoning(seating: ModelSeating, seen: ReasoningStats) -> tuple[int, int, int]:
    """The least, usual and most mean reasoning tokens per call to expect.

    Half, one and two times the observed mean after ``FEWEST_SEEN`` calls; before, 0, a fifth and three times the first
    allowance. For a model that reasons by default that is 0, 2,000 and 30,000.
    """
    if seen.calls >= FEWEST_SEEN:
        mean = seen.tokens // seen.calls
        return mean // 2, mean, 2 * mean
    allowance = first_allowance(seating)
    return 0, allowance // 5, most_reasoning(allowance)


@dataclass(frozen=True, slots=True)
class ReasoningStats:
    """Observed reasoning of a model.

    Attributes:
        calls: calls with counted reasoning, cut ones included.
        tokens: the sum of their reasoning tokens.
        largest: the most in one call.
    """

    calls: int = 0
    tokens: int = 0
    largest: int = 0

    def __add__(self, other: ReasoningStats) -> ReasoningStats:
        """Merge two sets of observations."""
        return ReasoningStats(self.calls + other.calls, self.tokens + other.tokens, max(self.largest, other.largest))


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of one model.

    Attributes:
        seen: its observed reasoning.
        raised: the allowance after a cut call.
        most: the largest limit that its server accepts; None if it refused none.
        window: the context window that its server stated, or None.
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
        window: returns a model's context window in tokens, or None.
    """

    def __init__(self, window: Callable[[ModelSeating], int | None] = no_window) -> None:
        self._window = window
        self._known: dict[ModelKey, _Known] = {}
        self._looked_up: set[ModelKey] = set()

    def claim_lookups(self, seatings: Iterable[ModelSeating]) -> dict[ModelKey, ModelSeating]:
        """Return the seatings that were not claimed before: earlier debates are searched once for each."""
        new = {model_key(row): row for row in seatings if not _is_fixed(row)}
        new = {key: row for key, row in new.items() if key not in self._looked_up}
        self._looked_up.update(new)
        return new

    def seen(self, seating: ModelSeating) -> ReasoningStats:
        """The observed reasoning of the model."""
        return self._known.get(model_key(seating), _NOTHING).seen

    def of(self, seating: ModelSeating, answer: int, prompt: Sequence[Segment] = ()) -> int:
        """The allowance of a call whose answer has at most ``answer`` tokens; see ``room``."""
        return self.room(seating, answer, answer, prompt)[1]

    def room(self, seating: ModelSeating, answer: int, usual: int, prompt: Sequence[Segment]) -> tuple[int, int]:
        """The tokens of a call for its answer and for reasoning, by the rules above.

        Args:
            seating: the model.
            answer: the most tokens of the answer.
            usual: the tokens that such answers usually need; the first result is at least this.
            prompt: the prompt.
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
        """Yield ``call``, then the same call with smaller and smaller limits.

        First the allowance is halved, down to 1.25 times the most reasoning seen, or to half of the first allowance if
        none was seen. Then the answer is limited to what answers usually need.
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
        """Learn from ``outcome`` and return it as the record should have it.

        A reply cut while reasoning becomes a fault. The refusal of a limit that can be reduced becomes
        ``LIMIT_TOO_LARGE``.
        """
        if isinstance(outcome, Reply) and not _is_fixed(seating) and _is_cut_while_reasoning(outcome, call):
            outcome = _cut(seating, call, outcome)
        elif isinstance(outcome, Fault) and call.max_tokens > call.least_tokens and _is_refused_limit(outcome, call):
            outcome = replace(outcome, kind=FaultKind.LIMIT_TOO_LARGE)
        self.learn_from(seating, call.max_tokens, call.reasoning_allowance, outcome)
        return outcome

    def learn_from(self, seating: ModelSeating, limit: int, allowance: int, outcome: Reply | Fault) -> None:
        """Learn from a call, present or recorded, that ``judge`` has classified.

        Args:
            seating: the model.
            limit: the limit that was sent.
            allowance: the part of it for reasoning.
            outcome: the result of the call.
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
        """Take over observations of earlier debates, unless this process has some itself."""
        if not self.seen(seating).calls:
            key = model_key(seating)
            self._known[key] = replace(self._known.get(key, _NOTHING), seen=seen)


def _is_fixed(seating: ModelSeating) -> bool:
    """Whether the model never reasons, whatever its name."""
    provider = PROVIDERS.get(seating.provider)
    return provider is not None and provider.kind in (Kind.EMBEDDED, Kind.RULES)


def _is_cut_while_reasoning(reply: Reply, call: Call) -> bool:
    """Apply rule 2. If the provider did not report reasoning, count output tokens beyond the bytes of the text.

    Byte-level tokenizers make at most one token of a byte, so these tokens were not text.
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
    """Whether a smaller limit may cure ``fault``. Without an allowance, the prompt itself is probably too long."""
    if fault.kind is FaultKind.CONTEXT_TOO_LONG and call.reasoning_allowance:
        return True
    refusable = fault.kind in (FaultKind.BAD_REQUEST, FaultKind.CONTEXT_TOO_LONG)
    return refusable and _LIMIT_REFUSED.search(fault.message) is not None


def _lowered(known: _Known, words: str, limit: int, allowance: int) -> _Known:
    """Update ``known`` after the server refused ``limit``: by the limit in its message, else by a guess."""
    if (told := _WINDOW_TOLD.search(words)) and known.window is None:
        return replace(known, window=int(told[1]))
    lowered = allowance // _SMALLER if allowance // _SMALLER >= _LEAST_LOWERED else 0
    # Without an allowance only the answer is left, which shrinks to what answers usually need.
    most = limit - allowance + lowered if allowance else 1
    if (told := _MOST_TOLD.search(words)) and int(told[1].replace(",", "")) < limit:
        most = int(told[1].replace(",", ""))
    return replace(known, most=most if known.most is None else min(most, known.most))
