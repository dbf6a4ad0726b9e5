"""States and sentences from figures; the list of probes itself."""

from __future__ import annotations

import dataclasses

import pytest

from cambrian.probes import judge as judging
from cambrian.probes import reading, table
from cambrian.probes.figures import Figure, NoFigure
from cambrian.probes.judge import Finding
from cambrian.probes.table import Probe
from cambrian.stacks import catalogue
from cambrian.study.builtin import find_study
from cambrian.study.load import load_study
from cambrian.study.model import Change
from tests.unit.probes.model import (
    LONE,
    LOST_ACKS,
    OUTAGES,
    Sender,
    each_nth,
    in_outage,
    network,
    nothing,
)

RANDOM = network("probe-response-1", loss_percent=1)


def probe(name: str) -> Probe:
    return next(one for one in table.probes() if one.name == name)


def figures(*values: float, resolution: float = 0.0) -> dict[int, Figure | NoFigure]:
    return {seed: Figure(value, 10, resolution) for seed, value in enumerate(values, 1)}


def judge(
    name: str,
    mine: dict[int, Figure | NoFigure],
    its: dict[int, Figure | NoFigure] | None,
    family: str = "cubic",
    later: bool = False,
) -> Finding:
    where = RANDOM if name == "response" else LONE
    return judging.judge(probe(name), where, family, later, mine, its)


def test_a_ratio_beyond_the_margin_is_different_and_said_in_plain_words() -> None:
    found = judge("response", figures(20.0, 19.9, 20.1), figures(2.4, 2.5, 2.3))
    assert found.state == "different"
    assert found.effect == pytest.approx(8.33, abs=0.1)
    assert found.text == (
        "at 1 % random loss it carries 20.00 Mbps, kernel CUBIC 2.40 Mbps (8.34 times the kernel's)"
    )


def test_a_ratio_within_the_margin_is_equivalent() -> None:
    assert judge("response", figures(2.4, 2.5, 2.6), figures(2.4, 2.5, 2.5)).state == "equivalent"


def test_pairs_of_one_seed_are_compared() -> None:
    # both vary by a factor of four, and are the same seed by seed
    assert judge("response", figures(1.0, 2.0, 4.0), figures(1.0, 2.0, 4.0)).state == "equivalent"


def test_a_wide_interval_is_inconclusive_and_says_how_many_more() -> None:
    found = judge("response", figures(2.0, 3.6, 2.9), figures(2.4, 2.4, 2.4))
    assert found.state == "inconclusive"
    assert found.more is not None
    assert found.more > 0
    # seeds do not remove a limit: only a longer trial does
    late: dict[int, Figure | NoFigure] = {
        n: Figure(v, 1, at_most=True) for n, v in enumerate((2.0, 3.6, 2.9))
    }
    found = judge("response", late, figures(*[2.4] * 3))
    assert (found.state, found.more) == ("inconclusive", None)


@pytest.mark.parametrize("seeds", [1, 2])
def test_random_losses_need_three_seeds(seeds: int) -> None:
    found = judge("response", figures(*[20.0] * seeds), figures(*[2.4] * seeds))
    # what an interval needs, and no promise of a state
    assert (found.state, found.more, found.settles_as) == ("inconclusive", 3 - seeds, None)


@pytest.mark.parametrize("key", ["loss_percent", "return_loss_percent"])
@pytest.mark.parametrize(("percent", "random"), [(1, True), (0, False), (100, False)])
def test_a_schedule_may_lose_at_random_and_an_outage_does_not(key: str, percent: float, random: bool) -> None:
    where = network("probe-response-1", schedule=(Change.model_validate({"at_s": 1, key: percent}),))
    assert judging.is_random(where) == random
    later = (Change.model_validate({"at_s": 8, key: 0}),)
    assert judging.is_random(network("probe-response-1", **{key: percent}, schedule=later)) == random
    found = judging.judge(probe("response"), where, "cubic", False, figures(20.0, 20.0), figures(2.4, 2.4))
    assert found.state == ("inconclusive" if random else "different")


def test_one_trial_says_nothing() -> None:
    found = judge("lone-loss-kept", figures(1.0), figures(0.7))
    assert (found.state, found.more) == ("inconclusive", 1)
    assert found.text.endswith("one trial is inconclusive, 2 are needed")


def test_where_nothing_is_drawn_both_trials_must_be_outside() -> None:
    assert judge("lone-loss-kept", figures(0.95, 0.96), figures(0.7, 0.7)).state == "different"
    assert judge("lone-loss-kept", figures(0.95, 0.75), figures(0.7, 0.7)).state == "inconclusive"
    assert judge("lone-loss-kept", figures(0.72, 0.71), figures(0.7, 0.7)).state == "equivalent"


def test_what_a_measure_cannot_resolve_widens_the_range() -> None:
    sharp, blunt = figures(0.82, 0.82), figures(0.82, 0.82, resolution=0.03)
    assert judge("lone-loss-kept", sharp, figures(0.7, 0.7)).state == "different"
    assert judge("lone-loss-kept", blunt, figures(0.7, 0.7)).state == "inconclusive"


def test_without_the_kernel_nothing_is_compared() -> None:
    found = judge("lone-loss-kept", figures(1.0, 1.0), None)
    assert found.state is None
    assert found.why == "kernel TCP was not run alone on this network with this round trip"
    assert found.text == "after a lone loss it keeps 1.00 of its flight"


def test_why_a_trial_shows_nothing_is_told() -> None:
    found = judge("lone-loss-kept", {1: NoFigure("no loss was seen")}, figures(0.7))
    assert (found.state, found.why) == (None, "no loss was seen")


def test_a_later_bbr_has_no_kernel_to_be_compared_with() -> None:
    assert judge("lone-loss-kept", figures(0.9, 0.9), figures(0.7, 0.7), later=True).state is None


def test_a_bound_needs_no_kernel_but_does_not_stand_where_the_kernel_breaks_it() -> None:
    late = figures(2.0, 2.0)
    assert judge("blackout-silence", late, None).state == "different"
    assert judge("blackout-silence", figures(0.8, 0.9), figures(0.9, 0.9)).state == "equivalent"
    assert judge("blackout-silence", late, figures(2.0, 2.0)).state is None


def test_slow_start_may_double_in_a_round_trip_and_no_more() -> None:
    assert judge("start-growth", figures(1.13, 1.12), figures(1.0, 1.0)).state == "equivalent"
    fast = judge("start-growth", figures(1.99, 2.01), figures(1.0, 1.0))
    assert fast.state == "different"
    assert fast.text == (
        "in slow start its window grows by 2.00 bytes for each byte acknowledged, "
        "kernel CUBIC's by 1.00 bytes"
    )
    # BBR's Startup more than doubles
    assert not probe("start-growth").is_shown_by("20mbps-50ms-1bdp", "bbr")


def test_the_textbooks_stand_beside_it() -> None:
    # Mathis at 1/1500 is √(3/2 · 1500) segments; at 100 ms CUBIC's own region has fewer, so it follows Reno,
    # and at 250 ms it has 1.054 · (0.25 · 1500)^¾
    for trip_s, window in ((0.1, 47.43), (0.25, 89.9)):
        mine: dict[int, Figure | NoFigure] = {1: Figure(50.0, 5, trip_s=trip_s)}
        assert judge("lone-loss-window", mine, mine).theory == pytest.approx(window, abs=0.1)
    assert judge("lone-loss-kept", figures(0.7, 0.7), figures(0.7, 0.7)).theory is None


def test_every_probe_has_a_measure_and_a_network_in_a_study() -> None:
    studies = [
        load_study(find_study(name), catalogue.ccas(), catalogue.reference_of)
        for name in ("fingerprint", "latecomer", "pauses")
    ]
    shown = {
        (network.name, page.name if page else None)
        for study in studies
        for network in study.networks
        for page in (study.page_load.pages if study.page_load else [None])
    }
    for one in table.probes():
        assert callable(one.function)
        assert any(one.is_shown_by(name, "cubic", one.flows, page) for name, page in shown), one.name
        text = one.says.format(
            mine="1", its="2", kernel="kernel CUBIC", loss_percent="1", loss_every_packets=1
        )
        assert "{" not in text
        assert "{mine}" in one.says.rpartition(", ")[0], "what is left without a figure of the kernel"


def test_a_probe_reads_only_the_networks_that_it_names() -> None:
    seen = Sender().run(LONE, each_nth, duration_s=40)
    assert set(reading.read(seen)) == {
        "lone-loss-kept",
        "lone-loss-answered",
        "lone-loss-delay",
        "lone-loss-later",
        "lone-loss-window",
        "log-flight",
        "false-losses",
    }


@pytest.mark.parametrize("pattern", sorted({each for one in table.probes() for each in one.networks}))
def test_a_user_s_network_may_have_a_name_of_the_fingerprint_s(pattern: str) -> None:
    """Nothing is lost there, no acknowledgement either, and nothing is marked: no figure, but no error."""
    plain = network(pattern.replace("*", "-mine"))
    seen = Sender().run(plain, nothing, duration_s=40)
    for where in (seen, dataclasses.replace(seen, starts_ns=(0, 20_000_000_000))):
        for found in reading.read(where).values():
            assert isinstance(found, Figure | NoFigure)


def test_bbr_restores_its_window_after_a_blackout_and_is_not_compared() -> None:
    applies = {
        family: probe("blackout-restart").is_shown_by("probe-outages", family)
        for family in ("cubic", "reno", "bbr")
    }
    assert applies == {"cubic": True, "reno": True, "bbr": False}
    # what comes back late or never is another matter
    assert probe("blackout-silence").is_shown_by("probe-outages", "bbr")


SHOWN_BY = {
    "probe-lone-losses": (LONE, each_nth),
    "probe-outages": (OUTAGES, in_outage),
    "probe-lost-acks": (LOST_ACKS, nothing),
}


@pytest.mark.parametrize(
    ("sender", "named"),
    [
        (Sender(cut=lambda window, event: window), "lone-loss-kept"),
        (Sender(cut=lambda window, event: window * (0.7 if event % 2 else 1)), "lone-loss-answered"),
        (Sender(growth=20.0), "lone-loss-later"),
        (Sender(growth=3.0), "lone-loss-window"),
        (Sender(per_packet=True), "burst-kept"),
        (Sender(silence=1_000_000_000), "burst-silence"),
        (Sender(collapses=False, cut=lambda window, event: window), "blackout-restart"),
        (Sender(backs_off=1.0), "timeout-growth"),
        (Sender(backs_off=1.5), "timeout-growth"),
        (Sender(timeout=70_000_000, initial=20, most=30), "timeout-trips"),
        (Sender(timeout=40_000_000, backs_off=1.0), "timeout-packets"),
    ],
    ids=[
        *("ignores", "every-second", "slow-start", "grows-faster", "cut-per-packet", "silent", "no-collapse"),
        *("timeouts-stay-the-same", "timeouts-grow-slowly", "early-timeout", "storm"),
    ],
)
def test_faults_without_a_name_are_described_by_the_probe_that_shows_them(sender: Sender, named: str) -> None:
    one = probe(named)
    where, loses = SHOWN_BY[one.networks[0].rstrip("*")]
    mine, its = (
        {seed: reading.read(each.run(where, loses, 40 + seed))[named] for seed in (1, 2)}
        for each in (sender, Sender())
    )
    assert judging.judge(one, where, "cubic", False, mine, its).state == "different"
    # and the sender without the fault is not accused
    assert judging.judge(one, where, "cubic", False, its, its).state == "equivalent"


def test_who_is_near_the_textbook_is_not_called_different_for_a_kernel_that_is_not() -> None:
    # Mathis at 1/1500 is 47 segments; a kernel may have 59
    mine: dict[int, Figure | NoFigure] = {seed: Figure(44.0, 5, trip_s=0.1) for seed in (1, 2)}
    assert judge("lone-loss-window", mine, figures(59.0, 59.0)).state == "equivalent"
    assert judge("lone-loss-window", figures(44.0, 44.0), figures(59.0, 59.0)).state == "different"
    far: dict[int, Figure | NoFigure] = {seed: Figure(30.0, 5, trip_s=0.1) for seed in (1, 2)}
    assert judge("lone-loss-window", far, figures(59.0, 59.0)).state == "different"


def test_the_margin_is_the_one_that_was_used() -> None:
    one = probe("lone-loss-window")
    mine: dict[int, Figure | NoFigure] = {seed: Figure(44.0, 5, trip_s=0.1) for seed in (1, 2)}
    found = judge("lone-loss-window", mine, figures(59.0, 59.0))
    assert found.theory is not None and found.theory < 59
    assert found.margin == pytest.approx((one.low * found.theory / 59, one.high))
    # without a value by theory it is the probe's own
    plain = judge("lone-loss-window", figures(44.0, 44.0), figures(59.0, 59.0))
    assert plain.margin == pytest.approx((one.low, one.high))
    assert judge("lone-loss-window", mine, None).margin is None


@pytest.mark.parametrize("cca", ["bbr2", "bbr2_gcongestion", "bbr3", "bbrv3"])
def test_later_generations_of_bbr_are_known_by_their_names(cca: str) -> None:
    assert judging.is_later_bbr(cca)
    assert not judging.is_later_bbr("bbr")


def test_a_few_trials_with_a_figure_say_nothing() -> None:
    missing: dict[int, Figure | NoFigure] = {seed: NoFigure("too few losses") for seed in range(3, 11)}
    few = figures(0.9, 0.92) | missing
    assert judge("lone-loss-kept", few, figures(*[0.7] * 10)).why == (
        "only 2 of 10 trials of the contestant give a figure"
    )
    assert judge("lone-loss-kept", figures(*[0.7] * 10), few).why == (
        "only 2 of 10 trials of kernel TCP give a figure"
    )


def test_a_reno_that_counts_delayed_acknowledgements_is_not_called_different() -> None:
    # RFC 5681, section 3.1; Mathis at 1/1500 is 47 segments for one packet an ACK, and 34 for two
    slow: dict[int, Figure | NoFigure] = {seed: Figure(34.0, 5, trip_s=0.1) for seed in (1, 2)}
    assert judge("lone-loss-window", slow, figures(48.0, 48.0), "reno").state == "equivalent"
    slower: dict[int, Figure | NoFigure] = {seed: Figure(20.0, 5, trip_s=0.1) for seed in (1, 2)}
    assert judge("lone-loss-window", slower, figures(48.0, 48.0), "reno").state == "different"


def test_a_value_that_no_trial_reached_is_a_lower_limit() -> None:
    late: dict[int, Figure | NoFigure] = {seed: Figure(8.0, 1, at_least=seed == 1) for seed in (1, 2)}
    found = judge("blackout-recovery", late, figures(0.4, 0.4))
    assert found.text == (
        "after a blackout it takes at least 8.0 s to carry 80 % of the link, kernel CUBIC 0.4 s"
    )
    assert found.state == "different"


@pytest.mark.parametrize(("packets", "state"), [(17.0, "different"), (80.0, "inconclusive")])
def test_a_value_that_still_falls_is_an_upper_limit(packets: float, state: str) -> None:
    falling: dict[int, Figure | NoFigure] = {seed: Figure(packets, 5, at_most=True) for seed in (1, 2)}
    found = judge("lone-loss-window", falling, figures(48.0, 48.0), "reno")
    assert found.state == state
    assert f"at most {packets:.0f} packets" in found.text


@pytest.mark.parametrize(
    ("mine", "its", "limits", "state"),
    [
        # within the margin so far: what comes after the trial's end decides
        (6.4, 0.4, (True, False), "inconclusive"),
        (6.4, 6.4, (True, True), "inconclusive"),
        (0.4, 6.4, (False, True), "inconclusive"),
        # more time can only increase these differences
        (8.0, 0.4, (True, False), "different"),
        (0.4, 8.0, (False, True), "different"),
        # and may end this one
        (8.0, 0.4, (True, True), "inconclusive"),
    ],
)
def test_a_lower_limit_proves_only_what_more_time_cannot_undo(
    mine: float, its: float, limits: tuple[bool, bool], state: str
) -> None:
    def side(value: float, at_least: bool) -> dict[int, Figure | NoFigure]:
        return {seed: Figure(value, 1, at_least=at_least) for seed in (1, 2)}

    found = judge("blackout-recovery", side(mine, limits[0]), side(its, limits[1]))
    assert found.state == state
    assert found.text.endswith("; the trial ends too soon to tell") == (state == "inconclusive")
