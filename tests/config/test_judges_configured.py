"""How many judges there are, and how they judge, from every place where it can be said."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import make_rules
from disputatio.errors import InvalidInputError
from disputatio.formats.registry import find_format
from disputatio.judging.panel_verdict import PanelMethod


def settings(
    directory: Path, *, form: str = "structured", environ: dict[str, str] | None = None, file: str = "", **given: Any
) -> Settings:
    if file:
        (directory / "disputatio.toml").write_text(file, "utf-8")
    chosen = find_format(form)
    return resolve(
        format_name=form,
        seats=tuple(chosen.seats),
        environ=environ or {},
        directory=directory,
        arguments=make_arguments(**given),
        options=format_scope(chosen),
    )


def judges(found: Settings) -> list[str]:
    return [seat for seat in found.seats if seat.startswith("judge")]


THREE = ["judge", "judge_2", "judge_3"]


@pytest.mark.parametrize(
    "said",
    [
        {"judges": "3"},
        {"environ": {"DISPUTATIO_JUDGES": "3"}},
        {"file": "judges = 3"},
        {"seat": ("judge_3=ollama:fake",)},
        {"environ": {"JUDGE_3_LLM_PROVIDER": "embedded"}},
        {"file": 'seats.judge_3 = "embedded"'},
        {"set": ("seats.judge_3.temperature=0.5",)},
        {"judges": "3", "environ": {"DISPUTATIO_JUDGES": "5"}},
        {"judges": "3", "file": "judges = 1"},
        {"judges": "3", "environ": {"JUDGE_7_LLM_PROVIDER": "embedded"}},
        {"seat": ("judge_3=ollama:fake",), "environ": {"DISPUTATIO_JUDGES": "2"}},
    ],
)
def test_three_judges_can_be_asked_for_everywhere(tmp_path: Path, said: dict[str, Any]) -> None:
    """Three judges can be asked for everywhere and naming the third brings the second."""
    assert judges(settings(tmp_path, **said)) == THREE
    assert list(settings(tmp_path, **said).seats)[:2] == ["pro", "con"]


def test_without_a_word_there_is_one_judge_who_judges_once(tmp_path: Path) -> None:
    found = settings(tmp_path)
    assert judges(found) == ["judge"]
    bench = make_rules(find_format("structured"), found).bench
    assert (bench.both_orders, bench.anonymous, bench.retest, bench.method) == (False, False, False, PanelMethod.MEAN)


def test_what_is_said_of_judge_holds_for_every_judge(tmp_path: Path) -> None:
    """What is said of judge holds for every judge and their own wins."""
    environ = {"JUDGE_LLM_TEMPERATURE": "0.3", "JUDGE_2_LLM_TEMPERATURE": "0.9"}
    found = settings(tmp_path, judges="3", environ=environ)
    assert [found.seats[judge].temperature for judge in THREE] == [0.3, 0.9, 0.3]


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ({"judges": "0"}, "judges is '0'"),
        ({"judges": "10"}, "judges is '10'"),
        ({"judges": "2", "seat": ("judge_4=embedded",)}, "judge_4"),
        ({"seat": ("judge_10=embedded",)}, "judge_10"),
        ({"form": "freeform", "judges": "2"}, "There cannot be 2 seats called judge"),
        ({"panel_method": "average"}, "judging.method"),
        ({"set": ("judging.weights.bailiff=1",)}, "bailiff"),
        ({"set": ("judging.dead_zone=-1",)}, "dead_zone"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, said: dict[str, Any], cause: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        settings(tmp_path, **said)
    assert cause in refused.value.cause
    assert refused.value.next_step


def test_a_file_may_serve_formats_with_one_judge(tmp_path: Path) -> None:
    """A file may serve formats with one judge and with several."""
    file = 'judges = 3\n[judging]\nboth_orders = true\n[seats]\njudge_2 = "embedded"\n'
    assert judges(settings(tmp_path, form="freeform", file=file)) == ["judge"]
    make_rules(find_format("freeform"), settings(tmp_path, form="freeform", file=file))
    assert judges(settings(tmp_path, file=file)) == THREE


def test_how_they_judge_is_read_from_file_environment(tmp_path: Path) -> None:
    """How they judge is read from file environment and command line."""
    found = settings(
        tmp_path,
        file='[judging]\ndead_zone = 0.5\nmethod = "median"\n[judging.weights]\njudge = 2\njudge_2 = 0.5\n',
        environ={"DISPUTATIO_BOTH_ORDERS": "yes", "DISPUTATIO_PANEL_METHOD": "weighted"},
        judges="2",
        retest=True,
    ).judging
    assert (found.both_orders, found.retest, found.anonymous, found.method) == (True, True, False, "weighted")
    assert found.dead_zone == Decimal("0.5")
    assert found.weights == {"judge": Decimal(2), "judge_2": Decimal("0.5")}
