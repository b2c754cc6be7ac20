"""``disputatio gate``: decide whether a question is worth a debate, and show what one would cost."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.options import StoreOption
from disputatio._cli.screen import print_wrapped
from disputatio._cli.stores import open_store, store_address
from disputatio._cli.streams import print_json
from disputatio.errors import InvalidInputError
from disputatio.judging.scoring import round_half_up

if TYPE_CHECKING:
    from disputatio.engine.estimate import ExpectedCost
    from disputatio.judging.gate import DebateMultiple

_MOST_READ = 1 << 20


def gate(
    task_type: Annotated[
        str | None,
        typer.Option(
            "--task-type",
            metavar="TYPE",
            help="A preset, or contract, security, architecture, investment, compliance or factual.",
        ),
    ] = None,
    confidence: Annotated[
        str | None, typer.Option("--confidence", metavar="C", help="How sure the single answer is, from 0 to 1.")
    ] = None,
    downside: Annotated[
        str | None, typer.Option("--downside", metavar="USD", help="What a wrong answer would cost, in US dollars.")
    ] = None,
    cost: Annotated[
        str, typer.Option("--cost", metavar="USD", help="What the debate may cost, in US dollars.")
    ] = "0.50",
    answer: Annotated[
        Path | None,
        typer.Option(
            "--answer",
            metavar="PATH",
            help="A file with the single answer, which is searched for hedging. '-' is standard input.",
        ),
    ] = None,
    costs: Annotated[
        list[str] | None,
        typer.Option(
            "--costs",
            metavar="PROVIDER:MODEL",
            help="Show the expected cost of each format with this model. Repeatable.",
        ),
    ] = None,
    recompute: Annotated[
        bool,
        typer.Option(
            "--recompute", metavar="", help="Compute the multiple from the outcomes in the store, in place of 50."
        ),
    ] = False,
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print as JSON.")] = False,
    store: StoreOption = None,
) -> None:
    """Say whether a question is worth a debate, and why. Call no model.

    A factual look-up is never worth one. Another question is worth one if a wrong answer would cost more than 50 times
    the debate. It is also worth one if the task is high-risk and the single answer is not sure.
    """
    from disputatio.judging.gate import should_debate

    if costs:
        from disputatio.engine.estimate import expected_costs

        _print_costs(asyncio.run(expected_costs(costs)), as_json=json_)
        if task_type is None:
            return
    multiple = _recompute(store) if recompute else None
    if multiple is not None and task_type is None:
        print_json(multiple.as_json()) if json_ else print_wrapped([_describe(multiple)], 2)
        return
    if task_type is None:
        raise InvalidInputError("The kind of question is not given.", "Give --task-type, such as contract.")
    decision = should_debate(
        task_type,
        None if confidence is None else float(_read_number("--confidence", confidence)),
        None if downside is None else _read_number("--downside", downside),
        answer=_read_answer(answer),
        cost=_read_number("--cost", cost),
        **(
            {}
            if multiple is None or multiple.value is None
            else {"factor": Decimal(str(round_half_up(multiple.value, 2)))}
        ),
    )
    if json_:
        print_json(decision.as_json() if multiple is None else {**decision.as_json(), "recomputed": multiple.as_json()})
    else:
        lines = [] if multiple is None else [_describe(multiple)]
        print_wrapped([*lines, f"{'Debate' if decision.debate else 'No debate'}: {decision.reason}."], 2)


def _recompute(store: str | None) -> DebateMultiple:
    from disputatio.metrics.collecting import compute_multiple

    with open_store(store_address(store)) as opened:
        return compute_multiple(opened)


def _describe(multiple: DebateMultiple) -> str:
    if multiple.value is None:
        return f"The multiple is not recomputed: {multiple.because}."
    return f"The downside must be more than {round_half_up(multiple.value, 2):g} times the cost: {multiple.because}."


def _read_number(option: str, text: str) -> Decimal:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise InvalidInputError(f"{option} {text[:40]!r} is not a number.", "Give a number such as 0.6 or 25000.")
    return number


def _read_answer(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        raw = sys.stdin.buffer.read(_MOST_READ) if str(path) == "-" else path.read_bytes()[:_MOST_READ]
    except OSError as error:
        cause = (error.strerror or "unknown cause").lower()
        raise InvalidInputError(f"The answer {path} cannot be read: {cause}.", "Give a text file.") from None
    return raw.decode("utf-8", "replace")


def _print_costs(rows: tuple[ExpectedCost, ...], *, as_json: bool) -> None:
    from disputatio.engine.preview import ESTIMATE_NOTE

    if as_json:
        print_json([{**asdict(row), "usd": None if row.usd is None else str(row.usd)} for row in rows])
        return
    lines = [f"{'format':12} {'calls':>6} {'input':>9} {'output':>8} {'USD':>10}  model"]
    for row in rows:
        usd = "unknown" if row.usd is None else f"{row.usd:.4f}"
        counts = f"{row.calls:6d} {row.input_tokens:9,d} {row.output_tokens:8,d} {usd:>10}"
        lines.append(f"{row.format:12} {counts}  {row.model}")
    print_wrapped([*lines, "", ESTIMATE_NOTE], 12)
