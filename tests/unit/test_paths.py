"""Where data and pages are, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian import paths

PAGE = "docs/reference/studies.md"


def test_a_checkout_has_its_data_at_its_top() -> None:
    assert paths.data() == Path(__file__).resolve().parents[2]
    assert paths.page(PAGE) == PAGE


def test_a_wheel_has_its_data_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path)
    page = tmp_path / "share" / PAGE
    page.parent.mkdir(parents=True)
    page.touch()
    assert paths.data() == tmp_path / "share"
    assert paths.page(PAGE) == str(page)
    # a wheel does not have the pages of results
    assert paths.page("docs/results/findings.md") == "docs/results/findings.md"
