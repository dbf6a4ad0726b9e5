"""Every endpoint of ours over loopback: docs/reference/endpoint-contract.md, clause by clause.

Five languages, one behaviour. A stack that is not built here is skipped, by name.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from cambrian.stacks import build, catalogue
from cambrian.stacks.built import program
from cambrian.stacks.manifest import Manifest, Option
from cambrian.stacks.template import fill

REFUSE_IO_URING = Path(__file__).with_name("refuse_io_uring.py")
CERTIFICATES = Path(__file__).resolve().parents[2] / "src/cambrian/testbed/certs"
HEADER = "time_ns,event,cwnd_bytes,ssthresh_bytes,in_flight_bytes,srtt_us,pacing_bps,state"
#: what a loaded machine may need for what takes 100 ms of the program's own clock
PATIENCE_S = 20
#: a stack's own servers, which know nothing of the contract
OTHERS = ("google-quiche", "haproxy", "nginx")
#: options that refuse another one of their stack: probe_rtt_gain
ONLY_WITHOUT = frozenset({("quinn-lab", "probe_rtt_packets")})
#: each start of a JVM takes seconds
SLOW_TO_START = ("kwik",)
OURS = [
    pytest.param(name, marks=pytest.mark.long if name in SLOW_TO_START else ())
    for name in catalogue.load()
    if name not in OTHERS
]


class Endpoint:
    """One built program, and how its manifest calls it."""

    def __init__(self, name: str) -> None:
        stack = catalogue.load()[name]
        there = build.status(stack)
        if there.state != "built":
            pytest.skip(f"{name} is not built: {there.remedy}")
        folder = Path(there.detail)
        words = {"bin": str(folder / program(stack)), "dir": str(folder), "python": sys.executable}
        command = [fill(part, words) for part in stack.manifest.server.command]
        self.name = name
        self.manifest: Manifest = stack.manifest
        self.prefix = command[: command.index("server")]
        if stack.manifest.server.root:
            tree = folder / "root"
            # Debian 13's packages have it below /usr only
            loader, *_ = tree.glob("**/lib64/ld-linux-x86-64.so.2")
            libraries = ":".join(str(tree / place / "x86_64-linux-gnu") for place in ("lib", "usr/lib"))
            self.prefix = [str(loader), "--library-path", libraries, *self.prefix]
        own = {key: fill(value, words) for key, value in stack.manifest.server.environment.items()}
        self.environment = os.environ | own

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """It to its end."""
        argv = [*self.prefix, *arguments]
        return subprocess.run(
            argv, check=False, capture_output=True, text=True, timeout=PATIENCE_S, env=self.environment
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """It, running."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*self.prefix, *arguments], stdout=pipe, stderr=pipe, text=True, env=self.environment
        )

    @property
    def cca(self) -> str:
        """A CCA that it has wherever it runs."""
        ccas = list(self.manifest.ccas)
        return "reno" if "reno" in ccas else ccas[0]

    def server(self, port: int, cca: str = "", *more: str) -> list[str]:
        """A server's arguments."""
        keys = ["--cert", f"{CERTIFICATES}/cert.pem", "--key", f"{CERTIFICATES}/key.pem"]
        return ["server", "--listen", f"127.0.0.1:{port}", "--cca", cca or self.cca, *keys, *more]


@pytest.fixture(scope="module", params=OURS)
def endpoint(request: pytest.FixtureRequest) -> Endpoint:
    return Endpoint(request.param)


def free_port() -> int:
    """A port that neither UDP nor TCP uses now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@contextmanager
def serving(endpoint: Endpoint, *more: str, cca: str = "") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server that is ready, and its address; killed if the test leaves it running."""
    port = free_port()
    process = endpoint.start(*endpoint.server(port, cca, *more))
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            _, errors = process.communicate(timeout=PATIENCE_S)
            pytest.fail(f"{' '.join(more)}: the server ended with {process.returncode}: {errors}")
        ready = json.loads(line)
        assert (ready["event"], ready["role"], ready["port"]) == ("ready", "server", port)
        yield process, f"127.0.0.1:{port}"
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def ended(process: subprocess.Popen[str]) -> tuple[int, list[dict[str, Any]]]:
    """Its status and events after SIGTERM."""
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE_S)
    return process.returncode, events(out)


def test_describe(endpoint: Endpoint) -> None:
    manifest = endpoint.manifest
    said = endpoint.run("describe")
    (told,) = events(said.stdout)
    assert said.returncode == 0
    assert manifest.name.startswith(told["name"])
    assert told["version"]
    assert set(told["roles"]) == {"server", "client"}
    assert set(manifest.alpns) <= set(told["alpns"])
    if manifest.protocol == "quic":  # the kernel of the guest decides about TCP's
        assert set(told["ccas"]) == set(manifest.ccas)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 2, ""),
        (["proxy"], 127, "server"),
        (["server", "--cca", "CCA"], 2, "--listen"),
        (["server", "--listen", "127.0.0.1:0", "--cca", "nonesuch", "KEYS"], 127, "CCA"),
        (["SERVER", "--alpn", "h9"], 127, "ALPN"),
        (["SERVER", "--frobnicate"], 2, "frobnicate"),
        (["SERVER", "--set", "nonesuch=1"], 2, "nonesuch"),
        (["SERVER", "--set", "nonesuch"], 2, "nonesuch"),
        (["client"], 2, "--connect"),
        (["client", "--connect", "nowhere"], 2, "nowhere"),
        (["client", "--connect", "127.0.0.1:1", "--streams", "0"], 2, "streams"),
        (["client", "--connect", "127.0.0.1:1", "--bytes", "-1"], 2, "-1"),
        (["client", "--connect", "127.0.0.1:1", "--alpn", "h9"], 127, "ALPN"),
        (["client", "--connect", "127.0.0.1:1", "--alpn", "hq-interop", "--path", "/x"], 2, "--path"),
    ],
)
def test_what_it_cannot_do_it_says(endpoint: Endpoint, arguments: list[str], status: int, said: str) -> None:
    if "hq-interop" in arguments and "hq-interop" not in endpoint.manifest.alpns:
        pytest.skip(f"{endpoint.manifest.name} does not speak hq-interop")
    whole = {"SERVER": endpoint.server(0), "KEYS": endpoint.server(0)[5:], "CCA": [endpoint.cca]}
    argv = [word for argument in arguments for word in whole.get(argument, [argument])]
    result = endpoint.run(*argv)
    assert (result.returncode, result.stdout) == (status, ""), result.stderr
    expected = {"CCA": endpoint.cca, "ALPN": endpoint.manifest.alpns[0]}.get(said, said)
    assert expected in result.stderr
    assert result.stderr.strip()


def _good(option: Option) -> list[str]:
    """Values from its ends and words."""
    if option.type == "boolean":
        return ["true", "false"]
    if option.type == "text":
        return []
    ends = [
        f"{end:g}" if abs(end) < 1e5 else str(int(end)) for end in (option.minimum, option.maximum) if end
    ]
    return [*option.words, *ends]


def _bad(option: Option) -> list[str]:
    """Values just outside."""
    if option.type == "boolean":
        return ["on", "1", "True", ""]
    if option.type == "text":
        return [""]
    below = [] if option.minimum is None else [str(option.minimum - 1)]
    above = [] if option.maximum is None else [str(option.maximum + 1)]
    return ["nonesuch", *below, *above]


def _options(endpoint: Endpoint) -> dict[str, Option]:
    return endpoint.manifest.options or {}


def _cca_with(endpoint: Endpoint, option: Option) -> str:
    if option.belongs_to(endpoint.cca):
        return endpoint.cca
    return next(cca for cca in endpoint.manifest.ccas if option.belongs_to(cca))


def test_every_option_of_the_manifest_is_taken(endpoint: Endpoint) -> None:
    together: dict[tuple[str, int, bool], list[str]] = {}
    for name, option in _options(endpoint).items():
        for turn, value in enumerate(_good(option)):
            round_ = (_cca_with(endpoint, option), turn, (endpoint.name, name) in ONLY_WITHOUT)
            words = together.setdefault(round_, [])
            words += ["--set", f"{name}={value}"]
    for (cca, *_), words in together.items():
        with serving(endpoint, *words, cca=cca) as (process, _):
            assert ended(process)[0] == 0


def test_a_value_that_an_option_cannot_have_is_refused_by_name(endpoint: Endpoint) -> None:
    for name, option in _options(endpoint).items():
        cca = _cca_with(endpoint, option)
        for value in _bad(option):
            result = endpoint.run(*endpoint.server(0, cca, "--set", f"{name}={value}"))
            assert (result.returncode, result.stdout) == (2, ""), f"{name}={value}: {result.stderr}"
            assert name in result.stderr


@pytest.mark.parametrize(("count", "streams"), [(1, 1), (300_001, 1), (300_001, 3)])
def test_exactly_the_bytes_asked_for(endpoint: Endpoint, count: int, streams: int) -> None:
    alpn = endpoint.manifest.alpns[0]
    if streams > 1 and alpn != "hq-interop":
        pytest.skip("--streams goes with hq-interop")
    with serving(endpoint, "--alpn", alpn) as (server, address):
        asked = ["--alpn", alpn, "--bytes", str(count), "--streams", str(streams)]
        fetched = endpoint.run("client", "--connect", address, *asked)
        status, said = ended(server)
    got = events(fetched.stdout)
    _check_events(got)
    done = got[-1]
    assert (fetched.returncode, done["event"], done["bytes"]) == (0, "done", count), fetched.stderr
    assert (done["complete"], done["error"]) == (True, None)
    _check_events(said)
    confirmed = [event for event in said if event["event"] == "cca"]
    assert confirmed
    assert all(event["requested"] == endpoint.cca and event["how"] for event in confirmed)
    no_way = endpoint.manifest.ccas[endpoint.cca].causes.get("confirmed")
    if endpoint.manifest.cca_readback and not no_way:
        assert all(event["confirmed"] for event in confirmed)
    assert (status, said[-1]["event"]) == (0, "done")


def test_it_works_where_io_uring_is_refused(endpoint: Endpoint) -> None:
    refused = copy(endpoint)
    refused.prefix = [sys.executable, str(REFUSE_IO_URING), *endpoint.prefix]
    test_exactly_the_bytes_asked_for(refused, 300_001, 1)


def _check_events(said: Sequence[dict[str, Any]]) -> None:
    assert any(event["event"] == "connected" for event in said)
    times = [event["time_ns"] for event in said if "time_ns" in event]
    assert times == sorted(times)
    assert abs(times[-1] - time.time_ns()) < 60e9  # CLOCK_REALTIME


def test_sigterm_ends_both_sides_at_full_speed(endpoint: Endpoint, tmp_path: Path) -> None:
    alpn, log = endpoint.manifest.alpns[0], tmp_path / "log.csv"
    logs = endpoint.manifest.transport_trace == "log"
    more = ["--transport-log", str(log)] if logs else []
    # no event says that data arrive, and a busy machine may need longer
    for wait_s in (0.1, 0.5, 4, 32):
        with serving(endpoint, "--alpn", alpn, *more) as (server, address):
            client = endpoint.start("client", "--connect", address, "--alpn", alpn)
            assert client.stdout is not None
            while json.loads(client.stdout.readline())["event"] != "connected":
                pass
            time.sleep(wait_s)
            status, got = ended(client)
            server_status, said = ended(server)
        done = got[-1]
        assert (status, done["event"], done["complete"], done["error"]) == (0, "done", False, None)
        assert (server_status, said[-1]["event"]) == (0, "done")
        head, *rows = [line.split(",") for line in log.read_text().splitlines()] if logs else [[]]
        if done["bytes"] > 0 and (len(rows) > 10 or not logs):
            break
    assert done["bytes"] > 0
    if logs:
        assert head == HEADER.split(",")
        assert len(rows) > 10
        assert all(len(row) == len(head) for row in rows)


def test_sigterm_ends_an_idle_server(endpoint: Endpoint) -> None:
    with serving(endpoint) as (process, _):
        status, said = ended(process)
    assert (status, said[-1]["event"], said[-1]["bytes"], said[-1]["complete"]) == (0, "done", 0, False)
