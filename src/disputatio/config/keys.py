"""Every key that can be configured: one table, from which files, options, variables and the docs are checked.

A key's pattern has its levels parted by dots; ``<seat>``, ``<phase>``, ``<criterion>``, ``<model>`` and
``<rule>`` stand for names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from disputatio.config import values
from disputatio.config.settings import FormatOptions
from disputatio.config.values import Reader
from disputatio.failures import InvalidInputError
from disputatio.participants.providers import did_you_mean, parse_seat_value, shown

Path: TypeAlias = tuple[str, ...]

MOST_TOKENS = 1_000_000
SERVER_NAME = r"(?!(?:search|calculate|none|search_sources|read_passage)\Z)[a-z][a-z0-9_-]{0,31}"
"""No name of a tool of this package, so that a word says which of them is meant."""
MOST_SEED = 2**31 - 1  # the widest range that every provider and llama.cpp take alike


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    Attributes:
        pattern: its place in a configuration file.
        read: turns what was given into its value.
        variable: the environment variable that sets it; for a seat the part from ``LLM_`` on; or empty.
        option: the command-line option that sets it, besides ``--set``; or empty.
    """

    pattern: str
    read: Reader = field(repr=False)
    variable: str = ""
    option: str = ""

    @property
    def parts(self) -> Path:
        """The levels of the pattern."""
        return tuple(self.pattern.split("."))


_TOKENS = values.count(1, MOST_TOKENS)
_TEMPERATURE = values.measure(0, 2, "a number")

SEAT_KEYS: tuple[Key, ...] = (
    Key("seats.<seat>", values.seat_value, option="--seat"),
    Key("seats.<seat>.provider", values.provider, "LLM_PROVIDER", "--seat"),
    Key("seats.<seat>.model", values.model, "LLM_MODEL", "--seat"),
    Key("seats.<seat>.base_url", values.url, "LLM_BASE_URL", "--base-url"),
    Key("seats.<seat>.api_key_env", values.variable_name),
    Key("seats.<seat>.temperature", _TEMPERATURE, "LLM_TEMPERATURE"),
    Key("seats.<seat>.max_tokens", _TOKENS, "LLM_MAX_TOKENS"),
    Key("seats.<seat>.reasoning_effort", values.reasoning_effort, "LLM_REASONING_EFFORT"),
    Key("seats.<seat>.timeout", values.measure(0.1, 86_400, "seconds"), "LLM_TIMEOUT"),
    Key("seats.<seat>.attempts", values.count(1, 20), "LLM_ATTEMPTS"),
    Key("seats.<seat>.persona", values.persona, "LLM_PERSONA"),
    Key("seats.<seat>.piecewise", values.flag, "LLM_PIECEWISE"),
    Key("seats.<seat>.mode", values.mode, "LLM_MODE"),
    Key("seats.<seat>.tools", values.tool_words, "LLM_TOOLS", "--tools"),
    Key("seats.<seat>.price", values.price, "LLM_PRICE"),
    Key("seats.<seat>.fallback", values.seat_value, "LLM_FALLBACK"),
    Key("seats.<seat>.fallback_api_key_env", values.variable_name),
)

KEY_VARIABLES: Mapping[str, str] = {"api_key": "LLM_API_KEY", "fallback_api_key": "LLM_FALLBACK_API_KEY"}
"""The variables that hold keys. They have no key in a file: ``..._env`` names a variable there instead."""

KEYS: tuple[Key, ...] = (
    Key("language", values.language, "DISPUTATIO_LANGUAGE", "--language"),
    Key("seed", values.count(0, MOST_SEED), "DISPUTATIO_SEED", "--seed"),
    Key("store", values.store, "DISPUTATIO_STORE", "--store"),
    Key("stagger", values.flag, "DISPUTATIO_STAGGER", "--stagger"),
    Key("rounds", values.count(1, 100), "DISPUTATIO_ROUNDS", "--rounds"),
    Key("debaters", values.debaters, "DISPUTATIO_DEBATERS", "--debaters"),
    Key("options", values.options, "DISPUTATIO_OPTIONS", "--options"),
    Key("decision.rule", values.decision_rule, "DISPUTATIO_DECISION", "--decision"),
    Key("decision.threshold", values.count(1, 10_000), "DISPUTATIO_THRESHOLD", "--threshold"),
    Key("decision.share", values.part_of_one),
    Key("decision.weights.<seat>", values.share),
    Key("escalate", values.escalation, "DISPUTATIO_ESCALATE", "--escalate"),
    Key("preset", values.preset, "DISPUTATIO_PRESET", "--preset"),
    Key("task_type", values.task_type, "DISPUTATIO_TASK_TYPE", "--task-type"),
    Key("positions", values.positions, option="--position"),
    Key("proposers", values.count(1, 5), "DISPUTATIO_PROPOSERS"),
    Key("personalities", values.file_path, "DISPUTATIO_PERSONALITIES", "--personalities"),
    Key("personality.<seat>", values.personality, option="--personality"),
    Key("rubric", values.rubric_name, "DISPUTATIO_RUBRIC"),
    Key("criteria.<criterion>", values.weight),
    Key("criteria.<criterion>.weight", values.weight),
    Key("criteria.<criterion>.question", values.question),
    Key("budget.usd", values.money, "DISPUTATIO_BUDGET_USD", "--budget-usd"),
    Key("budget.tokens", values.count(1, 10**12), "DISPUTATIO_BUDGET_TOKENS", "--budget-tokens"),
    Key("budget.calls", values.count(1, 10**9), "DISPUTATIO_MAX_CALLS", "--max-calls"),
    Key("judges", values.count(1, 9), "DISPUTATIO_JUDGES", "--judges"),
    Key("judging.both_orders", values.flag, "DISPUTATIO_BOTH_ORDERS", "--both-orders"),
    Key("judging.anonymous", values.flag, "DISPUTATIO_ANONYMOUS", "--anonymous"),
    Key("judging.retest", values.flag, "DISPUTATIO_RETEST", "--retest"),
    Key("judging.method", values.panel_method, "DISPUTATIO_PANEL_METHOD", "--panel-method"),
    Key("judging.dead_zone", values.points),
    Key("judging.weights.<seat>", values.share),
    Key("limits.closing_words", values.count(1, 100_000)),
    Key("limits.minimum_arguments", values.count(1, 20)),
    Key("limits.maximum_arguments", values.count(1, 20)),
    Key("limits.evidence_chars", values.count(1_000, 10**9)),
    Key("limits.max_tokens.<phase>", _TOKENS),
    Key("limits.temperature.<phase>", _TEMPERATURE),
    Key("price.<model>.input", values.rate),
    Key("price.<model>.output", values.rate),
    Key("price.<model>.cached_input", values.rate),
    Key("tools.rounds", values.count(1, 10)),
    Key("tools.calls", values.count(1, 10)),
    Key("tools.result_chars", values.count(200, 100_000)),
    Key("tools.timeout", values.measure(0.1, 3_600, "seconds")),
    Key("metrics.challenge_strength", values.measure(1, 10, "points")),
    Key("metrics.low_confidence", values.measure(0, 1, "a share")),
    Key("metrics.cost_ratio", values.measure(0, 1_000, "times the estimate")),
    Key("metrics.agreement", values.measure(0, 1, "a share")),
    Key("metrics.one_conclusion", values.measure(0, 1, "a share")),
    Key("metrics.tilt", values.measure(0, 9, "points")),
    Key("metrics.uncertainties", values.measure(0, 1_000, "a debate")),
    Key("metrics.degraded", values.measure(0, 1, "a share")),
    Key("metrics.fewest", values.count(1, 10**9)),
    Key("estimate.characters", values.count(1, 100_000)),
    Key("estimate.share", values.measure(0, 1, "a share")),
    Key("mcp_servers.<server>", values.server_address, option="--mcp"),
    Key("mcp_env.<server>", values.variable_names),
    # Read with the type of the rule's default, which only the format knows.
    Key("rules.<rule>", lambda _, given: given.value),
    *SEAT_KEYS,
)

SEAT_FIELDS: Mapping[str, Key] = {key.parts[2]: key for key in SEAT_KEYS if len(key.parts) > 2}


def sides(seats: Iterable[str]) -> dict[str, str]:
    """The side of each numbered seat: ``pro_2`` stands on ``pro``. Seats without a number have none."""
    matches = {seat: re.fullmatch(r"(.+)_\d+", seat) for seat in seats}
    return {seat: match[1] for seat, match in matches.items() if match}


def scopes(seat: str) -> tuple[str, ...]:
    """The names whose settings a seat takes, widest first: ``all``, its side, itself."""
    side = sides([seat]).get(seat)
    return ("all", side, seat) if side else ("all", seat)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that the placeholders may stand for in one place."""

    seats: tuple[str, ...]
    options: FormatOptions
    other_formats: bool = False
    """Whether names of other formats are allowed too, as in a file."""

    def scope_names(self) -> tuple[str, ...]:
        """All that can stand for ``<seat>``."""
        seats = [
            *self.seats,
            *self.options.further_seats,
            *(sorted(self.options.other_seats) if self.other_formats else ()),
        ]
        return tuple(dict.fromkeys(["all", *seats, *sides(seats).values()]))

    def known(self, placeholder: str) -> tuple[str, ...] | None:
        """The names ``placeholder`` may stand for, or None where any well-formed one will do."""
        if placeholder == "<seat>":
            return self.scope_names()
        if placeholder == "<phase>":
            others = self.options.other_phases if self.other_formats else frozenset()
            return (*self.options.phases, *sorted(others - set(self.options.phases))) or None
        if placeholder == "<rule>":
            others = self.options.other_rules if self.other_formats else frozenset()
            return tuple(sorted({*self.options.rules, *others}))
        return None

    def has_own(self, placeholder: str, name: str) -> bool:
        """Whether this format has ``name`` for ``placeholder``: others, which take longer, need not be asked then."""
        return name in (replace(self, other_formats=False).known(placeholder) or ())


_WELL_FORMED = {
    "<phase>": ("a phase in small letters, such as cross-examination", r"[a-z][a-z0-9_-]{0,59}"),
    "<server>": ("a name in small letters, such as files", SERVER_NAME),
    "<criterion>": ("a name in small letters, such as logic", r"[a-z][a-z0-9_]{0,39}"),
}


def find_key(path: Path, vocabulary: Vocabulary, source: str) -> tuple[Key | None, bool]:
    """The key at ``path``, and whether longer keys begin with it.

    Raises:
        InvalidInputError: nothing is called that; the message names the nearest that is.
    """
    fitting = list(KEYS)
    for place, part in enumerate(path):
        here = [key for key in fitting if len(key.parts) > place]
        if here and here[0].parts[place] == "<rule>":
            return _find_rule(path, here[0], vocabulary, source)
        fitting = [key for key in here if key.parts[place] == part]
        if not fitting:
            fitting = [key for key in here if key.parts[place].startswith("<")]
            words = sorted({key.parts[place] for key in here if not key.parts[place].startswith("<")})
            if not fitting:
                raise _unknown(path, place, part, words, source)
            _check_name(fitting[0].parts[place], path, place, vocabulary, source)
    exact = [key for key in fitting if len(key.parts) == len(path)]
    return (exact[0] if exact else None), any(len(key.parts) > len(path) for key in fitting)


def _find_rule(path: Path, key: Key, vocabulary: Vocabulary, source: str) -> tuple[Key | None, bool]:
    name = ".".join(path[1:])
    rules = vocabulary.options.rules if vocabulary.has_own("<rule>", name) else vocabulary.known("<rule>") or ()
    inner = any(rule.startswith(f"{name}.") for rule in rules)
    if name in rules or inner:
        return (key if name in rules else None), inner
    raise _unknown(path, len(path) - 1, name, rules, source)


def _check_name(placeholder: str, path: Path, place: int, vocabulary: Vocabulary, source: str) -> None:
    name = path[place]
    if vocabulary.has_own(placeholder, name):
        return
    known = vocabulary.known(placeholder)
    if known is not None and name not in known:
        raise _unknown(path, place, name, known, source)
    if placeholder == "<model>":
        value = parse_seat_value(name, source=source)
        if value.model is None or value.base_url is not None:
            raise InvalidInputError(
                f"{source} gives a price for {shown(name)}, which names no model.",
                'Allowed is a table such as [price."openai:gpt-5"], with provider and model.',
            )
    elif known is None and placeholder in _WELL_FORMED:
        allowed, pattern = _WELL_FORMED[placeholder]
        if not re.fullmatch(pattern, name):
            raise InvalidInputError(
                f"{dotted(path)} (from {source}) has the name {shown(name)} in it, which cannot be used.",
                f"Allowed is {allowed}.",
            )


def _unknown(path: Path, place: int, word: str, known: Iterable[str], source: str) -> InvalidInputError:
    known = list(known)
    if path[0] == "seats" and word in {"api_key", "key", "fallback_api_key"}:
        named = "fallback_api_key_env" if word.startswith("fallback") else "api_key_env"
        return InvalidInputError(
            f"{dotted(path)} (from {source}) would put a key where it gets copied and shared.",
            f"Set it in the environment or in .env, as LLM_API_KEY or a name of your own that {named} gives.",
        )
    what = "seat" if path[0] == "seats" and place == 1 else "key"
    allowed = f"Allowed are: {', '.join(known)}." if known else "This format has none to set."
    return InvalidInputError(
        f"There is no {what} {dotted(path[: place + 1])} (from {source}).",
        f"{did_you_mean(word, known)}{allowed}",
    )


def dotted(path: Path) -> str:
    """``path`` as it is written in one line, with quotes where a name needs them, and no key shown."""
    bare = (re.fullmatch(r"[\w-]+", part) for part in path)
    quoted = (shown(part) for part in path)
    return ".".join(q.strip("'") if plain else q.replace("'", '"') for plain, q in zip(bare, quoted, strict=True))


def key_path(name: str, source: str) -> Path:
    """The levels of a key that is written in one line as in a TOML file: the inverse of ``dotted``.

    Raises:
        InvalidInputError: it is not such a key.
    """
    node: object = {}
    try:
        if "\n" not in name and "#" not in name:
            node = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        pass
    path: list[str] = []
    while isinstance(node, dict) and len(node) == 1:
        ((part, node),) = node.items()
        path.append(part)
    if not path or node != 0:
        raise InvalidInputError(
            f"{source} has the key {shown(name)}, which cannot be read.",
            "Write it as in a TOML file, with quotes around a name that has colons, such as "
            'price."openai:gpt-5".input=1.25.',
        )
    return tuple(path)
