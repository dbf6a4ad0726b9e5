"""Gates on a page load: did it end, and did every object arrive by the right protocol?"""

from __future__ import annotations

import polars as pl

from cambrian.metrics.gates.verdict import Gate

#: most missing objects in a reason
_NAMED = 3
#: a load that only needed more time
NOT_IN_TIME = "did not load its page: the trial ended first"


def page_gates(
    label: str, objects: pl.DataFrame, load_ns: int | None, protocol: str, error: str | None
) -> list[Gate]:
    """Gates of one flow's load.

    ``objects`` holds this flow's rows, ``load_ns`` is the time of its load event (None without one),
    ``protocol`` the requested protocol, ``error`` the client's own report of a fault.
    """
    return [
        _load_gate(label, load_ns, error),
        _objects_gate(label, objects),
        _protocol_gate(label, objects, protocol),
    ]


def _load_gate(label: str, load_ns: int | None, error: str | None) -> Gate:
    name = "page load"
    if load_ns is None or error:
        why = f"did not load its page: {error}" if error else NOT_IN_TIME
        text = f"{name}: {label} {why}"
        return Gate(name, False, None, "a load event", text)
    return Gate(name, True, load_ns / 1e9, "a load event", f"{name}: {label} loaded at {load_ns / 1e9:.6f} s")


def _objects_gate(label: str, objects: pl.DataFrame) -> Gate:
    name = "page objects"
    whole = objects.filter("complete").height
    text = f"{name}: {label} got {whole} of {objects.height} objects complete"
    if whole < objects.height:
        missing = objects.filter(~pl.col("complete")).get_column("path").to_list()
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        text += f"; not {', '.join(missing[:_NAMED])}{more}"
    return Gate(name, whole == objects.height, whole, objects.height, text)


def _protocol_gate(label: str, objects: pl.DataFrame, protocol: str) -> Gate:
    name = "page protocol"
    used = sorted(objects.get_column("protocol").drop_nulls().unique().to_list())
    text = f"{name}: {label} should load by {protocol} and used {', '.join(used) or 'nothing'}"
    return Gate(name, used == [protocol], ", ".join(used), protocol, text)
