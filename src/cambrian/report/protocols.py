"""The transport protocol of a contestant's flow: QUIC or TCP."""

from __future__ import annotations

from typing import Any, cast

from cambrian.judging import families
from cambrian.metrics.payload import Protocol
from cambrian.stacks import catalogue
from cambrian.study.model import Contestant


def protocol_of(study: dict[str, Any], contestant: Contestant) -> Protocol | None:
    """The protocol from ``study.json``, or else from the stack's manifest; None for an unknown stack."""
    family = families.recorded(study, contestant)
    if family is not None:
        return cast("Protocol", family.protocol)
    known = catalogue.load().find(contestant.stack)
    return known.manifest.protocol if known else None
