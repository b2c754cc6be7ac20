"""Write the reference of the public Python interface: ``python -m disputatio._cli.api_reference``.

The names in ``__all__`` of these modules are public. Everything else may change in any version.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import sys
from collections.abc import Iterator

from pydantic import BaseModel

PUBLIC_MODULES = (
    "disputatio",
    "disputatio.results",
    "disputatio.ports",
    "disputatio.formats",
    "disputatio.options",
    "disputatio.testing",
)
_HEAD = """# Python interface

Generated from the docstrings by `make reference`. Names that are not on this page may change in any version.
[Results in Python](../how-to/results.md) and [the library](../how-to/library.md) show how the names are used.
"""
_WIDEST = 100
_HIDDEN = re.compile(r"<(?:[\w. ]|<\w+>)+ at 0x[0-9a-f]+>|<factory>")


def api_reference() -> str:
    """Render the reference as Markdown."""
    return "\n".join([_HEAD, *(block for module in PUBLIC_MODULES for block in _module_blocks(module))])


def _module_blocks(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    yield f"## {name}\n"
    yield f"{_paragraphs(inspect.getdoc(module))}\n"
    for public in sorted(module.__all__, key=str.lower):
        yield from _name_blocks(f"{name}.{public}", getattr(module, public))


def _name_blocks(name: str, value: object) -> Iterator[str]:
    yield f"### {name}\n"
    if inspect.isclass(value):
        yield from _class_blocks(value)
    elif inspect.isroutine(value):
        yield f"{_code(value.__name__, value)}\n"
        yield f"{_paragraphs(inspect.getdoc(value))}\n"
    else:
        yield f"A value of type `{type(value).__name__}`.\n"


def _class_blocks(value: type) -> Iterator[str]:
    if not issubclass(value, enum.Enum | BaseModel | BaseException) and not getattr(value, "_is_protocol", False):
        yield f"{_code(value.__name__, value)}\n"
    yield f"{_paragraphs(_own_doc(value))}\n"
    if issubclass(value, enum.Enum):
        yield f"Values: {', '.join(f'`{row.name}` = `{row.value}`' for row in value)}.\n"
    if issubclass(value, BaseModel):
        rows = [(key, row.description) for key, row in value.model_fields.items() if row.description]
        yield "\n".join(f"- `{key}`: {text}" for key, text in rows) + "\n"
    members = [
        f"- {_member(name, member)}: {_first_line(inspect.getdoc(member))}"
        for name, member in sorted(vars(value).items())
        if not name.startswith("_") and _is_member(member)
    ]
    if members and not issubclass(value, enum.Enum):
        yield "\n".join(members) + "\n"


def _is_member(member: object) -> bool:
    return isinstance(member, property | classmethod | staticmethod) or inspect.isfunction(member)


def _member(name: str, member: object) -> str:
    if isinstance(member, property):
        return f"`{name}`"
    function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    parameters, returns = _signature(function, skips_first=not isinstance(member, staticmethod))
    return f"`{name}({', '.join(parameters)}){returns}`"


def _code(name: str, value: object) -> str:
    """A signature as a block of code. A wide one has each parameter on a line of its own."""
    parameters, returns = _signature(value)
    text = f"{name}({', '.join(parameters)}){returns}"
    if len(text) > _WIDEST:
        text = f"{name}(\n" + "".join(f"    {row},\n" for row in parameters) + f"){returns}"
    return f"```text\n{text}\n```"


def _signature(value: object, *, skips_first: bool = False) -> tuple[list[str], str]:
    """The parameters of ``value`` as text, and its arrow with the returned type."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ["..."], ""
    parameters: list[str] = []
    for row in list(signature.parameters.values())[skips_first:]:
        if row.kind is row.KEYWORD_ONLY and not any(text.startswith("*") for text in parameters):
            parameters.append("*")
        kind = "" if row.annotation is row.empty else f": {str(row.annotation).replace(chr(39), '')}"
        default = "" if row.default is row.empty else f" = {row.default!r}"
        stars = "*" * (1 + (row.kind is row.VAR_KEYWORD)) if row.kind in {row.VAR_POSITIONAL, row.VAR_KEYWORD} else ""
        parameters.append(_HIDDEN.sub("...", f"{stars}{row.name}{kind}{default}"))
    returns = signature.return_annotation
    return parameters, f" -> {returns}" if isinstance(returns, str) and returns != "None" else ""


def _own_doc(value: type) -> str | None:
    """The docstring of ``value``; None if a dataclass made it from its signature."""
    doc = vars(value).get("__doc__")
    return None if doc is None or doc.startswith(f"{value.__name__}(") else inspect.cleandoc(doc)


def _first_line(doc: str | None) -> str:
    return "" if doc is None else _inline(doc.split("\n\n")[0].replace("\n", " "))


def _inline(text: str) -> str:
    """Turn the markup of docstrings into Markdown."""
    return re.sub(r"``([^`]*)``", r"`\1`", re.sub(r"::$", ":", text, flags=re.MULTILINE))


def _paragraphs(doc: str | None) -> str:
    """A docstring as Markdown. Its sections become lists."""
    if doc is None:
        return ""
    lines, section = [], False
    for line in doc.splitlines():
        if re.fullmatch(r"(Args|Raises|Returns|Attributes|Yields):", line):
            lines += ["", f"{line}", ""]
            section = True
        elif section and re.match(r"    \S", line) and re.match(r"    [\w.*]+( \([^)]*\))?: ", line):
            name, _, rest = line.strip().partition(": ")
            lines.append(f"- `{name}`: {rest}")
        elif section and line.startswith("    "):
            lines.append(f"  {line.strip()}")
        else:
            section = section and not line
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", _inline("\n".join(lines))).strip()


if __name__ == "__main__":
    sys.stdout.write(api_reference())
