"""Waterfalls: phases, waits and stalls, by hand."""

from __future__ import annotations

import polars as pl
import pytest

from cambrian.metrics import waterfall
from cambrian.trace.objects import OBJECTS, PAGE_LOADS
from tests.unit.metrics_frames import Row, frame, steady

MS = 1_000_000
BEGAN = 500 * MS


def page(*images: tuple[int, int, int, int] | None) -> pl.DataFrame:
    """A document, then images: start, request, first byte, end, in ms since the navigation began.

    None never came.
    """
    times = ("start_ns", "request_ns", "first_byte_ns", "end_ns")
    rows = []
    for number, image in enumerate([(0, 10, 60, 61), *images]):
        row = {"flow": 0, "object": number, "kind": "image" if number else "document", "size_bytes": 1000}
        row["complete"] = image is not None
        if image is not None:
            row |= {name: BEGAN + ms * MS for name, ms in zip(times, image, strict=True)}
        rows.append(row)
    return pl.DataFrame(rows, schema=OBJECTS)


def arrivals(first_ms: int, last_ms: int, dropped_ms: tuple[int, ...] = ()) -> pl.DataFrame:
    """A frame of 1000 bytes each millisecond since the navigation began."""
    rows = steady(0, last_ms - first_ms + 1, MS, first_ns=BEGAN + first_ms * MS)
    lost: list[Row] = [(0, BEGAN + ms * MS, None, 1000, "dropped") for ms in dropped_ms]
    return frame(rows + lost)


def test_phases_are_since_the_navigation_and_leave_out_what_never_came() -> None:
    found = waterfall.phases(page((61, 62, 120, 130), None), BEGAN)
    assert found["object"].to_list() == [0, 1]
    assert found.row(1, named=True) == {
        "object": 1,
        "kind": "image",
        "size_bytes": 1000,
        "complete": True,
        "start_ms": 61,
        "request_ms": 62,
        "first_byte_ms": 120,
        "end_ms": 130,
    }


def test_waiting_is_the_median_beyond_a_round_trip() -> None:
    objects = page((0, 60, 110, 111), (0, 60, 150, 160), (0, 60, 200, 210))
    assert waterfall.waiting_ms(objects, rtt_ms=50) == pytest.approx(40)
    assert waterfall.waiting_ms(page(), rtt_ms=50) is None


def test_a_loss_holds_back_what_follows_it() -> None:
    objects = page((61, 61, 111, 120), (61, 61, 125, 300), (61, 61, 126, 301), (61, 61, 127, 340))
    found = waterfall.longest_stall(objects, arrivals(100, 340, (130,)), began_ns=BEGAN, rtt_ms=50)
    assert found is not None
    assert (found.start_ms, found.length_ms) == (127, 173)
    assert found.delivered_bytes == 173_000
    assert found.after_loss
    assert found.released == 2


def test_a_loss_long_before_is_not_its_cause() -> None:
    objects = page((61, 61, 111, 120), (61, 61, 125, 300))
    found = waterfall.longest_stall(objects, arrivals(60, 340, (70,)), began_ns=BEGAN, rtt_ms=50)
    assert found is not None
    assert not found.after_loss


def test_silence_on_the_wire_is_no_stall_of_the_page() -> None:
    objects = page((61, 61, 111, 120), (61, 61, 125, 900), (61, 61, 950, 960))
    packets = pl.concat([arrivals(100, 125), arrivals(940, 960)])
    found = waterfall.longest_stall(objects, packets, began_ns=BEGAN, rtt_ms=50)
    assert found is not None
    assert found.length_ms == 50
    assert found.start_ms == 900


def test_waterfalls_of_a_trial_skip_loads_that_never_began() -> None:
    load = {"flow": 0, "page": "p", "client": "chromium", "navigation_start_ns": BEGAN}
    loads = pl.DataFrame([load], schema=PAGE_LOADS)
    objects = page((61, 62, 120, 130))
    (found,) = waterfall.waterfalls(objects, loads, arrivals(100, 130), [50.0])
    assert found.phases.height == 2
    assert found.waiting_ms == pytest.approx(8)
    never = loads.with_columns(navigation_start_ns=pl.lit(None, pl.Int64))
    assert waterfall.waterfalls(objects, never, arrivals(100, 130), [50.0]) == []
