"""Lists of releases: what cargo and go answer, and the last answer when no registry does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cambrian import paths
from cambrian.command import CommandFailed
from cambrian.stacks import catalogue, offers, registry
from cambrian.stacks.manifest import ManifestError
from cambrian.stacks.registry import Release
from cambrian.study.errors import StudyError
from cambrian.study.load import parse_study

#: as cargo 1.95 keeps it: a head, then a version and its JSON for each release
ENTRY = (
    b"\x03\x02\x00\x00\x00etag: x\x00"
    b'0.11.9\x00{"name":"q","vers":"0.11.9","yanked":false,"pubtime":"2024-11-13T09:59:32Z"}\x00'
    b'0.11.10\x00{"name":"q","vers":"0.11.10","yanked":true}\x00'
)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Release]]:
    """A registry with four releases, for every package."""
    found = [
        Release("0.9.0", "2024-01-01", yanked=False),
        Release("0.10.0", "2024-02-01", yanked=True),
        Release("0.10.1", "2024-02-02", yanked=False),
        Release("0.11.0-rc.1", "2024-03-01", yanked=False),
    ]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(registry, "_ASK", {"go": lambda name: found, "cargo": lambda name: found})
    registry._listed.cache_clear()
    yield found
    registry._listed.cache_clear()


def test_cargos_index_entry_is_read() -> None:
    assert registry.index_entry(ENTRY) == [
        Release("0.11.9", "2024-11-13", yanked=False),
        Release("0.11.10", "", yanked=True),
    ]


def test_gos_answer_is_several_objects() -> None:
    text = '{"Version": "v1.0.0"}\n{"Version": "v1.0.1", "Time": "2026-01-01T00:00:00Z"}\n'
    assert [one["Version"] for one in registry._objects(text)] == ["v1.0.0", "v1.0.1"]


def test_a_pattern_leaves_out_what_was_withdrawn(listed: list[Release]) -> None:
    stack = catalogue.load()["quic-go"]
    assert registry.matching(stack, "*") == ["0.9.0", "0.10.1"]
    assert registry.matching(stack, "0.10.*") == ["0.10.1"]
    # who names it gets it
    assert registry.matching(stack, "0.10.0") == ["0.10.0"]
    assert registry.expanded(stack, "<0.10") == ["quic-go@0.9.0"]
    with pytest.raises(ManifestError, match=r"no release of .* matches 0\.12\.\*"):
        registry.expanded(stack, "0.12.*")
    with pytest.raises(ManifestError, match="give a release, a pattern"):
        registry.matching(stack, ">=new")


def test_the_last_answer_is_used_when_no_registry_answers(
    listed: list[Release], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = catalogue.load()["quic-go"]
    assert registry.listed(stack) == listed

    def fails(name: str) -> list[Release]:
        raise CommandFailed(f"{name}: no network")

    monkeypatch.setattr(registry, "_ASK", {"go": fails, "cargo": fails})
    registry._listed.cache_clear()
    assert registry.listed(stack) == listed
    assert "as last listed" in capsys.readouterr().err
    with pytest.raises(CommandFailed, match="no network"):
        registry.listed(catalogue.load()["quinn"])
    # a power cut may leave a part of the list
    (kept,) = (paths.cache() / "releases").glob("go-*.json")
    for rest in ("", "[{}]", "{"):
        kept.write_text(rest)
        registry._listed.cache_clear()
        with pytest.raises(CommandFailed, match="no network"):
            registry.listed(stack)


def test_a_stack_without_releases_says_so() -> None:
    with pytest.raises(ManifestError, match="tcp has one version"):
        registry.listed(catalogue.load()["tcp"])


STUDY = """
name = "s"
title = "s"
design = "solo"
[[network]]
rate_mbps = 10
rtt_ms = 50
buffer_bdp = 1
[[contestant]]
stack = {stack}
cca = "reno"
"""


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        ('"quic-go@0.10.1"', ["quic-go@0.10.1"]),
        ('"quic-go@*"', ["quic-go@0.9.0", "quic-go@0.10.1"]),
        ('["tcp", "quic-go@>0.9"]', ["tcp", "quic-go@0.10.1"]),
    ],
)
def test_a_study_can_name_releases(listed: list[Release], stack: str, expected: list[str]) -> None:
    text = STUDY.format(stack=stack)
    study = parse_study(text, "s.toml", Path(), offers.stacks(), catalogue.reference_of)
    assert [one.stack for one in study.contestants] == expected


def test_the_command_line_can_name_releases(listed: list[Release]) -> None:
    assert offers.contestants(["quic-go@0.*/reno", "tcp/reno"]) == [
        "quic-go@0.9.0/reno",
        "quic-go@0.10.1/reno",
        "tcp/reno",
    ]


@pytest.mark.parametrize("stack", ['"quic-go@"', '["tcp", "quic-go@"]'])
def test_what_is_no_release_is_named_with_its_line(listed: list[Release], stack: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_study(STUDY.format(stack=stack), "s.toml", Path(), offers.stacks(), catalogue.reference_of)
    error = caught.value
    assert (error.file, error.line, error.problem) == ("s.toml", 10, '"quic-go@" names no release')
    assert "a pattern such as" in error.remedy
