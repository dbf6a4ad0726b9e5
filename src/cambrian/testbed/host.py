"""The agent on the host's own kernel: carry out one trial's plan in namespaces, then end.

Run by bubblewrap as the first process of its namespaces (:func:`cambrian.trial.wall.host_command`), which has
mounted all folders: ``python -I -S host.py``. Everything that it makes lies in these namespaces, so the
kernel removes it when this process ends, however it ends. With ``--check`` it tries each thing that a trial
needs of the kernel, and prints one JSON object: what is missing → the kernel's reason.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cambrian.testbed.contract import Plan

SOURCE, SITE_PACKAGES = "/run/cambrian/source", "/run/cambrian/site-packages"


def prepare_host(plan: Plan) -> None:
    """Nothing of the plan's is set here: a setting of the host's kernel would reach all of the host."""
    from cambrian.testbed import guest

    del plan
    guest.name_interpreter()


def make_places() -> None:
    """Where namespaces are mounted."""
    Path("/run/netns").mkdir()


def seal() -> None:
    """Programs see processes below /proc, and nothing of the host's kernel.

    Their user may be the host's root, without any capability. The kernel lets that user write its settings,
    such as the program that takes core dumps, for no other reason than who it is.
    """
    from cambrian.testbed import system

    system.mount("proc", "/proc", "proc", data="subset=pid")


def missing() -> dict[str, str]:
    """What this kernel refuses, of all that a trial needs; the first refusals cause the later ones."""
    from cambrian.testbed import addresses as at
    from cambrian.testbed import dumbbell, qdiscs, system

    qdiscs.register()
    made: dict[str, dumbbell.Host] = {}

    def namespaces() -> None:
        for name in (at.ROUTER, at.RECEIVER):
            made[name] = dumbbell.make_host(name, "0")

    def veth() -> None:
        dumbbell.join(made[at.ROUTER], at.BOTTLENECK_IF, made[at.RECEIVER], at.RECEIVER_IF)

    def qdisc(name: str, kind: str, interface: str, **parameters: object) -> None:
        host = made[name]
        host.netlink.tc("add", kind, host.index[interface], handle="1:", **parameters)

    def packet_socket() -> None:
        with system.inside(at.namespace_path(at.ROUTER)):
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()

    def ping_socket() -> None:
        with system.inside(at.namespace_path(at.ROUTER)):
            socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()

    tries: dict[str, Callable[[], None]] = {
        "network namespaces": namespaces,
        "veth": veth,
        "netem": lambda: qdisc(at.RECEIVER, "netem", at.RECEIVER_IF, delay_ns=1_000_000),
        "tbf": lambda: qdisc(
            at.ROUTER, "tbf", at.BOTTLENECK_IF, rate_bps=1e6, burst_bytes=3000, limit_bytes=3000
        ),
        "packet sockets": packet_socket,
        "raw sockets": ping_socket,
    }
    refused: dict[str, str] = {}
    for name, attempt in tries.items():
        try:
            attempt()
        # any error, also one of pyroute2's own: the kernel does not offer this
        except Exception as error:
            refused[name] = f"{type(error).__name__}: {error}"
    return refused


def main() -> None:
    """Carry out the plan, or check the kernel."""
    sys.path[:0] = [SOURCE, SITE_PACKAGES]
    from cambrian.testbed import guest

    if sys.argv[1:] == ["--check"]:
        make_places()
        print(json.dumps(missing()))
    else:
        guest.carry_out(make_places, prepare_host, seal)


if __name__ == "__main__":
    main()
