"""Identity of a flow, and what it transfers."""

from __future__ import annotations

from cambrian.measure import recovery
from cambrian.measure.flow_window import FlowWindow
from cambrian.measure.quantity import FLOAT, INTEGER, TEXT, TRUTH, Quantity


def _tcp_connections(window: FlowWindow) -> int | None:
    counted = recovery.tcp_counters(window.whole.result, window.number)
    # one on its own loopback interface counts as accepted and as opened
    return max(counted.get("PassiveOpens", 0), counted.get("ActiveOpens", 0)) or None


#: less is a handshake, requests and their repetitions
_FEWEST_BACK_BYTES = 1_000_000


def _back_percent(window: FlowWindow) -> float | None:
    counted = window.whole.result.manifest["guest"]["counters"]["flows"][window.number]
    there, back = (
        sum(row["sent_bytes"] for row in counted[way] if row["kind"] == "netem")
        for way in ("forward", "back")
    )
    return 100 * back / there if there and back >= _FEWEST_BACK_BYTES else None


QUANTITIES = (
    Quantity("flows", "number of flows in the trial", INTEGER, "trial"),
    Quantity("flow", "its number in the trial", INTEGER),
    Quantity(
        "position",
        "its place in the testbed, which decides its start offset and its link's random losses",
        INTEGER,
    ),
    Quantity("contestant", "its label", TEXT),
    Quantity("against", "the other flow's contestant, in a trial of two flows", TEXT),
    Quantity("stack", "the sender's stack", TEXT),
    Quantity("cca", "the controller asked for", TEXT),
    Quantity("stack_version", "as the stack's manifest has it", TEXT),
    Quantity("kernel_version", "the guest's Linux", TEXT),
    Quantity("confirmed_cca", "read back from the stack, or null", TEXT),
    Quantity("protocol", "quic, tcp", TEXT),
    Quantity(
        "tcp_connections",
        "TCP connections that the sender's programs accepted in the trial, or opened, if those are more; "
        "null without one",
        INTEGER,
        window=_tcp_connections,
    ),
    Quantity(
        "back_percent",
        "bytes of all frames from its client, in % of those from its server; above 100 the data goes the "
        "wrong way; null if less than 1 MB came from its client",
        FLOAT,
        window=_back_percent,
    ),
    Quantity("receiver", "whose client receives: own, or a stack's name", TEXT),
    Quantity("tls", "TCP with TLS", TRUTH),
    Quantity("cpu_per_packet_us", "CPU time of a slow receiver for each packet", FLOAT),
    Quantity("cpu_per_syscall_us", "CPU time of a slow receiver for each system call", FLOAT),
    Quantity("flow_rtt_ms", "its own base round-trip time, else the network's", FLOAT),
    Quantity("start_ms", "when its client starts, after the trial's zero", FLOAT),
    Quantity("size_bytes", "null for an endless flow (and for pages)", INTEGER),
    Quantity("page", "name of the page that it loads", TEXT),
    Quantity("page_objects", "number of images of the page", INTEGER),
    Quantity("page_bytes", "bytes of these images", INTEGER),
    Quantity("page_client", "what loads the page: chromium, light", TEXT),
)
