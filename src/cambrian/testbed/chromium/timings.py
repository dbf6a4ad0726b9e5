"""What the browser knows of a load: Navigation Timing and Resource Timing → the contract's events.

The browser's clock is CLOCK_REALTIME at its time origin and counts in steps of 100 µs from
there (W3C High Resolution Time, for documents that are not cross-origin isolated).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

#: more entries than any page of ours has; the browser's own limit is 250
_MOST_ENTRIES = 5000
#: run before the page's own scripts
PREPARE = f"performance.setResourceTimingBufferSize({_MOST_ENTRIES})"
#: a JSON text; null while the load event is still being handled
COLLECT = """
(() => {
  const navigation = performance.getEntriesByType("navigation")[0];
  if (!navigation || !navigation.loadEventEnd) return null;
  const decoded = new Set([...document.images].filter(i => i.complete && i.naturalWidth).map(i => i.src));
  const entry = e => ({
    url: e.name, start: e.startTime, request: e.requestStart, first: e.responseStart, end: e.responseEnd,
    status: e.responseStatus, protocol: e.nextHopProtocol, bytes: e.encodedBodySize,
    transfer: e.transferSize, decoded: decoded.has(e.name)
  });
  return JSON.stringify({
    origin: performance.timeOrigin,
    contentLoaded: navigation.domContentLoadedEventStart,
    load: navigation.loadEventStart,
    images: document.images.length,
    document: entry(navigation),
    resources: performance.getEntriesByType("resource").map(entry)
  });
})()
"""


def events(collected: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The ``object`` events, the document's first, and the ``load`` event."""
    origin_ms: float = collected["origin"]
    origin_ns = round(origin_ms * 1000) * 1000

    def at(ms: float) -> int:
        return origin_ns + round(ms * 1e6)

    objects = []
    for kind, entry in [("document", collected["document"])] + [("image", e) for e in collected["resources"]]:
        objects.append(
            {
                "event": "object",
                "path": urlsplit(entry["url"]).path,
                "kind": kind,
                "status": entry["status"],
                "protocol": entry["protocol"],
                "bytes": entry["bytes"],
                "transfer_bytes": entry["transfer"],
                "decoded": kind == "document" or entry["decoded"],
                "start_ns": at(entry["start"]),
                "request_ns": at(entry["request"]),
                "first_byte_ns": at(entry["first"]),
                "end_ns": at(entry["end"]),
            }
        )
    load = {
        "event": "load",
        "navigation_start_ns": origin_ns,
        "content_loaded_ns": at(collected["contentLoaded"]),
        "load_ns": at(collected["load"]),
        "images": collected["images"],
    }
    return objects, load
