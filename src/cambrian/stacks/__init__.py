"""Stacks: reads manifests, builds endpoints on demand, makes command lines.

``catalogue.load()`` returns all stacks, ``build.ensure(stack)`` a built one.
docs/reference/endpoint-contract.md documents the manifest.
"""

from __future__ import annotations
