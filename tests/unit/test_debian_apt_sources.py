"""Reading apt sources in both of their formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.debian.apt_sources import Entry, deb822, debian_mirrors, entries, one_line, suites


def test_one_line_format_with_options_comments_and_source_lines() -> None:
    text = """
# deb http://old.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/k.gpg] http://mirror.example/debian/ bookworm main contrib # why
deb-src http://mirror.example/debian bookworm main
deb cdrom:[Debian 12]/ bookworm main
"""
    found = list(one_line(text))
    assert found[0] == Entry("http://mirror.example/debian/", "bookworm", ("main", "contrib"))
    assert all("old" not in entry.uri for entry in found)
    assert len(found) == 2


def test_deb822_format_with_a_comment_inside_a_stanza_and_a_folded_field() -> None:
    text = """Types: deb deb-src
# snapshot of some day
URIs: http://mirror.example/debian
Suites: bookworm
 bookworm-updates
Components: main

Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
Enabled: no

Types: deb-src
URIs: http://sources.example/debian
Suites: bookworm
Components: main
"""
    assert list(deb822(text)) == [
        Entry("http://mirror.example/debian", "bookworm", ("main",)),
        Entry("http://mirror.example/debian", "bookworm-updates", ("main",)),
    ]


def test_the_mirror_is_neither_security_nor_a_third_party(tmp_path: Path) -> None:
    (tmp_path / "sources.list").write_text("deb http://mirror.example/debian-security bookworm main\n")
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (parts / "a.list").write_text("deb http://tools.example/apt bookworm main\n")
    (parts / "b.sources").write_text(
        "Types: deb\nURIs: http://mirror.example/debian/\nSuites: bookworm\nComponents: main\n"
    )
    (parts / "c.list").write_text("deb http://cloud.example/apt cloud-sdk-bookworm main\n")
    (parts / "d.list.save").write_text("deb http://saved.example/debian bookworm main\n")
    # One that uses Debian's own suite name stays, behind the one that looks right: signatures decide.
    assert debian_mirrors(entries(tmp_path), "bookworm") == [
        "http://mirror.example/debian",
        "http://tools.example/apt",
    ]


def test_suites_go_from_the_machines_own_to_the_newest() -> None:
    found = suites("trixie")
    assert found[0] == ("trixie", "trixie-backports")
    assert found[1][0] == "forky"
    assert found[-1] == ("sid",)
    with pytest.raises(ValueError, match="jammy"):
        suites("jammy")
