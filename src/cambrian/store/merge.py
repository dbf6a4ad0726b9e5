"""Joins the results of a study's shards (``cambrian run --shard I/N``) into one directory.

The result is what one run of the whole study would have left: the same trials with the same packets, and the
same ``study.json``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cambrian.store import check, commands, reading, writing
from cambrian.store.results import Results
from cambrian.store.shapes import SuiteRecord
from cambrian.suites.model import RECORD

#: keys of ``study.json`` that the shards of one study share, beside the command
_SHARED = ("cambrian", "study", "kernel", "shards")


class Mismatch(ValueError):
    """Results that do not belong together; the text says which and why."""


def places(shards: Sequence[Path]) -> list[Path]:
    """The studies below the shards' folders, relative to them: ``.`` for a single study's results."""
    return sorted({path.parent for shard in shards for path in _files(shard, "study.json")})


def _files(folder: Path, name: str) -> Iterator[Path]:
    """The files of this name at any depth, relative to ``folder``, without what the doctor moved away."""
    seen: set[Path] = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        if (real := Path(place).resolve()) in seen:
            # a link to a folder above
            folders.clear()
            continue
        seen.add(real)
        folders[:] = [one for one in folders if one != check.DAMAGED]
        if name in files:
            yield Path(place, name).relative_to(folder)


def count(shards: Sequence[Results]) -> int:
    """Number of trials of one study's shards; several folders of one shard count once."""
    records = {record.get("shard"): record for record in (shard.study() for shard in shards)}
    return sum(len(_trials(record)) for record in records.values())


def merge(shards: Sequence[Results], out: Results, tell: Callable[[], None]) -> list[str]:
    """Join one study's shards into ``out``; ``tell`` is called after each trial.

    A trial that ``out`` has is kept if its packets are the same. Several folders may be of one shard, for
    example of a run that broke off and of the one that followed it: all their results are joined.

    Returns:
        The trials that are listed in ``study.json`` and have no results: their run broke off.

    Raises:
        Mismatch: two results of one trial differ.
        Damaged: a shard has a damaged file.
        InUse: another run uses ``out``.
        Errors of :func:`checked`.
    """
    records, joined = checked(shards, out)
    absent = []
    with out.alone():
        out.sweep()
        for folders in records.values():
            for name in _trials(folders[0][1]):
                for shard, _ in folders:
                    if shard.has(name):
                        _copy(shard, out, name)
                if not out.has(name):
                    absent.append(name)
                tell()
        out.write_study(joined)
    return list(dict.fromkeys(absent))


def checked(
    shards: Sequence[Results], out: Results
) -> tuple[dict[int, list[tuple[Results, dict[str, Any]]]], dict[str, Any]]:
    """One study's shards by their number, each with its ``study.json``, and the joined ``study.json``.

    Raises:
        Mismatch: a shard is missing or of another run, two folders of one shard list different trials, or
            ``out`` has a shard, another study or trials that would no longer be listed.
        Damaged: a ``study.json`` is damaged.
    """
    records: dict[int, list[tuple[Results, dict[str, Any]]]] = {}
    for number, shard, record in map(_numbered, shards):
        records.setdefault(number, []).append((shard, record))
    (_, first), *_ = next(iter(records.values()))
    for number, folders in records.items():
        for shard, record in folders:
            differ = [key for key in _SHARED if record.get(key) != first.get(key)]
            differ += ["command"] if _asked(record) != _asked(first) else []
            if differ:
                raise Mismatch(f"{shard.folder}/study.json: {differ[0]} is not that of the other shards")
            if record["groups"] != folders[0][1]["groups"]:
                raise Mismatch(
                    f"{folders[0][0].folder} and {shard.folder} are both of shard "
                    f"{number}/{first['shards']}, "
                    "but list different trials or states of the stopping rule; remedy: name only one of them"
                )
    missing = [number for number in range(1, first["shards"] + 1) if number not in records]
    if missing:
        names = ", ".join(f"{number}/{first['shards']}" for number in missing)
        raise Mismatch(f"no results of shard {names}; remedy: run them (--shard), or name their folders too")
    joined = _joined([records[number][0][1] for number in sorted(records)])
    _check_out(out, joined)
    return records, joined


def _numbered(shard: Results) -> tuple[int, Results, dict[str, Any]]:
    record = shard.study()
    if "shard" not in record:
        raise Mismatch(
            f"{shard.folder}: these results are of a whole run, not of a shard; "
            "remedy: give results of `cambrian run --shard I/N`"
        )
    return record["shard"], shard, record


def _asked(record: dict[str, Any]) -> list[str]:
    """The words of the command that choose trials: not the study's path, and not how its code is trusted."""
    words = commands.words(record["command"])
    if words[:2] == ["cambrian", "run"]:
        # the study itself is compared
        del words[2:3]
    return [word for word in words if word != "--trust"]


def _check_out(out: Results, joined: dict[str, Any]) -> None:
    """Would the joined ``study.json`` replace one that it does not contain?"""
    try:
        there = out.study()
    except (FileNotFoundError, reading.Damaged):
        return
    held = f"{out.folder} has results of "
    if "shard" in there:
        raise Mismatch(f"{held}a shard, which merge keeps; remedy: use another folder (--out)")
    if there["study"]["name"] != joined["study"]["name"]:
        raise Mismatch(f"{held}another study, {there['study']['name']}; remedy: use another folder (--out)")

    lost = sum(out.has(name) for name in set(_trials(there)) - set(_trials(joined)))
    if lost:
        trials = "1 trial" if lost == 1 else f"{lost} trials"
        raise Mismatch(
            f"{held}{trials} that the shards do not list (of other seeds or groups, or of another version "
            "of the study, Cambrian, a stack or the kernel); remedy: use another folder (--out)"
        )


def _trials(record: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(name for group in record["groups"] for name in group["trials"]))


def _copy(shard: Results, out: Results, name: str) -> None:
    trial = shard.trial(name)
    for damage in check.thorough(trial):
        raise damage
    if out.has(name):
        mine, theirs = (one.manifest["packets_sha256"] for one in (out.checked(name), trial))
        if mine != theirs:
            raise Mismatch(
                f"{trial.folder} and {out.trial(name).folder} are of the same trial, but their packets "
                "differ; remedy: compare the machines with `cambrian selftest`"
            )
        return
    with out.new_trial(name) as folder:
        shutil.copytree(trial.folder, folder, dirs_exist_ok=True)


def _joined(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """``study.json`` of the whole: shard i of n has the groups i, i + n, i + 2n…"""
    groups = []
    for position in range(max(len(record["groups"]) for record in records)):
        groups += [record["groups"][position] for record in records if position < len(record["groups"])]
    families: dict[str, Any] = {}
    for record in records:
        families |= record.get("families", {})
    whole = {key: value for key, value in records[0].items() if key not in ("shard", "shards")}
    return {**whole, "families": dict(sorted(families.items())), "groups": groups}


def copy_suites(shards: Sequence[Path], out: Path) -> None:
    """Copy the records of suites (``suite.json``), which all shards of a suite have unless it was damaged."""
    found = {path: shard for shard in reversed(shards) for path in _files(shard, RECORD)}
    for inside, folder in found.items():
        source, target = folder / inside, out / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        writing.write_json(target, reading.json_file(source, SuiteRecord, source.parent))
