"""Cuts of exported windows that are written down by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cambrian.metrics.parameters.window import Window
from cambrian.metrics.recovery.congestion_responses import _episodes, cuts_in_round_trips

MS = 1_000_000
RTT_NS = 40 * MS


def cuts(*rows: tuple[int, float, float]) -> list[int]:
    """Cuts in each round trip; rows of (time in ms, window and threshold in segments)."""
    times_ms, segments, threshold = zip(*rows, strict=True)
    own = Window(
        time_ns=np.array(times_ms, np.int64) * MS,
        segments=np.array(segments, float),
        ssthresh=np.array(threshold, float),
        timeout=np.zeros(len(rows), bool),
        source="window",
        unit_bytes=1200,
        length=0,
    )
    return list(map(int, cuts_in_round_trips(own, RTT_NS)))


def test_a_cut_that_is_taken_back_and_the_next_one_are_one_each() -> None:
    """quiche's CUBIC at 2 % random loss: its rollback brings the window and the last threshold back."""
    assert cuts((0, 17.2, 9), (10, 12, 12), (100, 17.2, 4.1), (110, 12, 12), (200, 12, 12)) == [1, 1]
    assert cuts((0, 17.2, 9), (10, 12, 12), (20, 17.2, 9), (30, 12, 12), (200, 12, 12)) == [1, 1]


@pytest.mark.parametrize("before", [np.inf, 200.0])
def test_a_threshold_that_comes_back_with_the_window_is_no_cut(before: float) -> None:
    assert cuts((0, 100, before), (10, 70, 70), (20, 100, before), (200, 101, before)) == [1]


def test_two_cuts_within_a_round_trip_are_two() -> None:
    assert cuts((0, 100, 200), (10, 70, 70), (20, 49, 49), (200, 50, 49)) == [2]
    # growth between them takes nothing back: the threshold stays
    assert cuts((0, 10, 20), (10, 7, 7), (20, 8, 7), (30, 5.6, 5.6), (200, 5.6, 5.6)) == [2]


def test_a_threshold_that_falls_before_the_window_is_a_cut() -> None:
    """The kernel lowers the threshold first; the window follows with the acknowledgements."""
    assert cuts((0, 100, 200), (10, 101, 70), (20, 85, 70), (30, 70, 70), (200, 71, 70)) == [1]
    assert cuts((0, 100, 200), (10, 100, 70), (20, 90, 49), (30, 49, 49), (200, 50, 49)) == [2]


@pytest.mark.parametrize("none", [float("inf"), 2.0**31])
def test_the_end_of_slow_start_that_sets_a_first_threshold_is_no_cut(none: float) -> None:
    """A loss within the round trip after it then made two cuts of one."""
    assert cuts((0, 100, none), (10, 110, 110), (30, 77, 77), (200, 78, 77)) == [1]


def test_growth_with_another_threshold_takes_nothing_back() -> None:
    """The window must return to what it was before the cut."""
    # a small window that grows in the row in which its threshold falls
    assert cuts((0, 8, 200), (10, 9, 5), (20, 8, 5), (30, 7, 5), (60, 7, 5)) == [1]
    # a sampled log: growth and a cut in one row
    assert cuts((0, 100, 200), (10, 70, 70), (20, 78, 54), (30, 54, 54), (200, 55, 54)) == [2]
    rows = [(5, 13, 10), (8, 9.5, 6.5), (10, 6.5, 5), (12, 8, 3.25), (14, 3.3, 3.25), (90, 3.3, 3.25)]
    assert cuts((0, 20, 40), *rows) == [4]


def test_the_end_of_a_long_reduction_is_no_cut() -> None:
    """The lab's Reno behind CoDel: the window reaches its threshold after more than a round trip."""
    first = [(0, 30, 40), (10, 29, 15), (40, 20, 15), (70, 15, 15)]
    assert cuts(*first, (110, 14, 7.5), (130, 7.5, 7.5), (300, 8, 7.5)) == [1, 1]
    # the window had grown so much that its new threshold is above the old one
    assert cuts((0, 32, 14), *first[1:], (110, 14, 7.5), (130, 7.5, 7.5), (300, 8, 7.5)) == [1, 1]
    assert cuts((0, 32, 14), (10, 15, 15), (20, 7.5, 7.5), (200, 8, 7.5)) == [2]
    # two events whose thresholds are nearly the same
    again = [(4000, 36, 14.8), (4040, 20, 14.8), (4070, 14.8, 14.8), (4300, 15, 14.8)]
    assert cuts((0, 32, 14), *first[1:], *again) == [1]


@pytest.mark.parametrize(
    ("declared_ms", "strict"),
    [
        # by later packets, and without a row in the log
        (206, True),
        (900, True),
        # its timer told it, and the second packet was sent then
        (185, False),
    ],
)
def test_a_packet_that_is_sent_after_the_cut_is_another_loss(declared_ms: int, *, strict: bool) -> None:
    """A right CUBIC on 1 Mbps: 24 episodes with two cuts each. Three packets took the link 36 ms."""
    drops: Any = SimpleNamespace(
        learnt_ns=np.array([206, 380]) * MS,
        signal_ns=np.array([0, 185]) * MS,
        marked=np.zeros(2, bool),
        trip_ns=lambda at_ns: 133 * MS,
    )
    (episode,) = _episodes(drops, np.array([declared_ms]) * MS)
    assert (episode.signals, episode.strict, episode.learnt_ns) == (2, strict, 206 * MS)
