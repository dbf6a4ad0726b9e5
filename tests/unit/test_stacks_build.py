"""What a build's identity depends on, and what a failed one says."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cambrian.command import CommandFailed
from cambrian.run import local, pool
from cambrian.run.pool import Changed
from cambrian.stacks import build, catalogue, kinds, libraries, manifest
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import ManifestError
from cambrian.store.results import Results
from cambrian.trial import carry_out, plan
from cambrian.trial.carry_out import Outcome


def _stack(folder: Path, name: str = "mine", *, alone: bool = False, build_keys: str = "") -> Stack:
    program = folder / "program"
    if not program.exists():
        program.write_text("one")
    path = folder / (f"{name}.toml" if alone else f"{name}/manifest.toml")
    path.parent.mkdir(exist_ok=True)
    where = "program" if alone else "../program"
    keys = f'[build]\nkind = "none"\nbinary = "{where}"\n{build_keys}'
    path.write_text(f'name = "{name}"\n[ccas.cubic]\n{keys}[server]\ncommand = ["{{bin}}"]\n')
    return Stack(path, manifest.read(path))


def test_the_program_s_content_is_part_of_the_identity(tmp_path: Path) -> None:
    stack = _stack(tmp_path)
    before = build.source_name(stack)
    (tmp_path / "program").write_text("two")
    assert build.source_name(stack) != before


def test_files_of_the_folder_and_named_sources_are_too(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a").write_text("1")
    stack = _stack(tmp_path, build_keys='sources = ["../shared"]\n')
    names = [build.source_name(stack)]
    (tmp_path / "mine" / "extra").write_text("x")
    names.append(build.source_name(stack))
    (tmp_path / "shared" / "a").write_text("2")
    names.append(build.source_name(stack))
    assert len(set(names)) == 3
    (tmp_path / "mine" / "__pycache__").mkdir()
    (tmp_path / "mine" / "__pycache__" / "x.pyc").write_text("x")
    assert build.source_name(stack) == names[-1]


def test_one_file_s_stack_does_not_depend_on_its_neighbours(tmp_path: Path) -> None:
    stack = _stack(tmp_path, alone=True)
    before = build.source_name(stack)
    (tmp_path / "neighbour.toml").write_text("x")
    assert build.source_name(stack) == before


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_libraries_of_the_program_are_part_of_the_identity(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "q.c").write_text("int q(void) { return VALUE; }")
    (tmp_path / "main.c").write_text("int q(void); int main() { return q(); }")

    def compiled(*words: str) -> None:
        subprocess.run(["cc", *words], cwd=tmp_path, check=True)

    def library(value: int) -> None:
        compiled("-shared", "-fPIC", f"-DVALUE={value}", "q.c", "-o", "lib/libq.so")

    library(1)
    for linked in (["-Wl,-rpath,$ORIGIN/lib"], []):
        compiled("main.c", "-o", "program", "-Llib", "-lq", *linked)
        stack = _stack(tmp_path, alone=True)
        if not linked:
            # without its own list of folders, it needs the one of the environment
            assert libraries.loaded(tmp_path / "program") == []
            with stack.file.open("a") as file:
                file.write(f'environment = {{ LD_LIBRARY_PATH = "/nowhere:{tmp_path}/lib" }}\n')
            stack = Stack(stack.file, manifest.read(stack.file))
        before = build.source_name(stack)
        assert build.source_name(stack) == before
        library(2)
        assert build.source_name(stack) != before
        library(1)
    # those of the system are not
    assert libraries.loaded(Path("/bin/sh")) == []


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_libraries_with_many_names_and_damaged_ones(tmp_path: Path) -> None:
    """Two libraries that need each other, each by way of another folder, had ever new names."""
    lib = tmp_path / "lib"
    lib.mkdir()
    for one in "ab":
        (tmp_path / f"{one}.c").write_text(f"int {one}(void) {{ return 1; }}")
    for name, needed in (("a", []), ("b", ["-Llib", "-la"]), ("a", ["-Llib", "-lb"])):
        words = ["-shared", "-fPIC", f"{name}.c", "-o", f"lib/lib{name}.so", "-Wl,--no-as-needed", *needed]
        subprocess.run(["cc", *words, "-Wl,-rpath,$ORIGIN/../lib"], cwd=tmp_path, check=True)
    found = libraries.loaded(lib / "liba.so")
    assert {path.resolve() for path in found} == {lib / "liba.so", lib / "libb.so"}
    assert len(found) == 2
    whole = (lib / "liba.so").read_bytes()
    for at in range(0x400):
        (tmp_path / "damaged").write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        libraries.loaded(tmp_path / "damaged")


def test_what_the_guest_has_of_its_own_is_no_part_of_the_identity(tmp_path: Path) -> None:
    stack = _stack(tmp_path, alone=True)
    with tempfile.NamedTemporaryFile(dir="/tmp", suffix=".keys") as keys:
        with stack.file.open("a") as file:
            file.write(f'environment = {{ SSLKEYLOGFILE = "{keys.name}" }}\n')
        stack = Stack(stack.file, manifest.read(stack.file))
        before = build.source_name(stack)
        keys.write(b"another line")
        keys.flush()
        assert build.source_name(stack) == before


def test_a_file_that_a_command_names_is_part_of_the_identity(tmp_path: Path) -> None:
    stack = _stack(tmp_path, alone=True)
    (tmp_path / "conf").write_text("one")
    text = stack.file.read_text().replace('["{bin}"]', f'["{{bin}}", "--conf={tmp_path}/conf", "/proc/stat"]')
    stack.file.write_text(text)
    stack = Stack(stack.file, manifest.read(stack.file))
    before = build.source_name(stack)
    (tmp_path / "conf").write_text("two")
    assert build.source_name(stack) != before
    assert "/proc/stat" not in [name for _, name in build._inputs(stack)]


def test_a_source_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"build\.sources: there is no .*nowhere"):
        build.source_name(_stack(tmp_path, build_keys='sources = ["nowhere"]\n'))


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="not a Debian machine")
def test_missing_packages_become_a_remedy() -> None:
    assert build._perhaps_missing(["dpkg", "no-such-package"]).endswith("apt-get install no-such-package")
    assert build._perhaps_missing(["dpkg"]) == ""


def test_stacks_are_listed_if_a_file_is_in_the_place_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    cache.touch()
    monkeypatch.setenv("CAMBRIAN_CACHE", str(cache))
    assert build.status(catalogue.load()["aioquic"]).state in ("missing", "unbuildable")


def test_a_build_by_another_compiler_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    stack = catalogue.load()["quic-go"]
    home = tmp_path / "stacks" / f"{build.source_name(stack)}-00000000"
    home.mkdir(parents=True)
    (home / "build.json").write_text('{"sha256": "known"}')
    assert build.ensure(stack).folder == home
    assert build.status(stack).state == "built"
    assert not (tmp_path / "toolchains").exists()


def test_a_program_that_changes_during_a_run_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    built = build.ensure(_stack(tmp_path))
    assert build.is_as_built(built)
    for change in (lambda: (tmp_path / "program").write_text("two"), (tmp_path / "program").unlink):
        change()
        assert not build.is_as_built(built)


@pytest.mark.parametrize("rest", ["", "{", "[]", '{"stack": "mine"}'])
def test_a_build_whose_facts_a_power_cut_cut_off_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: str
) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    stack = _stack(tmp_path)
    built = build.ensure(stack)
    (built.folder / "build.json").write_text(rest)
    assert build.changes(built) == ""
    assert build.ensure(stack) == built
    assert "sha256" in (built.folder / "build.json").read_text()


def test_what_no_program_reads_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    built = build.ensure(_stack(tmp_path))
    folder = built.stack.folder
    for name in (".git/index", ".README.md.swp", "README.md~", "#notes#", "__pycache__/a.pyc"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
        assert build.is_as_built(built), name
    # a run in the stack's own folder, before and after its first trial
    for results in (Results(folder / "results" / "suite" / "study"), Results(folder / "out")):
        with results.alone():
            assert build.is_as_built(built)
            with results.new_trial("a" * 16) as trial:
                (trial / "verdict.json").touch()
            assert build.is_as_built(built)
    (folder / "results" / "suite" / "report").mkdir()
    (folder / "results" / "suite" / "report" / "index.html").touch()
    assert build.is_as_built(built)
    # a lock of another tool is not one of ours
    (folder / "venv").mkdir()
    for name in (".lock", "module.py"):
        (folder / "venv" / name).touch()
    assert not build.is_as_built(built)
    assert build.changes(built) == f"{folder}/venv/.lock, {folder}/venv/module.py"


def test_its_trial_does_not_count_and_the_run_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    built = build.ensure(_stack(tmp_path))
    results = Results(tmp_path / "results")

    def rebuilt(*_: object, before_kept: Callable[[], None], **__: object) -> Outcome:
        with results.new_trial("a" * 16) as folder:
            (folder / "verdict.json").touch()
            (tmp_path / "program").write_text("two")
            # a run that ends from here on leaves no trial: it never had its name
            assert not list(results.trials_folder.glob("a*"))
            before_kept()
        return Outcome("a" * 16, True, (), 1.0, 1.0)

    monkeypatch.setattr(carry_out, "run", rebuilt)
    monkeypatch.setattr(plan, "stack_names", lambda _: ["mine"])
    environment: Any = SimpleNamespace(builds={"mine": built})
    asked: Any = None
    with pytest.raises(
        Changed, match=rf"the stack mine changed during the run: {tmp_path}\S*/program; remedy: run the"
    ):
        local._work(asked, environment, results, None)
    assert not list(results.trials_folder.iterdir())

    class Engine:
        """One worker, whose trial ends so."""

        def begin(self, *_: object) -> Engine:
            return self

        def submit(self, _: object) -> Future[Outcome]:
            ended: Future[Outcome] = Future()
            ended.set_exception(Changed("mine", ""))
            return ended

        def places(self) -> int:
            return 1

        def stop(self) -> None:
            pass

        close = stop

    engine: Any = Engine()
    with pytest.raises(Changed):
        list(pool.run([asked], environment, results, engine=engine))


def test_a_source_that_changes_during_its_build_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    stack = _stack(tmp_path)
    source = stack.folder / "source"
    source.write_text("one")
    make = kinds.make

    def edited(*arguments: Any) -> None:
        make(*arguments)
        source.write_text("two")

    monkeypatch.setattr(kinds, "make", edited)
    with pytest.raises(
        CommandFailed, match=r"the source of mine changed while it was built: .*/mine/source; "
    ):
        build.ensure(stack)
    assert not list((tmp_path / "cache" / "stacks").glob("*/build.json"))
    monkeypatch.setattr(kinds, "make", make)
    assert build.is_as_built(build.ensure(stack))


def _made(folder: Path, recipe: str) -> Stack:
    """A stack that make builds; its Makefile has this rule for prog.o."""
    folder.mkdir()
    (folder / "prog.c").write_text("one")
    rules = f"all: prog.o\n\tcp prog.o $(OUT)/prog\nprog.o: prog.c\n\t{recipe}\n"
    (folder / "Makefile").write_text(f"{rules}.PHONY: all{' prog.o' if 'date' in recipe else ''}\n")
    path = folder / "manifest.toml"
    keys = '[build]\nkind = "make"\nbinary = "prog"\n'
    path.write_text(f'name = "made"\n[ccas.cubic]\n{keys}[server]\ncommand = ["{{bin}}"]\n')
    return Stack(path, manifest.read(path))


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_may_leave_files_beside_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    stack = _made(tmp_path / "made", "cp prog.c prog.o")
    first = build.ensure(stack)
    assert first.binary.read_text() == "one"
    # the build is that of what lies there now, and is not made again
    assert first.folder.name.startswith(f"{build.source_name(stack)}-")
    assert build.status(stack).state == "built"
    assert build.ensure(stack) == first
    (stack.folder / "prog.c").write_text("two")
    os.utime(stack.folder / "prog.c", (time.time() + 2,) * 2)
    second = build.ensure(stack)
    assert second.binary.read_text() == "two"
    assert second.folder != first.folder
    assert second.folder.name.startswith(f"{build.source_name(stack)}-")
    assert not list((tmp_path / "cache" / "stacks").glob("*.new-*"))


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_what_changes_at_each_call_of_make_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMBRIAN_CACHE", str(tmp_path / "cache"))
    stack = _made(tmp_path / "made", "date +%N >prog.o")
    with pytest.raises(
        CommandFailed, match=r"changed at each of 3 calls of make: .*/made/prog\.o; remedy: let"
    ):
        build.ensure(stack)
    assert not list((tmp_path / "cache" / "stacks").glob("*/build.json"))
