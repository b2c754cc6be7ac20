"""The figures over a tenant's debates as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from disputatio.report.amounts import spoken

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]


def tables_of(figures: Mapping[str, Any]) -> list[Table]:
    """The tables that ``figures`` have something for."""
    rows = [
        ("Mean challenge strength (1 to 10)", figures["challenge_strength"], "mean"),
        ("Share of LOW confidence", figures["low_confidence"], "share"),
        ("Agreement with the first proposer", figures["agreement_with_first_proposer"], "share"),
        ("All roles reach one conclusion", figures["one_conclusion"], "share"),
        ("Mean tilt of moderators (points)", figures["tilt"], "mean"),
    ]
    quality = [(label, _number(row[key]), str(row["of"])) for label, row, key in rows]
    quality += [
        (f"Uncertainties a debate, {name}", _number(row["mean"]), str(row["of"]))
        for name, row in figures["uncertainties"].items()
    ]
    tables: list[Table] = [("Quality of reviews", ("figure", "value", "of"), quality)]
    if figures["against_estimate"]:
        tables.append(
            (
                "Against the estimate",
                ("kind of task", "debates", "tokens taken", "tokens expected", "ratio"),
                [
                    (name, str(row["of"]), f"{row['tokens']:,}", f"{row['estimated_tokens']:,}", _number(row["ratio"]))
                    for name, row in figures["against_estimate"].items()
                ],
            )
        )
    if figures["formats"]:
        tables.append(
            (
                "By format",
                (
                    "format",
                    "debates",
                    "not whole",
                    "turns",
                    "abstained",
                    "calls failed",
                    "tokens, mean",
                    "USD",
                    "ms a call",
                ),
                [_of_format(name, row) for name, row in figures["formats"].items()],
            )
        )
    counts = [(f"Outcome: {spoken(name)}", str(count)) for name, count in figures["outcomes"].items()]
    counts += [(f"Signed off: {name}", str(count)) for name, count in figures["sign_offs"].items()]
    counts += [(f"Left out: {name}", reason) for name, reason in figures["left_out"].items()]
    if counts:
        tables.append(("Afterwards", ("what", "count"), counts))
    return tables


def _of_format(name: str, row: Mapping[str, Any]) -> Sequence[str]:
    usd = row["usd"]["total"]
    return (
        spoken(name),
        str(row["debates"]),
        f"{row['not_whole']['count']} of {row['not_whole']['of']}",
        str(row["turns"]),
        str(row["abstentions"]),
        str(row["failed_calls"]),
        _number(row["tokens"]["mean"], 0),
        "unknown" if usd is None else f"{float(usd):.4f}",
        _number(row["latency_ms"]["mean"], 0),
    )


def _number(value: float | None, places: int = 2) -> str:
    return "-" if value is None else f"{value:,.{places}f}"
