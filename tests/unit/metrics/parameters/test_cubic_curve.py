"""Who is accused of another law of growth, and where nobody can be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.metrics.parameters import cubic_curve
from cambrian.metrics.parameters.cubic_growth import Law, follow
from cambrian.metrics.parameters.epochs import Epochs
from cambrian.metrics.parameters.estimate import Estimate, Missing

FIXTURES = Path(__file__).parents[3] / "fixtures"
#: Reno's estimate of quic-go, a little below the standard's
SLOWER = Law(c=0.4, converging=0.85, alpha=0.46, lead_s=0.0335, ahead_s=0.0335)
STANDARD = Law(c=0.4, converging=0.85, alpha=0.529, lead_s=0.05, ahead_s=0.05)


def epochs(before: float, seconds: float, rtt_s: float = 0.05, count: int = 6, law: Law = STANDARD) -> Epochs:
    """Epochs of one length after a loss at ``before`` segments, whose window follows the law."""
    moments = np.linspace(0, seconds, 40)
    after = 0.7 * before
    acked = np.diff(moments, prepend=0.0) / rtt_s * after
    bare = Epochs(
        passed_s=np.tile(moments, (count, 1)),
        segments=np.zeros((count, len(moments))),
        acked=np.tile(acked, (count, 1)),
        before=np.full(count, before),
        after=np.full(count, after),
        number=np.arange(count),
    )
    segments = follow(law, bare, np.zeros(count, bool))
    return Epochs(bare.passed_s, segments, bare.acked, bare.before, bare.after, bare.number)


def growth(seen: Epochs) -> Estimate | Missing:
    found = cubic_curve.estimates(seen, np.full(len(seen), -9.0), 0.7, 0.05, "window")
    return next(one for one in found if one.parameter == "cubic_growth")


def bent(seen: Epochs, by: float) -> Epochs:
    """The same with a hump of so many segments in the middle of each epoch: no CUBIC does that."""
    hump = by * np.sin(np.linspace(0, np.pi, seen.segments.shape[1])) ** 8
    segments = seen.segments + hump
    return Epochs(seen.passed_s, segments, seen.acked, seen.before, seen.after, seen.number)


@pytest.mark.parametrize(("before", "seconds"), [(200.0, 10.0), (40.0, 1.5)])
def test_the_standard_is_cubics(before: float, seconds: float) -> None:
    found = growth(epochs(before, seconds))
    assert isinstance(found, Estimate)
    assert found.label == "CUBIC's"


def test_a_window_that_grows_as_renos_above_the_window_before_the_loss_is_cubics() -> None:
    """RFC 9438, section 4.3, recommends it. Without a next loss Reno's estimate passes that window."""
    seen = epochs(30.0, 5.0, law=replace(STANDARD, raised=True))
    assert seen.segments[0, -1] > epochs(30.0, 5.0).segments[0, -1] + 5
    found = {one.parameter: one for one in cubic_curve.estimates(seen, np.full(6, -9.0), 0.7, 0.05, "window")}
    assert isinstance(alpha := found["alpha"], Estimate)
    assert np.median(alpha.samples) == pytest.approx(STANDARD.alpha, abs=0.02)
    assert growth(seen).label == "CUBIC's"  # type: ignore[union-attr]


def test_another_law_is_accused_where_the_law_shows() -> None:
    found = growth(bent(epochs(200.0, 10.0), 60.0))
    assert isinstance(found, Estimate)
    assert found.label == "another"


def test_a_maximum_taken_from_the_flight_is_no_other_law() -> None:
    """quinn-proto, changed to take min(cwnd, flight) at a loss: W_max is one to three packets lower."""
    kept = json.loads((FIXTURES / "windows-of-a-flight.json").read_text())
    arrays = {name: np.array(values) for name, values in kept.items() if isinstance(values, list)}
    depth = arrays.pop("depth")
    seen = Epochs(**arrays, number=np.arange(len(depth)))
    found = {
        one.parameter: one
        for one in cubic_curve.estimates(seen, depth, kept["beta"], kept["read_ahead_s"], "window")
        if isinstance(one, Estimate)
    }
    assert found["cubic_growth"].label == "CUBIC's"
    assert found["cubic_c"].value == pytest.approx(0.4, abs=found["cubic_c"].resolution)
    # a hump in each epoch is another law still
    other = growth(bent(seen, 30.0))
    assert isinstance(other, Estimate)
    assert other.label == "another"


def test_where_renos_estimate_carries_the_window_no_law_of_growth_is_accused() -> None:
    found = growth(bent(epochs(40.0, 1.5), 9.0))
    assert isinstance(found, Missing)
    assert found.why == "Reno's estimate determines the window here"


def c_and_k(seen: Epochs) -> dict[str, Estimate | Missing]:
    told = cubic_curve.estimates(seen, np.full(len(seen), -9.0), 0.7, 0.03, "window")
    return {one.parameter: one for one in told if one.parameter in ("cubic_c", "cubic_k_s", "alpha")}


@pytest.mark.parametrize(("before", "seconds"), [(32.0, 0.757), (45.0, 1.2)])
def test_where_renos_estimate_carries_the_window_c_is_unknown(before: float, seconds: float) -> None:
    """Epochs that end long before K: a search finds a C, and any smaller one would do."""
    told = c_and_k(epochs(before, seconds, rtt_s=0.0335, count=16, law=SLOWER))
    assert isinstance(told["cubic_c"], Missing)
    assert isinstance(told["cubic_k_s"], Missing)


@settings(max_examples=10, deadline=None)
@given(st.floats(15, 120), st.floats(0.3, 4.0), st.sampled_from([0.02, 0.0335, 0.05]), st.floats(0.4, 1.0))
def test_a_c_that_is_told_is_the_true_one(before: float, seconds: float, rtt_s: float, alpha: float) -> None:
    law = replace(SLOWER, alpha=alpha, lead_s=rtt_s, ahead_s=rtt_s)
    c = c_and_k(epochs(before, seconds, rtt_s=rtt_s, law=law))["cubic_c"]
    if isinstance(c, Estimate):
        assert abs(c.value - 0.4) <= c.resolution


@pytest.mark.parametrize("c", [0.4, 1.2])
def test_c_is_told_where_the_curve_shows(c: float) -> None:
    told = c_and_k(epochs(200.0, 6.0, law=replace(STANDARD, c=c)))["cubic_c"]
    assert isinstance(told, Estimate)
    assert told.value == pytest.approx(c, rel=0.1)


def test_of_a_tiny_c_it_is_known_that_it_is_small() -> None:
    """C in the wrong unit: Reno's estimate carries the window where the standard's curve would show."""
    told = c_and_k(epochs(60.0, 8.0, rtt_s=0.1, law=replace(STANDARD, c=0.000272)))["cubic_c"]
    assert isinstance(told, Estimate)
    assert told.value - told.resolution <= 0.000272
    assert told.value + told.resolution < 0.4
