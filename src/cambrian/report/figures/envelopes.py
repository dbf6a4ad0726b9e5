"""Performance envelopes: throughput over queueing delay, the contestant's beside its reference's.

Three figures a network: method ``imc22`` (one trial), the pooled one and ``clustered`` (ours, all trials).
"""

from __future__ import annotations

from collections.abc import Iterator

from cambrian.metrics import conformance, conformance_t, envelope
from cambrian.metrics.clustered import Region
from cambrian.metrics.envelope import Envelope
from cambrian.report import similarity
from cambrian.report.collect import Cell, Collected
from cambrian.report.figures import colours, plane
from cambrian.report.figures.figure import Figure
from cambrian.report.figures.plane import MOST_POINTS, Pair, of_envelope, of_region
from cambrian.report.likeness import halves
from cambrian.report.similarity import Envelopes
from cambrian.study.model import Network

#: place among the figures of a network
ORDER = 10

_IMC22 = (
    "Method imc22: one trial of each side, the valid one with the lowest seed. A point every 10 RTT; "
    "the hull holds the 95 % of points nearest to the mean. Grey, dashed: the reference, from its trial "
    "against itself. The panel of a reference sets two of its trials side by side: the same thing twice."
)
_POOLED = (
    "Ours, not QUICbench's: the points of all valid trials together, trimmed and hulled once. Points are "
    f"correlated within a trial. At most {MOST_POINTS} evenly chosen points are drawn; hulls use all."
)
_CLUSTERED = (
    "Method clustered, ours: each trial's points in clusters, a hull for each cluster, and of the hulls what "
    "at least half of the trials cover. Axes count in the reference's SDs, so neither outweighs the other. "
    "Conformance counts the points within the own region. The panel of a reference sets one half of its "
    "trials beside the other."
)


def figures(collected: Collected) -> Iterator[Figure]:
    """Three figures a network of a ``versus-reference`` study."""
    palette = colours.of(collected)
    for network in collected.networks:
        single = list(_single(collected, network))
        pooled = list(_pooled(collected, network))
        clustered = list(_clustered(collected, network))
        # one scale for all
        everything = [*single, *pooled, *clustered]
        if not everything:
            continue
        corner = plane.corner(everything)
        for name, heading, caption, pairs in (
            ("envelope", "Performance envelopes, one trial (imc22)", _IMC22, single),
            ("envelope-pooled", "Performance envelopes, all trials pooled", _POOLED, pooled),
            (
                "envelope-clustered",
                "Performance envelopes, where trials agree (clustered)",
                _CLUSTERED,
                clustered,
            ),
        ):
            if pairs:
                yield Figure(
                    name=f"{name}-{network.name}",
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
    return Pair(cell, of_envelope(test[0], labels[0]), of_envelope(reference[0], labels[1]), score)


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
            told = (f"last {len(test.trials)} trials", f"first {len(reference.trials)} trials")
        else:
            told = (f"{len(test.trials)} trials", f"{len(reference.trials)} trials")
        labels = _labels(cell, *told)
        score = conformance_t.conformance(*(conformance_t.region_shape(one) for one in (test, reference)))
        yield Pair(cell, of_region(test, labels[0]), of_region(reference, labels[1]), score)


def _sides(collected: Collected, network: Network) -> Iterator[tuple[Cell, Envelopes, Envelopes]]:
    """Each group that has something to compare, with its and its reference's envelopes."""
    for cell in collected.on(network):
        floor = collected.noise_floor(cell) if cell.design == "versus-reference" else None
        if floor is None:
            continue
        tests, references = similarity.envelopes(cell), similarity.envelopes(floor)
        if len(tests) >= (2 if cell.is_noise_floor else 1) and references:
            yield cell, tests, references


def _labels(cell: Cell, test: str, reference: str) -> tuple[str, str]:
    if cell.is_noise_floor:
        return f"{cell.subject}, {test}", f"{cell.subject}, {reference}"
    return f"{cell.subject}, {test}", f"{cell.reference} against itself, {reference}"
