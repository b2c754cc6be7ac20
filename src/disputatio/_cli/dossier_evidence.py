"""The measured evidence of a dossier: kept beside the store by ``eval --golden``, found there by ``dossier``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from disputatio._cli.streams import tell
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio.kernel import JsonObject
    from disputatio.report.dossier import Performance, Surroundings

_SQLITE = "sqlite:///"


def beside(store: str, task_type: str) -> Path | None:
    """Where the report on the golden set of ``task_type`` is kept; None for a store that is no file."""
    return Path(store.removeprefix(_SQLITE)).parent / f"golden-{task_type}.json" if store.startswith(_SQLITE) else None


def keep_for_dossiers(store: str, task_type: str, body: JsonObject) -> None:
    """Keep the report of a finished evaluation on a golden set; a harness test never takes the place of evidence."""
    from disputatio.report.printing import printable_json

    place = beside(store, task_type)
    if place is None or body["stopped"]:
        return
    if body["harness_test"] and (kept := _kept(place)) is not None and not kept.harness:
        return
    try:
        place.write_text(printable_json(body) + "\n", "utf-8")
    except OSError as error:
        tell(f"The report could not be kept for dossiers: {(error.strerror or 'unknown cause').lower()}.")
        return
    tell(f"Kept for dossiers of the task type {task_type}: {place}.")


def with_evidence(around: Surroundings, given: Path | None, store: str) -> Surroundings:
    """What a dossier needs, with the evaluation that was given, or that lies beside the store.

    Raises:
        InvalidInputError: the given one cannot be read, or is on questions of another kind.
    """
    from disputatio.evaluation.questions.golden import GOLDEN

    kind = around.task_type
    golden = GOLDEN.get(kind)
    if given is not None:
        found: Performance | None = _read(given)
        if found is not None and found.kind != kind:
            raise InvalidInputError(
                f"{given} is about questions of the kind {found.kind[:40]}, and this debate is of the kind {kind}.",
                "Give an evaluation on questions of that kind.",
            )
    else:
        place = beside(store, kind) if golden is not None else None
        found = _kept(place) if place is not None else None
    folder = "" if golden is None or golden.packaged else " --data FOLDER"
    command = "" if golden is None else f"disputatio eval --golden {kind}{folder} --compare review,single,vote"
    return replace(around, measured=found, measure=command)


def _kept(place: Path) -> Performance | None:
    return _read(place) if place.is_file() else None


def _read(path: Path) -> Performance:
    from disputatio.report.dossier import read_performance

    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path} is not UTF-8 text.", "Give the report.json of an evaluation.") from None
    except OSError as error:
        reason = (error.strerror or "unknown cause").lower()
        raise InvalidInputError(f"{path} cannot be read: {reason}.", "Give the report.json of an evaluation.") from None
    return read_performance(text, str(path))
