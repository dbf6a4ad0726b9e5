"""Results directories: whole or not at all, and readable by SQL."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from cambrian.store import sums
from cambrian.store.results import Results, TrialResult, write_json
from tests.unit.report_results import KNOBS


def test_a_trial_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    results = Results(tmp_path)
    with pytest.raises(RuntimeError), results.new_trial("a" * 16) as folder:
        (folder / "packets.parquet").touch()
        raise RuntimeError("the machine went down")
    assert not list(results.trials_folder.iterdir())
    with results.new_trial("a" * 16) as folder:
        write_json(folder / "verdict.json", {"valid": True})
    assert results.has("a" * 16)
    assert [path.name for path in results.trials_folder.iterdir()] == ["a" * 16]


def test_what_a_killed_run_left_is_swept_away(tmp_path: Path) -> None:
    results = Results(tmp_path)
    (tmp_path / "trials" / f".{'b' * 16}-half").mkdir(parents=True)
    assert not results.has("b" * 16)
    results.sweep()
    assert not list(results.trials_folder.iterdir())


def test_all_trials_are_one_table_in_sql() -> None:
    results = Results(KNOBS)
    counts = dict(results.database().execute("SELECT trial, count(*) FROM packets GROUP BY trial").fetchall())
    assert counts == {name: results.trial(name).packets.height for name in counts}
    assert len(counts) == len(list(results.trials_folder.iterdir()))


def test_sql_leaves_out_a_trial_that_is_being_written(tmp_path: Path) -> None:
    # the folder's name has characters that mean more than themselves in a pattern of files
    results = Results(tmp_path / "buffers [1-3]")
    shutil.copytree(KNOBS, results.folder)
    (results.trials_folder / f".{'b' * 16}-half").mkdir()
    (results.trials_folder / f".{'b' * 16}-half" / "packets.parquet").write_bytes(b"PAR1")
    count = "SELECT count(DISTINCT trial) FROM packets"
    assert results.database().execute(count).fetchall() == Results(KNOBS).database().execute(count).fetchall()


def qdisc(kind: str, sent: int, dropped: int = 0, backlog: int = 0) -> dict[str, Any]:
    return {"kind": kind, "sent_packets": sent, "dropped_packets": dropped, "backlog_packets": backlog}


def counted(folder: Path, qdiscs: list[dict[str, Any]], **network: Any) -> tuple[int, int]:
    manifest = {"trial": {"network": network}, "guest": {"counters": {"flows": [{"forward": qdiscs}]}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (found,) = TrialResult(folder).link_counts("forward")
    return found


def test_a_links_losses_are_netems_and_the_periodic_ones_whatever_qdisc_is_named_first(
    tmp_path: Path,
) -> None:
    # of 1,000 packets each 100th is lost; of the 990 others netem drops 5 and holds 3
    rows = [qdisc("clsact", 1000), qdisc("netem", 982, dropped=5, backlog=3)]
    for listed in (rows, rows[::-1]):
        assert counted(tmp_path, listed, loss_every_packets=100) == (1000, 15)
    assert counted(tmp_path, rows[1:]) == (990, 5)


def test_copies_hide_no_periodic_loss(tmp_path: Path) -> None:
    # of 1,000 packets each 100th is lost; netem makes 30 copies of the others
    rows = [qdisc("clsact", 1000), qdisc("netem", 1020)]
    assert counted(tmp_path, rows, loss_every_packets=100, duplicate_percent=3) == (1030, 10)


def test_a_list_of_hashes_takes_names_of_any_bytes(tmp_path: Path) -> None:
    for name in ("a\u2028b", "c\x0cd", os.fsdecode(b"\xff"), "two  spaces"):
        (tmp_path / name).write_text("x")
    sums.write(tmp_path)
    assert not list(sums.damage(tmp_path, tmp_path))
    (tmp_path / "a\u2028b").write_text("other")
    (found,) = sums.damage(tmp_path, tmp_path)
    assert found.why == "differs from its hash in SHA256SUMS"
    empty = tmp_path / "empty"
    empty.mkdir()
    sums.write(empty)
    assert not list(sums.damage(empty, empty))
