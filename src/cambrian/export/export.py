"""Writes the files that other tools read, from a stored trial and, where needed, from its repetition."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import cambrian
from cambrian.export import keys, pcapng, qlog
from cambrian.export.errors import ExportError
from cambrian.export.repeat import repeated
from cambrian.stacks import catalogue
from cambrian.store.results import TrialResult
from cambrian.study.model import Trial
from cambrian.trial import seating

#: the manifest's transport_trace → where a flow's transport rows come from
_SOURCES = {
    "tcp_probe": "the kernel's trace points tcp_probe, tcp_cong_state_set and tcp_retransmit_skb; "
    "bytes_in_flight is snd_nxt - snd_una, so in a recovery it also counts segments that arrived out of "
    "order (SACK) and those that are lost; ssthresh is tcp_current_ssthresh, outside of a recovery at least "
    "3/4 of the window",
    "log": "the transport log of the endpoint",
    "qlog": "its own qlog",
}
#: what the guest's report of a trial with packets has
_OF_THE_GUEST = frozenset({"zero_ns", "end_ns"})
#: the files of a repetition
BEFORE, AFTER, KEY_LOG = "before-queue.pcapng", "after-queue.pcapng", "keys.log"


class Kind(StrEnum):
    """What can be exported."""

    qlog = "qlog"
    pcapng = "pcapng"
    keys = "keys"


@dataclass(frozen=True)
class Written:
    """One file. ``counts``: what is in it. ``note``: what a reader should know."""

    kind: Kind
    path: str
    counts: dict[str, int]
    note: str = ""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def export(
    stored: TrialResult, kinds: Collection[Kind], to: Path, tell: Callable[[str], None]
) -> Iterator[Written]:
    """Write the files of these kinds into the folder ``to``, each whole or not at all.

    ``tell`` gets a line before a long step. pcapng and keys need the trial's repetition.

    Raises:
        ExportError: the trial cannot be exported.
        cambrian.store.reading.Damaged: a file of the trial cannot be used.
    """
    trial = Trial.model_validate(stored.manifest["trial"])
    known = catalogue.ccas()
    for flow in trial.flows:
        if (name := flow.contestant.stack) not in known:
            remedy = known.remedy(name)
            raise ExportError(
                f"trial {stored.id} ran the stack {name}, which is unknown here; remedy: {remedy}"
            )
    if _OF_THE_GUEST - set(stored.manifest["guest"] or ()):
        reasons = "; ".join(stored.verdict["reasons"])
        raise ExportError(f"trial {stored.id} has no packets: {reasons}; remedy: choose a valid trial")
    to.mkdir(parents=True, exist_ok=True)
    if Kind.qlog in kinds:
        yield from _qlogs(stored, trial, to)
    if {Kind.pcapng, Kind.keys} & set(kinds):
        tell(f"repeating trial {stored.id} with whole packets and keys")
        with repeated(stored, to) as again:
            yield from _whole(stored, again, trial, kinds, to)


def _qlogs(stored: TrialResult, trial: Trial, to: Path) -> Iterator[Written]:
    known = catalogue.load()
    for number, flow in enumerate(trial.flows):
        manifest = known[flow.contestant.stack].manifest
        about = qlog.About(
            trial=stored.id,
            flow=number,
            name=flow.contestant.name,
            protocol=manifest.protocol.upper(),
            source=_SOURCES.get(manifest.transport_trace, "none"),
            zero_ns=stored.manifest["guest"]["zero_ns"],
            packets_sha256=stored.manifest["packets_sha256"],
            # qlog has no event for a congestion event
            loss="a lost packet" if manifest.transport_trace == "qlog" else "a congestion event",
        )
        path = to / f"flow{number}.qlog"
        with _whole_or_not(path) as fresh, fresh.open("w") as file:
            counts = qlog.write(file, about, stored.packets, stored.transport)
        own = stored.folder / "raw" / f"flow{number}.qlog"
        note = f"the stack's own qlog is in {own}" if own.is_dir() else ""
        if manifest.transport_trace == "none":
            note = "no log of the stack: packets only"
        yield Written(Kind.qlog, str(path), counts, note)


def _whole(
    stored: TrialResult, again: TrialResult, trial: Trial, kinds: Collection[Kind], to: Path
) -> Iterator[Written]:
    secrets = keys.of(again.folder / "raw", trial.flows)
    lacking = "; ".join(f"flow {number}: {why}" for number, why in secrets.missing.items())
    if Kind.keys in kinds:
        path = to / KEY_LOG
        with _whole_or_not(path) as fresh:
            fresh.write_text(secrets.text)
        yield Written(Kind.keys, str(path), {"secrets": secrets.count}, lacking)
        lacking = ""
    if Kind.pcapng not in kinds:
        return
    guest = again.manifest["guest"]
    capture = pcapng.Capture(
        trial=stored.id,
        flows=[flow.contestant.name for flow in trial.flows],
        zero_ns=guest["zero_ns"],
        keys=secrets.text.encode(),
        software=f"Cambrian {cambrian.__version__}",
        kernel=f"User-mode Linux {guest['kernel']}",
    )
    places = seating.by_flow(range(len(trial.flows)), trial)
    flow_of = {position: flow for flow, position in enumerate(places)}
    span = {"zero_ns": guest["zero_ns"], "end_ns": guest["end_ns"]}
    raw = again.folder / "raw"
    with _whole_or_not(to / BEFORE) as fresh:
        seen = pcapng.read(raw / "bottleneck.router.pcap", flow_of, **span)
        counts = pcapng.before_the_queue(fresh, capture, seen, again.packets)
    yield Written(Kind.pcapng, str(to / BEFORE), counts, lacking)
    with _whole_or_not(to / AFTER) as fresh:
        seen = pcapng.read(raw / "bottleneck.receiver.pcap", flow_of, **span)
        counts = pcapng.after_the_queue(fresh, capture, seen)
    yield Written(Kind.pcapng, str(to / AFTER), counts)


@contextmanager
def _whole_or_not(path: Path) -> Iterator[Path]:
    """A temporary file that becomes ``path`` if the body succeeds."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".export-") as scratch:
        fresh = Path(scratch) / path.name
        yield fresh
        fresh.replace(path)
