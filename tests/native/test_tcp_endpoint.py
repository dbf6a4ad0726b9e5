"""The kernel TCP endpoint over loopback: docs/reference/endpoint-contract.md, clause by clause."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CERTIFICATES = Path(__file__).resolve().parents[2] / "src/cambrian/testbed/certs"
FORMS = [pytest.param([], id="raw"), pytest.param(["--set", "tls=true"], id="tls")]


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


class Server:
    """A running server; ``stop`` ends it and returns its status and events."""

    def __init__(self, program: Path, options: list[str]) -> None:
        argv = [str(program), "server", "--listen", "127.0.0.1:0", "--cca", "reno"]
        argv += ["--cert", f"{CERTIFICATES}/cert.pem", "--key", f"{CERTIFICATES}/key.pem", *options]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.ready = json.loads(self.process.stdout.readline())
        self.address = f"127.0.0.1:{self.ready['port']}"

    def stop(self) -> tuple[int, list[dict[str, Any]]]:
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=5)
        return self.process.returncode, events(out)


@contextmanager
def serving(program: Path, *options: str) -> Iterator[Server]:
    server = Server(program, list(options))
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()


def client(program: Path, address: str, *options: str) -> subprocess.Popen[str]:
    argv = [str(program), "client", "--connect", address, *options]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("count", "streams"), [(1, 1), (1_000_003, 1), (1_000_003, 4)])
def test_exactly_the_bytes_asked_for(tcp_endpoint: Path, form: list[str], count: int, streams: int) -> None:
    with serving(tcp_endpoint, *form) as server:
        fetch = client(tcp_endpoint, server.address, "--bytes", str(count), "--streams", str(streams), *form)
        out, _ = fetch.communicate(timeout=20)
        status, said = server.stop()
    done = events(out)[-1]
    assert (fetch.returncode, done["event"], done["bytes"], done["complete"], done["error"]) == (
        0, "done", count, True, None,
    )  # fmt: skip
    assert status == 0
    assert [(event["requested"], event["confirmed"]) for event in said if event["event"] == "cca"] == [
        ("reno", "reno")
    ] * streams
    stats = [event for event in said if event["event"] == "stats"]
    assert len(stats) == streams
    assert sum(event["bytes_acked"] for event in stats) >= count
    assert said[-1] | {"time_ns": 0} == {
        "event": "done", "time_ns": 0, "bytes": count, "complete": True, "error": None,
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [14_000, 300_000, 2_000_000])
def test_done_comes_with_the_last_byte_and_not_with_the_senders_fin(
    tcp_endpoint: Path, form: list[str], count: int
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "cert.pem", CERTIFICATES / "key.pem")
    context.set_alpn_protocols(["hq-interop"])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        fetch = client(tcp_endpoint, f"127.0.0.1:{listener.getsockname()[1]}", "--bytes", str(count), *form)
        accepted, _ = listener.accept()
        accepted.settimeout(10)
        with context.wrap_socket(accepted, server_side=True) if form else accepted as connection:
            assert connection.recv(64) == f"GET /{count}\r\n".encode()
            connection.sendall(bytes(count))
            assert fetch.stdout is not None
            lines = [fetch.stdout.readline() for _ in range(2)]
            assert fetch.poll() is None
            if isinstance(connection, ssl.SSLSocket):
                connection.unwrap()
        rest, _ = fetch.communicate(timeout=10)
    assert [event["event"] for event in events("".join(lines))] == ["connected", "done"]
    assert events(lines[1])[0]["complete"] is True
    assert (rest, fetch.returncode) == ("", 0)


@pytest.mark.parametrize("form", FORMS)
def test_sigterm_ends_both_sides_at_full_speed(tcp_endpoint: Path, form: list[str]) -> None:
    with serving(tcp_endpoint, *form) as server:
        fetch = client(tcp_endpoint, server.address, "--streams", "2", *form)
        time.sleep(0.5)
        fetch.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        out, _ = fetch.communicate(timeout=5)
        took_s = time.monotonic() - begin
        status, said = server.stop()
    done = events(out)[-1]
    assert (fetch.returncode, done["event"], done["complete"], done["error"]) == (0, "done", False, None)
    assert done["bytes"] > 0
    assert took_s < 2  # 0.1 s of its own time; the sanitizers and a loaded machine need more
    assert (status, said[-1]["event"], said[-1]["complete"]) == (0, "done", False)


def test_sigterm_ends_an_idle_server(tcp_endpoint: Path) -> None:
    with serving(tcp_endpoint) as server:
        status, said = server.stop()
    assert (status, said[-1]["event"], said[-1]["bytes"], said[-1]["complete"]) == (0, "done", 0, False)


def test_a_refused_connection_is_a_failure(tcp_endpoint: Path) -> None:
    with serving(tcp_endpoint) as server:
        server.stop()
        fetch = client(tcp_endpoint, server.address, "--bytes", "1")
        out, errors = fetch.communicate(timeout=10)
    assert fetch.returncode == 1
    assert "refused" in events(out)[-1]["error"]
    assert "refused" in errors


def test_a_body_cut_short_is_a_failure(tcp_endpoint: Path) -> None:
    with serving(tcp_endpoint) as server:
        fetch = client(tcp_endpoint, server.address)
        time.sleep(0.3)
        server.stop()
        out, _ = fetch.communicate(timeout=10)
    assert fetch.returncode == 1
    assert events(out)[-1]["complete"] is False
    assert events(out)[-1]["error"]


@pytest.mark.parametrize(
    ("argv", "status", "message"),
    [
        (["server", "--listen", "127.0.0.1:0", "--cca", "nonesuch"], 127, "this kernel has: "),
        (["server", "--listen", "127.0.0.1:0"], 2, "--cca NAME"),
        (["server", "--listen", "127.0.0.1:0", "--cca", "reno", "--set", "tls=true"], 2, "--cert FILE"),
    ],
)
def test_what_it_cannot_do_it_says(tcp_endpoint: Path, argv: list[str], status: int, message: str) -> None:
    result = subprocess.run([tcp_endpoint, *argv], check=False, capture_output=True, text=True, timeout=10)
    assert (result.returncode, result.stdout) == (status, "")
    # an ordinary user also hears that the machine's limits are below the buffers asked for
    said = [line for line in result.stderr.splitlines() if "raise net.core." not in line]
    assert len(said) == 1
    assert message in said[0]


def test_describe(tcp_endpoint: Path) -> None:
    result = subprocess.run([tcp_endpoint, "describe"], capture_output=True, text=True, check=True)
    told = json.loads(result.stdout)
    assert told["name"] == "tcp"
    assert "reno" in told["ccas"]
    assert (told["roles"], told["alpns"]) == (["server", "client"], ["hq-interop"])


def test_polled_transport_log(tcp_endpoint: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    with serving(tcp_endpoint, "--transport-log", str(log), "--set", "log_every_ms=10") as server:
        fetch = client(tcp_endpoint, server.address)
        time.sleep(0.5)
        fetch.terminate()
        fetch.communicate(timeout=5)
        server.stop()
    head, *rows = [line.split(",") for line in log.read_text().splitlines()]
    assert (
        ",".join(head) == "time_ns,event,cwnd_bytes,ssthresh_bytes,in_flight_bytes,srtt_us,pacing_bps,state"
    )
    assert len(rows) >= 5
    assert all(len(row) == 8 and row[1] == "sample" and int(row[2]) > 0 for row in rows)
    assert {row[7] for row in rows} <= {"open", "disorder", "cwr", "recovery", "loss"}
