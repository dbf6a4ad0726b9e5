"""Runs programs in the guest by the convention of the QUIC interop runner.

The runner's convention (https://github.com/quic-interop/quic-interop-runner, README): environment
variables say what to do (ROLE, TESTCASE, REQUESTS…), files are at fixed paths (/www,
/downloads, /certs, /logs), servers listen on UDP port 443, and status 127 means "unsupported". The
program gets these paths in its own root folder; its own files have the same paths as on the host.
"""

from __future__ import annotations

from cambrian.testbed.contract import ProgramPlan

#: UDP port of a server
PORT = 443
TESTCASE = "transfer"
_CERTIFICATES = "/run/cambrian/certs"


def adapt(spec: ProgramPlan, side: str, words: dict[str, str], bodies: dict[str, int]) -> None:
    """Change one side's ``spec`` (from :mod:`cambrian.trial.plan`) to the runner's convention.

    ``bodies``: names that may be requested → sizes in bytes; the first is this flow's own request.
    Bodies are sparse files and downloads go to /dev/null, so neither takes memory of the guest.
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
        # the program may write a qlog even if it is not read
        spec["folders"] = [words["qlog"]]
    else:
        name = next(iter(bodies))
        environment["REQUESTS"] = f"https://server4:{words['port']}/{name}"
        root["folders"].append("/logs/qlog")
        root["links"] = {f"/downloads/{name}": "/dev/null"}
    spec["environment"] = spec["environment"] | environment
