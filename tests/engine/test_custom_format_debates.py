"""Debates by a user's own rules: their record, resuming, and how their end is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import disputatio
from disputatio.errors import ExitCode, InvalidInputError, ResumeMismatchError
from disputatio.record.verified import read_verified
from disputatio.testing import InstanceClient

RULES = '''
from disputatio.formats import choice, text, together


def rules(motion, pro, con, judge, *, words=40):
    """Two speeches and a ruling."""
    yield from together(pro.ask("Argue for it.", speech=text(words)), con.ask("Argue against it.", speech=text(words)))
    ruling = yield from judge.ask("Who argued better?", phase="ruling", winner=choice("pro", "con", "draw"))
    return {"winner": ruling.winner}
'''
SEATS = {"all": "ollama:fake"}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("mine.py")
    path.write_text(RULES)
    return path


async def held(store: disputatio.MemoryStore, **given: object) -> disputatio.Debate:
    given.setdefault("format", "mine.py:rules")
    return await disputatio.debate(
        "Be it so", seats=SEATS, store=store, client_factory=lambda seating, key: InstanceClient(), **given
    )


async def test_the_record_keeps_the_text_of_the_file_and_verifies(file: Path) -> None:
    store = disputatio.MemoryStore()
    found = await held(store)
    opened = found.events[0]
    assert (opened.format, opened.rules["file"], opened.rules["function"]) == ("own", "mine.py", "rules")
    assert found.texts[opened.rules["sha256"]] == RULES
    assert read_verified(store, found.id)
    assert found.outcome["winner"] in {"pro", "con", "draw"}
    assert found.exit_code is ExitCode.COMPLETE
    for shown in (found.text(), found.markdown(), found.html()):
        assert "mine.py:rules" in shown
    assert found.as_json()["verdict"]


async def test_a_debate_that_stopped_goes(file: Path) -> None:
    """A debate that stopped goes on only with the file it began with."""
    store = disputatio.MemoryStore()
    whole = await held(disputatio.MemoryStore())
    cut = await held(store, budget=disputatio.Budget(calls=1))
    assert cut.status == "DEBATE_TRUNCATED"

    def again(**given: object) -> object:
        return disputatio.resume(
            cut.id,
            store=store,
            budget=disputatio.Budget(calls=50),
            client_factory=lambda seating, key: InstanceClient(),
            **given,
        )

    file.write_text(RULES + "# one more line\n")
    with pytest.raises(ResumeMismatchError, match="file was changed"):
        await again()
    file.rename("moved.py")
    with pytest.raises(ResumeMismatchError, match="cannot be read"):
        await again()
    Path("kept.py").write_text(RULES)
    done = await again(format="kept.py:rules")
    assert done.status == "COMPLETE"
    assert done.outcome == whole.outcome


async def test_rules_that_fail_leave_a_record_that_says_so(file: Path) -> None:
    file.write_text(RULES.replace('return {"winner": ruling.winner}', "return {}[0]"))
    store = disputatio.MemoryStore()
    found = await held(store)
    assert found.status == "FAILED"
    assert found.exit_code is ExitCode.INVALID_INPUT
    assert found.outcome["fault"] == "mine.py, line 9: KeyError: 0."
    assert found.outcome["fault"].rstrip(".") in found.text()
    assert len([row for row in found.events if type(row).__name__ == "TurnTaken"]) == 3
    assert (await disputatio.resume(found.id, store=store)).outcome == found.outcome, (
        "it fails again, and nobody is asked"
    )


async def test_settings_of_the_function_are_settings_of_the_debate(file: Path) -> None:
    found = await held(disputatio.MemoryStore(), config={"rules": {"words": 12}})
    assert found.events[0].rules["words"] == 12
    with pytest.raises(InvalidInputError, match=r"rules\.wrds"):
        await held(disputatio.MemoryStore(), config={"rules": {"wrds": 12}})


async def test_a_match_takes_topic_and_personalities_from_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await disputatio.debate(
        disputatio.topics()["exams"],
        format=disputatio.Competition(
            personality={"pro": "calm", "con_2": "none"},
            personalities={"calm": "You never raise your voice."},
            rules={"free_speeches": 1},
        ),
        seats=SEATS,
        store=disputatio.MemoryStore(),
        client_factory=lambda seating, key: InstanceClient(),
    )
    cast = found.events[0].rules["cast"]["personalities"]
    assert cast["pro_3"] == {"name": "calm", "about": "You never raise your voice."}
    assert "con_2" not in cast
    assert found.events[0].motion["text"].startswith("Final examinations")
    with pytest.raises(InvalidInputError, match="no motion"):
        await disputatio.debate()
    with pytest.raises(InvalidInputError, match="personalities"):
        await disputatio.debate("Be it so", seats=SEATS, config={"personalities": "calm.toml"})
