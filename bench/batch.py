"""Batches against single calls on many questions, and killed at random moments, over fake servers.

Run: python bench/batch.py [QUESTIONS [KILLS [PROTOCOL...]]]
     1,000 questions, 50 kills and all three protocols by default; about ten minutes

A structured debate on each question is held singly and in batches. What each of them said and decided is compared, and
what the fake server charged. Then a smaller run is killed with SIGKILL at random moments, and started again, until so
many kills have hit it. The server's bill is compared with that of an undisturbed run. The exit code is 1 where anything
differs.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "evaluation"))

from batch_stage import MODELS, Order, killed_run, meanings, run, zygote

from disputatio.testing import FakeProvider

KILLED_QUESTIONS = 5
KILLS_OF_A_RUN = 5
WITHIN_S = 0.8


def served() -> FakeProvider:
    """A fake provider that charges the same whatever came before."""
    return FakeProvider(prefix_cache=False, models=tuple(MODELS.values()), keep=1_000)


def compared(protocol: str, questions: int, folder: str) -> bool:
    """Hold every debate singly and in batches; whether answers agree and the bill is half."""
    bills, said, took, batches = {}, {}, {}, 0
    for batch in (False, True):
        with served() as provider:
            store, begun = f"{folder}/{protocol}-{batch}.sqlite", time.monotonic()
            result = asyncio.run(run(Order(protocol, provider.root_url, store, questions, batch=batch, quiet_s=0.25)))
            took[batch] = time.monotonic() - begun
            bills[batch] = provider.bill
            said[batch] = meanings(store, provider.root_url)
            batches = len(provider.batches.jobs)
            missing = len(result.missing)
            spent = result.spent.usd
        print(
            f"{protocol:10} {'batch ' if batch else 'single'} {questions:,} questions, {missing} missing, "
            f"{bills[batch].requests.total():,} calls charged, {spent} USD, {took[batch]:.0f} s",
            flush=True,
        )
    same, share = said[False] == said[True], bills[True].cost / bills[False].cost
    charged = bills[True].requests == bills[False].requests
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{protocol:10} answers {'the same' if same else 'DIFFER'}, bill {share:.3f} of single, {batches} batches, "
        f"largest memory of servers and both runs {memory:.0f} MB",
        flush=True,
    )
    return same and charged and share == 0.5


def killed(protocol: str, kills: int, folder: str) -> bool:
    """Kill runs until ``kills`` have hit; whether each paid what an undisturbed run pays, and said the same."""
    with zygote() as process:
        with served() as provider:
            store = f"{folder}/{protocol}-whole.sqlite"
            killed_run(process, Order(protocol, provider.root_url, store, KILLED_QUESTIONS, most=3), 0, 0, 0)
            whole, said = provider.bill, meanings(store, provider.root_url)
        hit = runs = twice = other = 0
        while hit < kills:
            with served() as provider:
                store = f"{folder}/{protocol}-{runs}.sqlite"
                order = Order(protocol, provider.root_url, store, KILLED_QUESTIONS, most=3)
                hit += killed_run(process, order, min(KILLS_OF_A_RUN, kills - hit), WITHIN_S, runs)
                twice += (provider.bill.requests - whole.requests).total()
                other += provider.bill.requests != whole.requests or meanings(store, provider.root_url) != said
            runs += 1
    print(f"{protocol:10} {hit} kills in {runs} runs: {twice} calls charged twice, {other} runs differ", flush=True)
    return not twice and not other


def main(arguments: list[str]) -> int:
    """Compare and kill; the exit code."""
    questions = int(arguments[0]) if arguments else 1_000
    kills = int(arguments[1]) if len(arguments) > 1 else 50
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for protocol in arguments[2:] or list(MODELS):
            good &= compared(protocol, questions, folder)
            good &= killed(protocol, kills, folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
