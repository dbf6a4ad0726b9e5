"""Measurement of one valid trial: its figures, flow by flow.

``measuring`` measures a trial once, for all tables, charts and claims. ``quantities`` is the registry: one
row for each figure, with its name, unit, meaning and function.
"""

from __future__ import annotations
