"""Errors: why an effect has no figure."""

from __future__ import annotations


class EffectError(ValueError):
    """The spec does not fit the frame: a missing column, a quantity that is text…"""


class NoDataError(EffectError):
    """No cell has trials on all sides."""


class NotCompleteError(NoDataError):
    """In every cell, a transfer or a page load was not complete at its trial's end."""


class UndefinedError(EffectError):
    """There are trials, but they define no figure: a ratio to 0, or no seed with all of its trials."""
