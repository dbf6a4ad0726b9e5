"""When an implementation passes: what is missed, and what a written cause excuses."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import polars as pl
import pytest
from rich.console import Console

from cambrian.proof import stacks, table
from cambrian.proof.rows import Row, summary
from cambrian.run import pool
from cambrian.stacks import catalogue
from cambrian.store.results import NO_STUDY, InUse, Results, TrialResult

GOOD = Row(
    stack="quinn",
    version="1",
    cca="cubic",
    capacity_share=0.99,
    loss_mbps=3.0,
    hashes=("ab" * 32, "ab" * 32),
    confirmed="cubic",
)


def test_kept_trials_are_of_no_study_and_locked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def running(*_: object, **__: object) -> list[Any]:
        with pytest.raises(InUse), Results(tmp_path).alone():
            pass
        return []

    monkeypatch.setattr(pool, "run_with_progress", running)
    made: Any = None
    assert stacks._run({}, made, tmp_path, "clean", 1, Console(file=io.StringIO())) == {}
    assert "cambrian stacks test" in (tmp_path / NO_STUDY).read_text()


def test_a_good_row_passes() -> None:
    assert GOOD.ok
    assert GOOD.repeats


def test_a_stack_that_cannot_confirm_is_no_miss() -> None:
    assert replace(GOOD, confirmed=None).ok


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"capacity_share": 0.62},
            "fills 62% of a clean link, less than 90% "
            "(if it should, give the reason in its manifest as causes.capacity)",
        ),
        ({"loss_mbps": 0.0}, "carried nothing with random loss"),
        ({"hashes": ("ab", "cd")}, "the same seed gave two packet traces"),
        (
            {"confirmed": "reno"},
            "runs reno (name the CCA in its manifest as the program reads it back)",
        ),
        ({"problems": ("not built: no cargo",)}, "not built: no cargo"),
    ],
)
def test_each_miss_is_named(change: dict[str, object], said: str) -> None:
    row = replace(GOOD, **change)  # type: ignore[arg-type]
    assert row.misses == [said]
    assert not row.ok
    assert f"FAILS: {said}" in "".join(table.remarks([row]))


def test_a_written_cause_excuses_its_own_test_only() -> None:
    slow = replace(GOOD, capacity_share=0.5, causes=(("capacity", "Waits."),))
    assert slow.ok
    assert not replace(slow, loss_mbps=0.0).ok
    assert replace(GOOD, hashes=("a", "b"), nondeterministic="RDSEED").ok
    assert "with a cause: Waits." in "".join(table.remarks([slow]))


def test_summary_counts_rows_stacks_and_causes() -> None:
    rows = [GOOD, replace(GOOD, cca="reno", confirmed="reno"), replace(GOOD, stack="x", confirmed="bbr")]
    assert summary(rows) == "2 of 3 implementations of 2 stacks pass"
    assert summary([replace(GOOD, problems=("hangs",))]) == "0 of 1 implementations of 1 stack pass"


def test_one_run_says_nothing_of_repetition() -> None:
    once = replace(GOOD, hashes=("ab",), problems=("clean again: the guest was killed",))
    assert once.misses == ["clean again: the guest was killed"]
    (line, _) = table.remarks([once])
    assert "two packet traces" not in line
    assert "| – |" in table.markdown([once]).splitlines()[-1]


def test_a_second_run_without_a_result_is_a_failure() -> None:
    stack = catalogue.load()["quinn"]
    row = stacks._row(stack, "cubic", "clean: x", "clean again: y", "1 % loss: z", None, kept=False)
    assert row.misses == ["clean: x", "1 % loss: z", "clean again: y"]


def test_a_trace_without_a_row_is_a_warning_and_no_failure() -> None:
    row = replace(GOOD, trace="qlog", trace_rows=0)
    assert row.ok
    assert "warning: quinn cubic: no row could be read from its qlog" in "".join(table.remarks([row]))
    assert not replace(GOOD, trace="qlog", trace_rows=9).warnings
    assert not replace(GOOD, trace="none", trace_rows=0).warnings


def test_a_failure_names_its_logs_or_how_to_keep_them() -> None:
    row = replace(GOOD, problems=("hangs",))
    assert any("--keep" in text for text in table.remarks([row]))
    assert "logs: /x/logs" in "".join(table.remarks([replace(row, logs="/x/logs")]))


@pytest.mark.parametrize(
    ("share", "loss_mbps", "clean_valid", "loss_valid", "logs"),
    [
        (0.5, 3.0, True, True, "first"),
        (0.99, 0.0, True, True, "loss"),
        (0.99, 3.0, True, False, "loss"),
        (0.99, 3.0, False, False, "first"),
        (0.99, 3.0, True, True, ""),
    ],
)
def test_the_logs_are_those_of_the_trial_that_failed(
    monkeypatch: pytest.MonkeyPatch,
    share: float,
    loss_mbps: float,
    clean_valid: bool,
    loss_valid: bool,
    logs: str,
) -> None:
    """A row that failed by a bound alone had no logs, and one that failed with loss those without."""

    def trial(folder: str, valid: bool) -> Any:
        return Mock(
            spec=TrialResult,
            folder=Path(folder),
            verdict={"valid": valid, "reasons": ["why"], "gates": [{"name": "x", "ok": valid}]},
            manifest={"packets_sha256": "ab"},
            transport=pl.DataFrame({"flow": [0]}),
            flow_end=lambda _: None,
        )

    monkeypatch.setattr(stacks, "_capacity_share", lambda _: share)
    monkeypatch.setattr(stacks, "_mbps", lambda _: loss_mbps)
    monkeypatch.setattr(stacks, "_confirmed", lambda _: "cubic")
    monkeypatch.setattr(stacks, "_logs", lambda result: result.folder.name)
    first, second, loss = trial("first", clean_valid), trial("second", True), trial("loss", loss_valid)
    row = stacks._row(catalogue.load()["quinn"], "cubic", first, second, loss, None, kept=True)
    assert (row.logs, row.ok) == (logs, not logs)


def test_the_kernel_stands_beside_the_loss() -> None:
    assert "3.0 Mbps (kernel 2.4)" in table.markdown([replace(GOOD, kernel_loss_mbps=2.44)])


def test_markdown_has_a_line_a_row() -> None:
    text = table.markdown([GOOD, replace(GOOD, problems=("a|b",))])
    assert len(text.splitlines()) == 4
    assert r"a\|b" in text
