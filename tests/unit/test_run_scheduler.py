"""Which trials a run with a stopping rule comes to, whatever order they end in.

The trials' folders are made here, with packets of a known rate, at the moment in which a run would
have finished them.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.metrics.columns import PACKETS
from cambrian.run import measures
from cambrian.run.pool import Finished
from cambrian.run.scheduler import Scheduler
from cambrian.store.results import Results
from cambrian.study.model import Contestant, Flow, Group, Network, Stopping, Trial
from cambrian.trial.carry_out import Outcome

NETWORK = Network(name="n", rate_mbps=100, rtt_ms=1, buffer_bdp=1)
FLOW = Flow(contestant=Contestant(stack="tcp", cca="cubic"))
END_NS = 1_020_000_000
RULE = Stopping(min_seeds=6, max_seeds=12, half_width_mbps=1)


def group(key: str, stopping: Stopping | None = RULE, trials: int = 12) -> Group:
    made = (
        Trial(network=NETWORK, flows=(FLOW,), duration_s=END_NS / 1e9, seed=seed)
        for seed in range(1, trials + 1)
    )
    return Group(key=key, design="solo", network="n", subject="s", reference=None, trials=tuple(made),
                 stopping=stopping)  # fmt: skip


@cache
def packets(rates_mbps: tuple[float, ...]) -> bytes:
    """The file of packets of flows with these rates over the measured second."""
    sizes = [round(rate * 1e6 / 8) for rate in rates_mbps]
    frame = pl.DataFrame(
        [
            {"flow": flow, "arrival_ns": 0, "departure_ns": 500_000_000, "size_bytes": 50_000,
             "outcome": "departed", "ce": False}
            for flow, size in enumerate(sizes) for _ in range(size // 50_000)
        ],
        schema=PACKETS,
    )  # fmt: skip
    file = BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def put(results: Results, name: str, trial: Trial, rates_mbps: tuple[float, ...] | None) -> None:
    """A finished trial with flows of these rates; invalid for None."""
    with results.new_trial(name) as folder:
        (folder / "packets.parquet").write_bytes(packets(rates_mbps or ()))
        done = {"event": "done", "time_ns": 600_000_000, "bytes": 1000, "complete": True, "error": None}
        manifest = {
            "trial": trial.model_dump(mode="json"),
            "guest": {"zero_ns": 0, "end_ns": END_NS},
            "endpoints": {f"flow{number}.receiver": [done] for number in range(len(trial.flows))},
        }
        (folder / "manifest.json").write_text(json.dumps(manifest))
        (folder / "verdict.json").write_text(json.dumps({"valid": rates_mbps is not None}))


class Bench:
    """Groups whose trials' outcomes are known, and a run of them with ``jobs`` at a time."""

    def __init__(
        self, folder: Path, groups: list[Group], rates: Mapping[tuple[str, int], float | None]
    ) -> None:
        self.results, self.groups, self.rates = Results(folder), groups, rates
        self.names = {id(t): f"{g.key}-{t.seed}" for g in groups for t in g.trials}

    def run(self, jobs: int, draw: random.Random, most: int = 1000, broken: str = "") -> Scheduler:
        """Finish at most ``most`` trials, each time any of the ``jobs`` that are under way."""
        scheduler = Scheduler(self.groups, self.names, self.results)
        waiting = list(scheduler.first().values())
        ended = 0
        while waiting and ended < most:
            trial = waiting.pop(draw.randrange(min(jobs, len(waiting))))
            name = self.names[id(trial)]
            ended += 1
            if name == broken:
                finished = Finished(trial, None, "PlanError: no")
            else:
                rate = self.rates[name.rsplit("-", 1)[0], trial.seed]
                put(self.results, name, trial, None if rate is None else (rate,))
                finished = Finished(trial, Outcome(name, True, (), 1.0, 1.0), None)
            waiting[:0] = scheduler.after(finished).values()
            assert ended + len(waiting) <= scheduler.at_most()
        return scheduler


def counted(scheduler: Scheduler) -> dict[str, tuple[str, ...]]:
    return {progress.group.key: progress.counted() for progress in scheduler.groups}


RATES = st.lists(st.one_of(st.none(), st.integers(10, 14)), min_size=12, max_size=12)


@settings(deadline=None, max_examples=25)
@given(RATES, RATES, st.integers(1, 8), st.integers(0, 20), st.randoms(use_true_random=False))
def test_jobs_order_and_resuming_change_nothing(
    a: list[int | None], b: list[int | None], jobs: int, broken_off_after: int, draw: random.Random
) -> None:
    rates = {(key, seed): rate for key, row in (("a", a), ("b", b)) for seed, rate in enumerate(row, 1)}
    with tempfile.TemporaryDirectory() as folder:
        one = Bench(Path(folder) / "1", [group("a"), group("b")], rates)
        straight = one.run(1, draw)
        many = Bench(Path(folder) / "n", [group("a"), group("b")], rates)
        many.run(jobs, draw, most=broken_off_after)
        resumed = many.run(jobs, draw)
        assert counted(resumed) == counted(straight)
        assert [progress.record() for progress in resumed.groups] == [
            progress.record() for progress in straight.groups
        ]
        # nothing is run that does not count
        ran = {path.name for path in many.results.trials_folder.iterdir()}
        assert ran == {name for names in counted(straight).values() for name in names}
        assert resumed.undecided() == 0


def test_a_group_stops_at_the_first_seed_that_is_enough(tmp_path: Path) -> None:
    rates = [10, None, 14, 10, 10, 10, 10, 10, 10, 10, 10, 10]
    bench = Bench(tmp_path, [group("a")], {("a", seed): rate for seed, rate in enumerate(rates, 1)})
    scheduler = bench.run(4, random.Random(1))
    (progress,) = scheduler.groups
    # of 6 to 8 valid trials the interval spans all, and so holds the 14; of 9 it leaves out both ends
    record = progress.record()
    assert record is not None
    assert (record["seeds"], record["valid"], record["narrow"]) == (10, 9, True)
    assert (record["low"], record["median"], record["high"]) == (10, 10, 10)
    assert progress.counted() == tuple(f"a-{seed}" for seed in range(1, 11))
    assert "narrow enough" in str(progress)


def test_a_seed_counts_with_the_mean_of_its_orders_once_all_are_there(tmp_path: Path) -> None:
    one = group("a")
    both = one.model_copy(
        update={
            "orders": 2,
            "trials": tuple(
                trial.model_copy(update={"positions": (position,)})
                for trial in one.trials
                for position in (0, 1)
            ),
        }
    )
    names = {id(trial): f"a-{trial.seed}-{trial.positions[0]}" for trial in both.trials}
    results = Results(tmp_path)
    scheduler = Scheduler([both], names, results)
    assert len(scheduler.first()) == 12
    for trial in both.trials[:12]:
        # the orders differ by much, their means not at all
        put(results, names[id(trial)], trial, (8.0 if trial.positions[0] else 12.0,))
        assert not scheduler.groups[0].decision.stop
        scheduler.after(Finished(trial, Outcome(names[id(trial)], True, (), 1.0, 1.0), None))
    record = scheduler.groups[0].record()
    assert record is not None
    assert (record["seeds"], record["low"], record["median"], record["high"]) == (6, 10, 10, 10)


def test_a_seed_with_one_invalid_order_has_no_value(tmp_path: Path) -> None:
    one = group("a")
    both = one.model_copy(
        update={"orders": 2, "trials": tuple(trial for trial in one.trials for _ in range(2))}
    )
    results = Results(tmp_path)
    names = {}
    trials = []
    for number, trial in enumerate(both.trials):
        copy = trial.model_copy(update={"positions": (number % 2,)})
        trials.append(copy)
        names[id(copy)] = f"a-{number}"
        put(results, f"a-{number}", copy, None if number == 3 else (10.0,))
    (progress,) = Scheduler([both.model_copy(update={"trials": tuple(trials)})], names, results).groups
    assert (progress.run, len(progress.values)) == (7, 6)


@pytest.mark.parametrize("guest", [None, {"crash": "Traceback\nOSError: no"}])
def test_a_guest_without_a_report_has_no_value(tmp_path: Path, guest: dict[str, str] | None) -> None:
    one = group("a")
    results = Results(tmp_path)
    names = {id(trial): f"a-{trial.seed}" for trial in one.trials}
    put(results, "a-1", one.trials[0], None)
    place = results.trial("a-1").folder / "manifest.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"guest": guest}))
    (progress,) = Scheduler([one], names, results).groups
    assert (progress.run, progress.values) == (1, [])


def test_at_the_most_it_ends_and_says_how_many_more_it_would_take(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [group("a")], {("a", seed): 2.0 * seed for seed in range(1, 13)})
    scheduler = bench.run(2, random.Random(1))
    (progress,) = scheduler.groups
    record = progress.record()
    assert record is not None
    assert (record["seeds"], record["stopped"], record["narrow"]) == (12, True, False)
    assert "more trials would narrow the 95 % interval to ± 1 Mbps" in str(progress)


def test_a_trial_that_cannot_be_run_ends_its_group_until_the_next_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [group("a")], {("a", seed): 10.0 for seed in range(1, 13)})
    scheduler = bench.run(1, random.Random(1), broken="a-3")
    (progress,) = scheduler.groups
    assert progress.run == 2
    assert progress.decision.reason == "seed 3 could not run: PlanError: no"
    # a comparison must miss the other seeds
    record = progress.record()
    assert record is not None and not record["stopped"]
    (again,) = bench.run(1, random.Random(1)).groups
    assert (again.run, again.decision.narrow) == (6, True)


def test_groups_without_a_rule_run_all_their_trials(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [group("a", None, 5)], {("a", seed): 10.0 for seed in range(1, 6)})
    scheduler = Scheduler(bench.groups, bench.names, bench.results)
    assert (len(scheduler.first()), scheduler.at_most(), scheduler.adaptive) == (5, 5, False)
    assert bench.run(2, random.Random(1)).groups[0].record() is None


def test_measures_by_name(tmp_path: Path) -> None:
    results = Results(tmp_path)
    trial = Trial(network=NETWORK, flows=(FLOW, FLOW), duration_s=END_NS / 1e9)
    put(results, "x", trial, (10, 30))
    assert measures.value(results.trial("x"), "throughput_mbps") == pytest.approx(10)
    assert measures.value(results.trial("x"), "share_percent") == pytest.approx(25)
    # all of it has left by then
    assert measures.value(results.trial("x"), "throughput_mbps", measured_from_s=0.6) == 0
    put(results, "x", trial, (0, 0))
    assert measures.value(results.trial("x"), "share_percent") is None


def test_a_flow_of_fixed_size_has_the_figure_of_the_report(tmp_path: Path) -> None:
    """Over its own span: its packets come at 0 and leave at 0.5 s."""
    results = Results(tmp_path)
    sized = FLOW.model_copy(update={"size_bytes": 1000})
    trial = Trial(network=NETWORK, flows=(sized, sized), duration_s=10 * END_NS / 1e9)
    put(results, "x", trial, (10, 30))
    assert measures.value(results.trial("x"), "throughput_mbps") == pytest.approx(20)
