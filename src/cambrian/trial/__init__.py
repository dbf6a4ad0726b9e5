"""One trial: all that decides its bytes and its verdict.

``plan`` says what the guest is to do, ``boot`` boots it under the limits of ``limits``, ``read`` turns
what it left into columns, ``validate`` says if the trial counts, and ``carry_out`` does all of that.
The files of this room, of ``testbed`` and all that they import are part of each trial's identity.
"""

from __future__ import annotations
