"""The engine: runs trials, each in a guest of its own, and keeps what they leave.

``plan`` says what the guest is to do, ``guest`` boots it under the limits of ``limits``,
``trial`` makes one trial's results folder, ``pool`` runs many.
"""

from __future__ import annotations
