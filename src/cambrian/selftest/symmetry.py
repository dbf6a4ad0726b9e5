"""Checks that all positions of the testbed are equal: exchanged flows give exchanged packets.

Balanced trials need this property. Each contestant competes with itself, and the two flows exchange their
positions (address, links, order of start-up, start offset); their packets must be exchanged too.
For the kernel's CUBIC and Reno, whose packets have no relevant random content, exchanging only the start
offsets must do the same. BBR draws the phase at which it begins to probe, and a QUIC stack its keys and
connection IDs: what a position draws depends on what was drawn before.
"""

from __future__ import annotations

from collections.abc import Iterator

from cambrian.metrics import fairness, throughput
from cambrian.metrics.columns import NS_PER_S
from cambrian.selftest.bench import CONTESTANTS, Bench, flow, trial
from cambrian.selftest.check import Check
from cambrian.stacks import catalogue
from cambrian.store.results import TrialResult
from cambrian.study.model import Network, Trial
from cambrian.trace import packets

NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
DURATION_S = 8
#: when the two flows start
EARLY_MS, LATE_MS = 10.0, 400.0
#: controllers of kernel TCP that draw nothing at random
WITHOUT_RANDOMNESS = ("cubic", "reno")


def checks(bench: Bench) -> Iterator[Check]:
    """One row per contestant, and a second one for those that draw nothing at random."""
    known = catalogue.load()
    names = [(stack, cca) for stack, ccas in CONTESTANTS.items() if stack in known for cca in ccas]
    pairs = [(f"{stack} {cca}", *_exchanged(stack, cca)) for stack, cca in names]
    for stack, cca in names:
        if stack == "tcp" and cca in WITHOUT_RANDOMNESS:
            one, other = _exchanged(stack, cca)
            pairs.append((f"{stack} {cca}, only start offsets", one, _in_place(other)))
    found = bench.run([one for _, *both in pairs for one in both], "symmetry")
    for (name, *_), here, there in zip(pairs, found[::2], found[1::2], strict=True):
        yield Check(
            f"symmetry: {name} against itself",
            "exchanged flows give exchanged packets",
            f"shares {_share(here):.6f} and {_share(there):.6f}",
            packets.fingerprint(here.packets) == packets.fingerprint(packets.exchanged(there.packets)),
        )


def _exchanged(stack: str, cca: str) -> tuple[Trial, Trial]:
    one = trial(NETWORK, flow(stack, cca, EARLY_MS), flow(stack, cca, LATE_MS), duration_s=DURATION_S, seed=7)
    flows = (flow(stack, cca, LATE_MS), flow(stack, cca, EARLY_MS))
    return one, one.model_copy(update={"flows": flows, "positions": (1, 0)})


def _in_place(other: Trial) -> Trial:
    """The trial with each flow at its original position; the start offsets stay exchanged."""
    return other.model_copy(update={"positions": (0, 1)})


def _share(result: TrialResult) -> float:
    """Flow 0's share of the bytes that left the bottleneck."""
    left = throughput.throughput(result.packets, 2, 0, round(DURATION_S * NS_PER_S))
    return float(fairness.shares(left["throughput_mbps"].to_list())[0])
