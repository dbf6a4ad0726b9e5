"""The verdict on a contestant that results cannot judge: it says how to judge it, if anything can."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cambrian.judging.families import Family
from cambrian.judging.sides import Side
from cambrian.report import judged
from cambrian.study.model import Contestant
from tests.unit.report.made import cell, collected, trial


@pytest.mark.parametrize(
    ("cca", "ending"),
    [
        ("bbr", " To judge it: cambrian run fingerprint --contestant tcp/bbr."),
        ("vegas", " No study can judge its parameters: Cambrian has no standard for vegas."),
    ],
)
def test_no_command_is_named_that_cannot_judge_either(cca: str, ending: str) -> None:
    one = Contestant(stack="tcp", cca=cca)
    results = collected("solo", [cell("solo", [one.name], [trial(1, [19.0])])], [one])
    results = replace(results, families={one.name: Family(cca, "tcp")})
    (found,) = judged.all_verdicts(results, behaviour={one.name: Side()})
    assert found.kinds == ("not judged",)
    assert found.text.endswith(ending)
