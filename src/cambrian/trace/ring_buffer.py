"""The kernel's binary trace ring (``trace_pipe_raw``), page by page → arrays of fixed-size events.

Layout: Linux ``include/linux/ring_buffer.h`` and ``kernel/trace/ring_buffer.c``. A page has
a 64-bit time stamp, a 64-bit length of its data, then events: a 32-bit head (5 bits of type,
27 of time since the event before) and data in words of 4 bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PAGE_BYTES = 4096
_HEAD_BYTES = 16
_LENGTH_MASK = (1 << 27) - 1
_LONGEST_DATA = 28
_PADDING, _TIME_EXTEND, _TIME_STAMP = 29, 30, 31


@dataclass(frozen=True)
class Format:
    """One trace point's record: its number and a dtype with the fields asked for."""

    number: int
    dtype: np.dtype[np.void]


def parse_format(text: str, fields: dict[str, tuple[str, str, int]]) -> Format:
    """Read a trace point's ``format`` file.

    Parameters:
        fields: our name → (the record's field, numpy format, bytes to skip in the field).

    Raises:
        ValueError: the text has no number, or lacks a field.
    """
    number = re.search(r"^ID: (\d+)$", text, re.M)
    if number is None:
        raise ValueError("a trace point's format has no ID")
    found = {
        match[1]: (int(match[2]), int(match[3]))
        for match in re.finditer(r"field:[^;]*?(\w+)(?:\[\d+\])?;\s*offset:(\d+);\s*size:(\d+);", text)
    }
    missing = [field for field, _, _ in fields.values() if field not in found]
    if missing:
        raise ValueError(
            f"trace point {number[1]} has no field {', '.join(missing)}; it has {', '.join(found)}"
        )
    dtype = np.dtype(
        {
            "names": list(fields),
            "formats": [kind for _, kind, _ in fields.values()],
            "offsets": [found[field][0] + skip for field, _, skip in fields.values()],
            "itemsize": max(offset + size for offset, size in found.values()),
        }
    )
    return Format(int(number[1]), dtype)


def _page_events(page: bytes) -> tuple[list[int], list[int]]:
    """Times (ns) and data offsets of a page's events."""
    base_ns = int.from_bytes(page[:8], "little")
    # the upper bits of the length are flags (events were lost before this page)
    length = int.from_bytes(page[8:16], "little") & (PAGE_BYTES * 16 - 1)
    words = np.frombuffer(page, "<u4")
    times, offsets = [], []
    now, at, end = base_ns, _HEAD_BYTES, min(_HEAD_BYTES + length, PAGE_BYTES)
    while at + 4 <= end:
        head = int(words[at // 4])
        kind, delta = head & 31, head >> 5
        if kind == _PADDING:
            if delta == 0:
                break
            now += delta
            at += 4 + int(words[at // 4 + 1])
        elif kind == _TIME_EXTEND:
            now += delta + (int(words[at // 4 + 1]) << 27)
            at += 8
        elif kind == _TIME_STAMP:
            # an absolute stamp carries 59 bits; the page's own has the rest
            now = (base_ns & ~((1 << 59) - 1)) | delta | (int(words[at // 4 + 1]) << 27)
            at += 8
        else:
            now += delta
            if kind == 0:
                size = int(words[at // 4 + 1])
                times.append(now)
                offsets.append(at + 8)
                at += 4 + size
            else:
                times.append(now)
                offsets.append(at + 4)
                at += 4 + kind * 4
    return times, offsets


def lost_events(data: bytes) -> bool:
    """Whether the ring overflowed before any page."""
    flags = np.frombuffer(data, "<u8").reshape(-1, PAGE_BYTES // 8)[:, 1] >> 30
    return bool((flags & 3).any())


def events(data: bytes, formats: list[Format]) -> dict[int, tuple[NDArray[np.int64], NDArray[np.void]]]:
    """Trace point number → (times in ns of the trace's clock, records), in order of time.

    ``data`` is whole pages as read from ``trace_pipe_raw``.
    """
    wanted = {item.number: item.dtype for item in formats}
    longest = max((dtype.itemsize for dtype in wanted.values()), default=0)
    padded = data + bytes(longest)
    all_times: list[int] = []
    all_offsets: list[int] = []
    for start in range(0, len(data) - PAGE_BYTES + 1, PAGE_BYTES):
        times, offsets = _page_events(data[start : start + PAGE_BYTES])
        all_times += times
        all_offsets += [start + offset for offset in offsets]
    when = np.array(all_times, np.int64)
    where = np.array(all_offsets, np.int64)
    raw = np.frombuffer(padded, np.uint8)
    numbers = raw[where].astype(np.int64) | (raw[where + 1].astype(np.int64) << 8) if len(where) else where
    result = {}
    for number, dtype in wanted.items():
        chosen = np.flatnonzero(numbers == number)
        rows = where[chosen][:, None] + np.arange(dtype.itemsize)[None, :]
        result[number] = (when[chosen], np.ascontiguousarray(raw[rows]).view(dtype).reshape(-1))
    return result
