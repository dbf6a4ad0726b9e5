"""The stacks that a study can name, with the releases of their packages."""

from __future__ import annotations

from collections.abc import Iterable

from cambrian.stacks import catalogue, registry, releases
from cambrian.study.offered import Stacks


def stacks() -> Stacks:
    """As :func:`cambrian.stacks.catalogue.ccas`; patterns of releases are looked up in the stack's registry.

    Raises:
        ManifestError: a manifest would replace the reference.
    """
    found = catalogue.ccas()
    found.matching = expanded
    return found


def expanded(name: str) -> list[str]:
    """``quic-go@0.6*`` → ``quic-go@0.60.0``, … (oldest first); any other name as it is.

    Raises:
        ManifestError: no release matches.
        Errors of :func:`cambrian.stacks.registry.listed`.
    """
    stack, pattern = releases.split(name)
    known = catalogue.load()
    if pattern is None or releases.is_exact(pattern) or stack not in known:
        return [name]
    return registry.expanded(known[stack], pattern)


def contestants(names: Iterable[str]) -> list[str]:
    """``stack/cca`` of each release that a name means: ``quic-go@0.6*/reno`` → ``quic-go@0.60.0/reno``, ….

    Each is there once.

    Raises:
        Errors of :func:`expanded`.
    """
    found = []
    for name in names:
        stack, slash, cca = name.partition("/")
        found += [f"{one}{slash}{cca}" for one in expanded(stack)]
    return list(dict.fromkeys(found))
