"""Clock reads from the shared page change no result, nor does ptrace; RDTSC tells the guest's time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cambrian.kernel import locate
from tests.integration.boots import first_program, output


@pytest.fixture(scope="module")
def init(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The check of the clocks."""
    return first_program("clock_check", tmp_path_factory.mktemp("clock"))


def test_the_clock_page_changes_no_result(init: Path, tmp_path: Path) -> None:
    kernel = locate.ensure()
    assert kernel.features.vdso_clock, "this kernel has no clock page: it was built without the patches"
    without = replace(kernel, features=replace(kernel.features, vdso_clock=False))
    on = output(kernel, init, tmp_path / "on")
    off = output(without, init, tmp_path / "off")
    assert len(on) > 1000
    assert on == off


def test_ptrace_gives_the_same_result(init: Path, tmp_path: Path) -> None:
    kernel = locate.ensure()
    assert output(kernel, init, tmp_path / "a") == output(kernel, init, tmp_path / "b", seccomp=False)


@pytest.mark.long
def test_rdtsc_tells_the_guest_s_time_and_repeats(tmp_path: Path) -> None:
    kernel = locate.ensure()
    assert kernel.features.tsc, "this kernel does not answer RDTSC: it was built without the patches"
    init = first_program("tsc_check", tmp_path)
    first = output(kernel, init, tmp_path / "first")
    assert len(first) > 10
    assert first == output(kernel, init, tmp_path / "second")
    assert first == output(kernel, init, tmp_path / "ptrace", seccomp=False)


def test_a_trial_can_be_set_up_without_a_trace(tmp_path: Path) -> None:
    kernel = locate.ensure()
    init = first_program("fixed_points_check", tmp_path)
    first = output(kernel, init, tmp_path / "first")
    assert any(line.startswith("drew ") for line in first)
    assert first == output(kernel, init, tmp_path / "ptrace", seccomp=False)
