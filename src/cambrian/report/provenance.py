"""What ran: versions, hashes, seeds and networks, without any detail of the host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import PurePath
from typing import Any

from cambrian.report.collect import Collected
from cambrian.report.layout import NOTHING, Shown
from cambrian.study.limits import bdp_bytes
from cambrian.study.model import Network, Study

#: parts of a trial's environment besides its kernel and stacks
_TESTBED = ("testbed", "native", "python", "pyroute2")
#: what a step of a schedule changes, in words
_CHANGES = {
    "rate_mbps": "{:g} Mbps",
    "rtt_ms": "{:g} ms",
    "loss_percent": "{:g} % loss",
    "return_loss_percent": "{:g} % loss of ACKs",
    "handover_overlap_ms": "receivers get a new address and keep the old one for {:g} ms",
}


@dataclass(frozen=True)
class Fact:
    """One line of the list: a name and its values (several if trials differ)."""

    name: str
    values: tuple[str, ...]


def facts(collected: Collected) -> list[Fact]:
    """Versions, hashes, seeds and clock of everything that ran."""
    manifests = collected.manifests
    listed = [
        _fact("Cambrian", (manifest["cambrian"] for manifest in manifests)),
        _fact(
            "Kernel",
            (_versioned(f"Linux {m['kernel']['version']}", m["kernel"]["sha256"]) for m in manifests),
        ),
    ]
    for stack in sorted({name for manifest in manifests for name in manifest["stacks"]}):
        builds = [manifest["stacks"][stack] for manifest in manifests if stack in manifest["stacks"]]
        listed.append(
            _fact(f"Stack {stack}", (_versioned(build["version"], build["sha256"]) for build in builds))
        )
    listed += [
        _fact(f"Testbed: {part}", (_shown(manifest["environment"].get(part)) for manifest in manifests))
        for part in _TESTBED
    ]
    trials = [manifest["trial"] for manifest in manifests]
    listed += [
        Fact("Seeds", (runs(trial["seed"] for trial in trials),)),
        _fact("Clock", (trial["clock"] for trial in trials)),
        _fact("Duration", (f"{trial['duration_s']:g} s" for trial in trials)),
        Fact("Start offsets", (_offsets(collected),)),
        _fact("Settings of single flows", _settings(collected.study)),
    ]
    return [fact for fact in listed if fact.values]


def runs(numbers: Iterable[int]) -> str:
    """The numbers as runs: ``1–6, 9``."""
    parts: list[list[int]] = []
    for value in sorted(set(numbers)):
        if parts and value == parts[-1][1] + 1:
            parts[-1][1] = value
        else:
            parts.append([value, value])
    return ", ".join(str(low) if low == high else f"{low}–{high}" for low, high in parts) or NOTHING


@dataclass(frozen=True)
class NetworkFacts:
    """One network as a row of the page's table."""

    name: str
    rate: str
    rtt: str
    buffer: str
    queue: str
    loss: str
    other: str


def table(collected: Collected) -> Shown:
    """Every network that ran, as the page's table."""
    headings = ("Network", "Rate", "Base RTT", "Buffer", "Queue", "Loss on the way", "Other")
    rows = tuple(astuple(one) for one in networks(collected))
    return Shown("Networks", headings, (False,) * len(headings), rows, csv="")


def networks(collected: Collected) -> list[NetworkFacts]:
    """Every network that ran."""
    return [_network(network, collected) for network in collected.networks]


def _network(network: Network, collected: Collected) -> NetworkFacts:
    limit = next((cell.buffer_bytes for cell in collected.on(network) if cell.buffer_bytes), None)
    buffer = NOTHING if limit is None else f"{limit:,} bytes"
    rate_mbps: float | None = network.rate_mbps
    rate = f"{rate_mbps:g} Mbps" if rate_mbps is not None else NOTHING
    if network.trace_file is not None:
        # older results lack it
        rate_mbps = collected.raw.get("trace_mean_mbps", {}).get(network.name)
        rate = f"trace {PurePath(network.trace_file).name}"
        rate += f", {rate_mbps:.3g} Mbps on average" if rate_mbps is not None else ""
    if limit is not None and rate_mbps is not None:
        buffer += f" ({limit / bdp_bytes(rate_mbps, network.rtt_ms):.3g} BDP)"
    aqm = [
        f"{word} {value:g} ms"
        for word, value in (("target", network.aqm_target_ms), ("interval", network.aqm_interval_ms))
        if value is not None
    ]
    return NetworkFacts(
        name=network.name,
        rate=rate,
        rtt=f"{network.rtt_ms:g} ms",
        buffer=buffer,
        queue=", ".join([network.queue, *(["ECN"] if network.ecn else []), *aqm]),
        loss=_loss(network),
        other=_other(network),
    )


def _loss(network: Network) -> str:
    parts = []
    if network.loss_percent:
        parts.append(f"{network.loss_percent:g} % at random")
    if network.burst_loss:
        burst = network.burst_loss
        parts.append(
            f"Gilbert–Elliott: good→bad {burst.good_to_bad_percent:g} %, "
            f"bad→good {burst.bad_to_good_percent:g} %, "
            f"loss {burst.loss_in_bad_percent:g} % in bad and {burst.loss_in_good_percent:g} % in good"
        )
    if network.loss_every_packets:
        parts.append(f"exactly one of every {network.loss_every_packets:,} packets of each sender")
    if network.return_loss_percent:
        parts.append(f"ACK path {network.return_loss_percent:g} % at random")
    return ", ".join(parts) or "none"


def _other(network: Network) -> str:
    parts = []
    if network.forward_delay_percent != 50:
        parts.append(f"{network.forward_delay_percent:g} % of the RTT forward")
    for name in ("jitter_ms", "reorder_percent", "duplicate_percent"):
        if value := getattr(network, name):
            word, unit = name.rsplit("_", 1)
            parts.append(f"{word} {value:g} {'ms' if unit == 'ms' else '%'}")
    if network.queue == "red":
        # see docs/explanation/limits.md
        parts.append("RED’s average does not fall while its queue is empty")
    if network.offload:
        parts.append("senders with segmentation offload")
    for change in network.schedule:
        changed = [
            text.format(value)
            for name, text in _CHANGES.items()
            if (value := getattr(change, name)) is not None
        ]
        parts.append(f"at {change.at_s:g} s: {', '.join(changed)}")
    return "; ".join(parts) or NOTHING


def _fact(name: str, values: Iterable[str | None]) -> Fact:
    return Fact(name, tuple(dict.fromkeys(value for value in values if value is not None)))


def _versioned(version: str, sha256: str) -> str:
    return f"{version}, SHA-256 {sha256}"


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    text = str(value)
    return f"SHA-256 {text}" if len(text) == 64 else text


def _offsets(collected: Collected) -> str:
    spread_ms = collected.study.start_spread_ms
    if not spread_ms:
        return "none: all flows start as the study says"
    after = " after its own start" if any(flow.start_ms for flow in collected.study.every_flow) else ""
    text = f"each flow starts at a random time from 0 to {spread_ms:g} ms{after} (uniform)"
    return f"{text}, set by study and seed"


def _settings(study: Study) -> Iterator[str]:
    """A line for each flow with a start, a round trip or a size of its own."""
    lineups = [("", study.flows), *((f"{lineup.name}: ", lineup.flows) for lineup in study.lineups)]
    for lineup, flows in lineups:
        names = [flow.contestant.name for flow in flows]
        for number, flow in enumerate(flows):
            own = [
                text
                for value, text in (
                    (flow.start_ms, f"starts after {flow.start_ms / 1000:g} s"),
                    (flow.rtt_ms, f"has a base RTT of {flow.rtt_ms or 0:g} ms"),
                    (flow.size_bytes, f"carries {flow.size_bytes:,} bytes"),
                    (flow.page, f"loads {flow.page.name if flow.page else ''}"),
                )
                if value
            ]
            if own:
                which = f" (flow {number})" if names.count(names[number]) > 1 else ""
                yield f"{lineup}{names[number]}{which} {', '.join(own)}"
