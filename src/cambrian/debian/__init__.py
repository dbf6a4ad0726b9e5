"""Debian's archive as a source of things: the machine's own mirror, an apt of our own, unpacked packages.

Nothing is installed on the machine and nothing of its apt is touched; it works for any user.
"""

from __future__ import annotations
