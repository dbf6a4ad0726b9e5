"""Cambrian: a laboratory for congestion control, in virtual time."""

from __future__ import annotations

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import ``cambrian.load`` on first use.

    By its name as text: the guest imports this package, and an import statement here would make all the
    code of reports a part of every trial's identity.
    """
    if name == "load":
        from pkgutil import resolve_name

        return resolve_name("cambrian.data:load")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
