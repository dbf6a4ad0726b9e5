"""Transitivity: is "takes more than" an order? Wins in pairs as a directed graph, and its cycles."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components


@dataclass(frozen=True)
class Transitivity:
    """Of all triples in which a beats b and b beats c.

    ``transitive``: a beats c as well. ``open``: neither is known to beat the other.
    ``cycles``: c beats a, each named once, from its first contestant in order. ``knots``:
    sets of two or more of which each beats every other, itself or by a chain: longer cycles
    too are in one; sorted.
    """

    transitive: int
    open: int
    cycles: tuple[tuple[str, str, str], ...]
    knots: tuple[tuple[str, ...], ...]


def transitivity(wins: Iterable[tuple[str, str]]) -> Transitivity:
    """Judge the pairs (winner, loser); pairs without a winner are left out of ``wins``.

    Raises:
        ValueError: a pair has two winners, or a contestant beats itself.
    """
    beats = set(wins)
    for winner, loser in beats:
        if winner == loser or (loser, winner) in beats:
            raise ValueError(f"{winner} and {loser} cannot each beat the other")
    names = sorted({name for pair in beats for name in pair})
    after: Mapping[str, list[str]] = {
        name: sorted(loser for winner, loser in beats if winner == name) for name in names
    }
    chains = [(a, b, c) for a in names for b in after[a] for c in after[b]]
    transitive = sum((a, c) in beats for a, _, c in chains)
    cycles = [(a, b, c) for a, b, c in chains if (c, a) in beats]
    return Transitivity(
        transitive=transitive,
        open=len(chains) - transitive - len(cycles),
        # a cycle is found from each of its three
        cycles=tuple(cycle for cycle in cycles if cycle[0] == min(cycle)),
        knots=_knots(names, beats),
    )


def _knots(names: list[str], beats: set[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    if not names:
        return ()
    place = {name: index for index, name in enumerate(names)}
    edges = np.array([[place[winner], place[loser]] for winner, loser in sorted(beats)])
    graph = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(names), len(names)))
    _, labels = connected_components(graph, directed=True, connection="strong")
    members = sorted((int(label), name) for label, name in zip(labels, names, strict=True))
    groups = [tuple(name for _, name in group) for _, group in itertools.groupby(members, lambda one: one[0])]
    return tuple(sorted(group for group in groups if len(group) > 1))
