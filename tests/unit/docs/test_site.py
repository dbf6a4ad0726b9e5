"""The generated pages are those of today's code, and the site has every page and picture."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cambrian import reference
from tests.unit.docs.pages import DOCS, PAGES, ROOT


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_generated_page_is_of_todays_code(name: str) -> None:
    """Remedy: make reference"""
    assert (DOCS / "reference" / name).read_text(encoding="utf-8") == reference.PAGES[name]()


def _pages(nav: Any) -> Iterator[str]:
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for below in entry.values():
                yield from [below] if isinstance(below, str) else _pages(below)


def test_the_site_s_navigation_has_every_page() -> None:
    """Zensical checks links, and says nothing of a page that is missing here or there."""
    nav = list(_pages(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]))
    there = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if not page.is_symlink()}
    assert set(nav) == there
    assert len(nav) == len(set(nav))


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_and_pictures_lead_to_files(page: Path) -> None:
    """Zensical checks neither pictures nor the README."""
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_stands_in_a_list_item_is_indented_by_four(page: Path) -> None:
    """Else Python-Markdown ends the list there; and the next item needs an empty line, or it becomes text."""
    before = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        block = not before or re.match(r" *([*-] |\d+\. |\||```)", line)
        assert not (block and re.match(r" {1,3}\S", line)), line
        assert not (re.match(r" {4}", before) and re.match(r"[*-] |\d+\. ", line)), line
        before = line.rstrip()


def test_no_path_of_a_page_in_code_is_stale() -> None:
    """Stacks keep theirs: an edit of a comment would rebuild them."""
    known = {f"docs/{page.relative_to(DOCS).as_posix()}" for page in DOCS.rglob("*.md")} | {"docs/some.md"}
    for folder in ("src", "tests", "studies", "published", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".toml", ".md", ".j2"} and path.is_file():
                found = set(re.findall(r"docs/[a-z/-]+\.md", path.read_text(encoding="utf-8")))
                assert found <= known, f"{path}: {found - known}"
