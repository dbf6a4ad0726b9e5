"""benchmarks.speed: what fails, what is kept and shown, and the page of the documentation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from benchmarks.speed import __main__ as command
from benchmarks.speed import cores, counts, kept, memory, page, parts, tables, trials
from benchmarks.speed.jobs import Asked, Found, Job, Part, Row, Turn, enter, turns
from benchmarks.speed.sides import ROOT, Side


def row(packets: int = 10_000, **more: int) -> Row:
    """Counts of a stack with three calls for each packet."""
    figures = {"packets": packets, "calls": 30_000, "in_vain": 0, "page_faults": 500, "traps": 16} | more
    figures["hand_overs"] = figures["calls"] + figures["page_faults"] + figures["traps"]
    return figures


def side(name: str) -> Side:
    """A side by its name only."""
    fake = object.__new__(Side)
    fake.name = name
    return fake


def test_the_page_is_of_the_kept_figures() -> None:
    """Remedy: make reference"""
    assert page.PAGE.read_text(encoding="utf-8") == page.text(kept.load())


def test_counts_of_every_stack_are_kept() -> None:
    """Remedy: .venv/bin/python -m benchmarks.speed --only counts --update"""
    assert set(kept.rows(kept.load(), "counts")) == set(trials.every_stack())


def test_the_kept_file_is_written_as_it_is_read(tmp_path: Path) -> None:
    kept.write(tmp_path / "speed.json", kept.load())
    assert (tmp_path / "speed.json").read_text() == kept.FILE.read_text()


def test_ci_s_stacks_are_those_that_it_builds() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = dict(re.findall(r"^(STACKS|TEST_STACKS) := (.*)$", makefile, re.MULTILINE))
    built = named["TEST_STACKS"].replace("$(STACKS)", named["STACKS"]).split()
    assert set(counts.BUILT_IN_CI) == set(built)


@pytest.mark.parametrize(
    ("now", "worse"),
    [
        (row(), []),
        (row(calls=31_000), []),
        (row(calls=31_600), ["calls", "hand-overs"]),
        # half as many packets for the same calls
        (row(packets=5_000), ["calls", "page faults", "hand-overs"]),
        # less than 0.002 for each packet
        (row(in_vain=10), []),
        (row(in_vain=30), ["in vain"]),
        (row(traps=50), ["traps"]),
        # another machine's libraries
        (row(page_faults=650), []),
        (row(page_faults=750), ["page faults"]),
        (row(calls=20_000), []),
    ],
)
def test_a_count_that_rises_fails(now: Row, worse: list[str]) -> None:
    found = counts.risen({"one:cubic": now}, {"one:cubic": row()})
    assert [re.findall(r": [\d.]+ (.*) for each packet", sentence) for sentence in found] == [
        [one] for one in worse
    ]


def test_a_stack_without_kept_counts_fails() -> None:
    assert counts.risen({"new:cubic": row()}, {}) == [
        "new:cubic: no counts are kept; keep them with --only counts --update new:cubic"
    ]


def test_counts_are_those_of_all_programs() -> None:
    side_of = {"calls": {"45": [10, 2], "202": [5, 0]}, "page_faults": 3, "traps": 1}
    processes: dict[str, Any] = {"a": {"kernel_entries": side_of}, "b": {"kernel_entries": side_of}, "c": {}}
    guest = {"processes": processes, "counters": {"bottleneck": [{"sent_packets": 20}]}}
    assert counts.counts_of({"guest": guest}) == {
        "packets": 20,
        "calls": 30,
        "in_vain": 4,
        "page_faults": 6,
        "traps": 2,
        "hand_overs": 38,
    }


def test_sides_take_turns_in_going_first() -> None:
    jobs = [Job(name, 1.0, frozenset(), lambda _: {}) for name in ("a", "b")]
    part = Part("", lambda _: jobs, repeats=(2, 1))
    order = [(turn.job.row, turn.side.name) for turn in turns({"x": part}, Asked(), [side("1"), side("2")])]
    first = [("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")]
    assert order == [*first, ("a", "2"), ("a", "1"), ("b", "2"), ("b", "1")]


def test_what_is_exact_is_measured_once() -> None:
    assert parts.PARTS["counts"].rounds(Asked(repeats=7)) == 1
    assert parts.PARTS["duel-20"].rounds(Asked(repeats=7)) == 7
    assert parts.PARTS["duel-20"].rounds(Asked(quick=True)) < parts.PARTS["duel-20"].rounds(Asked())


def test_samples_are_gathered_and_what_must_be_the_same_is_compared() -> None:
    found: Found = {}
    turn = Turn("duel-20", Job("tcp:cubic", 1.0, frozenset(), lambda _: {}), side("this checkout"))
    assert enter(found, turn, {"wall_s": [1.0], "packets": 5}) == []
    assert enter(found, turn, {"wall_s": [2.0], "packets": 5}) == []
    assert enter(found, turn, {"wall_s": [3.0], "packets": 6}) == [
        "duel-20, tcp:cubic, this checkout: packets is 6, and was 5 in a run before"
    ]
    assert found["duel-20"]["tcp:cubic"] == {"wall_s": [1.0, 2.0, 3.0], "packets": 5}


def test_parts_are_chosen_by_name_and_by_group() -> None:
    assert list(parts.chosen([])) == list(parts.PARTS)
    assert list(parts.chosen(["memory", "duels"])) == ["duel-20", "duel-100", "flows-8", "empty", "memory"]
    with pytest.raises(ValueError, match="no part duel"):
        parts.chosen(["duel"])


def test_counts_are_kept_stack_by_stack_and_times_as_a_whole() -> None:
    where = {"processor": "P", "cores": 2, "load": 0.1, "date": "2026-01-01", "commit": ""}
    before: Found = {"counts": {"b": row(), "a": row()}, "empty": {"x": {"wall_s": [9.0]}}}
    first = kept.merged({}, before, where)
    found: Found = {
        "empty": {"tcp:cubic": {"wall_s": [1.0], "packets_sha256": "0"}},
        "counts": {"a": row(calls=1) | {"packets_sha256": "0"}},
    }
    both = kept.merged(first, found, where | {"load": 0.2})
    assert list(both) == ["counts", "empty"]
    assert both["counts"] == {"rows": {"a": row(calls=1), "b": row()}}
    assert both["empty"] == {"where": where | {"load": 0.2}, "rows": {"tcp:cubic": {"wall_s": [1.0]}}}


def test_the_page_says_what_is_not_measured_yet_and_on_what_the_rest_was() -> None:
    assert page.text({}).count("Not measured yet.") == len(parts.PARTS)
    where = {"processor": "P", "cores": 2, "load": 3.0, "date": "2026-01-01", "commit": "abc"}
    timed = row() | {"wall_s": [2.0, 1.0, 4.0], "virtual_s": 60.0}
    text = page.text({"duel-20": {"where": where, "rows": {"tcp:cubic": timed}}})
    assert "| tcp:cubic | 60 | 2.00 (1.00–4.00) | 30 | 10,000 | 3.05 |\n" in text
    assert "P, 2 cores, load 3 at the start (busy: no figures of record), 2026-01-01, commit abc.\n" in text


@pytest.mark.parametrize("name", parts.PARTS)
def test_every_part_has_a_table(name: str) -> None:
    figures = row() | {"rows": 9, "virtual_s": 1.0, "trials": 3}
    times = {key: [1.5] for key in ("wall_s", "read_s", "metrics_s", "trial_s", "command_s", "peak_mib")}
    made = tables.table(name, {"one": figures | times})
    assert [len(line) for line in made.rows] == [len(made.headings)]


def test_a_comparison_has_medians_the_ratio_and_the_packets() -> None:
    mine = row() | {"wall_s": [1.0, 2.0, 3.0], "packets_sha256": "0"}
    other = row(calls=60_000) | {"wall_s": [4.0], "packets_sha256": "0"}
    found: dict[str, Found] = {"this": {"duel-20": {"x": mine}}, "other": {"duel-20": {"x": other}}}
    assert tables.compared("duel-20", found).rows == [
        ["x", "calls for each packet", "3.000", "6.000", "2.00", "the same"],
        ["x", "hand-overs for each packet", "3.052", "6.052", "1.98", ""],
        ["x", "wall, s", "2.00 (1.00–3.00)", "4.00", "2.00", ""],
    ]
    assert tables.same(mine, other | {"packets_sha256": "1"}) == "OTHERS"


def test_time_counts_from_when_every_worker_has_ended_one_trial() -> None:
    assert cores.seconds_a_trial([5.0, 7.0, 9.0, 11.0], 1) == 2.0
    assert cores.seconds_a_trial([6.0, 6.0, 8.0, 8.0, 10.0, 10.0], 2) == 1.0


def test_memory_is_that_of_descendants() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 1; true"]) as top, memory.Watch(top.pid) as watch:
        top.wait()
    assert 2**16 < watch.peak_bytes < 2**26


def test_runs_that_left_other_stores_fail() -> None:
    rows: Found = {
        "cores": {"--jobs 1": {"store_sha256": "0"}},
        "cluster": {"local:1": {"store_sha256": "0"}},
    }
    assert cores.differing(rows) == cores.differing({}) == []
    rows["cores"]["--jobs 2"] = {"store_sha256": "1"}
    assert cores.differing(rows) == ["the stores of these runs differ: --jobs 1, --jobs 2, local:1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "speed"], "no part speed"),
        (["unheard-of"], "no stack unheard-of"),
        (["tcp:unheard-of"], "tcp has no controller unheard-of"),
        (["--check", "--against-checkout", "."], "leave out the comparison"),
        (["--check", "--only", "empty"], "add --only counts"),
        (["--update", "--quick"], "leave out --quick"),
        (["--repeats", "0"], "invalid"),
    ],
)
def test_what_cannot_be_asked_ends_with_2_and_the_remedy(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["speed", *words])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_help_names_every_part(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["speed", "--help"])
    with pytest.raises(SystemExit):
        command.main()
    said = capsys.readouterr().out
    assert all(f"    {name} " in said for name in parts.PARTS)
    assert "{" not in said


@pytest.mark.parametrize(
    ("words", "calls", "status"),
    [(["--check"], 30_000, 0), (["--check"], 40_000, 1), ([], 40_000, 0)],
)
def test_the_exit_status_says_if_a_count_has_risen(
    words: list[str], calls: int, status: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "speed.json"
    kept.write(file, {"counts": {"rows": {"tcp:cubic": row()}}})
    monkeypatch.setattr(kept, "FILE", file)

    def measured(*words: object) -> list[str]:
        cast("dict[str, Found]", words[3])["this checkout"] = {"counts": {"tcp:cubic": row(calls=calls)}}
        return []

    monkeypatch.setattr(command, "_measured", measured)
    figures = tmp_path / "all.json"
    monkeypatch.setattr(sys, "argv", ["speed", "--only", "counts", "--json", str(figures), *words])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == status
    kept_figures = json.loads(figures.read_text())["this checkout"]["counts"]["rows"]["tcp:cubic"]
    assert kept_figures["calls"] == calls
