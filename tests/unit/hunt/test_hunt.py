"""A hunt's situations are studies, its properties are about them, and its search finds and simplifies."""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.hunt import output, search, situation, trials
from cambrian.hunt.properties import Property, all_properties, bounded, pauses
from cambrian.hunt.search import SEEDS, Counterexample, Hunt
from cambrian.hunt.situation import CHOICES, Situation, situations, systematic
from cambrian.hunt.trials import ROOM, Evidence, Runner
from cambrian.measure.figures import Figures
from cambrian.stacks import catalogue, checks
from cambrian.store.results import TrialResult
from cambrian.study.expand import expand
from cambrian.study.load import parse_study
from cambrian.study.model import Group


def groups_of(variants: dict[str, Situation], contestant: str = "quinn/cubic", seeds: int = 2) -> list[Group]:
    text = situation.study_toml("t", variants, contestant, "tcp/cubic", seeds=seeds)
    study = parse_study(text, "h", Path(), catalogue.ccas(), catalogue.reference_of, checks)
    return expand(study, reference_of=catalogue.reference_of)


@settings(max_examples=150)
@given(situations(), st.sampled_from(list(all_properties().values())))
def test_every_situation_of_every_property_is_a_study(one: Situation, held: Property) -> None:
    if not held.applies(one):
        return
    variants = held.variants(one)
    groups = groups_of({str(number): variant for number, variant in enumerate(variants)})
    own = [group for group in groups if group.subject == "contestant"]
    kernel = [group for group in groups if group.subject == "kernel"]
    assert len(own) == len(kernel) == len(variants)
    assert all(len(group.trials) == (4 if one.rival == "together" else 2) for group in groups)
    for group, name in ((own[0], "quinn"), (kernel[0], "tcp")):
        flows = group.trials[0].flows
        assert [flow.contestant.stack for flow in flows] == [name, "tcp"][: 2 if one.rival != "none" else 1]
        assert flows[0].size_bytes == 1000 * one.size_kb


@settings(max_examples=50)
@given(situations())
def test_simpler_situations_are_simpler_and_possible(one: Situation) -> None:
    def places(of: Situation) -> int:
        return sum(values.index(getattr(of, name)) for name, values in CHOICES.items())

    for simpler in one.simpler():
        assert simpler.is_possible and places(simpler) < places(one)
        assert set(simpler.unusual) <= set(one.unusual)


def test_the_systematic_situations_are_single_causes_then_large_paths_then_events_with_another_size() -> None:
    found = systematic()
    pairs = [one for one in found if one.event != "none" and len(one.unusual) == 2]
    assert found[-len(pairs) :] == pairs
    assert {one.event for one in pairs} == set(CHOICES["event"][1:])
    found = found[: -len(pairs)]
    large = [one for one in found if {"rate_mbps", "rtt_ms"} < set(one.unusual)]
    assert found[-len(large) :] == large
    assert all(len(one.unusual) == 3 and one.is_steady for one in large)
    found = found[: -len(large)]
    assert len(set(found)) == len(found)
    assert all(one.is_possible for one in found)
    assert all(len(one.unusual) <= 1 or set(one.unusual) == {"queue", "ecn"} for one in found)
    # every value of every key that can be alone
    alone = {(name, getattr(one, name)) for one in found for name in one.unusual}
    missing = {(name, value) for name, values in CHOICES.items() for value in values[1:]} - alone
    assert {name for name, _ in missing} == {"later_event", "rtt_ms", "buffer_bdp"}


def test_hunts_of_all_contestants_share_the_kernels_trials() -> None:
    def kernel(contestant: str) -> list[object]:
        groups = groups_of({"network": Situation(rival="later")}, contestant)
        return [group.trials for group in groups if group.subject == "kernel"]

    assert kernel("quinn/cubic") == kernel("quic-go/cubic")


def test_the_trials_of_a_situation_are_the_same_for_all_properties_and_seeds() -> None:
    few, many = (groups_of({"network": Situation()}, seeds=seeds)[0].trials for seeds in (1, 3))
    assert many[: len(few)] == few


def test_two_events_are_two_steps_of_one_schedule() -> None:
    one = Situation(event="quarter rate", later_event="four times the rate", loss_percent=1.0)
    schedule = groups_of({"network": one})[0].trials[0].network.schedule
    assert [(step.at_s, step.rate_mbps) for step in schedule] == [(10.0, 1.25), (15.0, 5.0)]
    assert one.last_rate_mbps == 5.0
    burst = groups_of({"network": Situation(event="burst", loss_percent=1.0)})[0].trials[0].network.schedule
    assert [(step.at_s, step.loss_percent) for step in burst] == [(10.0, 100.0), (10.025, 1.0)]


def test_the_ordinary_situation_has_no_unusual_key() -> None:
    assert Situation().unusual == ()
    assert Situation(queue="codel", ecn=True).unusual == ("queue", "ecn")
    assert all(getattr(Situation(), name) == values[0] for name, values in CHOICES.items())


def test_properties_have_names_of_their_own_and_sources() -> None:
    known = all_properties()
    assert len(known) >= 15
    assert all(name == one.name and one.says.endswith(".") and one.source for name, one in known.items())
    # each can be tried in a situation with one cause
    for one in known.values():
        assert any(one.applies(place) for place in systematic()), one.name


def test_a_bound_and_what_it_says() -> None:
    def held(value: float | None, least: float | None = None, most: float | None = None) -> tuple[float, str]:
        one = bounded(
            "x", says="At least {least}, at most {most}.", source="", applies=lambda _: True,
            figure=lambda trial, place: value, shows="{value:.0f} of {bound:.0f}", least=least, most=most
        )  # fmt: skip
        trials = [cast("Figures", None)]
        return one.excess(trials, Situation()), one.shows(trials, Situation())

    assert held(15, most=10) == (0.5, "15 of 10")
    assert held(5, least=10) == (0.5, "5 of 10")
    assert held(10, least=10)[0] == held(10, most=10)[0] == 0
    nothing, words = held(None, most=10)
    assert math.isnan(nothing) and words == "the trial does not show it"


def figures(mbps: float, dropped: int = 0) -> Figures:
    """Of a trial of 1 s in which the queue drops ``dropped`` of 100 packets."""
    outcomes = ["dropped"] * dropped + ["delivered"] * (100 - dropped)
    packets = pl.DataFrame({"flow": [0] * 100, "arrival_ns": [900_000_000] * 100, "outcome": outcomes})
    result = SimpleNamespace(packets=packets, manifest={"guest": {"end_ns": 1_000_000_000}})
    return cast("Figures", SimpleNamespace(value=lambda name: mbps, result=result))


@pytest.mark.parametrize(
    ("name", "own", "kernel", "place", "broken"),
    [
        ("carries-as-much", figures(2), figures(4), Situation(), True),
        ("carries-as-much", figures(3), figures(4), Situation(), False),
        ("carries-as-much", figures(0), figures(4), Situation(), True),
        # an event or an AQM widens the bound
        ("carries-as-much", figures(2.2), figures(4), Situation(event="burst"), False),
        ("carries-as-much", figures(2.2), figures(4), Situation(queue="pie"), False),
        ("carries-as-much", figures(1.8), figures(4), Situation(event="burst"), True),
        # so does random loss, at which a right Reno may carry 0.71 times as much
        ("carries-as-much", figures(2.2), figures(4), Situation(loss_percent=1), False),
        ("carries-as-much", figures(1.8), figures(4), Situation(loss_percent=1), True),
        ("carries-no-more", figures(4), figures(2), Situation(), True),
        ("carries-no-more", figures(4), figures(3), Situation(), False),
        ("carries-no-more", figures(3.8), figures(2), Situation(queue="codel"), False),
        ("drops-no-more", figures(4, 6), figures(4, 1), Situation(), True),
        ("drops-no-more", figures(4, 5), figures(4, 1), Situation(), False),
        ("drops-no-more", figures(4, 3), figures(4, 0), Situation(), True),
        ("drops-no-more", figures(4, 0), figures(4, 9), Situation(), False),
    ],
)
def test_what_is_compared_with_the_kernel_in_its_place(
    name: str, own: Figures, kernel: Figures, place: Situation, broken: bool
) -> None:
    held = all_properties()[name]
    assert held.with_kernel and held.beside_kernel and held.applies(place)
    assert (held.excess([own, kernel], place) > 0) is broken
    # the kernel keeps it, with room, against itself
    assert held.excess([kernel, kernel], place) <= -ROOM


def slow_start(growth: float, initial: int = 10, rounds: int = 6) -> Figures:
    """Of a flow over 200 ms whose window grows by ``growth`` packets for each one acknowledged."""
    window, rows = float(initial), []
    for number in range(rounds):
        begin_ns = 200_000_000 * number
        rows += [begin_ns + 500_000 * place for place in range(round(window))]
        window *= 1 + growth
    packets = pl.DataFrame(
        {"flow": 0, "arrival_ns": rows, "departure_ns": rows, "size_bytes": 1514, "outcome": "departed"}
    )
    return cast("Figures", SimpleNamespace(result=SimpleNamespace(packets=packets)))


def test_a_window_that_doubles_each_round_trip_is_slow_start_and_one_that_triples_is_not() -> None:
    held, place = all_properties()["slow-start-doubles"], Situation(rate_mbps=20, rtt_ms=200)
    assert held.families == ("cubic", "reno")
    assert held.applies(place) and held.applies(place.changed(loss_every_packets=1000))
    assert not held.applies(Situation()) and not held.applies(place.changed(jitter_ms=5.0))
    assert -1 < held.excess([slow_start(1)], place) <= -ROOM
    assert held.excess([slow_start(2)], place) > 0
    # a large initial window is no growth
    assert held.excess([slow_start(1, initial=64)], place) <= -ROOM
    assert math.isnan(held.excess([slow_start(1, rounds=3)], place))


def test_a_timeout_may_last_as_long_as_the_blackouts_before_it() -> None:
    def most_ms(event: str, later_event: str = "none") -> float:
        return pauses._most_ms(Situation(event=event, later_event=later_event))

    assert most_ms("burst") == 750
    assert most_ms("blackout") == most_ms("blackout", "burst") == most_ms("burst", "blackout") == 2750
    assert most_ms("blackout", "blackout") == 750 + 2 * 2000


@pytest.mark.parametrize(("sends", "silent_ms"), [(True, 50), (False, 3050)])
def test_a_sender_whose_packets_the_queue_drops_is_not_silent(sends: bool, silent_ms: int) -> None:
    """A packet every 50 ms; for three seconds the queue drops them all, or there is none."""
    rows = [(at_ms, 5000 < at_ms < 8050) for at_ms in range(0, 20_000, 50)]
    rows = [row for row in rows if sends or not row[1]]
    packets = pl.DataFrame(
        {
            "flow": 0,
            "arrival_ns": [at_ms * 1_000_000 for at_ms, _ in rows],
            "departure_ns": [None if dropped else (at_ms + 1) * 1_000_000 for at_ms, dropped in rows],
            "size_bytes": 1242,
        }
    )
    result = SimpleNamespace(packets=packets, manifest={"guest": {"end_ns": 20_000_000_000}})
    one = cast("Figures", SimpleNamespace(result=result))
    assert pauses._pause_ms(one, Situation()) == pytest.approx(silent_ms, abs=1)


def test_pacing_may_carry_more_behind_a_short_queue() -> None:
    more, less = (all_properties()[name] for name in ("carries-no-more", "carries-as-much"))
    short = [
        Situation(buffer_bdp=0.25),
        Situation(event="four times the rate"),
        Situation(event="three times the RTT"),
    ]
    assert all(less.applies(one) and not more.applies(one) for one in short)
    assert more.applies(Situation(event="quarter rate")) and more.applies(Situation(buffer_bdp=0.5))
    assert Situation(event="four times the rate", buffer_bdp=4.0).least_buffer_bdp == 1.0


def test_where_the_kernel_carried_nothing_nobody_is_compared() -> None:
    known = all_properties()
    for name in ("carries-as-much", "carries-no-more"):
        assert math.isnan(known[name].excess([figures(4), figures(0)], Situation()))


def test_the_kernel_is_compared_with_its_next_seed() -> None:
    (group, *_) = groups_of({"network": Situation()}, seeds=3)
    again = trials._next_seeds(group)
    assert again.trials == (group.trials[1], group.trials[2], group.trials[0])


class Rule:
    """Evidence by a rule, in place of trials."""

    reference = "cubic"
    contestant = "quinn/cubic"
    jobs = 2

    def __init__(self, *, kernel: float = -1.0) -> None:
        self.kernel = kernel
        self.begun: list[Situation] = []

    def begin(self, wanted: Iterable[Situation], *, with_kernel: bool) -> None:
        assert not with_kernel
        self.begun += wanted

    def elsewhere(self, one: Property, place: Situation, seeds: int) -> Evidence | None:
        return None

    def evidence(self, one: Property, place: Situation, seeds: int) -> Evidence:
        broken = place.buffer_bdp <= 0.5 and place.queue != "droptail" and one.name == "goes-on"
        excess = (1.0 if broken else -place.buffer_bdp,) * seeds
        return Evidence(excess, ("shown",) * seeds, (self.kernel,) * seeds if broken else ())


def hunted(rule: Rule, budget_s: float = 20.0, names: tuple[str, ...] = ("goes-on",)) -> list[Counterexample]:
    known = all_properties()
    runner = cast("Runner", rule)
    return list(Hunt(runner, [known[name] for name in names], budget_s, 1, lambda line: None).run())


def test_a_property_broken_by_two_causes_is_found_and_made_simple() -> None:
    (found,) = hunted(Rule())
    assert found.broken.name == "goes-on"
    assert found.situation == Situation(buffer_bdp=0.5, queue="codel")


def test_one_cause_is_found_before_anything_is_drawn() -> None:
    class One(Rule):
        def evidence(
            self, one: Property, place: Situation, seeds: int, *, all_seeds: bool = False
        ) -> Evidence:
            broken = place.event == "burst" and place.rtt_ms >= 50
            return Evidence((1.0 if broken else -1.0,) * seeds, ("shown",) * seeds, (-1.0,) * seeds)

    rule = One()
    (found,) = hunted(rule)
    assert found.situation == Situation(event="burst")
    assert set(rule.begun) <= set(systematic())


@pytest.mark.parametrize("kernel", [1.0, 0.0, -ROOM / 2, math.nan])
def test_what_the_kernel_breaks_too_or_nearly_is_not_reported(kernel: float) -> None:
    assert not hunted(Rule(kernel=kernel), 3.0)


def test_what_holds_for_another_algorithm_is_not_tried() -> None:
    assert not hunted(Rule(), 5.0, ("scales", "one-cut-reno"))


def test_the_budget_is_kept() -> None:
    class Slow(Rule):
        def evidence(
            self, one: Property, place: Situation, seeds: int, *, all_seeds: bool = False
        ) -> Evidence:
            time.sleep(0.2)
            return Evidence((-1.0,), ("shown",))

    began = time.monotonic()
    hunted(Slow(), 2.0, ("goes-on", "no-silence", "more-rate"))
    assert time.monotonic() - began < 4.0


@pytest.mark.parametrize(
    ("excess", "kernel", "broken"),
    [
        ((1, 1, 1, 1, 1), (-1,) * 5, True),
        ((1, 1, 1, 1, -1), (-1,) * 5, False),
        ((1, 1, 1, 1, math.nan), (-1,) * 5, False),
        ((1, 1, 1, 1, 1), (-1, -1, -1, -1, 1), False),
        ((1, 1, 1, 1, 1), (-1, -1, -1, -1, -ROOM / 2), False),
        ((1, 1, 1, 1, 1), (-1, -1, -1, -1, math.nan), False),
        ((1, 1, 1, 1, 1), (), False),
    ],
)
def test_all_samples_must_break_it(
    excess: tuple[float, ...], kernel: tuple[float, ...], broken: bool
) -> None:
    assert Evidence(excess, ("x",) * 5, kernel).is_broken is broken


def test_the_words_are_those_of_the_trial_in_the_middle() -> None:
    found = Evidence((3.0, 1.0, math.nan, 2.0), ("most", "least", "invalid", "middle"), (-1.0,), ("kernel",))
    assert (found.typical, found.kernel_typical) == ("middle", "kernel")
    assert Evidence((math.nan,), ("an invalid trial",)).typical == "an invalid trial"
    assert Evidence((1.0,), ("x",)).kernel_typical == ""


def test_where_more_seeds_keep_it_the_situations_around_are_tried() -> None:
    class Seldom(Rule):
        def evidence(self, one: Property, place: Situation, seeds: int) -> Evidence:
            broken = place.event == "burst"
            always = broken and place.rtt_ms == 200
            excess = tuple(1.0 if broken and (always or seed < 2) else -1.0 for seed in range(seeds))
            return Evidence(excess, ("shown",) * seeds, (-1.0,) * seeds)

    (found,) = hunted(Seldom())
    assert found.situation == Situation(event="burst", rtt_ms=200.0)
    assert found.evidence.is_broken


def test_a_doubt_says_why_it_is_no_finding() -> None:
    class NearTheLimit(Rule):
        """Kernel TCP keeps the property with room in the two seeds of the search only."""

        def evidence(self, one: Property, place: Situation, seeds: int) -> Evidence:
            self.kernel = -1.0 if seeds == SEEDS else -0.05
            return super().evidence(one, place, seeds)

    said: list[str] = []
    properties = [all_properties()["goes-on"]]
    assert not list(Hunt(cast("Runner", NearTheLimit()), properties, 3.0, 1, said.append).run())
    why = "kernel TCP itself breaks it, or keeps it with too little reserve; 7 of 7 trials break goes-on"
    doubts = [line for line in said if "no finding" in line]
    assert doubts
    assert all(line.endswith(f"no finding, {why}") for line in doubts)


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ((math.nan, -1.0), "only 1 of 2 trials of kernel TCP show whether it keeps it; 2 of 2 trials break"),
        (
            (math.nan, 0.5),
            "kernel TCP itself breaks it, or keeps it with too little reserve; 2 of 2 trials break",
        ),
    ],
)
def test_invalid_trials_of_the_kernel_do_not_break_a_property(kernel: tuple[float, ...], why: str) -> None:
    assert search._why_none(Evidence((0.5, 0.5), ("shown",) * 2, kernel)) == why


@pytest.mark.parametrize(("status", "counts"), [(1, True), (127, False)])
def test_a_stack_that_cannot_play_its_role_breaks_nothing(status: int, counts: bool) -> None:
    gate = {"name": "endpoint", "measured": status, "text": "endpoint: it ended"}
    result = cast("TrialResult", SimpleNamespace(verdict={"gates": [gate], "reasons": [gate["text"]]}))
    assert trials._reasons(result, trials._ABOUT_THE_END) == ([] if counts else [gate["text"]])
    assert trials._reasons(result, trials._ABOUT_THE_SENDER) == [gate["text"]]


def test_an_endpoints_end_does_not_excuse_the_testbed() -> None:
    gate = {"name": "endpoint", "measured": 1, "text": "endpoint: it ended"}
    result = cast(
        "TrialResult", SimpleNamespace(verdict={"gates": [gate], "reasons": [gate["text"], "capture: lost"]})
    )
    assert trials._reasons(result, trials._ABOUT_THE_END) == ["capture: lost"]


def test_the_command_that_repeats_a_finding_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner = cast("Runner", SimpleNamespace(contestant="quinn/cubic"))
    path = Path("my results/hunted-quinn-cubic-scales.toml")
    assert output.again(path, runner, trust=True) == (
        "cambrian run 'my results/hunted-quinn-cubic-scales.toml' "
        "--out 'my results/hunted-quinn-cubic-scales' --trust"
    )


def test_an_error_of_several_lines_leaves_a_study_that_can_be_run(tmp_path: Path) -> None:
    """What an endpoint printed is in the evidence, line by line."""
    typical = ("the flow failed (its sender said: line one\n\x1b[31mline two)",) * 7
    evidence = Evidence((1.0,) * 7, typical, (-1.0,) * 7, ("the flow finished",) * 7)
    network = Situation()
    text = situation.study_toml(
        "t", {"network": network}, "quinn/cubic", "tcp/cubic", seeds=7, receiver="own"
    )
    runner = SimpleNamespace(
        contestant="quinn/cubic", reference="cubic", other_receiver="", study=lambda *_: text
    )
    found = Counterexample(all_properties()["goes-on"], network, evidence)
    path = output.written(found, cast("Runner", runner), tmp_path)
    assert "line one \N{REPLACEMENT CHARACTER}[31mline two" in path.read_text()
    assert tomllib.loads(path.read_text())["name"]
