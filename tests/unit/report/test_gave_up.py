"""A flow that ended early counts with what it carried, and the tables say so in a column of their own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cambrian.report import tables
from cambrian.report.collect import Collected, collect
from cambrian.report.observations import observations
from cambrian.report.tables import flows, pairwise
from cambrian.store.results import Results
from cambrian.study.model import Trial
from tests.unit import report_results

S = 1_000_000_000
GAVE_UP = {"flow": 0, "outcome": "gave up", "ended_s": 2.5, "text": "gave up at 2.500 s"}
RAN = {"flow": 1, "outcome": "ran", "ended_s": None, "text": "sent its last packet at 5.000 s"}


@pytest.fixture(scope="module", name="one_gave_up")
def _one_gave_up(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    """A pairwise study: flow 0 gave up in the first trial of one pair; other verdicts do not say."""
    folder = report_results.copy(tmp_path_factory.mktemp("gave-up"), report_results.as_pairwise)
    group = Results(folder).study()["groups"][0]
    path = folder / "trials" / group["trials"][0] / "verdict.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"flows": [GAVE_UP, RAN]}))
    return collect(Results(folder), judged=False)


def first(collected: Collected) -> str:
    key: str = collected.raw["groups"][0]["key"]
    return key


def test_each_flow_of_each_trial_says_how_it_ended(one_gave_up: Collected) -> None:
    frame = observations(one_gave_up)
    ended = frame.filter(outcome="gave up")
    assert ended.select("group", "flow", "ended_s").rows() == [(first(one_gave_up), 0, 2.5)]
    assert frame.filter(outcome="ran").get_column("flow").to_list() == [1]
    # it is in the means all the same
    assert ended.get_column("throughput_mbps").item() > 0


def test_the_tables_count_who_gave_up(one_gave_up: Collected) -> None:
    each = flows.table(one_gave_up)
    assert each.filter(each["gave_up"] > 0).select("group", "flow", "gave_up").rows() == [
        (first(one_gave_up), 0, 1)
    ]
    assert "Ended early, trials" in tables.shown("flows", each, one_gave_up).headings
    pairs = pairwise.table(one_gave_up)
    assert pairs is not None
    assert pairs.select("x_gave_up", "y_gave_up").sum().row(0) == (1, 0)
    assert "x ended early, trials" in tables.shown("pairwise", pairs, one_gave_up).headings


def test_where_nobody_gave_up_the_page_has_no_such_column() -> None:
    collected = collect(Results(report_results.KNOBS), judged=False)
    assert "Ended early, trials" not in tables.shown("flows", flows.table(collected), collected).headings


def trial(**flow: Any) -> Trial:
    tcp = {"contestant": {"stack": "tcp", "cca": "cubic"}}
    network = {"rate_mbps": 20, "rtt_ms": 50, "buffer_bdp": 1}
    return Trial.model_validate({"network": network, "flows": [tcp | flow], "duration_s": 60, "seed": 1})


def test_a_trial_that_ended_with_its_last_flow_is_measured_to_its_planned_end() -> None:
    """Else a sender that gives up after its best seconds would have had nothing else."""
    assert trial().measured_ns(12 * S, 5) == (5 * S, 60 * S)
    # a transfer that is done is done
    assert trial(size_bytes=1000).measured_ns(12 * S, 5) == (5 * S, 12 * S)


def test_a_short_flow_does_not_delay_the_measurement_of_an_endless_one() -> None:
    """Else what it cost the endless one would be left out."""
    late = trial(start_ms=20_000, size_bytes=1000)
    bulk = trial()
    both = bulk.model_copy(update={"flows": (*bulk.flows, *late.flows)})
    assert both.measured_ns(60 * S) == (1 * S, 60 * S)
    assert late.measured_ns(30 * S) == (21 * S, 30 * S)
    latecomer = trial(start_ms=20_000)
    both = bulk.model_copy(update={"flows": (*bulk.flows, *latecomer.flows)})
    assert both.measured_ns(60 * S) == (21 * S, 60 * S)
