"""What a contestant does alone beside what the reference does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cambrian.judging import plausibility
from cambrian.judging.plausibility import Alone
from cambrian.judging.sides import Side


def alone(
    utilisation: float = 0.96,
    loss: float = 0.1,
    delay_ms: float = 30.0,
    mbps: float | None = None,
    lossy: bool = False,
    twice: float | None = None,
) -> Alone:
    carried = 20 * utilisation if mbps is None else mbps
    return Alone(50.0, 20.0, carried, utilisation, loss, delay_ms, lossy, twice)


REFERENCE = {"a": [alone(), alone(0.961)], "b": [alone(0.97)] * 2, "single": [alone(0.97)]}


def side(**mine: list[Alone]) -> Side:
    return plausibility.side(mine, REFERENCE, "tcp cubic")


def test_like_the_reference() -> None:
    assert side(a=[alone(0.95), alone(0.94)], b=[alone(0.96)]).state == "equivalent"


def test_an_idle_link_is_odd() -> None:
    found = side(a=[alone(0.53), alone(0.54)])
    assert found.state == "different"
    assert found.findings == ("utilisation after slow start 54 % (tcp cubic 96 %) on a",)


def test_a_link_left_unused_by_a_controller_that_is_not_compared() -> None:
    """The kernel has no BBRv3: nothing was said of tquic's, which carried 9.7 of 20 Mbps."""

    def texts(*mine: Alone, reference: float = 0.98) -> list[str]:
        its = {"a": [alone(reference)] * 2}
        return [one.text for one in plausibility.underused({"a": mine}, its, "tcp bbr")]

    assert texts(alone(0.48), alone(0.5)) == ["utilisation after slow start 49 % (tcp bbr 98 %) on a"]
    assert texts(replace(alone(0.48), grows=True), alone(0.5))
    assert texts(*(replace(alone(share), round_trips=101, full_rtt_ms=100) for share in (0.48, 0.5)))
    # one trial, or replicates of one; one trial that fills more; a link that the reference leaves unused, too
    assert not texts(alone(0.5), alone(0.5))
    assert not texts(alone(0.5), alone(0.82))
    assert not texts(alone(0.48), alone(0.5), reference=0.6)
    for changed in (
        {"lossy": True},
        {"unsteady": True},
        {"limit": "its receiver"},
        {"round_trips": 40},
        # 1.2 s: less than one cycle of probes
        {"round_trips": 60, "full_rtt_ms": 20, "grows": True},
        {"roomy": False},
    ):
        assert not texts(*(replace(alone(share), **changed) for share in (0.48, 0.5)))


def test_a_third_of_the_packets_lost_is_odd() -> None:
    found = side(a=[alone(loss=38)] * 2, b=[alone(loss=37)] * 2)
    assert found.state == "different"
    assert "packet loss after slow start 38.0 % (tcp cubic 0.1 %)" in found.findings[0]


def test_a_standing_queue_is_odd() -> None:
    assert side(a=[alone(delay_ms=161)] * 2, b=[alone(delay_ms=163)] * 2).state == "different"
    assert side(a=[alone(delay_ms=38)], b=[alone(delay_ms=40)]).state == "equivalent"


@pytest.mark.parametrize("lossy", [False, True])
def test_data_that_is_sent_again_without_need_is_odd(lossy: bool) -> None:
    def judged(mine: list[float | None], its: float | None) -> Side:
        trials = [alone(0.96 - n / 100, twice=twice, lossy=lossy) for n, twice in enumerate(mine)]
        return plausibility.side({"a": trials}, {"a": [alone(twice=its, lossy=lossy)] * 3}, "tcp cubic")

    found = judged([2.9, 3.0, 3.1], 0.0)
    assert found.state == "different"
    assert found.findings == ("at least 3.0 % of what arrives had arrived before (tcp cubic 0.0 %) on a",)
    # less than the reference's is no fault, and neither is a little more
    assert judged([0.0, 0.0], 6.0).state == "equivalent"
    assert judged([8.0, 8.5], 6.0).state == "equivalent"
    assert judged([1.0, 3.0], 0.0).state == "inconclusive"
    # one trial in which it is known accuses nobody
    assert judged([3.0, None], 0.0).state == "inconclusive"
    # and where it is not known, nothing is said
    assert judged([None, None], 0.0).state == "equivalent"
    assert judged([3.0, 3.0], None).state == "equivalent"


def test_one_trial_accuses_nobody() -> None:
    assert side(a=[alone(0.53)]).state == "inconclusive"
    # two trials that are the same are one
    assert side(a=[alone(0.53), alone(0.53)]).state == "inconclusive"
    # nor do two networks with one trial each: a study of one seed compares nothing
    assert side(a=[alone(0.53)], b=[alone(0.55)]).state == "inconclusive"
    assert side(a=[alone(0.53)] * 2, b=[alone(0.55)] * 2).state == "different"
    # nor do they with one trial of the reference on one of them
    assert side(a=[alone(0.53)] * 2, single=[alone(0.55)] * 2).state == "inconclusive"
    # and two networks of one path on which the contestant does the same are one
    assert side(a=[alone(0.53)] * 2, b=[alone(0.53)] * 2).state == "inconclusive"
    other_path = [replace(alone(0.53), full_rtt_ms=300.0)] * 2
    assert side(a=[alone(0.53)] * 2, b=other_path).state == "different"
    # slow start ends at another time on each network of one path
    other_end = [replace(alone(0.53), round_trips=300.0)] * 2
    assert side(a=[alone(0.53)] * 2, b=other_end).state == "inconclusive"


def test_a_few_packets_are_no_difference() -> None:
    """Three drops of 163 packets, and one of 158."""

    def lost(percent: float, packets: float = 160) -> Alone:
        return replace(alone(loss=percent), packets=packets)

    def state(packets: float) -> str:
        mine, its = (
            [lost(each, packets) for each in losses] for losses in ((1.8, 1.85, 1.9), (0.6, 0.6, 0.6))
        )
        return plausibility.side({"a": mine}, {"a": its}, "tcp reno").state

    assert (state(160), state(500), state(20000)) == ("equivalent", "equivalent", "different")


def test_a_trial_of_few_round_trips_is_compared_by_nothing_that_slow_start_decides() -> None:
    mine, its = ([replace(alone(loss=loss), round_trips=8.0)] * 2 for loss in (20.7, 6.0))
    found = plausibility.side({"a": mine}, {"a": its}, "tcp reno")
    assert found.state == "inconclusive"
    assert found.findings == (
        "too short to compare with tcp reno on a: 8 round trips with a full queue, 50 are needed",
    )
    longer = [replace(each, round_trips=30.0) for each in mine]
    found = plausibility.side({"a": mine, "b": longer}, {"a": its, "b": its}, "tcp reno")
    assert found.findings == (
        "too short to compare with tcp reno on a, b: 8 round trips with a full queue, 50 are needed",
    )
    found = plausibility.side({"a": mine, "b": longer}, {"a": its, "b": longer}, "tcp reno")
    assert found.findings == (
        "too short to compare with tcp reno on a, b: 8 to 30 round trips with a full queue, 50 are needed",
    )


def test_trials_across_the_margin_are_inconclusive() -> None:
    assert side(a=[alone(0.80), alone(0.95)]).state == "inconclusive"


def test_a_flow_that_still_grows_back_is_not_compared() -> None:
    """Reno on a large path, which left slow start by a loss: the kernel's left it before one."""
    mine, its = [replace(alone(0.6), grows=True)] * 2, [alone(1.0)] * 2
    found = plausibility.side({"a": mine, "b": mine}, {"a": its, "b": its}, "tcp reno")
    assert found.state == "inconclusive"
    assert found.findings == (
        "too short to compare with tcp reno on a, b: "
        "after slow start a flow still grows back to the full link",
    )


def test_a_path_that_reorders_accuses_nobody_and_is_not_called_equivalent() -> None:
    """quinn carries a quarter of the kernel's at 3 % of reordering: correct senders may differ there."""
    mine, alike, its = (
        [replace(alone(mbps=mbps), unsteady=True) for mbps in both]
        for both in ((2.2, 2.4), (8.5, 9.1), (10.0, 10.0))
    )
    found = plausibility.side({"reorder": mine}, {"reorder": its}, "tcp cubic")
    assert found.state == "inconclusive"
    assert found.findings[0].startswith("throughput 2.3 Mbps (tcp cubic 10.0 Mbps) on reorder: the path")
    assert plausibility.side({"reorder": alike}, {"reorder": its}, "tcp cubic").state == "equivalent"


@pytest.mark.parametrize("lossy", [False, True])
@pytest.mark.parametrize(("mbps", "is_equivalent"), [(0.6, False), (0.75, False), (0.85, True), (1.3, False)])
def test_a_throughput_that_is_not_odd_is_not_yet_equivalent(
    lossy: bool, mbps: float, is_equivalent: bool
) -> None:
    """tquic's BBRv3 was called equivalent with 0.6 Mbps, beside kernel BBR's 1.0 on a path of 3 packets."""
    mine, its = ([replace(alone(mbps=each), lossy=lossy, unsteady=not lossy)] * 3 for each in (mbps, 1.0))
    state = plausibility.side({"a": mine}, {"a": its}, "tcp bbr").state
    assert state == ("equivalent" if is_equivalent else "inconclusive")


def test_trials_without_figures_are_not_measured() -> None:
    empty = [replace(alone(), utilisation=None, loss_percent=None, delay_ms=None)] * 2
    found = plausibility.side({"a": empty}, {"a": empty}, "tcp cubic")
    assert (found.state, found.findings) == (
        "not measured",
        ("its trials show nothing to compare with tcp cubic",),
    )


def test_nothing_without_the_reference_on_the_same_network() -> None:
    found = side(c=[alone()])
    assert found.state == "not measured"
    assert found.findings == ("tcp cubic was not run alone on the same network with the same round trip",)
    # the reference was, and the contestant's own trials are invalid
    found = plausibility.side({"a": []}, {"a": [alone()]}, "tcp cubic")
    assert found == Side("not measured", ("none of its trials alone is valid",))


def test_with_random_loss_only_a_factor_in_throughput_counts() -> None:
    reference = {"l": [alone(mbps=2.4, lossy=True), alone(mbps=2.5, lossy=True)]}
    twenty = plausibility.side(
        {"l": [alone(mbps=20.0, lossy=True), alone(mbps=19.9, lossy=True)]}, reference, "tcp cubic"
    )
    assert twenty.state == "different"
    assert "throughput 19.9 Mbps (tcp cubic 2.5 Mbps)" in twenty.findings[0] or "20.0" in twenty.findings[0]
    near = plausibility.side(
        {"l": [alone(mbps=3.0, lossy=True), alone(mbps=2.2, lossy=True)]}, reference, "tcp cubic"
    )
    assert near.state == "equivalent"


def small(loss: float, delay_ms: float) -> Alone:
    return Alone(2.0, 2.0, 1.9, 0.96, loss, delay_ms, False)


def test_on_a_small_link_all_lose_much_and_a_packet_takes_long() -> None:
    reference = {"a": [small(8.1, 6.0), small(8.15, 6.0), small(8.2, 6.1)]}
    near = {"a": [small(9.3, 13.0), small(9.4, 13.1)]}
    assert plausibility.side(near, reference, "tcp reno").state == "equivalent"
    far = {"a": [small(26.3, 13.0), small(26.4, 13.1), small(26.5, 13.2)]}
    assert plausibility.side(far, reference, "tcp reno").state == "different"


def test_on_a_path_of_a_few_packets_a_packet_more_in_each_cut_is_a_factor() -> None:
    """0.2 Mbps, 80 ms, 12 packets: right CUBICs drop 18 to 45 of 870 packets, the kernel's 18."""

    def judged(buffer_packets: int) -> Side:
        full_rtt_ms = 80 + buffer_packets * 1514 * 8 / 200
        mine, its = (
            [
                replace(alone(loss=loss), rate_mbps=0.2, rtt_ms=80.0, full_rtt_ms=full_rtt_ms, packets=870.0)
                for loss in losses
            ]
            for losses in ((4.6, 4.67, 4.75), (2.1, 2.1, 2.1))
        )
        return plausibility.side({"a": mine}, {"a": its}, "tcp cubic")

    assert judged(12).state == "equivalent"
    assert judged(40).state == "different"


@pytest.mark.parametrize(
    ("silences_s", "state"),
    [
        (((1.0, 1.0), (1.0, 1.1)), "inconclusive"),
        (((1.0,), (1.0,)), "equivalent"),
        (((), (0.6, 1.1)), "inconclusive"),
        (((), ()), "equivalent"),
    ],
)
def test_silences_without_a_loss_are_named_and_accuse_nobody(
    silences_s: tuple[tuple[float, ...], ...], state: str
) -> None:
    mine = [replace(alone(0.95 - n / 100), silences_s=one) for n, one in enumerate(silences_s)]
    found = plausibility.side({"a": mine}, REFERENCE, "tcp cubic")
    assert found.state == state
    if state == "inconclusive":
        said = "on a it is silent up to 2 times in a trial, for up to 1.1 s, with no loss before"
        assert f"{said} (tcp cubic never)" in found.findings[0]
    # where the path loses packets, these may be the cause
    lossy = [replace(one, lossy=True) for one in mine]
    assert not any(
        "silent" in text for text in plausibility.side({"a": lossy}, REFERENCE, "tcp cubic").findings
    )


def test_silences_that_the_reference_has_too_are_the_networks() -> None:
    one = [replace(alone(), silences_s=(1.0, 1.0))] * 2
    assert plausibility.side({"a": one}, {"a": one}, "tcp cubic").state == "equivalent"


def test_rounding_and_a_single_trial_of_the_reference_are_no_second_trial() -> None:
    assert side(a=[alone(0.53), alone(0.53001)]).state == "inconclusive"
    assert side(single=[alone(0.53), alone(0.56)]).state == "inconclusive"


@pytest.mark.parametrize("whose", ["mine", "reference"])
def test_who_is_limited_by_something_else_is_not_accused(whose: str) -> None:
    slow = [alone(0.63), alone(0.62)]
    assert plausibility.side({"a": slow}, {"a": [alone(1.0)] * 2}, "tcp reno").state == "different"
    why = "its application decides what it sends"
    limited = [replace(one, limit=why) for one in slow]
    sides = (limited, [alone(1.0)] * 2) if whose == "mine" else ([alone(1.0)] * 2, limited)
    found = plausibility.side({"a": sides[0]}, {"a": sides[1]}, "tcp reno")
    assert found.state == "inconclusive"
    assert why in found.findings[0]


def queues(*networks: list[float]) -> dict[str, list[Alone]]:
    """Trials with these queueing delays in ms, on networks of different buffers."""
    return {
        f"n{number}": [replace(alone(delay_ms=one), full_rtt_ms=100.0 + number) for one in delays]
        for number, delays in enumerate(networks)
    }


def queue(mine: dict[str, list[Alone]], its: dict[str, list[Alone]]) -> str:
    return plausibility.side(mine, its, "tcp cubic").state


@pytest.mark.parametrize("mood", ["standing queue", "bursty loss"])
@pytest.mark.parametrize(("trials", "networks"), [(2, 1), (2, 2), (2, 6), (3, 1), (3, 6)])
def test_moods_of_equal_senders_are_no_difference(mood: str, trials: int, networks: int) -> None:
    """With two trials each, 10 to 55 % of equal senders were different, and with three 3 to 17 %."""
    rng = np.random.default_rng(4)

    def one() -> Alone:
        if mood == "bursty loss":
            return alone(mbps=float(3 * np.exp(0.8 * rng.normal())), lossy=True)
        return alone(delay_ms=float(rng.choice([8, 40]) + rng.normal()))

    def sender() -> dict[str, list[Alone]]:
        return {f"n{number}": [one() for _ in range(trials)] for number in range(networks)}

    different = sum(queue(sender(), sender()) == "different" for _ in range(200))
    assert different / 200 <= 0.05


def test_a_steady_difference_needs_more_trials_the_smaller_it_is() -> None:
    # 5 margins (15 ms); all trials of one side in one mood, and all of the other's in the other: 1 of 8
    assert queue(queues([105, 107]), queues([30, 31])) == "different"
    assert queue(queues([60, 61]), queues([30, 31])) == "inconclusive"
    assert queue(queues([60, 61, 62]), queues([30, 31, 31])) == "different"
    # on a second network the same
    assert queue(queues([60, 61], [62, 63]), queues([30, 31], [30, 31])) == "different"


def test_who_is_unsteady_on_another_network_needs_more_trials() -> None:
    """On the second network its own trials lie as far apart as both sides' on the first."""
    moody = [30.0, 105.0]
    assert queue(queues([105, 107], moody), queues([30, 31], [30, 31])) == "inconclusive"
    assert queue(queues([105, 107], [30, 31]), queues([30, 31], moody)) == "inconclusive"
    # trials that scatter show it, if there are four of each side, or if three networks agree
    wide, its = [80.0, 90.0, 110.0, 120.0], [20.0, 25.0, 30.0, 35.0]
    assert queue(queues(wide[:3]), queues(its[:3])) == "inconclusive"
    assert queue(queues(wide), queues(its)) == "different"
    # also beside a network on which it does the same in each trial
    assert queue(queues([*wide, 130], [30] * 5), queues([*its, 15], [30] * 5)) == "different"
    assert queue(queues(*[wide[::3]] * 2), queues(*[its[::3]] * 2)) == "inconclusive"
    assert queue(queues(*[wide[::3]] * 3), queues(*[its[::3]] * 3)) == "different"
    # one trial on another network says nothing of chance, and hides nothing
    assert queue(queues(*[wide[::3]] * 3, [30]), queues(*[its[::3]] * 3, [31])) == "different"
    assert queue(queues(wide, [30]), queues(its, [31])) == "different"


def test_the_network_that_confirms_one_trial_is_independent() -> None:
    """Networks of one path with equal trials are one, and a network with one trial confirms nothing."""
    path = alone(0.5), alone(0.97)
    other = tuple(replace(one, rtt_ms=80.0) for one in path)
    single = tuple(replace(one, rtt_ms=120.0) for one in path)
    sizes = {"red": (path, 2), "same": (path, 2), "once": (single, 1), "wide": (other, 2)}
    mine, reference = (
        {name: [pair[side]] * trials for name, (pair, trials) in sizes.items()} for side in (0, 1)
    )
    found = {one.network: one for one in plausibility.proven(mine, reference, "tcp cubic")}
    # equal trials are one draw
    assert {one.trials for one in found.values()} == {1}
    assert {name: one.confirmed_on for name, one in found.items() if one.name == "utilisation"} == {
        "red": "wide",
        "same": "wide",
        "once": "red",
        "wide": "red",
    }
    # the same figure, wrong in the other direction, confirms nothing either
    mine = {"red": [path[0]] * 2, "more": [other[1]] * 2}
    reference = {"red": [path[1]] * 2, "more": [other[0]] * 2}
    opposite = plausibility.proven(mine, reference, "tcp cubic")
    assert not [one for one in opposite if one.name == "utilisation"]
    enough = {"a": [alone(0.5), alone(0.51)], "b": [alone(0.5)] * 2}
    found_here = plausibility.proven(enough, dict.fromkeys(enough, REFERENCE["a"]), "tcp cubic")
    assert {one.network: one.confirmed_on for one in found_here if one.name == "utilisation"}["a"] == ""
