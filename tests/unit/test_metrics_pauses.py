"""Times in which a flow carried or sent nothing."""

from __future__ import annotations

import polars as pl
import pytest

from cambrian.metrics.pauses import causeless_silences_s, longest_pause_ns, loss_silence_ns


@pytest.mark.parametrize(
    ("flow", "interval", "longest"),
    [
        (0, (0, 101), 50),  # between two
        (0, (0, 200), 100),  # after the last
        (0, (15, 40), 25),  # none within
        (1, (0, 100), 90),  # before the first; the dropped one does not count
        (2, (0, 100), 100),  # nothing at all
    ],
)
def test_longest_pause(flow: int, interval: tuple[int, int], longest: int) -> None:
    packets = pl.DataFrame(
        {
            "flow": [0, 0, 0, 1, 1, 0, 2],
            "departure_ns": [10, 100, 60, 90, None, 30, 50],
            # the last two carry no data
            "size_bytes": [1514, 1514, 100, 1514, 1514, 99, 80],
        },
        schema={"flow": pl.UInt16, "departure_ns": pl.Int64, "size_bytes": pl.UInt16},
    )
    assert longest_pause_ns(packets, flow, *interval) == longest


MS = 1_000_000


def silent_flow(
    outcomes: dict[int, str], *, marked: tuple[int, ...] = (), sizes: dict[int, int] | None = None
) -> pl.DataFrame:
    """A flow with a packet each 10 ms for 10 s, but none from 2 to 3 s, 5 to 5.15 s and 7 to 7.3 s.

    ``outcomes``, ``sizes``: of the packets at these times in ms; ``marked``: those with CE.
    """
    silent = [range(2000, 3000), range(5000, 5150), range(7000, 7300)]
    times_ms = [at for at in range(0, 10_000, 10) if not any(at in span for span in silent)]
    return pl.DataFrame(
        {
            "arrival_ns": [at * MS for at in times_ms],
            "size_bytes": [(sizes or {}).get(at, 1514) for at in times_ms],
            "outcome": [outcomes.get(at, "departed") for at in times_ms],
            "ce": [at in marked for at in times_ms],
        }
    )


#: the interval, and a round trip
WHERE = (1_000 * MS, 9_000 * MS, 100 * MS)


def silences(packets: pl.DataFrame) -> list[float]:
    return [round(one, 2) for one in causeless_silences_s(packets, *WHERE)]


def test_a_silence_without_a_loss_before_it_has_no_cause_in_the_network() -> None:
    # 0.16 s is less than a round trip and a delayed acknowledgement
    assert silences(silent_flow({})) == [1.01, 0.31]
    assert silences(silent_flow({1500: "dropped"})) == [1.01, 0.31]
    assert loss_silence_ns(silent_flow({}), *WHERE) is None


def test_a_loss_or_a_mark_explains_a_silence() -> None:
    assert silences(silent_flow({1800: "dropped"})) == [0.31]
    assert silences(silent_flow({}, marked=(1900,))) == [0.31]
    # the second longest counts: one may be an accident
    assert loss_silence_ns(silent_flow({1800: "dropped"}), *WHERE) == 10 * MS
    assert loss_silence_ns(silent_flow({1800: "dropped", 6900: "dropped"}), *WHERE) == 310 * MS


def test_a_flow_that_stops_after_a_loss_is_silent_to_the_end() -> None:
    stopped = silent_flow({1800: "dropped", 6000: "dropped"}).filter(pl.col("arrival_ns") <= 6000 * MS)
    assert loss_silence_ns(stopped, *WHERE) == 1010 * MS


def test_answers_without_data_break_no_silence() -> None:
    assert silences(silent_flow({}, sizes=dict.fromkeys(range(1100, 2000, 10), 80))) == [1.91, 0.31]


def test_without_packets_there_is_no_silence() -> None:
    empty = pl.DataFrame(
        schema={"arrival_ns": pl.Int64, "size_bytes": pl.Int64, "outcome": pl.String, "ce": pl.Boolean}
    )
    assert causeless_silences_s(empty, 0, 10**10, MS) == ()
    assert loss_silence_ns(empty, 0, 10**10, MS) is None
