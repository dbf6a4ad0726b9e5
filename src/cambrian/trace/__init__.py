"""The trace room: what a guest left (records, kernel traces, logs) → columns with units in their names."""

from __future__ import annotations
