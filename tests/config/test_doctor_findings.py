"""The doctor says what is there and what is missing, from settings alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio.config import Finding, State, diagnose, resolve
from disputatio.config.doctor import is_installed, is_writable

NOTHING: frozenset[str] = frozenset()


def report(
    directory: Path,
    environ: dict[str, str] | None = None,
    modules: frozenset[str] = NOTHING,
    writable: bool = True,
    **arguments: Any,
) -> list[Finding]:
    settled = resolve(
        format_name="structured",
        seats=("pro", "judge"),
        environ=environ or {},
        directory=directory,
        arguments=make_arguments(**arguments),
    )
    return list(
        diagnose(
            settled,
            environ=environ or {},
            directory=directory,
            installed=modules.__contains__,
            writable=lambda _: writable,
        )
    )


def one(found: list[Finding], area: str, subject: str) -> Finding:
    (finding,) = [each for each in found if (each.area, each.subject) == (area, subject)]
    return finding


def test_each_seat_is_told_with_the_source_of_its_provider(tmp_path: Path):
    found = report(tmp_path, {"PRO_LLM_PROVIDER": "zhipu", "ZAI_API_KEY": "zai-key-1"})
    assert one(found, "seats", "pro").detail == "zhipu:glm-4.7 (provider from PRO_LLM_PROVIDER)"
    assert one(found, "seats", "judge").detail == "zhipu:glm-4.7 (provider from ZAI_API_KEY is set)"


def test_keys_are_told_by_name_only(tmp_path: Path):
    (tmp_path / ".env").write_text("GROQ_API_KEY=groq-secret-1\n", encoding="utf-8")
    found = report(tmp_path, {"LLM_PROVIDER": "anthropic", "OPENAI_API_KEY": "open-secret-1"})
    assert one(found, "keys", "OPENAI_API_KEY").detail == "set for openai (from OPENAI_API_KEY)"
    assert one(found, "keys", "GROQ_API_KEY").detail == "set for groq (from .env:GROQ_API_KEY)"
    missing = one(found, "keys", "judge")
    assert missing.state is State.PROBLEM
    assert missing.next_step == "Set ANTHROPIC_API_KEY or JUDGE_LLM_API_KEY in the environment or in .env."
    assert "secret" not in str(found)


def test_an_extra_is_a_problem_only_where_a_seat_needs_it(tmp_path: Path):
    environ = {"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "ant-key-1"}
    without = report(tmp_path, environ)
    assert one(without, "extras", "anthropic").state is State.PROBLEM
    assert one(without, "extras", "anthropic").next_step == "Run: pip install 'disputatio[anthropic]'"
    assert one(without, "extras", "google").state is State.ABSENT
    installed = report(tmp_path, environ, modules=frozenset({"anthropic", "google.genai"}))
    assert one(installed, "extras", "anthropic").state is State.FINE
    assert one(installed, "extras", "google").state is State.FINE


def test_a_hub_model_needs_no_more_than_an_embedded_one(tmp_path: Path):
    found = report(tmp_path, seat=("all=hf:a/b/c.gguf",), store="postgresql://host/debates")
    for extra in ("embedded", "postgres"):
        assert one(found, "extras", extra).state is State.PROBLEM
    plain = report(tmp_path)
    assert one(plain, "extras", "postgres").state is State.ABSENT


def test_the_extra_of_a_fallback_is_needed_too(tmp_path: Path):
    found = report(tmp_path, {"LLM_PROVIDER": "ollama", "LLM_MODEL": "m", "LLM_FALLBACK": "groq"})
    assert one(found, "extras", "groq").state is State.PROBLEM
    assert one(found, "seats", "pro/fallback").detail.startswith("groq:openai/gpt-oss-120b")
    assert one(found, "keys", "pro/fallback").state is State.PROBLEM


@pytest.mark.parametrize(("mode", "told"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_store_that_others_may_open_is_told_of(tmp_path: Path, mode: int, told: bool):
    store = tmp_path / "here.sqlite"
    store.touch()
    store.chmod(mode)
    found = one(report(tmp_path, store=str(store)), "store", "store")
    assert found.state is State.FINE
    assert (f"chmod 600 {store}" in found.detail) is told


def test_a_store_that_cannot_be_written_is_a_problem(tmp_path: Path):
    good = one(report(tmp_path, store="here.sqlite"), "store", "store")
    assert good.state is State.FINE
    assert "here.sqlite (from --store); writable" in good.detail
    bad = one(report(tmp_path, writable=False), "store", "store")
    assert bad.state is State.PROBLEM
    assert "--store" in bad.next_step
    assert one(report(tmp_path, store="sqlite://"), "store", "store").state is State.PROBLEM


def test_what_was_set_is_told_with_its_source_and_value(tmp_path: Path):
    found = report(
        tmp_path,
        {"LLM_TEMPERATURE": "0.5"},
        budget_usd="0.25",
        set=("criteria.logic=1", "limits.max_tokens.closing=300"),
    )
    assert one(found, "settings", "budget.usd").detail == "0.25 (from --budget-usd)"
    assert one(found, "settings", "seats.pro.temperature").detail == "0.5 (from LLM_TEMPERATURE)"
    assert one(found, "settings", "criteria.logic").detail == "1 (from --set criteria.logic=...)"
    closing = one(found, "settings", "limits.max_tokens.closing")
    assert closing.detail == "300 (from --set limits.max_tokens.closing=...)"
    assert not [each for each in found if each.subject == "language"]


def test_notes_are_problems(tmp_path: Path):
    found = report(tmp_path, {"LLM_MODLE": "m"})
    assert [each.state for each in found if each.area == "notes"] == [State.PROBLEM]


def test_installed_is_judged_without_importing():
    assert is_installed("pydantic_ai")
    assert not is_installed("no_such_module_here")
    assert not is_installed("no_such_package_here.inside")


def test_writable_is_judged_by_the_nearest_folder(tmp_path: Path):
    assert is_writable(tmp_path / "new" / "folders" / "debates.sqlite")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert is_writable(tmp_path / "file")
    assert not is_writable(tmp_path / "file" / "debates.sqlite")
    assert not is_writable(tmp_path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_locked_folder_is_not_writable(tmp_path: Path):
    tmp_path.chmod(0o500)
    assert not is_writable(tmp_path / "debates.sqlite")
    tmp_path.chmod(0o700)
