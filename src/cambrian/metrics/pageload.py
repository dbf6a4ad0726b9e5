"""Page loads: their duration, and the arrival of their objects.

Reads the columns ``objects`` and ``page_loads`` (:mod:`cambrian.trace.objects`). Times of a
load count from its navigation's start, in milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from cambrian.metrics.columns import NS_PER_MS


@dataclass(frozen=True)
class PageLoad:
    """One load. ``plt_ms`` is the page load time: from the navigation's start to the load event's.

    ``document_ms``: when the document had arrived. ``first_object_ms`` and ``last_object_ms``:
    when the first and the last image had. ``objects``: images on the page, ``complete``:
    those that arrived whole. None if there is no such object.
    """

    flow: int
    page: str
    client: str
    plt_ms: float | None
    document_ms: float | None
    first_object_ms: float | None
    last_object_ms: float | None
    objects: int
    complete: int


def page_loads(objects: pl.DataFrame, loads: pl.DataFrame) -> list[PageLoad]:
    """Every load of one trial, in order of flow.

    Raises:
        ValueError: a flow has objects and no load, or the other way round.
    """
    flows = loads.get_column("flow").to_list()
    if sorted(set(objects.get_column("flow").to_list())) != sorted(flows):
        raise ValueError("objects and page_loads are not of the same flows")
    return [
        _one(objects.filter(pl.col("flow") == row["flow"]), row)
        for row in loads.sort("flow").iter_rows(named=True)
    ]


def _one(objects: pl.DataFrame, load: dict[str, object]) -> PageLoad:
    began = load["navigation_start_ns"]

    def since_ms(time_ns: object) -> float | None:
        if not isinstance(began, int) or not isinstance(time_ns, int):
            return None
        return (time_ns - began) / NS_PER_MS

    images = objects.filter(pl.col("kind") == "image")
    ends = images.get_column("end_ns")
    document = objects.filter(pl.col("kind") == "document").get_column("end_ns")
    return PageLoad(
        flow=int(str(load["flow"])),
        page=str(load["page"]),
        client=str(load["client"]),
        plt_ms=since_ms(load["load_ns"]),
        document_ms=since_ms(document.max()),
        first_object_ms=since_ms(ends.min()),
        last_object_ms=since_ms(ends.max()),
        objects=images.height,
        complete=images.filter("complete").height,
    )


def change_percent(base_ms: float, other_ms: float) -> float:
    """Page load time change of ``other`` against ``base``: positive where ``other`` is quicker.

    PLTC, equation 4 of M. Zaher and S. Molnár, "On the Impact of the Multiplication Decrease
    Factor of QUIC".

    Raises:
        ValueError: ``base_ms`` is not above 0.
    """
    if base_ms <= 0:
        raise ValueError(f"a page load of {base_ms} ms: must be above 0")
    return (base_ms - other_ms) / base_ms * 100
