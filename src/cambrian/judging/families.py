"""The algorithm that a contestant claims to implement: from its stack's manifest, kept with the results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from cambrian.stacks import catalogue, receivers
from cambrian.study.model import Contestant


@dataclass(frozen=True)
class Family:
    """``reference``: the kernel CCA that it is judged against. ``protocol``: quic or tcp.

    ``other_transport``: its stack names no application protocol of QUIC, so it may be another transport over
    UDP.
    """

    reference: str
    protocol: str
    other_transport: bool = False


def family_of(stack: str, cca: str) -> Family | None:
    """The family by the stack's manifest; None if the stack is unknown, or the kernel has no such CCA."""
    known = catalogue.load().find(stack)
    entry = known.manifest.ccas.get(cca) if known else None
    if known is None or entry is None or entry.reference is None:
        return None
    protocol = known.manifest.protocol
    named = any((protocol, alpn) in receivers.REFERENCES for alpn in known.manifest.alpns)
    return Family(entry.reference, protocol, other_transport=protocol == "quic" and not named)


def record(contestants: Iterable[Contestant]) -> dict[str, dict[str, Any]]:
    """``STACK CCA`` → its family, as ``study.json`` keeps it, so that a report needs no manifests."""
    found = {_key(one.stack, one.cca): family_of(one.stack, one.cca) for one in contestants}
    return {name: asdict(family) for name, family in sorted(found.items()) if family is not None}


def recorded(study: dict[str, Any], contestant: Contestant) -> Family | None:
    """A contestant's family by ``study.json``, or by its manifest if an older one lacks it.

    An older one may lack ``other_transport`` alone. Then the manifest says it; a stack without one may be
    another transport.
    """
    kept = study.get("families", {}).get(_key(contestant.stack, contestant.cca))
    if kept and "other_transport" in kept:
        return Family(**kept)
    known = family_of(contestant.stack, contestant.cca)
    if not kept:
        return known
    return Family(**kept, other_transport=known.other_transport if known else kept["protocol"] == "quic")


def _key(stack: str, cca: str) -> str:
    return f"{stack} {cca}"
