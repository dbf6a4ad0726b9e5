"""The registry: names, units, the page made from it, and what a row's function is given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cambrian.measure import quantities, reference
from cambrian.measure.quantity import Quantity

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_a_name_stands_in_one_family_only() -> None:
    names = [one.name for family in quantities.FAMILIES for one in family.QUANTITIES]
    assert sorted(names) == sorted(set(names))
    assert len(names) > 80


@pytest.mark.parametrize("one", quantities.ALL.values(), ids=lambda one: one.name)
def test_a_shown_quantity_says_its_unit_and_every_formula_has_a_section(one: Quantity) -> None:
    sections = re.findall(r"^##+ (.*?)(?: \(`.*\))?$", (DOCS / "reference" / "metrics.md").read_text(), re.M)
    assert one.meaning
    assert not one.formula or one.formula in sections
    if one.heading and one.unit:
        assert one.heading.endswith(f", {one.unit}")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("throughput_mbps", "Mbps"),
        ("cwnd_growth_packets_per_s", "packets/s"),
        ("cwnd_rises_per_s", "1/s"),
        ("delay_p50_ms", "ms"),
        ("cpu_per_packet_us", "µs"),
        ("buffer_bdp", "BDP"),
        ("loss_every_packets", "packets"),
        ("jain", ""),
        ("outcome", ""),
    ],
)
def test_the_unit_is_the_names_ending(name: str, unit: str) -> None:
    assert quantities.ALL[name].unit == unit


def test_the_reference_page_is_made_from_the_registry() -> None:
    """Remedy: cambrian quantities --markdown > docs/reference/quantities.md"""
    assert (DOCS / "reference" / "quantities.md").read_text() == reference.page()
