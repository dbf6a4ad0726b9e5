"""The situations that a hunt tries: a network, what happens on it, and what the contestant has to carry.

Every key has a list of values, the ordinary one first. A situation is simple if few keys have other values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hypothesis import strategies as st

from cambrian.metrics.gates.capture import FRAME_BYTES
from cambrian.metrics.theory import reno_window_segments

#: shortest trial, because BBR looks for the round trip every ten seconds; and length in round trips
LEAST_S, ROUND_TRIPS = 20.0, 120
#: shortest trial with a rival: BBR needs tens of seconds until two flows share a link
LEAST_SHARED_S = 60.0
#: where the path loses packets, so many losses follow the window of slow start, unless that takes too long
LOSSES, MOST_LOSSY_S = 25, 150.0
#: the contestant sends to the client of its own stack
OWN = "own"
#: when the events happen, as parts of the trial
EVENT_AT, LATER_AT = 0.5, 0.75
#: length of a blackout, and of a burst in which every packet is lost
BLACKOUT_S, BURST_TRIPS = 1.0, 0.5
#: when the later of two flows starts, as a part of the trial
LATE_AT = 0.25
#: starts are drawn from this: more than a round trip of most situations, so that seeds meet events elsewhere
START_SPREAD_MS = 250

_EVENTS = (
    "none",
    "burst",
    "blackout",
    "quarter rate",
    "four times the rate",
    "three times the RTT",
    "a third of the RTT",
)
#: key → values, the ordinary one first: a path of few packets, because a trial takes as long as its packets
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "rate_mbps": (5.0, 10.0, 20.0, 2.0),
    "rtt_ms": (50.0, 100.0, 20.0, 200.0, 5.0),
    "buffer_bdp": (1.0, 2.0, 4.0, 0.5, 0.25, 0.1),
    "loss_percent": (0.0, 0.01, 0.1, 1.0, 3.0),
    #: exactly every n-th packet is lost
    "loss_every_packets": (0, 300, 1000),
    "jitter_ms": (0.0, 1.0, 5.0),
    "reorder_percent": (0.0, 0.1, 1.0),
    "queue": ("droptail", "codel", "fq_codel", "pie"),
    "ecn": (False, True),
    #: what happens in the middle, and what after three quarters of the time
    "event": _EVENTS,
    "later_event": _EVENTS,
    #: kernel TCP with the same algorithm on the same link, and when it starts: with the contestant, after it
    #: or before it
    "rival": ("none", "together", "later", "earlier"),
    #: what the contestant carries; 0: it has data to send until the trial ends
    "size_kb": (0, 100, 1000),
}
#: what ends the growth on a path of many packets, after how many of them
_GROWTH = (("buffer_bdp", 0.1), ("loss_every_packets", 1000), ("loss_percent", 0.1), ("queue", "codel"))
#: limits of what events lead to: a path for more packets takes minutes to simulate
_RATES_MBPS, _MOST_RTT_MS = (0.5, 80.0), 600.0


@dataclass(frozen=True)
class Situation:
    """One network by the keys of :data:`CHOICES`."""

    rate_mbps: float = 5.0
    rtt_ms: float = 50.0
    buffer_bdp: float = 1.0
    loss_percent: float = 0.0
    loss_every_packets: int = 0
    jitter_ms: float = 0.0
    reorder_percent: float = 0.0
    queue: str = "droptail"
    ecn: bool = False
    event: str = "none"
    later_event: str = "none"
    rival: str = "none"
    size_kb: int = 0

    @property
    def unusual(self) -> tuple[str, ...]:
        """The keys with another value than the ordinary one."""
        return tuple(name for name, values in CHOICES.items() if getattr(self, name) != values[0])

    @property
    def duration_s(self) -> float:
        """Length of its trials; with a rival, in round trips with a full queue."""
        trips_s = ROUND_TRIPS * self.rtt_ms / 1000
        if self.rival != "none":
            return max(LEAST_SHARED_S, trips_s * (1 + self.buffer_bdp))
        least_s = max(LEAST_S, trips_s)
        if not self.loss_ratio:
            return least_s
        most = min(self.bdp_packets, reno_window_segments(self.loss_ratio))
        losses_s = math.ceil(LOSSES / self.loss_ratio * self.rtt_ms / 1000 / most)
        return max(least_s, losses_s) if losses_s <= MOST_LOSSY_S else least_s

    @property
    def loss_ratio(self) -> float:
        """Share of packets that the path itself loses."""
        return self.loss_percent / 100 or (1 / self.loss_every_packets if self.loss_every_packets else 0.0)

    @property
    def pipe_packets(self) -> float:
        """Packets in flight when the queue is full."""
        return self.bdp_packets * (1 + self.buffer_bdp)

    @property
    def bdp_packets(self) -> float:
        """Packets in flight that fill the link and no queue."""
        return self.rate_mbps * self.rtt_ms / 8 * 1000 / FRAME_BYTES

    @property
    def is_possible(self) -> bool:
        """Can it be a study, and does each of its keys mean something?

        Marks need a queue that marks, a queue needs room for a few packets, a later event an earlier one; a
        flow of fixed size has no middle, and ends whenever its rival lets it.
        """
        paths = [(rate, rtt) for rate, rtt, _ in self._paths()]
        return (
            (not self.ecn or self.queue != "droptail")
            and self.bdp_packets * self.buffer_bdp >= 3
            and (self.later_event == "none" or self.event != "none")
            and not (self.loss_percent and self.loss_every_packets)
            and not (self.size_kb and (self.event != "none" or self.rival != "none"))
            and all(_RATES_MBPS[0] <= rate <= _RATES_MBPS[1] and rtt <= _MOST_RTT_MS for rate, rtt in paths)
        )

    @property
    def is_lossless(self) -> bool:
        """Does the path itself neither lose nor disorder packets?"""
        return not (self.loss_percent or self.loss_every_packets or self.jitter_ms or self.reorder_percent)

    @property
    def is_alone(self) -> bool:
        """Does one flow have data to send for the whole trial?"""
        return self.rival == "none" and not self.size_kb

    @property
    def is_steady(self) -> bool:
        """Is a flow alone on a path that stays as it is?"""
        return self.is_alone and self.event == "none"

    @property
    def last_rate_mbps(self) -> float:
        """The link's rate at the end of the trial."""
        return self._paths()[-1][0]

    @property
    def least_buffer_bdp(self) -> float:
        """The buffer in bandwidth-delay products of the path, at the start or after an event, the least."""
        most = max(rate * rtt for rate, rtt, _ in self._paths())
        return self.buffer_bdp * self.rate_mbps * self.rtt_ms / most

    @property
    def longest_rtt_ms(self) -> float:
        """The longest round trip without queueing."""
        return max(rtt for _, rtt, _ in self._paths())

    def __str__(self) -> str:
        """``2 Mbps, 50 ms, 0.25 BDP, blackout``."""
        rest = [f"{name.removesuffix('_percent').replace('_', ' ')} {getattr(self, name):g} %"
                for name in ("loss_percent", "reorder_percent") if getattr(self, name)]  # fmt: skip
        rest += [f"each {self.loss_every_packets}th packet lost"] if self.loss_every_packets else []
        rest += [f"jitter {self.jitter_ms:g} ms"] if self.jitter_ms else []
        rest += [self.queue + (" with ECN" if self.ecn else "")] if self.queue != "droptail" else []
        rest += [" then ".join(event for event in (self.event, self.later_event) if event != "none")]
        rest += [f"rival starts {self.rival}"] if self.rival != "none" else []
        rest += [f"a flow of {self.size_kb} kB"] if self.size_kb else []
        network = f"{self.rate_mbps:g} Mbps, {self.rtt_ms:g} ms, {self.buffer_bdp:g} BDP"
        return ", ".join([network, *filter(None, rest)])

    def network_toml(self, name: str) -> str:
        """The ``[[network]]`` table; only keys with unusual values, and those that every network has."""
        lines = ["[[network]]", f'name = "{name}"']
        lines += [f"{key} = {getattr(self, key):g}" for key in ("rate_mbps", "rtt_ms", "buffer_bdp")]
        lines += [
            f"{key} = {getattr(self, key):g}"
            for key in ("loss_percent", "loss_every_packets", "jitter_ms", "reorder_percent")
            if getattr(self, key)
        ]
        lines += [f'queue = "{self.queue}"'] if self.queue != "droptail" else []
        lines += ["ecn = true"] if self.ecn else []
        if steps := [step for _, _, steps in self._paths() for step in steps]:
            lines += ["schedule = [", *(f"  {{ {step} }}," for step in steps), "]"]
        return "\n".join(lines) + "\n"

    def flows_toml(self, contestant: str, rival: str, receiver: str = OWN) -> str:
        """The flows of a line-up: the contestant (``stack/cca``) first, then its rival if it has one.

        ``receiver``: whose client the contestant sends to.
        """
        late = f", start_ms = {round(1000 * LATE_AT * self.duration_s)}"
        flows = [
            _contestant(contestant)
            + (late if self.rival == "earlier" else "")
            + (f", size_bytes = {1000 * self.size_kb}" if self.size_kb else "")
            + (f', receiver = "{receiver}"' if receiver != OWN else "")
        ]
        if self.rival != "none":
            flows.append(_contestant(rival) + (late if self.rival == "later" else ""))
        return "\n".join(["[", *(f"  {{ {flow} }}," for flow in flows), "]"])

    def _paths(self) -> list[tuple[float, float, list[str]]]:
        """Rate (Mbps) and round trip (ms) at the start and after each event; and its schedule."""
        rate, rtt = self.rate_mbps, self.rtt_ms
        paths: list[tuple[float, float, list[str]]] = [(rate, rtt, [])]
        for event, part in ((self.event, EVENT_AT), (self.later_event, LATER_AT)):
            at_s = part * self.duration_s
            match event:
                case "none":
                    continue
                case "quarter rate" | "four times the rate":
                    rate *= 0.25 if event == "quarter rate" else 4
                    steps = [f"at_s = {at_s:g}, rate_mbps = {rate:g}"]
                case "three times the RTT" | "a third of the RTT":
                    rtt = round(rtt * 3 if event == "three times the RTT" else rtt / 3, 3)
                    steps = [f"at_s = {at_s:g}, rtt_ms = {rtt:g}"]
                case _:
                    length_s = BURST_TRIPS * rtt / 1000 if event == "burst" else BLACKOUT_S
                    steps = [
                        f"at_s = {at_s:g}, loss_percent = 100",
                        f"at_s = {round(at_s + length_s, 6):g}, loss_percent = {self.loss_percent:g}",
                    ]
            paths.append((rate, rtt, steps))
        return paths

    def changed(self, **values: Any) -> Situation:
        """The same with other values, which may be outside the lists."""
        return replace(self, **values)

    def around(self) -> Iterator[Situation]:
        """The same with another rate, round trip or buffer."""
        for name in ("rate_mbps", "rtt_ms", "buffer_bdp"):
            for one in (self.changed(**{name: value}) for value in CHOICES[name]):
                if one != self and one.is_possible:
                    yield one

    def simpler(self) -> Iterator[Situation]:
        """Simpler situations: first a key has its ordinary value, then an earlier one."""
        changes = [(name, CHOICES[name][0]) for name in self.unusual]
        changes += [
            (name, value)
            for name in self.unusual
            for value in CHOICES[name][1 : CHOICES[name].index(getattr(self, name))]
        ]
        for name, value in changes:
            # a key that means nothing without this one goes with it
            also = {"queue": "ecn", "event": "later_event"}.get(name) if value == CHOICES[name][0] else None
            one = self.changed(**{name: value}, **({also: CHOICES[also][0]} if also else {}))
            if one.is_possible:
                yield one


def situations() -> st.SearchStrategy[Situation]:
    """All situations, as a strategy of Hypothesis."""
    assert {field.name for field in fields(Situation)} == set(CHOICES)
    parts = {name: st.sampled_from(values) for name, values in CHOICES.items()}
    return st.builds(Situation, **parts).filter(lambda one: one.is_possible)


def systematic() -> list[Situation]:
    """First one situation for each kind of cause, then every other value of every key, each alone.

    Then a path of many packets in flight, where growth takes many round trips. Then each event with more
    packets in flight, and with a queue that holds few: these decide how many packets an event costs.
    """
    first = [
        Situation(),
        Situation(event="burst"),
        Situation(loss_every_packets=300),
        Situation(queue="codel", ecn=True),
        Situation(event="blackout"),
        Situation(buffer_bdp=0.25),
        Situation(event="quarter rate"),
        Situation(event="four times the rate"),
        Situation(rival="together"),
        Situation(size_kb=1000),
        Situation(buffer_bdp=4.0),
        Situation(reorder_percent=1.0),
        Situation(event="three times the RTT"),
        Situation(loss_percent=1.0),
        Situation(rival="later"),
        Situation(rate_mbps=2.0),
    ]
    ordinary = Situation()
    rest = (ordinary.changed(**{name: value}) for name, values in CHOICES.items() for value in values[1:])
    large = Situation(rate_mbps=20.0, rtt_ms=200.0)
    growth = (large.changed(**{name: value}) for name, value in _GROWTH)
    sizes: tuple[dict[str, float], ...] = ({"rate_mbps": 20.0}, {"buffer_bdp": 4.0}, {"buffer_bdp": 0.25})
    events = (ordinary.changed(event=event, **size) for event in _EVENTS[1:] for size in sizes)
    return list(dict.fromkeys(one for one in (*first, *rest, *growth, *events) if one.is_possible))


def study_toml(
    title: str,
    variants: Mapping[str, Situation],
    contestant: str,
    reference: str,
    *,
    seeds: int,
    receiver: str = OWN,
) -> str:
    """The study of a contestant and of kernel TCP (``stack/cca``) in its place, on these networks.

    All hunts' studies have one name: start offsets are drawn from it, so the kernel's trials are shared.
    """
    one = next(iter(variants.values()))
    head = [
        'name = "hunted"',
        f'title = "{title}"',
        'design = "flows"',
        f"duration_s = {max(variant.duration_s for variant in variants.values()):g}",
        f"seeds = {seeds}",
        f"start_spread_ms = {START_SPREAD_MS}",
        "",
    ]
    quick = "[profile.quick]\nseeds = 1\n"
    line_ups = [
        f'[[lineup]]\nname = "{name}"\nflows = {one.flows_toml(flow, reference, to)}\n'
        for name, flow, to in (("contestant", contestant, receiver), ("kernel", reference, OWN))
    ]
    networks = [variant.network_toml(label) for label, variant in variants.items()]
    return "\n".join([*head, *networks, *line_ups, quick])


def _contestant(name: str) -> str:
    stack, cca = name.split("/")
    return f'stack = "{stack}", cca = "{cca}"'
