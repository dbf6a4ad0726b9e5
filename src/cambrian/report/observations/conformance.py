"""Conformance of a contestant's envelope to its reference's, seed by seed.

Both envelopes are flow 0's, by method ``imc22``: the contestant's against its reference, and the reference's
against itself, on the same network and with the same seed. The report's tables compare trials of
different seeds instead (:mod:`cambrian.report.conformance.seed_pairs`), which gives an interval.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from cambrian.report.collect import Cell
from cambrian.report.conformance import seed_pairs
from cambrian.report.conformance.seed_pairs import Envelopes
from cambrian.report.layout import Row


def by_seed(cell: Cell, reference: Cell | None) -> dict[int, Row]:
    """Seed → the columns of flow 0; a noise-floor group has only the floor."""
    if reference is None:
        return {}
    tests, references = seed_pairs.envelopes(cell), seed_pairs.envelopes(reference)
    floors = _floors(references)
    return {
        seed: ({} if cell.is_noise_floor else _compared(tests, references, floors, seed))
        | {"conformance_floor": floors.get(seed)}
        for seed in tests
    }


def _compared(tests: Envelopes, references: Envelopes, floors: Mapping[int, float], seed: int) -> Row:
    if seed not in references:
        return {}
    found = seed_pairs.between(tests[seed], references[seed])
    return {
        "conformance": found.conformance,
        "conformance_deficit": floors[seed] - found.conformance if seed in floors else None,
        "deviation": found.deviation,
        "deviation_mbps": found.delta_throughput_mbps,
        "deviation_ms": found.delta_delay_ms,
    }


def _floors(references: Envelopes) -> dict[int, float]:
    scores: dict[int, list[float]] = {}
    for pair, found in seed_pairs.against_itself(references).items():
        for seed in pair:
            scores.setdefault(seed, []).append(found.conformance)
    return {seed: statistics.fmean(mine) for seed, mine in scores.items()}
