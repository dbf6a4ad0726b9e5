"""Predictions beside kernel TCP: by hand, in the measured figure's bytes, and for nothing else."""

from __future__ import annotations

import math

import polars as pl
import pytest

from cambrian.report.charts import theory
from tests.unit.report.suite.made import observations


def test_mathis_by_hand() -> None:
    # 1 % loss: √1.5 · 10 = 12.247 segments of 1448 bytes each 100 ms
    found = theory.predict(4, 100, 1, theory.PAYLOAD_BYTES)
    assert found.mathis_mbps == pytest.approx(math.sqrt(1.5) * 10 * 1448 * 8 / 0.1 / 1e6)
    assert found.limit_mbps == pytest.approx(4 * 1448 / 1514)


def test_cubic_is_reno_where_round_trips_are_short_and_above_it_where_they_are_long() -> None:
    short, long = (theory.predict(100, rtt_ms, 0.01, 1448) for rtt_ms in (10, 400))
    assert short.rfc9438_mbps == short.mathis_mbps
    assert long.rfc9438_mbps is not None and long.mathis_mbps is not None
    assert long.rfc9438_mbps > 1.5 * long.mathis_mbps


def test_frames_and_payload_differ_as_their_bytes() -> None:
    frames, payload = (theory.predict(4, 100, 1, theory.SEGMENT_BYTES[name]) for name in
                       ("throughput_mbps", "payload_mbps"))  # fmt: skip
    assert frames.mathis_mbps is not None and payload.mathis_mbps is not None
    assert frames.mathis_mbps / payload.mathis_mbps == pytest.approx(1514 / 1448)
    assert frames.limit_mbps == 4


def test_only_lone_kernel_tcp_is_predicted() -> None:
    frame = observations()
    found = theory.predictions(frame, ["contestant", "loss_percent"], "payload_mbps")
    assert set(found["contestant"]) == {"tcp"}
    assert sorted(found["loss_percent"]) == [0, 1, 2]
    crowd = frame.with_columns(pl.lit(2).alias("flows"))
    assert theory.predictions(crowd, ["contestant", "loss_percent"], "payload_mbps").is_empty()
    assert theory.predictions(frame, ["contestant"], "payload_mbps").is_empty()  # several losses in a cell
    assert theory.predictions(frame, ["contestant"], "plt_ms").is_empty()


def test_what_exceeds_the_link_is_said_to() -> None:
    clean, light, heavy = (theory.predict(4, 100, loss, 1448) for loss in (0, 0.001, 2))
    assert theory.text(clean.mathis_mbps, clean.limit_mbps) == "link-limited"
    assert theory.text(light.mathis_mbps, light.limit_mbps) == "link-limited"
    assert theory.text(heavy.mathis_mbps, heavy.limit_mbps) == f"{heavy.mathis_mbps:.2f}"
