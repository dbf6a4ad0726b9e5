"""Tables of any TOML file: the first fault with its place, whose it is, and what would be right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_origin

import pytest
from pydantic import BaseModel, Field

from cambrian.claims.model import Claim, Contradiction
from cambrian.claims.scorecard import Criterion
from cambrian.published.model import Comparison
from cambrian.report.suite.sections import Section
from cambrian.study import shapes
from cambrian.study.errors import StudyError
from cambrian.study.model import Frozen
from cambrian.study.positions import Path as Place
from cambrian.study.toml_file import TomlFile
from cambrian.suites.model import Suite


class Inner(Frozen):
    """A table in a table."""

    least: float | None = None
    not_: bool | None = Field(default=None, alias="not")


class Outer(Frozen):
    """A table with a choice, a list, free keys and a union."""

    id: str
    number: int = 0
    choice: Literal["one", "two"] | None = None
    inners: tuple[Inner, ...] = Field(default=(), alias="inner")
    free: dict[str, float | tuple[float, ...] | Inner] = Field(default_factory=dict)


def read(folder: Path, text: str) -> TomlFile:
    path = folder / "some.toml"
    path.write_bytes(text.encode())
    return TomlFile(path, "docs/some.md")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("body", "place", "key", "problem", "remedy"),
    [
        ("numbr = 1", (4, 1), "numbr", "unknown key", "did you mean number? it takes: "),
        ('number = "1"', (4, 1), "number", "should be a valid integer", "give a whole number; docs/some.md"),
        ("number = true", (4, 1), "number", "should be a valid integer", "give a whole number"),
        ('choice = "tow"', (4, 1), "choice", "should be 'one' or 'two'", 'give "one" or "two"'),
        (
            "[[outer.inner]]\n[[outer.inner]]\nnott = true",
            (6, 1),
            "nott",
            "unknown key",
            "mean not? it takes",
        ),
        (
            "free = { x = true }",
            (4, 10),
            "x",
            "this value is not possible",
            "a number, or a list in square brackets, or a t",
        ),
        ("free = { x = [1, true] }", (4, 18), "x", "should be a valid number", "give a number"),
        ("free = { x.least = [2] }", (4, 10), "least", "should be a valid number", "give a number"),
        ("free = { x.y = 2 }", (4, 10), "y", "unknown key", "put a name with a dot in quotes"),
        ("id = 1979-05-27", (4, 1), "id", "should be a valid string", "give text in quotes"),
        ("number = true\nnumbr = 1", (4, 1), "number", "should be a valid integer", "give a whole number"),
    ],
)
def test_the_first_fault_has_its_place_and_a_remedy(
    tmp_path: Path,
    line_end: str,
    body: str,
    place: tuple[int, int],
    key: str,
    problem: str,
    remedy: str,
) -> None:
    identity = "" if body.startswith("id") else 'id = "o"'
    file = read(tmp_path, f"# words\n[[outer]]\n{identity}\n{body}\n".replace("\n", line_end))
    with pytest.raises(StudyError) as raised:
        file.tables("outer", Outer)
    error = raised.value
    assert (error.file, error.line, error.column) == (str(file.path), *place)
    assert error.key == key
    assert error.problem.startswith(f"of {'o' if identity else '1979-05-27'}: {problem}")
    assert remedy in error.remedy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[outer]]\nidd = 1", "some.toml:2:1: idd: unknown key"),
        ("[[outer]]\nnumber = 1", "some.toml:1:3: id: missing\n  remedy: give id"),
        ("[[outer]]\nid = 'o'\n[[outer]]\nid = 'o'", "some.toml:4:1: id: of o: this value occurs twice"),
        (
            "[outer]\nid = 'o'",
            "some.toml:1:2: outer: outer is not a list of tables\n  remedy: write [[outer]]",
        ),
        ("[[outr]]\nid = 'o'", "some.toml:1:3: outr: unknown table\n  remedy: did you mean outer?"),
        ("outer = 1 2", "some.toml:1:11: outer: not TOML: "),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(StudyError) as raised:
        file = read(tmp_path, text)
        file.check_keys(["outer"])
        file.tables("outer", Outer)
        file.unique("outer", "id")
    assert said in str(raised.value)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="the file cannot be read: no such file"):
        TomlFile(tmp_path / "none.toml", "docs/some.md")
    (tmp_path / "some.toml").write_bytes(b"a = 1\nb = '\xff'")
    with pytest.raises(StudyError, match=r"some\.toml:2: not UTF-8 text"):
        TomlFile(tmp_path / "some.toml", "docs/some.md")


@pytest.mark.parametrize("model", [Claim, Contradiction, Criterion, Comparison, Section, Suite])
def test_every_key_of_ours_can_be_put_in_words(model: type[BaseModel]) -> None:
    for place in places(model, ()):
        assert shapes.in_words(shapes.kinds_at(model, place))


def places(model: type[BaseModel], base: Place) -> Iterator[Place]:
    """Every key below ``base``, those of tables, lists and free keys too."""
    for kind in shapes.kinds_at(model, base):
        steps: list[str | int] = [*shapes.keys_of([kind])]
        steps += [0] if get_origin(kind) is tuple else []
        steps += ["free"] if shapes.is_free([kind]) else []
        for step in steps:
            yield (*base, step)
            yield from places(model, (*base, step))
