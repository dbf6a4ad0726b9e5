"""The counterexamples of studies/hunted: file → contestant, broken property, situation."""

from __future__ import annotations

from cambrian.hunt.situation import Situation

HUNTED = {
    "quiche-0.24-bbr-no-flood": ("quiche-0.24/bbr", "no-flood", Situation(jitter_ms=5.0)),
    "quinn-bbr-no-flood": ("quinn/bbr", "no-flood", Situation()),
}
