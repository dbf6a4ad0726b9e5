"""Times in which a flow carried or sent nothing."""

from __future__ import annotations

import polars as pl
import pytest

from cambrian.metrics.pauses import causeless_silences_s, longest_pause_ns


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


def silences(
    outcomes: dict[int, str], *, marked: tuple[int, ...] = (), sizes: dict[int, int] | None = None
) -> list[float]:
    """Silences of a flow with a packet each 10 ms for 10 s, but none from 2 to 3 s and from 5 to 5.3 s.

    ``outcomes``, ``sizes``: of the packets at these times in ms; ``marked``: those with CE.
    """
    times_ms = [at for at in range(0, 10_000, 10) if not (2000 <= at < 3000 or 5000 <= at < 5300)]
    packets = pl.DataFrame(
        {
            "arrival_ns": [at * MS for at in times_ms],
            "size_bytes": [(sizes or {}).get(at, 1514) for at in times_ms],
            "outcome": [outcomes.get(at, "departed") for at in times_ms],
            "ce": [at in marked for at in times_ms],
        }
    )
    return list(causeless_silences_s(packets, 1_000 * MS, 9_000 * MS, 100 * MS))


def test_a_silence_without_a_loss_before_it_has_no_cause_in_the_network() -> None:
    # 0.3 s is less than three round trips and a ProbeRTT
    assert silences({}) == [pytest.approx(1.01)]
    assert silences({1500: "dropped"}) == [pytest.approx(1.01)]


def test_a_loss_or_a_mark_explains_a_silence() -> None:
    assert silences({1800: "dropped"}) == []
    assert silences({}, marked=(1900,)) == []


def test_answers_without_data_break_no_silence() -> None:
    assert silences({}, sizes=dict.fromkeys(range(1100, 2000, 10), 80)) == [pytest.approx(1.91)]


def test_without_packets_there_is_no_silence() -> None:
    empty = pl.DataFrame(
        schema={"arrival_ns": pl.Int64, "size_bytes": pl.Int64, "outcome": pl.String, "ce": pl.Boolean}
    )
    assert causeless_silences_s(empty, 0, 10**10, MS) == ()
