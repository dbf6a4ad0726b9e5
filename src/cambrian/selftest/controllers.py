"""Checks that each flow runs its own requested controller, also beside a flow with another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cambrian.selftest.bench import Bench, flow, packets_sha256, trial
from cambrian.selftest.check import Check
from cambrian.stacks import catalogue
from cambrian.study.model import Network
from cambrian.trace.endpoint_events import EndpointEvents

NETWORK = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
#: stack and two of its CCAs that must differ
PAIRS = (
    ("tcp", "cubic", "bbr"),
    ("tcp", "reno", "cubic"),
    ("quinn", "cubic", "reno"),
    ("quic-go", "cubic", "reno"),
    ("google-quiche", "cubic", "bbr"),
    ("google-quiche", "bbr", "bbr2"),
)


def checks(bench: Bench) -> Iterator[Check]:
    """For each pair of CCAs: AA, AB, BA and BB give four different traces, and flows confirm their CCAs."""
    for stack, first, second in PAIRS:
        if stack not in catalogue.load():
            continue
        line_ups = [(first, first), (first, second), (second, first), (second, second)]
        results = bench.run(
            [trial(NETWORK, *(flow(stack, cca) for cca in pair), duration_s=8) for pair in line_ups]
        )
        hashes = {packets_sha256(result) for result in results}
        yield Check(
            f"controllers: {stack} {first} and {second}",
            "AA, AB, BA, BB give 4 traces",
            f"{len(hashes)} traces",
            len(hashes) == len(line_ups),
        )
        if catalogue.load()[stack].manifest.cca_readback:
            confirmed = [
                tuple(_confirmed(result.manifest, number) for number in range(2)) for result in results
            ]
            yield Check(
                f"controllers: {stack} read back",
                " ".join("/".join(pair) for pair in line_ups),
                " ".join("/".join(pair) for pair in confirmed),
                confirmed == line_ups,
            )


def _confirmed(manifest: dict[str, Any], number: int) -> str:
    requested = manifest["trial"]["flows"][number]["contestant"]["cca"]
    return EndpointEvents.of(manifest, f"flow{number}.sender").read_back.name(requested) or "nothing"
