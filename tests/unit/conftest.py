"""Unit tests do not wait for the disk: what is durable shows after a failure of power alone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _unwritten() -> Iterator[None]:
    """Nothing is forced out to the disk; the integration tests do that by the thousand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield
