"""A controller's state machine as one trial shows it: intervals, time in state, transitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.metrics.states.sequence import Sequence, sequence
from cambrian.metrics.states.vocabulary import PROBE_BW

Source = Literal["exported", "inferred", "partly inferred"]
Transition = tuple[str, str]


@dataclass(frozen=True)
class Machine:
    """Time in state and transitions of one flow of one trial, from its first row to ``end_ns``.

    ``time_ns``: state → nanoseconds in it. ``transitions``: (from, to) → count, from ≠ to.
    ``inferred_share``: share of the time in which our rules give the state, in [0, 1]. ``unobservable``:
    states that the source never exports, so their absence is no evidence. ``uncertain``: states that the
    window may hide, of whose time nothing is known.
    """

    time_ns: Mapping[str, int]
    transitions: Mapping[Transition, int]
    inferred_share: float
    unobservable: frozenset[str] = frozenset()
    uncertain: frozenset[str] = frozenset()

    @property
    def span_ns(self) -> int:
        """Time from the first row to ``end_ns``, in nanoseconds."""
        return sum(self.time_ns.values())

    @property
    def source(self) -> Source:
        """Origin of the states: the stack, our rules, or both."""
        if self.inferred_share == 0:
            return "exported"
        return "inferred" if self.inferred_share > 0.999 else "partly inferred"

    @property
    def shares(self) -> dict[str, float]:
        """State → share of the time, in [0, 1]; they sum to 1."""
        return {state: time / self.span_ns for state, time in self.time_ns.items()}

    def per_s(self, transition: Transition) -> float:
        """Number of this transition per second."""
        return self.transitions.get(transition, 0) * NS_PER_S / self.span_ns

    def folded(self, joined: Mapping[str, str]) -> Machine:
        """The same with states joined (old → new name); transitions within a joined state are none."""
        if not joined:
            return self
        time_ns: dict[str, int] = {}
        for state, time in self.time_ns.items():
            name = joined.get(state, state)
            time_ns[name] = time_ns.get(name, 0) + time
        counts: dict[Transition, int] = {}
        for (one, other), count in self.transitions.items():
            pair = (joined.get(one, one), joined.get(other, other))
            if pair[0] != pair[1]:
                counts[pair] = counts.get(pair, 0) + count
        return replace(self, time_ns=time_ns, transitions=counts)

    def without(self, states: Collection[str]) -> Machine:
        """The machine without the time and the transitions of ``states``."""
        return replace(
            self,
            time_ns={one: time for one, time in self.time_ns.items() if one not in states},
            transitions={
                pair: count for pair, count in self.transitions.items() if not set(pair) & set(states)
            },
        )


def combined(machines: Collection[Machine]) -> Machine:
    """The machine of several trials of one seed: their times and transitions added up.

    Raises:
        ValueError: ``machines`` is empty.
    """
    if not machines:
        raise ValueError("give at least one trial's machine")
    time_ns: Counter[str] = Counter()
    transitions: Counter[Transition] = Counter()
    for one in machines:
        time_ns.update(one.time_ns)
        transitions.update(one.transitions)
    inferred = sum(one.inferred_share * one.span_ns for one in machines) / time_ns.total()
    unobservable = frozenset.intersection(*(one.unobservable for one in machines))
    # what one trial may hide is unknown of them all: only ProbeRTT is ever uncertain
    uncertain = frozenset().union(*(one.uncertain for one in machines))
    whole = Machine(dict(time_ns), dict(transitions), inferred, unobservable, uncertain)
    return whole.folded(dict.fromkeys(uncertain, PROBE_BW))


def intervals(found: Sequence, end_ns: int) -> pl.DataFrame:
    """Intervals of constant state without gaps until ``end_ns``.

    Columns: ``state``, ``from_ns``, ``to_ns``, ``inferred``. Of several rows with one time, the last counts.
    Consecutive intervals differ in ``state`` or in ``inferred``.
    """
    time_ns = found.time_ns
    last = np.r_[time_ns[1:] != time_ns[:-1], True] & (time_ns < end_ns)
    time_ns, codes, inferred = time_ns[last], found.codes[last], found.inferred[last]
    if not len(time_ns):
        return pl.DataFrame(schema=_INTERVALS)
    starts = np.r_[True, (codes[1:] != codes[:-1]) | (inferred[1:] != inferred[:-1])]
    from_ns = time_ns[starts]
    names = np.array(found.names)
    return pl.DataFrame(
        {
            "state": names[codes[starts]],
            "from_ns": from_ns,
            "to_ns": np.r_[from_ns[1:], end_ns],
            "inferred": inferred[starts],
        },
        schema=_INTERVALS,
    )


_INTERVALS = {"state": pl.String, "from_ns": pl.Int64, "to_ns": pl.Int64, "inferred": pl.Boolean}


def machine_of(
    held: pl.DataFrame,
    unobservable: frozenset[str] = frozenset(),
    uncertain: frozenset[str] = frozenset(),
) -> Machine | None:
    """The machine of the intervals ``held`` (:func:`intervals`); None without an interval."""
    if not held.height:
        return None
    length = (pl.col("to_ns") - pl.col("from_ns")).alias("time_ns")
    timed = held.select("state", "inferred", length)
    time_ns = dict(timed.group_by("state", maintain_order=True).agg(pl.col("time_ns").sum()).iter_rows())
    steps = (
        held.select(pl.col("state").alias("from"), pl.col("state").shift(-1).alias("to"))
        .drop_nulls()
        .filter(pl.col("from") != pl.col("to"))
        .group_by("from", "to", maintain_order=True)
        .len()
    )
    total_ns = sum(time_ns.values())
    inferred_ns = int(timed.filter("inferred")["time_ns"].sum())
    return Machine(
        time_ns,
        {(one, other): count for one, other, count in steps.iter_rows()},
        inferred_ns / total_ns,
        unobservable,
        uncertain,
    )


def machine(
    transport: pl.DataFrame, flow: int, cca: str, end_ns: int, *, undisturbed: bool = True
) -> Machine | None:
    """The state machine of one flow; None if its stack exports no states, and no window that shows them.

    Parameters:
        transport: see :func:`~cambrian.metrics.states.sequence.sequence`.
        cca: the controller's name.
        end_ns: end of the last state.
        undisturbed: no other flow shares the bottleneck, and the path stays as it is.
    """
    found = sequence(transport, flow, cca, undisturbed=undisturbed)
    if found is None:
        return None
    return machine_of(intervals(found, end_ns), found.unobservable, found.uncertain)
