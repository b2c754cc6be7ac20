"""The rules of the house that no linter knows. Lists of exceptions may only shrink."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from pathlib import Path

import pytest
from sources import ROOT, modules, project_files, python_files, tree

import disputatio
from disputatio._lazy import EXPORTS

MOST_LINES_OF_A_FILE = 600
MOST_LINES_OF_A_FUNCTION = 50

# The file or function, and how long it may be for now.
LONG_FILES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}
"""By module and name."""


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How long a function is, its docstring and the lines of its parameters apart."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
        body = body[1:]
    return (body[-1].end_lineno or 0) - body[0].lineno + 2


def test_no_file_is_longer_than_it_should_be() -> None:
    lengths = {place(path): len(path.read_text("utf-8").splitlines()) for path in python_files()}
    long = {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FILE}
    assert {name: length for name, length in long.items() if length > LONG_FILES.get(name, 0)} == {}
    assert set(LONG_FILES) <= set(long), "what became short is taken out of the exceptions"


def test_no_function_is_longer_than_it_should_be() -> None:
    lengths = {
        f"{module}.{node.name}": body_lines(node)
        for module, path in modules().items()
        for node in ast.walk(tree(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    long = {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FUNCTION}
    assert {name: length for name, length in long.items() if length > LONG_FUNCTIONS.get(name, 0)} == {}
    assert set(LONG_FUNCTIONS) <= set(long), "what became short is taken out of the exceptions"


# Put together here, so that this file does not hold them.
REGISTRIES = ("py" + "pi.org", "files.python" + "hosted.org", "npm" + "js.", "conda." + "anaconda.org")


def test_no_file_names_the_address_of_a_package_registry() -> None:
    found = []
    for path in project_files():
        text = path.read_bytes().decode("utf-8", "ignore").lower()
        found += [f"{place(path)}: {name}" for name in REGISTRIES if name in text]
    assert found == []


def statements(path: Path) -> list[ast.stmt]:
    """The statements of a module, those that only a type checker sees among them."""
    found: list[ast.stmt] = []
    for node in tree(path).body:
        typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not node.orelse
        found += node.body if typing and isinstance(node, ast.If) else [node]
    return found


def without_flag(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without ``TYPE_CHECKING = False``, which type checkers take for the name of ``typing``; it imports nothing."""
    return [node for node in body if ast.unparse(node) != "TYPE_CHECKING = False"]


def test_init_files_hold_re_exports_alone() -> None:
    for path in modules().values():
        if path.name != "__init__.py":
            continue
        for node in without_flag(statements(path)):
            docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            listed = isinstance(node, ast.Assign) and [ast.unparse(row) for row in node.targets] == ["__all__"]
            imports = isinstance(node, (ast.Import, ast.ImportFrom))
            assert docstring or listed or imports, f"{place(path)}:{node.lineno}"


def test_what_a_package_lists_is_what_it_imports_sorted() -> None:
    for path in modules().values():
        if path.name != "__init__.py":
            continue
        body = without_flag(statements(path))
        listed = [ast.literal_eval(node.value) for node in body if isinstance(node, ast.Assign)]
        names = [
            row.asname or row.name
            for node in body
            if isinstance(node, ast.ImportFrom) and node.module != "typing"
            for row in node.names
            if not row.name.startswith("__")
        ]
        for exported in listed:
            assert sorted(exported) == sorted(names), place(path)
            assert len(set(exported)) == len(exported), place(path)


def test_the_front_door_opens_exactly_what_it_lists() -> None:
    assert dir(disputatio) == sorted(disputatio.__all__)
    for name in disputatio.__all__:
        assert getattr(disputatio, name).__module__.startswith("disputatio.")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = disputatio.nothing


def test_the_package_exports_lazily_what_type_checkers_see() -> None:
    shown = {
        row.name: node.module
        for node in statements(modules()["disputatio"])
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for row in node.names
        if not row.name.startswith("__")
    }
    assert {name: f"disputatio.{module}" for module, names in EXPORTS.items() for name in names} == shown
    found = importlib.import_module("disputatio")
    assert dir(found) == sorted(found.__all__) == sorted(shown)
    for name, module in shown.items():
        assert getattr(found, name) is getattr(importlib.import_module(module), name)
        assert f"disputatio.{name}" not in modules(), f"{name} is the name of a module, which would take its place"


@pytest.mark.parametrize("word", ["util", "utils", "helper", "helpers", "common", "core", "misc", "stuff"])
def test_no_module_or_folder_has_a_name_that_says_nothing(word: str) -> None:
    for path in python_files():
        parts = re.split(r"[/_]", place(path).removesuffix(".py"))
        assert word not in parts, place(path)


def test_every_module_says_what_it_is_for() -> None:
    for path in python_files():
        first = path.read_text("utf-8").lstrip()
        assert first.startswith(('"""', 'r"""')), place(path)


TESTS = ROOT / "tests"


def test_test_files_have_unique_names_and_no_packages() -> None:
    names = Counter(path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []
    assert "__init__.py" not in names


def test_the_tests_readme_says_where_a_test_goes() -> None:
    readme = (TESTS / "README.md").read_text("utf-8")
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}
    assert [name for name in sorted(folders) if f"`{name}/`" not in readme] == []


def test_no_test_sleeps_or_mocks() -> None:
    forbidden = re.compile(
        r"^\s*(?:time\.sleep\(|sleep\(|from unittest import mock|from time import .*sleep|.*unittest\.mock)"
    )
    found = [
        f"{place(path)}:{number}"
        for path in TESTS.rglob("*.py")
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if forbidden.match(line)
    ]
    assert found == []


def test_no_suppression_is_without_its_code() -> None:
    bare = re.compile(r"#\s*(?:noqa(?!:\s*[A-Z]+\d)|type:\s*ignore(?!\[))")
    found = [
        f"{place(path)}:{number}"
        for path in python_files()
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if bare.search(line)
    ]
    assert found == []
