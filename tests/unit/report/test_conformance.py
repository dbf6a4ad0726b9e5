from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from cambrian.report import conformance, limits, tables
from cambrian.report.collect import Cell, Collected, collect
from cambrian.report.conformance import seed_pairs
from cambrian.report.figures import envelopes
from cambrian.report.tables import conformance as conformance_table
from cambrian.report.tables import envelope_methods
from cambrian.report.tables import noise_floor as noise_floor_table
from cambrian.stats import pairs
from cambrian.stats.interval import Interval
from cambrian.store.results import Results
from tests.unit import report_results

TLS, PACED = "tcp cubic with TLS", "tcp reno paced at 1 Mbps"


@pytest.fixture(scope="module")
def knobs() -> Collected:
    return collect(Results(report_results.KNOBS))


@pytest.fixture(scope="module")
def methods(knobs: Collected) -> pl.DataFrame:
    found = envelope_methods.table(knobs)
    assert found is not None
    return found


def cell(collected: Collected, subject: str) -> Cell:
    return next(one for one in collected.cells if one.subject == subject)


def row(frame: pl.DataFrame, **wanted: object) -> dict[str, object]:
    found = frame.filter([pl.col(name) == value for name, value in wanted.items()])
    assert found.height == 1
    return found.row(0, named=True)


def test_each_contestant_has_a_row_a_method(methods: pl.DataFrame) -> None:
    found = sorted(methods.select("contestant", "method").rows())
    assert found == [(one, method) for one in (TLS, PACED) for method in ("clustered", "imc22")]


def test_a_limited_contestant_is_accused_by_no_method(
    knobs: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seed_pairs, "judge", lambda *_: "different")
    monkeypatch.setattr(limits, "withheld", lambda _, contestant, network: contestant == PACED)
    found = envelope_methods.table(knobs)
    assert found is not None
    columns = ("contestant", "verdict", "verdict_t")
    assert set(found.select(columns).rows()) == {
        (TLS, "different", "different"),
        (PACED, "inconclusive", "inconclusive"),
    }


def test_one_test_has_one_state(knobs: Collected, monkeypatch: pytest.MonkeyPatch) -> None:
    """imc22 was corrected over twice as many rows as in the table of conformance: 0.072 there, 0.036 here."""
    interval = Interval(0.3, 0.2, 0.4, 0.95, 5, "")
    monkeypatch.setattr(pairs, "deficit", lambda one, two: (interval, 0.003 * pairs.mean(one).estimate))
    own, all_methods = conformance_table.table(knobs), envelope_methods.table(knobs)
    assert own is not None and all_methods is not None
    columns = ("contestant", "p_corrected", "verdict")
    assert all_methods.filter(pl.col("method") == "imc22").select(columns).equals(own.select(columns))


@pytest.mark.parametrize("method", ["imc22", "clustered"])
def test_a_pace_cap_shows_where_tls_does_not(methods: pl.DataFrame, method: str) -> None:
    tls, paced = row(methods, contestant=TLS, method=method), row(methods, contestant=PACED, method=method)
    assert isinstance(tls["deficit"], float) and abs(tls["deficit"]) < 0.2
    assert isinstance(paced["deficit"], float) and paced["deficit"] > 0.3
    # paced at 1 Mbps beside a flow that takes the rest
    assert isinstance(paced["delta_throughput_mbps"], float) and paced["delta_throughput_mbps"] < -0.3
    assert {tls["verdict"], tls["verdict_t"]} == {"inconclusive"}
    assert paced["verdict"] != "equivalent"


def test_moving_never_makes_it_worse(methods: pl.DataFrame) -> None:
    # by imc22 only some pairs are moved, so their mean is of other pairs
    clustered = methods.filter(pl.col("method") == "clustered")
    assert (clustered["conformance_t"] >= clustered["conformance"] - 1e-9).all()
    assert (methods["delta_delay_ms_lowest"] <= methods["delta_delay_ms"]).all()
    assert (methods["delta_delay_ms"] <= methods["delta_delay_ms_highest"]).all()


def test_the_floor_is_that_of_the_pairs_of_trials(knobs: Collected) -> None:
    reference = cell(knobs, "tcp reno")
    expected = report_results.noise_floor([one for (one,) in seed_pairs.envelopes(reference).values()])
    found = conformance.floors(reference)["imc22"]
    assert found.count == len(expected)
    assert found.conformance.estimate == pytest.approx(expected.mean())
    assert (found.lowest, found.highest) == (expected.min(), expected.max())


def test_a_floor_is_a_row_a_reference_and_method(knobs: Collected) -> None:
    frame = noise_floor_table.table(knobs)
    assert frame is not None
    assert sorted(frame.select("cca", "method").rows()) == [
        (cca, method) for cca in ("cubic", "reno") for method in ("clustered", "imc22")
    ]
    found = row(frame, cca="reno", method="clustered")
    assert (found["trials"], found["comparisons"], found["compared"]) == (3, 3, "half-splits")
    assert (
        frame.select(pl.col("lowest") <= pl.col("mean"), pl.col("mean") <= pl.col("highest")).to_numpy().all()
    )
    assert tables.shown("noise_floor", frame, knobs).csv == "noise_floor.csv"


def test_a_contestant_like_its_reference_has_the_floors_score(knobs: Collected) -> None:
    reference = cell(knobs, "tcp cubic")
    for found in conformance.compare(reference, reference):
        assert found.deficit is not None
        assert abs(found.deficit.estimate) < 1e-9
        assert found.floor is not None
        assert found.scores.conformance.estimate == pytest.approx(found.floor.conformance.estimate)


def test_regions_are_drawn_beside_the_hulls(knobs: Collected) -> None:
    found = {figure.name.removesuffix("_4mbps-20ms-2bdp"): figure for figure in envelopes.figures(knobs)}
    assert set(found) == {"envelope", "envelope-pooled", "envelope-clustered"}
    figure = found["envelope-clustered"]
    # both references, half against half, and both contestants
    assert len(figure.panels) == 4
    assert np.isfinite(figure.data["throughput_mbps"].to_numpy()).all()
    assert set(figure.data["what"]) == {"point", "hull"}
