"""The counterexamples of studies/hunted: file → contestant, broken property, situation."""

from __future__ import annotations

from cambrian.hunt.situation import Situation

HUNTED = {
    "quinn-bbr-no-flood": ("quinn/bbr", "no-flood", Situation()),
}
