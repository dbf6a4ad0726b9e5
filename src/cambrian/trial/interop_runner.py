"""Programs that are called as the QUIC interop runner calls them, carried into the guest.

The runner's convention (https://github.com/quic-interop/quic-interop-runner, README): what to do
comes in environment variables (ROLE, TESTCASE, REQUESTS…), files lie at fixed places (/www,
/downloads, /certs, /logs), servers listen on UDP port 443, and status 127 means "unsupported". The
program gets these places in a root folder of its own; its own files are where the host has them.
"""

from __future__ import annotations

from cambrian.testbed.contract import ProgramPlan

#: where a server listens
PORT = 443
TESTCASE = "transfer"
_CERTIFICATES = "/run/cambrian/certs"


def adapt(spec: ProgramPlan, side: str, words: dict[str, str], bodies: dict[str, int]) -> None:
    """Turn one side's ``spec`` (as :mod:`cambrian.trial.plan` makes it) into the runner's way.

    ``bodies``: the names that may be asked for, that of this flow's own request first, and their sizes
    in bytes. Bodies are holes in files and downloads go to /dev/null: neither takes memory of the guest's.
    """
    root = spec.setdefault("root", {"tree": "/"})
    root["folders"] = ["/www", "/downloads", "/logs", "/certs"]
    root["copies"] = {
        "/certs/cert.pem": f"{_CERTIFICATES}/cert.pem",
        "/certs/ca.pem": f"{_CERTIFICATES}/cert.pem",
        "/certs/priv.key": f"{_CERTIFICATES}/key.pem",
    }
    names = f"{words['address']} server4 server cambrian.test"
    root["texts"] = {"/etc/hosts": f"127.0.0.1 localhost\n{names}\n"}
    environment = {
        "ROLE": "server" if side == "sender" else "client",
        "TESTCASE": TESTCASE,
        "QLOGDIR": "/logs/qlog",
        "SSLKEYLOGFILE": "/logs/keys.log",
    }
    if side == "sender":
        root["links"] = {"/logs/qlog": words["qlog"]}
        root["sparse"] = {f"/www/{name}": size_bytes for name, size_bytes in bodies.items()}
        spec["port"] = PORT
        # the program may write a qlog whether or not anyone reads it
        spec["folders"] = [words["qlog"]]
    else:
        name = next(iter(bodies))
        environment["REQUESTS"] = f"https://server4:{words['port']}/{name}"
        root["folders"].append("/logs/qlog")
        root["links"] = {f"/downloads/{name}": "/dev/null"}
    spec["environment"] = spec["environment"] | environment
