"""A guest sees names, rights and contents of the host's files, and nothing of its file system."""

from __future__ import annotations

import os
from pathlib import Path

from cambrian.kernel import locate
from tests.integration.boots import first_script, output

CHANGED_S = 1_700_000_000
#: so many names are more than a program gets with one call
MANY = 600


def _folder(place: Path, names: list[str]) -> Path:
    place.mkdir()
    for name in names:
        (place / name).write_text(name)
    (place / "within").mkdir()
    for path in (*place.iterdir(), place):
        os.utime(path, (CHANGED_S, CHANGED_S))
    return place


def _numbers(place: Path) -> list[int]:
    return [path.stat().st_ino for path in sorted(place.iterdir())]


def test_two_copies_of_a_folder_are_the_same_to_a_guest(tmp_path: Path) -> None:
    names = ["b", "a", "library.so.6", "c.html"]
    one = _folder(tmp_path / "one", names)
    two = _folder(tmp_path / "two", names[::-1])
    (two / "a").read_text()
    assert _numbers(one) != _numbers(two)
    listings = []
    for folder in (one, two):
        script = first_script(
            f"cd {folder} && ls -fi && stat -c '%n %i %s %b %h %X %Y %Z' . * && stat -f ."
            " && cat /proc/self/maps",
            tmp_path,
        )
        listings.append(output(locate.ensure(), script, tmp_path / f"run-{folder.name}"))
    assert listings[0] == listings[1]
    seen = [line.split() for line in listings[0] if line.startswith("library.so.6 ")]
    changed = str(CHANGED_S)
    assert seen[0][2:] == ["12", "1", "1", changed, changed, changed]
    assert len(seen[0][1]) == len("1000001")


def test_a_file_keeps_its_number_and_a_list_outlives_its_files(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "work", [f"{'n' * 60}{number}" for number in range(MANY)])
    script = first_script(
        f"mount -o remount,rw / && cd {folder} && ls | wc -l"
        " && stat -c 'before %i' within && touch new && stat -c 'before %i' new"
        " && mv new renamed && stat -c 'after %i' within renamed && ls | tail -2"
        f" && cd .. && rm -r {folder} && ! test -e {folder}",
        tmp_path,
    )
    lines = output(locate.ensure(), script, tmp_path / "run")
    assert str(MANY + 1) in lines
    before = [line.split()[1] for line in lines if line.startswith("before")]
    after = [line.split()[1] for line in lines if line.startswith("after")]
    assert before == after
    assert before[0] != before[1]
    assert {"renamed", "within"} <= set(lines)
    assert not folder.exists()
