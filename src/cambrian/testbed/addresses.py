"""Names and addresses inside the guest, the same in every trial.

``10.0.F.2`` is flow F's sender, ``10.0.F.1`` the router's end of its link; the
receivers' host is ``10.9.0.2`` behind the bottleneck, whose router end is ``10.9.0.1``;
after its N-th handover ``10.9.N.2`` and ``10.9.N.1``. The capture's filter
(``native/capture.c``) knows the receivers' prefix, ``10.9.0.0/16``.
"""

from __future__ import annotations

ROUTER = "router"
RECEIVER = "receiver"
BOTTLENECK_IF = "bottleneck"
RECEIVER_IF = "eth0"
SENDER_IF = "eth0"

PREFIX_LENGTH = 24

#: port on which every sender listens (each in a namespace of its own)
PORT = 4433


def receiver_address(handovers: int = 0) -> str:
    """IPv4 address of the receivers' host after so many handovers."""
    return f"10.9.{handovers}.2"


def receiver_gateway(handovers: int = 0) -> str:
    """IPv4 address of the router at that host's link."""
    return f"10.9.{handovers}.1"


RECEIVER_ADDRESS = receiver_address()
RECEIVER_GATEWAY = receiver_gateway()


def sender_namespace(flow: int) -> str:
    """Name of the namespace of flow's sender."""
    return f"sender{flow}"


def sender_address(flow: int) -> str:
    """IPv4 address of flow's sender."""
    return f"10.0.{flow}.2"


def sender_gateway(flow: int) -> str:
    """IPv4 address of the router on flow's access link."""
    return f"10.0.{flow}.1"


def link_if(flow: int) -> str:
    """Name of the router's end of flow's access link."""
    return f"link{flow}"


def namespace_path(name: str) -> str:
    """Where a namespace is mounted."""
    return f"/run/netns/{name}"
