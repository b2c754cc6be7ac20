"""Store the check of a judge, and test whether a later check is worse beyond chance.

The same seed injects the same flaws, so two checks are compared flaw by flaw with McNemar's exact one-sided sign test:
caught before and missed now against the reverse. Clean arguments are compared the same way by their false alarms. The
two p-values are tested together at 0.05 (Holm 1979). Flaws and arguments of only one check are left out and counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from disputatio.errors import InvalidInputError
from disputatio.evaluation.input_files import read_json
from disputatio.evaluation.statistics.intervals import ALPHA, detectable_share, loss_p_value
from disputatio.kernel import JsonObject

VERSION = 1
_SCHEMA = "disputatio/judge-baseline"
_KEYS: Mapping[str, type] = {"judge": str, "seed": int, "prompts": dict, "flaws": dict, "clean_arguments": dict}


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a judge caught, flaw by flaw, and where it raised a false alarm."""

    judge: str
    seed: int
    prompts: Mapping[str, str]
    flaws: Mapping[str, bool]
    alarms: Mapping[str, bool]
    cases: Mapping[str, str]

    def as_json(self) -> JsonObject:
        """The content of the file."""
        return {
            "schema": _SCHEMA,
            "version": VERSION,
            "judge": self.judge,
            "seed": self.seed,
            "prompts": dict(self.prompts),
            "cases": dict(self.cases),
            "flaws": dict(self.flaws),
            "clean_arguments": dict(self.alarms),
        }


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file.

    Raises:
        InvalidInputError: it cannot be read or is not a baseline; names the line or key.
    """
    step = "Write one with --save-baseline FILE."
    body = read_json(path, step)
    if not isinstance(body, dict) or body.get("schema") != _SCHEMA:
        raise InvalidInputError(f'{path} is not a baseline: "schema" is not {_SCHEMA}.', step)
    if body.get("version") != VERSION:
        raise InvalidInputError(
            f'{path}: "version" is {body.get("version")!r}, and this program reads {VERSION}.', step
        )
    wrong = next((key for key, kind in _KEYS.items() if not isinstance(body.get(key), kind)), None)
    if wrong is not None:
        raise InvalidInputError(f'{path}: the key "{wrong}" is missing or has the wrong type.', step)
    for key in ("flaws", "clean_arguments"):
        strange = next((name for name, value in body[key].items() if not isinstance(value, bool)), None)
        if strange is not None:
            raise InvalidInputError(f'{path}: "{key}.{strange}" is neither true nor false.', step)
    return Baseline(
        body["judge"], body["seed"], body["prompts"], body["flaws"], body["clean_arguments"], body.get("cases", {})
    )


def write_baseline(baseline: Baseline, path: Path) -> None:
    """Write the file.

    Raises:
        InvalidInputError: it cannot be written.
    """
    try:
        path.write_text(json.dumps(baseline.as_json(), indent=2, sort_keys=True) + "\n", "utf-8")
    except OSError as error:
        reason = (error.strerror or "unknown cause").lower()
        raise InvalidInputError(f"{path} cannot be written: {reason}.", "Choose another file.") from None


@dataclass(frozen=True, slots=True)
class Changes:
    """Paired outcomes: ``lost`` became worse, ``gained`` better, ``same`` stayed. ``p`` tests for getting worse."""

    lost: int
    gained: int
    same: int
    p: float

    def as_json(self) -> JsonObject:
        """The counts and the p-value."""
        return {"lost": self.lost, "gained": self.gained, "same": self.same, "p": round(self.p, 6)}


@dataclass(frozen=True, slots=True)
class Drift:
    """A check compared with its baseline."""

    catches: Changes
    alarms: Changes
    worse: tuple[str, ...]
    notes: tuple[str, ...]
    detectable: float | None

    def as_json(self) -> JsonObject:
        """The comparison."""
        return {
            "catches": self.catches.as_json(),
            "false_alarms": self.alarms.as_json(),
            "worse": list(self.worse),
            "detectable_share": self.detectable,
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """The comparison as text."""
        catches, alarms = self.catches, self.alarms
        best = (
            "too few were caught before to detect any loss"
            if self.detectable is None
            else f"at best, a loss of {self.detectable:.0%} of the catches is detected four times in five"
        )
        return [
            "Against the baseline",
            *(f"  {note}" for note in self.notes),
            f"  flaws caught only before {catches.lost}, only now {catches.gained}, {_rest(catches)}",
            f"  false alarms only now {alarms.lost}, only before {alarms.gained}, {_rest(alarms)}",
            f"  {best}",
            "  The judge got worse at: " + ", ".join(self.worse)
            if self.worse
            else "  Nothing got worse beyond chance. Smaller losses remain possible.",
        ]


def _rest(changes: Changes) -> str:
    return f"as before {changes.same} (exact p = {changes.p:.3f})"


def compare_baselines(before: Baseline, now: Baseline) -> Drift:
    """Test whether ``now`` is worse than ``before`` beyond chance.

    Raises:
        InvalidInputError: the two have no flaw in common.
    """
    known = [name for name in before.flaws if name in now.flaws and _same_case(name, before, now)]
    if not known:
        raise nothing_in_common_error(before)
    quiet = [name for name in before.alarms if name in now.alarms and _same_case(name, before, now)]
    catches = _changes([(before.flaws[name], now.flaws[name]) for name in known])
    alarms = _changes([(not before.alarms[name], not now.alarms[name]) for name in quiet])
    tests = {"catching flaws": catches.p, "raising no false alarms": alarms.p}
    left_out = len(set(before.flaws) | set(now.flaws)) - len(known)
    caught_before = sum(before.flaws[name] for name in known)
    return Drift(
        catches,
        alarms,
        significant_tests(tests),
        tuple(_notes(before, now, left_out)),
        detectable_share(caught_before, ALPHA / 2),
    )


def check_comparable(before: Baseline, cases: Mapping[str, str], seed: int) -> None:
    """Refuse a baseline that cannot be compared with a check of these cases (id to SHA-256).

    Raises:
        InvalidInputError: they have no case in common, or another seed.
    """
    if before.seed != seed or not any(before.cases.get(case) == digest for case, digest in cases.items()):
        raise nothing_in_common_error(before)


def nothing_in_common_error(before: Baseline) -> InvalidInputError:
    """The error for baselines that share no flaw."""
    return InvalidInputError(
        "The baseline and this check have no injected flaw in common.",
        f"Check with the same cases and --seed {before.seed}, or save a new baseline.",
    )


def _same_case(name: str, before: Baseline, now: Baseline) -> bool:
    case = name.split("/", maxsplit=1)[0]
    return before.seed == now.seed and before.cases.get(case) == now.cases.get(case)


def _changes(pairs: list[tuple[bool, bool]]) -> Changes:
    lost = sum(was and not is_now for was, is_now in pairs)
    gained = sum(is_now and not was for was, is_now in pairs)
    return Changes(lost, gained, len(pairs) - lost - gained, loss_p_value(lost, gained))


def significant_tests(tests: Mapping[str, float]) -> tuple[str, ...]:
    """The tests that are significant together at ``ALPHA`` (Holm's step-down)."""
    found: list[str] = []
    for place, (name, p) in enumerate(sorted(tests.items(), key=lambda row: row[1])):
        if p > ALPHA / (len(tests) - place):
            break
        found.append(name)
    return tuple(found)


def _notes(before: Baseline, now: Baseline, left_out: int) -> list[str]:
    notes = []
    if before.judge != now.judge:
        notes.append(f"the judge was {before.judge} then")
    changed = sorted(n for n in {*before.prompts, *now.prompts} if before.prompts.get(n) != now.prompts.get(n))
    if changed:
        notes.append(f"prompts changed since: {', '.join(changed)}")
    if left_out:
        notes.append(f"{left_out} flaws are in only one of the two checks and are left out")
    return notes
