"""A stack's releases: what each measures (`cambrian history`), and which changed it (`cambrian bisect`).

``ready`` builds releases, ``trials`` measures them, ``search`` is the binary search, ``verdicts`` says whose
behaviour a release has; ``history`` and ``bisect`` lead the two commands, ``chart`` and ``output`` show them.
"""

from __future__ import annotations
