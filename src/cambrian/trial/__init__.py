"""One trial: all code that decides its bytes and its verdict.

``plan`` makes the guest's plan, ``boot`` boots the guest under the limits of ``limits``, ``read`` turns
its files into columns, ``validate`` judges whether the trial is valid, and ``carry_out`` calls all of them.
The files of this package, of ``testbed`` and of all their imports are part of each trial's identity.
"""

from __future__ import annotations
