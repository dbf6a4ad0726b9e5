"""The cache of kernels: which one fits, and that nothing is asked of the network."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cambrian.kernel import locate
from cambrian.kernel.build import cached_kernels
from cambrian.kernel.model import Features, KernelError, Manifest, sha256_of
from cambrian.kernel.recipe import Recipe, key


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CAMBRIAN_KERNEL", raising=False)
    monkeypatch.delenv("CAMBRIAN_KERNEL_SOURCE", raising=False)
    # Whoever looks for apt, a compiler or a download tool finds none.
    monkeypatch.setenv("PATH", "")
    fragment, patch = tmp_path / "config-fragment", tmp_path / "0001-a.patch"
    fragment.write_text("CONFIG_A=y\n")
    patch.write_text("--- a\n")
    return Recipe(fragment, (patch,))


def put(recipe: Recipe, name: str, version: str, source_sha256: str = "s") -> Path:
    home = cached_kernels() / name
    home.mkdir(parents=True)
    (home / "linux").write_bytes(name.encode() + b" seccomp=<on/auto/off> cambrian.seed")
    manifest = Manifest(
        version=version,
        source="linux-source",
        source_version="1",
        source_sha256=source_sha256,
        recipe=recipe.digest,
        config_sha256="c",
        fragment_lost=("CONFIG_Z=y",),
        patches={"0001-a.patch": "p"},
        compiler="gcc 12.2",
        binary_sha256=sha256_of(home / "linux"),
        features=Features.of(home / "linux"),
        objects=1,
        build_seconds=2,
    )
    (home / "manifest.json").write_text(json.dumps(manifest.as_json()))
    assert Manifest.from_json(json.loads((home / "manifest.json").read_text())) == manifest
    return home


def test_the_latest_linux_of_the_wanted_recipe(recipe: Recipe, tmp_path: Path) -> None:
    put(recipe, "old", "7.9.1")
    put(recipe, "new", "7.10.0")
    found = locate.find(wanted=recipe)
    assert found is not None
    assert (found.key, found.version) == ("new", "7.10.0")
    assert found.features == Features(seccomp=True, seed=True, vdso_clock=False, tsc=False)
    assert locate.ensure(wanted=recipe) == found


def test_another_patch_makes_a_kernel_stale(recipe: Recipe) -> None:
    home = put(recipe, "old", "7.9.1")
    recipe.patches[0].write_text("--- b\n")
    assert locate.find(wanted=recipe) is None
    assert locate.stale(recipe) == [home]


def test_a_named_archive_must_be_the_one_it_was_built_from(recipe: Recipe, tmp_path: Path) -> None:
    archive = tmp_path / "linux.tar"
    archive.write_bytes(b"tar")
    put(recipe, "other", "8.0.0")
    assert locate.find(wanted=recipe, archive=archive) is None
    put(recipe, "this", "7.0.0", source_sha256=sha256_of(archive))
    found = locate.find(wanted=recipe, archive=archive)
    assert found is not None
    assert found.key == "this"


def test_a_binary_that_changed_is_refused(recipe: Recipe) -> None:
    home = put(recipe, "one", "7.9.1")
    (home / "linux").write_bytes(b"something else")
    with pytest.raises(KernelError, match="changed"):
        locate.find(wanted=recipe)


def test_a_named_binary_comes_first(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "linux"
    binary.write_text("#!/bin/sh\necho 6.16.1 # cambrian.seed\n")
    binary.chmod(0o755)
    monkeypatch.setenv("CAMBRIAN_KERNEL", str(binary))
    monkeypatch.setenv("PATH", os.defpath)
    put(recipe, "one", "7.9.1")
    found = locate.find(wanted=recipe)
    assert found is not None
    assert (found.path, found.version, found.features.seed) == (binary, "6.16.1", True)


def test_a_named_binary_that_is_no_kernel_is_refused(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMBRIAN_KERNEL", "/bin/true")
    with pytest.raises(KernelError, match="not a User-mode Linux"):
        locate.find(wanted=recipe)


def test_the_key_changes_with_each_of_its_inputs(recipe: Recipe) -> None:
    keys = {key(recipe, "source", "gcc 12"), key(recipe, "other", "gcc 12"), key(recipe, "source", "gcc 13")}
    recipe.fragment.write_text("CONFIG_B=y\n")
    keys.add(key(recipe, "source", "gcc 12"))
    assert len(keys) == 4


def test_an_installed_kernel_is_taken_if_the_cache_has_none(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "cambrian_kernel"
    monkeypatch.setattr(locate, "installed_kernels", lambda: installed)
    put(recipe, "new", "7.10.0").parent.rename(installed)
    found = locate.find(wanted=recipe)
    assert found is not None
    assert found.path == installed / "new" / "linux"
    put(recipe, "own", "7.9.1")
    found = locate.find(wanted=recipe)
    assert found is not None
    assert found.key == "own"
    # of another recipe: ignored, and not called stale, because nobody can rebuild it
    recipe.patches[0].write_text("--- b\n")
    assert locate.find(wanted=recipe) is None
    assert [home.name for home in locate.stale(recipe)] == ["own"]
