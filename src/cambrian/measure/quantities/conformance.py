"""Conformance of a contestant's envelope with its reference's, seed by seed (filled in by the report)."""

from __future__ import annotations

from cambrian.measure.quantity import Quantity, of_difference

QUANTITIES = (
    Quantity(
        "conformance",
        "imc22, [0,1] (not percent): flow 0 vs flow 0 of the reference-against-itself trial with the same "
        "seed and network; only flow 0 of versus-reference groups that are not the noise floor",
        heading="Conformance",
        digits=2,
        formula="Conformance and deviation",
        ends=lambda _: (0.0, 1.0),
    ),
    Quantity(
        "conformance_floor",
        "reference trial of that seed vs the reference's trials of all other seeds, mean; also on the noise "
        "floor group's own rows",
        formula="Conformance and deviation",
        ends=lambda _: (0.0, 1.0),
    ),
    Quantity(
        "conformance_deficit",
        "conformance_floor − conformance",
        formula="Conformance and deviation",
        ends=lambda _: (-1.0, 1.0),
    ),
    Quantity(
        "deviation",
        "distance of the means, Mbps and ms mixed (QUICbench)",
        heading="Deviation, raw units",
        formula="Conformance and deviation",
    ),
    Quantity("deviation_mbps", "test − reference", formula="Conformance and deviation", ends=of_difference),
    Quantity("deviation_ms", "test − reference", formula="Conformance and deviation", ends=of_difference),
)
