"""The stacks room: reads manifests, builds endpoints on demand, makes command lines.

``catalogue.load()`` gives every stack that there is, ``build.ensure(stack)`` the built
one. What a manifest may say is in docs/reference/endpoint-contract.md.
"""

from __future__ import annotations
