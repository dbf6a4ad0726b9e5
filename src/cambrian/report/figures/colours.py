"""One colour a contestant, the same in every figure, told apart by colour-blind readers.

Colours are Okabe and Ito's (2008) without their black and yellow, which a dark or a white page
swallows, and with a violet. A reference is grey, its placebo a lighter grey. No figure relies on
colour alone: the second flow of a pair is dashed.
"""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.report.collect import Collected

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5BD0")
GREY = "#767b82"
#: of the first, second, third… line of one panel
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (5, 3), (2, 2), (8, 3, 2, 3))


def of(collected: Collected) -> dict[str, str]:
    """Contestant → colour, in the study's order; seven, then from the start again."""
    study = collected.study
    names = [contestant.name for contestant in study.contestants]
    names += [flow.contestant.name for flow in study.every_flow]
    references = {cell.reference for cell in collected.cells if cell.design == "versus-reference"}
    own = [name for name in dict.fromkeys(names) if name not in references]
    colours = {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(own)}
    colours |= {name: GREY for name in references if name is not None}
    return colours | {cell.subject: tint(GREY) for cell in collected.cells if cell.is_placebo}


def dashes(count: int) -> list[Sequence[int]]:
    """Stroke dashes of ``count`` lines."""
    return [DASHES[index % len(DASHES)] for index in range(count)]


def tint(colour: str) -> str:
    """Half way to white: for a second flow of the same contestant."""
    channels = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    return "#" + "".join(f"{round((channel + 245) / 2):02x}" for channel in channels)
