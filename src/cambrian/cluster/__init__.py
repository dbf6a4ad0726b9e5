"""Runs trials on the workers of a Dask cluster, with the results of one machine.

``parcels`` packs folders and gives them a content address; ``needed`` lists what a worker must have;
``worker`` is the part on each worker; ``coordinator`` sends trials and keeps their results; ``deploy`` finds
or starts the cluster; ``serve`` is ``cambrian worker``. Dask's packages are an extra (``cluster``), and only
this package imports them.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from cambrian.command import MissingTool

if find_spec("distributed") is None:
    raise MissingTool(
        "Dask, which runs clusters, is not installed",
        f"{sys.executable} -m pip install bokeh cryptography 'dask[distributed]'",
    )
