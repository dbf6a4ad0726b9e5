"""How a flow ended, and whether the network's doing explains it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from cambrian.metrics.gates import Closing, FlowEnd, Life, flow_end
from cambrian.metrics.gates.flows import premature_gate
from cambrian.study.model import Change, Network
from tests.unit.metrics_frames import Row, frame, steady

MS = 1_000_000
S = 1_000_000_000
NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
#: another flow, over the whole trial of 60 s
RIVAL = frame(steady(1, 6000, 10 * MS))
ALONE = frame([])


def life(
    *arrivals_s: float,
    dropped_s: tuple[float, ...] = (),
    tried_s: tuple[float, ...] = (),
    others: pl.DataFrame = ALONE,
    rtt_ms: int = 50,
    **more: Any,
) -> Life:
    """A flow in a trial of 60 s, whose packets leave as they arrive."""
    sent: list[Row] = [(0, round(s * S), round(s * S), 1000, "departed") for s in arrivals_s]
    sent += [(0, round(s * S), None, 1000, "dropped") for s in dropped_s]
    packets = frame(sorted(sent, key=lambda row: row[1]))
    tries_ns = [round(s * S) for s in tried_s]
    return Life(packets, others, 0, 60 * S, rtt_ms * MS, tries_ns=tries_ns, **more)


def ended(*arrivals_s: float, network: Network = NETWORK, **more: Any) -> FlowEnd:
    return flow_end(life(*arrivals_s, **more), network)


def test_one_that_sends_until_near_the_end_ran() -> None:
    assert ended(1, 54) == FlowEnd("ran", None, True, "sent its last packet at 54.000 s of 60.000 s")
    assert ended(1, 53).outcome == "fell silent"
    # a late last packet needs no timer to excuse it
    assert ended(1, 59, tried_s=(2,)).outcome == "ran"


def test_a_pause_of_slow_start_is_no_end() -> None:
    """A tenth of a short life is less than the round trip between two bursts."""
    assert ended(1, 52, rtt_ms=4100).outcome == "ran"
    assert ended(1, 51, rtt_ms=4100).outcome == "fell silent"
    longer = NETWORK.model_validate(NETWORK.model_dump() | {"schedule": [{"at_s": 1, "rtt_ms": 4100}]})
    assert ended(1, 52, rtt_ms=50, network=longer).outcome == "ran"


def test_a_flow_that_begins_within_two_round_trips_of_the_end_need_not_have_sent() -> None:
    late = replace(life(), start_ns=60 * S - 100 * MS, connected=False)
    assert flow_end(late, NETWORK) == FlowEnd(
        "ran", None, True, "began at 59.900 s of 60.000 s, within two round trips of the end"
    )
    assert not flow_end(replace(late, start_ns=60 * S - 101 * MS), NETWORK).counts
    gone = replace(late, closing=Closing(60 * S - MS, "refused"))
    assert not flow_end(gone, NETWORK).counts


def test_one_that_has_all_its_bytes_finished() -> None:
    end = ended(1, 20, complete_ns=21 * S)
    assert (end.outcome, end.ended_s, end.counts) == ("finished", 21.0, True)


def test_a_timer_that_has_backed_off_is_no_end() -> None:
    assert ended(30).outcome == "fell silent"
    # long before its last packet
    assert ended(30, tried_s=(10, 29)).outcome == "fell silent"
    # 8 s after the one before: the next is due 16 s later, at 58
    assert ended(30, tried_s=(31, 34, 42)).outcome == "fell silent"
    backed_off = ended(30, tried_s=(32, 35, 44))
    assert backed_off.outcome == "ran"
    assert "retried until 44.000 s" in backed_off.text
    assert ended(30, tried_s=(53, 54)).outcome == "ran"


def test_a_timer_whose_last_try_was_dropped_in_the_queue_counts_too() -> None:
    # each arrives 25 ms after it was sent
    came = (32.025, 35.025, 44.025)
    assert ended(30, dropped_s=came, tried_s=(32, 35, 44)).outcome == "ran"
    # on this short a path, what arrived that late was sent after the try
    assert ended(30, dropped_s=came, tried_s=(32, 35, 44), rtt_ms=20).outcome == "fell silent"
    assert ended(30, dropped_s=(*came, 44.2), tried_s=(32, 35, 44)).outcome == "fell silent"


def test_one_that_closes_after_tries_in_vain_gave_up_though_nobody_was_told() -> None:
    """Retries 0.5, 1, 2 s apart, all dropped, then a short packet: its CONNECTION_CLOSE was dropped too."""
    tries = (13.1, 13.6, 14.6, 16.6)
    begun = life(*(index / 100 for index in range(1300)), dropped_s=tries, others=RIVAL)

    def closing(size_bytes: int, others: pl.DataFrame) -> FlowEnd:
        last: Row = (0, 18 * S, None, size_bytes, "dropped")
        return flow_end(
            replace(begun, packets=pl.concat([begun.packets, frame([last])]), others=others), NETWORK
        )

    end = closing(110, RIVAL)
    assert (end.outcome, end.counts) == ("fell silent", True)
    assert "a short one after retries with growing timeouts, none of them answered" in end.text
    assert "shared with another flow" in end.text
    # a sender whose log says that it still retries has not closed
    trying = replace(begun, tries_ns=[20 * S, 25 * S, 45 * S])
    short = frame([(0, 18 * S, None, 110, "dropped")])
    assert flow_end(replace(trying, packets=pl.concat([begun.packets, short])), NETWORK).outcome == "ran"
    # alone, nothing explains it; and a full packet is no close
    assert not closing(110, ALONE).counts
    assert not closing(1000, RIVAL).counts


def test_a_sender_that_says_nothing_is_known_by_its_packets() -> None:
    """Probes 1, 2, 4, 8 and 16 s apart, all dropped: the next one is due 32 s after the last."""
    probes = (14.0, 16.0, 20.0, 28.0, 44.0)
    assert ended(10, 13, dropped_s=probes).outcome == "ran"
    # due before the end, and it did not come
    assert ended(10, 13, dropped_s=probes[:4]).outcome == "fell silent"
    # two packets a probe, as RFC 9002 allows, are one act
    twice = tuple(sorted([*probes, *(at + 0.001 for at in probes)]))
    assert ended(10, 13, dropped_s=twice).outcome == "ran"


def test_a_try_that_came_through_and_was_not_answered_is_an_end() -> None:
    # as where the receiver can make nothing of what it gets
    assert ended(30, 32.025, 35.025, 44.025, tried_s=(32, 35, 44)).outcome == "fell silent"
    lost = (32.025, 35.025, 44.025)
    assert ended(30, 44.03, dropped_s=lost, tried_s=(32, 35, 44)).outcome == "fell silent"


def test_a_gap_between_retransmissions_is_no_back_off_where_it_was_filled_with_packets() -> None:
    sending = [second / 10 for second in range(300, 420)]
    # 32 s between them, and yet the timer had just been armed when it fired
    assert ended(*sending, tried_s=(10, 42)).outcome == "fell silent"
    assert ended(*sending, dropped_s=(42.025,), tried_s=(10, 42)).outcome == "fell silent"
    assert ended(10, tried_s=(10, 42)).outcome == "ran"


GAVE_UP = Closing(12 * S, "its receiver said: Network blackhole detected")


def test_a_starved_flow_that_gives_up_counts() -> None:
    sending = [n / 10 for n in range(1, 41)]
    end = ended(*sending, dropped_s=(4.2, 5, 7, 11), others=RIVAL, closing=GAVE_UP, connected=True)
    assert (end.outcome, end.ended_s, end.counts) == ("gave up", 12.0, True)
    assert "Network blackhole detected" in end.text
    assert "shared with another flow, had dropped 4 of its packets in the 9.8 s before" in end.text
    gate = premature_gate("flow 0", end)
    assert gate.ok is None
    assert gate.text.startswith("premature end: flow 0 gave up at 12.000 s")


def test_a_farewell_that_gets_through_does_not_hide_the_tries_before_it() -> None:
    """As Google QUICHE beside a paced sender: probes in vain for six seconds, then a packet and the close."""
    sending = [n / 10 for n in range(1, 40)]
    tries = (4.12, 4.33, 4.73, 5.55, 7.18)
    end = ended(*sending, 11.434, 11.507, 11.508, dropped_s=tries, others=RIVAL, closing=GAVE_UP)
    assert (end.outcome, end.counts) == ("gave up", True)


@pytest.mark.parametrize(
    "more",
    [
        # nobody beside it: its own packets filled the queue
        {"dropped_s": (4.2, 5, 7, 11)},
        # somebody beside it, but nothing of it was dropped before its end
        {"others": RIVAL},
        {"others": RIVAL, "dropped_s": (2,)},
        # the other flow began only later
        {"others": frame(steady(1, 100, 10 * MS, first_ns=30 * S)), "dropped_s": (11.5,)},
        # a path that changes later, or had long changed
        {"network": NETWORK.model_copy(update={"schedule": (Change(at_s=13, rate_mbps=1),)})},
        {"network": NETWORK.model_copy(update={"schedule": (Change(at_s=1, rate_mbps=1),)})},
    ],
)
def test_one_that_gives_up_for_no_reason_that_the_network_shows_is_not_excused(more: dict[str, Any]) -> None:
    end = ended(*(n / 10 for n in range(1, 115)), **more, closing=GAVE_UP, connected=True)
    assert (end.outcome, end.ended_s, end.counts) == ("gave up", 12.0, False)
    assert "the network does not explain it" in end.text
    assert premature_gate("flow 0", end).ok is False


@pytest.mark.parametrize(
    ("more", "because"),
    [
        ({"random_losses": 3}, "its link lost 3 packets at random"),
        (
            {"network": NETWORK.model_copy(update={"schedule": (Change(at_s=11, rate_mbps=1),)})},
            "its path had changed at 11 s",
        ),
        (
            {"network": NETWORK.model_copy(update={"schedule": (Change(at_s=1, handover_overlap_ms=0),)})},
            "its receiver's address had changed at 1 s",
        ),
    ],
)
def test_loss_and_changes_of_the_path_explain_an_end_without_competition(
    more: dict[str, Any], because: str
) -> None:
    end = ended(*(n / 10 for n in range(1, 115)), **more, closing=GAVE_UP, connected=True)
    assert end.counts
    assert because in end.text


def test_one_that_falls_silent_counts_only_after_tries_in_vain() -> None:
    """What had no more to send is silent too: a file that was too short, in a study that was to go on."""
    sending = [n / 10 for n in range(1, 300)]
    silent = ended(*sending, dropped_s=(29.5,), others=RIVAL)
    assert not silent.counts
    assert "had dropped 1 of its packets" in silent.text
    assert silent.text.endswith(
        "sent fewer than 3 retries with growing timeouts, so the network does not explain its end"
    )
    by_itself = ended(*sending, dropped_s=(29.5,))
    assert by_itself.text.endswith("it was alone, and lost 1 packets to the queue that it filled")
    assert not ended(*sending, random_losses=9).counts
    # probes that came through and were not answered: a receiver that could not read them
    probes = (30.5, 31.5, 33.5, 37.5)
    unanswered = ended(*sending, *probes, dropped_s=(29.5,), others=RIVAL)
    assert (unanswered.outcome, unanswered.ended_s, unanswered.counts) == ("fell silent", 37.5, True)
    assert "retries with growing timeouts, none of them answered" in unanswered.text
    assert not ended(*sending, *probes, dropped_s=(29.5,)).counts


def test_probes_in_a_log_count_though_acknowledgements_came_between() -> None:
    """As quiche 0.24 behind half a BDP: its probes get through, and its receiver cannot read them."""
    sending = [n / 10 for n in range(1, 300)]
    tried = (30.2, 30.6, 31.4, 33.0, 36.2, 42.6)
    arrived = (30.226, 30.626, 31.426, 33.026, 36.226, 41.0, 42.626, 49.0)
    more: dict[str, Any] = {"dropped_s": (29.5,), "others": RIVAL}
    end = ended(*sending, *arrived, tried_s=tried, **more)
    assert (end.outcome, end.ended_s, end.counts) == ("fell silent", 49.0, True)
    # one that sent on between its tries had not come to nothing
    busy = [n / 10 for n in range(300, 490)]
    assert not ended(*sending, *busy, tried_s=tried, **more).counts


def dark(begin_s: float, end_s: float | None) -> Network:
    """A path that loses every packet in this time."""
    steps = [Change(at_s=begin_s, loss_percent=100)]
    steps += [Change(at_s=end_s, loss_percent=0)] if end_s else []
    return NETWORK.model_copy(update={"schedule": tuple(steps)})


def test_retries_on_a_path_that_loses_everything_are_not_seen() -> None:
    """A silence of up to twice the dark time after it is a timer that has backed off."""
    steady_s = tuple(index / 10 for index in range(300))
    assert ended(*steady_s, network=dark(30, 50)).outcome == "ran"
    assert "lost all packets until 50.000 s" in ended(*steady_s, network=dark(30, 50)).text
    assert ended(*steady_s, network=dark(30, None)).outcome == "ran"
    assert ended(*steady_s, network=dark(30, 40.1)).outcome == "ran"
    # it had fallen silent before, or went on and fell silent after it
    assert ended(*steady_s, network=dark(31, 50)).outcome == "fell silent"
    assert ended(*steady_s, 50.5, network=dark(30, 50)).outcome == "fell silent"
    # half of the packets come through
    some = NETWORK.model_copy(update={"schedule": (Change(at_s=30, loss_percent=50),)})
    assert ended(*steady_s, network=some).outcome == "fell silent"


def test_one_that_gives_up_while_its_path_loses_everything_counts_without_a_last_word() -> None:
    """Envoy ended its connection in an outage of 10 s: its word came through with one seed of two."""
    steady_s = tuple(index / 10 for index in range(300))
    end = ended(*steady_s, network=dark(30, 35), random_losses=25)
    assert (end.outcome, end.ended_s, end.counts) == ("fell silent", 29.9, True)
    assert "its path lost all packets until 35.000 s; it counts with the bytes carried" in end.text
    # one that went on after it, or had ended before it, has another cause
    assert not ended(*steady_s, 35.5, network=dark(30, 35), random_losses=25).counts
    assert not ended(*steady_s, network=dark(31, 35), random_losses=25).counts


def test_one_that_does_not_follow_its_receiver_fell_silent() -> None:
    moved = NETWORK.model_copy(update={"schedule": (Change(at_s=15, handover_overlap_ms=1000),)})
    end = ended(1, 14.9, 15.1, network=moved)
    assert (end.outcome, end.ended_s, end.counts) == ("fell silent", 15.1, True)
    assert not ended(1, 14.9, network=moved).counts


def test_one_that_never_gets_through_beside_another_counts_with_nothing() -> None:
    end = ended(dropped_s=(1, 2, 4, 8), others=RIVAL, connected=False)
    assert (end.outcome, end.ended_s, end.counts) == ("never sent", None, True)
    assert "0 of 4 packets left the bottleneck" in end.text
    handshake = ended(1, dropped_s=(2, 4, 8), others=RIVAL, connected=False, closing=GAVE_UP)
    assert (handshake.outcome, handshake.ended_s, handshake.counts) == ("never sent", 12.0, True)


def _handshake(dropped: int, size_bytes: int, small_dropped: int = 0) -> Life:
    """A server's flow beside another: small packets come through, ``dropped`` of a larger size do not."""
    small: list[Row] = [(0, n * S, n * S + 1, 419, "departed") for n in range(1, 14)]
    small += [(0, (20 + n) * S, None, 93, "dropped") for n in range(small_dropped)]
    large: list[Row] = [(0, n * S + 2, None, size_bytes, "dropped") for n in range(dropped)]
    packets = frame(sorted([*small, *large], key=lambda row: row[1]))
    return Life(packets, RIVAL, 0, 60 * S, 50 * MS, connected=False)


def test_a_handshake_whose_large_packets_were_all_dropped_counts_with_nothing() -> None:
    """As quinn, one of eight: a full queue takes packets of 93 bytes, and its ServerHello never fits."""
    end = flow_end(_handshake(7, 1242), NETWORK)
    assert (end.outcome, end.counts) == ("never sent", True)
    assert "13 of 20 packets left the bottleneck" in end.text
    assert "the bottleneck, which it shared, dropped 7 of them" in end.text
    # two may be an accident, and a packet of this size came through
    assert not flow_end(_handshake(2, 1242), NETWORK).counts
    assert not flow_end(_handshake(7, 419), NETWORK).counts
    assert not flow_end(_handshake(2, 1242, small_dropped=5), NETWORK).counts
    # a queue that only it fills
    assert not flow_end(replace(_handshake(7, 1242), others=ALONE), NETWORK).counts


def test_an_aqm_that_drops_every_try_explains_the_end_of_a_flow_that_is_alone() -> None:
    """As TQUIC behind RED: two timers back off side by side, and each packet is dropped in an empty queue."""
    red = NETWORK.model_copy(update={"queue": "red"})
    sending = [n / 100 for n in range(200)]
    tries = (3.2, 3.4, 4.6, 4.7, 7.3, 7.2, 12.2, 12.3, 22.1)
    end = ended(*sending, dropped_s=tries, network=red)
    assert (end.outcome, end.counts) == ("fell silent", True)
    assert "the bottleneck dropped all of its last 9 packets; it counts with the bytes carried" in end.text
    # one of them came through; too few; a drop-tail queue, which only the flow itself can have filled
    assert not ended(*sending, 15, dropped_s=tries, network=red).counts
    assert not ended(*sending, dropped_s=tries[:2], network=red).counts
    assert not ended(*sending, dropped_s=tries).counts


def test_one_that_never_connects_on_a_clean_link_is_a_fault() -> None:
    nothing = ended(others=RIVAL)
    assert (nothing.outcome, nothing.counts) == ("never sent", False)
    assert "never sent a packet" in nothing.text
    # its packets came through: a wrong certificate or protocol
    assert not ended(1, 2, 58, others=RIVAL, connected=False).counts
    assert not ended(1, 2, 58, dropped_s=(1.5,), others=RIVAL, connected=False).counts
    assert not ended(dropped_s=(1, 2, 4), connected=False).counts
    assert ended(random_losses=4).counts


def test_a_few_random_losses_do_not_keep_a_sender_silent_for_a_minute() -> None:
    one = ended(random_losses=1)
    assert (one.outcome, one.counts) == ("never sent", False)
    assert "1 lost packet is too few for it" in one.text
    assert not ended(1, random_losses=2, connected=False).counts
    # its first try was lost, and the second was not due
    for start_s, losses in ((59.5, 1), (59.0, 1), (58.96, 1), (58.9, 2), (57.0, 2)):
        late = replace(life(random_losses=losses), start_ns=round(start_s * S))
        assert flow_end(late, NETWORK).counts
        few = replace(life(random_losses=losses - 1), start_ns=round(start_s * S))
        assert not flow_end(few, NETWORK).counts


def test_a_program_that_fails_is_never_excused() -> None:
    end = ended(1, 4, dropped_s=(4.2, 5), others=RIVAL, random_losses=9, fault="ended with status -11")
    assert end == FlowEnd("failed", None, False, "ended with status -11")
    gate = premature_gate("flow 0", end)
    assert (gate.ok, gate.text) == (None, "premature end: not checked, a program of flow 0 failed")


def test_of_a_page_nothing_is_measured_unless_it_was_loaded() -> None:
    assert not ended(1, 4, random_losses=9, closing=GAVE_UP, excusable=False).counts
