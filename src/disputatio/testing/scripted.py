"""Model clients without a network: one follows a script, one answers with instances of the schema."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Final, TypeAlias

from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject
from disputatio.participants.call import Call, Fault, OnText, OutputMode, Reply, Usage
from disputatio.testing.instances import Maker, maker_of, prose, schema_text
from disputatio.testing.provider.token_counts import tokens_in

ScriptedReply: TypeAlias = Reply | Fault | str | JsonObject
"""What a scripted model says: a whole reply or fault, or only a text, or an object to be sent as JSON."""

Script: TypeAlias = Callable[[Call], "ScriptedReply | Awaitable[ScriptedReply]"]
UsageRule: TypeAlias = Callable[[Call, str], Usage]

_PIECE: Final = 24


class ScriptEndedError(AssertionError):
    """A scripted model has no reply left. The script or the caller is wrong."""


def counted_usage(call: Call, text: str) -> Usage:
    """Usage by a fixed rule: a token is four bytes of UTF-8, rounded up for each stretch of the prompt.

    The schema counts as input, as compact JSON; nothing is cached.
    """
    return _counted(call, text, 0 if call.schema is None else tokens_in(schema_text(call.schema)))


def _counted(call: Call, text: str, schema_tokens: int) -> Usage:
    prompt = sum(tokens_in(segment.text) for segment in call.segments)
    return Usage(input_tokens=prompt + schema_tokens, output_tokens=tokens_in(text), cached_tokens=0)


def no_usage(_call: Call, _text: str) -> Usage:
    """A provider that reports no token counts."""
    return Usage()


class ScriptedClient:
    """A model whose replies are written down beforehand.

    Args:
        replies: what it says, in the order of the calls, or a function of the call (which may be a
            coroutine function, to keep a reply back). A text or an object is sent as a finished reply.
        modes: the structured-output modes it offers, best first.
        model: the name it states as the served model; None states none.
        usage: counts the tokens of texts and objects; whole replies carry their own usage.
        probe_fault: what a probe finds, or None where calls can work.

    Raises:
        InvalidInputError: ``replies`` is a single text or object.

    Attributes:
        calls: every call so far, in order.
        probes: how often it was probed.
        is_closed: whether ``aclose`` was called.
    """

    def __init__(
        self,
        replies: Iterable[ScriptedReply] | Script,
        *,
        modes: tuple[OutputMode, ...] = (OutputMode.NATIVE,),
        model: str | None = "scripted",
        usage: UsageRule = counted_usage,
        probe_fault: Fault | None = None,
    ) -> None:
        if isinstance(replies, str | Mapping):
            raise InvalidInputError(
                "A scripted model was given one reply in place of a list.", "Put the reply into a list."
            )
        self._script: Script = replies if callable(replies) else _reading(replies)
        self._modes = modes
        self._model = model
        self._usage = usage
        self._probe_fault = probe_fault
        self.calls: list[Call] = []
        self.probes = 0
        self.is_closed = False

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        """The structured-output modes it offers, best first."""
        return self._modes

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        """Say what the script says.

        Raises:
            ScriptEndedError: the script has no reply left. It is not given back as a fault: a test must not
                take its own mistake for a provider's.
        """
        self.calls.append(call)
        said = self._script(call)
        if inspect.isawaitable(said):
            said = await said
        else:
            # A real client suspends at every call, so code that must bear that is made to.
            await asyncio.sleep(0)
        if isinstance(said, Fault):
            _feed(on_text, said.text)
            return said
        if not isinstance(said, Reply):
            text = said if isinstance(said, str) else json.dumps(said, default=dict, ensure_ascii=False)
            said = Reply(text, self._model, self._usage(call, text))
        _feed(on_text, said.text)
        return said

    async def probe(self) -> Fault | None:
        """What was given as ``probe_fault``."""
        self.probes += 1
        return self._probe_fault

    async def aclose(self) -> None:
        """Remember having been closed."""
        self.is_closed = True


def _reading(replies: Iterable[ScriptedReply]) -> Script:
    left = iter(replies)

    def read(call: Call) -> ScriptedReply:
        for said in left:
            return said
        name = call.schema_name or "a text"
        raise ScriptEndedError(f"the script has no reply left for a call for {name!r}")

    return read


class InstanceClient:
    """A model that answers every call with a valid instance of its schema, and prose where it has none.

    The answer depends on the segments' roles and texts, the schema and the seed of the call, and on nothing
    else: the same call always gets the same answer, in any process and whatever was asked before.

    Args:
        modes: the structured-output modes it offers, best first.
        model: the name it states as the served model.
        usage: counts tokens, from the call and the answer; None counts by the rule of ``counted_usage``.
        obeys_max_tokens: whether an answer that ``usage`` counts longer than the call allows is cut at the
            limit, with the finish reason ``length``.

    Attributes:
        call_count: how many calls there were.
    """

    def __init__(
        self,
        *,
        modes: tuple[OutputMode, ...] = (OutputMode.NATIVE,),
        model: str = "instances",
        usage: UsageRule | None = None,
        obeys_max_tokens: bool = False,
    ) -> None:
        self._modes = modes
        self._model = model
        self._usage = usage
        self._obeys_max_tokens = obeys_max_tokens
        self.call_count = 0

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        """The structured-output modes it offers, best first."""
        return self._modes

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        """Answer with an instance of the schema.

        Raises:
            InvalidInputError: the schema is none, or no instance of it can be made.
        """
        self.call_count += 1
        await asyncio.sleep(0)
        maker = None if call.schema is None else maker_of(call.schema)
        text = _answer(call, maker)
        usage = self._count(call, text, maker)
        finish = "stop"
        if self._obeys_max_tokens and (usage.output_tokens or 0) > call.max_tokens:
            finish = "length"
            text = text[: len(text) * call.max_tokens // (usage.output_tokens or 1)]
            usage = self._count(call, text, maker)
        _feed(on_text, text)
        return Reply(text, self._model, usage, finish)

    def _count(self, call: Call, text: str, maker: Maker | None) -> Usage:
        if self._usage is not None:
            return self._usage(call, text)
        # The maker knows the length of its schema: writing it out again would be a third of the time.
        return _counted(call, text, 0 if maker is None else tokens_in(maker.schema_text))

    async def probe(self) -> Fault | None:
        """Calls can always work."""
        return None

    async def aclose(self) -> None:
        """There is nothing to close."""


def _answer(call: Call, maker: Maker | None) -> str:
    seed = _seed(call)
    return prose(seed) if maker is None else json.dumps(maker.make_from(seed), ensure_ascii=False)


def _seed(call: Call) -> int:
    hashed = blake2b(f"{call.seed}".encode(), digest_size=8)
    for segment in call.segments:
        hashed.update(f"\0{segment.role}\0{segment.text}".encode("utf-8", "surrogatepass"))
    return int.from_bytes(hashed.digest(), "big")


def _feed(on_text: OnText | None, text: str) -> None:
    """Hand a text on in pieces, as a stream would."""
    if on_text is not None:
        for start in range(0, len(text), _PIECE):
            on_text(text[start : start + _PIECE])
