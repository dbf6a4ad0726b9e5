"""Downloads and unpacks Debian packages from the machine's mirror with a private apt.

It installs nothing on the machine, does not change the machine's apt, and works for any user.
"""

from __future__ import annotations
