"""Why an effect has no figure."""

from __future__ import annotations


class EffectError(ValueError):
    """The frame and the spec do not fit: a column that is not there, a quantity that is text…"""


class NoDataError(EffectError):
    """There is no trial to compute from: not run, or on one side only."""
