"""The clients' events of a page load → ``objects`` and ``page_loads``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from cambrian.pages.site import Resource
from cambrian.trace.packets import TraceError

#: ``objects``: one row per object of a page, fetched or not, the document first (object 0). Times
#: are nanoseconds since the trial's zero, null where nothing came. ``size_bytes`` is what the body
#: has to be, ``received_bytes`` what it was. ``complete``: whole, answered with 200, and decoded.
OBJECTS: dict[str, Any] = {
    "flow": pl.UInt16,
    "object": pl.UInt16,
    "path": pl.String,
    "kind": pl.Enum(("document", "image")),
    "size_bytes": pl.Int64,
    "received_bytes": pl.Int64,
    "status": pl.UInt16,
    "protocol": pl.String,
    "start_ns": pl.Int64,
    "request_ns": pl.Int64,
    "first_byte_ns": pl.Int64,
    "end_ns": pl.Int64,
    "complete": pl.Boolean,
}
#: ``page_loads``: one row per flow that loads a page. Times as above, null where the load failed;
#: ``load_ns`` is the start of the page's load event (a light client's: the end of its last object).
PAGE_LOADS: dict[str, Any] = {
    "flow": pl.UInt16,
    "page": pl.String,
    "client": pl.String,
    "navigation_start_ns": pl.Int64,
    "content_loaded_ns": pl.Int64,
    "load_ns": pl.Int64,
}

_TIMES = ("start_ns", "request_ns", "first_byte_ns", "end_ns")
_OK = 200


def objects(
    flow: int, expected: Iterable[Resource], events: Iterable[Mapping[str, Any]], *, zero_ns: int
) -> pl.DataFrame:
    """One flow's ``objects``: the objects of its page with the client's report of each.

    Raises:
        TraceError: the client reports an object twice, or an object that the page lacks.
    """
    reported: dict[str, Mapping[str, Any]] = {}
    for event in events:
        if event.get("event") == "object":
            if event["path"] in reported:
                raise TraceError(f"flow {flow}: the client reports {event['path']} twice")
            reported[event["path"]] = event
    rows = []
    for number, resource in enumerate(expected):
        event = reported.pop(resource.path, {})
        received = event.get("bytes")
        whole = received == resource.size_bytes and event.get("status") == _OK
        rows.append(
            {
                "flow": flow,
                "object": number,
                "path": resource.path,
                "kind": "image" if number else "document",
                "size_bytes": resource.size_bytes,
                "received_bytes": received,
                "status": event.get("status"),
                "protocol": event.get("protocol"),
                **{name: event[name] - zero_ns if name in event else None for name in _TIMES},
                "complete": whole and bool(event.get("decoded", True)),
            }
        )
    if reported:
        unknown = next(iter(reported))
        raise TraceError(f"flow {flow}: the client reports {unknown}, which the page does not have")
    return pl.DataFrame(rows, schema=OBJECTS)


def page_load(
    flow: int, page: str, client: str, events: Iterable[Mapping[str, Any]], *, zero_ns: int
) -> pl.DataFrame:
    """One flow's row of ``page_loads``."""
    load = next((event for event in events if event.get("event") == "load"), {})
    times = ("navigation_start_ns", "content_loaded_ns", "load_ns")
    row = {name: load[name] - zero_ns if name in load else None for name in times}
    return pl.DataFrame([{"flow": flow, "page": page, "client": client, **row}], schema=PAGE_LOADS)
