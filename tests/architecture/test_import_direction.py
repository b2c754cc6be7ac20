"""Imports point one way, from the surfaces down to the kernel."""

from __future__ import annotations

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest
from sources import imported, modules, packages

# Lowest first: a module imports its own layer and those above it in this list, nothing below it. The longest name
# that fits a module decides. A new package needs a place here.
LAYERS = (
    "disputatio._version",
    "disputatio._intake",
    "disputatio._http_client",
    "disputatio.errors",
    "disputatio.kernel",
    "disputatio.motion",
    "disputatio.options",
    "disputatio.judging",
    "disputatio.evidence",
    "disputatio.market",
    "disputatio.formats",
    "disputatio.market.sources",
    "disputatio.record",
    "disputatio.tools",
    "disputatio.participants.call",
    "disputatio.participants.local_models",
    "disputatio.participants.providers",
    "disputatio.participants.model_seat",
    "disputatio.prompts",
    "disputatio.participants",
    "disputatio.ledger",
    "disputatio.request",
    "disputatio.config",
    "disputatio.report",
    "disputatio.metrics",
    "disputatio.engine",
    "disputatio.telemetry",
    "disputatio.evaluation",
    "disputatio.importing",
    "disputatio.testing",
    "disputatio.ports",
    "disputatio.results",
    "disputatio.debates",
    "disputatio.proposals",
    "disputatio.api",
    "disputatio.workers",
    "disputatio._lazy",
    "disputatio",
    "disputatio._terminal",
    "disputatio._http",
    "disputatio._mcp",
    "disputatio._service",
    "disputatio._cli",
    "disputatio.__main__",
)
RANK = {name: place for place, name in enumerate(LAYERS)}

# What formats may use of the evidence: sources that were read, and the check of citations. Reading files is apart.
PURE_EVIDENCE = (
    *(
        "calculator",
        "citations",
        "figures",
        "findings",
        "json_text",
        "near_miss",
        "number_lexicon",
        "passages",
    ),
    *(
        "pointers",
        "quotes",
        "retrieval",
        "sense_words",
        "sources",
    ),
    *("tokens",),
)
# Of the market: knowledge bases, what each lens sees of them, the check of evidence. Sources and files are apart.
PURE_MARKET = (
    *("knowledge", "knowledge_json", "slices", "expressions", "claim_text", "directions", "checking"),
    *("indicators",),
)
# Pure: no clock, no network, no files, no chance. What they import of the standard library is all here.
PURE = (
    "disputatio.errors",
    "disputatio.kernel",
    "disputatio.motion",
    "disputatio.judging",
    *(f"disputatio.evidence.{name}" for name in PURE_EVIDENCE),
    *(f"disputatio.market.{name}" for name in PURE_MARKET),
    "disputatio.formats",
)
# Declarations of options: they check values, and nothing that argues calls them. A path among them is looked up.
DECLARING = ("disputatio.formats.options", "disputatio.options")
PURE_STANDARD_LIBRARY = {
    "__future__",
    "bisect",
    "collections",
    "contextlib",
    "dataclasses",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "graphlib",
    "inspect",
    "itertools",
    "json",
    "math",
    "re",
    "types",
    "typing",
    "unicodedata",
}
# Libraries that compute and nothing else, by who may import them; retrieval does at its first search.
LETTERS_AND_WORDS = {"rapidfuzz", "bm25s"}
# Fetches the names of a package from its own modules, see there.
DOORS = "disputatio._lazy"
# Statistics are not written by hand; these are heavy, so only functions import them.
STATISTICS = {"arch", "krippendorff", "numpy", "scipy", "sklearn", "statsmodels"}


def layer_of(module: str) -> str:
    """The layer with the longest name that fits; the front door's own name fits itself alone."""
    fitting = [name for name in LAYERS if module == name or (name != "disputatio" and module.startswith(f"{name}."))]
    assert fitting, f"{module} has no layer: give its package a place in LAYERS"
    return max(fitting, key=len)


def test_every_layer_exists() -> None:
    assert [name for name in LAYERS if name not in modules()] == []


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_nothing_above_itself(layer: str) -> None:
    upward = sorted(
        {
            f"{module} imports {name}"
            for module in modules()
            if layer_of(module) == layer
            for name, _, _ in imported(module)
            if name.split(".")[0] == "disputatio" and RANK[layer_of(name)] > RANK[layer]
        }
    )
    assert upward == []


@pytest.mark.parametrize("package", packages())
def test_the_parts_of_a_package_import_in_no_circle(package: str) -> None:
    """Its modules and its folders, each folder as one part: imports in functions and those for type checkers count."""
    try:
        TopologicalSorter(imports_among_parts(package)).prepare()
    except CycleError as error:
        circle = error.args[1]
    else:
        circle = []
    assert circle == []


def imports_among_parts(package: str) -> dict[str, set[str]]:
    """Which parts of ``package`` each of its parts imports; what stands in its ``__init__`` is a part of the name."""
    found: dict[str, set[str]] = {}
    for module in modules():
        if (part := part_of(package, module)) is not None:
            below = {part_of(package, name) for name, _, _ in imported(module)} - {part, None}
            found.setdefault(part, set()).update(name for name in below if name is not None)
    return found


def part_of(package: str, module: str) -> str | None:
    """The part of ``package`` that ``module`` stands in; None where it stands elsewhere."""
    if module != package and not module.startswith(f"{package}."):
        return None
    return ".".join(module.split(".")[: package.count(".") + 2])


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_import_pure_things_alone(package: str) -> None:
    strange = []
    for module in modules():
        if not (module == package or module.startswith(f"{package}.")) or module in DECLARING:
            continue
        for name, _, at_top in imported(module):
            top = name.split(".")[0]
            own = any(name == pure or name.startswith(f"{pure}.") for pure in PURE)
            statistics = package == "disputatio.judging" and top in STATISTICS and not at_top
            letters = package.startswith("disputatio.evidence") and top in LETTERS_AND_WORDS
            # Nothing pure imports the indicators; only knowledge bases that are being built need arrays.
            arrays = package == "disputatio.market.indicators" and top == "numpy"
            declared = name.startswith(DECLARING)
            if not (
                own or declared or name == DOORS or top in PURE_STANDARD_LIBRARY or statistics or letters or arrays
            ):
                strange.append(f"{module} imports {name}")
    assert strange == []


def test_debates_and_knowledge_bases_import_no_outcomes():
    """Labels live where analysts cannot reach them, not even through another module of their own layer."""
    arguing = ("disputatio.market", "disputatio.formats", "disputatio.judging", "disputatio.participants")
    arguing += ("disputatio.engine", "disputatio.prompts", "disputatio.kernel", "disputatio.evidence")
    found = [
        f"{module} imports {name}"
        for module in modules()
        if module.startswith(arguing)
        for name, _, _ in imported(module)
        if name.startswith("disputatio.evaluation")
    ]
    assert found == []


def test_the_kernel_imports_nothing_of_the_package_but_itself() -> None:
    for module in modules():
        if module.startswith("disputatio.kernel"):
            for name, _, _ in imported(module):
                assert not name.startswith("disputatio.") or name.startswith("disputatio.kernel"), (module, name)


# Imported where they are first needed, so that `import disputatio` and `disputatio --help` stay fast.
HEAVY = {"alembic", "genai_prices", "json_repair", "jsonschema_rs", "openai", "psycopg"} | {
    "prompt_toolkit",
    "pydantic_ai",
    "rich",
    "sqlalchemy",
    "xllamacpp",
    *STATISTICS,
}


def loaded_by(statements: str) -> set[str]:
    """The modules that are there after ``statements`` in a process of their own."""
    script = f"import sys; {statements}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


@pytest.mark.slow
def test_importing_the_front_door_loads_no_heavy_library() -> None:
    loaded = {name.split(".")[0] for name in loaded_by("import disputatio")}
    assert "disputatio" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.slow
def test_a_debate_loads_no_other_format() -> None:
    modules_of_it = "disputatio.engine.runtime, disputatio.report.text, disputatio.formats.registry"
    loaded = loaded_by(f"import {modules_of_it}; disputatio.formats.registry.find_format('structured')")
    others = {"freeform", "panel", "review", "competition", "market", "match"}
    assert "disputatio.formats.structured" in loaded
    assert loaded.isdisjoint({f"disputatio.formats.{name}" for name in others})
    assert not [name for name in loaded if name.startswith(("disputatio.market", "disputatio.formats.turns.market"))]
