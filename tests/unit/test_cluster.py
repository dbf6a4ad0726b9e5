"""What travels between the machines of a cluster arrives whole or is refused; and how a cluster is named."""

from __future__ import annotations

import errno
import io
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cambrian.cluster import coordinator, deploy, parcels, serve, worker
from cambrian.cluster.needed import Part
from cambrian.cluster.worker import MEMORY_MB
from cambrian.run.pool import EngineError
from cambrian.store.results import Results
from cambrian.study.errors import StudyError
from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trial.boot import Disturbed
from cambrian.trial.carry_out import Outcome


def _build(folder: Path) -> Path:
    """A folder such as a stack's build: a program, a link, an empty folder."""
    (folder / "bin").mkdir(parents=True)
    (folder / "empty").mkdir()
    program = folder / "bin" / "server"
    program.write_bytes(b"\x7fELF" + bytes(3000))
    program.chmod(0o755)
    (folder / "link").symlink_to("/usr/lib/nowhere")
    (folder / "build.json").write_text("{}")
    return folder


def _packed(folder: Path) -> bytes:
    archive = io.BytesIO()
    parcels.pack(folder, archive)
    return archive.getvalue()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_part_arrives_with_its_address(tmp_path: Path, cache: Path) -> None:
    folder = _build(tmp_path / "tcp-1")
    part = Part.of("stacks", folder)
    assert part.find() is None
    part.received.parent.parent.mkdir(parents=True)
    home = worker.install(part, io.BytesIO(_packed(folder)))
    assert part.find() == home
    assert parcels.digest(home) == part.digest
    assert (home / "bin/server").stat().st_mode & 0o777 == 0o755
    assert (home / "link").readlink() == Path("/usr/lib/nowhere")
    # a build that somebody has changed since is not the part
    (home / "bin/server").write_bytes(b"other")
    assert part.find() is None


@pytest.mark.parametrize("where", [600, 2000, -1])
def test_a_part_that_changed_on_the_way_is_refused(tmp_path: Path, cache: Path, where: int) -> None:
    folder = _build(tmp_path / "tcp-1")
    part = Part.of("stacks", folder)
    part.received.parent.parent.mkdir(parents=True)
    sent = bytearray(_packed(folder))
    if where < 0:
        del sent[len(sent) // 2 :]
    else:
        place = sent.index(b"\x7fELF") + where
        sent[place] ^= 1
    with pytest.raises(parcels.Corrupt):
        worker.install(part, io.BytesIO(bytes(sent)))
    assert part.find() is None
    assert list(part.received.parent.parent.iterdir()) == []


def test_an_address_says_all_that_a_trial_can_see(tmp_path: Path) -> None:
    folder = _build(tmp_path / "one")
    first = parcels.digest(folder)
    (folder / "build.json").write_text('{"seconds": 3}')
    assert parcels.digest(folder) == first
    found = {first}
    (folder / "bin/server").chmod(0o700)
    found.add(parcels.digest(folder))
    (folder / "link").unlink()
    (folder / "link").symlink_to("/usr/lib/elsewhere")
    found.add(parcels.digest(folder))
    (folder / "empty").rmdir()
    found.add(parcels.digest(folder))
    (folder / "bin/server").rename(folder / "bin/client")
    found.add(parcels.digest(folder))
    assert len(found) == 5


def _trial(store: Path) -> tuple[Outcome, Path]:
    """A trial's results, as a worker has them."""
    outcome = Outcome("0123456789abcdef", True, (), 1.0, 3.0)
    with Results(store).new_trial(outcome.trial_id) as folder:
        (folder / "packets.parquet").write_bytes(os.urandom(5000))
        (folder / "verdict.json").write_text("{}")
        (folder / "logs").mkdir()
        (folder / "logs" / "flow0.sender.out").write_text("done\n")
    return outcome, Results(store).trial(outcome.trial_id).folder


def test_results_arrive_whole(tmp_path: Path) -> None:
    outcome, folder = _trial(tmp_path / "worker")
    results = Results(tmp_path / "store")
    os.utime(folder / "verdict.json", (time.time() + 3600, time.time() + 3600))
    assert coordinator.keep(worker.Returned(outcome, _packed(folder)), outcome.trial_id, results) == outcome
    kept = results.trial(outcome.trial_id).folder
    assert parcels.digest(kept) == parcels.digest(folder)
    # by the clock of this machine, not by that of its worker
    assert abs((kept / "verdict.json").stat().st_mtime - time.time()) < 600


def test_results_of_another_trial_are_not_kept(tmp_path: Path) -> None:
    outcome, folder = _trial(tmp_path / "worker")
    results = Results(tmp_path / "store")
    with pytest.raises(Disturbed, match="ran the trial 0123456789abcdef, not fedcba9876543210"):
        coordinator.keep(worker.Returned(outcome, _packed(folder)), "fedcba9876543210", results)
    assert not results.trials_folder.exists()


@pytest.mark.parametrize("damage", ["byte", "end", "name", "link", "no list"])
def test_results_that_changed_on_the_way_are_not_kept(tmp_path: Path, damage: str) -> None:
    outcome, folder = _trial(tmp_path / "worker")
    sent = _packed(folder)
    if damage == "byte":
        content = (folder / "packets.parquet").read_bytes()
        sent = sent.replace(content, content[:99] + bytes([content[99] ^ 1]) + content[100:])
    elif damage == "end":
        sent = sent[: len(sent) // 2]
    elif damage == "name":
        sent = sent.replace(b"logs/flow0", b"../../flow")
    elif damage == "link":
        (folder / "logs/more").symlink_to("/etc/passwd")
        sent = _packed(folder)
    else:
        (folder / "SHA256SUMS").unlink()
        sent = _packed(folder)
    results = Results(tmp_path / "store")
    with pytest.raises(Disturbed, match="arrived damaged"):
        coordinator.keep(worker.Returned(outcome, sent), outcome.trial_id, results)
    assert list(results.trials_folder.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("workers = 2", "give either address or class"),
        ('address = "tcp://a:1"\nclass = "a.B"', "give either address or class"),
        ('address = "tcp://a:1"\nworkers = 2', "workers and options belong to class"),
        ('address = "somewhere"', "1:1: address"),
        ('address = "x tcp://a:1"', 'give "tcp://HOST:PORT" or "tls://HOST:PORT"'),
        ('class = "a.B"\n[options]\nwalltime = 04:00:00', "3:1: walltime: 04:00:00 is a date or a time"),
        ('class = "a.B"\n[options]\na = [1, { b = inf }]', "3:11: b: this number is infinite"),
        ('class = "a.B"\nworkers = 0', "2:1: workers"),
        ('class = "a.B"\nhosts = 3', "2:1: "),
        ('class = "no_such_module.Cluster"', "1:1: class: No module named"),
        ('class = "no_such_module.Cluster"', "remedy: install the package that has no_such_module.Cluster"),
        ('class = "pathlib.Path"', "1:1: class: pathlib.Path is no cluster of Dask's"),
        ('class = "distributed.LocalCluster"\n[options]\nno_such = 1', "3:1: no_such: "),
        (
            'address = "tls://a:1"\n[security]\ntls_ca_file = "no"\ntls_client_cert = "no"\n'
            'tls_client_key = "no"',
            "3:1: tls_ca_file: there is no file",
        ),
        ("class = ", "1:9: class: not TOML"),
    ],
)
def test_a_file_with_an_error_says_so(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(content)
    with pytest.raises((EngineError, StudyError)) as error, deploy.opened(str(file)):
        pass
    assert str(file) in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["somewhere", "local:0", "tcp://host", "http://host:80", "local:2:3"])
def test_other_words_are_no_cluster(text: str) -> None:
    with pytest.raises(EngineError, match=r"give local, local:N, tcp://HOST:PORT"), deploy.opened(text):
        pass
    with pytest.raises(EngineError, match=r"give local, local:N, tcp://HOST:PORT"):
        deploy.check(text)


@pytest.mark.parametrize("check", [deploy.check, deploy._found])
def test_an_encrypted_address_needs_keys_also_in_a_dry_run(
    check: Callable[[str], Any], tmp_path: Path
) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text('address = "tls://a:1"')
    for text in ("tls://a:1", str(file)):
        with pytest.raises(EngineError, match="needs a certificate and its key"):
            check(text)
    (tmp_path / "k.pem").write_text("no key")
    keys = "".join(f'{key} = "k.pem"\n' for key in ("tls_ca_file", "tls_client_cert", "tls_client_key"))
    file.write_text(f'address = "tls://a:1"\n[security]\n{keys}')
    with pytest.raises(EngineError, match="the key for tls://a:1 cannot be used"):
        check(str(file))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("n_workers is wrong"), "4:1: n_workers: n_workers is wrong"),
        (ValueError(), "ValueError"),
    ],
)
def test_an_option_is_named_by_a_whole_word(
    error: Exception, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**_: object) -> None:
        raise error

    monkeypatch.setattr(deploy, "_class", lambda *_: fails)
    file = tmp_path / "cluster.toml"
    file.write_text('class = "a.B"\n[options]\nn = 1\nn_workers = 2')
    with pytest.raises(StudyError, match=said):
        deploy._found(str(file))


def test_a_dry_run_checks_the_file_without_a_cluster(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text('class = "pathlib.Path"')
    with pytest.raises(StudyError, match=r"1:1: class: pathlib\.Path is no cluster"):
        deploy.check(str(file))
    file.write_text('class = "distributed.LocalCluster"\nworkers = 2')
    deploy.check(str(file))
    deploy.check("tcp://10.0.0.1:8786")


@pytest.mark.parametrize("address", ["foo", "http://a:1", "tcp://a", "a:1"])
def test_a_worker_needs_a_scheduler_s_address(address: str) -> None:
    with pytest.raises(EngineError, match="give tcp://HOST:PORT or tls://HOST:PORT"):
        serve.serve(address, 1, None)


@pytest.mark.parametrize(("status", "there"), [(200, True), (404, False)])
def test_a_live_page_is_named_only_if_it_exists(status: int, there: bool) -> None:
    """A scheduler with --no-dashboard answers at the same address, without the page."""

    class Scheduler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Scheduler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = cast("Any", SimpleNamespace(dashboard_link=f"http://127.0.0.1:{server.server_port}/status"))
        assert deploy._page(client) == (client.dashboard_link if there else None)
        server.shutdown()
    # nobody answers there any more; Dask's words for a cluster without a page
    for link in (client.dashboard_link, "", None):
        assert deploy._page(cast("Any", SimpleNamespace(dashboard_link=link))) is None


TRIAL = Trial(
    network=Network(rate_mbps=10, rtt_ms=20, buffer_bdp=1),
    flows=(Flow(contestant=Contestant(stack="tcp", cca="cubic")),),
    duration_s=5,
)


@dataclass
class Tasks:
    """Dask's executor: the memory that each submitted task asks for."""

    sent_mb: list[int] = field(default_factory=list)

    def submit(self, *_: Any, resources: dict[str, int]) -> Future[Outcome]:
        self.sent_mb.append(resources[MEMORY_MB])
        return Future()


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> coordinator.Crew:
    """A run's workers; ``_client.there`` are those that are connected."""
    monkeypatch.setattr("cambrian.trial.carry_out.trial_id", lambda *_: "")
    crew = coordinator.Crew.__new__(coordinator.Crew)
    there: dict[str, int] = {}
    crew._client = SimpleNamespace(there=there, nthreads=lambda: there)
    crew._memory_mb, crew._refused, crew._seen_s = {}, {}, {}
    crew._asks, crew._archives, crew._getting, crew._closed = {}, {}, Counter(), False
    crew._news = threading.Event()
    crew._tasks, crew._environment = cast("Any", Tasks()), cast("Any", None)
    crew._needed = cast("Any", SimpleNamespace(topic="run"))
    return crew


def test_a_trial_for_a_worker_that_left_does_not_wait_for_it(crew: coordinator.Crew) -> None:
    crew._client.there["small"] = 1
    crew._memory_mb = {"small": 100, "large": 8000}
    assert crew.places() == 1
    with pytest.raises(EngineError, match="the largest worker has 100 MB"):
        crew.submit(TRIAL).result(timeout=0)
    crew._client.there["large"] = 1
    assert not crew.submit(TRIAL).done() and len(cast("Any", crew._tasks).sent_mb) == 1


@pytest.mark.parametrize(
    ("said", "fails"), [({"memory_mb": 8000}, False), ({"memory_mb": 200}, True), ({"refused": "why"}, True)]
)
def test_a_trial_waits_while_a_worker_joins(
    crew: coordinator.Crew, said: dict[str, Any], fails: bool
) -> None:
    """The first worker that proves itself may be the smallest."""
    crew._client.there.update(small=1, late=1)
    crew._hear((0.0, {"worker": "small", "memory_mb": 100}))
    later = threading.Timer(0.2, lambda: crew._hear((0.0, {"worker": "late"} | said)))
    later.start()
    submitted = crew.submit(TRIAL)
    later.join()
    assert submitted.done() == fails
    assert len(cast("Any", crew._tasks).sent_mb) == (not fails)


def test_a_trial_does_not_wait_for_a_worker_that_says_nothing(
    crew: coordinator.Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator, "_JOIN_S", 0.2)
    crew._client.there.update(small=1, mute=1)
    crew._memory_mb = {"small": 100}
    with pytest.raises(EngineError, match="the largest worker has 100 MB"):
        crew.submit(TRIAL).result(timeout=0)


def test_a_trial_does_not_wait_for_ever_for_a_worker_that_starts_again_and_again(
    crew: coordinator.Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator, "_JOIN_S", 0.2)
    monkeypatch.setattr(crew, "_joining", lambda: True)
    crew._client.there.update(small=1)
    crew._memory_mb = {"small": 100}
    with pytest.raises(EngineError, match="the largest worker has 100 MB"):
        crew.submit(TRIAL).result(timeout=0)


def test_workers_get_the_pieces_of_a_part_in_turn(
    crew: coordinator.Crew, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker gives up if it waits for a piece for long, as for the whole parts of all others."""
    folder = _build(tmp_path / "tcp-1")
    part = Part.of("stacks", folder)
    whole = _packed(folder)
    got: list[tuple[str, bytes, bool]] = []
    packed: list[Path] = []

    def run(take: object, topic: str, digest: str, piece: bytes, last: bool, workers: list[str]) -> None:
        got.append((workers[0], piece, last))

    def pack(place: Path, *words: Any) -> None:
        packed.append(place)
        real(place, *words)

    real = parcels.pack
    monkeypatch.setattr(parcels, "pack", pack)
    monkeypatch.setattr(coordinator, "_PIECE_BYTES", len(whole) // 2 + 1)
    crew._client.run = run
    crew._parts, crew._folders = {part.digest: part}, {part.digest: folder}
    ready = threading.Event()
    with ThreadPoolExecutor(1) as crew._sender:
        crew._sender.submit(ready.wait)
        # the first one asks again, because it waited too long
        for name in ("a", "a", "b", "c"):
            crew._hear((0.0, {"worker": name, "lacks": part.digest}))
        ready.set()
        while len(got) < 6 and time.monotonic() - crew._seen_s["a"] < 20:
            time.sleep(0.01)
    assert [(name, last) for name, _, last in got] == [
        *(("a", False), ("b", False), ("c", False)),
        *(("a", True), ("b", True), ("c", True)),
    ]
    assert all(b"".join(piece for name, piece, _ in got if name == one) == whole for one in "abc")
    assert packed == [folder] and not crew._archives


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("where", ["trial_id", "begin"])
def test_a_worker_s_own_disk_does_not_end_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: int, where: str
) -> None:
    """The run takes an OSError for one of the coordinator's disk."""

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number), "/somewhere")

    member = worker.Member(cast("Any", SimpleNamespace(topic="run")))
    member._environment, member._local = cast("Any", object()), None
    member._worker = SimpleNamespace(local_directory=tmp_path)
    identity = fail if where == "trial_id" else lambda *_: "name"
    monkeypatch.setattr("cambrian.trial.carry_out.trial_id", identity)
    monkeypatch.setattr(member, "_begin", fail)
    with pytest.raises(Disturbed, match=os.strerror(number)):
        member.carry_out(TRIAL, "name")
