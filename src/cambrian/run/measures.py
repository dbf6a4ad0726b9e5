"""The measures that a stopping rule can watch, computed from a finished trial."""

from __future__ import annotations

import math

from cambrian.metrics import pageload
from cambrian.store.results import TrialResult
from cambrian.study.model import StoppingMeasure, Trial

#: unit of each measure
UNITS: dict[StoppingMeasure, str] = {"throughput_mbps": "Mbps", "share_percent": "%", "plt_ms": "ms"}
NAMES: dict[StoppingMeasure, str] = {
    "throughput_mbps": "throughput",
    "share_percent": "share of throughput",
    "plt_ms": "page load time",
}


def value(
    result: TrialResult, measure: StoppingMeasure, measured_from_s: float | None = None
) -> float | None:
    """Flow 0's ``measure`` in its unit, equal to the report's value; None if the trial has none."""
    value = _plt_ms(result) if measure == "plt_ms" else _from_packets(result, measure, measured_from_s)
    return value if value is not None and math.isfinite(value) else None


def _from_packets(
    result: TrialResult, measure: StoppingMeasure, measured_from_s: float | None
) -> float | None:
    # measuring needs libraries that take a second to load, and few studies stop by themselves
    from cambrian.measure.flow_window import FlowWindow
    from cambrian.measure.measuring import trial_window
    from cambrian.measure.quantities import OF_WINDOWS

    trial = Trial.model_validate(result.manifest["trial"])
    figure = next(one.window for one in OF_WINDOWS if one.name == measure and one.window is not None)
    found = figure(FlowWindow(trial_window(result, trial, measured_from_s=measured_from_s), 0))
    return None if found is None else float(found)


def _plt_ms(result: TrialResult) -> float | None:
    loads = pageload.page_loads(result.objects, result.page_loads)
    return next((load.plt_ms for load in loads if load.flow == 0), None)
