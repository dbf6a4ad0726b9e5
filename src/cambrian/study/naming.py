"""Names of networks and keys of groups: short, readable, valid in a path."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import PurePath
from string import Formatter

from cambrian.study import hints
from cambrian.study.identity import content_hash
from cambrian.study.model import Network

#: a valid name of a network
NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

#: keys that a name template may use: all that a grid can vary
TEMPLATE_KEYS = tuple(key for key in Network.model_fields if key not in ("name", "burst_loss", "schedule"))

#: key → text in a generated name if its value differs from the default; in this order
_EXTRAS = {
    "forward_delay_percent": "{}fwd",
    "aqm_target_ms": "{}target",
    "aqm_interval_ms": "{}interval",
    "loss_percent": "{}loss",
    "return_loss_percent": "{}retloss",
    "loss_every_packets": "1in{}loss",
    "jitter_ms": "{}jitter",
    "reorder_percent": "{}reorder",
    "duplicate_percent": "{}dup",
}


def generated_name(network: Network) -> str:
    """``20mbps-50ms-1bdp``, followed by the values that differ from the defaults."""
    if network.trace_file is not None:
        parts = [_of_trace(network.trace_file)]
    else:
        parts = [f"{_text(network.rate_mbps)}mbps"]
    parts.append(f"{_text(network.rtt_ms)}ms")
    for key, unit in (("buffer_bdp", "bdp"), ("buffer_bytes", "bytes"), ("buffer_packets", "packets")):
        value = getattr(network, key)
        if value is not None:
            parts.append(f"{_text(value)}{unit}")
    if network.queue != "droptail":
        parts.append(network.queue)
    for key in ("ecn", "offload"):
        if getattr(network, key):
            parts.append(key)
    for key, form in _EXTRAS.items():
        value = getattr(network, key)
        if value != Network.model_fields[key].default:
            parts.append(form.format(_text(value)))
    if network.burst_loss:
        parts.append("burst")
    if network.schedule:
        parts.append("schedule")
    return "-".join(parts)


def templated_name(template: str, network: Network) -> str:
    """Fill ``{queue}-{rate_mbps}mbps`` from ``network``.

    Raises:
        ValueError: a key is unknown or has no value; the message is ``problem: remedy``.
    """
    try:
        parsed = list(Formatter().parse(template))
    except ValueError as error:
        raise ValueError("braces do not pair up: write {key} for a value") from error
    name = ""
    for literal, key, form, conversion in parsed:
        name += literal
        if key is None:
            continue
        if key not in TEMPLATE_KEYS or form or conversion:
            remedy = hints.for_name(key, TEMPLATE_KEYS, "choose from")
            raise ValueError(f"{{{key}}} is not a key of a network: {remedy}")
        value = getattr(network, key)
        if value is None:
            raise ValueError(f"this network has no {key}: remove {{{key}}} from the name, or give {key}")
        name += _text(value, key)
    return name


def slug(text: str) -> str:
    """``Google QUICHE cubic`` → ``google-quiche-cubic``."""
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-")


def _of_trace(file: str) -> str:
    """The file's name as a slug; part of its hash if it has no letter from a to z and no digit."""
    stem = PurePath(file).stem
    short = slug(stem)
    return short if re.search("[a-z0-9]", short) else f"trace-{content_hash(stem.encode())[:6]}"


def matches(name: str, pattern: str) -> bool:
    """Does a pattern (shell style) match? A name in full matches itself: ``quinn [tuned]`` is a label."""
    return name == pattern or fnmatchcase(name, pattern)


def _text(value: object, key: str = "") -> str:
    if isinstance(value, bool):
        return key if value else f"no-{key}"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if key == "trace_file":
        return _of_trace(str(value))
    return str(value)
