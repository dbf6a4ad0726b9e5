"""docs/explanation/architecture.md says which functions lead from a study's file to a trial's columns."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from typer.testing import CliRunner

import cambrian
from cambrian.cli import app
from cambrian.run import prepare
from cambrian.store.results import Results
from cambrian.study.model import Network, Trial
from cambrian.trial import carry_out
from tests.integration.conftest import flow

SOURCE = Path(cambrian.__file__).parent
PAGE = SOURCE.parents[1] / "docs" / "explanation" / "architecture.md"
ROW = re.compile(r"^\| \d+ \| `([a-z_/]+\.py)` \| `([A-Za-z_.]+)` \|", re.MULTILINE)
Station = tuple[str, str]
#: runs inside the guest
GUEST: Station = ("testbed/guest.py", "Trial.run")
#: the first station in a worker's process
WORKER: Station = ("trial/carry_out.py", "run")
STUDY = """
name = "path"
title = "One trial"
design = "solo"
duration_s = 3
seeds = 1
[[network]]
rate_mbps = 10
rtt_ms = 40
buffer_bdp = 1
[[contestant]]
stack = "tcp"
cca = "cubic"
"""


@contextmanager
def seen(stations: list[Station]) -> Iterator[list[Station]]:
    """The stations that the block calls, each once, in the order of their first calls."""
    found: list[Station] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{SOURCE}/"):
            place = (frame.f_code.co_filename[len(str(SOURCE)) + 1 :], frame.f_code.co_qualname)
            if place in stations and place not in found:
                found.append(place)

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


def test_the_page_lists_the_stations_of_a_trial_in_their_order(tmp_path: Path) -> None:
    listed: list[Station] = ROW.findall(PAGE.read_text())
    assert 10 <= len(listed) <= 20
    assert len({file for file, _ in listed}) <= 14

    study = tmp_path / "path.toml"
    study.write_text(STUDY)
    with seen(listed) as called:
        command = ["run", str(study), "--out", str(tmp_path / "run"), "--jobs", "1"]
        assert CliRunner().invoke(app, command).exit_code == 0
    assert called == listed[: listed.index(WORKER)]

    network = Network(rate_mbps=10, rtt_ms=40, buffer_bdp=1)
    trial = Trial(network=network, flows=(flow("tcp", "cubic"),), duration_s=3, seed=1)
    made = prepare.ensure({"tcp"})
    inside = [station for station in listed[listed.index(WORKER) :] if station != GUEST]
    with seen(inside) as called:
        assert carry_out.run(trial, made, Results(tmp_path / "one")).valid
    assert called == inside


def test_the_station_in_the_guest_exists() -> None:
    file, name = GUEST
    outer, _, inner = name.partition(".")
    tree = ast.parse((SOURCE / file).read_text())
    (kind,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == outer)
    assert any(isinstance(node, ast.FunctionDef) and node.name == inner for node in kind.body)
