"""What a flow got: throughput, sharing, delay, loss, completion, page load time, window."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from cambrian.metrics.columns import NS_PER_S
from cambrian.report.flow_measures import FlowMeasures
from cambrian.report.measure import TrialMeasures
from cambrian.report.observations.column import Dtype, Row, known, percent

COLUMNS: Mapping[str, Dtype] = {"outcome": pl.String()} | dict.fromkeys(
    (
        "ended_s",
        "throughput_mbps",
        "payload_mbps",
        "share_percent",
        "payload_capacity_percent",
        "of_fair_percent",
        "jain",
        "utilisation_percent",
        "starved_percent",
        "longest_starved_s",
        "longest_pause_ms",
        "convergence_s",
        "convergence_observed_s",
        "delay_p50_ms",
        "delay_p95_ms",
        "delay_p99_ms",
        "queue_loss_percent",
        "random_loss_percent",
        "interval_queue_loss_percent",
        "completion_s",
        "download_mbps",
        "fetch_s",
        "fetch_mbps",
        "plt_ms",
        "document_ms",
        "first_object_ms",
        "last_object_ms",
        "cwnd_mean_packets",
        "cwnd_most_packets",
        "cwnd_growth_packets_per_s",
        "cwnd_rises_per_s",
        "cwnd_rate_mbps",
        "packet_mean_bytes",
    ),
    pl.Float64(),
)
_AS_THEY_ARE = (
    "outcome",
    "ended_s",
    "throughput_mbps",
    "payload_mbps",
    "longest_pause_ms",
    "delay_p50_ms",
    "delay_p95_ms",
    "delay_p99_ms",
    "queue_loss_percent",
    "random_loss_percent",
    "interval_queue_loss_percent",
    "completion_s",
    "fetch_s",
    "cwnd_mean_packets",
    "cwnd_most_packets",
    "cwnd_growth_packets_per_s",
    "cwnd_rises_per_s",
    "cwnd_rate_mbps",
    "packet_mean_bytes",
)
_OF_A_LOAD = ("plt_ms", "document_ms", "first_object_ms", "last_object_ms")


def row(trial: TrialMeasures, number: int) -> Row:
    """One flow of one trial. ``jain`` and ``utilisation_percent`` are the trial's, alike for its flows."""
    flow = trial.flows[number]
    found: Row = {name: getattr(flow, name) for name in _AS_THEY_ARE} | {
        "share_percent": percent(flow.share),
        "payload_capacity_percent": percent(flow.payload_capacity_share),
        "jain": known(trial.jain),
        "utilisation_percent": percent(trial.utilisation),
    }
    asked = trial.trial.flows[number]
    found |= _download(flow, asked.size_bytes)
    found |= _sharing(trial, number)
    load = next((load for load in trial.page_loads if load.flow == number), None)
    if load and asked.page:
        found |= {name: getattr(load, name) for name in _OF_A_LOAD}
        found |= _fetch(asked.page.size_bytes, load.plt_ms)
    return found


def _download(flow: FlowMeasures, size_bytes: int) -> Row:
    """Application bytes over the time they took at the bottleneck, and over all that the client waited."""
    times_s = {"download_mbps": flow.completion_s, "fetch_mbps": flow.fetch_s}
    return {name: size_bytes * 8e-6 / time_s for name, time_s in times_s.items() if size_bytes and time_s}


def _fetch(page_bytes: int, plt_ms: float | None) -> Row:
    """A page load as a download: the bytes of its images over the time that its client took for all."""
    return {"fetch_s": plt_ms / 1e3, "fetch_mbps": page_bytes * 8e-3 / plt_ms} if plt_ms else {}


def _sharing(trial: TrialMeasures, number: int) -> Row:
    found: Row = {}
    if trial.sharing is None:
        return found
    if trial.sharing.of_fair:
        found["of_fair_percent"] = percent(trial.sharing.of_fair[number])
    if trial.sharing.starvation:
        spells = trial.sharing.starvation[number]
        found["starved_percent"] = percent(spells.share_of_time)
        found["longest_starved_s"] = spells.longest_ns / NS_PER_S
    for join in trial.sharing.joins:
        if join.flow == number:
            found["convergence_s"] = None if join.time_ns is None else join.time_ns / NS_PER_S
            found["convergence_observed_s"] = join.observed_ns / NS_PER_S
    return found
