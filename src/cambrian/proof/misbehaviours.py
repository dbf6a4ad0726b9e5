"""The second half of ``cambrian corpus``: does the report catch the faults that no parameter describes?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from cambrian.proof.faults import Key, Misbehaviour, of_lab
from cambrian.proof.groups import Group, differ, groups_of, in_words, without_trial
from cambrian.report import tables
from cambrian.report.collect import collect
from cambrian.report.tables import rows
from cambrian.store.results import Results

#: the built-in study that plants the faults
STUDY = "fault-behaviour"
#: ``named otherwise``: the verdict accuses the preset, but names nothing that describes the fault
State = Literal["caught", "named otherwise", "missed", "not exercised"]
#: the side of a verdict on a flow alone
PLAUSIBILITY = "plausibility"
#: share of the faults that must be caught
CAUGHT_SHARE = 0.9
#: verdicts that do not accuse
_INNOCENT = frozenset({"conformant", "inconclusive", "not judged"})


@dataclass(frozen=True)
class Judgement:
    """The report's judgement of one contestant.

    ``named``: keys of the parameters that are off and names of the probes that differ; ``choices``: keys of
    the parameters with another choice than the reference's.
    """

    verdict: str
    named: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    @property
    def accuses(self) -> bool:
        """Does the verdict accuse the contestant?"""
        return self.verdict not in _INNOCENT


@dataclass(frozen=True)
class FaultRow:
    """One fault over all networks.

    ``by``: the named parameters and probes that describe it. ``networks``: those on which it changes a
    packet, or the log if that is where it shows.
    """

    fault: Misbehaviour
    state: State
    judgement: Judgement
    by: tuple[str, ...]
    networks: tuple[str, ...]


@dataclass(frozen=True)
class CleanRow:
    """One clean controller. ``accused``: the false accusations."""

    contestant: str
    judgement: Judgement
    accused: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """The whole corpus. ``absent``: the groups without a valid trial, of which nothing is known."""

    faults: tuple[FaultRow, ...]
    clean: tuple[CleanRow, ...]
    absent: tuple[str, ...] = ()

    @property
    def exercised(self) -> list[FaultRow]:
        """The faults that change a packet, or the log if that is where they show."""
        return [row for row in self.faults if row.state != "not exercised"]

    @property
    def caught(self) -> int:
        """Number of faults that are accused and named correctly."""
        return sum(row.state == "caught" for row in self.exercised)

    @property
    def passes(self) -> bool:
        """Are enough faults caught, and no clean controller accused, of all groups?"""
        enough = self.caught >= CAUGHT_SHARE * len(self.exercised)
        quiet = bool(self.clean) and not any(row.accused for row in self.clean)
        return bool(self.exercised) and enough and quiet and not self.absent


def score(results: Results, key: Key) -> Score:
    """Judge a ``fault-behaviour`` run by ``key``."""
    present = {(group.network, group.contestant): group for group in groups_of(results)}
    collected = collect(results)
    found = judged(judgements(tables.all_tables(collected)), exercised(present, key), key)
    return replace(found, absent=unexpected(without_trial(results), key))


def unexpected(groups: Sequence[str], key: Key) -> tuple[str, ...]:
    """Those of the groups without a valid trial whose fault does not stop the sender there."""
    stopped = {
        in_words(of_lab(fault.preset), network) for fault in key.misbehaviour for network in fault.stops_on
    }
    return tuple(one for one in groups if one not in stopped)


def judged(by_contestant: Mapping[str, Judgement], where: Mapping[str, tuple[str, ...]], key: Key) -> Score:
    """Compare the judgements with the key.

    ``where``: preset → the networks on which its fault changes a packet (:class:`Misbehaviour`: or its log).
    """
    faults = [
        _fault_row(fault, by_contestant.get(of_lab(fault.preset), Judgement("not judged")), networks)
        for fault in key.misbehaviour
        if (networks := where.get(fault.preset, ())) or of_lab(fault.preset) in by_contestant
    ]
    clean = [
        CleanRow(one.contestant, judgement, _accused(judgement, one.choices))
        for one in key.clean
        if (judgement := by_contestant.get(one.contestant)) is not None
    ]
    return Score(tuple(faults), tuple(clean))


def judgements(frames: Mapping[str, pl.DataFrame]) -> dict[str, Judgement]:
    """Contestant → its judgement, from the report's tables ``verdicts`` and ``probes``.

    A verdict whose plausibility differs names :data:`PLAUSIBILITY`. A contestant with probes but no verdict
    is not judged.
    """
    different: dict[str, dict[str, None]] = {}
    for row in rows.each(frames.get("probes")):
        mine = different.setdefault(row["contestant"], {})
        if row["state"] == "different":
            mine[row["probe"]] = None
    by_contestant = {name: Judgement("not judged", tuple(probes)) for name, probes in different.items()}
    for row in rows.each(frames.get("verdicts")):
        named = [*_listed(row["off"]), *different.get(row["contestant"], {})]
        if row[PLAUSIBILITY] == "different":
            named.append(PLAUSIBILITY)
        choices = _listed(row["other_choices"])
        by_contestant[row["contestant"]] = Judgement(row["verdict"], tuple(named), choices)
    return by_contestant


def exercised(present: Mapping[tuple[str, str], Group], key: Key) -> dict[str, tuple[str, ...]]:
    """Preset → the networks where its packets, or its log, differ from those of the clean preset."""
    networks = dict.fromkeys(network for network, _ in present)
    found = {}
    for fault in key.misbehaviour:
        pairs = (
            (
                network,
                present.get((network, of_lab(fault.preset))),
                present.get((network, of_lab(fault.clean))),
            )
            for network in networks
        )
        found[fault.preset] = tuple(
            network
            for network, mine, clean in pairs
            if mine and (clean is None or differ(mine, clean, log=fault.log))
        )
    return found


def _fault_row(fault: Misbehaviour, judgement: Judgement, networks: tuple[str, ...]) -> FaultRow:
    names = (*judgement.named, *judgement.choices) if fault.choice else judgement.named
    by = tuple(name for name in names if name in fault.caught_by)
    state: State = "missed"
    if not networks:
        state = "not exercised"
    elif by and (judgement.accuses or fault.choice):
        state = "caught"
    elif judgement.accuses:
        state = "named otherwise"
    return FaultRow(fault, state, judgement, by, networks)


def _accused(judgement: Judgement, choices: bool) -> tuple[str, ...]:
    accused = judgement.named if choices else (*judgement.named, *judgement.choices)
    return accused or ((judgement.verdict,) if judgement.accuses else ())


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(", ")) if text else ()
