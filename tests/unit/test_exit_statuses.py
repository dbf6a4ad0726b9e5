"""Exit statuses that a CI job acts on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from cambrian.cli import app, reading, running
from cambrian.run.study import Summary
from tests.unit import report_results

INVALID = Summary(ran=2, invalid=[("a trial", ("its reason",))])
FAILED = Summary(errors=["a trial could not run"])


@pytest.mark.parametrize(
    ("summary", "asked", "status"),
    [
        (Summary(ran=2), None, 0),
        (Summary(ran=2), "invalid", 0),
        (INVALID, None, 0),
        (INVALID, "invalid", 1),
        (FAILED, None, 1),
    ],
)
def test_invalid_trials_end_a_run_with_1_only_if_asked(
    summary: Summary, asked: str | None, status: int
) -> None:
    try:
        running.end(summary, running.Unwanted(asked) if asked else None)
        ended = 0
    except typer.Exit as error:
        ended = error.exit_code
    assert ended == status


def test_a_group_of_one_trial_has_one_trial(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    network = "[[network]]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 1\n"
    contestant = '[[contestant]]\nstack = "tcp"\ncca = "cubic"\n'
    path.write_text(f'name = "one"\ntitle = "t"\ndesign = "solo"\nseeds = 1\n{network}{contestant}')
    ended = CliRunner().invoke(app, ["run", str(path), "--dry-run"])
    assert ended.stdout == "10mbps-40ms-1bdp/tcp-cubic  1 trial\n"


def test_verdicts_fail_if_asked(tmp_path: Path) -> None:
    folder = str(report_results.copy(tmp_path))

    def status(*words: str) -> int:
        return CliRunner().invoke(app, ["verdicts", folder, *words]).exit_code

    shown = json.loads(CliRunner().invoke(app, ["verdicts", folder, "--json"]).stdout)
    assert not any(one["differs"] for one in shown)
    assert any(one["verdict"] == "inconclusive" for one in shown)
    assert status() == 0
    assert status("--fail-on", "different") == 0
    assert status("--fail-on", "inconclusive") == 1
    assert status("--fail-on", "wrong") == 2


def test_verdicts_of_an_interrupted_run_say_what_is_missing(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    assert "missing" not in CliRunner().invoke(app, ["verdicts", str(folder)]).stderr
    shutil.rmtree(next((folder / "trials").iterdir()))
    ended = CliRunner().invoke(app, ["verdicts", str(folder), "--json"])
    assert "1 trial of the study is missing here (not run yet); remedy: cambrian run" in ended.stderr
    assert json.loads(ended.stdout)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (
            "cambrian run a.toml --only 'x*'",
            "which has --only, does not ask for them; remedy: the same command without",
        ),
        ("cambrian run a.toml", "does not ask for them; remedy: the earlier command again"),
    ],
)
def test_verdicts_say_which_kept_trials_they_leave_out(tmp_path: Path, command: str, why: str) -> None:
    folder = report_results.copy(tmp_path)
    assert "more trial" not in CliRunner().invoke(app, ["verdicts", str(folder)]).stderr
    record = json.loads((folder / "study.json").read_text())
    *others, last = record["groups"]
    (folder / "study.json").write_text(json.dumps(record | {"groups": others, "command": command}))
    listed = {trial for group in others for trial in group["trials"]}
    count = len({*last["trials"]} - listed)
    ended = CliRunner().invoke(app, ["verdicts", str(folder), "--json"])
    noun = "more trials are" if count > 1 else "more trial is"
    assert f"{count} {noun} kept here" in ended.stderr and why in ended.stderr
    assert json.loads(ended.stdout)


def test_page_loads_are_not_judged(tmp_path: Path) -> None:
    folder = shutil.copytree(report_results.KNOBS.with_name("pages"), tmp_path / "pages")
    ended = CliRunner().invoke(app, ["verdicts", str(folder)])
    assert ended.exit_code == 1
    assert "holds page loads alone, and page loads are not judged; remedy: cambrian table " in ended.stderr
    for verdict in folder.glob("trials/*/verdict.json"):
        record = json.loads(verdict.read_text())
        verdict.write_text(json.dumps(record | {"valid": False, "reasons": ["it stopped"]}))
    ended = CliRunner().invoke(app, ["verdicts", str(folder)])
    assert "holds no valid trial of a contestant that is judged" in ended.stderr


def test_a_contestant_that_differs_is_different_whatever_its_verdict_says() -> None:
    verdict = {"differs": True, "verdict": "off by a parameter, different impact"}
    assert reading.is_unwanted(verdict, [reading.Unwanted.different])
    assert reading.is_unwanted(verdict, [reading.Unwanted.inconclusive])
    assert not reading.is_unwanted(verdict, [])


@pytest.mark.parametrize(
    ("verdict", "different", "inconclusive"),
    [("conformant", False, False), ("inconclusive", False, True), ("not judged", False, True)],
)
def test_with_inconclusive_only_what_conforms_passes(
    verdict: str, different: bool, inconclusive: bool
) -> None:
    row = {"differs": False, "verdict": verdict}
    assert reading.is_unwanted(row, [reading.Unwanted.different]) is different
    assert reading.is_unwanted(row, [reading.Unwanted.inconclusive]) is inconclusive


def test_a_contestant_whose_trials_are_all_invalid_is_named(tmp_path: Path) -> None:
    folder = report_results.copy(tmp_path)
    groups = json.loads((folder / "study.json").read_text())["groups"]
    mine = next(one for one in groups if one["subject"] == "tcp cubic with TLS")
    for trial in mine["trials"]:
        report_results.reject(folder, trial, "too slow")
    ended = CliRunner().invoke(app, ["verdicts", str(folder), "--json", "--fail-on", "inconclusive"])
    verdicts = {one["contestant"]: one for one in json.loads(ended.stdout)}
    row = verdicts["tcp cubic with TLS"]
    count = len(mine["trials"])
    assert row["verdict"] == "not judged"
    assert row["text"].startswith(f"No valid trial: {count} invalid. Not judged on {mine['network']} (")
    assert row["not_judged"] == f"{mine['network']} ({count} of {count} trials invalid; seed 1: too slow)"
    assert (row["judged_as"], row["measured"]) == ("cubic", 0)
    assert ended.exit_code == 1

    # where nothing was measured, nobody is judged
    for path in (folder / "trials").iterdir():
        report_results.reject(folder, path.name, "too slow")
    ended = CliRunner().invoke(app, ["verdicts", str(folder)])
    assert ended.exit_code == 1
    assert "holds no valid trial" in ended.stderr


#: Ctrl-C comes while the modules of the commands are imported
EARLY = """
import os
import signal
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "cambrian.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
signal.signal(signal.SIGINT, signal.default_int_handler)
from cambrian.__main__ import main

main()
"""


def test_ctrl_c_in_the_first_second_has_no_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", EARLY], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "cambrian: interrupted\n")


#: the help needs none of what the commands need
HELP = """
import sys
from cambrian.__main__ import main

sys.argv = ["cambrian", "--help"]
try:
    main()
finally:
    print(*{"asyncio", "duckdb", "numpy", "polars", "pydantic"} & set(sys.modules), file=sys.stderr)
"""


def test_help_comes_at_once() -> None:
    ended = subprocess.run([sys.executable, "-c", HELP], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "\n") and "selftest" in ended.stdout
