"""What one valid trial shows: its figures, flow by flow, and what its traces say.

``measuring`` measures a trial once; every table, chart and claim starts from that. ``quantities`` is the
registry: one row a figure, with its name, its unit, its meaning and the function that takes it.
"""

from __future__ import annotations
