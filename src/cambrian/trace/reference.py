"""docs/reference/parquet.md: the columns of a trial's parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cambrian.metrics.columns import PACKETS
from cambrian.trace import objects, schema

_HEAD = """# Files of a results directory

`cambrian run` leaves one folder for each trial. Times count in nanoseconds from the trial's zero. The unit is
at the end of a column's name. A cell is null where the source has no value. `cambrian.load` joins the trials
and adds contestant, network and seed ([read the data](../how-to/read-the-data.md)).

`make reference` generates this page from `src/cambrian/trace/`.

| file | content |
|---|---|
| `study.json` | the study, its groups and the identities of their trials |
| `trials/ID/manifest.json` | what ran: the trial, versions, hashes, the guest's counters |
| `trials/ID/verdict.json` | valid or not, the reasons, every gate, how each flow ended |
| `trials/ID/plan.json` | what the guest carried out: command lines, queues, times |
| `trials/ID/packets.parquet` | every packet at the bottleneck, data direction |
| `trials/ID/transport.parquet` | every event that a sender exported |
| `trials/ID/objects.parquet`, `page_loads.parquet` | only of trials that load a page |
| `trials/ID/logs/` | what the programs printed |
| `trials/ID/raw/` | only with `raw_capture`: the captures and the stacks' own logs |
| `trials/ID/SHA256SUMS` | the hash of each file of the trial, for `cambrian doctor` and `sha256sum --check` |
| `frames/` | observations and tables, computed once; can be deleted at any time |
| `report/` | the page, its figures and trials, its tables as CSV; `--figures` adds PNG, SVG and PDF |
| `no-study.txt` | trials of `cambrian hunt`, `trial`, `stacks test` and of pytest are of no study |
| `damaged/` | what `cambrian doctor --mend` moved away |
| `.lock` | a run locks it, so that no other run uses the folder |
"""
_TITLES = {
    "packets": (
        "packets.parquet",
        "one row for each packet that reached the bottleneck, in order of arrival",
    ),
    "transport": ("transport.parquet", "one row for each event of a sender that exports its state"),
    "objects": ("objects.parquet", "one row for each object of a page; object 0 is the document"),
    "page_loads": ("page_loads.parquet", "one row for each flow that loads a page"),
}
_MEANINGS: Mapping[str, Mapping[str, str]] = {
    "packets": {
        "flow": "number of the flow, from 0",
        "arrival_ns": "when the packet reached the queue",
        "departure_ns": "when it left the bottleneck; null unless it departed",
        "size_bytes": "frame as the queue counts it: IP packet + 14 bytes",
        "outcome": "its fate; `queued`: still in the queue at the trial's end",
        "ce": "the bottleneck marked it with ECN's CE; marks from elsewhere are not counted",
    },
    "transport": {
        "flow": "number of the flow, from 0",
        "time_ns": "when the event happened",
        "event": "kind of event, such as `ack`, `loss`, `retransmit`, `rto`, `pto`",
        "cwnd_bytes": "congestion window",
        "ssthresh_bytes": "slow-start threshold; of kernel TCP what `tcp_current_ssthresh` gives: "
        "outside of a recovery at least 3/4 of the window",
        "in_flight_bytes": "bytes in flight, by the stack's count; of kernel TCP `snd_nxt − snd_una`, "
        "so in a recovery it also counts segments that arrived out of order (SACK) and those that are lost",
        "srtt_us": "smoothed round-trip time",
        "pacing_bps": "pacing rate",
        "state": "state of the controller, in the stack's own word",
    },
    "objects": {
        "flow": "number of the flow, from 0",
        "object": "number of the object in the document's order",
        "path": "its path on the server",
        "kind": "document or image",
        "size_bytes": "size of its body",
        "received_bytes": "bytes of its body that arrived",
        "status": "HTTP status",
        "protocol": "HTTP version",
        "start_ns": "the client knew of it",
        "request_ns": "the client asked for it",
        "first_byte_ns": "its first byte arrived",
        "end_ns": "its last byte arrived",
        "complete": "whole, status 200, and decoded",
    },
    "page_loads": {
        "flow": "number of the flow, from 0",
        "page": "name of the page",
        "client": "`chromium` or `light`",
        "navigation_start_ns": "the navigation started",
        "content_loaded_ns": "the document's content was there",
        "load_ns": "start of the load event; light client: end of the last object",
    },
}


def schemas() -> dict[str, dict[str, Any]]:
    """File → column → polars type."""
    return {
        "packets": PACKETS,
        "transport": schema.TRANSPORT,
        "objects": objects.OBJECTS,
        "page_loads": objects.PAGE_LOADS,
    }


def page() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for name, columns in schemas().items():
        file, what = _TITLES[name]
        parts.append(
            f"\n## {file}\n\n{what[0].upper()}{what[1:]}.\n\n| column | type | meaning |\n|---|---|---|\n"
        )
        parts += [
            f"| `{column}` | {_type(kind)} | {_MEANINGS[name][column]} |\n"
            for column, kind in columns.items()
        ]
    return "".join(parts)


def _type(kind: Any) -> str:
    values = getattr(kind, "categories", None)
    return ", ".join(f"`{value}`" for value in values) if values is not None else str(kind)
