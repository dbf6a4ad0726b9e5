"""All charts of one network, in the order of the page."""

from __future__ import annotations

from collections.abc import Iterator

from cambrian.report.collect import Collected
from cambrian.report.figures import envelopes, pageload, pairs, states, waterfall
from cambrian.report.figures.figure import Figure

_KINDS = (envelopes, pageload, waterfall, pairs, states)


def all_figures(collected: Collected) -> Iterator[Figure]:
    """Every figure that this study has, network by network within each kind."""
    for kind in _KINDS:
        yield from kind.figures(collected)
