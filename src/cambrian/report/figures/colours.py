"""One colour for each contestant, the same in every figure, also for colour-blind readers.

The colours are Okabe and Ito's (2008), without black and yellow, which are invisible on a dark or a white
page, and with a violet added. A reference is grey, its placebo a lighter grey. No figure relies on
colour alone: the second flow of a pair is dashed.
"""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.report.collect import Collected, everybody

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5BD0")
GREY = "#767b82"
#: stroke dashes of the first, second, third… line of a panel
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (5, 3), (2, 2), (8, 3, 2, 3))


def palette(collected: Collected) -> dict[str, str]:
    """Contestant → colour, in the study's order; the seven colours repeat."""
    names = [contestant.name for contestant in everybody(collected.study)]
    references = {cell.reference for cell in collected.cells if cell.design == "versus-reference"}
    own = [name for name in dict.fromkeys(names) if name not in references]
    colours = {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(own)}
    colours |= {name: GREY for name in references if name is not None}
    return colours | {cell.subject: tint(GREY) for cell in collected.cells if cell.is_placebo}


def dashes(count: int) -> list[Sequence[int]]:
    """Stroke dashes for ``count`` lines."""
    return [DASHES[index % len(DASHES)] for index in range(count)]


def tint(colour: str) -> str:
    """The colour mixed half with white: for a second flow of the same contestant."""
    channels = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    return "#" + "".join(f"{round((channel + 245) / 2):02x}" for channel in channels)
