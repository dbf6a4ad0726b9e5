"""Reads a study's tables: networks with their grids, contestants, flows, stopping rule, profiles."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from cambrian.study import hints, naming, pages
from cambrian.study.errors import StudyError
from cambrian.study.explain import build, expected, explain, shown
from cambrian.study.faults import Faults
from cambrian.study.limits import MOST_LISTED, MOST_NAME, MOST_NETWORKS, RateMbps
from cambrian.study.model import (
    MOST_FLOWS,
    Contestant,
    Flow,
    Lineup,
    Network,
    PageLoads,
    Profile,
    Stopping,
    Study,
)
from cambrian.study.offered import Stacks
from cambrian.study.positions import Path
from cambrian.study.tracefile import read_trace

Model = TypeVar("Model", bound=BaseModel)
#: Stack → the CCAs that it offers.
Catalogue = Mapping[str, Sequence[str]]
ProfileName = Literal["quick", "full"]

#: fields of a study that are read from its tables, or counted from them
_NOT_IN_THE_HEADING = frozenset(
    {"networks", "contestants", "flows", "counts", "lineups", "page_load", "stopping", "profiles"}
)
HEADING_KEYS = tuple(key for key in Study.model_fields if key not in _NOT_IN_THE_HEADING)
TABLE_KEYS: dict[str, tuple[str, ...]] = {
    "network": tuple(Network.model_fields),
    "contestant": tuple(Contestant.model_fields),
    "flow": (*Contestant.model_fields, *(key for key in Flow.model_fields if key != "contestant"), "count"),
    "lineup": tuple(key for key in Lineup.model_fields if key != "counts"),
    "page_load": tuple(PageLoads.model_fields),
    "stopping": tuple(Stopping.model_fields),
    "profile": tuple(Profile.model_fields),
}
#: tables that occur once → their name in errors
SINGLE = {"page_load": "[page_load]", "stopping": "[stopping]", "profile": "a profile"}
#: unknown keys of one table that get a remedy; the first of a file is reported
MOST_UNKNOWN = 10
#: keys of a network whose lists and tables are values, and so make no grid
_NO_GRID = frozenset({"name", "burst_loss", "schedule"})
#: keys of a contestant whose lists make a grid
_CONTESTANT_GRID = ("stack", "cca", "receiver")


@dataclass(frozen=True)
class Placed:
    """A value that was read, with the path of its table."""

    path: Path


@dataclass(frozen=True)
class PlacedNetwork(Placed):
    network: Network


@dataclass(frozen=True)
class PlacedContestant(Placed):
    contestant: Contestant


@dataclass(frozen=True)
class PlacedFlow(Placed):
    flow: Flow


@dataclass(frozen=True)
class PlacedLineup(Placed):
    lineup: Lineup
    flows: tuple[PlacedFlow, ...]


def read_networks(raw: Mapping[str, Any], folder: FilePath, faults: Faults) -> list[PlacedNetwork]:
    """Every cell of every ``[[network]]``'s grid; the last key in the file varies fastest."""
    networks: list[PlacedNetwork] = []
    room = MOST_NETWORKS
    for at, table in _tables(raw, "network", faults):
        room -= _grid_size(table)
        if room < 0:
            problem = f"the study has {MOST_NETWORKS - room:,} networks or more"
            remedy = f"give shorter lists; a study can have {MOST_NETWORKS:,} networks"
            faults.add(at, problem, remedy)
            break
        if isinstance(table.get("name"), list):
            remedy = 'give one name with keys in it: name = "{queue}-{rtt_ms}ms"'
            faults.add((*at, "name"), "a list of names", remedy)
            continue
        for cell, elements in _cells(table, at, faults):

            def locate(where: Path, at: Path = at, elements: Mapping[str, int] = elements) -> Path:
                return (*at, *_in_grid(where, elements))

            network = _checked(Network, cell, locate, faults)
            if network is None:
                continue
            network = _with_trace(network, folder, locate(("trace_file",)), faults)
            networks.append(PlacedNetwork(at, _named(network, at, faults)))
    return networks


#: values of ``receiver`` besides names of stacks
_RECEIVERS = ("own", "reference")


def read_contestants(raw: Mapping[str, Any], catalogue: Catalogue, faults: Faults) -> list[PlacedContestant]:
    """Every ``[[contestant]]``: one for each combination if ``stack``, ``cca`` or ``receiver`` are lists."""
    contestants: list[PlacedContestant] = []
    room = MOST_LISTED
    for at, given in _tables(raw, "contestant", faults):
        table = _with_releases(given, at, catalogue, faults)
        if table is None:
            continue
        room -= _grid_size(table, _CONTESTANT_GRID)
        if room < 0:
            problem = f"the study has {MOST_LISTED - room:,} contestants or more"
            remedy = f"give shorter lists; a study can have {MOST_LISTED:,} contestants"
            faults.add(at, problem, remedy)
            break
        for cell, elements in _cells(table, at, faults, keys=_CONTESTANT_GRID):

            def locate(where: Path, at: Path = at, elements: Mapping[str, int] = elements) -> Path:
                return (*at, *_in_grid(where, elements))

            contestant = _checked(Contestant, cell, locate, faults)
            if contestant is not None:
                _check_catalogue(contestant, locate, catalogue, faults)
                contestants.append(PlacedContestant(locate(("cca",)), contestant))
    return contestants


def _with_releases(
    table: dict[str, Any], at: Path, catalogue: Catalogue, faults: Faults
) -> dict[str, Any] | None:
    """The table with every release in the place of a pattern of releases; None if a pattern is wrong."""
    named = table.get("stack")
    listed = named if isinstance(named, list) else [named]
    if not isinstance(catalogue, Stacks) or not any(isinstance(one, str) and "@" in one for one in listed):
        return table
    every: list[Any] = []
    for index, one in enumerate(listed):
        try:
            every += catalogue.matching(one) if isinstance(one, str) else [one]
        except ValueError as error:
            problem, _, remedy = str(error).partition("\n  remedy: ")
            place = (*at, "stack", index) if isinstance(named, list) else (*at, "stack")
            faults.add(place, problem, remedy)
            return None
    return {**table, "stack": every if isinstance(named, list) or len(every) > 1 else every[0]}


def read_flows(raw: Mapping[str, Any], catalogue: Catalogue, faults: Faults) -> list[PlacedFlow]:
    """Every ``[[flow]]``, ``count`` times; its table has a contestant's keys and a flow's."""
    return _flows(_tables(raw, "flow", faults), catalogue, faults)


def read_lineups(raw: Mapping[str, Any], catalogue: Catalogue, faults: Faults) -> list[PlacedLineup]:
    """Every ``[[lineup]]`` with its flows, which have the keys of ``[[flow]]``."""
    lineups: list[PlacedLineup] = []
    for number, (at, table) in enumerate(_tables(raw, "lineup", faults)):
        if number == MOST_LISTED:
            problem, remedy = f"more than {MOST_LISTED:,} line-ups", "divide the study"
            faults.add(at, problem, remedy)
            break
        flows = _flows(_tables(table, "flow", faults, within=at, key="flows"), catalogue, faults)
        listed = table.get("flows")
        if isinstance(listed, list) and len(listed) > len({flow.path for flow in flows}):
            continue  # one of its flows has an error, which is noted
        data = {
            **table,
            "flows": [placed.flow.model_dump(mode="json") for placed in flows[:MOST_FLOWS]],
            "counts": counts(flows[:MOST_FLOWS]),
        }
        lineup = _checked(Lineup, data, lambda where, at=at: (*at, *where), faults)  # type: ignore[misc]
        if lineup is not None:
            lineups.append(PlacedLineup(at, lineup, tuple(flows)))
    return lineups


def counts(flows: Sequence[PlacedFlow]) -> list[int]:
    """The number of flows of each table, in order."""
    return list(Counter(placed.path for placed in flows).values())


def _flows(
    tables: Iterator[tuple[Path, dict[str, Any]]], catalogue: Catalogue, faults: Faults
) -> list[PlacedFlow]:
    """The flows of one trial."""
    flows: list[PlacedFlow] = []
    for at, table in tables:

        def locate(where: Path, at: Path = at) -> Path:
            return (*at, *(where[1:] if where[:1] == ("contestant",) else where))

        count = table.get("count", 1)
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_FLOWS:
            remedy = f"give a whole number from 1 to {MOST_FLOWS}"
            faults.add((*at, "count"), f"{shown(count)} is not possible", remedy)
            continue
        contestant = {key: value for key, value in table.items() if key in Contestant.model_fields}
        own = {key: value for key, value in table.items() if key not in contestant and key != "count"}
        if "page" in own:
            own["page"] = _page(own["page"], (*at, "page"), faults)
        flow = _checked(Flow, {"contestant": contestant, **own}, locate, faults)
        if flow is not None:
            _check_catalogue(flow.contestant, locate, catalogue, faults)
            flows += [PlacedFlow(at, flow)] * count
    if len(flows) > MOST_FLOWS:
        problem = f"{len(flows)} flows, but a trial can hold at most {MOST_FLOWS}"
        faults.add(
            flows[MOST_FLOWS].path, problem, "remove this flow and those after it, or reduce its count"
        )
    return flows


def read_page_load(raw: Mapping[str, Any], faults: Faults) -> PageLoads | None:
    """``[page_load]`` with its pages; None if the study has no such table."""
    table = _single(raw, "page_load", faults)
    at: Path = ("page_load",)
    if table is None:
        return None
    listed = table.get("pages")
    if isinstance(listed, list):
        table = {
            **table,
            "pages": [_page(page, (*at, "pages", index), faults) for index, page in enumerate(listed)],
        }
    return _checked(PageLoads, table, lambda where: (*at, *where), faults)


def read_stopping(raw: Mapping[str, Any], faults: Faults) -> Stopping | None:
    """``[stopping]``; None if the study has no such table."""
    table = _single(raw, "stopping", faults)
    return None if table is None else _checked(Stopping, table, lambda where: ("stopping", *where), faults)


def _single(raw: Mapping[str, Any], kind: str, faults: Faults) -> dict[str, Any] | None:
    """The only table of this kind; None if it is missing or has an unknown key."""
    table = raw.get(kind)
    if table is None:
        return None
    if not isinstance(table, dict):
        faults.add((kind,), "not a table", f"write [{kind}] on a line of its own, its keys below")
        return None
    return table if _keys_are_known(table, kind, (kind,), faults) else None


def _page(given: object, at: Path, faults: Faults) -> object:
    """A name becomes its page of the catalogue; any other value is returned unchanged."""
    if not isinstance(given, str):
        return given
    known = pages.catalogue()
    if given not in known:
        faults.add(at, f"unknown page {shown(given)}", hints.for_name(given, known, "pages are"))
    return known.get(given, next(iter(known.values())))


def read_profiles(raw: Mapping[str, Any], faults: Faults) -> dict[ProfileName, Profile]:
    """``[profile.quick]`` and ``[profile.full]``, if the study has them."""
    tables = raw.get("profile", {})
    if not isinstance(tables, dict):
        faults.add(("profile",), "not a table", "write [profile.quick] on a line of its own, its keys below")
        return {}
    profiles: dict[ProfileName, Profile] = {}
    for name, table in tables.items():
        at: Path = ("profile", name)
        if name not in ("quick", "full"):
            remedy = hints.for_name(name, ("quick", "full"), "the profiles are")
            faults.add(at, "unknown profile", f"{remedy}, each a table: [profile.quick]")
        elif not isinstance(table, dict):
            faults.add(at, "not a table", f"write [profile.{name}] on a line of its own")
        elif _keys_are_known(table, "profile", at, faults):

            def locate(where: Path, at: Path = at) -> Path:
                return (*at, *where)

            profile = _checked(Profile, table, locate, faults)
            if profile is not None:
                profiles[name] = profile
    return profiles


def _tables(
    raw: Mapping[str, Any], kind: str, faults: Faults, *, within: Path = (), key: str = ""
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The tables of one kind that have only known keys; they are listed under ``key`` (default: ``kind``)."""
    key = key or kind
    tables = raw.get(key, [])
    head = ".".join(part for part in (*within, key) if isinstance(part, str))
    if not isinstance(tables, list):
        problem = f"not a list of tables ({shown(tables)})"
        faults.add((*within, key), problem, f"use double brackets: [[{head}]]")
        return
    for index, table in enumerate(tables):
        at: Path = (*within, key, index)
        if not isinstance(table, dict):
            faults.add(at, f"{shown(table)} is not a table", f"write [[{head}]] and its keys below")
        elif _keys_are_known(table, kind, at, faults):
            yield at, table


def _keys_are_known(table: Mapping[str, Any], kind: str, at: Path, faults: Faults) -> bool:
    """Add an error for every unknown key; returns whether there is none."""
    unknown = [key for key in table if key not in TABLE_KEYS[kind]]
    for key in unknown[:MOST_UNKNOWN]:
        other = next((name for name, keys in TABLE_KEYS.items() if key in keys and name not in SINGLE), None)
        if key in HEADING_KEYS:
            remedy = f"{key} belongs to the whole study: move it above the first [[table]]"
        elif other is not None and kind not in SINGLE:
            remedy = f"{key} belongs in [[{other}]]"
        else:
            remedy = hints.for_key(key, table[key], TABLE_KEYS[kind])
        place = SINGLE.get(kind, f"[[{kind}]]")
        faults.add((*at, key), f"unknown key in {place}", remedy)
    return not unknown


def _cells(
    table: Mapping[str, Any], at: Path, faults: Faults, keys: Sequence[str] | None = None
) -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    """The grid that the table's lists span: each cell, and the index that it has in each list."""
    varied = _varied(table, keys)
    for key in varied:
        if not table[key]:
            faults.add((*at, key), "an empty list", f"give at least one value, such as {key} = [ … ]")
    for indices in itertools.product(*(range(len(table[key])) for key in varied)):
        elements = dict(zip(varied, indices, strict=True))
        yield {**table, **{key: table[key][index] for key, index in elements.items()}}, elements


def _varied(table: Mapping[str, Any], keys: Sequence[str] | None) -> list[str]:
    """The keys whose lists make the table's grid."""
    return [
        key
        for key, value in table.items()
        if isinstance(value, list) and (key in keys if keys is not None else key not in _NO_GRID)
    ]


def _grid_size(table: Mapping[str, Any], keys: Sequence[str] | None = None) -> int:
    """Number of cells of the table's grid."""
    return math.prod(len(table[key]) for key in _varied(table, keys))


def _in_grid(where: Path, elements: Mapping[str, int]) -> Path:
    """The path of the list element that a cell uses, instead of the path of the list."""
    if where and isinstance(where[0], str) and where[0] in elements:
        return (where[0], elements[where[0]], *where[1:])
    return where


def _checked(
    model: type[Model], data: Mapping[str, Any], locate: Callable[[Path], Path], faults: Faults
) -> Model | None:
    try:
        return build(model, data)
    except ValidationError as error:
        explain(error, model, data, locate, faults)
        return None


def _with_trace(network: Network, folder: FilePath, at: Path, faults: Faults) -> Network:
    """The network with its trace file checked and its path made absolute."""
    if network.trace_file is None:
        return network
    path = (folder / network.trace_file).resolve()
    try:
        rate_mbps = read_trace(path).mean_rate_mbps
    except StudyError as error:
        if error.line is None:
            faults.add(at, error.problem, error.remedy, key="trace_file")
        else:
            faults.add_error(at, error)
        return network
    try:
        TypeAdapter(RateMbps).validate_python(rate_mbps)
    except ValidationError:
        problem = f"the trace's mean rate is {rate_mbps:g} Mbps"
        remedy = f"give a trace of {expected(Network, ('rate_mbps',)).removeprefix('a number ')} Mbps"
        faults.add(at, problem, remedy, key="trace_file")
    return network.model_copy(update={"trace_file": str(path)})


def _named(network: Network, at: Path, faults: Faults) -> Network:
    try:
        name = naming.templated_name(network.name, network) or naming.generated_name(network)
    except ValueError as error:
        problem, _, remedy = str(error).partition(": ")
        faults.add((*at, "name"), problem, remedy)
        return network
    if not naming.NAME_PATTERN.fullmatch(name):
        remedy = "use letters and digits, with . _ - after the first"
        faults.add((*at, "name"), f"{shown(name)} is not possible", remedy)
    elif len(name) > MOST_NAME:
        problem = f"this network's name has {len(name)} characters: {shown(name)}"
        remedy = f'give a name of at most {MOST_NAME}, such as name = "slow" or name = "rtt-{{rtt_ms}}"'
        faults.add((*at, "name"), problem, remedy, key="name")
    return network.model_copy(update={"name": name})


def _check_catalogue(
    contestant: Contestant, locate: Callable[[Path], Path], catalogue: Catalogue, faults: Faults
) -> None:
    stack, cca, receiver = contestant.stack, contestant.cca, contestant.receiver
    broken = catalogue.broken if isinstance(catalogue, Stacks) else {}
    for key, name in (("stack", stack), ("receiver", receiver)):
        if name in broken:
            problem = f"the manifest of {shown(name)} has an error: {broken[name]}"
            faults.add(locate((key,)), problem, f"correct the manifest, or remove {key} = {shown(name)}")
            return
    if stack not in catalogue:
        known = catalogue if isinstance(catalogue, Stacks) else Stacks(catalogue, {})
        faults.add(locate(("stack",)), f"unknown stack {shown(stack)}", known.remedy(stack))
    elif cca not in catalogue[stack]:
        remedy = hints.for_name(cca, catalogue[stack], f"{stack} has")
        faults.add(locate(("cca",)), f"{stack} has no CCA {shown(cca)}", remedy)
    if receiver not in (*_RECEIVERS, *catalogue):
        remedy = hints.for_name(receiver, [*catalogue, *_RECEIVERS], "receivers are")
        faults.add(locate(("receiver",)), f"unknown stack {shown(receiver)}", remedy)
