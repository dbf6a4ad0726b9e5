"""Every built-in study, part and profile gives each flow each position, and each start, equally often."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from cambrian import paths
from cambrian.stacks import catalogue
from cambrian.study.expand import expand
from cambrian.study.load import parse_study
from cambrian.study.model import Group, Trial

FILES = sorted(
    path
    for path in (paths.data() / "studies").rglob("*.toml")
    if path.name not in ("suite.toml", "scorecard.toml")
)


@pytest.mark.parametrize("profile", [None, "quick", "full"])
@pytest.mark.parametrize("file", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_orders_are_balanced(file: Path, profile: str | None) -> None:
    # a part that is run for one contestant at a time has its name in the contestant's place
    text = file.read_text().replace("$STACK", "quinn").replace("$CCA", "bbr")
    study = parse_study(text, str(file), file.parent, catalogue.ccas(), catalogue.reference_of)
    if profile == "quick" and "quick" not in study.profiles:
        pytest.skip("the study has no quick profile")
    groups = expand(study, profile=profile, reference_of=catalogue.reference_of)
    for group in groups:
        _positions_are_balanced(group, study.start_spread_ms)
        _starts_are_balanced(group, study.start_spread_ms)
    _seeds_are_the_same_in_every_group(groups)


def _by_seed(group: Group) -> dict[int, list[Trial]]:
    found: dict[int, list[Trial]] = defaultdict(list)
    for trial in group.trials:
        found[trial.seed].append(trial)
    return found


def _positions_are_balanced(group: Group, spread_ms: float) -> None:
    """In each seed every kind of flow has each of its positions equally often."""
    for trials in _by_seed(group).values():
        assert len(trials) == group.orders
        used = [position for trial in trials for position in trial.positions]
        kinds: dict[str, list[int]] = defaultdict(list)
        for number, flow in enumerate(trials[0].flows):
            kinds[flow.model_dump_json(exclude={"start_ms"})].append(number)
        for numbers in kinds.values():
            times = Counter(trial.positions[number] for trial in trials for number in numbers)
            assert len(set(times.values())) == 1, group.key
            if all(flow.start_ms <= spread_ms for trial in trials for flow in trial.flows):
                # all start together, so each kind has every position
                assert sorted(times) == sorted(set(used)), group.key
                assert len(trials) > 1 or len(trials[0].flows) == len(numbers), group.key


def _starts_are_balanced(group: Group, spread_ms: float) -> None:
    """Of two flows that the study starts alike, each starts first in half of a seed's trials."""
    if len(group.trials[0].flows) != 2:
        return
    for trials in _by_seed(group).values():
        early = [trial.flows[0].start_ms - trial.flows[1].start_ms for trial in trials]
        if group.orders == 1:
            assert abs(early[0]) > 0, group.key
        else:
            one, other = early
            # the study's own difference is the middle of both; what is drawn is exchanged
            assert abs((one + other) / 2) <= spread_ms, group.key
            written_ms = (one + other) / 2
            assert one - written_ms == pytest.approx(written_ms - other), group.key


def _seeds_are_the_same_in_every_group(groups: list[Group]) -> None:
    seeds = [tuple(dict.fromkeys(trial.seed for trial in group.trials)) for group in groups]
    shortest = min(len(of_group) for of_group in seeds)
    assert all(one[:shortest] == other[:shortest] for one, other in itertools.pairwise(seeds))
