"""Performance envelopes: throughput over queueing delay, for a contestant and its reference.

Three figures for each network: method ``imc22`` (one trial), pooled, and ``clustered`` (ours, all trials).
"""

from __future__ import annotations

from collections.abc import Iterator

from cambrian.metrics import conformance, conformance_t, envelope
from cambrian.metrics.clustered import Region
from cambrian.metrics.envelope import Envelope
from cambrian.report.collect import Cell, Collected
from cambrian.report.conformance import halves, seed_pairs
from cambrian.report.conformance.seed_pairs import Envelopes
from cambrian.report.figures import colours, plane
from cambrian.report.figures.figure import Figure
from cambrian.report.figures.plane import MOST_POINTS, Pair, envelope_side, region_side
from cambrian.study.model import Network

_IMC22 = (
    "Method imc22: one trial of each side, the valid trial with the lowest seed. A point every 10 RTT; "
    "the hull contains the 95 % of points nearest to the mean. Grey, dashed: the reference, from its trial "
    "against itself. The panel of a reference compares two of its own trials."
)
_POOLED = (
    "Our addition to QUICbench: the points of all valid trials together, trimmed once, with one hull. Points "
    f"are correlated within a trial. At most {MOST_POINTS} evenly chosen points are drawn; hulls use all."
)
_CLUSTERED = (
    "Method clustered (ours): each trial's points form clusters, and each cluster has a hull. The envelope "
    "is the area that the hulls of at least half of the trials cover. Axes are scaled by the reference's "
    "SDs, so both count equally. Conformance counts the points within a side's own envelope. The panel of a "
    "reference compares the two halves of its trials."
)


def figures(collected: Collected) -> Iterator[Figure]:
    """Three figures for each network of a ``versus-reference`` study."""
    palette = colours.palette(collected)
    for network in collected.networks:
        single = list(_single(collected, network))
        pooled = list(_pooled(collected, network))
        clustered = list(_clustered(collected, network))
        # the three figures share one scale
        everything = [*single, *pooled, *clustered]
        if not everything:
            continue
        corner = plane.corner(everything)
        for name, heading, caption, pairs in (
            ("envelope", "Performance envelopes, one trial (imc22)", _IMC22, single),
            ("envelope-pooled", "Performance envelopes, all trials pooled", _POOLED, pooled),
            (
                "envelope-clustered",
                "Performance envelopes, area that most trials share (clustered)",
                _CLUSTERED,
                clustered,
            ),
        ):
            if pairs:
                yield Figure(
                    name=f"{name}_{network.name}",
                    network=network.name,
                    heading=heading,
                    caption=caption,
                    panels=tuple(plane.panel(pair, palette, corner) for pair in pairs),
                    data=plane.data(pairs),
                )


def _single(collected: Collected, network: Network) -> Iterator[Pair]:
    for cell, tests, references in _sides(collected, network):
        first, *others = sorted(references)
        seed = others[0] if cell.is_noise_floor else min(tests)
        yield _hulls(cell, (tests[seed][0], f"seed {seed}"), (references[first][0], f"seed {first}"))


def _pooled(collected: Collected, network: Network) -> Iterator[Pair]:
    for cell, tests, references in _sides(collected, network):
        if cell.is_noise_floor or max(len(tests), len(references)) < 2:
            continue
        test, reference = (
            (envelope.pooled(trials), f"{len(trials)} trials")
            for trials in ([one for mine in side.values() for one in mine] for side in (tests, references))
        )
        yield _hulls(cell, test, reference)


def _hulls(cell: Cell, test: tuple[Envelope, str], reference: tuple[Envelope, str]) -> Pair:
    labels = _labels(cell, test[1], reference[1])
    score = conformance.compare(test[0], reference[0]).conformance
    return Pair(cell, envelope_side(test[0], labels[0]), envelope_side(reference[0], labels[1]), score)


def _clustered(collected: Collected, network: Network) -> Iterator[Pair]:
    for cell, _, references in _sides(collected, network):
        floor = collected.noise_floor(cell)
        if floor is None or len(references) < 2:
            continue
        test, reference = halves.region(cell, floor), halves.region(floor, floor)
        if cell.is_noise_floor:
            # the orders of a seed stay together
            middle = sum(len(references[seed]) for seed in sorted(references)[: len(references) // 2])
            test, reference = Region(reference.trials[middle:]), Region(reference.trials[:middle])
            counts = (f"last {len(test.trials)} trials", f"first {len(reference.trials)} trials")
        else:
            counts = (f"{len(test.trials)} trials", f"{len(reference.trials)} trials")
        labels = _labels(cell, *counts)
        score = conformance_t.conformance(*(conformance_t.region_shape(side) for side in (test, reference)))
        yield Pair(cell, region_side(test, labels[0]), region_side(reference, labels[1]), score)


def _sides(collected: Collected, network: Network) -> Iterator[tuple[Cell, Envelopes, Envelopes]]:
    """Each group that can be compared, with its envelopes and its reference's."""
    for cell in collected.on(network):
        floor = collected.noise_floor(cell) if cell.design == "versus-reference" else None
        if floor is None:
            continue
        tests, references = seed_pairs.envelopes(cell), seed_pairs.envelopes(floor)
        if len(tests) >= (2 if cell.is_noise_floor else 1) and references:
            yield cell, tests, references


def _labels(cell: Cell, test: str, reference: str) -> tuple[str, str]:
    if cell.is_noise_floor:
        return f"{cell.subject}, {test}", f"{cell.subject}, {reference}"
    return f"{cell.subject}, {test}", f"{cell.reference} against itself, {reference}"
