"""What the kernel counted: qdiscs, interfaces and UDP, per namespace; entries to the kernel, per user."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cambrian.testbed import addresses as at
from cambrian.testbed import system
from cambrian.testbed.dumbbell import Dumbbell, Host

if TYPE_CHECKING:
    from cambrian.testbed.contract import Counters, KernelEntries, QdiscCounters

#: lines of user, kind, count, errors; kernel/patches/0012 has it, other kernels do not
_ENTRIES = Path("/proc/kernel_entries")
#: kinds that are no system call
_PAGE_FAULT, _TRAP = -1, -2


def _qdiscs(host: Host, interface: str) -> list[QdiscCounters]:
    """Counters of each qdisc on an interface, root first.

    A parent's drop counter includes its child's: read the queue's drops from the
    capture, or from the child alone.
    """
    index = host.index[interface]
    rows: list[QdiscCounters] = []
    for message in host.netlink.get_qdiscs(index):
        if message["index"] != index or message.get_attr("TCA_KIND") == "noqueue":
            continue
        nested = message.get_attr("TCA_STATS2")
        basic, queue = nested.get_attr("TCA_STATS_BASIC"), nested.get_attr("TCA_STATS_QUEUE")
        rows.append(
            {
                "kind": message.get_attr("TCA_KIND"),
                "handle": f"{message['handle'] >> 16:x}:",
                "sent_packets": basic["packets"],
                "sent_bytes": basic["bytes"],
                "dropped_packets": queue["drops"],
                "backlog_packets": queue["qlen"],
                "backlog_bytes": queue["backlog"],
            }
        )
    return rows


def _snmp(host: Host) -> dict[str, dict[str, int]]:
    """``/proc/net/snmp`` of a namespace: protocol → counter → value."""
    with system.inside(host.path):
        lines = Path("/proc/thread-self/net/snmp").read_text().splitlines()
    tables: dict[str, dict[str, int]] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        protocol, _, keys = names.partition(":")
        tables[protocol] = dict(zip(keys.split(), map(int, values.partition(":")[2].split()), strict=True))
    return {protocol: tables[protocol] for protocol in ("Ip", "Udp", "Tcp")}


def read(net: Dumbbell) -> Counters:
    """All counters of a trial as JSON-ready data."""
    return {
        "bottleneck": _qdiscs(net.router, at.BOTTLENECK_IF),
        "flows": [
            {
                "forward": _qdiscs(sender, at.SENDER_IF),
                "back": _qdiscs(net.router, at.link_if(flow)),
                "snmp": _snmp(sender),
            }
            for flow, sender in enumerate(net.senders)
        ],
        "receiver": {"snmp": _snmp(net.receiver)},
    }


def kernel_entries() -> dict[int, KernelEntries]:
    """How often each user's programs entered the kernel since boot: number of the user → counts.

    Empty on a kernel that does not count.
    """
    found: dict[int, KernelEntries] = {}
    for line in _ENTRIES.read_text().splitlines() if _ENTRIES.exists() else ():
        user, kind, count, failed = map(int, line.split())
        counts = found.setdefault(user, {"calls": {}, "page_faults": 0, "traps": 0})
        if kind == _PAGE_FAULT:
            counts["page_faults"] = count
        elif kind == _TRAP:
            counts["traps"] = count
        else:
            counts["calls"][str(kind)] = (count, failed)
    return found
