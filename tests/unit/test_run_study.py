"""What a run says about the results that its folder has already."""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from cambrian import parallel
from cambrian.interrupts import Interrupted
from cambrian.run import preflight, prepare, study
from cambrian.run.study import RunOptions
from cambrian.store.reading import Unread
from cambrian.store.results import Results
from cambrian.study.model import Network, Stopping, Study
from cambrian.trial import carry_out
from cambrian.trial.limits import Account, Limits
from tests.unit import report_results, test_run_scheduler

OPTIONS = RunOptions("knobs", only="*tls*")


def test_trials_that_the_new_study_leaves_out_are_told(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    data = json.loads((folder / "study.json").read_text())
    names = {name for group in data["groups"] for name in group["trials"]}
    now = Study.model_validate(data["study"])
    assert study._left_out(Results(folder), now, names, OPTIONS) == ""
    again = replace(OPTIONS, started_by=data["command"])
    assert study._left_out(Results(folder), now, set(), again) == ""
    line = study._left_out(Results(folder), now, set(list(names)[2:]), OPTIONS)
    assert line.startswith(f"study.json listed trials of {data['command']}, and now lists only those of ")
    assert (
        "cambrian run knobs --seed 1 --clock virtual --only '*tls*': 2 earlier trials stay in this " in line
    )
    assert "remedy: --out another folder" in line


def test_what_cannot_be_read_now_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many open files, say: the trial and study.json may be whole."""
    folder = report_results.copy(tmp_path)
    results = Results(folder)
    group: Any = SimpleNamespace(trials=(object(),), stopping=None)
    names = {id(group.trials[0]): next(iter(results.study()["groups"][0]["trials"]))}
    now = Study.model_validate(results.study()["study"])
    said = io.StringIO()

    def no_file(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as none_left:
        none_left.setattr(os, "open", no_file)
        with pytest.raises(Unread, match=r"Too many open files; remedy: make it readable"):
            study._damaged([group], names, results, Console(file=said))
        with pytest.raises(Unread):
            study._left_out(results, now, set(), OPTIONS)
    (results.trial(names[id(group.trials[0])]).folder / "verdict.json").write_text("{")
    assert study._damaged([group], names, results, Console(file=said)) == set(names.values())
    assert said.getvalue().startswith("damaged, so this trial runs again: ")


def test_the_mean_rate_of_a_trace_is_kept(tmp_path: Path) -> None:
    """A report may be made where the trace's file is not."""
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n4\n")
    networks = (
        Network(name="follows", trace_file=str(trace), rtt_ms=50, buffer_bdp=1),
        Network(name="steady", rate_mbps=20, rtt_ms=50, buffer_bdp=1),
    )
    asked = Study(name="s", title="t", design="solo", networks=networks)
    kernel: Any = SimpleNamespace(kernel=SimpleNamespace(version="7", sha256="0"))
    empty: Any = SimpleNamespace(groups=[])
    study._record(Results(tmp_path), asked, empty, kernel, OPTIONS)
    kept = Results(tmp_path).study()["trace_mean_mbps"]
    assert kept == {"follows": pytest.approx(3 * 1514 * 8 / 4000)}


def test_the_same_command_tells_what_else_has_changed(tmp_path: Path) -> None:
    def same_command(data: dict[str, Any]) -> None:
        data["command"] = OPTIONS.command

    results = Results(report_results.copy(tmp_path, same_command))
    now = Study.model_validate(results.study()["study"])
    line = study._left_out(results, now, set(), OPTIONS)
    assert line.startswith("since the same command ran before, what its trials run has changed (a stack's")
    assert "12 earlier trials stay in this folder" in line and "earlier command" not in line
    other = now.model_copy(update={"seeds": 9})
    line = study._left_out(results, other, set(), OPTIONS)
    assert line.startswith("since the same command ran before, the study has changed: 12 earlier trials")


def test_many_patterns_are_shortened(tmp_path: Path) -> None:
    results = Results(report_results.copy(tmp_path))
    now = Study.model_validate(results.study()["study"])
    many = replace(OPTIONS, only=",".join(f"net{number}/*" for number in range(40)))
    line = study._left_out(results, now, set(), many)
    assert "--only 'net0/*,net1/*,net2/*' and 37 more: 12 earlier trials" in line


def test_patterns_without_quotes_are_shortened_too() -> None:
    many = RunOptions("knobs", only="a,b,c,d,e,f,g,h,i").command
    assert study._shortened(many).endswith("--only a,b,c and 6 more")
    few = RunOptions("knobs", only="it's,b").command
    assert study._shortened(few) == few


def test_other_quotes_make_no_other_command(tmp_path: Path) -> None:
    def quoted(data: dict[str, Any]) -> None:
        data["command"] = "cambrian run knobs --seed 1 --clock virtual --only 'quinn'"

    results = Results(report_results.copy(tmp_path, quoted))
    now = Study.model_validate(results.study()["study"])
    line = study._left_out(results, now, set(), replace(OPTIONS, only="quinn"))
    assert line.startswith("since the same command ran before")


def test_a_folder_without_a_usable_study_has_nothing_to_tell(tmp_path: Path) -> None:
    now = Study.model_validate(Results(report_results.KNOBS).study()["study"])
    assert study._left_out(Results(tmp_path), now, set(), OPTIONS) == ""
    (tmp_path / "study.json").write_text("{")
    assert study._left_out(Results(tmp_path), now, set(), OPTIONS) == ""


def test_an_interrupted_run_says_that_its_trials_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise Interrupted(2)

    monkeypatch.setattr(prepare, "ensure", lambda *_: None)
    monkeypatch.setattr(study, "_run_groups", interrupted)
    ended: list[bool] = []
    monkeypatch.setattr(parallel, "end_kept", lambda: ended.append(True))
    asked = Study.model_validate(Results(report_results.KNOBS).study()["study"])
    with pytest.raises(Interrupted) as stop:
        study.run_groups(asked, [], tmp_path, OPTIONS, Console(quiet=True))
    assert str(stop.value) == "cambrian: interrupted; finished trials are kept"
    # idle workers leave their memory to the trials
    assert ended
    assert str(Interrupted(2)) == "cambrian: interrupted"


def test_another_shard_is_another_command(tmp_path: Path) -> None:
    """Two shards in one folder: nothing has changed that trials run."""

    def first_shard(data: dict[str, Any]) -> None:
        data |= {"command": OPTIONS.command, "shard": 1, "shards": 2}

    results = Results(report_results.copy(tmp_path, first_shard))
    now = Study.model_validate(results.study()["study"])
    line = study._left_out(results, now, set(), replace(OPTIONS, shard=(2, 2)))
    assert " --shard 1/2, and now lists only those of " in line and " --shard 2/2: 12 earlier" in line
    same = study._left_out(results, now, set(), replace(OPTIONS, shard=(1, 2)))
    assert same.startswith("since the same command ran before")


@pytest.mark.parametrize(
    ("limit_s", "had", "again"),
    [
        (None, Limits(1), False),
        (1, Limits(1), False),
        (2, Limits(1), True),
        # a limit that grows with the guest's clock
        (9, Limits(1, 4), False),
        (10, Limits(1, 4), True),
    ],
)
def test_a_larger_cpu_limit_runs_again_what_used_up_a_smaller_one(
    monkeypatch: pytest.MonkeyPatch, limit_s: float | None, had: Limits, again: bool
) -> None:
    reason = Account(had, 5).look(9, 1, 1)
    assert reason
    verdicts = {"spins": [reason], "valid": [], "other": ["saturation: 3 % (allowed: 1 s)"]}
    results: Any = SimpleNamespace(
        has=lambda name: name in verdicts,
        trial=lambda name: SimpleNamespace(verdict={"reasons": verdicts[name]}),
    )
    monkeypatch.setattr(study, "_damaged", lambda *_: set())
    printed = io.StringIO()
    names = dict(enumerate([*verdicts, "missing"]))
    options = replace(OPTIONS, cpu_limit_s=limit_s)
    found = study._again([], names, results, options, Console(file=printed, width=200))
    assert found == ({"spins"} if again else set())
    assert ("1 trial that used up a smaller limit run again" in printed.getvalue()) == again


@pytest.mark.parametrize(
    ("half_width_mbps", "left"), [(1, "none is left to run"), (0.1, "left: at most 4 trials")]
)
def test_a_dry_run_asks_the_stopping_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half_width_mbps: float, left: str
) -> None:
    """Eight of at most twelve seeds have results, whose throughputs are up to 1 Mbps apart."""
    rule = Stopping(min_seeds=6, max_seeds=12, half_width_mbps=half_width_mbps)
    asked = test_run_scheduler.group("a", rule)
    monkeypatch.setattr(carry_out, "trial_id", lambda trial, _: f"a-{trial.seed}")
    monkeypatch.setattr(preflight, "all_built", lambda *_, **__: True)
    monkeypatch.setattr(prepare, "ensure", lambda *_: None)
    monkeypatch.setattr(study, "_damaged", lambda *_: set())
    for seed, trial in enumerate(asked.trials[:8]):
        test_run_scheduler.put(Results(tmp_path), f"a-{trial.seed}", trial, (10.0 + seed % 2,))
    printed = io.StringIO()
    study.tell_kept(OPTIONS, [([asked], tmp_path)], Console(file=printed, width=200))
    assert left in printed.getvalue()


def test_the_command_can_be_run_again_as_it_is() -> None:
    options = RunOptions("my studies/wan.toml", only="quinn, it's", contestants=("quinn/my cc",), trust=True)
    assert shlex.split(options.command) == [
        *("cambrian", "run", "my studies/wan.toml", "--contestant", "quinn/my cc"),
        *("--seed", "1", "--clock", "virtual", "--trust", "--only", "quinn, it's"),
    ]
