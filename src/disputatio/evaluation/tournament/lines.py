"""The report of a tournament in lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from disputatio.evaluation.tournament.pairing import CON, PRO, format_name
from disputatio.evaluation.tournament.standings import DRAW, DRAWS_ARE, NO_RESULT, Match, Ranking, Standing
from disputatio.evaluation.tournament.strengths import ELO, PRIOR
from disputatio.motion import one_line
from disputatio.report.amounts import counted

_MOST_LISTED = 12


def ranking_lines(found: Ranking) -> list[str]:
    """The report, line by line; what is wide stays on its line."""
    tournament = found.tournament
    formats = ", ".join(format_name(row) for row in tournament.formats)
    topics = ", ".join(row.name for row in tournament.topics)
    size = f"{counted(len(tournament.players), 'model')} in {counted(len(found.matches), 'match', 'matches')}"
    lines = [
        f"Tournament   {size}, each pair on both sides of each topic",
        f"Formats      {formats}",
        f"Topics       {one_line(topics, 300)}",
        f"Judge        {tournament.judge}",
        "",
        *_table(found.standings),
        "",
        *_sides(found),
    ]
    if len(tournament.players) > 2:
        lines += ["", *_pairs(found)]
    odd = [row for row in found.matches if row.why]
    if odd:
        lines += ["", "Not as they should be", *_odd(odd)]
    lines += ["", *(f"! {row}" for row in found.warnings)]
    lines += [_cost(found), *_method()]
    return lines


def _table(rows: Sequence[Standing]) -> list[str]:
    wide = max(5, *(len(row.player) for row in rows))
    head = f"{'place':5}  {'model':{wide}}  {'played':>6}  {'won':>4}  {'drawn':>5}  {'lost':>4}  {'none':>4}"
    lines = [f"{head}  {'strength':>8}  {'95 % interval':>15}  {'vs. the mean':>12}"]
    for row in rows:
        text = (
            f"{_place(row):5}  {row.player:{wide}}  {row.matches:6d}  {row.won:4d}  {row.drawn:5d}  {row.lost:4d}  "
            f"{row.none:4d}"
        )
        if row.strength is not None:
            low, high = round(row.strength.low * ELO), round(row.strength.high * ELO)
            span = f"{low:+d} to {high:+d}"
            text += f"  {round(row.strength.value * ELO):+8d}  {span:>15}  {row.strength.chance:12.0%}"
        lines.append(text)
    return lines


def _place(row: Standing) -> str:
    if row.places is None:
        return "-"
    first, last = row.places
    return str(first) if first == last else f"{first}-{last}"


def _sides(found: Ranking) -> list[str]:
    pro, con = found.counted(PRO), found.counted(CON)
    none = found.counted(NO_RESULT)
    told = f"Sides        pro won {pro}, con won {con}, {found.counted(DRAW)} drawn, {none} without a result"
    if not pro + con:
        return [told]
    share = found.pro_share
    lines = [told, f"             pro won {share.text()} of the matches that somebody won"]
    side = found.strengths.side if found.strengths else None
    if side is not None:
        leans = "pro" if side.low > 0 else "con" if side.high < 0 else ""
        verdict = f"the judge leans to {leans}" if leans else "no lean to either side can be shown"
        lines.append(
            f"             speaking for the motion is worth {round(side.value * ELO):+d} "
            f"[{round(side.low * ELO):+d}, {round(side.high * ELO):+d}]: {verdict}"
        )
    return lines


def _pairs(found: Ranking) -> list[str]:
    names = [row.player for row in found.standings]
    wide = max(map(len, names))
    lines = ["Between each two (won-drawn-lost)"]
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            won, drawn, lost = found.between(first, second)
            lines.append(f"  {first:{wide}}  {won}-{drawn}-{lost}  {second}")
    return lines


def _odd(rows: Sequence[Match]) -> list[str]:
    lines = [
        f"  {row.debate}  {row.pairing.topic.name}, {row.pairing.pro} (pro) and {row.pairing.con} (con): "
        f"{row.outcome if row.outcome == NO_RESULT else f'{row.outcome} counted, {row.status}'}; {row.why}"
        for row in rows[:_MOST_LISTED]
    ]
    return lines + ([f"  and {len(rows) - _MOST_LISTED} more (--json lists all)"] if len(rows) > _MOST_LISTED else [])


def _cost(found: Ranking) -> str:
    spent = found.spent
    usd = "price unknown" if spent.usd is None else f"{spent.usd:.4f} USD"
    return f"Cost         {counted(spent.calls, 'call')}, {spent.tokens:,} tokens, {usd}"


def _method() -> list[str]:
    return [
        "Method       Bradley-Terry with a term for the side; strengths in Elo points around the mean of the field;",
        f"             95 % profile intervals; normal prior of {round(PRIOR * ELO)} points. {DRAWS_ARE}",
        "             Scores tell how well was argued in the judge's eyes, not who is right.",
    ]
