"""Which requests the server answers.

Pages of other sites in the reader's own browser can reach a loopback port. A page whose name is made to mean
127.0.0.1 (DNS rebinding) sends that name as its Host. A page that posts a form sends its address as Origin.
"""

from __future__ import annotations

from pathlib import Path

#: the only address that the server listens on
LOOPBACK = "127.0.0.1"
_NAMES = {LOOPBACK, "localhost"}
_HTTP = 80

#: for the pages of this package
STRICT = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
#: for reports: their script and style are in the page, and Vega compiles its expressions
REPORT = STRICT.replace("script-src 'self'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'").replace(
    "style-src 'self'", "style-src 'self' 'unsafe-inline'"
)


def is_host(host: str | None, port: int) -> bool:
    """Is this Host header one of the server's own names?"""
    own = {f"{name}:{port}" for name in _NAMES}
    # browsers leave out the port of plain http
    return host is not None and host.lower() in (own | _NAMES if port == _HTTP else own)


def is_origin(origin: str | None, host: str) -> bool:
    """Does this Origin header say that a page of ``host``, the request's own Host, sent the request?"""
    return origin is not None and origin.lower() == f"http://{host.lower()}"


def is_inside(path: Path, folder: Path) -> bool:
    """Is ``path`` in ``folder``, after all symbolic links on the way to it?

    ``folder`` is a real path: a link in its place leads outside.
    """
    # no file's name has a null byte
    return "\0" not in str(path) and path.resolve().is_relative_to(folder)
