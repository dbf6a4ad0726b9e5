"""Does a fault move a flow's behaviour out of its clean controller's noise floor?

The noise floor is what the clean controller's trials of different seeds differ by among
themselves. A fault that acts all along shows in the envelope; one that acts at the beginning only
(an initial window, the end of slow start) moves no envelope of two minutes, but it moves the
first round trips.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from cambrian.metrics import conformance, envelope
from cambrian.metrics.columns import NS_PER_MS
from cambrian.metrics.envelope import Envelope
from cambrian.store.results import TrialResult

#: round trips without queueing that are a flow's start
START_RTTS = 40
#: bytes of a frame, a packet, milliseconds: differences below these are none
_LEAST = (1514.0, 1.0, 0.1)
#: fewer clean trials than this have no floor
FEWEST_TRIALS = 3


@dataclass(frozen=True)
class Behaviour:
    """Of a flow alone: its envelope, and of its start bytes carried, packets dropped, mean delay in ms."""

    envelope: Envelope | None
    start: tuple[float, float, float]


def of(trial: TrialResult) -> Behaviour:
    """One solo trial's."""
    spec, packets = trial.manifest["trial"], trial.packets
    rtt_ms = float(spec["network"]["rtt_ms"])
    try:
        found = envelope.imc22(packets, 0, rtt_ms, spec["duration_s"])
    except envelope.TooFewSamples:
        found = None
    begin = packets["arrival_ns"].min()
    end = (begin or 0) + round(START_RTTS * rtt_ms * NS_PER_MS)  # type: ignore[operator]
    start = packets.filter(pl.col("arrival_ns") < end)
    left = start.filter(pl.col("outcome") == "departed")
    waits = (left["departure_ns"] - left["arrival_ns"]).mean() or 0.0
    dropped = float((start["outcome"] == "dropped").sum())
    return Behaviour(found, (float(left["size_bytes"].sum()), dropped, float(waits) / NS_PER_MS))  # type: ignore[arg-type]


def outside(tests: Mapping[int, Behaviour], cleans: Mapping[int, Behaviour]) -> tuple[str, ...] | None:
    """By what (``envelope``, ``start``) ``tests`` lie outside the floor of ``cleans``; both by seed.

    Envelope: every conformance with a clean trial of another seed is below every one of the
    clean trials among themselves. Start: in one of its figures every trial lies outside the
    clean trials' range, widened by its own width each way. None with too few clean trials.
    """
    if len(cleans) < FEWEST_TRIALS:
        return None
    found = ["envelope"] if _envelope_is(tests, cleans) else []
    return (*found, "start") if any(_start_is(number, tests, cleans) for number in range(3)) else tuple(found)


def _envelope_is(tests: Mapping[int, Behaviour], cleans: Mapping[int, Behaviour]) -> bool:
    known = {seed: one.envelope for seed, one in cleans.items() if one.envelope is not None}
    own = [conformance.compare(a, b).conformance for a, b in itertools.combinations(known.values(), 2)]
    theirs = [
        conformance.compare(one.envelope, clean).conformance
        for seed, one in tests.items()
        for other, clean in known.items()
        if seed != other and one.envelope is not None
    ]
    return bool(own and theirs) and max(theirs) < min(own)


def _start_is(number: int, tests: Mapping[int, Behaviour], cleans: Mapping[int, Behaviour]) -> bool:
    values = [one.start[number] for one in cleans.values()]
    margin = max(max(values) - min(values), _LEAST[number])
    low, high = min(values) - margin, max(values) + margin
    return bool(tests) and all(not low <= one.start[number] <= high for one in tests.values())
