"""Charts of one network, one kind in each file."""

from __future__ import annotations

from collections.abc import Iterator

from cambrian.report.collect import Collected
from cambrian.report.figures import envelopes, pageload, pairs, states, waterfall
from cambrian.report.figures.figure import Figure

#: in the order of the page
_KINDS = (envelopes, pageload, waterfall, pairs, states)


def all_figures(collected: Collected) -> Iterator[Figure]:
    """Every figure that this study has, network by network within each kind."""
    for kind in _KINDS:
        yield from kind.figures(collected)
