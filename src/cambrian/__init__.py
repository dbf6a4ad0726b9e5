"""Cambrian: a laboratory for congestion control, in virtual time."""

from __future__ import annotations

__version__ = "0.1.0"
