"""Releases of a stack by name: ``quic-go@0.60.0`` is one release, ``quic-go@0.6*`` is a pattern.

Versions are semantic versions (semver.org), as both crates.io and Go modules require; a release before
another one (``1.0.0-rc.1``) is older than that one.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from semver import Version

#: between a stack's name and a release
SEPARATOR = "@"
_COMPARE = "<>=!"


def split(name: str) -> tuple[str, str | None]:
    """``quic-go@0.60.0`` → ``("quic-go", "0.60.0")``; without a release: ``("quic-go", None)``."""
    stack, separator, release = name.partition(SEPARATOR)
    return stack, release if separator else None


def joined(stack: str, release: str) -> str:
    """``quic-go@0.60.0``."""
    return f"{stack}{SEPARATOR}{release}"


def is_exact(text: str) -> bool:
    """Is this one whole version, and no pattern?"""
    return Version.is_valid(text)


def ordered(releases: Iterable[str]) -> list[str]:
    """The releases, oldest first."""
    return sorted(releases, key=Version.parse)


def matches(pattern: str, release: str) -> bool:
    """Does ``release`` match: a version, a shell pattern (``0.6*``), or limits (``>=0.57, <0.64``)?

    A pre-release matches only a pattern that has a pre-release itself.

    Raises:
        ValueError: a limit is no version.
    """
    version = Version.parse(release)
    if version.prerelease and "-" not in pattern:
        return False
    if pattern[:1] in _COMPARE:
        return all(version.match(_whole(limit)) for limit in pattern.split(","))
    return fnmatchcase(release, pattern)


def _whole(limit: str) -> str:
    """``>= 0.57`` → ``>=0.57.0``."""
    text = limit.replace(" ", "")
    version = text.lstrip(_COMPARE)
    if not is_exact(version):
        version = str(Version.parse(version, optional_minor_and_patch=True))
    return text[: len(text) - len(text.lstrip(_COMPARE))] + version
