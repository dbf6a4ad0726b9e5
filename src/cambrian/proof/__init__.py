"""Tests of stacks and of the judge: ``cambrian stacks test``, ``cambrian interop``, ``cambrian corpus``."""

from __future__ import annotations
