"""Whose parameters are judged in a pair."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cambrian.report import judged
from cambrian.report.collect import collect
from cambrian.store.results import Results
from tests.unit.report_results import as_pairwise, copy


def test_both_flows_of_a_pair_are_judged(tmp_path: Path) -> None:
    collected = collect(Results(copy(tmp_path, as_pairwise)))
    assert any(len({*cell.names}) == 2 for cell in collected.cells)
    for (name, network), one in judged.by_network(collected).items():
        trials = sum(
            len(cell.trials)
            for cell in collected.cells
            if cell.network.name == network and name in cell.names
        )
        assert {finding.measured.ran for finding in one.findings} == {trials}


def test_the_reference_alone_is_not_compared_with_itself(tmp_path: Path) -> None:
    collected = collect(Results(copy(tmp_path, as_pairwise)))
    title = f"tcp {judged.reference(collected, 'tcp cubic')}"
    assert title == "tcp cubic"
    own = judged.plausible(collected, title, "cubic")
    assert (own.state, own.findings) == ("not measured", ("it is the reference",))


def test_a_verdict_says_which_results_alone_it_leaves_out(tmp_path: Path) -> None:
    """quinn carries a quarter of the kernel's on a path that reorders: nothing is compared there."""
    whole = collect(Results(copy(tmp_path)))
    collected = replace(whole, cells=tuple(replace(cell, names=cell.names[:1]) for cell in whole.cells))
    name = "tcp cubic with TLS"
    family = judged.reference(collected, name)
    steady = judged.plausible(collected, name, family)
    assert not any("not compared on" in text for text in steady.findings)
    shaky = replace(
        collected,
        cells=tuple(
            replace(cell, network=cell.network.model_copy(update={"jitter_ms": 1.0}))
            for cell in collected.cells
        ),
    )
    found = judged.plausible(shaky, name, family)
    assert found.state == "not measured"
    (text,) = found.findings
    assert text.startswith(f"not compared on {collected.cells[0].network.name}")
