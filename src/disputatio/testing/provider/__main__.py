"""The command line of the fake provider: ``python -m disputatio.testing.provider``.

The first line it prints is its base URL. It ends with exit code 0 when it is interrupted or terminated.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Final, NoReturn

from disputatio.participants.call import OutputMode
from disputatio.testing.provider.behaviour import Reasoning, ReasoningText
from disputatio.testing.provider.mishaps import Mishap, Mishaps
from disputatio.testing.provider.received import Latency, lognormal
from disputatio.testing.provider.server import FakeProvider

_REMEMBERED: Final = 1000
_EPILOGUE: Final = """\
A rule for --mishap is a name and when it happens: http_429@0,2 (the requests with these places in the order
of arrival), http_500%0.1 (this share of the attempts), cut_stream#1 (the first attempt at each request), or
the name alone (always). Names: """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a provider until it is stopped.

    Args:
        arguments: the command line without the program's name; None takes that of the process.

    Returns:
        The exit code.
    """
    options = _parser().parse_args(arguments)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(_provider(options), until_input_ends=options.until_input_ends))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m disputatio.testing.provider",
        description="An OpenAI-compatible server on 127.0.0.1 that answers any schema with a valid instance.",
        epilog=_EPILOGUE + ", ".join(Mishap) + ".",
    )
    add = parser.add_argument
    add("--port", type=int, default=0, help="where to listen; 0, the default, takes a free port")
    add("--latency", type=float, default=0.0, metavar="S", help="seconds to each answer, or their median")
    add("--spread", type=float, default=0.0, help="deviation of the latency's logarithm; 0 for none")
    add("--chunk-latency", type=float, default=0.0, metavar="S", help="seconds before each piece of a stream")
    add("--seed", type=int, default=0, help="chooses drawn latencies and mishaps")
    add("--model", action="append", default=[], help="a model that exists; any, where none is named")
    add("--alias", action="append", default=[], type=_alias, metavar="ASKED=SERVED", help="serve under a name")
    add("--api-key-env", metavar="NAME", help="the environment variable with the only key to accept")
    add("--honours", type=_modes, default=None, metavar="MODES", help="native, tool, both by a comma, or none")
    add("--max-context", type=int, help="most tokens of prompt and answer together")
    add("--no-prefix-cache", action="store_true", help="report no cached tokens")
    add("--refuse", action="append", default=[], metavar="PARAMETER", help="a parameter to refuse, as OpenAI does")
    add("--realistic-lengths", action="store_true", help="texts as long as those of a large model")
    add("--reasoning", type=float, metavar="TOKENS", help="reason before each answer; the median of its tokens")
    add("--reasoning-spread", type=float, default=0.5, help="deviation of the logarithm of these tokens")
    add(
        "--reasoning-text",
        type=ReasoningText,
        choices=list(ReasoningText),
        default=ReasoningText.HIDDEN,
        help="where the reasoning text stands",
    )
    add("--retry-after", default="1", help="what the Retry-After header says with status 429")
    add("--batch-seconds", type=float, default=3_600.0, metavar="S", help="how long a batch takes; an hour by default")
    add("--mishap", action="append", default=[], metavar="RULE", help="what goes wrong, and when; see below")
    add("--until-input-ends", action="store_true", help="end when the standard input is closed")
    return parser


def _provider(options: argparse.Namespace) -> FakeProvider:
    latency: float | Latency = options.latency
    if options.spread > 0:
        latency = lognormal(options.latency, options.spread, options.seed)
    provider = FakeProvider(
        port=options.port,
        latency=latency,
        chunk_latency_s=options.chunk_latency,
        models=options.model,
        aliases=dict(options.alias),
        max_context=options.max_context,
        prefix_cache=not options.no_prefix_cache,
        refuses=options.refuse,
        realistic_lengths=options.realistic_lengths,
        reasoning=_reasoning(options),
        retry_after=options.retry_after,
        mishaps=_mishaps(options.mishap, options.seed),
        keep=_REMEMBERED,
        batch_seconds=options.batch_seconds,
    )
    if options.honours is not None:
        provider.honours = options.honours
    if options.api_key_env is not None:
        # A key on the command line would be readable by everybody on the machine.
        provider.api_key = os.environ.get(options.api_key_env) or _refuse(
            f"the environment variable {options.api_key_env} with the key is not set"
        )
    return provider


def _reasoning(options: argparse.Namespace) -> Reasoning | None:
    if options.reasoning is None:
        return None
    return Reasoning(
        median=options.reasoning, spread=options.reasoning_spread, seed=options.seed, text=options.reasoning_text
    )


def _refuse(why: str) -> NoReturn:
    _parser().error(why)


def _alias(text: str) -> tuple[str, str]:
    asked, sign, served = text.partition("=")
    if not (asked and sign and served):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form ASKED=SERVED")
    return asked, served


def _modes(text: str) -> tuple[OutputMode, ...]:
    if text == "none":
        return ()
    try:
        return tuple(OutputMode(name) for name in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} names no mode; use native, tool or none") from error


def _mishaps(rules: Sequence[str], seed: int) -> Mishaps:
    mishaps = Mishaps()
    for rule in rules:
        try:
            mishaps = _with_rule(mishaps, rule, seed)
        except ValueError:
            _refuse(f"the mishap rule {rule!r} cannot be read; --help shows the forms")
    return mishaps


def _with_rule(mishaps: Mishaps, rule: str, seed: int) -> Mishaps:
    name, at, indexes = rule.partition("@")
    if at:
        return mishaps.at([int(index) for index in indexes.split(",")], Mishap(name))
    name, percent, share = rule.partition("%")
    if percent:
        return mishaps.at_random(float(share), Mishap(name), seed=seed)
    name, sharp, count = rule.partition("#")
    if sharp:
        return mishaps.first_attempts(int(count), Mishap(name))
    return mishaps.always(Mishap(name))


async def _serve(provider: FakeProvider, *, until_input_ends: bool) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        # Windows has no signal handlers in its event loop; the interrupt ends the run there.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(each, ended.set)
    if until_input_ends:
        # A daemon, since nothing can wake a thread that reads: it must not keep the process alive.
        threading.Thread(target=_watch_input, args=(loop, ended), daemon=True).start()
    async with provider:
        sys.stdout.write(f"{provider.base_url}\n")
        sys.stdout.flush()
        await ended.wait()


def _watch_input(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    # Reading the raw file: a buffered reader left in use would complain when the interpreter ends.
    while os.read(0, 1024):
        pass
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(ended.set)


if __name__ == "__main__":
    sys.exit(main())
