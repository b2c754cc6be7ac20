"""Load a user's own format from a Python file: check what it uses, run it, and count its steps.

The check guards against mistakes, not malice. Rules that look at a clock, a network, a file or chance cannot be
replayed from a record, so such imports and names are refused before the file runs. Rules that never end are stopped.
But the file is a program with the rights of the user and can bypass every check. Run only files that you have read. A
file is never extracted from a record and run.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, make_dataclass
from decimal import Decimal
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from disputatio.errors import InvalidInputError, ResumeMismatchError
from disputatio.formats.custom_debate import FILE_RULES, JUDGE, OWN, CustomRules, TooLongError, run_custom_rules
from disputatio.formats.format import Format
from disputatio.formats.registry import FORMATS, find_format
from disputatio.formats.rule_values import is_name
from disputatio.kernel import Seat
from disputatio.motion import one_line
from disputatio.record.events import DebateOpened
from disputatio.record.text import digest

PACKAGE_MODULES = ("disputatio.formats", "disputatio.judging", "disputatio.kernel")
STANDARD_MODULES = (
    *("__future__", "bisect", "collections", "collections.abc", "dataclasses", "decimal", "difflib", "enum"),
    *("fractions", "functools", "itertools", "json", "math", "operator", "re", "statistics", "string", "textwrap"),
    *("typing", "unicodedata"),
)
"""What a format may import besides the package: nothing that reads a clock, a file or the network."""
REFUSED_NAMES = frozenset(
    {"__import__", "breakpoint", "compile", "eval", "exec", "exit", "globals", "help", "input", "locals", "memoryview"}
    | {"open", "print", "quit", "vars", "hash", "id"}
)
MOST_STEPS = 2_000_000
"""Interpreter steps in a file between two asks: two or three seconds."""
_MOST_CHARACTERS = 100_000
_DEFAULT_FUNCTION = "rules"
_SPEC = re.compile(r"(?P<file>.+?\.py)(?::(?P<function>\w*))?", re.DOTALL)
_READ_FIRST = "docs/tutorial/own-format.md shows what one looks like."


def is_rules_file(format_name: str) -> bool:
    """Whether ``format_name`` is a file of rules, such as ``./my_debate.py:rules``, or else the name of a format."""
    return format_name not in FORMATS and _SPEC.fullmatch(format_name) is not None


def load_format(format_name: str) -> Format:
    """The format with this name, or in this file.

    Raises:
        InvalidInputError: there is no such format, or the file cannot be used.
    """
    return read_rules_file(format_name) if is_rules_file(format_name) else find_format(format_name)


def load_recorded_format(opened: DebateOpened, moved_to: str | None = None) -> Format:
    """The format that a debate began with. Rules in a file are read again.

    Args:
        opened: how the debate began.
        moved_to: the current path of the file, if it was moved.

    Raises:
        ResumeMismatchError: the file is missing or has changed.
        InvalidInputError: there is no such format.
    """
    if opened.format != OWN:
        return find_format(opened.format)
    rules = opened.rules
    is_moved = moved_to is not None and is_rules_file(moved_to)
    spec = str(moved_to) if is_moved else f"{rules['file']}:{rules['function']}"
    try:
        form = read_rules_file(spec, known_as=str(rules["file"]))
    except InvalidInputError as failure:
        cause = f"The rules of this debate are in a file, and it cannot be used. {failure.cause}"
        raise ResumeMismatchError(cause, "Give the file as it was: --format PATH.py:FUNCTION.") from None
    current = form.rules()
    if (current.sha256, current.function) != (rules["sha256"], rules["function"]):
        raise ResumeMismatchError(
            f"The rules in {current.where} are not those this debate began with: the file was changed since "
            f"(SHA-256 {str(rules['sha256'])[:12]} then, {current.sha256[:12]} now).",
            "Put the file back as it was, or start a new debate; the record keeps the text it began with.",
        )
    return form


def read_rules_file(spec: str, *, known_as: str | None = None) -> Format:
    """The format in a file: ``my_debate.py``, or ``my_debate.py:rules`` if it has several functions.

    Args:
        spec: the file and the function.
        known_as: the name of the file in the record, if it was moved.

    Raises:
        InvalidInputError: the file cannot be read, uses something forbidden, or has no such rules. Names the line.
    """
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise InvalidInputError(
            f"{one_line(spec, 80)} is not a file of rules.", "Give one: --format my_debate.py:rules."
        )
    path = Path(match["file"])
    source = _read(path)
    name = known_as or path.as_posix()
    module = _run_file(source, name)
    function = _find_function(module, match["function"] or "", path.name)
    seats, settings, motion = _read_parameters(function, path.name)
    body = [(row.name, type(row.default), field(default=row.default)) for row in settings if row.name not in FILE_RULES]
    origin = {"file": name, "function": function.__name__, "sha256": digest(source)}
    body += [(key, str, field(default=value)) for key, value in origin.items()]
    body.append(("seats", tuple, field(default=tuple(map(str, seats)))))
    rules = make_dataclass("CustomRules", body, bases=(CustomRules,), frozen=True)
    make = partial(_start_rules, function, tuple(row.name for row in settings), with_motion=motion)
    return Format(
        name=OWN,
        about=one_line(inspect.getdoc(function) or "a format of your own", 100),
        seats=seats,
        rules=rules,
        rulebook=partial(run_custom_rules, make, seats, _StepCounter(name)),
        judges=frozenset({JUDGE} & set(seats)),
        file_text=source,
    )


def _start_rules(
    function: Callable[..., Any],
    settings: tuple[str, ...],
    motion: str,
    speakers: list[Any],
    rules: Any,
    *,
    with_motion: bool,
) -> Generator[Any, Any, Any]:
    """Start a new generator of the rules."""
    arguments = [motion, *speakers] if with_motion else speakers
    return function(*arguments, **{name: getattr(rules, name) for name in settings})  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class _StepCounter:
    """Advances a generator, and stops it after too many steps in ``file``.

    It counts steps, not seconds, so that a replay on a slower machine ends the same.
    """

    file: str

    def __call__(self, rulebook: Generator[Any, Any, Any], answer: Any) -> Any:
        """Send ``answer`` to the generator and return what it yields next.

        Raises:
            TooLongError: it ran for too many steps.
        """
        return _count_steps(self.file, lambda: rulebook.send(answer))


def _count_steps(file: str, work: Callable[[], Any]) -> Any:
    before, steps, most = sys.gettrace(), count(1), MOST_STEPS

    def local(frame: FrameType, event: str, _: Any) -> Any:
        # A loop on one line raises no line events.
        frame.f_trace_opcodes = True
        if event == "opcode" and next(steps) > most:
            raise TooLongError
        return local

    def calls(frame: FrameType, _: str, __: Any) -> Any:
        return local if frame.f_code.co_filename == file else None

    sys.settrace(calls)
    try:
        return work()
    finally:
        sys.settrace(before)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(4 * _MOST_CHARACTERS + 1)
        source = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unusable(path.name, None, "is not UTF-8 text") from None
    except OSError as error:
        cause = f"The file of rules {one_line(str(path), 200)} cannot be read: {(error.strerror or 'unknown').lower()}."
        raise InvalidInputError(cause, "Give a Python file: --format ./my_debate.py:rules.") from None
    if len(source) > _MOST_CHARACTERS:
        raise _unusable(path.name, None, f"is longer than {_MOST_CHARACTERS:,} characters")
    return source.replace("\r\n", "\n")


def _unusable(file: str, line: int | None, cause: str, next_step: str = _READ_FIRST) -> InvalidInputError:
    place = f"{one_line(file, 80)}, line {line}," if line else one_line(file, 80)
    return InvalidInputError(f"The rules cannot be used: {place} {cause}.", next_step)


def _run_file(source: str, name: str) -> dict[str, Any]:
    """Check the file, run it, and return what it defines."""
    short = name.rpartition("/")[2]
    try:
        tree = ast.parse(source, name)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise _unusable(short, line, f"is not Python ({getattr(error, 'msg', None) or error})") from None
    check_imports(tree, short)
    module: dict[str, Any] = {"__name__": "own_format", "__builtins__": _builtins()}
    code: CodeType = compile(tree, name, "exec")
    try:
        _count_steps(name, lambda: exec(code, module))  # noqa: S102  (the user's own file, see the module)
    except TooLongError:
        raise _unusable(short, None, "runs on before there is any debate") from None
    except Exception as error:  # noqa: BLE001  (a user's file may raise anything)
        line = _line_of(error, name)
        raise _unusable(short, line, f"raises {type(error).__name__}: {one_line(str(error), 200)}") from None
    return module


def _line_of(error: BaseException, name: str) -> int | None:
    line, trace = None, error.__traceback__
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == name else line
        trace = trace.tb_next
    return line


def _builtins() -> Mapping[str, Any]:
    """Python's builtins without those that read the outside world or run other code."""
    allowed = {name: value for name, value in vars(builtins).items() if name not in REFUSED_NAMES}
    return {**allowed, "__import__": __import__}


def check_imports(tree: ast.Module, file: str) -> None:
    """Refuse a file that imports or names anything forbidden.

    Raises:
        InvalidInputError: names the line and what the file may use instead.
    """
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for row in node.names:
                _check_module(row.name, node.lineno, file, whole=True)
                top = row.name.partition(".")[0]
                modules[row.asname or top] = row.name if row.asname else top
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            _check_module(module, node.lineno, file, whole=False)
            for row in node.names:
                _check_name(module, row.name, node.lineno, file)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in REFUSED_NAMES:
            raise _unusable(file, node.lineno, f"uses {node.id}, which rules may not", _WHY)
        if isinstance(node, ast.Attribute):
            if node.attr.startswith("__"):
                raise _unusable(file, node.lineno, f"uses {node.attr}, which rules may not", _WHY)
            if isinstance(node.value, ast.Name) and node.value.id in modules:
                _check_name(modules[node.value.id], node.attr, node.lineno, file)


_WHY = (
    "A debate is run again from its record, so its rules may not look at files, the network, the clock or chance. "
    f"They may import: {', '.join(row for row in (*PACKAGE_MODULES, *STANDARD_MODULES) if row != '__future__')}."
)


def _check_module(name: str, line: int, file: str, *, whole: bool) -> None:
    if name in PACKAGE_MODULES and whole:
        raise _unusable(file, line, f"imports {name} as a whole", f"Name what you need: from {name} import ...")
    if name not in (*PACKAGE_MODULES, *STANDARD_MODULES):
        raise _unusable(file, line, f"imports {one_line(name, 60)}, which rules may not", _WHY)


def _check_name(module: str, name: str, line: int, file: str) -> None:
    """Refuse a name that a module does not export. What the module imported itself is private."""
    imported = import_module(module)
    public = getattr(imported, "__all__", None)
    value = getattr(imported, name, None)
    is_submodule = f"{module}.{name}" in STANDARD_MODULES
    if not is_submodule and (isinstance(value, ModuleType) or name.startswith("_") or (public and name not in public)):
        use = "imports everything" if name == "*" else f"takes {one_line(name, 60)}"
        step = f"{module} offers: {', '.join(public)}." if module in PACKAGE_MODULES and public else _WHY
        raise _unusable(file, line, f"{use} from {module}, which does not offer it", step)
    if name == "*":
        raise _unusable(file, line, f"imports everything from {module}", "Name what you need.")


def _find_function(module: Mapping[str, Any], name: str, file: str) -> Callable[..., Any]:
    """The generator function ``name`` of the rules; where the name is empty, the default or the only one."""
    generators: dict[str, Callable[..., Any]] = {
        key: value
        for key, value in module.items()
        if inspect.isgeneratorfunction(value) and value.__module__ == "own_format"
    }
    if not name:
        if _DEFAULT_FUNCTION not in generators and len(generators) != 1:
            cause = f"has several: {', '.join(generators)}" if generators else "has no generator function"
            raise _unusable(file, None, cause, f"Say which: --format {file}:rules. {_READ_FIRST}")
        return generators.get(_DEFAULT_FUNCTION) or next(iter(generators.values()))
    if name in generators:
        return generators[name]
    value = module.get(name)
    if callable(value):
        line = getattr(getattr(value, "__code__", None), "co_firstlineno", None)
        raise _unusable(file, line, f"{name} never yields: it is not a generator function", _READ_FIRST)
    known = f" There is: {', '.join(generators)}." if generators else ""
    raise _unusable(file, None, f"has no function called {one_line(name, 60)}", f"Name a generator function.{known}")


def _read_parameters(function: Callable[..., Any], file: str) -> tuple[tuple[Seat, ...], list[inspect.Parameter], bool]:
    """The seats, the settings, and whether the function takes the motion, from its parameters."""
    line = function.__code__.co_firstlineno
    seats, settings, motion = [], [], False
    for place, row in enumerate(inspect.signature(function).parameters.values()):
        if row.kind in {row.VAR_POSITIONAL, row.VAR_KEYWORD}:
            raise _unusable(file, line, f"takes any number of seats (*{row.name}); name each of them")
        if row.kind is row.KEYWORD_ONLY:
            _check_setting(row, file, line)
            settings.append(row)
        elif place == 0 and row.name == "motion":
            motion = True
        elif row.default is not row.empty:
            raise _unusable(file, line, f"gives the seat {row.name} a default; settings come after a *")
        elif not is_name(row.name) or row.name in {"all", "motion"} or row.name.startswith("_"):
            raise _unusable(file, line, f"has a seat called {row.name}, a name that no seat can have")
        else:
            seats.append(Seat(row.name.lower()))
    if not seats:
        raise _unusable(file, line, f"has no seats: the parameters of {function.__name__} name them")
    if len(set(seats)) < len(seats):
        raise _unusable(file, line, "names a seat twice")
    return tuple(seats), settings, motion


_RESERVED = frozenset({"most_asks", "answer", "bench", "brief", "cast", "debaters", "decision", "options", "positions"})
_RESERVED |= {"rubric", "minimum_arguments", "maximum_arguments", "closing_words", "speaker_selected_by", *FILE_RULES}


def _check_setting(row: inspect.Parameter, file: str, line: int) -> None:
    if row.name in _RESERVED:
        raise _unusable(file, line, f"has a setting called {row.name}, a name that disputatio uses itself")
    if not isinstance(row.default, bool | int | str | Decimal):
        raise _unusable(file, line, f"has the setting {row.name} without a default that is a number, a text or yes/no")
