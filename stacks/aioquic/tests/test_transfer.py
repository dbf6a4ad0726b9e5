"""Whole transfers over loopback: what is read back, counted and logged."""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

RUN = [sys.executable, str(Path(__file__).resolve().parent.parent / "endpoint.py")]
CERTIFICATE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=cambrian.test"
WANTED_BYTES = 1_000_001
TIMEOUT_S = 60

Events = dict[str, dict[str, Any]]


def events(text: str) -> Events:
    """The last event of each name."""
    return {line["event"]: line for line in map(json.loads, text.splitlines())}


def udp(host: str) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.bind((host, 0))
    return found


def free_port() -> int:
    with udp("127.0.0.1") as probe:
        return int(probe.getsockname()[1])


@contextmanager
def serving(cca: str, port: int, folder: Path) -> Iterator[Events]:
    """A server; what it said is there when it has ended."""
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    subprocess.run([*CERTIFICATE.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    options = ["--cca", cca, "--cert", cert, "--key", key, "--transport-log", str(folder / "log.csv")]
    listen = ["server", "--listen", f"127.0.0.1:{port}"]
    said: Events = {}
    with subprocess.Popen([*RUN, *listen, *options], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        ready = server.stdout.readline()
        try:
            yield said
        finally:
            server.terminate()
            said |= events(ready + server.stdout.read())
    assert server.returncode == 0


def fetch(port: int, streams: int) -> None:
    """Have a client ask for everything and get it."""
    options = ["--bytes", str(WANTED_BYTES), "--streams", str(streams)]
    wanted = [*RUN, "client", "--connect", f"127.0.0.1:{port}", *options]
    client = subprocess.run(wanted, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert client.returncode == 0, client.stderr
    done = events(client.stdout)["done"]
    assert (done["bytes"], done["complete"], done["error"]) == (WANTED_BYTES, True, None)


def relay(front: socket.socket, server_port: int, datagrams: int, stop: threading.Event) -> None:
    """Stand between a client and its server, to which the client moves after so many datagrams."""
    back = udp("127.0.0.1")
    client = None
    while not stop.is_set():
        for ready in select.select([front, back], [], [], 0.1)[0]:
            data, source = ready.recvfrom(65536)
            if ready is front:
                client = source
                back.sendto(data, ("127.0.0.1", server_port))
            elif client:
                front.sendto(data, client)
                datagrams -= 1
        if datagrams <= 0 and back.getsockname()[0] == "127.0.0.1":
            back.close()
            back = udp("127.0.0.2")
    back.close()


@pytest.mark.parametrize("cca", ["reno", "cubic"])
def test_transfer(cca: str, tmp_path: Path) -> None:
    port = free_port()
    with serving(cca, port, tmp_path) as said:
        fetch(port, streams=2)

    assert (said["cca"]["requested"], said["cca"]["confirmed"]) == (cca, cca)
    assert (said["done"]["bytes"], said["done"]["complete"]) == (WANTED_BYTES, True)
    rows = (tmp_path / "log.csv").read_text().splitlines()
    assert rows[0].startswith("time_ns,event,cwnd_bytes")
    assert rows[1].split(",")[1] == "start"
    assert any(",ack," in row and row.endswith((",slow_start", ",congestion_avoidance")) for row in rows)


def test_a_client_keeps_its_connection_at_another_address(tmp_path: Path) -> None:
    port, stop = free_port(), threading.Event()
    with udp("127.0.0.1") as front, serving("cubic", port, tmp_path) as said:
        between = threading.Thread(target=relay, args=(front, port, 200, stop))
        between.start()
        try:
            fetch(int(front.getsockname()[1]), streams=1)
        finally:
            stop.set()
            between.join()

    assert (said["done"]["bytes"], said["done"]["complete"]) == (WANTED_BYTES, True)
