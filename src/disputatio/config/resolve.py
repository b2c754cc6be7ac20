"""Read every source of settings, and decide for each key which one applies.

The order, highest first: the command line, a seat's own variables (``PRO_LLM_MODEL``), the global variables
(``LLM_MODEL``), the configuration file, the default. The real environment wins over ``.env``. A seat's model, address
and key follow the rules in ``levels.py``.

This only reads files. It writes nothing, exports nothing, and uses no network.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from disputatio.config.arguments import Arguments, debater_names, name_seats, read_arguments
from disputatio.config.catalogue import make_cast
from disputatio.config.document import find_document, read_debaters_key, read_document, read_table
from disputatio.config.environment import Environment, environment_notes, read_environment
from disputatio.config.keys import Key, Vocabulary, find_key, keys_of, scopes, sides
from disputatio.config.levels import Level, choose_provider, merge_levels, seat_levels
from disputatio.config.presets import preset_named
from disputatio.config.reach import check_keys, check_reach, most_specific, own_level
from disputatio.config.seats import ResolvedSeat, resolve_seat
from disputatio.config.settings import FormatScope, Settings, fallback_seat
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean
from disputatio.formats.options import Competition, FormatOptions
from disputatio.formats.rule_values import Cast
from disputatio.ledger.budget import Budget
from disputatio.options import Given, Option, Options, bad_value, options_in
from disputatio.options.reading import KeyPath, RuleValue, dotted, read_like
from disputatio.participants.model_seat import Credentials, Price
from disputatio.participants.providers import Provider, parse_seat_value, provider_named
from disputatio.record.database import default_store
from disputatio.request import reading
from disputatio.request.configuration import Estimate, Metrics
from disputatio.request.formats import formats_with, options_class, wrong_format
from disputatio.request.model import Criterion, Judging, Limits, Tools
from disputatio.tools.protocol import McpServer, ToolLimits

_NO_SCOPE = FormatScope()
_NO_ARGUMENTS = Arguments()


def resolve(
    *,
    format_name: str,
    seats: tuple[str, ...],
    environ: Mapping[str, str],
    directory: Path,
    arguments: Arguments = _NO_ARGUMENTS,
    options: FormatScope = _NO_SCOPE,
) -> Settings:
    """Resolve the settings of a debate.

    Args:
        format_name: the chosen format.
        seats: the seats that models take, such as ``pro``, ``con``, ``judge``, ``pro_2``.
        environ: the process's environment.
        directory: the working directory, with ``.env`` and the configuration file.
        arguments: the arguments of the request.
        options: what the format lets the configuration set.

    Raises:
        InvalidInputError: a value cannot be used or does not exist. The message names its key, its source and what is
            allowed, and holds no provider key.
    """
    environment = read_environment(environ, directory)
    sources: _Sources | None = None
    try:
        seats, options = _name_seats(seats, environment, arguments, options)
        sources = _read(format_name, seats, environment, arguments, options)
        return _make_settings(format_name, _all_seats(seats, sources), sources)
    except InvalidInputError as failure:
        given = {} if sources is None else {**sources.file, **sources.command_line}
        named = [str(value.value) for path, value in given.items() if path[-1].endswith("api_key_env")]
        clean = environment.without_secrets(failure, named)
    # Raised here so that the exception does not refer to the first message.
    raise clean


@dataclass(frozen=True, slots=True)
class _Sources:
    """All given values, by source."""

    file: Mapping[KeyPath, Given]
    command_line: Mapping[KeyPath, Given]
    environment: Environment
    base_url: Given | None
    options: FormatScope
    keys: Mapping[str, Key]
    remote: bool = False
    found: dict[str, str] = field(default_factory=dict)
    """The source of each value that was used."""

    def take(self, name: str, default: Any = None) -> Any:
        """The value of a key that does not belong to a seat, from the highest source that has it."""
        path = tuple(name.split("."))
        key = self.keys[name]
        variable = self.environment.get(key.variable) if key.variable else None
        given = self.command_line.get(path) or variable or self.file.get(path)
        self.found[name] = given.source if given else "default"
        return key.read(name, given) if given else default

    def take_under(self, prefix: KeyPath, key: Key) -> dict[str, Any]:
        """The values of all keys that have ``prefix`` and one more level."""
        values = {}
        for path, given in {**self.file, **self.command_line}.items():
            if path[:-1] == prefix:
                values[path[-1]] = key.read(dotted(path), given)
                self.found[dotted(path)] = given.source
        return values

    def take_group(self, group: type[Options]) -> dict[str, Any]:
        """The values of all options of a group by field, without those that nothing sets."""
        values = {}
        for row in options_in(group):
            if row.owner is not group or not row.key or row.name in _READ_APART:
                continue
            value = self._many(row) if row.is_mapping else self.take(row.key)
            if value is not None and value != {}:
                values[row.name] = value
        return values

    def _many(self, row: Option) -> dict[str, Any]:
        """The values of an option by name; those for phases of other formats are left out."""
        *prefix, _ = row.key.split(".")
        values = self.take_under(tuple(prefix), self.keys[row.key])
        for name in [each for each in values if row.key.endswith("<phase>") and each not in self.options.phases]:
            if name in self.options.other_phases:
                del values[name], self.found[dotted((*prefix, name))]
        return values


_READ_APART = {"rubric", "criteria", "by_seat", "mcp", "mcp_env", "rules"}
"""Options that other code here reads."""


def _read(
    format_name: str, seats: tuple[str, ...], environment: Environment, arguments: Arguments, options: FormatScope
) -> _Sources:
    """Read the file and the command line, and check every value in them, even overridden ones."""
    directory = environment.directory
    base_url = None
    if arguments.base_url is not None:
        base_url = Given(arguments.base_url, "--base-url", directory)
        reading.url("--base-url", base_url)
    _check_format(format_name, arguments, options)
    command_line = read_arguments(_with_directory(arguments, directory), Vocabulary(seats, options))
    if arguments.remote:
        check_keys(arguments, command_line, keys_of(format_name))
    file: dict[KeyPath, Given] = {}
    wide = Vocabulary(seats, options, other_formats=True)
    if isinstance(arguments.config, Mapping):
        file = read_table(arguments.config, directory / "config", wide)
    elif (document := find_document(directory, arguments.config)) is not None:
        file = read_document(document, wide)
    for path, given in [*file.items(), *command_line.items()]:
        key, _ = find_key(path, wide, given.source)
        if key is not None:
            key.read(dotted(path), given)
    keys = {key.pattern: key for key in keys_of(format_name)}
    return _Sources(
        _spell_models(file), _spell_models(command_line), environment, base_url, options, keys, arguments.remote
    )


def _with_directory(arguments: Arguments, directory: Path) -> Arguments:
    """``arguments`` with ``directory`` as the start of paths that have no other one."""
    given = tuple(
        (path, replace(row, directory=directory) if row.directory == Path() else row) for path, row in arguments.given
    )
    return replace(arguments, given=given)


def _check_format(format_name: str, arguments: Arguments, options: FormatScope) -> None:
    """Refuse options of other formats in a request. A configuration file may have them.

    Raises:
        InvalidInputError: names the option and the formats that have it.
    """
    if not options.name:
        return
    allowed = {row.key.split(".<")[0] for row in options_in(options_class(format_name))}
    for path, given in arguments.given:
        key = dotted(path)
        for name, formats in _options_of_others().items():
            if name not in allowed and (key == name or key.startswith(f"{name}.")):
                raise wrong_format(given.source.partition(" ")[0], format_name, formats)


def _options_of_others() -> dict[str, tuple[str, ...]]:
    """The keys of options that not every format has, each with the formats that have it."""
    from disputatio.request.formats import options_of_formats

    rows = [row for model in options_of_formats().values() for row in options_in(model) if row.key]
    return {row.key.split(".<")[0]: formats_with(row.name) for row in rows if row.name != "rules"}


def _name_seats(
    seats: tuple[str, ...], environment: Environment, arguments: Arguments, options: FormatScope
) -> tuple[tuple[str, ...], FormatScope]:
    """The seats and the scope, with the debaters that the sources name."""
    in_file = _debaters_configured(environment.directory, arguments.config)
    if options.free_seats and seats:
        # Commands that only need the store ask for no seats.
        seats = name_seats(seats, arguments, environment, in_file)
    further = debater_names(in_file) - set(seats)
    return seats, replace(options, other_seats=options.other_seats | further) if further else options


def _debaters_configured(directory: Path, config: str | Mapping[str, Any] | None) -> Given | None:
    if isinstance(config, Mapping):
        found = config.get("debaters")
        return None if found is None else Given(found, "config: debaters", directory)
    document = find_document(directory, config)
    return read_debaters_key(document) if document is not None else None


def _spell_models(given: Mapping[KeyPath, Given]) -> dict[KeyPath, Given]:
    """``given`` with the models of its prices spelled as the provider table spells them."""
    spelled = {}
    for path, value in given.items():
        if path[0] == "price":
            named = parse_seat_value(path[1], source=value.source)
            spelled["price", f"{named.provider}:{named.model}", *path[2:]] = value
        else:
            spelled[path] = value
    return spelled


def _make_settings(format_name: str, seats: tuple[str, ...], sources: _Sources) -> Settings:
    prices = _prices(sources)
    resolved = _resolve_seats(seats, sources, prices)
    for each in resolved.values():
        sources.found.update(each.sources)
    keys = {seat: each.key for seat, each in resolved.items()}
    keys |= {fallback_seat(seat): each.fallback_key for seat, each in resolved.items()}
    every_scope = dict.fromkeys(scope for seat in seats for scope in scopes(seat))
    notes = environment_notes(sources.environment, every_scope or ("all",), sources.options.other_seats)
    format_options = _format(format_name, sources)
    return Settings(
        format_name=format_name,
        seats={seat: each.seating for seat, each in resolved.items()},
        credentials=Credentials({seat: key for seat, key in keys.items() if key is not None}),
        budget=Budget(
            usd=sources.take("budget.usd"),
            tokens=sources.take("budget.tokens"),
            calls=sources.take("budget.calls"),
        ),
        limits=_limits(sources),
        judging=_judging(sources),
        format=format_options,
        cast=_cast(seats, format_options, sources),
        language=sources.take("language") or "English",
        seed=sources.take("seed"),
        store=sources.take("store") or default_store(),
        stagger=sources.take("stagger") or False,
        prices=prices,
        rules=_rules(sources),
        tools={seat: each.tools for seat, each in resolved.items() if each.tools},
        tool_limits=_tool_limits(sources),
        metrics=Metrics(**sources.take_group(Metrics)),
        estimate=Estimate(**sources.take_group(Estimate)),
        mcp_servers=_servers(sources) if seats else {},
        sources=sources.found,
        asked=frozenset(map(dotted, sources.command_line)),
        notes=tuple(dict.fromkeys([*(note for each in resolved.values() for note in each.notes), *notes])),
    )


def _all_seats(seats: tuple[str, ...], sources: _Sources) -> tuple[str, ...]:
    """The format's seats with numbered ones: as many as set, or up to the highest one that is named.

    Raises:
        InvalidInputError: the command line names more seats than there may be.
    """
    every = list(seats)
    for first in seats:
        key = sources.keys.get(f"{first}s")
        set_to = sources.take(key.pattern) if key else None
        if first == "proposer":
            set_to = set_to or len(sources.take("positions") or ()) or None
        source = sources.found.get(key.pattern, "") if key else ""
        asked = key is not None and key.parts in sources.command_line
        further = [seat for seat in sources.options.further_seats if sides([seat]).get(seat) == first]
        if set_to and set_to > 1 + len(further):
            if asked or further:
                most = f"Allowed is a whole number from 1 to {1 + len(further)}." if further else "Leave it out."
                raise InvalidInputError(f"There cannot be {set_to} seats called {first} (from {source}).", most)
            continue
        named = [place for place, seat in enumerate(further, start=2) if _is_named(seat, sources)]
        ordered = [place for place, seat in enumerate(further, start=2) if _mentions(sources.command_line, seat)]
        if set_to and ordered and max(ordered) > set_to and asked:
            raise InvalidInputError(
                f"{source} sets the number to {set_to}, but {first}_{max(ordered)} is named too.",
                "Give the larger number, or leave the seat out.",
            )
        number = max([set_to or max(named, default=1), *ordered])
        place = every.index(first) + 1
        every[place:place] = further[: number - 1]
    return tuple(every)


def _mentions(given: Mapping[KeyPath, Given], seat: str) -> bool:
    return any(path[:2] == ("seats", seat) for path in given)


def _is_named(seat: str, sources: _Sources) -> bool:
    """Whether anything is set for ``seat`` itself."""
    return (
        _mentions(sources.command_line, seat)
        or _mentions(sources.file, seat)
        or any(level for level in sources.environment.seat_levels(seat))
    )


def _format(format_name: str, sources: _Sources) -> FormatOptions:
    """The options of the format. Those of other formats are ignored, because a file may serve several formats."""
    model = options_class(format_name)
    values = sources.take_group(model)
    if sources.options.free_seats and ("judges",) in sources.command_line:
        raise InvalidInputError(
            f"{sources.command_line['judges',].source} is for formats with a judge, and this one has none.",
            "Leave it out: the debaters of a panel decide by their votes.",
        )
    if "preset" in values:
        preset_named(values["preset"], sources.found["preset"])
    return model(**values)


def _judging(sources: _Sources) -> Judging:
    return Judging(**sources.take_group(Judging), **_rubric(sources))


def _limits(sources: _Sources) -> Limits:
    limits = Limits(**sources.take_group(Limits))
    fewest, most = limits.minimum_arguments, limits.maximum_arguments
    if fewest is not None and most is not None and fewest > most:
        raise InvalidInputError(
            f"limits.minimum_arguments is {fewest} (from {sources.found['limits.minimum_arguments']}) and "
            f"limits.maximum_arguments is {most} (from {sources.found['limits.maximum_arguments']}).",
            "Allowed is a minimum that is not above the maximum.",
        )
    return limits


def _tool_limits(sources: _Sources) -> ToolLimits:
    values = Tools(**sources.take_group(Tools))
    return ToolLimits(
        rounds=values.rounds, calls=values.calls, result_chars=values.result_chars, timeout_s=values.timeout
    )


def _cast(seats: tuple[str, ...], chosen: FormatOptions, sources: _Sources) -> Cast:
    """The personalities of the debaters, in a format that has them."""
    if not sources.options.personalities:
        return Cast()
    asked = chosen if isinstance(chosen, Competition) else Competition()
    return make_cast(seats, asked.personality, asked.personalities)


def _rubric(sources: _Sources) -> dict[str, Any]:
    """The rubric of the highest source that has one. Weights of several sources are never mixed."""
    variable = sources.environment.get(sources.keys["rubric"].variable)
    for given in (sources.command_line, {("rubric",): variable} if variable else {}, sources.file):
        criteria = {path[1:]: value for path, value in given.items() if path[0] == "criteria"}
        weights = {path[0]: value for path, value in criteria.items() if path[1:] in {(), ("weight",)}}
        questions = {path[0]: value for path, value in criteria.items() if path[1:] == ("question",)}
        name = given.get(("rubric",))
        if name is not None and weights:
            raise InvalidInputError(
                f"rubric (from {name.source}) names a rubric, and criteria.{next(iter(weights))} "
                f"(from {next(iter(weights.values())).source}) describes another.",
                "Give a name, or criteria with weights, but not both.",
            )
        if (lone := next((row for row in questions if row not in weights), None)) is not None:
            raise InvalidInputError(
                f"criteria.{lone}.question (from {questions[lone].source}) asks about a criterion without a weight.",
                f"Give criteria.{lone}.weight too. All weights add up to exactly 1.",
            )
        if name is not None:
            return {"rubric": _named_rubric(name, sources)}
        if weights:
            return {"criteria": _own_rubric(weights, questions, sources)}
    sources.found["rubric"] = "default"
    return {}


def _named_rubric(given: Given, sources: _Sources) -> str:
    name = str(sources.keys["rubric"].read("rubric", given))
    known = sources.options.rubrics
    if known and name not in known:
        hint = did_you_mean(name, known)
        raise bad_value("rubric", given, f"one of {', '.join(known)}, or criteria with weights", hint)
    sources.found["rubric"] = given.source
    return name


def _own_rubric(
    weights: Mapping[str, Given], questions: Mapping[str, Given], sources: _Sources
) -> dict[str, Criterion]:
    criteria = {name: reading.criterion_weight(f"criteria.{name}", given) for name, given in weights.items()}
    total = sum(criteria.values(), Decimal(0))
    if total != 1:
        source = next(iter(weights.values())).source
        raise InvalidInputError(
            f"The weights of criteria ({', '.join(f'{name} {weight}' for name, weight in criteria.items())}, from "
            f"{source} on) add up to {total}.",
            "Allowed are weights that add up to exactly 1.",
        )
    sources.found.update((f"criteria.{name}", given.source) for name, given in weights.items())
    sources.found.update((f"criteria.{name}.question", given.source) for name, given in questions.items())
    asked = {name: reading.question(f"criteria.{name}.question", given) for name, given in questions.items()}
    return {name: Criterion(weight=weight, question=asked.get(name)) for name, weight in criteria.items()}


def _resolve_seats(seats: tuple[str, ...], sources: _Sources, prices: Mapping[str, Price]) -> dict[str, ResolvedSeat]:
    environment = sources.environment
    asked = sources.command_line
    levels = {
        seat: seat_levels(seat, sources.file, environment, most_specific(asked, seat) if sources.remote else asked)
        for seat in seats
    }
    if sources.base_url is not None:
        for seat in _seats_for_base_url(levels, environment, sources):
            levels[seat].append({"base_url": sources.base_url})
    resolved = {seat: _resolve_seat(seat, levels[seat], sources, prices) for seat in seats}
    if sources.remote:
        given = Given(None, "default", environment.directory)
        for seat, found in resolved.items():
            configured = [*seat_levels(seat, sources.file, environment, {}), own_level(found.seating, given)]
            check_reach(seat, found, _resolve_seat(seat, configured, sources, prices))
    return resolved


def _resolve_seat(seat: str, levels: list[Level], sources: _Sources, prices: Mapping[str, Price]) -> ResolvedSeat:
    automatic = choose_provider(levels, sources.environment, sources.options.usual_provider)
    effective = merge_levels(levels, sources.environment, automatic)
    return resolve_seat(seat, effective, automatic, sources.environment, prices)


def _seats_for_base_url(
    levels: Mapping[str, list[Level]], environment: Environment, sources: _Sources
) -> tuple[str, ...]:
    """The seats for which ``--base-url`` is meant.

    An option without a seat could send one provider's key to another's server. So it goes to the ``openai_compatible``
    seats, which have no address of their own. Without those, it goes to the seats without a named provider, which
    become ``openai_compatible``. Without those too, it goes to all seats if they share one provider; otherwise it is an
    error. An address given on the command line for one seat stays.
    """
    named: dict[str, Provider] = {}
    unnamed = []
    for seat, each in levels.items():
        if any(("seats", scope, "base_url") in sources.command_line for scope in scopes(seat)):
            continue
        effective = merge_levels(each, environment, choose_provider(each, environment))
        if effective.named:
            named[seat] = provider_named(effective.provider, source=effective.source)
        else:
            unnamed.append(seat)
    compatible = tuple(seat for seat, provider in named.items() if provider.name == "openai_compatible")
    if compatible or unnamed:
        return compatible or tuple(unnamed)
    reached = {seat: provider.name for seat, provider in named.items() if provider.takes_address}
    providers = sorted(set(reached.values()))
    if len(providers) != 1:
        these = f"the seats use {' and '.join(providers)}" if providers else "no seat is left that takes it"
        raise InvalidInputError(
            f"--base-url is one address, but {these}.",
            "Give it for a seat, such as --set seats.pro.base_url=http://localhost:8000/v1.",
        )
    return tuple(reached)


def _prices(sources: _Sources) -> dict[str, Price]:
    rates: dict[str, dict[str, Decimal]] = {}
    for path in {**sources.file, **sources.command_line}:
        if path[0] == "price" and path[1] not in rates:
            rates[path[1]] = sources.take_under(path[:2], sources.keys["price.<model>.input"])
    for model, rate in rates.items():
        for needed in ("input", "output"):
            if needed not in rate:
                raise InvalidInputError(
                    f'price."{model}" has no {needed} price, and an unknown price is never taken as zero.',
                    f'Set price."{model}".{needed} in US dollars per million tokens.',
                )
    return {model: Price(**rate) for model, rate in rates.items()}


def _rules(sources: _Sources) -> dict[str, RuleValue]:
    rules = dict(sources.options.rules)
    sources.found.update((f"rules.{name}", "default") for name in rules)
    for path, given in {**sources.file, **sources.command_line}.items():
        name = ".".join(path[1:])
        if path[0] == "rules" and name in rules:
            rules[name] = read_like(sources.options.rules[name], f"rules.{name}", given)
            sources.found[f"rules.{name}"] = given.source
    return rules


def _servers(sources: _Sources) -> dict[str, McpServer]:
    """The MCP servers with the values of their variables. An unset variable is an error."""
    addresses = sources.take_under(("mcp_servers",), sources.keys["mcp_servers.<server>"])
    named = sources.take_under(("mcp_env",), sources.keys["mcp_env.<server>"])
    for name in named:
        if name not in addresses:
            raise InvalidInputError(
                f"mcp_env.{name} (from {sources.found[f'mcp_env.{name}']}) is for an MCP server that is not named.",
                f"Name the server with --mcp {name}=COMMAND or mcp_servers.{name} in a file.",
            )
    return {
        name: _server(name, address, named.get(name, ()), sources.environment) for name, address in addresses.items()
    }


def _server(name: str, address: str, variables: tuple[str, ...], environment: Environment) -> McpServer:
    given = {variable: environment.get(variable) for variable in variables}
    for variable, value in given.items():
        if value is None:
            raise InvalidInputError(
                f"mcp_env.{name} names the variable {variable}, which is not set.",
                f"Set {variable} in the environment or in .env, or leave it out.",
            )
    known = {variable: str(value.value) for variable, value in given.items() if value is not None}
    if not address.lower().startswith(("http://", "https://")):
        return McpServer(name, command=tuple(shlex.split(address)), variables=known)
    if len(known) > 1:
        raise InvalidInputError(
            f"mcp_env.{name} names {len(known)} variables for a server that is reached by its address.",
            "Name the one that holds its bearer token.",
        )
    return McpServer(name, url=address, variables=known)
