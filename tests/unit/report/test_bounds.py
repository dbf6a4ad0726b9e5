"""Intervals of figures that have bounds stay within them."""

from __future__ import annotations

import pytest

from cambrian.measure import quantities
from cambrian.report import harms
from cambrian.report.harms import SERVICES
from cambrian.report.tables import rows


@pytest.mark.parametrize("values", [(0.9994, 0.9999, 0.9651, 0.9983), (0.51, 0.9, 0.99), (0.7, 0.7, 0.7)])
def test_jains_index_of_two_flows_is_from_a_half_to_one(values: tuple[float, ...]) -> None:
    found = rows.interval(dict(enumerate(values)), quantities.ALL["jain"].ends(2))
    assert found is not None
    assert 0.5 <= found.low <= found.estimate <= found.high <= 1
    assert found.estimate == pytest.approx(sum(values) / len(values))


@pytest.mark.parametrize("service", SERVICES)
def test_harm_is_at_most_one(service: harms.Service) -> None:
    alone, beside = {1: 0.02, 2: 0.03, 3: 0.1}, {1: 0.2, 2: 2.0, 3: 9.0}
    if service.more_is_better:
        alone, beside = beside, alone
    found = harms._interval(harms._replicates(alone, beside, service), alone, beside)
    assert found is not None
    assert found.low < found.estimate < found.high <= 1
