"""Builds the trial's network: sender links, one bottleneck, the receivers' host.

Every link has MTU 1500 and no segmentation or receive offload, neighbours are entered
by hand (so that no first packet waits for ARP), and IPv6 is off (so that nothing but the
flows' own packets crosses the bottleneck). If the plan says so, a sender's kernel builds large
packets, and cuts them up after its netem and before the router: the router, its queue and the
capture still see packets of one frame.

Each flow's forward delay, loss, jitter, reordering and duplication lie on its sender's
own link (netem at the sender's interface), *before* the bottleneck's capture point; its
return delay and loss on the router's end of the same link. The bottleneck is tbf with a
bucket of one frame, holding a byte-limited drop-tail queue or an AQM; or, for a
trace-driven link, a TUN pair kept by ``tracelink``.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyroute2.iproute import IPRoute

from cambrian.testbed import addresses as at
from cambrian.testbed import periodic_loss, qdiscs, system

if TYPE_CHECKING:
    from cambrian.testbed.contract import BottleneckPlan, LinkPlan

MTU_BYTES = 1500

#: include/uapi/linux/sockios.h and ethtool.h: the one-word commands that set TSO (segmentation by the
#: device), GSO (by the kernel, just before the device) and GRO
#: (pyroute2's netlink form first asks for every string that the kernel has)
_SIOCETHTOOL = 0x8946
_TSO, _GSO, _GRO = 0x1F, 0x24, 0x2C
_IFREQ_BYTES = 40

#: sysctls of every namespace, with why
NAMESPACE_SYSCTLS = {
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
    # a flow must not learn from the one before it
    "net/ipv4/tcp_no_metrics_save": "1",
    # windows never limit a flow: up to 64 MiB each way
    "net/ipv4/tcp_rmem": "4096 131072 67108864",
    "net/ipv4/tcp_wmem": "4096 65536 67108864",
    "net/ipv4/ip_forward": "1",
    # programs without privileges serve on port 443
    "net/ipv4/ip_unprivileged_port_start": "0",
}
GLOBAL_SYSCTLS = {
    "net/core/rmem_max": "67108864",
    "net/core/wmem_max": "67108864",
    "net/core/netdev_max_backlog": "100000",
}


@dataclass
class Host:
    """One namespace: its netlink socket and its interfaces' indices."""

    name: str
    netlink: IPRoute
    index: dict[str, int] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Where the namespace is mounted."""
        return at.namespace_path(self.name)


def _sysctls(values: dict[str, str]) -> None:
    for name, value in values.items():
        try:
            system.write(f"/proc/sys/{name}", value)
        except FileNotFoundError:
            # a kernel without IPv6 has no knob to switch it off with
            continue


def set_global_limits() -> None:
    """Limits that all namespaces of a kernel share."""
    _sysctls(GLOBAL_SYSCTLS)


def make_host(name: str, tcp_ecn: str) -> Host:
    """A new namespace with loopback up; ``tcp_ecn`` as the sysctl of that name."""
    with system.new_namespace(at.namespace_path(name)):
        _sysctls(NAMESPACE_SYSCTLS | {"net/ipv4/tcp_ecn": tcp_ecn})
        host = Host(name, IPRoute())
    host.netlink.link("set", index=1, state="up")
    return host


def offloads_off(host: Host, interface: str, *, but_gso: bool = False) -> None:
    """No segmentation by the device, no receive coalescing: a queue counts packets.

    UDP segmentation has no switch of its own here; ``gso_max_segs`` of 1 (see :func:`join`)
    makes the kernel cut up any super-packet before the device sees it. ``but_gso`` leaves the
    kernel's own segmentation on.
    """
    with system.inside(host.path), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for command in (_TSO, _GRO) if but_gso else (_TSO, _GSO, _GRO):
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP", interface.encode(), ctypes.addressof(value)).ljust(
                _IFREQ_BYTES, b"\0"
            )
            fcntl.ioctl(control, _SIOCETHTOOL, request)


def join(left: Host, left_if: str, right: Host, right_if: str, *, offload: bool = False) -> None:
    """A veth pair between two hosts, up, without offloads; ``offload``: ``right`` may build large packets."""
    left.netlink.link(
        "add",
        ifname=left_if,
        kind="veth",
        mtu=MTU_BYTES,
        peer={"ifname": right_if, "mtu": MTU_BYTES, "net_ns_fd": right.path},
    )
    for host, name in ((left, left_if), (right, right_if)):
        host.index[name] = host.netlink.link_lookup(ifname=name)[0]
        large = offload and host is right
        # without offload, TCP itself builds packets of one segment at the most
        segments = {} if large else {"gso_max_segs": 1}
        host.netlink.link("set", index=host.index[name], txqlen=1000, state="up", **segments)
        offloads_off(host, name, but_gso=large)


def address(host: Host, interface: str, own: str, peer: str, peer_mac: str) -> None:
    """Give an interface its address and its only neighbour."""
    index = host.index[interface]
    host.netlink.addr("add", index=index, address=own, prefixlen=at.PREFIX_LENGTH)
    host.netlink.neigh("add", dst=peer, lladdr=peer_mac, ifindex=index, state=0x80)  # NUD_PERMANENT


def mac(host: Host, interface: str) -> str:
    """An interface's hardware address."""
    link = host.netlink.get_links(host.index[interface])[0]
    return str(link.get_attr("IFLA_ADDRESS"))


def connect(
    left: Host,
    left_if: str,
    left_ip: str,
    right: Host,
    right_if: str,
    right_ip: str,
    *,
    offload: bool = False,
) -> None:
    """Join two hosts (:func:`join`) and give both ends addresses and neighbours."""
    join(left, left_if, right, right_if, offload=offload)
    address(left, left_if, left_ip, right_ip, mac(right, right_if))
    address(right, right_if, right_ip, left_ip, mac(left, left_if))


@dataclass
class Dumbbell:
    """The trial's hosts: the router, the receivers' host and a sender per flow."""

    router: Host
    receiver: Host
    senders: list[Host]

    def host(self, name: str) -> Host:
        """A host by its namespace's name."""
        return next(host for host in (self.router, self.receiver, *self.senders) if host.name == name)


def lose_every(sender: Host, packets: int) -> None:
    """Every n-th packet vanishes on its way to the sender's link, and the sender cannot tell.

    The action is "stolen", not "drop": a drop on the way out would be reported to the
    sender's TCP, which would take it for congestion of its own device.
    """
    index = sender.index[at.SENDER_IF]
    sender.netlink.tc("add", "clsact", index)
    sender.netlink.tc(
        "add-filter", "matchall", index, parent=periodic_loss.EGRESS, info=periodic_loss.INFO, packets=packets
    )


def build_hosts(flows: list[LinkPlan], tcp_ecn: str) -> Dumbbell:
    """Namespaces and access links (with their netem), without a bottleneck yet."""
    qdiscs.register()
    periodic_loss.register()
    names = [at.ROUTER, at.RECEIVER, *(at.sender_namespace(flow) for flow in range(len(flows)))]
    router, receiver, *senders = [make_host(name, tcp_ecn) for name in names]
    for flow, (sender, links) in enumerate(zip(senders, flows, strict=True)):
        connect(
            router, at.link_if(flow), at.sender_gateway(flow),
            sender, at.SENDER_IF, at.sender_address(flow), offload=links["offload"],
        )  # fmt: skip
        sender.netlink.route("add", dst="default", gateway=at.sender_gateway(flow))
        sender.netlink.tc("add", "netem", sender.index[at.SENDER_IF], handle="1:", **links["forward"])
        router.netlink.tc("add", "netem", router.index[at.link_if(flow)], handle="1:", **links["back"])
        if links["loss_every_packets"]:
            lose_every(sender, links["loss_every_packets"])
    return Dumbbell(router, receiver, senders)


def add_bottleneck(net: Dumbbell, bottleneck: BottleneckPlan) -> None:
    """The shaped link: tbf with a drop-tail queue of bytes, or an AQM inside it."""
    connect(
        net.router, at.BOTTLENECK_IF, at.RECEIVER_GATEWAY,
        net.receiver, at.RECEIVER_IF, at.RECEIVER_ADDRESS,
    )  # fmt: skip
    net.receiver.netlink.route("add", dst="default", gateway=at.RECEIVER_GATEWAY)
    index = net.router.index[at.BOTTLENECK_IF]
    net.router.netlink.tc("add", "tbf", index, handle="1:", **bottleneck["tbf"])
    if aqm := bottleneck.get("aqm"):
        net.router.netlink.tc("add", aqm["kind"], index, parent="1:1", handle="2:", **aqm["parameters"])


def add_trace_link(net: Dumbbell) -> None:
    """Addresses and routes for the TUN pair that ``tracelink`` has made; the ACKs go by a veth."""
    connect(net.router, "return0", "10.8.0.1", net.receiver, "return0", "10.8.0.2")
    for host, name in ((net.router, at.BOTTLENECK_IF), (net.receiver, at.RECEIVER_IF)):
        host.index[name] = host.netlink.link_lookup(ifname=name)[0]
        host.netlink.link("set", index=host.index[name], mtu=MTU_BYTES, state="up")
    net.receiver.netlink.addr(
        "add", index=net.receiver.index[at.RECEIVER_IF], address=at.RECEIVER_ADDRESS, prefixlen=32
    )
    net.router.netlink.route("add", dst=f"{at.RECEIVER_ADDRESS}/32", oif=net.router.index[at.BOTTLENECK_IF])
    net.receiver.netlink.route("add", dst="default", gateway="10.8.0.1", prefsrc=at.RECEIVER_ADDRESS)
    with system.inside(net.receiver.path):
        for name in ("all", at.RECEIVER_IF, "return0"):
            system.write(f"/proc/sys/net/ipv4/conf/{name}/rp_filter", "0")
