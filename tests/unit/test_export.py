"""A trial's columns as qlog, its capture as pcapng, its keys: the pure parts of `cambrian export`."""

from __future__ import annotations

import io
import json
import shutil
import struct
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import typer
from pcapng import FileScanner, blocks

from cambrian.cli import exporting
from cambrian.export import export, keys, pcapng, qlog, repeat
from cambrian.export.errors import ExportError
from cambrian.export.repeat import differing
from cambrian.metrics.columns import PACKETS
from cambrian.pages import browser
from cambrian.run import prepare
from cambrian.store.reading import Damaged
from cambrian.store.results import TrialResult
from cambrian.study.model import Contestant, Flow, Network, Page, PageObjects, Trial
from cambrian.trace import qlog as own_reader
from cambrian.trace.schema import TRANSPORT
from tests.unit import report_results

ZERO_NS = 1_800_000_000_000_000_000
#: flow, arrival, departure, frame's size, outcome, marked
ROWS = [
    (0, 1_000_256, 3_000_000, 1514, "departed", False),
    (1, 1_500_000, 2_000_000, 1242, "departed", True),
    (0, 2_000_512, None, 1514, "dropped", False),
    (0, 4_000_000, None, 1514, "queued", False),
]
PACKETS_SEEN = pl.DataFrame(ROWS, schema=PACKETS, orient="row")
LOG = pl.DataFrame(
    [
        (0, 500_000, "start", 12_000, None, 0, None, None, "slow_start"),
        (0, 2_500_000, "ack", 13_000, None, 1_200, 50_125, None, "slow_start"),
        (0, 2_500_000, "ack", 13_000, None, 1_200, 50_125, None, "slow_start"),
        (0, 3_500_000, "loss", 9_100, 9_100, 1_200, 50_125, 8_000_000, "recovery"),
        (1, 100_000, "ack", 1, None, None, None, None, None),
    ],
    schema=TRANSPORT,
    orient="row",
)


def exported(flow: int, protocol: str = "QUIC") -> tuple[dict[str, Any], dict[str, int]]:
    about = qlog.About("ab12", flow, "quinn cubic", protocol, "the log of the endpoint", ZERO_NS, "f" * 64)
    file = io.StringIO()
    counts = qlog.write(file, about, PACKETS_SEEN, LOG)
    return json.loads(file.getvalue()), counts


def test_a_flows_events_are_in_order_and_its_own() -> None:
    document, counts = exported(0)
    before, after = document["traces"]
    assert [event["time"] for event in before["events"]] == [
        0.5,
        0.5,
        1.000256,
        2.000512,
        2.000512,
        2.5,
        3.5,
        3.5,
        3.5,
        4.0,
    ]
    assert counts == {
        "recovery:metrics_updated": 3,
        "recovery:congestion_state_updated": 2,
        "generic:info": 1,
        "transport:packet_sent": 3,
        "recovery:packet_lost": 1,
        "transport:packet_received": 1,
    }
    assert [event["data"]["header"]["packet_number"] for event in after["events"]] == [0]


def test_only_what_changed_is_a_metric() -> None:
    before = exported(0)[0]["traces"][0]["events"]
    metrics = [event["data"] for event in before if event["name"] == "recovery:metrics_updated"]
    assert metrics == [
        {"congestion_window": 12_000, "bytes_in_flight": 0},
        {"congestion_window": 13_000, "bytes_in_flight": 1_200, "smoothed_rtt": 50.125},
        {"congestion_window": 9_100, "ssthresh": 9_100, "pacing_rate": 8_000_000},
    ]
    states = [event["data"] for event in before if event["name"].endswith("state_updated")]
    assert states == [{"new": "slow_start"}, {"old": "slow_start", "new": "recovery"}]


def test_a_loss_is_what_its_source_says() -> None:
    rows = LOG.filter(pl.col("flow") == 0)
    for loss in ("a congestion event", "a lost packet"):
        said = [event["data"]["message"] for event in qlog.logged(rows, loss) if "message" in event["data"]]
        assert said == [f"the stack's log: {loss}"]


def test_what_the_kernels_columns_are_is_in_its_file(tmp_path: Path) -> None:
    network = Network(rate_mbps=10, rtt_ms=50, buffer_bdp=1)
    trial = Trial(
        network=network, flows=(Flow(contestant=Contestant(stack="tcp", cca="cubic")),), duration_s=9
    )
    stored = TrialResult(tmp_path / "stored")
    stored.__dict__["manifest"] = {
        "trial": trial.model_dump(mode="json"),
        "guest": {"zero_ns": ZERO_NS, "end_ns": 5_000_000},
        "packets_sha256": "f" * 64,
    }
    stored.__dict__["packets"], stored.__dict__["transport"] = PACKETS_SEEN, LOG
    (file,) = export.export(stored, [export.Kind.qlog], tmp_path, lambda _: None)
    description = json.loads(Path(file.path).read_text())["traces"][0]["description"]
    assert "tcp_probe" in description
    assert "snd_nxt - snd_una" in description and "tcp_current_ssthresh" in description


def test_another_browser_is_another_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its trial must not run: the content of the packets may differ."""
    contestant = Contestant(stack="tcp-h2", cca="cubic")
    page = Page(objects=(PageObjects(count=1, size_bytes=20_000),))
    network = Network(rate_mbps=10, rtt_ms=50, buffer_bdp=1)
    trial = Trial(network=network, flows=(Flow(contestant=contestant, page=page),), duration_s=9)
    stored = TrialResult(tmp_path / "stored")
    stored.__dict__["manifest"] = {
        "trial": trial.model_dump(mode="json"),
        "environment": {"kernel": "k", "browser": "one"},
        "cambrian": "1",
    }
    stored.__dict__["packets"] = PACKETS_SEEN
    made = SimpleNamespace(hashes=lambda _: {"kernel": "k"})
    monkeypatch.setattr(prepare, "ensure", lambda _: made)
    monkeypatch.setattr(browser, "find", lambda: SimpleNamespace(identity="other"))
    with pytest.raises(ExportError, match="another build of browser"), repeat.repeated(stored, tmp_path):
        pass


def test_a_dropped_packet_is_lost_under_its_own_number() -> None:
    before = exported(0)[0]["traces"][0]["events"]
    (lost,) = [event for event in before if event["name"] == "recovery:packet_lost"]
    assert lost["data"]["header"]["packet_number"] == 1


@pytest.mark.parametrize(("protocol", "length"), [("QUIC", 1514 - 42), ("TCP", 1514 - 34)])
def test_a_length_is_that_of_the_transports_packet(protocol: str, length: int) -> None:
    sent = exported(0, protocol)[0]["traces"][0]["events"][2]
    assert sent["data"]["raw"] == {"length": length}


def test_a_mark_of_the_queue_is_seen_after_it() -> None:
    (event,) = exported(1)[0]["traces"][1]["events"]
    assert event["ecn"] == "CE"


def test_the_file_says_where_its_rows_come_from() -> None:
    description = exported(0)[0]["traces"][0]["description"]
    assert "seen on the wire" in description
    assert "the log of the endpoint" in description
    nothing = qlog.About("ab12", 2, "envoy", "QUIC", "none", ZERO_NS, "f" * 64)
    file = io.StringIO()
    frame = PACKETS_SEEN.filter(flow=0).with_columns(flow=pl.lit(2, pl.UInt16))
    assert qlog.write(file, nothing, frame, LOG)["transport:packet_sent"] == 3
    assert "exports no log" in json.loads(file.getvalue())["traces"][0]["description"]


def test_a_trace_without_events_is_an_error_in_the_file() -> None:
    about = qlog.About("ab12", 3, "quinn cubic", "QUIC", "none", ZERO_NS, "f" * 64)
    file = io.StringIO()
    assert qlog.write(file, about, PACKETS_SEEN, LOG) == {}
    traces = json.loads(file.getvalue())["traces"]
    assert [list(trace) for trace in traces] == [["error_description"], ["error_description"]]


def test_our_own_reader_finds_the_same_windows(tmp_path: Path) -> None:
    path = tmp_path / "flow0.qlog"
    path.write_text(json.dumps(exported(0)[0]))
    read = own_reader.read(
        path, 0, zero_ns=ZERO_NS, end_ns=5_000_000, realtime_minus_monotonic_ns=0, began_ns=0
    )
    windows = read.filter(pl.col("event") == "ack").select("time_ns", "cwnd_bytes", "srtt_us")
    assert windows.rows() == [
        (500_000, 12_000, None),
        (2_500_000, 13_000, 50_125),
        (3_500_000, 9_100, 50_125),
    ]


def packet(source: str, destination: str, size_bytes: int) -> bytes:
    """An IPv4 packet of zeros."""
    head = bytes([0x45, 0]) + size_bytes.to_bytes(2, "big") + bytes(8)
    ends = b"".join(bytes(map(int, address.split("."))) for address in (source, destination))
    return (head + ends).ljust(size_bytes, b"\0")


#: the capture at the router: flow 0 is at position 1, flow 1 at position 0
WIRE = [
    (-1, packet("10.0.1.2", "10.9.0.2", 40)),
    (1_000_256, packet("10.0.1.2", "10.9.0.2", 1500)),
    (1_500_000, packet("10.0.0.2", "10.9.0.2", 1228)),
    (1_600_000, packet("10.9.0.2", "10.0.1.2", 60)),
    (2_000_512, packet("10.0.1.2", "10.9.0.2", 1500)),
    (4_000_000, packet("10.0.1.2", "10.9.0.2", 1500)),
    (5_000_000, packet("10.0.1.2", "10.9.0.2", 1500)),
]
FLOW_OF = {0: 1, 1: 0}


def pcap(path: Path, wire: Sequence[tuple[int, bytes]] = WIRE) -> Path:
    content = struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101)
    for time_ns, data in wire:
        seconds, ns = divmod(ZERO_NS + time_ns, 10**9)
        content += struct.pack("<IIII", seconds, ns, len(data), len(data)) + data
    path.write_bytes(content)
    return path


def written(tmp_path: Path, secrets: bytes = b"", packets: pl.DataFrame = PACKETS_SEEN) -> list[Any]:
    capture = pcapng.Capture("ab12", ["quinn cubic", "tcp bbr"], ZERO_NS, secrets, "Cambrian", "UML")
    seen = pcapng.read(pcap(tmp_path / "in.pcap"), FLOW_OF, zero_ns=ZERO_NS, end_ns=5_000_000)
    pcapng.before_the_queue(tmp_path / "out.pcapng", capture, seen, packets)
    with (tmp_path / "out.pcapng").open("rb") as file:
        return list(FileScanner(file))


def test_a_capture_has_interfaces_nanoseconds_and_comments(tmp_path: Path) -> None:
    found = written(tmp_path)
    interfaces = [block for block in found if isinstance(block, blocks.InterfaceDescription)]
    assert [block.options["if_name"] for block in interfaces] == ["flow 0: quinn cubic", "flow 1: tcp bbr"]
    assert all(block.timestamp_resolution == 1e-9 for block in interfaces)
    packets = [block for block in found if isinstance(block, blocks.EnhancedPacket)]
    rows = [
        (
            block.interface_id,
            (block.timestamp_high << 32 | block.timestamp_low) - ZERO_NS,
            len(block.packet_data),
            block.options.get("opt_comment"),
        )
        for block in packets
    ]
    assert rows == [
        (0, 1_000_256, 1500, None),
        (1, 1_500_000, 1228, None),
        (0, 1_600_000, 60, None),
        (0, 2_000_512, 1500, "dropped by the bottleneck's queue"),
        (0, 4_000_000, 1500, "still in the bottleneck's queue at the trial's end"),
    ]


def test_the_secrets_stand_before_the_packets(tmp_path: Path) -> None:
    found = written(tmp_path, b"CLIENT_RANDOM 00 00\n")
    (place,) = [number for number, block in enumerate(found) if isinstance(block, blocks.UnknownBlock)]
    assert found[place].block_type == 0x0A
    kind, length = struct.unpack("<II", found[place].data[:8])
    assert kind.to_bytes(4, "big") == b"TLSK"
    assert found[place].data[8 : 8 + length] == b"CLIENT_RANDOM 00 00\n"
    assert not any(isinstance(block, blocks.EnhancedPacket) for block in found[:place])


@pytest.mark.parametrize(
    "packets",
    [
        PACKETS_SEEN.head(3),
        pl.concat([PACKETS_SEEN, PACKETS_SEEN.tail(1)]),
        PACKETS_SEEN.with_columns(pl.col("arrival_ns") + 1),
    ],
    ids=["fewer", "more", "other times"],
)
def test_another_capture_than_the_trials_is_refused(tmp_path: Path, packets: pl.DataFrame) -> None:
    with pytest.raises(ExportError, match="differs"):
        written(tmp_path, packets=packets)


def test_packets_are_in_order_of_time_and_not_all_in_memory(tmp_path: Path) -> None:
    """A capture has the packets of its two sockets in turn; a fast link's do not fit into memory."""
    big = packet("10.0.1.2", "10.9.0.2", 1500)
    sent = [(1_000_000, 1), (3_000_000, 2), (2_000_000, 3), (2_000_000, 4)]
    wire = [(time_ns, big[:-1] + bytes([mark])) for time_ns, mark in sent]
    wire += [(3_000_001 + number, big) for number in range(2000)]
    path = pcap(tmp_path / "in.pcap", wire)
    tracemalloc.start()
    try:
        seen = pcapng.read(path, FLOW_OF, zero_ns=ZERO_NS, end_ns=5_000_000)
        marks = [one.content[-1] for one in seen]
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert marks[:4] == [1, 3, 4, 2] and len(marks) == 2004
    assert peak_bytes < path.stat().st_size / 5


def test_a_capture_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = pcap(tmp_path / "in.pcap")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ExportError, match="cut short"):
        list(pcapng.read(path, FLOW_OF, zero_ns=ZERO_NS, end_ns=5_000_001))


def test_only_secrets_are_taken_from_a_key_log(tmp_path: Path) -> None:
    line = f"CLIENT_TRAFFIC_SECRET_0 {'a' * 64} {'b' * 96}"
    (tmp_path / "flow0.keys.log").write_text(f"# hello\n{line}\n<b>not a secret</b>\n{line[:-1]}")
    flows = [Flow(contestant=Contestant(stack=stack, cca="cubic")) for stack in ("quinn", "tcp", "aioquic")]
    flows.append(flows[0].model_copy(update={"page": Page(objects=(PageObjects(count=1, size_bytes=1000),))}))
    found = keys.of(tmp_path, flows)
    # the last line is cut short by one digit
    assert found.text.splitlines() == ["# flow 0: quinn cubic", line]
    assert found.count == 1
    assert "raw TCP" in found.missing[1]
    assert "reference" in found.missing[2]
    assert "Chromium" in found.missing[3]


def test_what_differs_between_environments_is_named() -> None:
    stored = {"kernel": "1", "stack quinn": "1", "python": "3.11"}
    assert differing(stored, {"kernel": "2", "stack quinn": "1", "browser": "1"}) == ["browser", "kernel"]


def test_a_trial_s_copy_outside_of_results_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = next((report_results.copy(tmp_path / "results") / "trials").iterdir())
    copy = tmp_path / "mailed" / folder.name
    shutil.copytree(folder, copy)
    assert exporting._stored(copy).id == folder.name
    (copy / "verdict.json").unlink()
    with pytest.raises(typer.Exit):
        exporting._stored(copy)
    said = capsys.readouterr().err
    assert f"{copy / 'verdict.json'}: is missing" in said and "copy the trial's folder again" in said
    assert "doctor" not in said
    # in results, doctor mends it
    (folder / "verdict.json").unlink()
    with pytest.raises(Damaged, match="doctor"):
        exporting._stored(folder)
