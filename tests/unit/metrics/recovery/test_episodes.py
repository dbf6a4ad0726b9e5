"""Loss episodes: grouping by what the sender can know, reactions and ends, by hand and on a model."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.metrics.recovery import episodes
from cambrian.trace.schema import TRANSPORT
from tests.unit.metrics_frames import Row, frame

MS = 1_000_000
FORWARD = BACK = 25 * MS
#: a full queue's delay
WAIT = 50 * MS


def queue(dropped: set[int], count: int = 400) -> pl.DataFrame:
    """A packet a millisecond, each ``WAIT`` in the queue; those of ``dropped`` (milliseconds) never leave."""
    rows: list[Row] = [
        (
            0,
            ms * MS,
            None if ms in dropped else ms * MS + WAIT,
            1514,
            "dropped" if ms in dropped else "departed",
        )
        for ms in range(count)
    ]
    return frame(rows)


def trace(*rows: tuple[int, str, int, str | None]) -> pl.DataFrame:
    """Rows (milliseconds, event, cwnd_bytes, state)."""
    return pl.DataFrame(
        [
            {"flow": 0, "time_ns": ms * MS, "event": event, "cwnd_bytes": cwnd, "state": state}
            for ms, event, cwnd, state in rows
        ],
        schema=TRANSPORT,
    )


@pytest.mark.parametrize("word", ["recovery", "recovery_period", "fast_recovery", "cwr", "loss"])
def test_one_drop_by_hand(word: str) -> None:
    said = trace(
        (100, "ack", 80_000, "open"),
        # the packet behind the drop leaves at 151 ms and is acknowledged at 176
        (178, "loss", 56_000, word),
        (200, "ack", 60_000, word),
        (276, "ack", 56_000, "open"),
    )
    found = episodes(queue({100}), said, forward_ns=FORWARD, back_ns=BACK)
    assert found.count == 1
    assert found.drops.tolist() == [1]
    assert found.earliest_ms.tolist() == [76]
    assert found.rtt_ms.tolist() == [101]
    assert found.reaction_ms.tolist() == [78]
    assert found.recovery_ms.tolist() == [176]


def test_drops_before_the_sender_can_know_are_one_episode() -> None:
    # known at 176 ms: a drop then still belongs to it, one after it does not
    found = episodes(queue({100, 120, 176, 177}), trace(), forward_ns=FORWARD, back_ns=BACK)
    assert (found.began_ns // MS).tolist() == [100, 177]
    assert found.drops.tolist() == [3, 1]
    assert np.isnan(found.reaction_ms).all()


def test_without_states_recovery_ends_where_the_window_grows() -> None:
    said = trace(
        (170, "ack", 90_000, None),
        (180, "loss", 50_000, None),
        (220, "ack", 50_000, None),
        (281, "ack", 51_000, None),
    )
    found = episodes(queue({100}), said, forward_ns=FORWARD, back_ns=BACK)
    assert found.reaction_ms.tolist() == [80]
    assert found.recovery_ms.tolist() == [181]


def test_a_reaction_before_one_can_know_is_none_of_it() -> None:
    said = trace((175, "loss", 50_000, "recovery"), (177, "ack", 50_000, "recovery"))
    found = episodes(queue({100}), said, forward_ns=FORWARD, back_ns=BACK)
    assert np.isnan(found.reaction_ms).all()
    assert np.isnan(found.recovery_ms).all()


def test_a_sender_that_is_recovering_answers_the_first_of_two_episodes() -> None:
    said = trace((178, "loss", 50_000, "recovery"), (300, "ack", 50_000, "open"))
    found = episodes(queue({100, 180}), said, forward_ns=FORWARD, back_ns=BACK)
    assert found.count == 2
    assert found.reaction_ms[0] == 78
    assert np.isnan(found.reaction_ms[1])


@pytest.mark.parametrize("between", ["nothing", "rows", "packets"])
def test_a_row_that_waited_for_a_packet_tells_no_reaction(between: str) -> None:
    """As TQUIC's log: 30 ms after 50 acknowledgements, with the first packet after the cut."""
    rows = [(100, "ack", 80_000, "open"), (206, "loss", 56_000, "recovery")]
    if between == "rows":
        rows += [(ms, "ack", 80_000, "open") for ms in range(177, 206, 2)]
    packets = queue({100})
    if between == "nothing":
        packets = packets.filter((pl.col("arrival_ns") < 200 * MS) | (pl.col("arrival_ns") >= 231 * MS))
    found = episodes(packets, trace(*sorted(rows)), forward_ns=FORWARD, back_ns=BACK)
    assert found.earliest_ms[0] == 76
    assert np.isnan(found.reaction_ms[0]) == (between == "nothing")


def test_one_late_row_leaves_the_other_reactions() -> None:
    """One may be a coincidence; Linux sends no acknowledgement for a millisecond after a loss."""
    rows = [(100, "ack", 80_000, "open"), (206, "loss", 56_000, "recovery")]
    rows += [(ms, "ack", 56_000, "open") for ms in range(300, 677, 2)] + [(678, "loss", 40_000, "recovery")]
    packets = queue({100, 600}, 900).filter(
        (pl.col("arrival_ns") < 200 * MS) | (pl.col("arrival_ns") >= 231 * MS)
    )
    found = episodes(packets, trace(*rows), forward_ns=FORWARD, back_ns=BACK)
    assert np.isnan(found.reaction_ms).tolist() == [True, False]


def test_a_far_later_reaction_has_another_cause() -> None:
    said = trace((177 + 1_000, "loss", 50_000, "recovery"))
    found = episodes(queue({100}), said, forward_ns=FORWARD, back_ns=BACK)
    assert np.isnan(found.reaction_ms).all()


def test_a_drop_that_nothing_follows_cannot_be_known() -> None:
    found = episodes(queue({399}), trace((300, "loss", 1, None)), forward_ns=FORWARD, back_ns=BACK)
    assert found.count == 1
    assert np.isnan(found.earliest_ms).all()
    assert np.isnan(found.reaction_ms).all()


def test_no_drops_no_episodes() -> None:
    said = trace((100, "loss", 1, "recovery"))
    assert episodes(queue(set()), said, forward_ns=FORWARD, back_ns=BACK).count == 0


@given(
    drops=st.sets(st.integers(0, 380), min_size=1, max_size=40),
    threshold=st.integers(1, 30),
)
def test_a_model_sender_is_measured_exactly(drops: set[int], threshold: int) -> None:
    """It reacts to each episode's first drop when ``threshold`` later packets have been acknowledged."""
    packets = queue(drops, count=600)
    truth = episodes(packets, trace(), forward_ns=FORWARD, back_ns=BACK)
    assert truth.drops.sum() == len(drops)
    departures = packets.filter(pl.col("outcome") == "departed")
    arrivals = departures["arrival_ns"].to_numpy()
    rows = []
    for began in truth.began_ns:
        later = np.searchsorted(arrivals, began, side="right") + threshold - 1
        rows.append((int(departures["departure_ns"][int(later)] + BACK) // MS, "loss", 1, None))
    found = episodes(packets, trace(*rows), forward_ns=FORWARD, back_ns=BACK)
    expected = np.array([row[0] for row in rows]) - truth.began_ns / MS
    seen = np.isfinite(found.reaction_ms)
    # one that comes after the next episode is known goes to that one
    alone = np.append(np.diff(truth.began_ns), np.inf) > (threshold + len(drops) + 1) * MS
    assert found.reaction_ms[seen & alone] == pytest.approx(expected[seen & alone])
    assert (found.reaction_ms[seen] >= found.earliest_ms[seen]).all()
    assert seen[alone].all()
