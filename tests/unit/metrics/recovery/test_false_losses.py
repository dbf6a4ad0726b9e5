"""Declared losses against real ones."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics.recovery import FalseLosses, false_losses, timeouts
from cambrian.trace.schema import TRANSPORT

S = 1_000_000_000
NONE = np.array([], np.int64)


def test_a_finished_flow_is_exact() -> None:
    drops = np.array([1, 2, 3]) * S
    found = false_losses(10, drops, 2, span_ns=(0, 60 * S), unnoticed_ns=0, after_ns=0)
    assert found == FalseLosses(declared=10, dropped=5, estimate=5, low=5, high=5)


def test_a_drop_of_the_last_moment_may_have_gone_unnoticed() -> None:
    drops = np.array([10 * S, 60 * S - 1])
    found = false_losses(4, drops, 0, span_ns=(0, 60 * S), unnoticed_ns=S, after_ns=0)
    assert (found.estimate, found.low, found.high) == (2, 2, 3)


def test_what_was_counted_after_the_end_may_be_real() -> None:
    # at most two fell within any half second
    drops = np.array([1.0, 5.0, 5.4, 5.6, 9.0]) * S
    found = false_losses(8, drops.astype(np.int64), 0, span_ns=(0, 60 * S), unnoticed_ns=0, after_ns=S // 2)
    assert (found.estimate, found.low, found.high) == (3, 1, 3)


def test_the_drops_of_the_first_slow_start_do_not_come_again() -> None:
    drops = np.concatenate([np.full(240, S), [30 * S]])

    def low(end_s: int) -> int:
        span_ns = (0, end_s * S)
        return false_losses(421, drops, 0, span_ns=span_ns, unnoticed_ns=S, after_ns=S // 2).low

    assert low(60) == 179
    # a flow that ends in its slow start may have had as many drops after the end
    assert low(2) == 0


def test_random_drops_without_times_widen_the_range() -> None:
    # 60 in 60 s: one in a second, and three standard deviations
    found = false_losses(70, NONE, 60, span_ns=(0, 60 * S), unnoticed_ns=S, after_ns=S)
    assert (found.estimate, found.low, found.high) == (10, 6, 14)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        false_losses(-1, NONE, 0, span_ns=(0, 1), unnoticed_ns=0, after_ns=0)


@given(
    declared=st.integers(0, 1000),
    drops=st.lists(st.integers(0, 60 * S), max_size=50),
    lost=st.integers(0, 1000),
    unnoticed=st.integers(0, S),
    after=st.integers(0, S),
)
def test_the_estimate_is_within_its_range(
    declared: int, drops: list[int], lost: int, unnoticed: int, after: int
) -> None:
    times = np.array(sorted(drops), np.int64)
    found = false_losses(declared, times, lost, span_ns=(0, 60 * S), unnoticed_ns=unnoticed, after_ns=after)
    assert 0 <= found.low <= found.estimate <= found.high <= declared


def states(*rows: tuple[str, str | None]) -> pl.DataFrame:
    listed = [
        {"flow": 0, "time_ns": at, "event": event, "state": state} for at, (event, state) in enumerate(rows)
    ]
    return pl.DataFrame(listed, schema=TRANSPORT)


def test_the_kernel_enters_loss_at_each_rto() -> None:
    said = states(
        ("state", "open"), ("state", "loss"), ("retransmit", "loss"), ("state", "open"), ("state", "loss")
    )
    assert timeouts(said, None) == 2
    assert timeouts(states(("state", "open"), ("ack", "open")), None) == 0
    # by any word of the one vocabulary
    assert timeouts(states(("state", "open"), ("state", "Loss"), ("state", "RTO")), None) == 2


def test_a_stack_says_how_many_or_nothing() -> None:
    assert timeouts(states(("ack", None)), 3) == 3
    assert timeouts(states(("ack", None), ("pto", None)), None) == 1
    # a log without such rows may be of a stack that does not export its timers
    assert timeouts(states(("ack", None), ("loss", None)), None) is None


def test_the_timeouts_of_a_complete_flow_end_with_it() -> None:
    """A server repeats its last packets when its client has left; its own count has these timeouts too."""
    said = states(("ack", None), ("pto", None), ("ack", None), ("pto", None), ("pto", None))
    assert timeouts(said, 3, done_ns=2) == 1
    assert timeouts(said, None, done_ns=0) == 0
    entries = states(("state", "open"), ("state", "loss"), ("state", "loss"))
    assert timeouts(entries, None, done_ns=1) == 1
    # such rows may have been after the trial's end, where no log is kept
    assert timeouts(states(("ack", None)), 3, done_ns=2) is None
    assert timeouts(states(("ack", None)), 0, done_ns=2) == 0
