"""A trial's identity: a hash of its description and of the software that it runs.

The same identity means the same bytes in the results. So the hash covers everything that can change
these bytes. It excludes what is only for the reader: labels, the network's name, and
the path of a trace file (its content counts).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cambrian.study.model import Trial

#: increased when the meaning of a trial's fields changes, so that old results are not used
IDENTITY_VERSION = 1
_DIGEST_BYTES = 8


def content_hash(data: bytes) -> str:
    """blake2b of ``data``: 16 hexadecimal digits."""
    return blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def what_happens(trial: Trial) -> dict[str, Any]:
    """The trial as plain data, without fields that are only for the reader.

    Raises:
        OSError: the network's trace file cannot be read.
    """
    data = trial.model_dump(mode="json")
    del data["network"]["name"]
    if trial.network.trace_file is not None:
        data["network"]["trace_file"] = content_hash(Path(trial.network.trace_file).read_bytes())
    for flow in data["flows"]:
        del flow["contestant"]["label"]
        if flow["page"] is not None:
            del flow["page"]["name"]
    return data


def trial_id(trial: Trial, environment: Mapping[str, str]) -> str:
    """The identity of ``trial`` in ``environment``: 16 hexadecimal digits.

    ``environment`` maps each part that the trial runs (the kernel, its stacks, the
    testbed) to a hash of its content; the order of its keys has no effect.

    Raises:
        OSError: the network's trace file cannot be read.
    """
    whole = {"version": IDENTITY_VERSION, "trial": what_happens(trial), "environment": dict(environment)}
    return content_hash(canonical_json(whole).encode())
