"""Whose parameters are judged in a pair."""

from __future__ import annotations

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
