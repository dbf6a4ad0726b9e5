"""What a guest left is read only where it is harmless."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from cambrian.trial import remains


def test_ordinary_files_stay(tmp_path: Path) -> None:
    (tmp_path / "flow0.sender.logs" / "qlog").mkdir(parents=True)
    (tmp_path / "flow0.sender.logs" / "qlog" / "one.sqlog").write_text("{}")
    (tmp_path / "capture.bin").write_bytes(b"x" * 100)
    assert remains.clean(tmp_path) == ()
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2


@pytest.mark.parametrize("kind", ["pipe", "symbolic link", "socket", "hard link"])
def test_what_leads_elsewhere_is_removed_unread(tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("secret")
    folder = tmp_path / "raw"
    folder.mkdir()
    place = folder / "flow0.sender.out"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "symbolic link":
        place.symlink_to(outside)
    elif kind == "hard link":
        place.hardlink_to(outside)
    else:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(str(place))
    (said,) = remains.clean(folder)
    assert said.startswith("flow0.sender.out ")
    assert kind in said
    assert not list(folder.iterdir())
    assert outside.read_text() == "secret"


def test_large_files_are_removed(tmp_path: Path) -> None:
    logs = tmp_path / "flow0.sender.logs"
    logs.mkdir()
    for path, size in (
        (tmp_path / "flow0.sender.out", remains.LINES_BYTES + 1),
        (tmp_path / "flow1.sender.out", remains.LINES_BYTES),
        (logs / "transport.csv", remains.LOG_BYTES + 1),
        # the testbed's own
        (tmp_path / "capture.bin", 4 * remains.LOG_BYTES),
    ):
        with path.open("wb") as file:
            file.truncate(size)
    said = remains.clean(tmp_path)
    assert len(said) == 2
    assert all("switch its logging off" in text for text in said)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "capture.bin",
        "flow0.sender.logs",
        "flow1.sender.out",
    ]


def test_deep_folders_and_countless_files_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a/b/c/d/e/f").mkdir(parents=True)
    (said,) = remains.clean(tmp_path)
    assert "levels deep" in said
    monkeypatch.setattr(remains, "MOST_ENTRIES", 20)
    for number in range(50):
        (tmp_path / str(number)).touch()
    (tmp_path / "plan.json").touch()
    assert any("more than 20 files" in text for text in remains.clean(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def test_of_a_programs_folder_only_its_logs_are_kept(tmp_path: Path) -> None:
    own = tmp_path / "flow1.sender.logs"
    (own / "qlog").mkdir(parents=True)
    (own / "transport.csv").write_text("time_ns\n")
    # it must not replace what the testbed wrote
    (own / "receiver.out").write_text("forged")
    (tmp_path / "flow1.receiver.out").write_text("true")
    remains.gather(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "flow1.qlog",
        "flow1.receiver.out",
        "flow1.transport.csv",
    ]
    assert (tmp_path / "flow1.receiver.out").read_text() == "true"


def test_a_folder_with_the_name_of_a_log_is_removed(tmp_path: Path) -> None:
    own = tmp_path / "flow0.sender.logs"
    (own / "transport.csv").mkdir(parents=True)
    (own / "keys.log").mkdir()
    (own / "qlog").touch()
    remains.gather(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_logs_are_those_of_the_side_that_writes_them(tmp_path: Path) -> None:
    for side, names in (("sender", ["transport.csv", "keys.log"]), ("receiver", ["keys.log", "other.txt"])):
        own = tmp_path / f"flow0.{side}.logs"
        own.mkdir()
        for name in names:
            (own / name).write_text(side)
    (tmp_path / "flow1.receiver.logs").mkdir()
    (tmp_path / "flow1.receiver.logs" / "transport.csv").write_text("a client's own controller")
    assert remains.gather(tmp_path) == ()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "flow0.transport.csv": "sender",
        "flow0.keys.log": "receiver",
    }


def test_a_log_of_the_wrong_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "flow2.sender.logs" / "transport.csv").mkdir(parents=True)
    (tmp_path / "flow2.sender.logs" / "qlog").write_text("{}")
    assert remains.gather(tmp_path) == (
        "flow2.sender left qlog as a file; it is read only as a folder",
        "flow2.sender left transport.csv as a folder; it is read only as a file",
    )
    assert not list(tmp_path.iterdir())
