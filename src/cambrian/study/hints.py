"""Remedies for wrong names and units.

For a key in the wrong unit (``rtt_s``, ``rate_kbps``, ``delay_ms``, ``bandwidth``) the
remedy names the right key and, if it can be computed, the value.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

#: dimension → unit → factor to the base unit
_UNITS: dict[str, dict[str, float]] = {
    "time": {"ns": 1e-9, "us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1.0, "sec": 1.0,
             "secs": 1.0, "second": 1.0, "seconds": 1.0, "min": 60.0, "minutes": 60.0},
    "rate": {"bps": 1.0, "bit": 1.0, "kbps": 1e3, "kbit": 1e3, "mbps": 1e6, "mbit": 1e6,
             "gbps": 1e9, "gbit": 1e9},
    "size": {"bits": 0.125, "b": 1.0, "byte": 1.0, "bytes": 1.0, "kb": 1e3, "kib": 1024.0, "mb": 1e6,
             "mib": 1024.0**2, "gb": 1e9, "gib": 1024.0**3},
    "share": {"percent": 1.0, "pct": 1.0, "fraction": 100.0, "ratio": 100.0, "probability": 100.0,
              "prob": 100.0},
}  # fmt: skip

_UNIT_NAMES = {
    "ms": "milliseconds",
    "s": "seconds",
    "mbps": "megabits a second",
    "bytes": "bytes",
    "percent": "percent",
    "bdp": "bandwidth-delay products",
    "packets": "full-size packets",
}


class _Meaning(NamedTuple):
    """The key that a common name stands for, the factor from that name's value to the key's, and a note."""

    key: str
    factor: float = 1.0
    note: str = ""


_TWICE = "the whole round trip, twice a one-way delay"

_SYNONYMS: dict[str, tuple[_Meaning, ...]] = {
    "rtt": (_Meaning("rtt_ms"),),
    "delay": (_Meaning("rtt_ms", 2.0, _TWICE),),
    "owd": (_Meaning("rtt_ms", 2.0, _TWICE),),
    "latency": (_Meaning("rtt_ms", 2.0, _TWICE),),
    "rate": (_Meaning("rate_mbps"),),
    "bandwidth": (_Meaning("rate_mbps"),),
    "bw": (_Meaning("rate_mbps"),),
    "capacity": (_Meaning("rate_mbps"),),
    "throughput": (_Meaning("rate_mbps"),),
    "speed": (_Meaning("rate_mbps"),),
    "loss": (_Meaning("loss_percent"),),
    "plr": (_Meaning("loss_percent"),),
    "return_loss": (_Meaning("return_loss_percent"),),
    "jitter": (_Meaning("jitter_ms"),),
    "reorder": (_Meaning("reorder_percent"),),
    "duplicate": (_Meaning("duplicate_percent"),),
    "forward_delay": (_Meaning("forward_delay_percent"),),
    "buffer": (_Meaning("buffer_bytes"), _Meaning("buffer_bdp")),
    "buffer_size": (_Meaning("buffer_bytes"), _Meaning("buffer_bdp")),
    "queue_size": (_Meaning("buffer_bytes"), _Meaning("buffer_bdp")),
    "queue_length": (_Meaning("buffer_packets"),),
    "limit": (_Meaning("buffer_packets"),),
    "aqm_target": (_Meaning("aqm_target_ms"),),
    "target": (_Meaning("aqm_target_ms"),),
    "aqm_interval": (_Meaning("aqm_interval_ms"),),
    "interval": (_Meaning("aqm_interval_ms"),),
    "duration": (_Meaning("duration_s"),),
    "length": (_Meaning("duration_s"),),
    "warmup": (_Meaning("measured_from_s"),),
    "warm_up": (_Meaning("measured_from_s"),),
    "start_spread": (_Meaning("start_spread_ms"),),
    "start": (_Meaning("start_ms"),),
    "at": (_Meaning("at_s"),),
    "time": (_Meaning("at_s"), _Meaning("duration_s")),
    "size": (_Meaning("size_bytes"),),
    "bytes": (_Meaning("size_bytes"),),
    "congestion_control": (_Meaning("cca"),),
    "cc": (_Meaning("cca"),),
    "algorithm": (_Meaning("cca"),),
    "implementation": (_Meaning("stack"),),
    "trace": (_Meaning("trace_file"),),
    "aqm": (_Meaning("queue"),),
    "qdisc": (_Meaning("queue"),),
    "repetitions": (_Meaning("seeds"),),
    "trials": (_Meaning("seeds"),),
    "runs": (_Meaning("seeds"),),
    "networks": (_Meaning("network"),),
    "contestants": (_Meaning("contestant"),),
    "flows": (_Meaning("flow"),),
    "profiles": (_Meaning("profile"),),
    "half_width": (
        _Meaning("half_width_mbps"),
        _Meaning("half_width_plt_ms"),
        _Meaning("half_width_share_percent"),
    ),
}


_RETURN = "only the bottleneck has a rate and a queue; the return path has delay and return_loss_percent"
_NO_POLICER = (
    "the bottleneck queues packets and sends them one by one at its rate; a policer is not modelled; the "
    "nearest is a small buffer_packets"
)
#: words of a key → why no key has its meaning, and what comes nearest
_NOT_MODELLED: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("mtu",),
        "every link takes packets of 1500 bytes; a stack may have an option for its own",
    ),
    (("burst", "bytes"), _NO_POLICER),
    (("policer",), _NO_POLICER),
    (("return", "rate"), _RETURN),
    (("return", "buffer"), _RETURN),
    (("uplink",), _RETURN),
    (("upload",), _RETURN),
    (("reorder", "gap"), "a reordered packet skips the forward delay; give reorder_percent or jitter_ms"),
    (
        ("receive", "window"),
        "a receiver's window is not limited; a contestant's receiver_cpu slows one",
    ),
)


def not_modelled(key: str) -> str | None:
    """What comes nearest to a key whose meaning no key has; None for others."""
    words = set(key.lower().replace("-", "_").split("_"))
    if "loss" in words:
        return None
    return next((nearest for these, nearest in _NOT_MODELLED if set(these) <= words), None)


def near(word: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The ``most`` known names most similar to ``word``, best first; none with a similarity below 0.6."""
    by_folded = {name.lower(): name for name in known}
    return [by_folded[one] for one in difflib.get_close_matches(word.lower(), by_folded, most, cutoff=0.6)]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name most similar to ``word``; None if the similarity of all is below 0.6."""
    return next(iter(near(word, known, 1)), None)


def choices(known: Iterable[str]) -> str:
    """``a, b or c``."""
    *most, last = sorted(known) or ["none"]
    return f"{', '.join(most)} or {last}" if most else last


def for_name(word: str, known: Iterable[str], what: str) -> str:
    """Remedy for an unknown name; ``known`` has the valid ones, ``what`` introduces their list."""
    known = list(known)
    near = nearest(word, known)
    listing = f"{what}: {choices(known)}"
    return f"did you mean {near}? {listing}" if near else listing


def for_key(key: str, value: object, known: Iterable[str]) -> str:
    """Remedy for an unknown ``key`` with ``value``, in a table with the keys ``known``."""
    known = list(known)
    of_network = not_modelled(key) if "rtt_ms" in known else None
    return _right_unit(key, value, known) or of_network or for_name(key, known, "this table takes")


def _right_unit(key: str, value: object, known: list[str]) -> str | None:
    """``rtt_s`` → ``give rtt_ms (milliseconds): rtt_ms = 50``."""
    stem, unit = _split(key.lower().replace("-", "_"))
    for meaning in _SYNONYMS.get(stem, ()):
        if meaning.key not in known:
            continue
        right_unit = meaning.key.rpartition("_")[2]
        name = meaning.note or _UNIT_NAMES.get(right_unit, "")
        remedy = f"give {meaning.key} ({name})" if name else f"give {meaning.key}"
        scale = _scale(unit, right_unit)
        if unit and scale is None:
            continue
        if scale is not None and isinstance(value, (int, float)) and not isinstance(value, bool):
            with suppress(OverflowError):  # a whole number of 309 digits is too large for a float
                return f"{remedy}: {meaning.key} = {value * scale * meaning.factor:.10g}"
        return remedy
    return None


def _split(key: str) -> tuple[str, str]:
    """``queue_size_kb`` → ``("queue_size", "kb")``; the unit is empty if the key has none."""
    if key in _SYNONYMS:
        return key, ""
    stem, _, last = key.rpartition("_")
    known_unit = any(last in units for units in _UNITS.values()) or last in _UNIT_NAMES
    if stem and (known_unit or last == "rate"):
        return (stem, "fraction" if last == "rate" else last)  # loss_rate is a fraction by custom
    return key, ""


def _scale(unit: str, right: str) -> float | None:
    """Factor from ``unit`` to ``right``; None if their dimensions differ."""
    for units in _UNITS.values():
        if unit in units and right in units:
            return units[unit] / units[right]
    return 1.0 if unit == right else None
