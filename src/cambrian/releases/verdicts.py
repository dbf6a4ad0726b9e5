"""Whose behaviour a release has: one figure, compared by the rule of `cambrian gate`.

A figure is a quantity, a parameter or a probe on one network. Two releases differ in it if the change is
larger than the gate's margin and its 95 % interval does not contain "no change"; else they are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cambrian.gate import differences, snapshot
from cambrian.gate.differences import Compared, Difference
from cambrian.gate.snapshot import Place, Snapshot
from cambrian.metrics.parameters.definitions import PARAMETERS

Like = Literal["good", "bad", "neither", "unclear"]


@dataclass(frozen=True)
class Figure:
    """One figure's name and its network."""

    name: str
    network: str

    def __str__(self) -> str:
        """``throughput_mbps on clean``."""
        return f"{self.name} on {self.network}"


@dataclass(frozen=True)
class Verdict:
    """Whose behaviour a release has, its figure in words, and whether it sends good's or bad's packets.

    ``nearer``: of a figure that is like neither, the end that it is nearer to; empty if nothing says so.
    """

    like: Like
    shows: str
    same_packets: str = ""
    nearer: str = ""


def compared(before: Snapshot, after: Snapshot, comparisons: int = 1) -> Compared:
    """Two releases, compared; the trials of the earlier one take the names of the later one's.

    ``comparisons``: as in :func:`cambrian.gate.differences.snapshots`.
    """
    return differences.snapshots(_as_later(before, after), after, comparisons=comparisons)


def send_the_same(before: Snapshot, after: Snapshot) -> bool:
    """Do two releases send the same packets, by their hashes alone?"""
    return same_packets(differences.all_packets(_as_later(before, after), after))


def _as_later(before: Snapshot, after: Snapshot) -> Snapshot:
    assert after.contestant is not None
    return snapshot.renamed(before, after.contestant)


def same_packets(one: Compared) -> bool:
    """Does a comparison of two releases find the same packets in all trials?"""
    return bool(one.same) and not (one.changed or one.lost or one.unknown)


def clear(found: Compared, name: str | None) -> list[Difference]:
    """The figures of this name (None: any) that are proven to differ, the largest change first."""
    return [one for one in found.different if name in (None, one.name)]


def judge(figure: Figure, good: Snapshot, bad: Snapshot, tried: Snapshot) -> Verdict:
    """Whose behaviour ``tried`` has.

    "neither": it differs from both. "unclear": it is like both, or lacks the figure.
    """
    of_good, of_bad = (_one(figure, end, tried) for end in (good, bad))
    packets = {"good": compared(good, tried), "bad": compared(bad, tried)}
    same = next((name for name, one in packets.items() if same_packets(one)), "")
    if of_good is None or of_bad is None:
        return Verdict("unclear", "it lacks the figure", same)
    like_good, like_bad = not _differs(of_good), not _differs(of_bad)
    if like_good or like_bad:
        like: Like = "unclear" if like_good and like_bad else "good" if like_good else "bad"
        return Verdict(like, of_good.after, same)
    nearer = ""
    if of_good.change is not None and of_bad.change is not None:
        nearer = "good" if abs(of_good.change) < abs(of_bad.change) else "bad"
    return Verdict("neither", of_good.after, same, nearer)


def differ(figure: Figure, before: Snapshot, after: Snapshot) -> bool:
    """Do two releases differ in the figure?"""
    found = _one(figure, before, after)
    return found is not None and _differs(found)


def _differs(one: Difference) -> bool:
    return one.state == "different" or one.is_changed


def _one(figure: Figure, before: Snapshot, after: Snapshot) -> Difference | None:
    """The figure, compared; None if a release lacks it, or has too few events for it."""
    if not (_has(figure, before) and _has(figure, after)):
        return None
    found = compared(_only(figure, before), _only(figure, after))
    return next(iter(found.figures), None)


def _has(figure: Figure, one: Snapshot) -> bool:
    place = one.places.get(figure.network, Place())
    if (parameter := place.parameters.get(figure.name)) is not None:
        is_there = parameter.value is not None or parameter.label is not None
        return is_there and parameter.events >= PARAMETERS[figure.name].fewest
    probe = place.probes.get(figure.name)
    return figure.name in place.values or (probe is not None and probe.effect is not None)


def _only(figure: Figure, one: Snapshot) -> Snapshot:
    """The snapshot with this figure alone, so that no correction for other figures applies."""
    place = one.places.get(figure.network, Place())
    kinds = {
        kind: {name: row for name, row in getattr(place, kind).items() if name == figure.name}
        for kind in ("values", "parameters", "probes")
    }
    return one.model_copy(update={"places": {figure.network: place.model_copy(update=kinds)}})


def names(found: Sequence[Difference]) -> str:
    """``throughput_mbps on clean (9.2 → 4.1); …``."""
    return "; ".join(f"{one.name} on {one.place} ({one.before} → {one.after})" for one in found)
