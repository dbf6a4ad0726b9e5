"""The releases, controllers and kernel that a figure was measured with, from the trials' manifests."""

from __future__ import annotations

import polars as pl

from cambrian.effects.model import EffectSpec
from cambrian.effects.where import matching

#: columns of the observations that name a release
_OF_STACK = ("stack", "stack_version", "cca")
_OF_KERNEL = "kernel_version"


def versions(frame: pl.DataFrame, spec: EffectSpec) -> tuple[str, ...]:
    """``google-quiche Envoy 1.40.0 cubic`` for each stack and CCA of both sides, and the kernel.

    Empty for a frame without releases, such as a report's table.
    """
    if not {*_OF_STACK, _OF_KERNEL} <= {*frame.columns}:
        return ()
    rows = matching(frame, spec.where)
    sides = pl.concat(matching(rows, side) for side in (spec.a, spec.b) if side is not None)
    named = sides.select(_OF_STACK).unique().sort(_OF_STACK).iter_rows()
    kernels = sides[_OF_KERNEL].drop_nulls().unique().sort()
    return (
        *(" ".join(word for word in words if word) for words in named),
        *(f"Linux {version}" for version in kernels),
    )
