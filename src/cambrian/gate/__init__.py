"""Compares a contestant, or a whole store, with an earlier one: `cambrian gate` and `cambrian compare`.

A snapshot (``snapshot``) holds what one set of results says; a baseline (``baseline``) is a snapshot in a
TOML file. ``differences`` compares two of them, ``carry_out`` runs a gate's trials, ``output`` prints what
changed.
"""

from __future__ import annotations
