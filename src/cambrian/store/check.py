"""Finds damage in results directories."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cambrian.store import reading, sums
from cambrian.store.reading import Damaged
from cambrian.store.results import NO_STUDY, PAGE_COLUMNS, Results, TrialResult
from cambrian.trace import packets

#: levels of folders between the folder of all results and a study's: results/SUITE/CONTESTANT/PART
_DEEPEST = 3
#: where mending moves what a run cannot make again for certain
DAMAGED = "damaged"
#: each of them says that a folder's trials are of a study, which may be lost
_OF_A_STUDY = ("study.json", f"{DAMAGED}/study.json", "report")


def quick(trial: TrialResult) -> list[Damaged]:
    """The damage that :meth:`TrialResult.check` finds: none, or one."""
    return list(_tried(trial.check))


def thorough(trial: TrialResult) -> list[Damaged]:
    """All damage of a trial: reads every file and computes every hash; one entry for each file."""
    found = [*_irregular(trial), *quick(trial), *_tried(lambda: _packets(trial))]
    for name in ("transport", *PAGE_COLUMNS):
        if (trial.folder / f"{name}.parquet").exists():
            found += _tried(lambda name=name: getattr(trial, name))  # type: ignore[misc]
    if sums.is_there(trial.folder):
        found += sums.damage(trial.folder, trial.store)
    # what is read first says most precisely what is wrong
    return list({error.path: error for error in reversed(found)}.values())[::-1]


def _tried(read: Callable[[], object]) -> Iterator[Damaged]:
    try:
        read()
    except Damaged as error:
        yield error


def _packets(trial: TrialResult) -> None:
    # without a manifest there is nothing to compare with
    if trial.manifest.get("packets_sha256") not in (None, packets.fingerprint(trial.packets)):
        why = "its packets differ from packets_sha256 in manifest.json"
        raise Damaged(trial.folder / "packets.parquet", why, trial.store)


def _irregular(trial: TrialResult) -> Iterator[Damaged]:
    """Entries that are neither files nor folders: nobody can read them safely."""
    for inside, folders, files in os.walk(trial.folder):
        for name in (*folders, *files):
            path = Path(inside, name)
            mode = path.lstat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                yield Damaged(path, f"is {reading.kind_of(mode)}, not a file", trial.store)


def stores(folder: Path, deepest: int = _DEEPEST) -> Iterator[Results]:
    """The results directories in ``folder``: itself, or those below it, such as a suite's parts."""
    if os.path.lexists(folder / "study.json") or (folder / "trials").is_dir():
        yield Results(folder)
    elif deepest and folder.is_dir():
        for inside in sorted(folder.iterdir()):
            yield from stores(inside, deepest - 1)


def require_study(folder: Path) -> None:
    """Check that ``folder`` has the results of one study.

    Raises:
        FileNotFoundError: it has none, or those of several, as a suite's folder has.
        Damaged: its study.json cannot be used.
    """
    inside = [] if os.path.lexists(folder / "study.json") else [one.folder for one in stores(folder)]
    if inside and inside != [folder]:
        raise FileNotFoundError(
            f"{folder} has the results of {len(inside)} studies inside; remedy: give the folder of one, "
            f"such as {inside[0]}"
        )
    Results(folder).study()


def note_no_study(results: Results, command: str) -> None:
    """Say beside the trials of a command that they are of no study, so that nobody misses ``study.json``."""
    if not _of_a_study(results):
        text = f"These trials are of `{command}` and of no study, so there is no study.json.\n"
        (results.folder / NO_STUDY).write_text(text)


def is_of_no_study(results: Results) -> bool:
    """Do the trials need no ``study.json``?"""
    return os.path.lexists(results.folder / NO_STUDY) and not _of_a_study(results)


def _of_a_study(results: Results) -> bool:
    return any(os.path.lexists(results.folder / name) for name in _OF_A_STUDY)


@contextmanager
def blamed(folder: Path) -> Iterator[None]:
    """If the block fails unexpectedly and ``folder`` has damaged results, raise their :class:`Damaged`."""
    try:
        yield
    except (Damaged, OSError):
        raise
    except Exception as error:
        blame(folder, error)
        raise


def blame(folder: Path, error: Exception) -> None:
    """Raise the first damage in ``folder``, as the cause of ``error``; return if there is none.

    Files may have the right form and wrong content, such as packets of a flow that does not exist.
    What a computation does with them cannot be foreseen; their hashes tell.
    """
    for results in stores(folder):
        for place in sorted(results.trials_folder.glob("[!.]*/verdict.json")):
            for found in thorough(results.trial(place.parent.name)):
                raise found from error
