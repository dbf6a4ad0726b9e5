"""`cambrian export`: other programs read its files, and a repetition that differs is refused."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cambrian import command, paths
from cambrian.export import pcapng
from cambrian.store.results import TrialResult
from tests.integration.conftest import RunTrials, duel, flow, valid
from tests.integration.runs import cambrian, quickly

READER = Path(__file__).parents[1] / "qlog-reader"
#: the crate calls the draft's generic:info generic:message
NOT_IN_THE_CRATE = "generic:info"


def tshark(path: Path, *words: str) -> list[str]:
    """Lines of tshark; a key log stands in the file itself."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is missing (apt-get install tshark)")
    argv = [program, "-n", "-r", str(path), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.fixture(scope="session")
def qlog_reader() -> Path:
    """A program that reads qlog by Cloudflare's crate; cargo runs only if its source has changed."""
    digest = hashlib.sha256()
    for path in sorted(READER.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(READER)}\0".encode() + path.read_bytes() + b"\0")
    target = paths.cache() / "qlog-reader"
    program = target / f"qlog-reader-{digest.hexdigest()[:16]}"
    if not program.exists():
        environment = command.clean_environment() | {"CARGO_TARGET_DIR": str(target)}
        argv = ["cargo", "build", "--quiet", "--release", "--locked"]
        subprocess.run(argv, cwd=READER, env=environment, check=True)
        fresh = program.with_suffix(f".{os.getpid()}")
        shutil.copy2(target / "release" / "qlog-reader", fresh)
        fresh.rename(program)
    return program


@pytest.fixture
def trial(run_trials: RunTrials) -> TrialResult:
    """A flow of QUIC, one of TLS over TCP, and raw TCP, which meet in another order than the study's."""
    flows = (
        flow("quinn", "cubic"),
        flow("tcp", "cubic", start_ms=200, tls=True),
        flow("tcp", "bbr", start_ms=300),
    )
    (result,) = run_trials(
        [duel(*flows, seconds=3, buffer_bdp=0.5).model_copy(update={"positions": (2, 0, 1)})]
    )
    return valid(result)


def test_other_programs_read_what_is_exported(trial: TrialResult, qlog_reader: Path, tmp_path: Path) -> None:
    answer = cambrian(tmp_path, "export", trial.folder, "--qlog", "--pcapng", "--keys", "--json")
    assert answer.returncode == 0, answer.stderr
    files = {Path(row["path"]).name: row for row in json.loads(answer.stdout)["files"]}
    folder = tmp_path / "export" / trial.id
    assert {path.name for path in folder.iterdir()} == set(files)
    for number in range(3):
        check_qlog(folder / f"flow{number}.qlog", qlog_reader, trial, number)
    assert "flow 2: nothing is encrypted" in files["keys.log"]["note"]
    secrets = [line.split()[0] for line in (folder / "keys.log").read_text().splitlines()]
    assert Counter(secrets)["SERVER_TRAFFIC_SECRET_0"] == 2
    check_before(folder / "before-queue.pcapng", trial)
    check_after(folder / "after-queue.pcapng", trial)


def check_qlog(path: Path, reader: Path, trial: TrialResult, number: int) -> None:
    """The crate reads all events; they are the trial's, in order of time."""
    document: dict[str, Any] = json.loads(path.read_text())
    own = trial.packets.filter(flow=number)
    for trace in document["traces"]:
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)
        trace["events"] = [event for event in trace["events"] if event["name"] != NOT_IN_THE_CRATE]
    names = Counter(event["name"] for trace in document["traces"] for event in trace["events"])
    assert names["transport:packet_sent"] == own.height
    assert names["transport:packet_received"] == own.filter(outcome="departed").height
    assert names["recovery:packet_lost"] == own.filter(outcome="dropped").height > 0
    assert names["recovery:metrics_updated"] > 100
    read = path.with_name(f".{path.name}")
    read.write_text(json.dumps(document))
    lines = subprocess.run([reader, read], capture_output=True, text=True, check=True).stdout.splitlines()
    assert [int(line.split()[0]) for line in lines] == [len(trace["events"]) for trace in document["traces"]]


def check_before(path: Path, trial: TrialResult) -> None:
    """tshark decrypts both protocols, sees both directions and the drops."""
    lines = tshark(path, "-Y", "frame.comment contains dropped", "-T", "fields", "-e", "frame.interface_name")
    drops = trial.packets.filter(outcome="dropped")["flow"].to_list()
    assert Counter(line[len("flow ")] for line in lines) == Counter(map(str, drops))
    requests = tshark(
        path, "-Y", "quic.stream_data and ip.src == 10.9.0.2", "-T", "fields", "-e", "quic.stream_data"
    )
    assert bytes.fromhex(requests[0].partition(",")[0]).startswith(b"GET /")
    assert tshark(path, "-Y", "quic and not quic.frame") == [], "every QUIC packet is decrypted"
    answers = tshark(path, "-Y", "tls.app_data and ip.dst == 10.9.0.2")
    assert len(answers) > 5
    assert tshark(path, "-Y", "tls.handshake.type == 20 and ip.src == 10.9.0.2"), "the client's Finished"
    both = tshark(
        path, "-Y", "tcp.flags.syn == 1", "-T", "fields", "-e", "ip.src", "-e", "frame.interface_name"
    )
    assert both == [
        "10.9.0.2\tflow 1: tcp cubic",
        "10.0.0.2\tflow 1: tcp cubic",
        "10.9.0.2\tflow 2: tcp bbr",
        "10.0.1.2\tflow 2: tcp bbr",
    ]


def check_after(path: Path, trial: TrialResult) -> None:
    """What left the queue, to the nanosecond, and the ACKs."""
    departed = trial.packets.filter(outcome="departed").sort("departure_ns")
    stamps = tshark(path, "-Y", "ip.dst == 10.9.0.2", "-T", "fields", "-e", "frame.time_epoch")
    zero_ns = trial.manifest["guest"]["zero_ns"]
    seen = [int(stamp.replace(".", "")) - zero_ns for stamp in stamps]
    assert seen == departed["departure_ns"].to_list()
    assert len(tshark(path, "-Y", "ip.src == 10.9.0.2")) > 100


def test_a_trace_driven_link_shows_both_directions(run_trials: RunTrials) -> None:
    """The receivers' host sends by another device than it receives, which is a TUN device."""
    trace = str(paths.data() / "studies/traces/waves-12mbps.trace")
    asked = duel(flow("tcp", "cubic"), seconds=1, rate_mbps=None, trace_file=trace)
    (result,) = run_trials([asked.model_copy(update={"raw_capture": True})])
    guest = valid(result).manifest["guest"]
    for side, seen in (("router", result.packets), ("receiver", result.packets.filter(outcome="departed"))):
        path = result.folder / "raw" / f"bottleneck.{side}.pcap"
        packets = list(pcapng.read(path, {0: 0}, zero_ns=guest["zero_ns"], end_ns=guest["end_ns"]))
        assert sum(packet.to_receiver for packet in packets) == seen.height
        assert sum(not packet.to_receiver for packet in packets) > 10


@pytest.mark.long
def test_a_trial_that_does_not_repeat_is_refused(trial: TrialResult, tmp_path: Path) -> None:
    place = trial.folder / "manifest.json"
    manifest = json.loads(place.read_text())
    place.write_text(json.dumps(manifest | {"packets_sha256": "0" * 64}))
    answer = quickly(tmp_path, "export", trial.folder, "--pcapng", "-o", "out")
    assert answer.returncode == 1
    assert "does not repeat here" in answer.stderr
    assert "remedy" in answer.stderr
    assert list((tmp_path / "out").iterdir()) == []

    manifest["environment"]["stack quinn"] = "another"
    place.write_text(json.dumps(manifest))
    answer = quickly(tmp_path, "export", trial.folder, "--keys", "-o", "out")
    assert answer.returncode == 2
    assert "another build of stack quinn" in answer.stderr
    assert quickly(tmp_path, "export", trial.folder, "--qlog", "-o", "out").returncode == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["results"], "say what to export"),
        (["results", "--qlog"], "is a results directory"),
        (["nowhere", "--qlog"], "no manifest.json"),
    ],
)
def test_a_wrong_use_gets_one_clear_error(tmp_path: Path, words: list[str], says: str) -> None:
    (tmp_path / "results" / "trials").mkdir(parents=True)
    answer = quickly(tmp_path, "export", *words)
    assert answer.returncode == 2
    assert says in answer.stderr
    assert "Traceback" not in answer.stderr
