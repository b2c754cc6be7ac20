"""Prompt files are those this version was released with, or overridden in the open."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from string import Template

import pytest

import disputatio.prompts
from disputatio.errors import InvalidInputError
from disputatio.formats.registry import FORMATS, UNLISTED
from disputatio.prompts import LOCK_FILE, PromptBook, current_hashes

FOLDER = Path(disputatio.prompts.__file__).parent


def check_sentence(error: InvalidInputError) -> None:
    assert "\n" not in str(error)
    assert error.cause.endswith(".")
    assert error.next_step


def test_lock_file_holds_hashes_of_prompts_as_they_are() -> None:
    """The lock file holds the hashes of the prompts as they are."""
    locked = json.loads((FOLDER / LOCK_FILE).read_text("utf-8"))
    assert locked == current_hashes(), "run `make lock-prompts` after a change of a prompt"


def test_every_prompt_file_of_the_package_is_locked() -> None:
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.md")}
    assert files == set(current_hashes())


def test_prompts_end_in_a_line_feed_and_hide_nothing() -> None:
    from disputatio.motion import clean

    for path in FOLDER.rglob("*.md"):
        text = path.read_text("utf-8")
        assert text == clean(text), path.name
        assert text.endswith("\n"), path.name
        assert not text.endswith("\n\n"), path.name


def change_one(folder: Path) -> str:
    (folder / "structured" / "opening.md").write_text("Say anything.\n", "utf-8")
    return "structured/opening.md"


def change_one_letter(folder: Path) -> str:
    path = folder / "shared" / "data.md"
    path.write_text(path.read_text("utf-8").replace("Nothing", "Something", 1), "utf-8")
    return "shared/data.md"


def take_one_out(folder: Path) -> str:
    (folder / "freeform" / "summing.md").unlink()
    return "freeform/summing.md"


def put_one_in(folder: Path) -> str:
    (folder / "shared" / "more.md").write_text("More.\n", "utf-8")
    return "shared/more.md"


@pytest.mark.slow
@pytest.mark.parametrize("change", [change_one, change_one_letter, take_one_out, put_one_in])
def test_a_package_whose_prompts_were_changed_refuses_to_run(tmp_path: Path, change: Callable[[Path], str]) -> None:
    copy = tmp_path / "disputatio"
    shutil.copytree(FOLDER.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    name = change(copy / "prompts")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import disputatio.prompts as prompts\n"
        f"assert prompts.__file__.startswith({str(tmp_path)!r})\n"
        "from disputatio.errors import InvalidInputError\n"
        "try:\n    prompts.PromptBook()\n"
        "except InvalidInputError as error:\n    print(error.cause)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"The prompt file {name} is not the one this version was released with.\n"


def override(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def test_an_override_takes_the_place_of_one_prompt_and_shows(tmp_path: Path) -> None:
    book = PromptBook(override(tmp_path, "structured/opening.md", "You are $side. It costs $$5.\n"))
    assert book.overridden == ("structured/opening.md",)
    assert book.fill("structured/opening", {"side": "PRO"}) == "You are PRO. It costs $5."
    before, after = PromptBook().hashes("structured", small=True), book.hashes("structured", small=True)
    assert {name for name in before if before[name] != after[name]} == {"structured/opening.md"}
    assert PromptBook().overridden == (), "other runs are not touched"


def test_a_book_without_overrides_shows_the_locked_hashes() -> None:
    book = PromptBook()
    assert book.overridden == ()
    every = [book.hashes(name, small=True, tools=True) for name in (*FORMATS, *UNLISTED, "own")]
    assert {name: value for row in every for name, value in row.items()} == current_hashes()


@pytest.mark.parametrize(("name", "small"), [("structured", False), ("structured", True), ("freeform", False)])
def test_a_debate_is_bound_to_the_prompts_it_uses_alone(name: str, *, small: bool) -> None:
    folders = {row.split("/")[0] for row in PromptBook().hashes(name, small=small)}
    assert folders == {name, "shared"} | ({"small"} if small else set())


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("structured/openning.md", "You are $side.", "matches no packaged prompt"),
        ("opening.md", "You are $side.", "matches no packaged prompt"),
        ("structured/opening.md", "You are $side, aged $age.", r"has the place \$age"),
        ("structured/opening.md", "You are ${side}, aged ${age}.", r"has the place \$age"),
        ("structured/opening.md", "It costs $5.", "dollar sign"),
        ("structured/opening.md", "It costs 5 $", "dollar sign"),
        ("structured/rules.md", "You are $side.", r"has the place \$side"),
        ("structured/opening.md", b"caf\xe9", "UTF-8"),
        ("readme.txt", "nothing", r"holds no \.md file"),
    ],
)
def test_override_that_cannot_be_used_is_refused_before_debate(
    tmp_path: Path, name: str, text: str | bytes, says: str
) -> None:
    """An override that cannot be used is refused before the debate."""
    with pytest.raises(InvalidInputError, match=says) as caught:
        PromptBook(override(tmp_path, name, text))
    check_sentence(caught.value)


def test_a_folder_of_prompts_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"holds no \.md file") as caught:
        PromptBook(tmp_path / "none")
    check_sentence(caught.value)


def test_a_value_is_put_in_as_it_is_and_never_filled_itself() -> None:
    book = PromptBook()
    assert book.fill("shared/language", {"language": "$language $$ ${x}"}).endswith("$language $$ ${x}.")
    with pytest.raises(KeyError):
        book.fill("shared/language", {})
    with pytest.raises(KeyError):
        book.fill("shared/no-such-prompt", {})


def test_prompt_is_filled_as_template_of_standard_library_is() -> None:
    """A prompt is filled as a template of the standard library is."""
    book = PromptBook()
    for name in current_hashes():
        template = Template((FOLDER / name).read_text("utf-8").strip())
        values = {place: f"$$ ${{{place}}} {place}" for place in template.get_identifiers()}
        assert book.fill(name.removesuffix(".md"), values) == template.substitute(values)
