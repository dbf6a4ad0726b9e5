"""The copy of a stack's source at one release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cambrian.stacks import build, pinned
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError, read

MANIFEST = """
name = "mine"
version = "0.30.0"
[ccas.cubic]
[build]
kind = "{kind}"
binary = "mine"
sources = ["../shared/rust"]
[server]
command = ["{{bin}}"]
[releases]
package = "their-quic"
version_in = ["version.txt"]
[[releases.different]]
releases = "<0.25"
files = "_before-0.25"
features = ["older"]
"""
CARGO = """
[package]
name = "mine" # kept
version = "0.1.0"
[features]
default = ["a"]
[dependencies]
their-quic = { version = "=0.30.0", features = ["sfv"] }
other = "1"
[target.'cfg(unix)'.dependencies]
renamed = { package = "their-quic", version = "0.30" }
[dev-dependencies]
their-quic = "0.30"
"""


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    """A cargo stack with a shared folder beside it, and other files for older releases."""
    folder = tmp_path / "stacks" / "mine"
    (folder / "_before-0.25").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "target").mkdir()
    (folder / "target" / "left").write_text("by a tool")
    (folder / "manifest.toml").write_text(MANIFEST.format(kind="cargo"))
    (folder / "Cargo.toml").write_text(CARGO)
    (folder / "version.txt").write_text("it is 0.30.0\n")
    (folder / "src" / "main.rs").write_text("new")
    (folder / "_before-0.25" / "src").mkdir()
    (folder / "_before-0.25" / "src" / "main.rs").write_text("old")
    shared = tmp_path / "stacks" / "shared" / "rust"
    shared.mkdir(parents=True)
    (shared / "lib.rs").write_text("shared")
    file = folder / "manifest.toml"
    return Stack(file, read(file))


def at(stack: Stack, release: str) -> Stack:
    return Stack(stack.file, stack.manifest.at(release), release, stack.manifest.version)


def copied(stack: Stack, release: str, to: Path) -> dict[str, str]:
    pinned._copy(at(stack, release), to)
    return {str(path.relative_to(to)): path.read_text() for path in to.rglob("*") if path.is_file()}


def test_the_copy_is_pinned_and_says_its_version(stack: Stack, tmp_path: Path) -> None:
    files = copied(stack, "0.28.1", tmp_path / "copy")
    assert set(files) == {
        "mine/Cargo.toml",
        "mine/build.json",
        "mine/src/main.rs",
        "mine/version.txt",
        "shared/rust/lib.rs",
    }
    cargo = files["mine/Cargo.toml"]
    assert 'their-quic = { version = "=0.28.1", features = ["sfv"] }' in cargo
    assert 'renamed = { package = "their-quic", version = "=0.28.1" }' in cargo
    assert 'their-quic = "=0.28.1"' in cargo
    assert 'other = "1"' in cargo
    assert 'name = "mine" # kept' in cargo
    assert files["mine/version.txt"] == "it is 0.28.1\n"
    assert files["mine/src/main.rs"] == "new"
    assert json.loads(files["mine/build.json"])["release"] == "0.28.1"


LOCK = """
[[package]]
name = "their-quic"
version = "0.28.1"
dependencies = ["their-core 0.28.0", "their-tls", "other"]
[[package]]
name = "their-core"
version = "0.28.0"
[[package]]
name = "their-core"
version = "0.30.0"
[[package]]
name = "their-tls"
version = "0.7.2"
[[package]]
name = "other"
version = "1.4.0"
"""


def test_parts_of_the_package_follow_its_release(tmp_path: Path) -> None:
    crates = pinned.depended_on(LOCK, "their-quic", "0.28.1")
    assert crates == {"their-core": "0.28.0", "their-tls": "0.7.2", "other": "1.4.0"}
    assert pinned.depended_on(LOCK, "their-quic", "0.30.0") == {}
    cargo = tmp_path / "Cargo.toml"
    cargo.write_text(
        '[dependencies]\nother = "1"\ntheir-tls = "=0.7.2"\n'
        'their-core = { version = "=0.30.0", features = ["std"] }\nfree = "=3.0.0"\n'
    )
    assert pinned.follow_pins([cargo], crates)
    assert cargo.read_text() == (
        '[dependencies]\nother = "1"\ntheir-tls = "=0.7.2"\n'
        'their-core = { version = "=0.28.0", features = ["std"] }\nfree = "=3.0.0"\n'
    )
    assert not pinned.follow_pins([cargo], crates)


def test_older_releases_have_other_files_and_features(stack: Stack, tmp_path: Path) -> None:
    files = copied(stack, "0.24.9", tmp_path / "copy")
    assert files["mine/src/main.rs"] == "old"
    assert 'default = ["a", "older"]' in files["mine/Cargo.toml"]
    assert not any("_before" in name for name in files)


def test_the_name_of_the_copy_follows_its_content_but_no_note(stack: Stack) -> None:
    name = pinned._home(at(stack, "0.28.1")).name
    assert name.startswith("mine@0.28.1-")
    assert pinned._home(at(stack, "0.28.1")).name == name
    assert pinned._home(at(stack, "0.28.2")).name.partition("-")[2] != name.partition("-")[2]
    text = stack.file.read_text()
    stack.file.write_text(text.replace('name = "mine"', 'name = "mine"\nnotes = ["new"]'))
    assert pinned._home(at(Stack(stack.file, read(stack.file)), "0.28.1")).name == name
    (stack.folder / "src" / "main.rs").write_text("newer")
    assert pinned._home(at(stack, "0.28.1")).name != name


def test_a_source_that_does_not_use_the_package_is_an_error(stack: Stack, tmp_path: Path) -> None:
    (stack.folder / "Cargo.toml").write_text('[package]\nname = "mine"\n')
    with pytest.raises(ManifestError, match=r"no Cargo\.toml depends on their-quic"):
        copied(stack, "0.28.1", tmp_path / "copy")


def test_a_file_without_the_version_is_an_error(stack: Stack, tmp_path: Path) -> None:
    (stack.folder / "version.txt").write_text("it is new\n")
    with pytest.raises(ManifestError, match=r"version\.txt lacks 0\.30\.0"):
        copied(stack, "0.28.1", tmp_path / "copy")


def test_releases_need_a_registry(stack: Stack) -> None:
    stack.file.write_text(MANIFEST.format(kind="make"))
    with pytest.raises(ManifestError, match="releases are for a build of kind"):
        read(stack.file)


CARGO_LOG = """$ cargo build
   Compiling mine v0.1.0
warning: unused variable: `x`
  --> src/a.rs:1:5
error[E0432]: unresolved import `their_quic::Gone`
 --> src/main.rs:3:5
  |
error: aborting due to 1 previous error
"""
GO_LOG = """$ go build
# cambrian/stacks/quic-go
./transportlog.go:37:12: undefined: qlog.RecoveryParametersSet
./server.go:155:29: stats.CongestionWindow undefined
"""


def test_the_compilers_first_error_is_found() -> None:
    found = build.first_error(CARGO_LOG)
    assert found == "error[E0432]: unresolved import `their_quic::Gone` (src/main.rs:3:5)"
    assert build.first_error(GO_LOG) == "./transportlog.go:37:12: undefined: qlog.RecoveryParametersSet"
    assert build.first_error("$ cargo build\nNo space left on device\n") is None


def test_why_no_lock_can_be_made_is_found() -> None:
    for text, expected in (
        (
            "go: cambrian/stacks/quic-go imports\n\tx/qlogwriter: cannot find module providing package x/q\n",
            "x/qlogwriter: cannot find module providing package x/q",
        ),
        (
            "error: failed to select a version for `q`.\n    ... required by package `c`\n"
            "package `c` depends on `q` with feature `bloom` but `q` does not have that feature.\n",
            "package `c` depends on `q` with feature `bloom` but `q` does not have that feature.",
        ),
        (
            "go: x@v9: invalid version: unknown revision v9\n",
            "go: x@v9: invalid version: unknown revision v9",
        ),
    ):
        assert pinned.why_no_lock(text) == expected
    assert pinned.why_no_lock("dial tcp: lookup: no such host\n") is None


@pytest.mark.parametrize(
    "log",
    [
        "error: no matching package named `q` found\nAs a reminder, you're using offline mode (--offline)\n",
        "x imports\n\ty: cannot find module providing package y: module lookup disabled by GOPROXY=off\n",
    ],
)
def test_what_an_offline_tool_lacks_says_nothing_of_the_release(log: str) -> None:
    assert pinned.why_no_lock(log) is None
