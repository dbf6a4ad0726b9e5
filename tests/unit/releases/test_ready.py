"""What is checked before a release is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.releases import ready, trials
from cambrian.run.study import RunOptions
from cambrian.stacks import catalogue
from cambrian.study.errors import StudyError


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_a_cca_of_some_releases_is_one_of_the_stack_s(cca: str, tmp_path: Path) -> None:
    stack = catalogue.load()["quiche"]
    assert ("bbr" in stack.manifest.ccas, "bbr" in stack.manifest.at("0.24.6").ccas) == (False, True)
    ready.check_cca(stack, cca)
    trials.Bench("quiche", cca, RunOptions(trials.STUDY), tmp_path).check()


def test_a_cca_of_no_release_is_an_error() -> None:
    with pytest.raises(StudyError, match=r"did you mean cubic\?.*bbr2"):
        ready.check_cca(catalogue.load()["quiche"], "cubc")
