"""A trial's name: a hash of what it says and of what it runs.

The same identity means the same bytes in its results, so whatever can change
these is part of it, and what is only for the reader (labels, the network's name,
the path of a trace file, as opposed to its contents) is not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cambrian.study.model import Trial

#: Changed when the meaning of a trial's fields changes, so that old results lapse.
IDENTITY_VERSION = 1
_DIGEST_BYTES = 8


def content_hash(data: bytes) -> str:
    """blake2b of ``data``: 16 hexadecimal digits."""
    return blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: one text for one value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def what_happens(trial: Trial) -> dict[str, Any]:
    """The trial as plain data, without what is only for the reader.

    Raises:
        OSError: when the network's trace file cannot be read.
    """
    said = trial.model_dump(mode="json")
    del said["network"]["name"]
    if trial.network.trace_file is not None:
        said["network"]["trace_file"] = content_hash(Path(trial.network.trace_file).read_bytes())
    for flow in said["flows"]:
        del flow["contestant"]["label"]
        if flow["page"] is not None:
            del flow["page"]["name"]
    return said


def trial_id(trial: Trial, environment: Mapping[str, str]) -> str:
    """16 hexadecimal digits that name ``trial`` run in ``environment``.

    ``environment`` maps each thing that the trial runs (the kernel, its stacks, the
    testbed) to a hash of its content; the order of its keys does not matter.

    Raises:
        OSError: when the network's trace file cannot be read.
    """
    whole = {"version": IDENTITY_VERSION, "trial": what_happens(trial), "environment": dict(environment)}
    return content_hash(canonical_json(whole).encode())
