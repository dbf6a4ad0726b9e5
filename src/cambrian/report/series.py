"""The data of the charts over time: one trial's series in equal steps, packed for the page.

A series is one entry of :data:`KINDS`; the page draws a panel for each entry that a trial has.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from cambrian.metrics import queueing, throughput
from cambrian.metrics.columns import BITS_PER_BYTE, NS_PER_S, Int64Array, int64
from cambrian.store.results import TrialResult

#: steps that a trial's data may have, in µs
STEPS_US: tuple[int, ...] = tuple(digit * 10**power for power in range(2, 8) for digit in (1, 2, 5))
#: a trial gets the shortest step with at most so many steps, and whose packed data fits
_MOST_STEPS = 60_000
#: steps of the coarse throughput
COARSE = 240
#: bytes of a stored unit of an amount of data
_UNIT_BYTES = 100
_NONE = -1


@dataclass(frozen=True)
class Grid:
    """Steps of ``step_ns`` from the trial's zero to ``end_ns``, and the trial's flows."""

    end_ns: int
    step_ns: int
    flows: int

    @property
    def steps(self) -> int:
        """The number of steps; the last one may be shorter."""
        return -(-self.end_ns // self.step_ns)


@dataclass(frozen=True)
class Kind:
    """A series over time. ``read`` gives rows of whole numbers, each ``scale(grid)`` units; -1: no value.

    ``joins``: how the page joins steps to a longer one; ``times`` are not steps but events, each the number
    of its step of ``scale(grid)`` seconds, in whose middle the page shows it. ``of_flows``: a row is a flow;
    otherwise the only row is the link's.
    """

    name: str
    heading: str
    unit: str
    meaning: str
    joins: Literal["mean", "max", "last", "times"]
    scale: Callable[[Grid], float]
    read: Callable[[TrialResult, Grid], list[Int64Array]]
    of_flows: bool = True


@dataclass(frozen=True)
class Timeline:
    """One trial over time.

    ``coarse_mbps``: each flow's throughput in steps of :func:`coarse_step_ns`, :data:`COARSE` or fewer.
    ``packed`` is the page's data with its description (:func:`packed`).
    """

    trial_id: str
    coarse_mbps: tuple[tuple[float, ...], ...]
    packed: dict[str, Any]


def _throughput(result: TrialResult, grid: Grid) -> list[Int64Array]:
    """Bytes of each step: exact, and few different numbers. A shorter last step has those of a whole one."""
    packets = result.packets.filter(pl.col("departure_ns") < grid.end_ns)
    whole_ns = grid.steps * grid.step_ns
    binned = throughput.binned_throughput(packets, grid.flows, grid.step_ns, 0, whole_ns)
    size = binned["throughput_mbps"].to_numpy() * (grid.step_ns / (BITS_PER_BYTE * 1000.0))
    rows = size.reshape(grid.flows, grid.steps)
    rows[:, -1] *= grid.step_ns / (grid.step_ns - (whole_ns - grid.end_ns))
    return list(np.rint(rows).astype(np.int64))


def _queue(result: TrialResult, grid: Grid) -> list[Int64Array]:
    packets = result.packets.filter(pl.col("arrival_ns") < grid.end_ns)
    binned = queueing.binned_occupancy(packets, grid.step_ns, 0, grid.steps * grid.step_ns)
    return [_in_units(int64(binned, "max_bytes"))]


def _reported(column: str) -> Callable[[TrialResult, Grid], list[Int64Array]]:
    """The last value that a flow's stack reported until the end of each step."""

    def read(result: TrialResult, grid: Grid) -> list[Int64Array]:
        rows = result.transport.filter(pl.col(column).is_not_null() & (pl.col("time_ns") >= 0))
        return [_held(rows.filter(pl.col("flow") == flow), column, grid) for flow in range(grid.flows)]

    return read


def _held(rows: pl.DataFrame, column: str, grid: Grid) -> Int64Array:
    ends = np.minimum(np.arange(1, grid.steps + 1, dtype=np.int64) * grid.step_ns, grid.end_ns)
    last = np.searchsorted(int64(rows, "time_ns"), ends, side="left") - 1
    values = np.append(_in_units(int64(rows, column)), _NONE)
    return values[last]


def _drops(result: TrialResult, grid: Grid) -> list[Int64Array]:
    """The step of each drop: a longer step makes these smaller, too, however many there are."""
    dropped = result.packets.filter((pl.col("outcome") == "dropped") & (pl.col("arrival_ns") < grid.end_ns))
    return [
        np.sort(int64(dropped.filter(pl.col("flow") == flow), "arrival_ns")) // grid.step_ns
        for flow in range(grid.flows)
    ]


def _in_units(size_bytes: Int64Array) -> Int64Array:
    return np.rint(size_bytes / _UNIT_BYTES).astype(np.int64)


def _kb(grid: Grid) -> float:
    del grid
    return _UNIT_BYTES / 1000


#: the series, in the order of the page's panels
KINDS = (
    Kind(
        "throughput_mbps",
        "Throughput",
        "Mbps",
        "frames that leave the bottleneck",
        "mean",
        lambda grid: BITS_PER_BYTE * 1000.0 / grid.step_ns,
        _throughput,
    ),
    Kind(
        "queue_kb",
        "Queue at the bottleneck",
        "kB",
        "largest occupancy in each step, all flows; packets that an AQM drops later do not count",
        "max",
        _kb,
        _queue,
        of_flows=False,
    ),
    Kind(
        "cwnd_kb", "Congestion window", "kB", "as the stack reports it", "last", _kb, _reported("cwnd_bytes")
    ),
    Kind(
        "in_flight_kb",
        "Bytes in flight",
        "kB",
        "as the stack reports them",
        "last",
        _kb,
        _reported("in_flight_bytes"),
    ),
    Kind(
        "drops_s",
        "Losses at the bottleneck",
        "s",
        "each packet that the queue dropped, in the step in which it arrived",
        "times",
        lambda grid: grid.step_ns / NS_PER_S,
        _drops,
    ),
)


def read(
    result: TrialResult, *, flow_count: int, duration_s: float, most_bytes: int, coarse_step_ns: int
) -> Timeline:
    """One valid trial's series, in the shortest step whose packed data has at most ``most_bytes``."""
    end_ns = max(round(duration_s * NS_PER_S), STEPS_US[0] * 1000)
    grids = [Grid(end_ns, us * 1000, flow_count) for us in STEPS_US]
    # a step takes a byte or more
    fitting = [grid for grid in grids if grid.steps <= min(_MOST_STEPS, most_bytes)] or grids[-1:]
    made = packed(result, fitting[0])
    for grid in fitting[1:]:
        over = len(made["data"]) / most_bytes
        if over <= 1:
            break
        # packets of a step share its numbers, so data shrinks more slowly than steps
        if grid.step_ns >= made["step_us"] * 1000 * over**0.5:
            made = packed(result, grid)
    return Timeline(result.id, _coarse(result, flow_count, end_ns, coarse_step_ns), made)


def coarse_step_ns(longest_s: float) -> int:
    """The coarse step of trials that are compared step by step, of which the longest takes so long."""
    end_ns = round(longest_s * NS_PER_S)
    return next(us * 1000 for us in (*STEPS_US, end_ns // 1000) if end_ns // (us * 1000) <= COARSE)


def _coarse(result: TrialResult, flows: int, end_ns: int, step_ns: int) -> tuple[tuple[float, ...], ...]:
    # a load that is much shorter than the longest has a step, too
    steps = max(end_ns // step_ns, 1)
    binned = throughput.binned_throughput(result.packets, flows, step_ns, 0, steps * step_ns)
    mbps = binned["throughput_mbps"].to_numpy().reshape(flows, steps)
    return tuple(tuple(row) for row in mbps.round(3).tolist())


def packed(result: TrialResult, grid: Grid) -> dict[str, Any]:
    """The page's data: ``data`` is base64 of zlib of variable-length whole numbers, row after row.

    A row of ``mean`` has its numbers, any other row their differences (the first one from -1). ``kinds``
    has a series' numbers in each row, without series that have no value.
    """
    kinds, rows = [], []
    for kind in KINDS:
        mine = kind.read(result, grid)
        if all((row == _NONE).all() for row in mine) and kind.joins != "times":
            continue
        lengths = [len(row) for row in mine]
        kinds.append({"name": kind.name, "scale": kind.scale(grid), "lengths": lengths})
        rows += [row if kind.joins == "mean" else _zigzag(np.diff(row, prepend=_NONE)) for row in mine]
    numbers = np.concatenate(rows).astype(np.uint64)
    return {
        "step_us": grid.step_ns // 1000,
        "steps": grid.steps,
        "kinds": kinds,
        "data": base64.b64encode(zlib.compress(_varints(numbers), 9)).decode(),
    }


def _zigzag(values: Int64Array) -> Int64Array:
    """0, -1, 1, -2… → 0, 1, 2, 3…"""
    return (values << 1) ^ (values >> 63)


def _varints(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> bytes:
    """LEB128: seven bits a byte, the lowest first; the top bit says that more follow."""
    limits = np.array([1 << (7 * count) for count in range(1, 9)], dtype=np.uint64)
    lengths = 1 + np.searchsorted(limits, numbers, side="right")
    starts = np.cumsum(lengths) - lengths
    out = np.empty(int(lengths.sum()), dtype=np.uint8)
    for place in range(int(lengths.max(initial=0))):
        mine = lengths > place
        bits = (numbers[mine] >> np.uint64(7 * place)) & np.uint64(127)
        out[starts[mine] + place] = bits | np.where(lengths[mine] > place + 1, 128, 0).astype(np.uint64)
    return out.tobytes()
