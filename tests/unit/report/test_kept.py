"""Results that are made once: what their keys cover, and what comes back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cambrian.metrics import clustered
from cambrian.report import kept
from cambrian.report.conformance import halves

MADE_BY = ("cambrian.metrics.clustered",)


def test_a_key_covers_values_shape_kind_order_and_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    points, unit = np.arange(6.0).reshape(3, 2), np.ones(2)
    others = [(points + 1, unit), (points.reshape(2, 3), unit), (points.astype(int), unit), (unit, points)]
    keys = {kept.key_of_arrays(MADE_BY, *arrays) for arrays in [(points, unit), *others]}
    assert len(keys) == 5
    assert kept.key_of_arrays(MADE_BY, points.copy(), unit) in keys
    monkeypatch.setattr(kept, "_libraries", lambda: ["numpy 0"])
    assert kept.key_of_arrays(MADE_BY, points, unit) not in keys


def test_areas_come_back_as_they_were_made_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path))
    draw = np.random.default_rng(5)
    one, other, unit = draw.normal(size=(40, 2)), draw.normal(size=(40, 2)) + 3, np.ones(2)
    tasks = [(one, unit), (other, unit), (one, unit)]
    expected = [clustered.trial_area(*task) for task in tasks]
    for areas in (halves._areas(tasks), halves._areas(tasks)):
        assert [area.points.tolist() for area in areas] == [area.points.tolist() for area in expected]
        assert [area.area.wkb for area in areas] == [area.area.wkb for area in expected]
    assert len(list(tmp_path.rglob("output.pkl"))) == 2
