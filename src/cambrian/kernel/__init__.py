"""The virtual-time kernel: find its source, configure, patch, build, cache and boot it.

``locate.find()`` returns the cached kernel, ``locate.ensure()`` builds one if there is none,
``boot.command()`` returns the command line that boots it.
"""

from __future__ import annotations
