"""How Chromium is started: headless, quiet on the network, cold, and bound to one HTTP version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: what would send packets, write reports or ask for services that a guest does not have
_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--mute-audio",
    "--password-store=basic",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-search-engine-choice-screen",
    "--metrics-recording-only",
    "--disable-features=NetworkTimeServiceQuerying,OptimizationHints,MediaRouter,Translate,"
    "DialMediaRouteProvider,AutofillServerCommunication,CertificateTransparencyComponentUpdater",
)


#: no prediction: it opens a second TCP connection before the browser knows that HTTP/2 needs only one
_PREFERENCES = {"net": {"network_prediction_options": 2}}


def make_profile(folder: Path) -> None:
    """A fresh profile, with an empty cache."""
    (folder / "Default").mkdir(parents=True)
    (folder / "Default" / "Preferences").write_text(json.dumps(_PREFERENCES))


def argv(load: dict[str, Any]) -> list[str]:
    """The browser's command line.

    ``load``: ``browser`` (path), ``profile`` (see :func:`make_profile`), ``host``,
    ``port``, ``address``, ``protocol`` (``h3`` or ``h2``), ``key_hash`` (base64 SHA-256 of
    the certificate's public key) and ``netlog`` (a path or None).
    """
    origin = f"{load['host']}:{load['port']}"
    # HTTP/3 without a first visit by TCP, or no HTTP/3 at all
    version = [f"--origin-to-force-quic-on={origin}"] if load["protocol"] == "h3" else ["--disable-quic"]
    netlog = [f"--log-net-log={load['netlog']}"] if load["netlog"] else []
    return [
        load["browser"],
        *_QUIET,
        "--remote-debugging-pipe",
        f"--user-data-dir={load['profile']}",
        f"--host-resolver-rules=MAP {load['host']} {load['address']}, MAP * ~NOTFOUND",
        f"--ignore-certificate-errors-spki-list={load['key_hash']}",
        *version,
        *netlog,
        "about:blank",
    ]
