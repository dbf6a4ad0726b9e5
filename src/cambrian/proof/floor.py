"""Does a fault move a flow's behaviour out of its clean controller's noise floor?

The noise floor is the difference between the clean controller's trials of different seeds. A fault that acts
all the time shows in the envelope. A fault that acts only at the start (an initial window, the end of slow
start) does not change an envelope of two minutes, but it changes the first round trips.
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

#: length of a flow's start, in round trips without queueing
START_RTTS = 40
#: smallest difference that counts: bytes of a frame, one packet, milliseconds
_LEAST = (1514.0, 1.0, 0.1)
#: fewest clean trials for a noise floor
FEWEST_TRIALS = 3


@dataclass(frozen=True)
class Behaviour:
    """A flow alone: its envelope, and of its start the carried bytes, dropped packets, mean delay in ms."""

    envelope: Envelope | None
    start: tuple[float, float, float]


def behaviour(trial: TrialResult) -> Behaviour:
    """The behaviour in one solo trial."""
    spec, packets = trial.manifest["trial"], trial.packets
    rtt_ms = float(spec["network"]["rtt_ms"])
    try:
        found = envelope.imc22(packets, 0, rtt_ms, spec["duration_s"])
    except envelope.TooFewSamples:
        found = None
    begin = packets["arrival_ns"].min()
    end = (begin or 0) + round(START_RTTS * rtt_ms * NS_PER_MS)  # type: ignore[operator]
    start = packets.filter(pl.col("arrival_ns") < end)
    departed = start.filter(pl.col("outcome") == "departed")
    waits = (departed["departure_ns"] - departed["arrival_ns"]).mean() or 0.0
    dropped = float((start["outcome"] == "dropped").sum())
    carried = float(departed["size_bytes"].sum())
    return Behaviour(found, (carried, dropped, float(waits) / NS_PER_MS))  # type: ignore[arg-type]


def outside(tests: Mapping[int, Behaviour], cleans: Mapping[int, Behaviour]) -> tuple[str, ...] | None:
    """Which of ``envelope`` and ``start`` put ``tests`` outside the floor of ``cleans``; both by seed.

    Envelope: each conformance with a clean trial of another seed is smaller than each conformance between
    clean trials. Start: for one of its figures, each trial lies outside the clean trials' range, widened by
    its own width on both sides. None with too few clean trials.
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
