"""Runs trials on the workers of a Dask cluster, with the results of one machine.

``parcels`` packs folders and gives them a content address; ``needed`` lists what a worker must have;
``worker`` is the part on each worker; ``coordinator`` sends trials and keeps their results; ``deploy`` finds
or starts the cluster; ``serve`` is ``cambrian worker``. Dask's packages are an extra (``cluster``), and only
this package imports them.
"""

from __future__ import annotations

import sys
from importlib import metadata
from importlib.util import find_spec

from cambrian.command import MissingTool


def _extra() -> list[str]:
    """What the extra ``cluster`` asks for."""
    wanted = (line.partition("; ") for line in metadata.requires("cambrian") or [])
    return [name for name, _, marker in wanted if "cluster" in marker]


if find_spec("distributed") is None:
    raise MissingTool(
        "Dask, which runs clusters, is not installed",
        f"{sys.executable} -m pip install {' '.join(map(repr, _extra()))}",
    )
