"""Damaged results: every command names the file, the doctor mends, and a second run is refused."""

from __future__ import annotations

import errno
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cambrian
from cambrian import cli
from cambrian.claims import load
from cambrian.cli.shared import explained
from cambrian.report.collect import collect
from cambrian.store import check, reading, sums
from cambrian.store.reading import Damaged
from cambrian.store.results import NO_STUDY, InUse, Results
from cambrian.store.writing import write_json
from tests.unit import report_results

Damage = Callable[[Path], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The smallest store: three trials."""
    made = report_results.copy(tmp_path, report_results.one_group)
    kept = json.loads((made / "study.json").read_text())["groups"][0]["trials"]
    for trial in (made / "trials").iterdir():
        if trial.name not in kept:
            shutil.rmtree(trial)
    return made


def trial_of(folder: Path) -> Path:
    return min((folder / "trials").iterdir())


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def as_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def without_column(path: Path) -> None:
    frame = pl.read_parquet(path)
    frame.drop(frame.columns[0]).write_parquet(path)


def as_text_columns(path: Path) -> None:
    pl.read_parquet(path).select(pl.all().cast(pl.String)).write_parquet(path)


ANY: dict[str, Damage] = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "garbage": lambda path: path.write_bytes(random.Random(1).randbytes(3000)),
    "folder": as_folder,
    "pipe": as_pipe,
    "loop": as_loop,
}
JSON: dict[str, Damage] = {
    "list": lambda path: path.write_text("[]"),
    "no keys": lambda path: path.write_text("{}"),
    "deep": lambda path: path.write_text("[" * 100_000),
    "bad UTF-8": lambda path: path.write_bytes(b'{"valid": "\xff"}'),
}
PARQUET: dict[str, Damage] = {"no column": without_column, "other types": as_text_columns}
CASES = [
    (name, kind, damage)
    for name, more in {
        "study.json": JSON,
        "manifest.json": JSON,
        "verdict.json": JSON,
        "packets.parquet": PARQUET,
        "transport.parquet": PARQUET,
    }.items()
    for kind, damage in {**ANY, **more}.items()
]
#: a trial without a verdict has not finished, and a folder without study.json is no store: no damage
ABSENT = {("study.json", "missing"), ("verdict.json", "missing"), ("verdict.json", "loop")}


def place(folder: Path, name: str) -> Path:
    return folder / name if name == "study.json" else trial_of(folder) / name


Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process: its words → exit status and output."""

    def run(*words: str | Path) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["cambrian", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        streams = capsys.readouterr()
        return int(ended.value.code or 0), (streams.out + streams.err).replace("\n", " ")

    return run


@pytest.mark.parametrize(("name", "kind", "damage"), CASES, ids=[f"{name} {kind}" for name, kind, _ in CASES])
def test_every_command_names_the_damaged_file(
    folder: Path, command: Command, name: str, kind: str, damage: Damage
) -> None:
    damage(place(folder, name))
    if (name, kind) not in ABSENT:
        for words in (["verdicts"], ["table"], ["report"]):
            status, said = command(*words, folder)
            assert (status, name in said, "--mend" in said) == (2, True, True), said
        with pytest.raises(Damaged, match=name):
            _ = cambrian.load(folder).trials
    status, said = command("doctor", folder)
    assert status == 1, said
    assert trial_of(folder).name in said or name in said


# a study.json that is missing cannot be moved
MENDED = [case for case in CASES if case[:2] != ("study.json", "missing")]


@pytest.mark.parametrize(
    ("name", "kind", "damage"), MENDED, ids=[f"{name} {kind}" for name, kind, _ in MENDED]
)
def test_mending_leaves_a_whole_rest_and_deletes_nothing(
    folder: Path, command: Command, name: str, kind: str, damage: Damage
) -> None:
    trial = trial_of(folder)
    damage(place(folder, name))
    assert command("doctor", folder, "--mend")[0] == 1, "something is still missing"
    gone = folder / "study.json" if name == "study.json" else trial
    assert not os.path.lexists(gone)
    assert os.path.lexists(folder / "damaged" / gone.relative_to(folder))
    document = json.loads(command("doctor", folder, "--json")[1])
    assert {finding["cure"] for finding in document["stores"][0]["findings"]} == {"run"}
    # a run makes it again; here a copy
    shutil.copytree(report_results.KNOBS / "trials" / trial.name, trial, dirs_exist_ok=True)
    assert (command("doctor", folder)[0] == 0) == (name != "study.json")


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["manifest.json", "verdict.json", "packets.parquet", "transport.parquet"]), st.data())
def test_no_bytes_at_all_break_the_reader(name: str, data: st.DataObject) -> None:
    original = (trial_of(report_results.KNOBS) / name).read_bytes()
    start = data.draw(st.integers(0, len(original)))
    end = data.draw(st.integers(start, len(original)))
    changed = original[:start] + data.draw(st.binary(max_size=50)) + original[end:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            reading, "content", lambda path, store: changed if path.name == name else path.read_bytes()
        )
        results = Results(report_results.KNOBS).trial(trial_of(report_results.KNOBS).name)
        try:
            _ = results.manifest, results.verdict, results.packets, results.transport
        except Damaged as error:
            assert error.path.name == name


def test_the_error_survives_the_way_from_another_process() -> None:
    error = Damaged(Path("s/trials/a/x"), "is empty", Path("my store"))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert "cambrian doctor 'my store' --mend" in str(error)


def test_a_change_that_no_schema_sees_is_found_by_its_hash(folder: Path, command: Command) -> None:
    trial = trial_of(folder)
    sums.write(trial)
    frame = pl.read_parquet(trial / "transport.parquet")
    frame.with_columns(cwnd_bytes=pl.col("cwnd_bytes") + 1).write_parquet(trial / "transport.parquet")
    assert command("doctor", folder)[0] == 1
    (found,) = check.thorough(Results(folder).trial(trial.name))
    assert (found.path.name, found.why) == ("transport.parquet", "differs from its hash in SHA256SUMS")


def test_a_failure_is_blamed_on_damage_and_only_on_damage(folder: Path) -> None:
    with pytest.raises(KeyError), check.blamed(folder):
        raise KeyError("a fault of the program")
    frame = pl.read_parquet(trial_of(folder) / "packets.parquet")
    frame.with_columns(flow=pl.lit(77, pl.UInt16)).write_parquet(trial_of(folder) / "packets.parquet")
    with pytest.raises(Damaged, match="packets_sha256"), check.blamed(folder):
        raise KeyError(77)


def test_an_error_of_a_written_file_is_reported_without_reading_the_results(
    folder: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look for damage in all results takes minutes, and the claims' file has its own mistake."""
    ledger = tmp_path / "published" / "paper" / "claims.toml"
    ledger.parent.mkdir(parents=True)
    ledger.write_text('[[claim]]\nid = "a"\nunknown = 1\n')
    monkeypatch.setattr(load, "default_folder", lambda: tmp_path / "published")
    monkeypatch.setattr(check, "blame", lambda *_: pytest.fail("all results were read"))
    status, said = command("claims", "--results", folder)
    assert status == 2 and f"{ledger}:3" in said


def test_a_log_that_is_no_file_is_damage_and_does_not_hang(folder: Path) -> None:
    log = trial_of(folder) / "logs" / "flow0.receiver.out"
    log.parent.mkdir()
    os.mkfifo(log)
    with pytest.raises(Damaged, match="is a named pipe, not a file"):
        _ = cambrian.load(folder).observations


def test_damaged_frames_are_made_again(folder: Path, command: Command) -> None:
    whole = cambrian.load(folder).observations
    (kept,) = folder.glob("frames/*/observations/observations.parquet")
    for damage in (*ANY.values(), *PARQUET.values()):
        damage(kept)
        assert command("doctor", folder)[0] == 1
        assert cambrian.load(folder).observations.equals(whole, null_equal=True)
    assert command("doctor", folder)[0] == 0


@pytest.mark.parametrize("name", ["run[1]", "run*", "run?"])
def test_a_path_may_read_as_a_pattern(folder: Path, command: Command, name: str) -> None:
    mine = folder.rename(folder.with_name(name))
    other = mine.with_name("run1")
    shutil.copytree(mine, other)
    place(other, "packets.parquet").write_bytes(b"garbage")
    assert command("doctor", mine)[0] == 0
    assert command("doctor", other)[0] == 1
    ((height,),) = Results(mine).database().sql("SELECT count(*) FROM packets").fetchall()
    assert height == sum(pl.read_parquet(path.read_bytes()).height for path in mine.rglob("packets.parquet"))


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.EMFILE])
@pytest.mark.parametrize("name", ["study.json", "manifest.json", "packets.parquet"])
def test_what_cannot_be_read_is_not_moved(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    unread, opened = place(folder, name), os.open

    def refused(path: Any, *arguments: Any, **more: Any) -> int:
        if str(path) == str(unread):
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, *arguments, **more)

    monkeypatch.setattr(os, "open", refused)
    for words in (["doctor", folder], ["doctor", folder, "--mend"], ["report", folder]):
        status, said = command(*words)
        assert status != 0 and f"{unread}: cannot be read: {os.strerror(number)}; " in said, said
        assert "make it readable" in said
        assert "parquet file" not in said
    assert unread.is_file() and not (folder / "damaged").exists()


def test_two_runs_are_refused_and_the_lock_dies_with_its_holder(folder: Path, command: Command) -> None:
    code = (
        "import sys, pathlib; from cambrian.store.results import Results\n"
        "with Results(pathlib.Path(sys.argv[1])).alone(): print('in', flush=True); sys.stdin.read()"
    )
    live = folder / "trials" / f".{'a' * 16}-live"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "in\n"
        live.mkdir()
        with pytest.raises(InUse, match=r"wait .*--out"), Results(folder).alone():
            pass
        status, said = command("doctor", folder, "--mend")
        assert (status, "another run is using" in said) == (2, True)
        assert command("doctor", folder)[0] == 0, "a live run's temporary folder is no damage"
        assert live.is_dir()
        holder.kill()
    assert command("doctor", folder)[0] == 1
    assert command("doctor", folder, "--mend")[0] == 0
    assert not live.exists()


def test_foreign_things_are_moved_and_a_readers_notes_are_not(folder: Path, command: Command) -> None:
    (folder / "trials" / "notes").mkdir()
    (folder / "notes.txt").touch()
    shutil.copytree(trial_of(folder), folder / "trials" / ("0" * 16))
    assert command("doctor", folder, "--mend")[0] == 0
    assert {path.name for path in (folder / "damaged" / "trials").iterdir()} == {"notes", "0" * 16}
    assert (folder / "notes.txt").exists()
    assert command("doctor", folder)[0] == 0


def test_the_doctors_remedy_can_be_pasted(folder: Path, command: Command) -> None:
    mine = folder.rename(folder.with_name("my results"))
    (trial_of(mine) / "packets.parquet").write_bytes(b"")
    assert f"remedy: cambrian doctor '{mine}' --mend" in command("doctor", mine)[1]


def test_trials_of_a_hunt_are_whole_without_a_study(folder: Path, command: Command) -> None:
    (folder / "study.json").unlink()
    (folder / "hunted-quinn-bbr-fills.toml").touch()
    assert command("doctor", folder)[0] == 1
    check.note_no_study(Results(folder), "cambrian hunt")
    status, said = command("doctor", folder)
    assert (status, "trials checked; whole" in said, "not Cambrian's" in said) == (0, True, False), said
    # what is damaged in it is still found
    damage = trial_of(folder) / "packets.parquet"
    damage.write_bytes(b"")
    assert command("doctor", folder)[0] == 1


@pytest.mark.parametrize("left", ["study.json", "damaged/study.json", "report/index.html"])
def test_a_study_does_not_become_one_without(folder: Path, left: str, command: Command) -> None:
    (folder / left).parent.mkdir(exist_ok=True)
    (folder / "study.json").rename(folder / left)
    check.note_no_study(Results(folder), "cambrian trial")
    assert not (folder / NO_STUDY).exists()
    # an earlier version wrote it, or left it
    (folder / NO_STUDY).touch()
    assert command("doctor", folder)[0] == (0 if left == "study.json" else 1)


def test_a_lost_study_is_missed_after_a_trial_without_one(folder: Path, command: Command) -> None:
    results = Results(folder)
    data = results.study()
    (folder / "study.json").unlink()
    check.note_no_study(results, "cambrian trial")
    assert command("doctor", folder)[0] == 0
    results.write_study(data)
    (folder / "study.json").unlink()
    status, said = command("doctor", folder)
    assert (status, "study.json: is missing" in said) == (1, True), said


def test_a_file_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "study.json"
    write_json(path, {"old": 1})

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left") as caught:
            write_json(path, {"new": 1})
    assert explained(caught.value).startswith(f"{path}: No space left on device; remedy: make room there")
    assert json.loads(path.read_text()) == {"old": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_a_results_folder_that_is_a_file(tmp_path: Path, command: Command) -> None:
    (tmp_path / "x").touch()
    for words in (["report", tmp_path / "x"], ["table", tmp_path / "x"], ["doctor", tmp_path / "x"]):
        status, said = command(*words)
        assert (status, "study.json" in said) == (2, True)
    with pytest.raises(OSError, match="exists"), Results(tmp_path / "x").alone():
        pass


def test_an_invalid_trial_may_lack_the_frames_of_its_page_loads(folder: Path) -> None:
    """A guest that was cut off leaves none: that is no damage, and the report shows the reason."""
    results, trial, reason = Results(folder), trial_of(folder), "the guest has used 100 s of CPU time"
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["trial"]["flows"][0]["page"] = {"name": "a", "objects": [{"count": 1, "size_bytes": 5000}]}
    write_json(trial / "manifest.json", manifest)
    with pytest.raises(Damaged, match=r"objects\.parquet: is missing"):
        results.checked(trial.name)
    write_json(trial / "manifest.json", manifest | {"guest": None})
    report_results.reject(folder, trial.name, reason)
    assert results.checked(trial.name).verdict["reasons"] == [reason]
    assert [record.reasons for cell in collect(results, judged=False).cells for record in cell.records] == [
        (reason,), (), (),
    ]  # fmt: skip
    # but if they are there, they must be whole
    (trial / "objects.parquet").write_bytes(b"no")
    (found,) = check.quick(results.trial(trial.name))
    assert found.path == trial / "objects.parquet"
