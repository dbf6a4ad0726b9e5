"""Captures, logs and the kernel's trace ring, made by hand → columns."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cambrian.trace import endpoint_log, packets, ring_buffer, schema
from cambrian.trace.packets import RECORD, TraceError

ZERO_NS = 1_000_000
MS = 1_000_000
ARRIVAL, DEPARTURE = 0, 1


def capture(folder: Path, rows: list[tuple[int, int, int, int]], ecn: dict[int, int] | None = None) -> Path:
    """``rows``: (milliseconds after zero, key, flow, kind); every packet is 1514 bytes."""
    records = np.zeros(len(rows), RECORD)
    for record, (time_ms, key, flow, kind) in zip(records, rows, strict=True):
        marks = (ecn or {}).get(key, 0) if kind == DEPARTURE else 2 if ecn else 0
        record["time_ns"], record["key"], record["source"] = (
            ZERO_NS + time_ms * MS,
            key,
            0x0A000002 | flow << 8,
        )
        record["size"], record["kind"], record["ecn"] = 1514, kind, marks
    path = folder / "capture.bin"
    records.tofile(path)
    return path


def read(
    folder: Path,
    rows: list[tuple[int, int, int, int]],
    end_ms: int = 1000,
    *,
    in_order: bool = False,
    is_empty: bool = False,
) -> pl.DataFrame:
    return packets.read(
        capture(folder, rows), zero_ns=ZERO_NS, end_ns=end_ms * MS, in_order=in_order, is_empty=is_empty
    )


def test_arrivals_meet_their_departures_and_the_rest_was_dropped(tmp_path: Path) -> None:
    rows = [
        (1, 10, 0, ARRIVAL),
        (2, 11, 1, ARRIVAL),
        (3, 12, 0, ARRIVAL),
        (4, 10, 0, DEPARTURE),
        (9, 12, 0, DEPARTURE),
    ]
    rows += [(20, 13, 1, ARRIVAL), (21, 13, 1, DEPARTURE)]
    found = read(tmp_path, rows)
    assert found["flow"].to_list() == [0, 1, 0, 1]
    assert found["outcome"].to_list() == ["departed", "dropped", "departed", "departed"]
    assert found["departure_ns"].to_list() == [4 * MS, None, 9 * MS, 21 * MS]


def test_of_identical_packets_the_nth_that_came_is_the_nth_that_left(tmp_path: Path) -> None:
    rows = [(1, 7, 0, ARRIVAL), (2, 7, 0, ARRIVAL), (5, 7, 0, DEPARTURE), (6, 7, 0, DEPARTURE)]
    assert read(tmp_path, rows)["departure_ns"].to_list() == [5 * MS, 6 * MS]


def test_what_leaves_after_the_end_was_queued(tmp_path: Path) -> None:
    rows = [(1, 1, 0, ARRIVAL), (5, 1, 0, DEPARTURE), (98, 2, 0, ARRIVAL), (103, 2, 0, DEPARTURE)]
    rows += [(99, 3, 0, ARRIVAL), (101, 4, 0, ARRIVAL)]
    found = read(tmp_path, rows, end_ms=100)
    assert found["outcome"].to_list() == ["departed", "queued", "queued"]
    assert found["departure_ns"].to_list() == [5 * MS, None, None]


def test_a_starved_flow_s_last_packets_were_dropped_not_queued(tmp_path: Path) -> None:
    """No later packet of the flow left; but the queue went on for far longer than any packet waited."""
    rows = [
        (1, 1, 0, ARRIVAL),
        (2, 2, 1, ARRIVAL),
        (3, 2, 1, DEPARTURE),
        (4, 3, 1, ARRIVAL),
        (5, 1, 0, DEPARTURE),
    ]
    rows += [(500, 4, 0, ARRIVAL), (501, 4, 0, DEPARTURE)]
    assert read(tmp_path, rows)["outcome"].to_list() == ["departed", "departed", "dropped", "departed"]


def test_who_was_overtaken_by_another_flow_was_dropped_where_there_is_one_queue(tmp_path: Path) -> None:
    """The trial ends at 100 ms; flow 0 has no later packet, and flow 1's leaves soon after."""
    rows = [(1, 1, 0, ARRIVAL), (30, 1, 0, DEPARTURE)]
    rows += [(90, 2, 0, ARRIVAL), (91, 3, 1, ARRIVAL), (120, 3, 1, DEPARTURE)]
    assert read(tmp_path, rows, end_ms=100, in_order=True)["outcome"].to_list() == [
        "departed",
        "dropped",
        "queued",
    ]
    # in a queue of its own it may still wait
    assert read(tmp_path, rows, end_ms=100)["outcome"].to_list() == ["departed", "queued", "queued"]


@pytest.mark.parametrize("is_empty", [True, False])
def test_what_came_last_was_dropped_if_the_bottleneck_is_empty(tmp_path: Path, is_empty: bool) -> None:
    """RED may drop everything from a moment on, so no later packet shows it."""
    rows = [(1, 1, 0, ARRIVAL), (30, 1, 0, DEPARTURE), (31, 2, 0, ARRIVAL), (95, 3, 0, ARRIVAL)]
    rows += [(110, 4, 0, ARRIVAL)]
    found = read(tmp_path, rows, end_ms=100, in_order=True, is_empty=is_empty)
    assert found["outcome"].to_list() == ["departed"] + 2 * ["dropped" if is_empty else "queued"]


def test_a_packet_that_left_without_arriving_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="without an arrival"):
        read(tmp_path, [(1, 1, 0, ARRIVAL), (2, 99, 0, DEPARTURE)])


def test_arrivals_are_counted_for_each_flow_in_an_interval(tmp_path: Path) -> None:
    rows = [(9, 1, 0, ARRIVAL), (10, 2, 0, ARRIVAL), (11, 3, 2, ARRIVAL), (11, 2, 0, DEPARTURE)]
    rows += [(12, 4, 2, ARRIVAL), (20, 5, 0, ARRIVAL)]
    path = capture(tmp_path, rows)
    assert packets.arrivals(path, 3, zero_ns=ZERO_NS, from_ns=10 * MS, until_ns=20 * MS) == [1, 0, 2]


def test_a_capture_cut_short_is_an_error(tmp_path: Path) -> None:
    path = capture(tmp_path, [(1, 1, 0, ARRIVAL)])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(TraceError, match="is truncated"):
        packets.read(path, zero_ns=ZERO_NS, end_ns=MS, in_order=True, is_empty=False)


def test_marks_are_the_queue_s_own(tmp_path: Path) -> None:
    rows = [(1, 1, 0, ARRIVAL), (2, 1, 0, DEPARTURE), (3, 2, 0, ARRIVAL), (4, 2, 0, DEPARTURE)]
    marked = capture(tmp_path, rows, ecn={1: 3, 2: 2})
    found = packets.read(marked, zero_ns=ZERO_NS, end_ns=1000 * MS, in_order=True, is_empty=False)
    assert found["ce"].to_list() == [True, False]


def test_the_fingerprint_changes_with_any_column(tmp_path: Path) -> None:
    rows = [(1, 1, 0, ARRIVAL), (2, 1, 0, DEPARTURE), (3, 2, 1, ARRIVAL), (4, 2, 1, DEPARTURE)]
    base = read(tmp_path, rows)
    changed = [
        base.with_columns(flow=1 - base["flow"].cast(pl.Int8)),
        base.with_columns(departure_ns=base["departure_ns"] + 1),
        base.with_columns(size_bytes=base["size_bytes"] - 1),
        base.with_columns(ce=~base["ce"]),
        base.with_columns(outcome=pl.lit("dropped", base["outcome"].dtype)),
    ]
    assert len({packets.fingerprint(frame) for frame in [base, *changed]}) == 6


HEAD = "time_ns,event,cwnd_bytes,ssthresh_bytes,in_flight_bytes,srtt_us,pacing_bps,state\n"


def test_an_endpoint_s_log(tmp_path: Path) -> None:
    log = tmp_path / "t.csv"
    whole = [f"{ZERO_NS - 5},start,12000,,,,,", f"{ZERO_NS + 5},ack,13200,,1200,50001,,slow_start"]
    log.write_text(HEAD + "\n".join([*whole, f"{ZERO_NS + 9},los"]))
    found = endpoint_log.read(log, 3, zero_ns=ZERO_NS, end_ns=MS)
    assert found.rows.rows() == [(3, 5, "ack", 13200, None, 1200, 50001, None, "slow_start")]
    assert found.outside == 0


@pytest.mark.parametrize("value", ["99999999999999999999", "9" * 50, "1000000000000001", "-5", ""])
def test_a_number_that_no_controller_can_have_is_empty(tmp_path: Path, value: str) -> None:
    log = tmp_path / "t.csv"
    log.write_text(f"{HEAD}{ZERO_NS},loss,{10**15},{value},1200,,,\n")
    found = endpoint_log.read(log, 0, zero_ns=ZERO_NS, end_ns=MS)
    assert found.rows.rows() == [(0, 0, "loss", 10**15, None, 1200, None, None, None)]
    assert dict(found.rows.schema) == schema.TRANSPORT


def test_a_value_that_is_no_number_is_named_without_advice_on_the_reader(tmp_path: Path) -> None:
    log = tmp_path / "t.csv"
    log.write_text(f"{HEAD}{ZERO_NS},loss,many,,,,,\n")
    with pytest.raises(TraceError, match=r"could not parse `many` .* at column 'cwnd_bytes'[^\n]*\Z"):
        endpoint_log.read(log, 0, zero_ns=ZERO_NS, end_ns=MS)


def test_a_log_with_other_columns_is_an_error(tmp_path: Path) -> None:
    log = tmp_path / "t.csv"
    # the reader's own words for a row that is longer than the header are advice to a programmer
    for first in (HEAD.replace("srtt_us", "srtt_ms"), f"{ZERO_NS},start,1\n"):
        log.write_text(f"{first}{ZERO_NS},ack,1,,,,,\n")
        with pytest.raises(TraceError) as failed:
            endpoint_log.read(log, 0, zero_ns=ZERO_NS, end_ns=MS)
        assert str(failed.value) == f"t.csv: its first line is {first.strip()!r}, not {HEAD.strip()!r}"


FORMAT = """name: tcp_probe
ID: 77
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:__u8 saddr[4];\toffset:8;\tsize:4;\tsigned:0;
\tfield:__u32 snd_cwnd;\toffset:12;\tsize:4;\tsigned:0;
"""


def page(time_ns: int, events: list[bytes]) -> bytes:
    body = b"".join(events)
    return (struct.pack("<QQ", time_ns, len(body)) + body).ljust(ring_buffer.PAGE_BYTES, b"\0")


def event(delta_ns: int, cwnd: int, number: int = 77) -> bytes:
    data = struct.pack("<HBBi4BI", number, 0, 0, 1, 10, 0, 5, 2, cwnd)
    return struct.pack("<I", len(data) // 4 | delta_ns << 5) + data


def test_the_ring_s_pages_give_times_and_fields() -> None:
    layout = ring_buffer.parse_format(
        FORMAT, {"address": ("saddr", ">u4", 0), "cwnd": ("snd_cwnd", "<u4", 0)}
    )
    extend = struct.pack("<II", 30 | 5 << 5, 1)
    data = page(1000, [event(0, 10), event(7, 11), extend, event(1, 12), event(1, 99, number=78)])
    data += page(9000, [event(2, 13)])
    times, rows = ring_buffer.events(data, [layout])[77]
    assert rows["cwnd"].tolist() == [10, 11, 12, 13]
    assert rows["address"].tolist() == [0x0A000502] * 4
    assert times.tolist() == [1000, 1007, 1007 + 5 + (1 << 27) + 1, 9002]


def test_an_overrun_ring_is_noticed() -> None:
    fine = page(0, [event(0, 1)])
    assert not ring_buffer.lost_events(fine)
    # RB_MISSED_EVENTS in kernel/trace/ring_buffer.c
    assert ring_buffer.lost_events(fine[:8] + struct.pack("<Q", 20 | 1 << 31) + fine[16:])


def test_a_field_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="snd_wnd"):
        ring_buffer.parse_format(FORMAT, {"window": ("snd_wnd", "<u4", 0)})
