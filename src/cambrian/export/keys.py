"""The flows' TLS secrets of a repeated trial, as one key log of NSS."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cambrian.stacks import catalogue
from cambrian.study.model import Flow
from cambrian.trial.remains import KEYS

#: a line of the format that NSS, Wireshark and SSLKEYLOGFILE share: label, client random, secret
_LINE = re.compile(r"[A-Z][A-Z0-9_]{0,63} [0-9a-f]{64} (?:[0-9a-f]{2}){32,64}")


@dataclass(frozen=True)
class Keys:
    """A key log with the ``count`` secrets of all flows, and for each flow without any the reason."""

    text: str
    count: int
    missing: dict[int, str]


def of(raw: Path, flows: Sequence[Flow]) -> Keys:
    """The secrets that the flows' receivers wrote; other lines of their files are left out."""
    lines: list[str] = []
    count, missing = 0, {}
    for number, flow in enumerate(flows):
        path = raw / f"flow{number}.{KEYS}"
        text = path.read_text(errors="replace") if path.exists() else ""
        found = [line for line in text.splitlines() if _LINE.fullmatch(line)]
        if found:
            count += len(found)
            lines += [f"# flow {number}: {flow.contestant.name}", *found]
        else:
            missing[number] = _why(flow)
    return Keys("".join(f"{line}\n" for line in lines), count, missing)


def _why(flow: Flow) -> str:
    contestant = flow.contestant
    protocol = catalogue.load()[contestant.stack].manifest.protocol
    if protocol == "tcp" and not contestant.tls and flow.page is None:
        return "nothing is encrypted: raw TCP"
    if flow.page is not None and flow.client == "chromium":
        return "Chromium writes none, because it sends other packets then"
    return 'its receiver wrote no secrets; a trial with receiver = "reference" has them'
