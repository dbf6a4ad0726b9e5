"""Whole transfers over loopback: what is read back, counted and logged."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ENDPOINT = Path(__file__).resolve().parent.parent / "endpoint.py"
CERTIFICATE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=cambrian.test"


def events(text: str) -> dict[str, dict[str, Any]]:
    """The last event of each name."""
    return {line["event"]: line for line in map(json.loads, text.splitlines())}


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        return int(udp.getsockname()[1])


@pytest.mark.parametrize("cca", ["reno", "cubic"])
def test_transfer(cca: str, tmp_path: Path) -> None:
    wanted = 1_000_001
    cert, key, log = (str(tmp_path / name) for name in ("cert.pem", "key.pem", "log.csv"))
    subprocess.run([*CERTIFICATE.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    address = f"127.0.0.1:{free_port()}"
    credentials = ["--cert", cert, "--key", key]
    serve = ["server", "--listen", address, "--cca", cca, *credentials, "--transport-log", log]
    run = [sys.executable, str(ENDPOINT)]
    with subprocess.Popen([*run, *serve], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        ready = server.stdout.readline()
        fetch = ["client", "--connect", address, "--bytes", str(wanted), "--streams", "2"]
        client = subprocess.run([*run, *fetch], capture_output=True, text=True, timeout=60, check=False)
        server.send_signal(signal.SIGTERM)
        said = events(ready + server.stdout.read())

    assert client.returncode == server.returncode == 0, client.stderr
    done = events(client.stdout)["done"]
    assert (done["bytes"], done["complete"], done["error"]) == (wanted, True, None)
    assert (said["cca"]["requested"], said["cca"]["confirmed"]) == (cca, cca)
    assert (said["done"]["bytes"], said["done"]["complete"]) == (wanted, True)
    rows = Path(log).read_text().splitlines()
    assert rows[0].startswith("time_ns,event,cwnd_bytes")
    assert rows[1].split(",")[1] == "start"
    assert any(",ack," in row and row.endswith((",slow_start", ",congestion_avoidance")) for row in rows)
