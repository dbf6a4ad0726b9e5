"""Start offsets: random, and the same for the same seed wherever it is asked.

Counter-based: a draw is a hash of what it is for, so it depends on no other draw.
Thus all arms of a study see the same offsets for the same seed, which makes
comparisons paired, and adding a network or a contestant changes no other trial.
"""

from __future__ import annotations

from hashlib import blake2b


def uniform(study: str, seed: int, position: int) -> float:
    """A number in [0, 1) that is a pure function of the three."""
    counter = f"cambrian start offset\0{study}\0{seed}\0{position}".encode()
    bits = int.from_bytes(blake2b(counter, digest_size=8).digest(), "big")
    return (bits >> 11) / 2**53


def start_offset_ms(study: str, seed: int, position: int, spread_ms: float) -> float:
    """When the flow at ``position`` starts: uniform in [0, ``spread_ms``], to 1 µs.

    Flows draw independently, so the order in which they start is drawn as well:
    each order is equally likely.
    """
    return round(uniform(study, seed, position) * spread_ms, 3)
