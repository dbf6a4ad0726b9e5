"""Suites: their files, their parts, what a name means, and what a contestant's name becomes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from cambrian.run.study import RunOptions
from cambrian.study import builtin
from cambrian.study.errors import StudyError
from cambrian.suites import find, model, run
from cambrian.suites.find import SuiteFolder, suites
from cambrian.suites.model import Suite
from cambrian.suites.plan import Planned, parts_of, plan

PART = """\
name = "s-one"
title = "One"
design = "solo"
duration_s = 10
seeds = 2
[[network]]
rate_mbps = [5, 50]
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = "$STACK"
cca = "$CCA"
[[contestant]]
stack = "tcp"
cca = "reno"
"""


def made(folder: Path, extra: str = "", contestants: str = "") -> SuiteFolder:
    (folder / "one.toml").write_text(PART)
    text = f'name = "s"\ntitle = "S"\nparts = ["one"]\n{contestants}\n{extra}'
    (folder / "suite.toml").write_text(text)
    return SuiteFolder(model.read(folder / "suite.toml")[0], folder)


def test_a_part_is_run_for_each_contestant(tmp_path: Path) -> None:
    found = made(tmp_path, contestants='contestants = ["quinn/cubic", "quic-go/reno"]')
    parts = parts_of(found, None, ())
    assert [part.place for part in parts] == ["s/quinn-cubic/one", "s/quic-go-reno/one"]
    first = plan(parts[0], RunOptions("s"))
    assert {group.subject for group in first.groups} == {"quinn cubic", "tcp reno"}
    assert first.options.command == "cambrian run s/one --contestant quinn/cubic --seed 1 --clock virtual"


def test_another_contestant_takes_their_place(tmp_path: Path) -> None:
    found = made(tmp_path, contestants='contestants = ["quinn/cubic"]')
    assert [part.contestant for part in parts_of(found, None, ["quinn/bbr"])] == ["quinn/bbr"]
    with pytest.raises(StudyError, match="quin/bbr"):
        parts_of(found, None, ["quin/bbr"])


def test_only_leaves_parts_empty_rather_than_failing(tmp_path: Path) -> None:
    found = made(tmp_path, contestants='contestants = ["quinn/cubic"]')
    part = parts_of(found, None, ())[0]
    assert not plan(part, RunOptions("s", only="nothing*")).groups
    assert {group.subject for group in plan(part, RunOptions("s", only="*/tcp-reno")).groups} == {"tcp reno"}


def test_contestants_are_refused_where_a_suite_has_none(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="--contestant"):
        parts_of(made(tmp_path), None, ["quinn/cubic"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'name = "s"\ntitle = "S"\nparts = ["one",\n"two"]',
            "4:1: parts: there is no two.toml in this folder",
        ),
        ('name = "s"\ntitle = "S"\nparts = []', "3:1: parts: an empty list is not possible"),
        ('name = "s"\ntitle = "S"\nparts = ["one"]\npaperr = "wpi"', "4:1: paperr: unknown key"),
        ('name = "s"\ntitle = "S"\nparts = ["one"]\npaperr = "wpi"', "did you mean paper?"),
        ('name = "s"\ntitle = "S"\nparts = ["one"]\n[[sections]]', "4:3: sections: unknown table"),
        ('name = "s"\ntitel = "S"\nparts = ["one"]', "2:1: titel: unknown key"),
        ('name = "s"\nparts = ["one"]', "  remedy: add title; docs/reference/suites.md has every key"),
        ('name = "s"\ntitle = "S"\nparts = ["one", 2]', "3:17: parts: 2 is not possible"),
        ('name = "s"\ntitle = S', "2:9: title: not TOML"),
    ],
)
def test_faults_of_a_suite_are_named_with_their_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "one.toml").write_text(PART)
    (tmp_path / "suite.toml").write_text(text)
    with pytest.raises(StudyError, match=re.escape(says)) as raised:
        model.read(tmp_path / "suite.toml")
    assert raised.value.file == str(tmp_path / "suite.toml")


def test_a_suite_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="the suite cannot be read: no such file") as raised:
        model.read(tmp_path / "suite.toml")
    assert raised.value.remedy == "name a built-in suite"


def test_sections_are_the_page_s_matter(tmp_path: Path) -> None:
    found = made(tmp_path, '[[section]]\nheading = "H"')
    assert found.suite == Suite(name="s", title="S", parts=("one",))


def test_names_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find.suites_named("quickstart") == ([], None)
    assert [one.suite.name for one in find.suites_named("all")[0]] == [one.suite.name for one in suites()]
    found, part = find.suites_named("wpi/grid")
    assert ([one.suite.name for one in found], part) == (["wpi"], "grid")
    with pytest.raises(StudyError, match="grid"):
        find.suites_named("wpi/gird")
    with pytest.raises(StudyError, match=r"wip/grid: no built-in study or suite(.|\n)*did you mean wpi"):
        find.suites_named("wip/grid")
    # a file of that name is no study
    monkeypatch.chdir(tmp_path)
    Path("wpi").touch()
    assert [one.suite.name for one in find.suites_named("wpi")[0]] == ["wpi"]
    # a path is for whoever opens it
    assert find.suites_named("nowhere/mine.toml") == ([], None)


@pytest.mark.parametrize("found", suites(), ids=lambda found: found.suite.name)
@pytest.mark.parametrize("profile", ["quick", "full"])
def test_every_part_of_every_built_in_suite_expands(found: SuiteFolder, profile: str) -> None:
    files = {path.stem for path in found.folder.glob("*.toml")} - {"suite", "scorecard"}
    assert files == set(found.suite.parts), "each study of the folder is a part"
    for part in parts_of(found, None, ()):
        one = plan(part, RunOptions(found.suite.name, profile))
        assert one.study.name == f"{found.suite.name}-{part.name}"
        assert one.groups
        assert "quick" in one.study.profiles


@pytest.mark.parametrize("damaged", [False, True])
def test_a_record_is_replaced_only_by_one_of_all_its_parts(tmp_path: Path, damaged: bool) -> None:
    """A run for one contestant replaced the record of the whole suite."""
    found = next(one for one in suites() if one.suite.contestants)
    record = tmp_path / found.suite.name / model.RECORD

    def ran(contestants: Sequence[str], profile: str, only_part: str | None = None) -> tuple[int, str]:
        options = RunOptions(study="", profile=profile)
        parts = [
            Planned(part, study=None, groups=[], options=options)  # type: ignore[arg-type]
            for part in parts_of(found, only_part, contestants)
        ]
        run._record(found, parts, options, tmp_path)
        written = json.loads(record.read_text())
        return len(written["parts"]), written["profile"]

    each, first = len(found.suite.parts), found.suite.contestants[0]
    every = each * len(found.suite.contestants)
    assert ran([first], "quick") == (each, "quick")
    assert ran([first], "full") == (each, "full")
    assert ran([], "full") == (every, "full")
    if damaged:
        record.write_text("{")
        assert ran([first], "quick") == (each, "quick")
    else:
        assert ran([first], "quick") == ran([], "full", found.suite.parts[0]) == (every, "full")
    assert ran([], "quick") == (every, "quick")
    # a record of a contestant that is not the suite's own does not stand for the suite
    record.unlink()
    ran(["aioquic/reno"], "quick")
    assert ran([], "full") == (every, "full")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('name = "x"', '1:1: name: is "x", but the folder is "s"'),
        ('name = "s"\npaper = "wpy"', "2:1: paper: there is no folder published/wpy"),
        ('name = "s"\npaper = "wpy"', "did you mean wpi"),
    ],
)
def test_a_suite_has_its_folder_s_name_and_a_paper_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s/one.toml").write_text(PART)
    (tmp_path / "s/suite.toml").write_text(f'{text}\ntitle = "S"\nparts = ["one"]\n')
    monkeypatch.setattr(builtin, "folder", lambda: tmp_path)
    for name in ("s", "s/one", "all"):
        with pytest.raises(StudyError, match=re.escape(says)):
            find.suites_named(name)
