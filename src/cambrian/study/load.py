"""TOML text → :class:`~cambrian.study.model.Study`, or one clear :class:`StudyError`.

The fault reported is the first in the file. Rules that need a whole, valid study
(names that must differ, patterns that must match) are checked after the rest.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from cambrian.study import hints
from cambrian.study.errors import StudyError
from cambrian.study.explain import build, explain
from cambrian.study.faults import Faults
from cambrian.study.model import Study
from cambrian.study.positions import Positions
from cambrian.study.reference import ReferenceOf
from cambrian.study.rules import ReceiverProblem, check_receivers, check_whole
from cambrian.study.tables import (
    HEADING_KEYS,
    SINGLE,
    TABLE_KEYS,
    Catalogue,
    read_contestants,
    read_flows,
    read_lineups,
    read_networks,
    read_page_load,
    read_profiles,
    read_stopping,
)

_SYNTAX_REMEDIES = {
    "Invalid value": 'text stands in quotes (queue = "codel"), a number without (rtt_ms = 50)',
    "Expected '=' after a key": "write key = value",
    "Expected newline or end of document": "one key = value a line; commas between the elements of a list",
    "Cannot overwrite": "give each key once; a further network starts with its own [[network]] line",
    "Cannot declare": "give each table once; those that repeat have double brackets: [[network]]",
    "Unclosed array": "close the list with ]",
    "Unclosed inline table": "close the table with }",
    "Illegal character '\\n'": "close the text with a quote on the same line",
}


def load_study(
    path: str | FilePath,
    catalogue: Catalogue,
    reference_of: ReferenceOf | None = None,
    receiver_problem: ReceiverProblem | None = None,
) -> Study:
    """Read the study at ``path``.

    ``catalogue`` maps each known stack to its CCAs. With ``reference_of``, a
    contestant without a reference is an error in a ``versus-reference`` study; with
    ``receiver_problem``, so is a receiver that the sender's stack cannot talk to.
    ``trace_file`` paths are relative to the study's folder and come out absolute.

    Raises:
        StudyError: naming the first fault's file, line, key and remedy.
    """
    path = FilePath(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise StudyError(
            file=str(path),
            problem=f"the study cannot be read: {(error.strerror or str(error)).lower()}",
            remedy="give the path of a TOML file or the name of a built-in study",
        ) from error
    except UnicodeDecodeError as error:
        raise StudyError(
            file=str(path),
            line=error.object[: error.start].count(b"\n") + 1,
            problem="not UTF-8 text",
            remedy="save the file as UTF-8",
        ) from error
    return parse_study(text, str(path), path.parent, catalogue, reference_of, receiver_problem)


def parse_study(
    text: str,
    file: str,
    folder: FilePath,
    catalogue: Catalogue,
    reference_of: ReferenceOf | None = None,
    receiver_problem: ReceiverProblem | None = None,
) -> Study:
    """As :func:`load_study`, of ``text``; ``file`` is what errors call it."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(text, file, str(error)) from error
    faults = Faults(file, Positions(text.replace("\r\n", "\n")))
    heading = {key: raw[key] for key in HEADING_KEYS if key in raw}
    if _top_keys_are_known(raw, faults):
        _check_heading(heading, faults)
        if not raw.get("network"):
            faults.add(("network",), "the study has no network", "add a [[network]] table")
    networks = read_networks(raw, folder, faults)
    contestants = read_contestants(raw, catalogue, faults)
    flows = read_flows(raw, catalogue, faults)
    lineups = read_lineups(raw, catalogue, faults)
    page_load = read_page_load(raw, faults)
    stopping = read_stopping(raw, faults)
    profiles = read_profiles(raw, faults)
    faults.raise_first()

    study = Study(
        **heading,
        networks=tuple(placed.network for placed in networks),
        contestants=tuple(placed.contestant for placed in contestants),
        flows=tuple(placed.flow for placed in flows),
        lineups=tuple(placed.lineup for placed in lineups),
        page_load=page_load,
        stopping=stopping,
        profiles=profiles,
    )
    check_whole(study, networks, contestants, flows, lineups, reference_of=reference_of, faults=faults)
    if receiver_problem is not None:
        everyone = [*flows, *(flow for placed in lineups for flow in placed.flows)]
        check_receivers(study, contestants, everyone, receiver_problem, faults)
    faults.raise_first()
    return study


def _top_keys_are_known(raw: Mapping[str, Any], faults: Faults) -> bool:
    known = (*HEADING_KEYS, *TABLE_KEYS)
    unknown = [key for key in raw if key not in known]
    for key in unknown:
        # [[contestants]] is more likely a slip for [[contestant]] than a profile's key out of place
        slip = key.removesuffix("s") in TABLE_KEYS
        table = next((name for name, keys in TABLE_KEYS.items() if key in keys and not slip), None)
        remedy = f"{key} belongs in {_head(table)}" if table else hints.for_key(key, raw[key], known)
        faults.add((key,), "unknown key at the top of the study", remedy)
    return not unknown


def _head(table: str) -> str:
    return SINGLE.get(table, f"[[{table}]]")


def _check_heading(heading: Mapping[str, Any], faults: Faults) -> None:
    """Check the keys above the tables, by the study's own model."""
    try:
        build(Study, {**heading, "networks": [{"rate_mbps": 1, "rtt_ms": 1, "buffer_bdp": 1}]})
    except ValidationError as error:
        explain(error, Study, heading, lambda where: where, faults)


def _syntax_error(text: str, file: str, message: str) -> StudyError:
    """tomllib's error, whose message ends in ``(at line L, column C)`` or ``(at end of document)``."""
    lines = text.splitlines() or [""]
    problem, _, place = message.rpartition(" (at ")
    numbers = [int(number) for number in re.findall(r"\d+", place)]
    line, column = numbers if len(numbers) == 2 else (len(lines), len(lines[-1]) + 1)
    source = lines[line - 1] if line <= len(lines) else ""
    key = source.partition("=")[0].strip() if "=" in source else ""
    remedy = next(
        (remedy for start, remedy in _SYNTAX_REMEDIES.items() if problem.startswith(start)),
        "studies are TOML 1.0: key = value lines under [[table]] heads",
    )
    problem = f"not TOML: {problem[:1].lower()}{problem[1:]}"
    return StudyError(file=file, line=line, column=column, key=key, problem=problem, remedy=remedy)
