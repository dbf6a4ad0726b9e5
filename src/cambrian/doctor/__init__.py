"""``cambrian doctor``: what is present, missing or stale on this machine, and the remedy for each."""

from __future__ import annotations

from cambrian.doctor.checks import run_checks
from cambrian.doctor.report import failed, render

__all__ = ["failed", "render", "run_checks"]
