"""A stored trial's columns → one qlog file a flow, of version 0.3.

That is the version of draft-ietf-quic-qlog-main-schema-02 to -05, and the newest that qvis reads. A file
has two traces: what entered the bottleneck, with the stack's own log among it, and what left it. Times are
milliseconds of the trial's clock since its zero.

The columns know a packet by its place in its flow, so ``packet_number`` counts the flow's packets at the
bottleneck, from 0; it is no number of QUIC's or TCP's.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

import polars as pl

VERSION = "0.3"
#: bytes of a frame before the QUIC packets (Ethernet, IPv4 and UDP) and before the TCP segment
_HEADERS_BYTES = {"QUIC": 14 + 20 + 8, "TCP": 14 + 20}
#: our columns → (qlog's field of recovery:metrics_updated, ours in one of theirs)
_METRICS = {
    "cwnd_bytes": ("congestion_window", 1),
    "ssthresh_bytes": ("ssthresh", 1),
    "in_flight_bytes": ("bytes_in_flight", 1),
    "srtt_us": ("smoothed_rtt", 1000),
    "pacing_bps": ("pacing_rate", 1),
}
#: events of the stack's log that are more than new metrics, in words
_MESSAGES = {
    "loss": "the stack's log: {loss}",
    "retransmit": "the stack's log: a segment is sent again",
    "rto": "the stack's log: the retransmission timer expired",
    "pto": "the stack's log: the probe timer expired",
}
_ON_THE_WIRE = (
    "transport:packet_sent and recovery:packet_lost were seen on the wire, at the bottleneck: a packet "
    "entered it, and its queue dropped it (at the time of its arrival; the time of the drop is unknown). "
    "Packets that the sender's own link lost are in no event."
)
_FROM_THE_LOG = (
    "recovery:metrics_updated, recovery:congestion_state_updated and generic:info come from the stack's "
    "own log ({source}), at the sender."
)
_NO_LOG = "The stack exports no log, so the file has no recovery:metrics_updated."
_LEFT = (
    "transport:packet_received was seen on the wire: a packet left the bottleneck towards the receiver. "
    '"ecn": "CE" says that the bottleneck marked it.'
)
_NUMBERS = (
    "packet_number counts this flow's packets at the bottleneck from 0. raw.length has the {length}; the "
    "packet's type and frames are in no column."
)
_LENGTH = {"QUIC": "bytes of the UDP payload", "TCP": "bytes of the TCP segment with its header"}

Event = dict[str, Any]


@dataclass(frozen=True)
class About:
    """What a flow's file says about itself.

    ``protocol``: QUIC or TCP. ``source``: where its transport rows come from. ``zero_ns``: the trial's zero,
    CLOCK_REALTIME. ``loss``: what an event ``loss`` of that source is.
    """

    trial: str
    flow: int
    name: str
    protocol: str
    source: str
    zero_ns: int
    packets_sha256: str
    loss: str = "a congestion event"


def write(file: TextIO, about: About, packets: pl.DataFrame, transport: pl.DataFrame) -> dict[str, int]:
    """Write one flow's file, an event a line; returns the number of events of each name.

    ``packets`` and ``transport`` are the trial's, of all flows.
    """
    own = packets.filter(pl.col("flow") == about.flow).with_row_index("number")
    log = transport.filter(pl.col("flow") == about.flow)
    said = _FROM_THE_LOG.format(source=about.source) if log.height else _NO_LOG
    numbers = _NUMBERS.format(length=_LENGTH[about.protocol])
    traces = [
        (
            _trace(about, "before the bottleneck", "server", f"{_ON_THE_WIRE} {said} {numbers}"),
            heapq.merge(logged(log, about.loss), entered(own, about.protocol), key=_time),
        ),
        (_trace(about, "after the bottleneck", "client", f"{_LEFT} {numbers}"), left(own, about.protocol)),
    ]
    title = f"flow {about.flow}: {about.name}"
    head = {
        "qlog_version": VERSION,
        "qlog_format": "JSON",
        "title": title,
        "description": f"{title}, of Cambrian's trial {about.trial}, whose packets have the SHA-256 "
        f"{about.packets_sha256}. Times are milliseconds of the trial's clock since its zero.",
    }
    counts: dict[str, int] = {}
    file.write(_json(head)[:-1] + ',"traces":[\n')
    for number, (trace, events) in enumerate(traces):
        file.write(",\n" if number else "")
        begun = False
        for event in events:
            file.write(",\n" if begun else _json(trace)[:-1] + ',"events":[\n')
            file.write(_json(event))
            counts[event["name"]] = counts.get(event["name"], 0) + 1
            begun = True
        # qvis cannot open a trace without events
        file.write("\n]}" if begun else _json({"error_description": f"no event: {trace['title']}"}))
    file.write("\n]}\n")
    return counts


def entered(packets: pl.DataFrame, protocol: str) -> Iterator[Event]:
    """A flow's packets as they entered the bottleneck, and those that its queue dropped."""
    columns = packets.select("number", "arrival_ns", "size_bytes", "outcome")
    for number, arrival_ns, size_bytes, outcome in columns.iter_rows():
        header = _header(number)
        raw = {"length": size_bytes - _HEADERS_BYTES[protocol]}
        yield _event(arrival_ns, "transport:packet_sent", {"header": header, "raw": raw})
        if outcome == "dropped":
            yield _event(arrival_ns, "recovery:packet_lost", {"header": header})


def left(packets: pl.DataFrame, protocol: str) -> Iterator[Event]:
    """A flow's packets as they left the bottleneck, in that order."""
    columns = packets.filter(pl.col("outcome") == "departed").sort("departure_ns", maintain_order=True)
    for number, departure_ns, size_bytes, ce in columns.select(
        "number", "departure_ns", "size_bytes", "ce"
    ).iter_rows():
        raw = {"length": size_bytes - _HEADERS_BYTES[protocol]}
        event = _event(departure_ns, "transport:packet_received", {"header": _header(number), "raw": raw})
        yield event | {"ecn": "CE"} if ce else event


def logged(transport: pl.DataFrame, loss: str) -> Iterator[Event]:
    """A flow's transport rows: metrics that changed, states, and what else the stack reported.

    ``loss``: what an event ``loss`` is.
    """
    known: dict[str, int] = {}
    state: str | None = None
    for row in transport.iter_rows(named=True):
        changed = {
            column: row[column]
            for column in _METRICS
            if row[column] is not None and row[column] != known.get(column)
        }
        known |= changed
        if changed:
            yield _event(row["time_ns"], "recovery:metrics_updated", _metrics(changed))
        if row["state"] is not None and row["state"] != state:
            data = {"old": state, "new": row["state"]} if state is not None else {"new": row["state"]}
            yield _event(row["time_ns"], "recovery:congestion_state_updated", data)
            state = row["state"]
        if (message := _MESSAGES.get(row["event"])) is not None:
            yield _event(row["time_ns"], "generic:info", {"message": message.format(loss=loss)})


def _metrics(changed: Mapping[str, int]) -> dict[str, float]:
    values = {}
    for column, value in changed.items():
        name, in_one = _METRICS[column]
        values[name] = value if in_one == 1 else value / in_one
    return values


def _trace(about: About, place: str, flow: str, description: str) -> dict[str, Any]:
    """A trace without its events; ``flow``: whose sending is packet_sent."""
    return {
        "title": f"flow {about.flow}: {about.name}, {place}",
        "description": description,
        "vantage_point": {"name": place, "type": "network", "flow": flow},
        "common_fields": {
            "protocol_type": [about.protocol],
            "time_format": "relative",
            "reference_time": about.zero_ns / 1e6,
        },
    }


def _header(number: int) -> dict[str, Any]:
    return {"packet_type": "unknown", "packet_number": number}


def _event(time_ns: int, name: str, data: Mapping[str, Any]) -> Event:
    return {"time": time_ns / 1e6, "name": name, "data": data}


def _time(event: Event) -> float:
    time_ms: float = event["time"]
    return time_ms


def _json(value: Mapping[str, Any] | Iterable[Any]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
