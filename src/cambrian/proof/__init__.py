"""Proof that a stack works here: what ``cambrian stacks test`` and ``cambrian interop`` run and print."""

from __future__ import annotations
