"""For all tests: no test is timed, since machines differ and are busy."""

from __future__ import annotations

import gc

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Full collections would look at all modules and all tests again and again.
gc.set_threshold(100_000, 20, 20)
