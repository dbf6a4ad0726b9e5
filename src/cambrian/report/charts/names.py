"""Columns in words: ``rate_mbps`` → ``Rate (Mbps)``; file names from headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import polars as pl

#: characters of a file's name that is made from a heading
_LONGEST_SLUG = 40
_UNITS = {"mbps": "Mbps", "ms": "ms", "s": "s", "us": "µs", "percent": "%", "bytes": "bytes", "bdp": "BDP",
          "packets": "packets"}  # fmt: skip
_WORDS = {
    "rtt_ms": "RTT (ms)",
    "loss_percent": "Random loss (%)",
    "return_loss_percent": "Random loss of ACKs (%)",
    "queue_loss_percent": "Queue loss (%)",
    "plt_ms": "Page load time (ms)",
    "cca": "Congestion control",
    "jain": "Jain’s index",
    "lineup": "Line-up",
    "side": "Side",
    "payload_mbps": "Payload throughput (Mbps)",
    "buffer_bdp": "Buffer (BDP)",
}


def heading(column: str, labels: Mapping[str, str] | None = None) -> str:
    """The heading of ``column``; ``labels`` take precedence."""
    if labels and column in labels:
        return labels[column]
    if column in _WORDS:
        return _WORDS[column]
    stem, _, unit = column.rpartition("_")
    if stem and unit in _UNITS:
        return f"{_sentence(stem)} ({_UNITS[unit]})"
    return _sentence(column)


def value(column: str, content: object, labels: Mapping[str, str] | None = None) -> str:
    """A panel's or a series' value in words: ``25 Mbps``; a name stays as it is."""
    if content is None:
        return f"{heading(column, labels)}: not set"
    if isinstance(content, float):
        content = f"{content:g}"
    if isinstance(content, str) and not content.replace(".", "").replace("-", "").isdigit():
        return content
    name = heading(column, labels)
    found = re.fullmatch(r"(.*) \(([^()]*)\)", name)
    return f"{found[1]} {content} {found[2]}" if found else f"{name} {content}"


def slug(text: str) -> str:
    """Lower-case letters, digits and hyphens: a file's or an anchor's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "section"


def short_slug(text: str) -> str:
    """A slug of whole words for a file's name."""
    whole = slug(text)
    return whole if len(whole) <= _LONGEST_SLUG else whole[: _LONGEST_SLUG + 1].rpartition("-")[0]


def _sentence(name: str) -> str:
    words = name.replace(".", " ").replace("_", " ")
    return words[:1].upper() + words[1:]


def panels(
    frame: pl.DataFrame, values: pl.Series | None, labels: Mapping[str, str]
) -> Iterator[tuple[pl.DataFrame, str | None]]:
    """The rows of each panel and its title, a panel for each value of the column ``values``.

    Without such a column: one panel with all rows and no title.
    """
    if values is None:
        yield frame, None
        return
    for one in values.unique().sort().to_list():
        yield frame.filter(pl.col(values.name).eq_missing(one)), value(values.name, one, labels)
