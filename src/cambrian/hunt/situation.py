"""The situations that a hunt tries: a network, and a rival or none.

Every key has a list of values, the ordinary one first. A situation is simple if few keys have other values;
Hypothesis shrinks towards the first value of each list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hypothesis import strategies as st

from cambrian.study.reference import REFERENCE_STACK

DURATION_S = 20
#: when a path changes
CHANGE_S = 10
#: length of a blackout, and of a burst in which every packet is lost: part of a round trip
BLACKOUT_S, BURST_S = 1, 0.03
#: key → values, the ordinary one first
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "rate_mbps": (10.0, 5.0, 20.0, 2.0),
    "rtt_ms": (50.0, 100.0, 20.0, 200.0, 5.0),
    "buffer_bdp": (1.0, 2.0, 4.0, 0.5, 0.25, 0.1),
    "loss_percent": (0.0, 0.01, 0.1, 1.0, 3.0),
    "jitter_ms": (0.0, 1.0, 5.0),
    "reorder_percent": (0.0, 0.1, 1.0),
    "queue": ("droptail", "codel", "fq_codel", "pie"),
    "ecn": (False, True),
    #: what happens in the middle: nothing, or the rate or the round trip changes, or all packets are lost
    "change": ("none", "quarter rate", "four times the rate", "three times the RTT", "burst", "blackout"),
}


@dataclass(frozen=True)
class Situation:
    """One network by the keys of :data:`CHOICES`."""

    rate_mbps: float = 10.0
    rtt_ms: float = 50.0
    buffer_bdp: float = 1.0
    loss_percent: float = 0.0
    jitter_ms: float = 0.0
    reorder_percent: float = 0.0
    queue: str = "droptail"
    ecn: bool = False
    change: str = "none"

    @property
    def unusual(self) -> tuple[str, ...]:
        """The keys with another value than the ordinary one."""
        return tuple(name for name, values in CHOICES.items() if getattr(self, name) != values[0])

    @property
    def complexity(self) -> tuple[int, int]:
        """Number of unusual keys, then the sum of the places of all values in their lists."""
        places = (values.index(getattr(self, name)) for name, values in CHOICES.items())
        return len(self.unusual), sum(places)

    @property
    def is_possible(self) -> bool:
        """Marks need a queue that marks; a queue needs room for a few packets."""
        packets = self.rate_mbps * self.rtt_ms / 8 * 1000 * self.buffer_bdp / 1514
        return (not self.ecn or self.queue != "droptail") and packets >= 3

    @property
    def is_lossless(self) -> bool:
        """Does the path itself neither lose nor disorder packets?"""
        return not (self.loss_percent or self.jitter_ms or self.reorder_percent)

    def __str__(self) -> str:
        """``2 Mbps, 50 ms, 0.25 BDP, blackout``."""
        rest = [f"{name.removesuffix('_percent').replace('_', ' ')} {getattr(self, name):g} %"
                for name in ("loss_percent", "reorder_percent") if getattr(self, name)]  # fmt: skip
        rest += [f"jitter {self.jitter_ms:g} ms"] if self.jitter_ms else []
        rest += [self.queue + (" with ECN" if self.ecn else "")] if self.queue != "droptail" else []
        rest += [self.change] if self.change != "none" else []
        return ", ".join([f"{self.rate_mbps:g} Mbps, {self.rtt_ms:g} ms, {self.buffer_bdp:g} BDP", *rest])

    def network_toml(self, name: str) -> str:
        """The ``[[network]]`` table; only keys with unusual values, and those that every network has."""
        lines = ["[[network]]", f'name = "{name}"']
        lines += [f"{key} = {getattr(self, key):g}" for key in ("rate_mbps", "rtt_ms", "buffer_bdp")]
        lines += [
            f"{key} = {getattr(self, key):g}"
            for key in ("loss_percent", "jitter_ms", "reorder_percent")
            if getattr(self, key)
        ]
        lines += [f'queue = "{self.queue}"'] if self.queue != "droptail" else []
        lines += ["ecn = true"] if self.ecn else []
        lines += [f"schedule = [{self._schedule()}]"] if self.change != "none" else []
        return "\n".join(lines) + "\n"

    def _schedule(self) -> str:
        match self.change:
            case "quarter rate":
                return f"{{ at_s = {CHANGE_S}, rate_mbps = {self.rate_mbps / 4:g} }}"
            case "four times the rate":
                return f"{{ at_s = {CHANGE_S}, rate_mbps = {self.rate_mbps * 4:g} }}"
            case "three times the RTT":
                return f"{{ at_s = {CHANGE_S}, rtt_ms = {self.rtt_ms * 3:g} }}"
            case _:
                length_s = BURST_S if self.change == "burst" else BLACKOUT_S
                end = f"{{ at_s = {CHANGE_S + length_s}, loss_percent = {self.loss_percent:g} }}"
                return f"{{ at_s = {CHANGE_S}, loss_percent = 100 }}, {end}"

    def changed(self, **values: Any) -> Situation:
        """The same with other values, which may be outside the lists."""
        return replace(self, **values)


def situations() -> st.SearchStrategy[Situation]:
    """All situations, as a strategy of Hypothesis that shrinks towards the ordinary one."""
    assert {field.name for field in fields(Situation)} == set(CHOICES)
    parts = {name: st.sampled_from(values) for name, values in CHOICES.items()}
    return st.builds(Situation, **parts).filter(lambda one: one.is_possible)


def study_toml(
    name: str,
    title: str,
    variants: Mapping[str, Situation],
    contestant: str,
    reference: str,
    *,
    rival: bool,
    seeds: int,
) -> str:
    """The study of a contestant (``stack/cca``) on these networks, with kernel TCP alone or as its rival."""
    stack, cca = contestant.split("/")
    head = [
        f'name = "{name}"',
        f'title = "{title}"',
        f'design = "{"versus-reference" if rival else "solo"}"',
        f"duration_s = {DURATION_S}",
        f"seeds = {seeds}",
        "start_spread_ms = 1000",
        "",
    ]
    contestants = [f'[[contestant]]\nstack = "{stack}"\ncca = "{cca}"\n']
    if not rival and stack != REFERENCE_STACK:
        contestants.append(f'[[contestant]]\nstack = "{REFERENCE_STACK}"\ncca = "{reference}"\n')
    networks = [one.network_toml(label) for label, one in variants.items()]
    return "\n".join([*head, *networks, *contestants])
