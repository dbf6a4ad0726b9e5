"""Results directories: whole or not at all, and readable by SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.store.results import Results, write_json
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
