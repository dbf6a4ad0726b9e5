"""Many trials: which (``course``), where (``pool``), and a study's from its file to its results (``study``).

Nothing here decides what a trial's files say, so an edit here keeps every result.
"""

from __future__ import annotations
