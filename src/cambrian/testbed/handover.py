"""A handover: the receivers' host gets a new address, and later loses the old one.

Like a phone that changes its network: both addresses work for a while, or, without
an overlap, the old address disappears before any peer knows the new one. The link stays the
same, so that only the address differs. Packets to a removed address pass
the bottleneck and are dropped without an answer.
"""

from __future__ import annotations

from cambrian.testbed import addresses as at
from cambrian.testbed.dumbbell import Dumbbell, address, mac


def arrive(net: Dumbbell, number: int) -> None:
    """Add the address of handover ``number``; unbound sockets send from it."""
    own, gateway = at.receiver_address(number), at.receiver_gateway(number)
    address(net.router, at.BOTTLENECK_IF, gateway, own, mac(net.receiver, at.RECEIVER_IF))
    address(net.receiver, at.RECEIVER_IF, own, gateway, mac(net.router, at.BOTTLENECK_IF))
    net.receiver.netlink.route("replace", dst="default", gateway=gateway, prefsrc=own)


def leave(net: Dumbbell, number: int) -> None:
    """Remove the address from before handover ``number``, without telling its peers."""
    old = at.receiver_address(number - 1)
    # without this route the host, which forwards, would send the packets back
    net.receiver.netlink.route("add", dst=f"{old}/32", type="blackhole")
    net.receiver.netlink.addr(
        "delete", index=net.receiver.index[at.RECEIVER_IF], address=old, prefixlen=at.PREFIX_LENGTH
    )
