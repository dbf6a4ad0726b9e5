"""A handover: the receivers' host gets another address, and later loses the one that it had.

As when a phone leaves one network for the next: both addresses work for a while, or, without
an overlap, the old one is gone before anybody knows the new. The link behind them stays the
same, so that nothing differs but the address. What is still sent to an address that is gone
passes the bottleneck, and there is nobody to take it or to say so.
"""

from __future__ import annotations

from cambrian.testbed import addresses as at
from cambrian.testbed.dumbbell import Dumbbell, address, mac


def arrive(net: Dumbbell, number: int) -> None:
    """Handover ``number``: its address is there, and what leaves an unbound socket leaves from it."""
    own, gateway = at.receiver_address(number), at.receiver_gateway(number)
    address(net.router, at.BOTTLENECK_IF, gateway, own, mac(net.receiver, at.RECEIVER_IF))
    address(net.receiver, at.RECEIVER_IF, own, gateway, mac(net.router, at.BOTTLENECK_IF))
    net.receiver.netlink.route("replace", dst="default", gateway=gateway, prefsrc=own)


def leave(net: Dumbbell, number: int) -> None:
    """The address that was there before handover ``number`` is gone, and nothing tells its peers."""
    old = at.receiver_address(number - 1)
    # or this host, which forwards, would send it back
    net.receiver.netlink.route("add", dst=f"{old}/32", type="blackhole")
    net.receiver.netlink.addr(
        "delete", index=net.receiver.index[at.RECEIVER_IF], address=old, prefixlen=at.PREFIX_LENGTH
    )
