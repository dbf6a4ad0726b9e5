"""Runs many trials: their order (``scheduler``), on the cores (``pool``), for a whole study (``study``).

This package does not influence the content of a trial's files, so results stay valid when it changes.
"""

from __future__ import annotations
