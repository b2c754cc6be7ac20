"""Names and documents use plain, standard English: words of the old private dialect do not come back."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from sources import ROOT, python_files

# Each was once a name for something that has a standard word; see docs/reference/glossary.md.
BANNED = {
    "desk": "the noun for what it keeps",
    "docket": "context",
    "door": "api",
    "doors": "api",
    "floor": "transcript, or what it bounds",
    "habits": "length profile",
    "hearing": "ruling",
    "holder": "runner",
    "house": "runtime",
    "lent": "borrowed",
    "misfit": "mismatch",
    "sitter": "participant",
    "whoever": "a noun",
}
LONGEST_TEST_NAME = 60
LONGEST_SENTENCE = 30


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


@cache
def identifiers(path: Path) -> frozenset[str]:
    """The names that a module gives, its own included: functions, classes, parameters, variables."""
    names = {path.stem}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
    return frozenset(names)


@pytest.mark.parametrize("banned", BANNED)
def test_no_identifier_uses_a_word_of_the_old_dialect(banned: str) -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in python_files()
        if "/src/" in str(path)
        for name in identifiers(path)
        if banned in words(name)
    }
    assert not found, f"say {BANNED[banned]} instead of {banned}"


def test_no_test_has_a_name_too_long_to_read() -> None:
    names = {
        f"{path.name}: {name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
        if len(name) > LONGEST_TEST_NAME
    }
    assert not names


GENERATED = {"command-line.md", "configuration.md", "api.md"}
DOCUMENTS = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name not in GENERATED]
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "tests" / "README.md"]


def sentences(document: str) -> list[str]:
    """The sentences of a Markdown document without its code, its quotations and its tables' bars."""
    plain = re.sub(r"^```.*?^```|<!--.*?-->|^>.*?$|^    .*?$", "", document, flags=re.MULTILINE | re.DOTALL)
    plain = re.sub(r"`[^`]*`", "", re.sub(r"\[[^\]]*\]\([^)]*\)", "link", plain))
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |\|))|\|", plain)
    return [part for block in blocks for part in re.split(r"(?<=[.!?:;])\s+", re.sub(r"\s+", " ", block))]


@pytest.mark.parametrize("path", [*DOCUMENTS, *GUIDES], ids=lambda path: path.name)
def test_no_sentence_of_a_document_is_too_long(path: Path) -> None:
    long = [row for row in sentences(path.read_text("utf-8")) if len(re.findall(r"\w[\w'-]*", row)) > LONGEST_SENTENCE]
    assert not long


def test_the_glossary_has_at_most_sixty_words() -> None:
    glossary = (ROOT / "docs" / "reference" / "glossary.md").read_text("utf-8")
    rows = re.findall(r"^\| (?!word \||---)", glossary, re.MULTILINE)
    assert 0 < len(rows) <= 60
