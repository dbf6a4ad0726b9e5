"""The gate's file, its baseline, and what it writes: JUnit XML, Markdown, lines for GitHub Actions."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock
from xml.etree import ElementTree

import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from cambrian import paths
from cambrian.cli import app, gating, shared
from cambrian.gate import baseline, carry_out, differences, output, snapshot
from cambrian.gate.carry_out import Gate, GateFile, Result
from cambrian.gate.snapshot import Parameter, Place, Probe, Snapshot
from cambrian.interrupts import Interrupted
from cambrian.run import prepare, study
from cambrian.run.study import RunOptions
from cambrian.stacks import catalogue
from cambrian.store.results import InUse, Results, TrialResult
from cambrian.study.errors import StudyError
from cambrian.suites.plan import Part, Planned

BEFORE = Snapshot(
    contestant="quinn/cubic",
    made_with={"cambrian": "0.1.0", "quinn": "0.11.9 abc"},
    packets={"alone/net/quinn-cubic seed 1": "aa", "alone/net/quinn-cubic seed 2": "bb"},
    verdicts={"alone": "conformant"},
    places={
        "alone/net": Place(
            values={"throughput_mbps": {"1": 9.4, "2": 9.5, "3": 9.45}},
            parameters={
                "beta": Parameter(
                    value=0.7, low=0.69, high=0.71, trials=3, events=9, status="as it should be"
                ),
                "pacing": Parameter(label="paced", trials=3, events=9, status="other choice"),
            },
            probes={"response": Probe(effect=1.0, low=0.9, high=1.1, state="equivalent")},
        ),
        "alone/other": Place(values={"plt_ms": {"1": 500.0}}),
    },
)
AFTER = BEFORE.model_copy(
    update={
        "packets": {"alone/net/quinn-cubic seed 1": "cc", "alone/net/quinn-cubic seed 2": "invalid: crashed"},
        "verdicts": {"alone": "off by a parameter"},
        "made_with": {"cambrian": "0.1.0", "quinn": "0.11.10 def"},
        "places": {
            "alone/net": BEFORE.places["alone/net"].model_copy(
                update={"values": {"throughput_mbps": {"1": 3.0, "2": 3.1, "3": 3.05}}}
            )
        },
    }
)


def written(folder: Path, text: str, name: str = "gate.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def result() -> Result:
    compared = differences.snapshots(BEFORE, AFTER)
    gate = Gate(Path("my.toml"), GateFile(contestant="quinn/cubic"))
    return Result(gate, carry_out.outcome_of(compared), compared, all_seeds=True)


def test_a_baseline_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    baseline.write(path, BEFORE, "cambrian gate my.toml --update")
    assert baseline.read(path) == BEFORE
    text = path.read_text()
    assert text.startswith("# Made by `cambrian gate my.toml --update`.")
    assert "beta = {value = 0.7, low = 0.69, high = 0.71, trials = 3" in text
    assert [one.name for one in tmp_path.iterdir()] == ["b.toml"]


def test_trials_of_two_contestants_are_compared_by_the_name_of_one() -> None:
    names = [
        "a/net/quinn-cubic seed 1",
        "d/net/quinn-cubic+tcp-cubic seed 2 order 1",
        "a/net/tcp-cubic seed 1",
        "p/net/quinn-cubic+quinn-cubic seed 1",
    ]
    before = BEFORE.model_copy(update={"packets": dict.fromkeys(names, "aa")})
    found = snapshot.renamed(before, "quic-go/reno").packets
    assert list(found) == [name.replace("quinn-cubic", "quic-go-reno") for name in names]


def test_a_wrong_baseline_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    baseline.write(path, BEFORE, "x")
    path.write_text(path.read_text().replace("trials = 3", "trails = 3", 1))
    with pytest.raises(StudyError) as error:
        baseline.read(path)
    assert "trails" in str(error.value) and error.value.line


def test_without_a_baseline_the_error_says_how_to_make_it(tmp_path: Path) -> None:
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/cubic"'))
    assert gate.baseline == tmp_path / "gate.baseline.toml"
    with pytest.raises(StudyError, match="--update"):
        carry_out.run(gate, tmp_path / "out", RunOptions("gate"), Console(quiet=True), update=False)


def test_a_study_that_the_stack_cannot_run_is_named_with_the_gates_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error named a file inside Cambrian alone, which a user cannot change."""

    def refused(part: Part, _: RunOptions) -> Planned:
        raise StudyError(file=str(part.path), problem="it cannot", remedy="mend the stack")

    monkeypatch.setattr(carry_out, "plan", refused)
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/cubic"'))
    with pytest.raises(StudyError) as raised:
        carry_out.planned(gate, RunOptions("gate"))
    told = [raised.value, *raised.value.others]
    assert [one.remedy for one in told] == [
        f'mend the stack; or leave "{name}" out of studies in {gate.path}' for name in ("alone", "duel")
    ]


@pytest.mark.parametrize("option", ["--junit", "--json", "--markdown"])
def test_a_named_pipe_that_nothing_reads_is_no_report(tmp_path: Path, option: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ended = CliRunner().invoke(app, ["gate", "gate.toml", option, str(pipe)])
    assert ended.exit_code == 2 and "named pipe, and nothing reads it" in ended.stderr


def test_a_named_pipe_with_a_reader_gets_the_whole_report(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    CliRunner().invoke(app, ["gate", str(tmp_path / "no.toml"), "--json", str(pipe)])
    with os.fdopen(reader) as file:
        assert json.load(file) == []


@pytest.mark.parametrize(("rate_mbps", "outcome", "runs"), [(3, "not judged", 1), (5, "different", 2)])
def test_the_first_seeds_are_enough_for_another_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rate_mbps: int, outcome: str, runs: int
) -> None:
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/cubic"'))
    group = "alone/net/quinn-cubic"
    was = {"conditions": {group: "rate_mbps = 5"}}
    baseline.write(gate.baseline, BEFORE.model_copy(update=was), "x")
    now = {group: f"rate_mbps = {rate_mbps}"}
    run_parts = Mock(return_value=())
    monkeypatch.setattr(carry_out, "run_parts", run_parts)
    monkeypatch.setattr(snapshot, "trials", lambda *_: [(f"{group} seed 1", None)])
    monkeypatch.setattr(snapshot, "asked", lambda *_: (now, {}))
    monkeypatch.setattr(snapshot, "take", lambda *_: AFTER.model_copy(update={"conditions": now}))
    options = RunOptions("gate", trust=True)
    found = carry_out.run(gate, tmp_path / "out", options, Console(quiet=True), update=False)
    assert (found.outcome, run_parts.call_count, found.all_seeds) == (outcome, runs, runs == 2)
    assert found.compared is not None and bool(found.compared.conditions) == (runs == 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('contestant = "quinn"', "contestant"),
        ('contestant = "quin/cubic"', "unknown stack quin"),
        ('contestant = "tcp/cubic"', "is the reference"),
        ('contestant = "quinn/cubic"\nseeds = 2', "seeds"),
        ('contestant = "quinn/cubic"\nfirst_seeds = 9', "more than seeds"),
        ('contestant = "quinn/cubic"\nstudies = ["no.toml"]', "no.toml"),
        ('contestant = "quinn/cubic"\nstudies = ["alone", "alone"]', "a second study called alone"),
        ('contestant = "quinn/cubic"\nbase = "x"', "baseline"),
        ('contestant = "quinn/cubic"\nstudies = ["my page.toml"]', "cannot have a blank"),
        ('contestant = "quinn/cubic"\nbaseline = "gate.toml"', "the gate itself"),
        ('contestant = "quinn/cubic"\nstudies = ["page.toml"]\nbaseline = "page.toml"', "one of its studies"),
    ],
)
def test_a_wrong_gate_is_an_error_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    for name in ("my page.toml", "page.toml"):
        written(tmp_path, "", name)
    with pytest.raises(StudyError) as error:
        carry_out.read(written(tmp_path, text))
    assert said in str(error.value)
    assert error.value.line == text.count("\n") + 1


def test_a_study_without_the_contestant_is_an_error(tmp_path: Path) -> None:
    study = """name = "page"
title = "Nobody"
design = "solo"
duration_s = 5
seeds = 1
[[network]]
rate_mbps = 5
rtt_ms = 20
buffer_bdp = 1
[[contestant]]
stack = "quic-go"
cca = "reno"
"""
    written(tmp_path, study, "page.toml")
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/cubic"\nstudies = ["page.toml"]'))
    with pytest.raises(StudyError, match="no trial of it has quinn/cubic"):
        carry_out.planned(gate, RunOptions("gate"))


def _gates(folder: Path, *names: str) -> list[str]:
    return [str(written(folder, 'contestant = "quinn/cubic"', f"{name}.toml")) for name in names]


def _answers(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Result | BaseException]) -> None:
    """Let the gates of these files end so, without a trial."""

    def run(gate: Gate, *_: object, **__: object) -> Result:
        answer = answers[gate.path.stem]
        if isinstance(answer, BaseException):
            raise answer
        return replace(answer, gate=gate)

    monkeypatch.setattr(carry_out, "run", run)


def test_one_gate_that_fails_leaves_the_others_and_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = StudyError(file="a.baseline.toml", problem="not written", remedy="mend the stack")
    _answers(monkeypatch, {"a": broken, "b": result()})
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    words = ["gate", *_gates(tmp_path, "a", "b"), "--junit", str(junit), "--markdown", str(summary)]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 1, told.output
    assert "could not run: a.baseline.toml: not written" in told.output
    cases = {case.get("name"): case for case in ElementTree.parse(junit).iter("testcase")}
    assert cases["a.baseline.toml"].find("error") is not None
    assert "could not be judged" in summary.read_text() and "not written" in summary.read_text()
    updated = CliRunner().invoke(app, [*words, "--update"])
    assert updated.exit_code == 2 and "wrote" in updated.output
    assert updated.output.count("wrote") == 1, updated.output


def test_gates_of_one_name_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = []

    def run(gate: Gate, folder: Path, *_: object, **__: object) -> Result:
        places.append(str(folder))
        return replace(result(), gate=gate)

    monkeypatch.setattr(carry_out, "run", run)
    monkeypatch.chdir(tmp_path)
    files = []
    for name in ("a", "b"):
        Path(name).mkdir()
        written(Path(name), 'contestant = "quinn/cubic"')
        files.append(f"{name}/gate.toml")
    CliRunner().invoke(app, ["gate", *files, *_gates(Path(), "other"), "--out", "kept"])
    assert places == ["kept/a-gate", "kept/b-gate", "kept/other"]


def test_a_baseline_of_another_version_with_an_unknown_key_names_the_version(tmp_path: Path) -> None:
    path = tmp_path / "gate.baseline.toml"
    baseline.write(path, BEFORE.model_copy(update={"made_with": {"cambrian": "9.9"}}), "a test")
    assert baseline.read(path).made_with == {"cambrian": "9.9"}
    path.write_text("format = 2\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(StudyError, match=r"or compare with Cambrian 9\.9, which made it"):
        baseline.read(path)


def test_a_gate_that_fails_alone_writes_its_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _answers(monkeypatch, {"a": OSError(28, "No space left on device", "results")})
    junit = tmp_path / "junit.xml"
    told = CliRunner().invoke(app, ["gate", *_gates(tmp_path, "a"), "--junit", str(junit)])
    assert isinstance(told.exception, OSError)
    assert next(ElementTree.parse(junit).iter("error")).text


def test_a_gate_file_with_an_error_leaves_no_report_of_an_earlier_run(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    junit.write_text('<testsuites><testsuite name="of an earlier run"/></testsuites>')
    told = CliRunner().invoke(app, ["gate", str(tmp_path / "none.toml"), "--junit", str(junit)])
    assert isinstance(told.exception, StudyError)
    assert not list(ElementTree.parse(junit).iter("testsuite"))


def test_a_gate_that_is_interrupted_is_in_the_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _answers(monkeypatch, {"a": replace(result(), outcome="unchanged"), "b": Interrupted(15)})
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    gates = [tmp_path / Path(name).name for name in _gates(tmp_path, "a", "b")]
    with pytest.raises(Interrupted):
        gating.gate(gates, junit=junit, markdown=summary)
    assert [one.get("message") for one in ElementTree.parse(junit).iter("error")][-1] == "interrupted"
    assert summary.read_text().endswith("### quinn/cubic: could not be judged\n\n- interrupted\n")


@pytest.mark.parametrize("option", ["--junit", "--json", "--markdown"])
def test_a_report_that_cannot_be_written_is_told_before_the_first_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    _answers(monkeypatch, {"a": AssertionError("it ran")})
    earlier = tmp_path / "earlier.xml"
    earlier.write_text("<testsuites><testsuite/></testsuites>")
    given = ["--junit", str(earlier), option, str(tmp_path)]
    told = CliRunner().invoke(app, ["gate", *_gates(tmp_path, "a"), *given])
    assert isinstance(told.exception, IsADirectoryError)
    # nor is an earlier run's report left, which may be green
    assert option == "--junit" or not list(ElementTree.parse(earlier).iter("testsuite"))


def test_reports_are_whole_if_the_name_of_the_gate_is_not_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = os.fsdecode(b"gate\xff")
    wrong = StudyError(file=f"{name}.toml", problem="no baseline", remedy="make it")
    _answers(monkeypatch, {name: wrong})
    reports = [tmp_path / report for report in ("j.xml", "j.json", "summary.md")]
    options = [f"--{kind}={path}" for kind, path in zip(("junit", "json", "markdown"), reports, strict=True)]
    CliRunner().invoke(app, ["gate", *_gates(tmp_path, name), *options])
    (case,) = ElementTree.parse(reports[0]).iter("testcase")
    assert case.get("name") == "gate.toml"
    (told,) = json.loads(reports[1].read_text(encoding="utf-8"))
    assert told["gate"].endswith(f"{name}.toml")
    assert "gate?.toml: no baseline" in reports[2].read_text(encoding="utf-8")


def test_each_gate_has_the_stacks_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMBRIAN_STACKS", "")
    seen = []

    def run(gate: Gate, *_: object, **__: object) -> Result:
        seen.append(catalogue.load()["mine"].file.parents[2].name)
        return replace(result(), gate=gate, outcome="unchanged")

    monkeypatch.setattr(carry_out, "run", run)
    files = []
    for name in ("one", "two"):
        folder = tmp_path / name / "stacks" / "mine"
        folder.mkdir(parents=True)
        text = (paths.data() / "stacks" / "quinn" / "manifest.toml").read_text()
        (folder / "manifest.toml").write_text(text.replace('name = "quinn"', 'name = "mine"', 1))
        files.append(str(written(tmp_path / name, 'contestant = "mine/cubic"')))
    told = CliRunner().invoke(app, ["gate", *files])
    catalogue.load.cache_clear()
    assert seen == ["one", "two"] and told.exit_code == 0, told.output


def test_a_study_that_the_gate_no_longer_has_is_not_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/cubic"\nstudies = ["alone"]'))
    packets = {"alone/net/quinn-cubic seed 1": "aa", "duel/net/quinn-cubic+tcp-cubic seed 1": "bb"}
    baseline.write(gate.baseline, BEFORE.model_copy(update={"packets": packets}), "a test")
    monkeypatch.setattr(carry_out, "run_parts", lambda *_: ())
    results = [("alone/net/quinn-cubic seed 1", TrialResult(Path("none")))]
    monkeypatch.setattr(snapshot, "trials", lambda *_: results)
    monkeypatch.setattr(snapshot, "packets_of", lambda _: "aa")
    monkeypatch.setattr(snapshot, "asked", lambda *_: ({}, {}))
    now = BEFORE.model_copy(update={"packets": {"alone/net/quinn-cubic seed 1": "aa"}})
    monkeypatch.setattr(snapshot, "take", lambda *_: now)
    found = carry_out.run(gate, tmp_path / "out", RunOptions("gate"), Console(quiet=True), update=False)
    assert found.outcome == "not judged" and found.all_seeds


def test_no_other_run_exchanges_what_a_gate_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/cubic"'))
    refused = []

    def measured(parts: dict[str, Path], _: str) -> Snapshot:
        for folder in parts.values():
            with pytest.raises(InUse), Results(folder).alone():
                pass
            refused.append(folder.name)
        return BEFORE

    # as without a trial to run
    monkeypatch.setattr(prepare, "ensure", lambda *_: None)
    monkeypatch.setattr(study, "_run_groups", lambda *_: study.Summary())
    monkeypatch.setattr(snapshot, "take", measured)
    carry_out.run(gate, tmp_path / "out", RunOptions("gate", trust=True), Console(quiet=True), update=True)
    assert refused == ["alone", "duel"]
    with Results(tmp_path / "out" / "alone").alone():
        assert baseline.read(gate.baseline) == BEFORE


def test_the_gates_own_studies_run_the_contestant_and_its_reference(tmp_path: Path) -> None:
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/bbr"\nseeds = 3'))
    parts = carry_out.planned(gate, RunOptions("gate"))
    assert [part.part.name for part in parts] == ["alone", "duel"]
    alone, duel = (part.groups for part in parts)
    assert {group.subject for group in alone} == {"quinn bbr", "tcp bbr"}
    assert all(len(group.trials) == 3 for group in alone)
    assert all(len(group.trials) == 6 for group in duel)


def test_more_seeds_than_the_studies_have_are_added(tmp_path: Path) -> None:
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/bbr"\nseeds = 8'))
    alone, duel = (part.groups for part in carry_out.planned(gate, RunOptions("gate")))
    assert {len(group.trials) for group in alone} == {8} and {len(group.trials) for group in duel} == {16}


def test_the_first_seeds_run_without_a_stopping_rule(tmp_path: Path) -> None:
    written(
        tmp_path,
        'name = "mine"\ntitle = "Mine"\ndesign = "solo"\nduration_s = 5\n'
        "[stopping]\nhalf_width_mbps = 0.5\nmax_seeds = 12\n"
        "[[network]]\nrate_mbps = 5\nrtt_ms = 50\nbuffer_bdp = 1\n"
        '[[contestant]]\nstack = "$STACK"\ncca = "$CCA"\n',
        "mine.toml",
    )
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/reno"\nstudies = ["mine.toml"]'))
    (part,) = carry_out.planned(gate, RunOptions("gate"))
    (group,) = carry_out._first(part, gate).groups
    assert part.groups[0].stopping is not None
    assert group.stopping is None and len(group.trials) == 2


def test_the_baseline_of_another_contestant_is_an_error(tmp_path: Path) -> None:
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/reno"'))
    baseline.write(gate.baseline, BEFORE, "x")
    with pytest.raises(StudyError, match="it is the baseline of quinn/cubic"):
        carry_out.run(gate, tmp_path / "out", RunOptions("gate"), Console(quiet=True), update=False)


def test_a_baseline_gets_its_folder(tmp_path: Path) -> None:
    baseline.write(tmp_path / "a" / "b.toml", BEFORE, "x")
    assert baseline.read(tmp_path / "a" / "b.toml") == BEFORE


def test_junit_is_xml_whatever_a_program_wrote(tmp_path: Path) -> None:
    lost = replace(
        differences.packets(BEFORE, {}), lost={"alone/net seed 1": "invalid: \x1b[31mpanic\x1b[0m \x00"}
    )
    gate = Gate(Path("my.toml"), GateFile(contestant="quinn/cubic"))
    output.write_junit(tmp_path / "new" / "j.xml", [Result(gate, "not judged", lost, all_seeds=True)])
    text = (tmp_path / "new" / "j.xml").read_text()
    ElementTree.fromstring(text)
    assert "invalid: panic " in text


def test_a_study_beside_the_gate_takes_its_contestant(tmp_path: Path) -> None:
    written(
        tmp_path,
        'name = "mine"\ntitle = "Mine"\ndesign = "solo"\nduration_s = 5\nseeds = 3\n'
        "[[network]]\nrate_mbps = 5\nrtt_ms = 50\nbuffer_bdp = 1\n"
        '[[contestant]]\nstack = "$STACK"\ncca = "$CCA"\n',
        "mine.toml",
    )
    gate = carry_out.read(written(tmp_path, 'contestant = "quinn/reno"\nstudies = ["mine.toml"]'))
    (part,) = carry_out.planned(gate, RunOptions("gate"))
    assert part.part.name == "mine" and [group.subject for group in part.groups] == ["quinn reno"]


def test_outcomes_have_exit_statuses() -> None:
    gate = Gate(Path("g.toml"), GateFile(contestant="quinn/cubic"))
    statuses = {
        outcome: Result(gate, outcome, None, all_seeds=False).status
        for outcome in ("unchanged", "equivalent", "better", "different", "not judged")
    }
    assert statuses == {"unchanged": 0, "equivalent": 0, "better": 0, "different": 1, "not judged": 2}


def test_junit_has_a_failure_for_a_difference_and_an_error_for_a_lost_trial(tmp_path: Path) -> None:
    output.write_junit(tmp_path / "j.xml", [result()])
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()[0]
    assert suite.get("name") == "quinn/cubic" and suite.get("failures") == "1"
    # the lost trial, and the page load time that is gone
    assert suite.get("errors") == "2"
    failed = next(case for case in suite if case.find("failure") is not None)
    assert failed.get("classname") == "alone/net"
    assert "9.45 → 3.05" in str(failed[0].get("message"))
    lost = next(case for case in suite if case.find("error") is not None)
    assert "crashed" in str(lost[0].get("message"))
    assert int(suite.get("tests", 0)) == len(list(suite))


def test_another_study_is_an_error_of_the_study_and_no_failure_of_the_stack(tmp_path: Path) -> None:
    old, new = (
        one.model_copy(update={"conditions": {"alone/net": text}})
        for one, text in ((BEFORE, "rate_mbps = 8.0"), (AFTER, "rate_mbps = 7.5"))
    )
    compared = differences.snapshots(old, new)
    assert any(not one.better for one in compared.different)
    found = Result(result().gate, carry_out.outcome_of(compared), compared, all_seeds=True)
    output.write_junit(tmp_path / "j.xml", [found])
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()[0]
    said = "the study is another one: alone/net: rate_mbps = 8.0 → rate_mbps = 7.5"
    assert found.status == 2 and suite.get("failures") == "0"
    assert said in [error.get("message") for error in suite.iter("error")]
    (line,) = output.github_lines(found)
    assert line == f"::warning file=my.toml,title=cambrian gate quinn/cubic::{said}"


def test_a_gate_that_is_not_judged_has_an_error_and_an_annotation(tmp_path: Path) -> None:
    """Also if packets differ and no figure is left to compare."""
    compared = differences.snapshots(*(one.model_copy(update={"places": {}}) for one in (BEFORE, AFTER)))
    compared = replace(compared, lost={})
    found = Result(result().gate, carry_out.outcome_of(compared), compared, all_seeds=True)
    output.write_junit(tmp_path / "j.xml", [found])
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()[0]
    assert (found.status, suite.get("errors")) == (2, "1")
    assert any(output.github_lines(found))


def _not_judged(before: Place, after: Place, studies: str = "", **now: dict[str, str]) -> Result:
    """A gate whose figures on one network of five seeds are these."""
    packets = [{f"page/net/quinn-cubic seed {seed}": text for seed in range(1, 6)} for text in "ab"]
    compared = differences.snapshots(
        Snapshot(made_with={}, packets=packets[0] | now.get("gone", {}), places={"page/net": before}),
        Snapshot(made_with={}, packets=packets[1] | now.get("now", {}), places={"page/net": after}),
    )
    file = GateFile(contestant="quinn/cubic", studies=("alone", studies) if studies else ("alone",))
    return Result(Gate(Path("my.toml"), file), carry_out.outcome_of(compared), compared, all_seeds=True)


def _values(*numbers: float, name: str = "throughput_mbps") -> Place:
    return Place(values={name: {str(seed): number for seed, number in enumerate(numbers, 1)}})


def test_what_to_do_depends_on_why_a_gate_is_not_judged() -> None:
    """Seeds settle no network that is gone, no download that does not complete, and no missing figure."""
    usual, slow = _values(*[9.4] * 5), _values(9.4, 9.4, 1.0, 9.4, 9.4)
    beta = Parameter(value=0.7, low=0.69, high=0.71, trials=1, events=50, status="as it should be")
    other = beta.model_copy(update={"value": 0.5, "low": 0.49, "high": 0.51, "status": "off"})
    with_beta, with_other = (usual.model_copy(update={"parameters": {"beta": one}}) for one in (beta, other))
    of_log, of_packets = (
        usual.model_copy(update={"parameters": {"beta": one.model_copy(update={"source": source})}})
        for one, source in ((beta, "window"), (other, "packets"))
    )
    wide = beta.model_copy(update={"low": 0.52, "high": 0.88, "trials": 5, "status": "inconclusive"})
    surely = other.model_copy(update={"trials": 5})
    with_wide, with_surely = (
        usual.model_copy(update={"parameters": {"beta": one}}) for one in (wide, surely)
    )
    complete = _values(*[3.0] * 5, name="completion_s")
    for found, said in (
        (_not_judged(with_wide, with_surely), "raise seeds in my.toml"),
        (_not_judged(with_wide, with_surely, "page.toml"), "raise seeds in page.toml"),
        (_not_judged(usual, slow), "look at its trial"),
        (_not_judged(of_log, of_packets), "let the stack log its window as before"),
        (_not_judged(usual, usual, gone={"alone/old/quinn-cubic seed 1": "c"}), "restore the studies of my"),
        (_not_judged(with_beta, with_other), "let a second network show it"),
        (_not_judged(with_beta, usual), "find out why this stack no longer shows it"),
        (_not_judged(usual, with_other), "To accept the change: cambrian gate my.toml --update"),
        (_not_judged(complete, _values(*[3.0] * 4, name="completion_s")), "find out why"),
    ):
        text = output.remedy(found)
        assert found.outcome == "not judged" and said in text and "\n" not in text
        assert ("seeds in m" in text or "seeds in p" in text) == ("raise seeds" in said)
        assert ("The baseline cannot judge" in text) == ("To accept" in said)
    failed = replace(_not_judged(usual, usual), outcome="not judged", errors=("page: net seed 5: killed",))
    assert "run the gate again" in output.remedy(failed)


def test_a_figure_that_is_not_judged_says_why_everywhere(tmp_path: Path) -> None:
    found = _not_judged(_values(*[9.4] * 5), _values(9.4, 9.4, 1.0, 9.4, 9.4))
    found = replace(found, errors=("page: net seed 5: killed\nby the host",))
    assert found.compared is not None
    why = "margin 0.47; seed 3 has 1, all earlier seeds 9.4 to 9.4"
    output.write_junit(tmp_path / "j.xml", [found])
    assert any(why in str(one.get("message")) for one in ElementTree.parse(tmp_path / "j.xml").iter("error"))
    assert any(why in line for line in output.github_lines(found))
    gating._report(found, tmp_path / "summary.md")
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert why in summary and "- could not run: page: net seed 5: killed\n- by the host\n" in summary


def test_markdown_and_annotations_name_the_difference() -> None:
    found = result()
    assert found.compared is not None
    text = output.markdown("quinn", found.compared)
    assert "| different | alone/net |" in text
    assert "verdict, alone: conformant → off by a parameter" in text
    assert "software, quinn: 0.11.9 abc → 0.11.10 def" in text
    assert "figures that are missing now: 1, such as plt_ms (alone/other)" in text
    lines = list(output.github_lines(found))
    assert lines and lines[0].startswith("::error file=my.toml,title=cambrian gate quinn/cubic::alone/net")


def test_a_summary_gets_its_folder(tmp_path: Path) -> None:
    """An error after all trials would cost the results of the gates that follow."""
    gating._report(result(), tmp_path / "new" / "summary.md")
    assert "### quinn/cubic: different" in (tmp_path / "new" / "summary.md").read_text()


def test_names_are_shown_as_they_are_written() -> None:
    """A name may look like the markup of a terminal, of HTML, or of a command of GitHub Actions."""
    found = result()
    assert found.compared is not None
    place = "lte [/fast], 10 % quinn [tuned] :cat:"
    figures = tuple(replace(one, place=place) for one in found.compared.figures)
    marked = replace(found.compared, figures=figures, gaps=("<b>",))
    with shared.out.capture() as shown:
        output.terminal(shared.out, marked)
    assert "[/fast]" in shown.get() and "[tuned]" in shown.get() and ":cat:" in shown.get()
    with shared.err.capture() as shown:
        shared.err.print("results/:cat:")
    assert shown.get() == "results/:cat:\n"
    unjudged: Any = SimpleNamespace(gate=SimpleNamespace(contestant="<b>"), compared=None, errors=("why",))
    assert output.failed(unjudged).startswith("### &lt;b&gt;: could not be judged")
    assert "&lt;b&gt;" in output.markdown("quinn", marked, ["label <b>"])
    assert "<b>" not in output.markdown("quinn", marked, ["label <b>"])
    gate = replace(found.gate, path=Path("gates/a,b.toml"))
    line = next(output.github_lines(replace(found, gate=gate, compared=marked)))
    assert line.startswith(
        "::error file=gates/a%2Cb.toml,title=cambrian gate quinn/cubic::lte [/fast], 10 %25 "
    )


def test_json_has_every_figure(tmp_path: Path) -> None:
    import json

    output.write_json(tmp_path / "r.json", [result()])
    (one,) = json.loads((tmp_path / "r.json").read_text())
    assert one["outcome"] == "different" and one["status"] == 1
    assert {figure["name"] for figure in one["compared"]["figures"]} >= {
        "throughput_mbps",
        "beta",
        "response",
    }


def test_the_github_action_has_a_report_for_each_job_and_a_cache_for_each_cambrian(tmp_path: Path) -> None:
    """A second artifact of one name is refused, and a cache whose key is known is never saved again."""
    action: Any = yaml.safe_load((Path(__file__).parents[3] / "ci" / "github" / "action.yml").read_text())
    steps = {step.get("id") or step["uses"].partition("@")[0]: step for step in action["runs"]["steps"][1:]}
    report = steps["actions/upload-artifact"]["with"]["name"]
    assert "inputs.artifact" in report and "github.job" in report and "strategy.job-index" in report
    assert "steps.cache.outputs.key" in steps["actions/cache"]["with"]["key"]
    assert list(steps).index("cache") < list(steps).index("actions/cache") < list(steps).index("gate")
    pip = tmp_path / "cambrian" / "bin" / "pip"
    pip.parent.mkdir(parents=True)
    written(tmp_path, "a", "a.toml")
    written(tmp_path, "b", "b.toml")
    keys = set()
    for commit, gates in (("1", "a.toml"), ("2", "a.toml"), ("2", "a.toml b.toml"), ("2", "none.toml")):
        pip.write_text(f"#!/bin/sh\necho cambrian @ git+https://example.org@{commit}\n")
        pip.chmod(0o755)
        output_file = tmp_path / "output"
        output_file.write_text("")
        known = {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(output_file), "GATES": gates}
        argv = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", steps["cache"]["run"]]
        subprocess.run(argv, cwd=tmp_path, env=os.environ | known, check=True)
        keys.add(output_file.read_text())
    assert len(keys) == 4 and all(re.fullmatch(r"key=[0-9a-f]{64}\n", key) for key in keys)
