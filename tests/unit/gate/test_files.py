"""The gate's file, its baseline, and what it writes: JUnit XML, Markdown, lines for GitHub Actions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from cambrian.gate import baseline, carry_out, differences, output, snapshot
from cambrian.gate.carry_out import Gate, GateFile, Result
from cambrian.gate.snapshot import Parameter, Place, Probe, Snapshot
from cambrian.run.study import RunOptions
from cambrian.study.errors import StudyError

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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('contestant = "quinn"', "contestant"),
        ('contestant = "quin/cubic"', "unknown stack quin"),
        ('contestant = "tcp/cubic"', "is the reference"),
        ('contestant = "quinn/cubic"\nseeds = 2', "seeds"),
        ('contestant = "quinn/cubic"\nfirst_seeds = 9', "more than seeds"),
        ('contestant = "quinn/cubic"\nstudies = ["no.toml"]', "no.toml"),
        ('contestant = "quinn/cubic"\nbase = "x"', "baseline"),
    ],
)
def test_a_wrong_gate_is_an_error_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(StudyError) as error:
        carry_out.read(written(tmp_path, text))
    assert said in str(error.value)
    assert error.value.line == text.count("\n") + 1


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
