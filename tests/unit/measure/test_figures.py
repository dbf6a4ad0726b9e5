"""The figures of one trial without its study, from a committed trial."""

from __future__ import annotations

import pytest

from cambrian.measure.figures import Figures
from cambrian.store.results import TrialResult
from tests.unit import report_results


def test_figures_that_need_the_protocol_are_there() -> None:
    """Two flows of kernel TCP: of each frame of 1514 bytes, 1448 are payload."""
    figures = Figures(TrialResult(sorted((report_results.KNOBS / "trials").iterdir())[0]))
    payload, frames = figures.value("payload_mbps"), figures.value("throughput_mbps")
    assert payload / frames == pytest.approx(1448 / 1514, rel=0.01)
    for name in ("payload_capacity_percent", "cwnd_mean_packets", "cwnd_rate_mbps", "window_unused_percent"):
        assert figures.value(name, 1) is not None, name


def test_an_unknown_quantity_has_an_error() -> None:
    figures = Figures(TrialResult(sorted((report_results.KNOBS / "trials").iterdir())[0]))
    with pytest.raises(ValueError, match="no quantity througput_mbps"):
        figures.value("througput_mbps")
