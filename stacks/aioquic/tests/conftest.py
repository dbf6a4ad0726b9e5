"""Run with a Python that has pytest and what requirements.txt names: ``python -m pytest stacks/aioquic``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
