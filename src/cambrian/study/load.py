"""TOML text → :class:`~cambrian.study.model.Study`, or one clear :class:`StudyError`.

All faults are reported, in the order of the file. Rules that need a whole, valid study
(names that must differ, patterns that must match) are checked after the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from cambrian.study import hints, toml_text
from cambrian.study.explain import build, explain
from cambrian.study.faults import Faults
from cambrian.study.model import Study
from cambrian.study.reference import ReferenceOf
from cambrian.study.rules import StackChecks, check_stacks, check_whole
from cambrian.study.tables import (
    HEADING_KEYS,
    MOST_UNKNOWN,
    SINGLE,
    TABLE_KEYS,
    Catalogue,
    counts,
    read_contestants,
    read_flows,
    read_lineups,
    read_networks,
    read_page_load,
    read_profiles,
    read_stopping,
)


def load_study(
    path: str | FilePath,
    catalogue: Catalogue,
    reference_of: ReferenceOf | None = None,
    checks: StackChecks | None = None,
) -> Study:
    """Read the study at ``path``.

    ``catalogue`` maps each known stack to its CCAs. With ``reference_of``, a
    contestant without a reference is an error in a ``versus-reference`` study; with
    ``checks``, so are options that a stack does not have and a receiver that it cannot talk to.
    ``trace_file`` paths are relative to the study's folder and come out absolute.

    Raises:
        StudyError: each fault with its file, line, key and remedy.
    """
    path = FilePath(path)
    remedy = "give the path of a TOML file or the name of a built-in study"
    text = toml_text.read(path, "the study", remedy)
    return parse_study(text, str(path), path.parent, catalogue, reference_of, checks)


def parse_study(
    text: str,
    file: str,
    folder: FilePath,
    catalogue: Catalogue,
    reference_of: ReferenceOf | None = None,
    checks: StackChecks | None = None,
) -> Study:
    """As :func:`load_study`, of ``text``; ``file`` is what errors call it."""
    raw = toml_text.parse(text, file)
    faults = Faults(file, text)
    heading = {key: raw[key] for key in HEADING_KEYS if key in raw}
    known = _top_keys_are_known(raw, faults)
    # an unknown key may be a misspelling of one that is missing
    _check_heading(heading if known else _PLACEHOLDERS | heading, faults)
    if known and not raw.get("network"):
        faults.add(("network",), "the study has no network", "add a [[network]] table")
    networks = read_networks(raw, folder, faults)
    contestants = read_contestants(raw, catalogue, faults)
    flows = read_flows(raw, catalogue, faults)
    lineups = read_lineups(raw, catalogue, faults)
    page_load = read_page_load(raw, faults)
    stopping = read_stopping(raw, faults)
    profiles = read_profiles(raw, faults)
    faults.raise_all()

    study = Study(
        **heading,
        networks=tuple(placed.network for placed in networks),
        contestants=tuple(placed.contestant for placed in contestants),
        flows=tuple(placed.flow for placed in flows),
        counts=tuple(counts(flows)),
        lineups=tuple(placed.lineup for placed in lineups),
        page_load=page_load,
        stopping=stopping,
        profiles=profiles,
    )
    check_whole(study, networks, contestants, flows, lineups, reference_of=reference_of, faults=faults)
    if checks is not None:
        everyone = [*flows, *(flow for placed in lineups for flow in placed.flows)]
        check_stacks(study, contestants, everyone, checks, faults)
    faults.raise_all()
    return study


def _top_keys_are_known(raw: Mapping[str, Any], faults: Faults) -> bool:
    known = (*HEADING_KEYS, *TABLE_KEYS)
    unknown = [key for key in raw if key not in known]
    # a few are enough, and a remedy takes time
    for key in unknown[:MOST_UNKNOWN]:
        # [[contestants]] is more likely a slip for [[contestant]] than a profile's key out of place
        slip = key.removesuffix("s") in TABLE_KEYS
        table = next((name for name, keys in TABLE_KEYS.items() if key in keys and not slip), None)
        remedy = f"{key} belongs in {_head(table)}" if table else hints.for_key(key, raw[key], known)
        faults.add((key,), "unknown key at the top of the study", remedy)
    return not unknown


def _head(table: str) -> str:
    return SINGLE.get(table, f"[[{table}]]")


#: values of the keys that a study must have
_PLACEHOLDERS = {"name": "name", "title": "title"}


def _check_heading(heading: Mapping[str, Any], faults: Faults) -> None:
    """Check the keys above the tables, by the study's own model."""
    try:
        build(Study, {**heading, "networks": [{"rate_mbps": 1, "rtt_ms": 1, "buffer_bdp": 1}]})
    except ValidationError as error:
        explain(error, Study, heading, lambda where: where, faults)
