"""The virtual-time kernel: find its source, configure, patch, build, cache and boot it.

``locate.find()`` gives the kernel that is there, ``locate.ensure()`` makes one if need be,
``boot.command()`` is the command line that boots it.
"""

from __future__ import annotations
