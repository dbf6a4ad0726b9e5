"""Why a trial cannot be exported."""

from __future__ import annotations


class ExportError(Exception):
    """A trial that cannot be exported; the text says why, with the remedy."""


class NotTheSame(ExportError):
    """The repeated trial has other packets than the stored one."""
