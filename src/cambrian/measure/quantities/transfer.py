"""Duration of transfers of fixed size and of page loads."""

from __future__ import annotations

from typing import Any

from cambrian.measure.flow_window import FlowWindow
from cambrian.measure.quantity import INTEGER, Quantity
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.columns import NS_PER_MS, NS_PER_S
from cambrian.metrics.pageload import PageLoad


def _completion_s(window: FlowWindow) -> float | None:
    span = window.own_span_ns
    return None if span is None or window.complete_ns is None else (span[1] - span[0]) / NS_PER_S


def _fetch_s(window: FlowWindow) -> float | None:
    """A page's loads are timed by their clients (:mod:`cambrian.metrics.pageload`)."""
    if window.complete_ns is None or window.flow.page:
        return None
    return (window.complete_ns - window.flow.start_ms * NS_PER_MS) / NS_PER_S


def _load(trial: TrialMeasures, number: int) -> PageLoad | None:
    return next((load for load in trial.page_loads if load.flow == number), None)


def _download_mbps(trial: TrialMeasures, number: int) -> float | None:
    return _rate_mbps(trial.trial.flows[number].size_bytes, trial.flows[number]["completion_s"])


def _fetch_or_load_s(trial: TrialMeasures, number: int) -> float | None:
    load = _load(trial, number)
    if load and trial.trial.flows[number].page and load.plt_ms:
        return load.plt_ms / 1e3
    fetched_s: float | None = trial.flows[number]["fetch_s"]
    return fetched_s


def _fetch_mbps(trial: TrialMeasures, number: int) -> float | None:
    """A page load as a download: the bytes of its images over the time that its client took for all."""
    load, flow = _load(trial, number), trial.trial.flows[number]
    if load and flow.page and load.plt_ms:
        return flow.page.size_bytes * 8e-3 / load.plt_ms
    return _rate_mbps(flow.size_bytes, trial.flows[number]["fetch_s"])


def _rate_mbps(size_bytes: int, time_s: float | None) -> float | None:
    return size_bytes * 8e-6 / time_s if size_bytes and time_s else None


def _of_load(name: str) -> Any:
    def value(trial: TrialMeasures, number: int) -> float | None:
        load = _load(trial, number)
        return getattr(load, name) if load and trial.trial.flows[number].page else None

    return value


QUANTITIES = (
    Quantity(
        "completion_s",
        "transfer time at the bottleneck: from the flow's first arrival there to its last departure before "
        "the client had all bytes (also pages); null if it carried less or more than its bytes. `fetch_s` is "
        "longer: it begins at the client's start and ends at the client",
        heading="First to last packet at the bottleneck, s",
        digits=2,
        window=_completion_s,
        of_complete=True,
    ),
    Quantity("download_mbps", "size_bytes × 8 / completion_s", trial=_download_mbps, of_complete=True),
    Quantity(
        "fetch_s",
        "fetch time at the client: from its start (`start_ms`) until it has all bytes, with the handshake; "
        "for a page, its load time (as in CS244)",
        heading="Client’s start until it had all, s",
        digits=2,
        window=_fetch_s,
        trial=_fetch_or_load_s,
        of_complete=True,
    ),
    Quantity("fetch_mbps", "size_bytes × 8 / fetch_s", trial=_fetch_mbps, of_complete=True),
    Quantity("plt_ms", "page load time", formula="Page loads", trial=_of_load("plt_ms"), of_complete=True),
    Quantity(
        "document_ms",
        "from the navigation's start until the document had arrived",
        formula="Page loads",
        trial=_of_load("document_ms"),
        of_complete=True,
    ),
    Quantity(
        "first_object_ms",
        "from the navigation's start until the first image had arrived",
        formula="Page loads",
        trial=_of_load("first_object_ms"),
        of_complete=True,
    ),
    Quantity(
        "last_object_ms",
        "from the navigation's start until the last image had arrived",
        formula="Page loads",
        trial=_of_load("last_object_ms"),
        of_complete=True,
    ),
    Quantity(
        "not_complete",
        "transfers and page loads of this flow that were not complete at the trial's end, of all trials of "
        "the group, also of the invalid ones; null for an endless flow",
        INTEGER,
    ),
)
