"""The project's files, read for the tests of the house."""

from __future__ import annotations

import ast
import gc
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in (SOURCE / "disputatio").rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def packages() -> list[str]:
    """Every package, the whole one first."""
    return sorted(name for name, path in modules().items() if path.name == "__init__.py")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    # A tree is thousands of objects that stay; looking for garbage among them takes twice as long as reading the file.
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"), str(path))
    finally:
        gc.enable()


def imported(module: str) -> Iterator[tuple[str, ast.AST, bool]]:
    """What a module imports: the name, the statement, and whether it stands at the module's top level.

    ``from package import name`` counts as an import of ``package.name`` where that is a module.
    """
    path = modules()[module]
    top = set(map(id, tree(path).body))
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            for row in node.names:
                yield row.name, node, id(node) in top
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            for row in node.names:
                inner = f"{base}.{row.name}"
                yield (inner if inner in modules() else base), node, id(node) in top


@cache
def python_files() -> tuple[Path, ...]:
    """Every Python file of the package and the tests."""
    return tuple(sorted(path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")))


@cache
def project_files() -> tuple[Path, ...]:
    """Every file that is in version control or would be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    names = (name for name in listed.decode().split("\0") if name)
    return tuple(path for path in map(ROOT.joinpath, names) if path.is_file())
