"""QUICbench's formulas once more, naively: plain Python, packet by packet, point by point.

Throughput and delay over windows of 10 RTT, one point every 10 RTT, the 95 % nearest to the
mean, one hull, conformance and deviation. Nothing here shares code with the metrics.
"""

from __future__ import annotations

import math
import random

import polars as pl
import pytest

from cambrian.metrics.conformance import compare
from cambrian.metrics.envelope import imc22
from tests.unit.metrics_frames import bottleneck

Point = tuple[float, float]
RTT_MS = 5.0
DURATION_S = 6.0


def trace(seed: int) -> pl.DataFrame:
    """Two flows through one drop-tail queue of 8 Mbps: windows that grow, and halve at random."""
    draw = random.Random(seed)
    offered: list[tuple[int, int, int]] = []
    for flow in (0, 1):
        now, window = draw.uniform(0, 0.2), 3.0
        while now < DURATION_S:
            window = max(2.0, window / 2) if draw.random() < 0.04 else window + draw.uniform(0, 0.6)
            gap = RTT_MS / 1000 / window
            for _ in range(round(window)):
                offered.append((flow, round(now * 1e9), draw.choice([1514, 1514, 1242])))
                now += gap * draw.uniform(0.6, 1.6)
    return bottleneck(sorted(offered, key=lambda one: one[1]), 1000, 30 * 1514, 1600)


def points(packets: pl.DataFrame, flow: int) -> list[Point]:
    window = 10 * RTT_MS / 1000
    run: list[tuple[float, int, float]] = []
    found: list[Point] = []
    due = -1.0
    rows = packets.filter((pl.col("flow") == flow) & (pl.col("outcome") == "departed")).sort("departure_ns")
    for row in rows.rows(named=True):
        now = row["departure_ns"] / 1e9
        if now >= 0.95 * DURATION_S:
            break
        run.append((now, row["size_bytes"], (row["departure_ns"] - row["arrival_ns"]) / 1e6))
        if row["departure_ns"] - round(run[0][0] * 1e9) > round(window * 1e9):
            if now >= due:
                due = now + window if due < 0 else due + window
                mbps = sum(size for _, size, _ in run) * 8 / (now - run[0][0]) / 1e6
                found.append((mbps, sum(delay for *_, delay in run) / len(run)))
            run.pop(0)
    return found


def mean(all_points: list[Point]) -> Point:
    count = len(all_points)
    return sum(x for x, _ in all_points) / count, sum(y for _, y in all_points) / count


def nearest(all_points: list[Point]) -> list[Point]:
    centre = mean(all_points)
    return sorted(all_points, key=lambda one: math.dist(one, centre))[: int(0.95 * len(all_points))]


def hull(kept: list[Point]) -> list[Point]:
    """Gift wrapping, counter-clockwise."""
    corners = [min(kept)]
    while True:
        best = kept[0] if kept[0] != corners[-1] else kept[1]
        for one in kept:
            side = turn(corners[-1], best, one)
            if side < 0 or (side == 0 and math.dist(corners[-1], one) > math.dist(corners[-1], best)):
                best = one
        if best == corners[0]:
            return corners
        corners.append(best)


def turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def count_inside(some: list[Point], corners: list[Point]) -> int:
    edges = list(zip(corners, corners[1:] + corners[:1], strict=True))
    return sum(all(turn(a, b, one) >= -1e-9 for a, b in edges) for one in some)


@pytest.mark.parametrize("seed", range(6))
def test_conformance_and_deviation_are_quicbenchs(seed: int) -> None:
    one, other = trace(seed), trace(seed + 100)
    mine = [imc22(packets, 0, RTT_MS, DURATION_S) for packets in (one, other)]
    theirs = [points(packets, 0) for packets in (one, other)]
    assert min(map(len, theirs)) > 60
    kept = [nearest(side) for side in theirs]
    hulls = [hull(side) for side in kept]
    inside = count_inside(kept[0], hulls[1]) + count_inside(kept[1], hulls[0])
    found = compare(*mine)
    assert [len(side.points) for side in mine] == [len(side) for side in theirs]
    assert [len(side.outline) for side in mine] == [len(side) for side in hulls]
    assert found.conformance == pytest.approx(inside / (len(kept[0]) + len(kept[1])), abs=1e-12)
    assert found.deviation == pytest.approx(math.dist(mean(theirs[0]), mean(theirs[1])), rel=1e-9)
    assert 0.2 < found.conformance < 1
