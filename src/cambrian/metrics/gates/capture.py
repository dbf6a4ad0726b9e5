"""Gates on the capture: was every packet seen, and is each frame one packet?"""

from __future__ import annotations

import polars as pl

from cambrian.metrics.columns import int64
from cambrian.metrics.gates.verdict import Gate

#: Largest frame as a queue counts it: 1500 bytes of IP and 14 of Ethernet.
FRAME_BYTES = 1514


#: packets that the kernel may count and the capture may miss: the probes of the base RTT, before its start,
#: and those of the last instant. The share is for a capture in real time
_UNCAPTURED_PACKETS = 16
_UNCAPTURED_SHARE = 0.001


def capture_gate(lost_packets: int | None) -> Gate:
    """No capture ring may have overrun: a missing record is a wrong drop or a wrong delay.

    ``lost_packets``: None if the capture did not end by itself, so its records may be incomplete.
    """
    name = "capture"
    if lost_packets is None:
        return Gate(name, False, None, 0, f"{name}: it was ended before it was complete")
    return Gate(
        name, lost_packets == 0, lost_packets, 0, f"{name}: {lost_packets} packet(s) lost by the capture"
    )


def captured_gate(label: str, captured_packets: int, counted_packets: int, late_packets: int = 0) -> Gate:
    """The capture must have one record for each packet of a flow that the kernel counted.

    ``captured_packets``: the flow's arrivals at the bottleneck before the trial's end; ``counted_packets``:
    what the qdisc of its own link sent; ``late_packets``: arrivals after the end, until the kernel's count
    was read. In virtual time that takes no time.
    """
    name = "capture"
    allowed = _UNCAPTURED_PACKETS + round(_UNCAPTURED_SHARE * counted_packets)
    text = (
        f"{name}: it has {captured_packets} packets of {label}, and the kernel counted {counted_packets} on "
        "its link"
    )
    held = -allowed <= counted_packets - captured_packets <= allowed + late_packets
    return Gate(name, held, captured_packets, counted_packets, text)


def offload_gate(packets: pl.DataFrame, frame_bytes: int = FRAME_BYTES) -> Gate:
    """No frame may exceed the MTU's: segmentation offload would make the queue count super-packets."""
    name = "offload"
    sizes = int64(packets, "size_bytes")
    largest = int(sizes.max(initial=0))
    count = int((sizes > frame_bytes).sum())
    text = f"{name}: largest frame {largest} bytes, at most {frame_bytes} allowed"
    if count:
        text += f"; {count} packet(s) exceed it: switch segmentation offload off"
    return Gate(name, count == 0, largest, frame_bytes, text)


def segmentation_gate(label: str, datagrams: int, link_packets: int) -> Gate:
    """A sender must hand the kernel packets, not super-packets that are cut up behind its queue.

    ``datagrams``: what the sender's UDP sent, one for each ``sendmsg`` buffer; ``link_packets``:
    packets that reached its link, with the segments of a super-packet. Loss before the bottleneck
    would drop whole super-packets, in bursts that are not configured.
    """
    name = "segmentation"
    # the first probes (ICMP) and the kernel's own few packets are no datagrams
    allowed = datagrams + 32
    text = f"{name}: {label} sent {datagrams} datagrams as {link_packets} packets"
    if link_packets > allowed:
        text += "; switch UDP segmentation offload off in the stack, if it uses it"
    return Gate(name, link_packets <= allowed, link_packets, datagrams, text)


def receive_gate(dropped_datagrams: int) -> Gate:
    """No receiver's socket may overflow: such a loss is the testbed's, not the network's."""
    name = "receive buffer"
    text = f"{name}: {dropped_datagrams} datagram(s) dropped because a receiver's socket was full"
    return Gate(name, dropped_datagrams == 0, dropped_datagrams, 0, text)


def receive_window_gate(label: str, limited_us: int, busy_us: int) -> Gate:
    """A receiver's window may limit its sender for at most a hundredth of the time."""
    name = "receive window"
    share = limited_us / busy_us if busy_us else 0.0
    text = f"{name}: {label} was limited by it for {share:.1%} of the time, at most 1% allowed"
    return Gate(name, share <= 0.01, share, 0.01, text)
