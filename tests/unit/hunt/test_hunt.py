"""A hunt's situations are studies, its properties are about them, and its search finds and simplifies."""

from __future__ import annotations

import time
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.hunt import situation
from cambrian.hunt.properties import Property, all_properties
from cambrian.hunt.search import Counterexample, Hunt
from cambrian.hunt.situation import CHOICES, Situation, situations
from cambrian.hunt.trials import Evidence, Runner
from cambrian.stacks import catalogue, checks
from cambrian.store.results import Results
from cambrian.study.expand import expand
from cambrian.study.load import parse_study


@settings(max_examples=150)
@given(situations(), st.sampled_from(list(all_properties().values())))
def test_every_situation_of_every_property_is_a_study(one: Situation, held: Property) -> None:
    if not held.applies(one):
        return
    variants = {str(number): variant for number, variant in enumerate(held.variants(one))}
    text = situation.study_toml("h", "t", variants, "quinn/cubic", "cubic", rival=held.rival, seeds=2)
    study = parse_study(text, "h", Path(), catalogue.ccas(), catalogue.reference_of, checks)
    groups = expand(study, reference_of=catalogue.reference_of)
    own = [group for group in groups if group.subject == "quinn cubic"]
    assert len(own) == len(variants)
    assert all(len(group.trials) == (4 if held.rival else 2) for group in own)
    # kernel TCP is there to compare with
    assert any(group.subject == "tcp cubic" and not group.placebo for group in groups)


def test_the_ordinary_situation_has_no_unusual_key() -> None:
    assert Situation().unusual == () and Situation().complexity == (0, 0)
    assert Situation(queue="codel", ecn=True).unusual == ("queue", "ecn")
    assert all(getattr(Situation(), name) == values[0] for name, values in CHOICES.items())


def test_properties_have_names_of_their_own_and_sources() -> None:
    known = all_properties()
    assert len(known) >= 10
    assert all(name == one.name and one.says.endswith(".") and one.source for name, one in known.items())
    # each can be tried somewhere
    for one in known.values():
        held = [
            Situation(buffer_bdp=bdp, change=change, loss_percent=loss)
            for bdp in (0.5, 1.0)
            for change in ("none", "blackout")
            for loss in (0.0, 1.0)
        ]
        assert any(one.applies(place) for place in held), one.name


class Rule:
    """Evidence by a rule, in place of trials."""

    def __init__(self, folder: Path, *, kernel: float = -1.0) -> None:
        self.results = Results(folder)
        self.kernel = kernel
        self.asked = 0

    def evidence(self, one: Property, place: Situation, seeds: int) -> Evidence:
        self.asked += 1
        broken = place.buffer_bdp <= 0.5 and place.rate_mbps == 2 and one.name == "goes-on"
        excess = (1.0 if broken else -place.buffer_bdp,) * seeds
        return Evidence(excess, ("shown",) * seeds, (self.kernel,) * seeds if broken else ())


def hunted(rule: Rule, budget_s: float = 20.0) -> list[Counterexample]:
    known = all_properties()
    runner = cast("Runner", rule)
    return list(Hunt(runner, [known["goes-on"], known["no-silence"]], budget_s, 1, lambda line: None).run())


def test_a_broken_property_is_found_and_made_simple(tmp_path: Path) -> None:
    # all time is not needed: what is left of the budget goes to the other property
    (found,) = hunted(Rule(tmp_path), 6.0)
    assert found.broken.name == "goes-on" and found.stands
    assert set(found.situation.unusual) == {"rate_mbps", "buffer_bdp"}
    assert found.situation.buffer_bdp == 0.5


def test_what_the_kernel_breaks_too_is_not_reported(tmp_path: Path) -> None:
    assert not hunted(Rule(tmp_path, kernel=1.0), 3.0)


def test_the_budget_is_kept(tmp_path: Path) -> None:
    class Slow(Rule):
        def evidence(self, one: Property, place: Situation, seeds: int) -> Evidence:
            time.sleep(0.2)
            return super().evidence(one, place, seeds)

    began = time.monotonic()
    hunted(Slow(tmp_path), 2.0)
    assert time.monotonic() - began < 4.0


@pytest.mark.parametrize(
    ("excess", "kernel", "stands"),
    [
        ((1, 1, 1, 1, 1), (-1,) * 5, True),
        ((1, 1, 1, 1, -1), (-1,) * 5, True),
        ((1, 1, 1, -1, -1), (-1,) * 5, False),
        ((1, 1, 1, 1, 1), (-1, -1, -1, -1, 1), False),
        ((1, 1, 1, 1, 1), (), False),
    ],
)
def test_more_seeds_must_confirm(excess: tuple[float, ...], kernel: tuple[float, ...], stands: bool) -> None:
    one = Counterexample(all_properties()["fills"], Situation(), Evidence(excess, ("x",) * 5, kernel))
    assert one.stands is stands
