"""Motions, evidence, settings and ceilings that cannot be used: refused before anything is asked or spent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_commands import CONTROL, Call, is_clear

from disputatio.testing import FakeProvider

pytestmark = pytest.mark.slow

MOTION = "We should act"

MOTIONS = {
    "empty": (b"", "is empty"),
    "blanks": (b" \t\r\n ", "is empty"),
    "no letter": (b"?! ...", "is empty"),
    "only hidden characters": ("\u200b\u2066\u202e".encode(), "is empty"),
    "a megabyte": (b"why " * 250_000, "too long: 1,000,000 bytes"),
    "two megabytes": (b"why " * 500_000, "too long"),
    "a page too many": (b"why " * 2_000, "too long: 7,999 characters"),
    "binary": (bytes(range(256)) * 20, "is not text"),
    "another encoding": ("Grüße?".encode("utf-16"), "is not text"),
    "nothing but zeros": (b"\0" * 900, "looks like binary"),
}


@pytest.mark.parametrize("case", MOTIONS)
def test_a_motion_that_is_none_is_refused_from_standard_input(
    call: Call, case: str, seated: tuple[str, ...], provider: FakeProvider
) -> None:
    raw, cause = MOTIONS[case]
    ended = call("debate", "-", *seated, typed=raw)
    assert ended.code == 2
    assert cause in is_clear(ended.err)
    assert provider.arrived.count == provider.models_asked.count == 0


@pytest.mark.parametrize("case", ["empty", "blanks", "no letter", "only hidden characters", "a megabyte"])
def test_a_motion_that_is_none_is_refused_as_an_argument(call: Call, case: str, seated: tuple[str, ...]) -> None:
    raw, cause = MOTIONS[case]
    ended = call("debate", raw.decode(), *seated)
    assert ended.code == 2
    assert cause.partition(":")[0] in is_clear(ended.err)


def test_bytes_that_are_no_text_are_refused_as_an_argument_too(call: Call, seated: tuple[str, ...]) -> None:
    ended = call("debate", os.fsdecode(b"caf\xe9 is good"), *seated)
    assert ended.code == 2
    assert "cannot be read as UTF-8" in is_clear(ended.err)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Is \x1b[31mred\x1b[0m \x1b]8;;http://e\x1b\\it\x1b]8;;\x1b\\ better?", "Is [31mred[0m ]8;;http://e\\it"),
        ("[bold]Is this[/bold] :smile: <script>alert(1)</script>?", "[bold]Is this[/bold] :smile: <script>"),
        ("Is \u202ethis\u2066 bad\u200bly hid\u00adden?", "Is this badly hidden?"),
        ("--is this a motion?", "--is this a motion?"),
        ("Grüße, 我们应该行动吗？ 👩‍🔬", "Grüße, 我们应该行动吗？ 👩‍🔬"),
    ],
)
def test_hidden_parts_of_a_motion_are_removed(call: Call, seated: tuple[str, ...], given: str, shown: str) -> None:
    ended = call("debate", *seated, "--dry-run", "--", given)
    assert ended.code == 0
    assert shown in ended.out
    assert not CONTROL.search(ended.said)


CEILINGS = {
    "--budget-usd": ["", "abc", "-1", "0", "nan", "inf", "1e400", "$5", "0,50"],
    "--budget-tokens": ["", "1.5", "-3", "0", "9" * 4_000, "many"],
    "--max-calls": ["", "x", "0", "-1"],
    "--seed": ["abc", "-1", "1.5", str(2**40)],
}


@pytest.mark.parametrize(("option", "value"), [(name, value) for name, row in CEILINGS.items() for value in row])
def test_a_number_that_is_none_is_refused_by_its_option(
    call: Call, seated: tuple[str, ...], option: str, value: str
) -> None:
    ended = call("debate", MOTION, *seated, option, value)
    assert ended.code == 2
    said = is_clear(ended.err)
    assert option in said
    assert "Allowed is" in said
    assert len(said) < 400


def test_a_ceiling_in_money_needs_a_price(call: Call, seated: tuple[str, ...], provider: FakeProvider) -> None:
    ended = call("debate", MOTION, *seated, "--budget-usd", "0.50")
    assert ended.code == 2
    assert "--budget-tokens" in is_clear(ended.err)
    assert provider.arrived.count == 0


SETTINGS = {
    "no such key": ("limits.closing_wrods=3", "Did you mean closing_words?"),
    "no value": ("limits.closing_words", "KEY=VALUE"),
    "no number": ("limits.closing_words=many", "Allowed is a whole number"),
    "no time": ("seats.all.timeout=0", "Allowed is seconds"),
    "a table": ("limits=1", "is not a key with a value"),
    "unreadable": ("[[=1", "cannot be read"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_a_setting_that_is_none_is_refused(call: Call, seated: tuple[str, ...], case: str) -> None:
    given, then = SETTINGS[case]
    ended = call("debate", MOTION, *seated, "--set", given)
    assert ended.code == 2
    assert then in is_clear(ended.err)


FILES = {
    "missing.toml": (None, "There is no configuration file"),
    "notes.ini": (b"", "does not have the ending of TOML or YAML"),
    "half.toml": (b"x = [", "is not valid TOML"),
    "unknown.toml": (b"frobnicate = 1", "There is no key frobnicate"),
    "half.yaml": (b"a: b: c", "is not valid YAML"),
    "list.yaml": (b"- 1\n- 2", "has a list"),
    "code.yaml": (b"!!python/object/apply:os.system ['echo hi']", "is not valid YAML"),
    "binary.toml": (b"\xff\xfe\x00", "is not UTF-8"),
    "key.toml": (b"[seats.pro]\napi_key = 'sk-abcdefghijklmnop'", "would put a key where it gets copied"),
    "twice.toml": (b"language = 'German'\nlanguage = 'French'", "is not valid TOML"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_bad_configuration_file_is_located(call: Call, bare: Path, seated: tuple[str, ...], name: str) -> None:
    content, cause = FILES[name]
    if content is not None:
        (bare / name).write_bytes(content)
    ended = call("debate", MOTION, *seated, "--config", name)
    assert ended.code == 2
    said = is_clear(ended.err)
    assert cause in said
    assert name.partition(".")[0] in said
    assert "sk-abc" not in said


def test_a_binary_env_file_is_told(call: Call, bare: Path, seated: tuple[str, ...]) -> None:
    (bare / ".env").write_bytes(bytes(range(128, 256)))
    ended = call("debate", MOTION, *seated)
    assert ended.code == 2
    assert ".env in the working directory is not UTF-8" in is_clear(ended.err)


def test_what_an_env_file_says_in_vain_is_told_and_nothing_more(
    call: Call, bare: Path, seated: tuple[str, ...]
) -> None:
    (bare / ".env").write_text("this is no assignment\nLLM_MODLE=gpt-5\nPATH_OF_SOMETHING=1\n")
    ended = call("debate", MOTION, *seated, "--dry-run")
    assert ended.code == 0
    assert "Note: Line 1 of .env is not an assignment" in ended.err
    assert "Note: .env:LLM_MODLE is not a setting and was not used. Did you mean LLM_MODE or LLM_MODEL?" in ended.err
    assert "PATH_OF" not in ended.err


EVIDENCE = {
    "missing": (None, "cannot be read: no such file"),
    "empty": (b" \n", "has no text"),
    "binary": (bytes(range(256)), "is not text"),
    "zeros": (b"\0" * 100, "looks like binary"),
    "long": (b"word " * 100_000, "too long"),
    "endless": ("/dev/zero", "too large"),
    "folder": (".", "cannot be read: is a directory"),
}


@pytest.mark.parametrize("case", EVIDENCE)
def test_evidence_that_cannot_be_used_is_told(call: Call, bare: Path, seated: tuple[str, ...], case: str) -> None:
    content, cause = EVIDENCE[case]
    path = bare / "source.txt"
    if isinstance(content, bytes):
        path.write_bytes(content)
    ended = call("debate", MOTION, *seated, "--evidence", content if isinstance(content, str) else str(path))
    assert ended.code == 2
    assert cause in is_clear(ended.err)


@pytest.mark.parametrize("language", ["", "x" * 100, "\x1b[31m", "\u202e"])
def test_a_language_that_is_none_is_refused(call: Call, seated: tuple[str, ...], language: str) -> None:
    ended = call("debate", MOTION, *seated, "--language", language)
    assert ended.code == 2
    assert "Allowed is the name or tag of a language" in is_clear(ended.err)


@pytest.mark.parametrize("language", ["German", "de", "Chinese", "zh-Hans", "日本語"])
def test_a_language_is_taken_by_name_or_tag(call: Call, seated: tuple[str, ...], language: str) -> None:
    ended = call("debate", "Wir sollten handeln, 我们应该行动", *seated, "--language", language, "--dry-run")
    assert (ended.code, ended.err) == (0, "")
