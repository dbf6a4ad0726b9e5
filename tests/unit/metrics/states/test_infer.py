"""What is inferred of traces whose true states are known by construction."""

from __future__ import annotations

import polars as pl
import pytest

from cambrian.metrics.states.machine import Machine, machine
from tests.unit.metrics.states.traces import MS, MSS, S, trace, windows, words

Points = list[tuple[float, ...]]


def _of(transport: pl.DataFrame, cca: str = "cubic", end_s: float = 10) -> Machine:
    found = machine(transport, 0, cca, round(end_s * S))
    assert found is not None
    return found


def _slow_start(until_ms: int) -> Points:
    """A window that doubles every 50 ms from ten packets, a row a millisecond."""
    return [(at, 10 * 2 ** (at / 50)) for at in range(until_ms)]


def test_slow_start_recovery_and_avoidance_from_windows_alone() -> None:
    points = _slow_start(200)
    points += [(at, 80 + (at - 200) / 50) for at in range(200, 5000)]
    points += [(at, 60 + (at - 5000) / 50) for at in range(5000, 10_000)]
    found = _of(windows(points, lost=[200, 5000]))
    assert found.source == "inferred"
    assert found.time_ns == {
        "slow_start": 200 * MS,
        "recovery": 100 * MS,
        "congestion_avoidance": 9700 * MS,
    }
    assert found.transitions[("congestion_avoidance", "recovery")] == 1


def test_slow_start_that_ends_without_a_loss() -> None:
    points = _slow_start(200)
    points += [(at, 160 + (at - 200) / 50) for at in range(200, 10_000)]
    found = _of(windows(points))
    # two round trips of growth are looked ahead: the end may show up to two round trips early
    assert 100 * MS <= found.time_ns["slow_start"] <= 200 * MS
    assert set(found.time_ns) == {"slow_start", "congestion_avoidance"}


def test_a_collapse_begins_slow_start_again() -> None:
    points = _slow_start(200) + [(at, 100 + (at - 200) / 50) for at in range(200, 5000)]
    points += [(at, 2 * 2 ** ((at - 5000) / 50)) for at in range(5000, 5200)]
    points += [(at, 32 + (at - 5200) / 50) for at in range(5200, 10_000)]
    found = _of(windows(points, lost=[5000]))
    assert found.transitions[("congestion_avoidance", "slow_start")] == 1
    assert 200 * MS < found.time_ns["slow_start"] <= 400 * MS


def test_a_threshold_says_where_slow_start_is() -> None:
    rows = windows([(0, 10, 9), (100, 20, 19), (200, 40, 39)])
    below = rows.with_columns(ssthresh_bytes=pl.Series([None, 30 * MSS, 30 * MSS], dtype=pl.Int64))
    assert _of(below, end_s=0.3).time_ns == {"slow_start": 200 * MS, "congestion_avoidance": 100 * MS}


def test_a_threshold_of_zero_is_none() -> None:
    """Zero until the first loss, as in a log of a threshold that is not set: that is slow start."""
    rows = windows([(0, 10, 9), (100, 20, 19), (200, 40, 39)])
    unset = rows.with_columns(ssthresh_bytes=pl.Series([0, 30 * MSS, 30 * MSS], dtype=pl.Int64))
    assert _of(unset, end_s=0.3).time_ns == {"slow_start": 200 * MS, "congestion_avoidance": 100 * MS}
    never = windows(_slow_start(400)).with_columns(ssthresh_bytes=pl.lit(0, pl.Int64))
    assert set(_of(never, end_s=0.4).time_ns) == {"slow_start"}


def test_a_window_at_its_maximum_is_told_from_a_plateau() -> None:
    capped = _slow_start(170) + [(at, 107) for at in range(170, 10_000)]
    assert "congestion_avoidance_maxed" in _of(windows(capped)).time_ns
    brief = _slow_start(170) + [(at, 107) for at in range(170, 4000)]
    brief += [(at, 75 + (at - 4000) / 500) for at in range(4000, 10_000)]
    assert "congestion_avoidance_maxed" not in _of(windows(brief, lost=[4000])).time_ns
    # Vegas holds its window still, and is at no maximum
    assert "congestion_avoidance_maxed" not in _of(windows(capped), "vegas").time_ns


def test_an_unused_window_is_application_limited() -> None:
    points = _slow_start(170) + [(at, 100 + at / 500, 99 if at < 3000 else 20) for at in range(170, 10_000)]
    found = _of(windows(points))
    assert found.time_ns["application_limited"] == 7000 * MS
    # a lull of two round trips is bunched ACKs
    points = _slow_start(170) + [
        (at, 100 + at / 500, 20 if 3000 <= at < 3100 else 99) for at in range(170, 10_000)
    ]
    assert "application_limited" not in _of(windows(points)).time_ns


def test_recovery_is_added_where_a_stack_has_no_word_for_it() -> None:
    said = ["congestion_avoidance"] * 400
    points: Points = [(10 * at, 100 if at < 200 else 70) for at in range(400)]
    exported = windows(points, lost=[2000]).with_columns(state=pl.Series(said))
    found = _of(exported, end_s=4)
    assert found.time_ns == {"congestion_avoidance": 3950 * MS, "recovery": 50 * MS}
    assert found.source == "partly inferred"
    # who has the word is believed
    said[250] = "recovery"
    assert _of(exported.with_columns(state=pl.Series(said)), end_s=4).time_ns["recovery"] == 10 * MS


def _kernel(*rows: tuple[int, str, float, float | None]) -> pl.DataFrame:
    """(milliseconds, enum tcp_ca_state, cwnd, ssthresh in packets)."""
    return trace(
        [
            {
                "time_ns": at * MS,
                "state": state,
                "cwnd_bytes": round(cwnd * MSS),
                "ssthresh_bytes": None if ssthresh is None else round(ssthresh * MSS),
                "in_flight_bytes": round(cwnd * MSS),
                "srtt_us": 50_000,
            }
            for at, state, cwnd, ssthresh in rows
        ]
    )


def test_the_kernels_words() -> None:
    rows = _kernel(
        (0, "open", 10, None),
        (100, "disorder", 20, None),
        (110, "recovery", 18, 14),
        (200, "open", 14, 14),
        (300, "cwr", 12, 10),
        (400, "loss", 1, 7),
        (500, "open", 2, 7),
        (600, "open", 7, 7),
    )
    found = _of(rows, end_s=0.7)
    assert found.source == "exported"
    assert found.time_ns == {
        "slow_start": (110 + 100) * MS,
        "recovery": (90 + 100) * MS,
        "congestion_avoidance": (100 + 100) * MS,
        "retransmission_timeout": 100 * MS,
    }
    assert "tail_loss_probe" in found.unobservable and "retransmission_timeout" not in found.unobservable


def test_recovery_without_a_word_or_a_window_is_unknown() -> None:
    silent = words((0, "slow_start"), (100, "congestion_avoidance"))
    assert "recovery" in _of(silent).unobservable
    assert "recovery" not in _of(words((0, "slow_start"), (100, "recovery"))).unobservable
    shown = silent.with_columns(cwnd_bytes=pl.lit(10 * MSS, pl.Int64))
    assert "recovery" not in _of(shown).unobservable


def test_the_handshake_before_the_first_data_does_not_count() -> None:
    idle = trace(
        [{"time_ns": 0, "state": "open"}, {"time_ns": 10 * MS, "state": "open", "in_flight_bytes": 0}]
    )
    found = _of(pl.concat([idle, _kernel((200, "open", 10, None))]), end_s=0.5)
    assert found.time_ns == {"slow_start": 300 * MS}


def test_a_probe_lasts_until_the_next_acknowledgement() -> None:
    rows = [(0, "ack"), (100, "pto"), (110, "sample"), (300, "pto"), (400, "loss"), (450, "ack")]
    rows += [(600, "rto"), (610, "sample"), (700, "ack")]
    said = trace(
        [
            {"time_ns": at * MS, "event": event, "state": "slow_start", "in_flight_bytes": MSS}
            for at, event in rows
        ]
    )
    found = _of(said, end_s=1)
    assert found.time_ns["tail_loss_probe"] == 300 * MS
    assert found.time_ns["retransmission_timeout"] == 100 * MS
    assert found.source == "exported"


def _bbr() -> Points:
    """Startup 0.5 s to a flight of 280, Drain 0.1 s, ProbeBW at 200 with ProbeRTT each 5 s for 200 ms."""
    points: Points = [(at, 290, max(10.0, 280 * at / 500)) for at in range(500)]
    points += [(500 + at, 290, 280 - 1.81 * at) for at in range(100)]
    points += [(at, 200, 98) for at in range(600, 20_000)]
    return [(at, 4, 4) if at >= 5000 and at % 5000 < 200 else (at, *rest) for at, *rest in points]


def test_bbr_from_its_window_and_flight() -> None:
    found = _of(windows(_bbr()), "bbr", 20)
    assert found.source == "inferred"
    assert abs(found.time_ns["startup"] - 500 * MS) <= 10 * MS
    assert abs(found.time_ns["drain"] - 100 * MS) <= 10 * MS
    assert found.time_ns["probe_rtt"] == 3 * 200 * MS
    assert found.transitions[("probe_bw", "probe_rtt")] == 3


def test_the_kernels_bbr_is_inferred_whatever_its_threshold() -> None:
    rows = windows(_bbr()).with_columns(state=pl.lit("open"), ssthresh_bytes=pl.lit(1000 * MSS, pl.Int64))
    assert set(_of(rows, "bbr", 20).time_ns) == {"startup", "drain", "probe_bw", "probe_rtt"}


def _kernels(points: Points) -> pl.DataFrame:
    return windows(points).with_columns(state=pl.lit("open"))


def test_the_kernels_probe_rtt_is_a_window_of_four_packets() -> None:
    # the rate falls at 6 s: fewer rows of a smaller window, with dips; the one ProbeRTT at 5 s is one of four
    points = [(at, *rest) for at, *rest in _bbr() if at < 6000]
    points += [(at, 80 if at % 2000 < 220 else 120, 60) for at in range(6000, 10_000, 2)]
    assert _of(_kernels(points), "bbr").time_ns["probe_rtt"] == 200 * MS
    # a small one after a rate that was low for long, too
    points = [(at, 30 if at > 600 else window, flight) for at, window, flight in _bbr() if at % 5000 >= 200]
    points += [(at, 4, 4) for at in range(5000, 5200)]
    assert _of(_kernels(sorted(points)), "bbr", 20).time_ns["probe_rtt"] == 200 * MS


def test_a_window_of_four_packets_that_only_grows_may_have_another_cause() -> None:
    after_timeout = [
        (at, 4 + max(0, at - 7400) / 50, 4) if 7000 <= at < 9000 else (at, *rest) for at, *rest in _bbr()
    ]
    found = _of(_kernels(after_timeout), "bbr", 20)
    assert found.uncertain == {"probe_rtt"} and "probe_rtt" not in found.time_ns
    # on a path of a few packets the window is always near four
    few: Points = [(at, min(window, 8), min(flight, 8)) for at, window, flight in _bbr()]
    assert _of(_kernels(few), "bbr", 20).uncertain == {"probe_rtt"}


def test_beside_others_the_window_of_another_stack_does_not_show_probe_rtt() -> None:
    found = machine(windows(_bbr()), 0, "bbr", 20 * S, undisturbed=False)
    assert found is not None and found.uncertain == {"probe_rtt"} and "probe_rtt" not in found.time_ns
    kernels = machine(_kernels(_bbr()), 0, "bbr", 20 * S, undisturbed=False)
    assert kernels is not None and kernels.time_ns["probe_rtt"] == 600 * MS
    # who says its states is believed
    said = windows(_bbr()).with_columns(state=pl.lit("probe_rtt"))
    assert not _of(said, "bbr", 20).uncertain


def test_later_bbrs_have_no_inferred_probe_rtt() -> None:
    found = _of(windows(_bbr()), "bbr3", 20)
    assert "probe_rtt" not in found.time_ns and "probe_rtt" in found.unobservable


def test_a_bbr_whose_flight_never_falls_shows_no_state() -> None:
    """As a BBR that stays in Startup: its window and its flight are the same to the end."""
    rows = windows([(at, 200, min(10.0 + at, 200.0)) for at in range(20_000)])
    assert machine(rows, 0, "bbr", 20 * S) is None
    # a timeout or a probe is then no state of its own
    for event in ("pto", "rto"):
        at = pl.when(pl.col("time_ns") == 5000 * MS)
        told = rows.with_columns(event=at.then(pl.lit(event)).otherwise(pl.col("event")))
        assert machine(told, 0, "bbr", 20 * S) is None
    said = rows.with_columns(
        state=pl.when(pl.col("time_ns") < 550 * MS).then(pl.lit("startup")).otherwise(pl.lit(None, pl.String))
    )
    assert _of(said, "bbr", 20).time_ns == {"startup": 550 * MS, "probe_bw": (20_000 - 550) * MS}


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_without_a_window_the_first_word_begins_the_states(cca: str) -> None:
    said = trace(
        [
            {"time_ns": at * MS, "state": word, "in_flight_bytes": MSS}
            for at, word in ((0, None), (100, "startup"), (300, "recovery"))
        ]
    )
    assert _of(said, cca, 0.5).time_ns == {"startup": 200 * MS, "recovery": 200 * MS}


def test_startup_alone_named_is_believed() -> None:
    rows = windows(_bbr())
    said = rows.with_columns(
        state=pl.when(pl.col("time_ns") < 550 * MS).then(pl.lit("startup")).otherwise(pl.lit(None, pl.String))
    )
    found = _of(said, "bbr", 20)
    assert found.time_ns["startup"] == 550 * MS
    assert found.source == "partly inferred"
