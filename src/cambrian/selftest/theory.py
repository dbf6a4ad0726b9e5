"""Compares kernel Reno and CUBIC with the formulas for their mean window.

The formulas (Mathis et al. 1997; RFC 9438, section 5) assume periodic losses: one in
every 1/p packets. The link here loses packets like that, on a path that is never full.
(Independent random losses with the same frequency give both controllers larger windows than
their formulas, CUBIC about a fifth; losses of a drop-tail queue depend on CUBIC's last maximum.)

Validity of CUBIC's formula: the plateau is so flat that a window in whole segments
reaches its last maximum 1.08 s before the curve does (C·t³ is half a segment then), and
periodic losses keep it there. With an epoch of 4.6 s (100 ms, n = 10,000) the measured mean was
16 % above the formula. So the epoch must be much longer than a second. In short epochs the
Reno-friendly window applies, which has another formula.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cambrian.metrics.theory import cubic_average_window_segments, reno_window_segments
from cambrian.selftest.bench import Bench, flow, trial
from cambrian.selftest.check import Check
from cambrian.store.results import TrialResult
from cambrian.study.model import Network
from cambrian.trace.kernel_tcp import MSS_BYTES

TOLERANCE = 0.10
DURATION_S = 260
#: the first slow start and what follows it
WARM_UP_S = 60
RATE_MBPS = 200
#: CCA, RTT, n (every n-th packet is lost) and the region of CUBIC's window
CASES = (
    ("reno", 50, 2_000, ""),
    ("reno", 100, 1_000, ""),
    ("cubic", 20, 500, " (Reno-friendly)"),
    ("cubic", 400, 40_000, " (cubic)"),
)


def checks(bench: Bench) -> Iterator[Check]:
    """A row for each case."""
    trials = [
        trial(
            Network(rate_mbps=RATE_MBPS, rtt_ms=rtt, buffer_bdp=1, loss_every_packets=every),
            flow("tcp", cca),
            duration_s=DURATION_S,
        )
        for cca, rtt, every, _ in CASES
    ]
    for (cca, rtt, _, region), result in zip(CASES, bench.run(trials), strict=True):
        window, loss_ratio, events = mean_window(result)
        if cca == "reno":
            expected = reno_window_segments(loss_ratio)
        else:
            expected = cubic_average_window_segments(loss_ratio, rtt / 1e3)
        error = window / expected - 1
        yield Check(
            f"theory: {cca}, {rtt} ms{region}",
            f"{expected:.1f} segments ± {TOLERANCE:.0%} (p = {loss_ratio:.2e}, {events} loss events)",
            f"{window:.1f} segments ({error:+.1%})",
            abs(error) <= TOLERANCE,
        )


def mean_window(result: TrialResult) -> tuple[float, float, int]:
    """Mean window over time in segments, loss events per segment, and their number, after the warm-up.

    A loss event is an entry into recovery. The mean is over whole epochs, from the first
    event to the last.
    """
    rows = result.transport.filter((pl.col("flow") == 0) & (pl.col("time_ns") >= WARM_UP_S * 1_000_000_000))
    losses = rows.filter((pl.col("event") == "state") & (pl.col("state") == "recovery"))["time_ns"].to_list()
    first, last = losses[0], losses[-1]
    acks = rows.filter((pl.col("event") == "ack") & pl.col("time_ns").is_between(first, last))
    window = acks["cwnd_bytes"].to_numpy() / MSS_BYTES
    # each sample holds until the next
    mean = float(np.average(window[:-1], weights=np.diff(acks["time_ns"].to_numpy())))
    sent = result.packets.filter(pl.col("arrival_ns").is_between(first, last)).height
    return mean, (len(losses) - 1) / sent, len(losses)
