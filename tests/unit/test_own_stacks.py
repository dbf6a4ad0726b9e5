"""The stacks of the contestants that the user names: found, checked, each once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cambrian import pytest_plugin
from cambrian.cli import hunting
from cambrian.gate import carry_out
from cambrian.releases import ready
from cambrian.run import study, trust
from cambrian.run.study import RunOptions
from cambrian.stacks import catalogue, offers
from cambrian.study.errors import StudyError
from cambrian.suites import find, run
from cambrian.suites.plan import Planned
from tests.unit.test_run_trust import MANIFEST, WALL

STUDY = """\
name = "mine"
title = "Mine"
design = "solo"
[[network]]
rate_mbps = 20
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = "beside"
cca = "cubic"
"""


def put_stack(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    client = "" if name == "deaf" else '[client]\ncommand = ["{bin}"]\n'
    (folder / f"{name}.toml").write_text(MANIFEST.format(name=name, kind="make", binary="server") + client)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory, with the stack ``here``, and the study ``theirs/mine.toml`` with its own."""
    monkeypatch.setenv("CAMBRIAN_STACKS", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    put_stack(tmp_path / "stacks", "here")
    put_stack(tmp_path / "theirs/stacks", "beside")
    (tmp_path / "theirs/mine.toml").write_text(STUDY)
    catalogue.load.cache_clear()
    yield tmp_path
    catalogue.load.cache_clear()


def planned(*contestants: str) -> list[Planned]:
    found, part = find.suites_named("rfc9743/loss")
    return run.planned(found, part, RunOptions("rfc9743/loss", contestants=contestants))


def test_a_suite_takes_a_contestant_of_a_stack_here_if_it_is_trusted(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (part,) = planned("here/cubic")
    assert part.part.place == "rfc9743/here-cubic/loss"
    monkeypatch.setattr(study, "_wall", lambda _: WALL)
    options = RunOptions("rfc9743/loss", contestants=("here/cubic",))
    with pytest.raises(trust.Untrusted, match="would be built here by make"):
        study.check_trust(options, part.groups, options.stacks_here)


def test_a_suite_expands_releases_and_runs_each_contestant_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        offers, "expanded", lambda name: ["quinn"] if name == "quinn" else [f"quic-go@0.{n}.0" for n in "67"]
    )
    parts = planned("quic-go@0.*/cubic", "quinn/cubic", "quic-go@0.6.0/cubic")
    contestants = [part.part.contestant for part in parts]
    assert contestants == ["quic-go@0.6.0/cubic", "quic-go@0.7.0/cubic", "quinn/cubic"]


def test_a_study_keeps_its_own_stacks_where_the_user_names_contestants(here: Path) -> None:
    options = RunOptions("theirs/mine.toml", contestants=("here/cubic", "beside/cubic"))
    assert [group.subject for group in study.expanded(options)[1]] == ["here cubic", "beside cubic"]
    assert options.own_stacks == [here / "theirs/stacks", here / "stacks"]


def test_a_colon_in_the_folder_of_stacks_is_an_error(here: Path) -> None:
    (here / "theirs").rename(here / "the:irs")
    with pytest.raises(StudyError, match="rename the folder"):
        study.expanded(RunOptions("the:irs/mine.toml"))


def _of_a_gate() -> None:
    Path("gate.toml").write_text('contestant = "here/cubic"')
    carry_out.read(Path("gate.toml"))


def _of_a_test() -> None:
    fixture: Any = inspect.unwrap(pytest_plugin.cambrian_trial)
    next(fixture(SimpleNamespace(rootpath=Path.cwd(), getoption=lambda _: "kept")))


@pytest.mark.parametrize(
    "look",
    [
        _of_a_gate,
        _of_a_test,
        lambda: ready.stack_of("here"),
        lambda: hunting.hunt("here/cubic", budget="1s", jobs=1, trust=True),
    ],
    ids=["gate", "pytest", "releases", "hunt"],
)
def test_no_command_takes_another_stack_if_the_path_of_its_own_has_a_colon(
    here: Path, monkeypatch: pytest.MonkeyPatch, look: Callable[[], object]
) -> None:
    put_stack(here / "a:b/stacks", "here")
    monkeypatch.chdir(here / "a:b")
    with pytest.raises(StudyError, match="rename the folder"):
        look()


@pytest.mark.parametrize(
    ("study_name", "contestant", "said"),
    [
        ("theirs/mine.toml", "tcp/dctcp", "without ECN dctcp is another algorithm"),
        ("theirs/mine.toml", "deaf/cubic", 'stack "deaf" has no client'),
        ("page-load", "s2n-quic/cubic", "s2n-quic serves no pages"),
    ],
)
def test_a_contestant_must_be_able_to_do_what_the_study_asks(
    here: Path, study_name: str, contestant: str, said: str
) -> None:
    put_stack(here / "stacks", "deaf")
    with pytest.raises(StudyError, match=f"--contestant: {contestant}: {said}"):
        study.expanded(RunOptions(study_name, contestants=("quic-go/cubic", contestant)))
