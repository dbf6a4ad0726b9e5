"""docs/reference/suites.md leaves out no key of a section or comparison and no suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.published.model import Comparison
from cambrian.report.suite.sections import Section, TableOf
from cambrian.suites.find import suites

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "suites.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("model", [Section, TableOf, Comparison], ids=lambda model: model.__name__)
def test_every_key_is_named(model: type[Section | TableOf | Comparison]) -> None:
    missing = [key for key in model.model_fields if f"`{key}`" not in TEXT]
    assert not missing


def test_every_suite_has_a_row() -> None:
    assert all(f"| `{found.suite.name}` |" in TEXT for found in suites())
