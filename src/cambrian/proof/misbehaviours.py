"""The second half of ``cambrian corpus``: faults that are no parameter, by what the report says of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from cambrian.proof.faults import LAB, Key, Misbehaviour
from cambrian.proof.groups import Group, differ, groups_of
from cambrian.report import tables
from cambrian.report.collect import collect
from cambrian.store.results import Results

#: the built-in study that plants the faults
STUDY = "fault-behaviour"
#: ``named otherwise``: the verdict accuses, by nothing that describes the fault
State = Literal["caught", "named otherwise", "missed", "not exercised"]
#: the side of a verdict that says what a flow alone on a clean link does
PLAUSIBILITY = "plausibility"
#: the bar that this tool holds itself to
CAUGHT_SHARE = 0.9
#: verdicts that accuse nobody
_INNOCENT = frozenset({"conformant", "inconclusive", "not judged"})


@dataclass(frozen=True)
class Said:
    """What the report says of one contestant.

    ``named``: keys of the parameters and names of the probes by which it differs from what should be;
    ``choices``: those by which it makes another choice than the reference.
    """

    verdict: str
    named: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    @property
    def accuses(self) -> bool:
        """Is anything called wrong?"""
        return self.verdict not in _INNOCENT


@dataclass(frozen=True)
class FaultRow:
    """One fault, all networks together.

    ``by``: what is named that describes it. ``networks``: where it changes a packet.
    """

    fault: Misbehaviour
    state: State
    said: Said
    by: tuple[str, ...]
    networks: tuple[str, ...]


@dataclass(frozen=True)
class CleanRow:
    """One clean controller. ``accused``: what is said that is not so."""

    contestant: str
    said: Said
    accused: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """All of them."""

    faults: tuple[FaultRow, ...]
    clean: tuple[CleanRow, ...]

    @property
    def exercised(self) -> list[FaultRow]:
        """The faults that count."""
        return [row for row in self.faults if row.state != "not exercised"]

    @property
    def caught(self) -> int:
        """Faults that are accused, and described by what fits."""
        return sum(row.state == "caught" for row in self.exercised)

    @property
    def passes(self) -> bool:
        """Are enough faults caught, and is no clean controller accused?"""
        enough = self.caught >= CAUGHT_SHARE * len(self.exercised)
        return bool(self.exercised) and enough and not any(row.accused for row in self.clean)


def score(results: Results, key: Key) -> Score:
    """Judge a ``fault-behaviour`` run by ``key``; contestants without a valid trial do not count."""
    present = {(group.network, group.contestant): group for group in groups_of(results)}
    collected = collect(results)
    return judged(said(tables.all_tables(collected)), exercised(present, key), key)


def judged(found: Mapping[str, Said], where: Mapping[str, tuple[str, ...]], key: Key) -> Score:
    """Compare what is said with the key.

    ``where``: preset → the networks on which its fault changes a packet.
    """
    faults = [
        _fault_row(fault, found[_lab(fault.preset)], where[fault.preset])
        for fault in key.misbehaviour
        if _lab(fault.preset) in found
    ]
    clean = [
        CleanRow(one.contestant, mine, _accused(mine, one.choices))
        for one in key.clean
        if (mine := found.get(one.contestant)) is not None
    ]
    return Score(tuple(faults), tuple(clean))


def said(frames: Mapping[str, pl.DataFrame]) -> dict[str, Said]:
    """Contestant → what the report's tables ``verdicts`` and ``probes`` say of it.

    A verdict whose plausibility differs names :data:`PLAUSIBILITY`. Whoever has probes and no verdict is not
    judged.
    """
    different: dict[str, dict[str, None]] = {}
    for row in _rows(frames, "probes"):
        mine = different.setdefault(row["contestant"], {})
        if row["state"] == "different":
            mine[row["probe"]] = None
    found = {name: Said("not judged", tuple(probes)) for name, probes in different.items()}
    for row in _rows(frames, "verdicts"):
        named = [*_listed(row["off"]), *different.get(row["contestant"], {})]
        if row[PLAUSIBILITY] == "different":
            named.append(PLAUSIBILITY)
        found[row["contestant"]] = Said(row["verdict"], tuple(named), _listed(row["other_choices"]))
    return found


def exercised(present: Mapping[tuple[str, str], Group], key: Key) -> dict[str, tuple[str, ...]]:
    """Preset → the networks where its packets differ from those of the clean preset."""
    networks = dict.fromkeys(network for network, _ in present)
    found = {}
    for fault in key.misbehaviour:
        pairs = (
            (network, present.get((network, _lab(fault.preset))), present.get((network, _lab(fault.clean))))
            for network in networks
        )
        found[fault.preset] = tuple(
            network for network, mine, clean in pairs if mine and (clean is None or differ(mine, clean))
        )
    return found


def _fault_row(fault: Misbehaviour, found: Said, networks: tuple[str, ...]) -> FaultRow:
    names = (*found.named, *found.choices) if fault.choice else found.named
    by = tuple(name for name in names if name in fault.caught_by)
    state: State = "missed"
    if not networks:
        state = "not exercised"
    elif by and (found.accuses or fault.choice):
        state = "caught"
    elif found.accuses:
        state = "named otherwise"
    return FaultRow(fault, state, found, by, networks)


def _accused(found: Said, choices: bool) -> tuple[str, ...]:
    accused = found.named if choices else (*found.named, *found.choices)
    return accused or ((found.verdict,) if found.accuses else ())


def _lab(preset: str) -> str:
    return f"{LAB} {preset}"


def _rows(frames: Mapping[str, pl.DataFrame], name: str) -> Iterator[dict[str, str]]:
    frame = frames.get(name)
    return frame.iter_rows(named=True) if frame is not None else iter(())


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()
