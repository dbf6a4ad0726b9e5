"""Compares virtual time with real time: the same trial on both clocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cambrian.metrics.queueing import delay_summary
from cambrian.metrics.throughput import total_throughput_mbps
from cambrian.selftest.bench import Bench, flow, trial
from cambrian.selftest.check import Check, within
from cambrian.store.results import TrialResult
from cambrian.study.model import Clock, Network, Trial
from cambrian.trial import real_time

NETWORK = Network(rate_mbps=10, rtt_ms=50, buffer_bdp=1)
DURATION_S = 12
WARM_UP_NS = 4_000_000_000
#: tolerances for the host's scheduling, which a real clock includes
THROUGHPUT_TOLERANCE = 0.03
DELAY_TOLERANCE_MS = 6.0
RTT_TOLERANCE_MS = 2.0


def _trial(clock: Clock) -> Trial:
    return trial(NETWORK, flow("tcp", "cubic"), duration_s=DURATION_S).model_copy(update={"clock": clock})


def checks(bench: Bench) -> Iterator[Check]:
    """Throughput, queueing delay and base RTT, real against virtual."""
    # one after the other, because a guest in real time needs its own core
    (virtual,), (real,) = bench.run([_trial("virtual")]), bench.run_any([_trial("real")])
    verdict = real.verdict
    rows = (
        list(_compared(virtual, real))
        if verdict["valid"]
        else [Check("clocks: trial in real time", "a valid trial", "; ".join(verdict["reasons"]), ok=False)]
    )
    report = real.manifest["guest"]
    yield from judged(rows, real_time.behind(report) if report else None)


def judged(rows: Sequence[Check], behind: str | None) -> list[Check]:
    """The rows, or the one reason why this machine cannot make them.

    ``behind``: how far the machine fell behind in real time (:func:`cambrian.trial.real_time.behind`). A
    difference between the clocks that such a machine shows is no fault of the installation. A machine that
    fell behind and shows no difference has passed.
    """
    if behind is None or all(row.ok for row in rows):
        return list(rows)
    measured = f"this machine cannot keep up; {behind}; remedy: run it on an idle or faster machine"
    return [Check("clocks: real against virtual", "the same figures", measured, None)]


def _compared(virtual: TrialResult, real: TrialResult) -> Iterator[Check]:
    span = (WARM_UP_NS, DURATION_S * 1_000_000_000)
    rates = [total_throughput_mbps(result.packets, *span) for result in (virtual, real)]
    yield within(
        "clocks: throughput, real against virtual",
        rates[1],
        rates[0],
        rates[0] * THROUGHPUT_TOLERANCE,
        "Mbps",
        digits=2,
    )
    delays = [delay_summary(result.packets, *span)["mean_ms"].to_list()[-1] for result in (virtual, real)]
    yield within(
        "clocks: mean queueing delay, real against virtual",
        delays[1],
        delays[0],
        DELAY_TOLERANCE_MS,
        "ms",
        digits=2,
    )
    base = [result.manifest["guest"]["base_rtt_ns"][0] / 1e6 for result in (virtual, real)]
    yield within("clocks: base RTT, real against virtual", base[1], base[0], RTT_TOLERANCE_MS, "ms", digits=2)
