"""How alike a contestant's envelope and its reference's are, seed by seed.

Both are flow 0's, by method ``imc22``: the contestant's against its reference, the reference's against
itself, on the same network and of the same seed. The report's own tables compare each trial with each
of another seed instead (:mod:`cambrian.report.similarity`), and have an interval from that.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from cambrian.report import similarity
from cambrian.report.collect import Cell
from cambrian.report.layout import Row
from cambrian.report.similarity import Envelopes


def by_seed(cell: Cell, reference: Cell | None) -> dict[int, Row]:
    """Seed → the columns of flow 0; a group that is its own reference has the floor only."""
    if reference is None:
        return {}
    tests, references = similarity.envelopes(cell), similarity.envelopes(reference)
    floors = _floors(references)
    return {
        seed: ({} if cell.is_noise_floor else _compared(tests, references, floors, seed))
        | {"conformance_floor": floors.get(seed)}
        for seed in tests
    }


def _compared(tests: Envelopes, references: Envelopes, floors: Mapping[int, float], seed: int) -> Row:
    if seed not in references:
        return {}
    found = similarity.between(tests[seed], references[seed])
    return {
        "conformance": found.conformance,
        "conformance_deficit": floors[seed] - found.conformance if seed in floors else None,
        "deviation": found.deviation,
        "deviation_mbps": found.delta_throughput_mbps,
        "deviation_ms": found.delta_delay_ms,
    }


def _floors(references: Envelopes) -> dict[int, float]:
    scores: dict[int, list[float]] = {}
    for pair, found in similarity.against_itself(references).items():
        for seed in pair:
            scores.setdefault(seed, []).append(found.conformance)
    return {seed: statistics.fmean(mine) for seed, mine in scores.items()}
