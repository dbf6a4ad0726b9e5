"""Probes of a study: who is compared with whom, and what the table and the verdict's line say."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from cambrian.judging.families import Family
from cambrian.probes.figures import Figure
from cambrian.report import probed, tables
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import probes as probes_table
from cambrian.study.model import Contestant, Network
from tests.unit.report import made

NETWORK = Network(name="probe-lone-losses", rate_mbps=5, rtt_ms=100, buffer_bdp=4, loss_every_packets=1500)
KERNEL = Contestant(stack="tcp", cca="cubic")
QUINN = Contestant(stack="quinn", cca="cubic")


def cell(contestant: Contestant, *kept: float, rtt_ms: float = 100) -> Cell:
    trials = []
    for seed, value in enumerate(kept, 1):
        trial = made.trial(seed, [4.0], network=NETWORK, rtts_ms=[rtt_ms])
        flow = trial.trial.flows[0].model_copy(update={"contestant": contestant})
        spec = trial.trial.model_copy(update={"flows": (flow,)})
        trials.append(replace(trial, trial=spec, probes={"lone-loss-kept": Figure(value, 8)}))
    return made.cell("solo", [contestant.name], trials, network=NETWORK)


def collected(*cells: Cell, fill: bool = True) -> Collected:
    """``fill``: each contestant also fills a link alone, without a log of its window."""
    families = {one.subject: Family("cubic", "quic") for one in cells}
    filled = [made.cell("solo", one.names, [made.trial(1, [19.5])]) for one in cells if fill]
    return replace(made.collected("solo", [*cells, *filled]), families=families)


def test_a_contestant_is_compared_with_the_kernel_alone_on_the_same_network() -> None:
    (found,) = probed.findings(collected(cell(KERNEL, 0.71, 0.71), cell(QUINN, 1.0, 0.99)))
    assert found.contestant == "quinn cubic"
    assert found.finding.state == "different"
    assert found.finding.its == 0.71


def test_without_a_log_one_that_fills_no_link_is_not_compared() -> None:
    (found,) = probed.findings(collected(cell(KERNEL, 0.71, 0.71), cell(QUINN, 1.0, 0.99), fill=False))
    assert found.finding.state is None
    assert "it ran on no network that shows whether it fills a link alone" in (found.finding.why or "")


def test_a_kernel_with_options_is_no_reference() -> None:
    other = KERNEL.model_copy(update={"options": {"initial_window": 32}, "label": "tuned"})
    found = probed.findings(collected(cell(other, 0.71, 0.71), cell(QUINN, 1.0, 0.99)))
    assert {one.finding.why for one in found} == {
        "kernel TCP was not run alone on this network with this round trip"
    }


def test_a_kernel_with_another_round_trip_is_no_reference() -> None:
    """Flows of one network may have round trips of their own."""
    found = probed.findings(collected(cell(KERNEL, 0.71, 0.71, rtt_ms=20), cell(QUINN, 1.0, 0.99)))
    assert {one.finding.why for one in found} == {
        "kernel TCP was not run alone on this network with this round trip"
    }


def test_probes_are_counted_by_their_states() -> None:
    whole = collected(cell(KERNEL, 0.71, 0.71), cell(QUINN, 1.0, 0.99))
    behaviour = probed.behaviour(whole)["quinn cubic"]
    assert [one.text for one in behaviour.different] == [
        "after a lone loss it keeps 0.99 of its flight, kernel CUBIC 0.71"
    ]
    assert behaviour.counts == "1 different"
    assert (
        probed.behaviour(collected(cell(KERNEL, 0.71), cell(QUINN, 1.0)))["quinn cubic"].counts
        == "1 inconclusive"
    )


def test_a_study_of_the_kernel_alone_has_no_probes_and_no_table() -> None:
    whole = collected(cell(KERNEL, 0.71, 0.71))
    assert probed.behaviour(whole) == {}
    assert probes_table.table(whole) is None


def test_the_table_has_a_row_for_each_probe_and_the_page_shows_what_differs_first() -> None:
    msquic = Contestant(stack="msquic", cca="cubic")
    whole = collected(cell(KERNEL, 0.71, 0.71), cell(QUINN, 0.7, 0.7), cell(msquic, 1.0, 0.98))
    frame = probes_table.table(whole)
    assert frame is not None
    assert frame["state"].to_list() == ["equivalent", "different"]
    shown = tables.shown("probes", frame, whole)
    assert shown is not None
    assert [row[0] for row in shown.rows] == ["msquic cubic", "quinn cubic"]


def test_a_table_of_probes_that_compare_nobody_is_not_shown() -> None:
    whole = collected(cell(KERNEL, 0.71, 0.71), cell(QUINN, 1.0, 0.99), fill=False)
    frame = probes_table.table(whole)
    assert frame is not None
    assert frame["state"].null_count() == frame.height > 0
    assert not tables.shown("probes", frame, whole).rows


def test_a_figure_within_a_bound_is_not_counted_as_equivalent() -> None:
    """ "7 equivalent" stood beside "within the absolute bounds, but not compared with the reference"."""
    (one,) = probed.findings(collected(cell(KERNEL, 0.71, 0.71), cell(QUINN, 0.71, 0.71)))
    bound = replace(one.finding, probe=one.finding.probe.model_copy(update={"compare": "bound"}))
    counts = probed.Behaviour((), (), (one.finding, bound, bound)).counts
    assert counts == "1 equivalent, 2 within an absolute bound"


def test_a_figure_within_a_bound_is_not_called_equivalent() -> None:
    """ "equivalent" stood beside growth by 0.06 bytes for each byte acknowledged, the kernel's by 1.00."""
    whole = collected(cell(KERNEL, 0.71, 0.71), cell(QUINN, 0.71, 0.71))
    frame = probes_table.table(whole)
    assert frame is not None
    for compare, state, said in (
        ("difference", "equivalent", "equivalent"),
        ("bound", "equivalent", "within the bound"),
        ("bound", "different", "different"),
        ("bound", "inconclusive", "inconclusive"),
    ):
        row = frame.with_columns(compare=pl.lit(compare), state=pl.lit(state))
        assert tables.shown("probes", row, whole).rows[0][2] == said
