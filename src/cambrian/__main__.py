"""``python -m cambrian``."""

from __future__ import annotations

from cambrian.cli import main

main()
