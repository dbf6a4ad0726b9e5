"""The rfc9743 suite: its scorecard tells a controller that does as CUBIC does from one that harms."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import polars as pl
import pytest

from cambrian.claims import scorecard
from cambrian.claims.scorecard import Row
from cambrian.stacks import catalogue
from cambrian.study.builtin import folder
from cambrian.study.expand import expand
from cambrian.study.load import parse_study
from cambrian.study.model import Group, Trial
from cambrian.suites import model
from tests.unit.claims.ledgers import Folder

SUITE = folder() / "rfc9743"
PARTS = model.read(SUITE / model.FILE)[0].parts
CARD = scorecard.load(SUITE / "scorecard.toml")
PREFIX = "rfc9743/quinn-cubic"

Figures = Mapping[str, float]
World = Callable[[Trial, int], Figures]


@functools.cache
def groups(part: str, profile: str | None) -> list[Group]:
    path = SUITE / f"{part}.toml"
    text = path.read_text(encoding="utf-8").replace("$STACK", "quinn").replace("$CCA", "cubic")
    study = parse_study(text, str(path), SUITE, catalogue.ccas(), catalogue.reference_of)
    return expand(study, profile=profile, reference_of=catalogue.reference_of)


def as_cubic(trial: Trial, number: int) -> Figures:
    """Every flow has an equal share, whoever it is."""
    count = sum(flow.size_bytes == 0 for flow in trial.flows)
    slowed = 0.3 if trial.network.loss_percent == 10 else 1.0
    long_rtt = trial.flows[number].rtt_ms is None and any(flow.rtt_ms for flow in trial.flows)
    return {
        "throughput_mbps": 10.0 * slowed / count,
        "share_percent": 30.0 if long_rtt else 100.0 / count,
        "delay_p95_ms": 20.0,
        "interval_queue_loss_percent": 0.5,
        "jain": 0.99,
        "fetch_s": 1.0,
        "completion_s": 1.0,
    }


def harmful(trial: Trial, number: int) -> Figures:
    """Where the contestant is, links are badly used, queues long, losses high; a kernel flow beside it
    starves, and so does the contestant where it comes later or from farther."""
    figures = dict(as_cubic(trial, number))
    there = any(_is_contestant(trial, one) for one in range(len(trial.flows)))
    if not there:
        return figures
    figures["throughput_mbps"] = 2.0 / len(trial.flows)
    for name, factor in (("share_percent", 0.2), ("jain", 0.6), ("delay_p95_ms", 3), ("fetch_s", 3)):
        figures[name] *= factor
    figures["completion_s"] *= 3
    figures["interval_queue_loss_percent"] *= 10
    return figures


def _is_contestant(trial: Trial, number: int) -> bool:
    return trial.flows[number].contestant.stack == "quinn"


def frame(part: str, world: World, profile: str | None) -> pl.DataFrame:
    """What a run of ``part`` would show in ``world``; seeds scatter by a percent."""
    return pl.DataFrame(
        [
            {
                "trial": f"{group.key}-{trial.seed}",
                "seed": trial.seed,
                "network": group.network,
                "lineup": group.subject,
                "rate_mbps": trial.network.rate_mbps or 12.0,
                "loss_percent": trial.network.loss_percent,
                "flow": number,
                "size_bytes": flow.size_bytes or None,
                **{name: value * (1 + trial.seed % 3 / 100) for name, value in world(trial, number).items()},
            }
            for group in groups(part, profile)
            for trial in group.trials
            for number, flow in enumerate(trial.flows)
        ],
        infer_schema_length=None,
    )


def scored(world: World, profile: str | None = "quick") -> list[Row]:
    frames = Folder({f"{PREFIX}/{part}": frame(part, world, profile) for part in PARTS})
    return CARD.score(frames, PREFIX)


@pytest.mark.parametrize("profile", ["quick", None])
def test_a_controller_that_does_as_cubic_does_meets_every_criterion(profile: str | None) -> None:
    """And every test finds its cells in what the studies run."""
    assert {(row.says, row.verdict) for row in scored(as_cubic, profile)} == {
        (row.says, "met") for row in CARD.score(Folder({}), PREFIX)
    }


def test_a_harmful_controller_meets_none() -> None:
    assert {row.says for row in scored(harmful) if row.verdict != "not met"} == set()


def test_nothing_is_judged_without_trials() -> None:
    assert {row.verdict for row in CARD.score(Folder({}), PREFIX)} == {"not run"}


@pytest.mark.parametrize("part", PARTS)
def test_the_kernel_stands_in_the_same_trials(part: str) -> None:
    """Wherever the contestant is measured, kernel CUBIC is too, on the same network and seeds."""
    seeds = {
        (group.network, group.subject): {trial.seed for trial in group.trials}
        for group in groups(part, "quick")
    }
    networks = {network for network, _ in seeds}
    for network in networks:
        there = {lineup: found for (where, lineup), found in seeds.items() if where == network}
        assert any(lineup.startswith("kernel-") for lineup in there)
        assert len({frozenset(found) for found in there.values()}) == 1
        assert len(next(iter(there.values()))) >= 3
