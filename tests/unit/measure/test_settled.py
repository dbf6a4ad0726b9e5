"""What a flow alone does after its slow start."""

from __future__ import annotations

import pytest

from cambrian.measure.settled import Settled, full_rtt_ms, settled
from cambrian.study.model import Contestant, Flow, Network, Trial
from tests.unit.metrics_frames import Row, frame, steady

MS = 10**6
S = 10**9
#: 8 Mbps carry 1,000 bytes in a millisecond; a full queue makes 100 ms of 50
NETWORK = Network(rate_mbps=8, rtt_ms=50, buffer_bdp=1)


def trial(**network: float) -> Trial:
    path = NETWORK.model_copy(update=network)
    flow = Flow(contestant=Contestant(stack="tcp", cca="reno"))
    return Trial(network=path, flows=[flow], duration_s=20, seed=1)


def dropped(*times_ns: int) -> list[Row]:
    return [(0, time_ns, None, 1000, "dropped") for time_ns in times_ns]


def measured(rows: list[Row], t0_ns: int = S, t1_ns: int = 20 * S) -> Settled | None:
    packets = frame(sorted(rows, key=lambda row: row[1]))
    return settled(trial(), packets, [(0, 8.0)], t0_ns, t1_ns)


def test_the_drops_at_the_end_of_slow_start_do_not_count() -> None:
    assert full_rtt_ms(NETWORK, trial().flows[0]) == pytest.approx(100, rel=0.02)
    full = steady(0, 20_000, MS)
    burst = dropped(*range(1_200 * MS, 1_900 * MS, 5 * MS))
    found = measured([*full, *burst, *dropped(9 * S)])
    assert found is not None
    # from a round trip after the burst: one drop of 18,000 packets
    assert found.seconds == pytest.approx(18.0, abs=0.05)
    assert found.round_trips == pytest.approx(180, rel=0.03)
    assert found.loss_percent == pytest.approx(100 / 18_000, rel=0.02)
    assert found.utilisation == pytest.approx(1.0, abs=0.01)
    assert found.throughput_mbps == pytest.approx(8.0, abs=0.1)
    assert not found.grows


def test_a_flows_own_round_trip_counts() -> None:
    """A window of 20 packets in a burst each 400 ms, in a network of 50 ms: "37 silences"."""
    one = trial()
    own = one.model_copy(update={"flows": (one.flows[0].model_copy(update={"rtt_ms": 400.0}),)})
    bursts = [row for burst in range(49) for row in steady(0, 20, MS, first_ns=400 * burst * MS)]
    found, wrong = (settled(it, frame(bursts), [(0, 8.0)], S, 20 * S) for it in (own, one))
    assert found is not None and wrong is not None
    assert found.round_trips == pytest.approx(19_000 / 450, rel=0.02)
    assert not found.silences_s and wrong.silences_s


def test_a_sender_that_drops_all_the_time_is_measured_whole() -> None:
    found = measured([*steady(0, 20_000, MS), *dropped(*range(S, 20 * S, 50 * MS))])
    assert found is not None
    assert found.seconds == 19.0
    assert found.loss_percent == pytest.approx(100 * 380 / (19_000 + 380), rel=0.01)


def test_a_sender_that_has_not_come_back_grows() -> None:
    burst = dropped(*range(1_200 * MS, 1_400 * MS, 5 * MS))
    slow, fast = steady(0, 5_000, 2 * MS), steady(0, 8_000, 10 * S // 8_000, first_ns=10 * S)
    found = measured([*burst, *slow, *fast])
    assert found is not None
    assert found.grows
    # a drop while it grows is the queue's limit
    again = measured([*burst, *slow, *fast, *dropped(15 * S)])
    assert again is not None
    assert not again.grows


def test_only_an_endless_flow_alone_has_a_settled_part() -> None:
    assert settled(trial(), frame(dropped(19_950 * MS)), [(0, 8.0)], S, 20 * S) is None
    sized = trial().model_copy(
        update={"flows": [Flow(contestant=Contestant(stack="tcp", cca="reno"), size_bytes=1000)]}
    )
    assert settled(sized, frame(steady(0, 20_000, MS)), [(0, 8.0)], S, 20 * S) is None
