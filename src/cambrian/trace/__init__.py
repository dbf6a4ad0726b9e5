"""Reads a guest's files (records, kernel traces, logs) into columns with units in their names."""

from __future__ import annotations
