"""The guest's command line, word by word."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.kernel.boot import COMMAND_LINE_BYTES, ENVIRONMENT_WORDS, command
from cambrian.kernel.model import Features, Kernel

ALL = Features(seccomp=True, seed=True, vdso_clock=True, tsc=True)
NONE = Features(seccomp=False, seed=False, vdso_clock=False, tsc=False)


def kernel(features: Features) -> Kernel:
    return Kernel(Path("/cache/kernel/k/linux"), "7.3.4", "k", "0" * 64, features)


def words(features: Features = ALL, **more: object) -> list[str]:
    return command(kernel(features), init=Path("/x/init"), run_directory=Path("/run/t"), **more)  # type: ignore[arg-type]


def test_virtual_time() -> None:
    found = words(seed=7, start_ns=5, memory_mb=256, core=1, environment={"TRIAL": "/a/b.json"})
    assert found[:4] == ["taskset", "--cpu-list", "1", "/cache/kernel/k/linux"]
    for word in ("time-travel=inf-cpu", "time-travel-start=5", "cambrian.seed=7"):
        assert word in found
    for word in ("cambrian.vdso_clock=1", "cambrian.tsc=1"):
        assert word in found
    for word in ("seccomp=on", "mem=256M", "init=/x/init", "uml_dir=/run/t/", "ro", "TRIAL=/a/b.json"):
        assert word in found


def test_real_time_neither_travels_nor_answers_clock_reads_itself() -> None:
    found = words(clock="real")
    assert not [word for word in found if "time-travel" in word or "vdso_clock" in word or "tsc" in word]
    assert "cambrian.seed=1" in found


def test_a_stock_kernel_gets_no_word_that_it_does_not_know() -> None:
    found = words(NONE)
    assert not [word for word in found if word.startswith(("seccomp", "cambrian."))]


def test_ptrace_on_request() -> None:
    assert "seccomp=off" in words(seccomp=False)


def test_init_gets_its_arguments_last() -> None:
    assert words(arguments=["-m", "x"])[-3:] == ["--", "-m", "x"]


TOO_MANY = {f"V{index}": "" for index in range(ENVIRONMENT_WORDS + 1)}


@pytest.mark.parametrize(
    "environment", [{"lower": "x"}, {"A.B": "x"}, {"A": "two words"}, {"A": '"'}, TOO_MANY]
)
def test_words_that_would_not_arrive_are_refused(environment: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="environment"):
        words(environment=environment)


def test_a_command_line_that_would_be_cut_off_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than"):
        words(environment={"A": "x" * COMMAND_LINE_BYTES})


def test_an_init_with_a_blank_in_its_path_is_refused() -> None:
    with pytest.raises(ValueError, match="blanks"):
        command(kernel(ALL), init=Path("/my files/init"), run_directory=Path("/run/t"))
