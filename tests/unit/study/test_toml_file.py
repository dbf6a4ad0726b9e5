"""Tables of any TOML file: each fault with its place, its line, whose it is, and what would be right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, model_validator

from cambrian.claims.model import Claim, Contradiction, Reason
from cambrian.claims.scorecard import Criterion
from cambrian.cluster.deploy import Description
from cambrian.gate.carry_out import GateFile
from cambrian.gate.snapshot import Snapshot
from cambrian.judging.references import Reference
from cambrian.probes.table import Probe
from cambrian.proof.faults import Key
from cambrian.published.model import Comparison
from cambrian.report.across import Chart
from cambrian.report.methods import Method
from cambrian.report.suite.sections import Section
from cambrian.stacks.manifest import Manifest
from cambrian.stacks.unavailable import Unavailable
from cambrian.study.errors import StudyError
from cambrian.study.explain import expected
from cambrian.study.faults import MOST
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
    pair: tuple[float, float] | None = None
    below: int = 0
    free: dict[Annotated[str, Field(min_length=1)], float | tuple[float, ...] | Inner] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _in_order(self) -> Outer:
        if self.below > self.number:
            raise ValueError("below is above number: give a smaller one")
        return self


def read(folder: Path, text: str) -> TomlFile:
    path = folder / "some.toml"
    path.write_bytes(text.encode())
    return TomlFile(path, "docs/some.md")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("body", "place", "key", "problem", "remedy"),
    [
        ("numbr = 1", (4, 1), "numbr", "unknown key", "did you mean number? this table takes: "),
        ('number = "1"', (4, 1), "number", '"1" is not', "give a whole number, without quotes; docs/some.md"),
        ("number = true", (4, 1), "number", "true is not possible", "give a whole number; docs/some.md"),
        ('choice = "tow"', (4, 1), "choice", '"tow" is not possible', 'give "two"; the choices are "one" or'),
        ("[[outer.inner]]\n[[outer.inner]]\nnott = true", (6, 1), "nott", "unknown key", "mean not? this"),
        (
            "free = { x = true }",
            (4, 10),
            "x",
            "true is not possible",
            "give a number, or a list in square brackets, or a table of least or not; docs/some.md has every",
        ),
        ("free = { x = [1, true] }", (4, 18), "x", "true is not possible", "give a number"),
        ("free = { x.least = [2] }", (4, 10), "least", "a list here is not possible", "give a number"),
        ("free = { x.y = 2 }", (4, 10), "y", "unknown key", "put a name with a dot in quotes"),
        ("free = { x.leest = 2 }", (4, 10), "leest", "unknown key", "did you mean least?"),
        ('free = { "" = 2 }', (4, 10), "", 'the name "" is not possible', "give text in quotes, not empty"),
        ("pair = [1]", (4, 1), "pair", "a list here is not", "a list in square brackets with 2 elements"),
        ("below = 3", (4, 1), "below", "below is above number", "give a smaller one"),
        ("id = 1979-05-27", (4, 1), "id", "1979-05-27 is not possible", "give text in quotes"),
        ("number = true\nnumbr = 1", (4, 1), "number", "true is not possible", "give a whole number"),
    ],
)
def test_a_fault_has_its_place_and_a_remedy(
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
    assert error.problem.startswith(f"of o: {problem}" if identity else problem)
    assert error.source == body.splitlines()[place[0] - 4]
    assert remedy in error.remedy


def test_all_faults_of_all_tables_are_reported_at_once(tmp_path: Path) -> None:
    file = read(
        tmp_path,
        '[[outer]]\nid = "one"\nfree = { x = nan }\nnumber = "1"\n'
        '[[outer]]\nid = "two"\nnumber = "1"\nchoise = "one"\n[[outer]]\n[[outer]]\nid = 4\n',
    )
    with pytest.raises(StudyError) as raised:
        file.tables("outer", Outer)
    assert (
        str(raised.value).replace(f"{tmp_path}/", "")
        == """\
some.toml:3:10: x: of one: nan is no number
    free = { x = nan }
             ^
  remedy: give a number
some.toml:7:1: number: of two: "1" is not possible
    number = "1"
    ^
  remedy: give a whole number, without quotes; docs/some.md has every key
some.toml:8:1: choise: of two: unknown key
    choise = "one"
    ^
  remedy: did you mean choice? this table takes: below, choice, free, id, inner, number or pair
some.toml:9:3: id: missing
    [[outer]]
      ^
  remedy: add id; docs/some.md has every key
some.toml:11:1: id: 4 is not possible
    id = 4
    ^
  remedy: give text in quotes; docs/some.md has every key"""
    )
    # nothing is kept for the next call
    file.check_keys(["inner"])
    with pytest.raises(StudyError, match="unknown table") as raised:
        file.refuse(())
    assert not raised.value.others


def test_unknown_tables_are_named_with_the_errors_inside_the_known_ones(tmp_path: Path) -> None:
    file = read(tmp_path, "[[outr]]\nid = 'o'\n[[outer]]\nid = 4\n")
    file.check_keys(["outer"])
    with pytest.raises(StudyError, match="outr: unknown table") as raised:
        file.tables("outer", Outer)
    assert [str(error).partition("\n")[0] for error in raised.value.others] == [
        f"{tmp_path}/some.toml:4:1: id: 4 is not possible"
    ]


def test_a_single_error_shows_its_line(tmp_path: Path) -> None:
    error = read(tmp_path, '[[outer]]\nid = "o"\n').error(("outer", 0, "id"), "is taken", "give another")
    assert str(error).endswith(':2:1: id: of o: is taken\n    id = "o"\n    ^\n  remedy: give another')


def test_a_file_full_of_errors_is_refused_soon(tmp_path: Path) -> None:
    file = read(tmp_path, "[[outer]]\nid = 'o'\nfree = { x = [" + "true," * 20_000 + "] }\n")
    with pytest.raises(StudyError, match=f"and {MOST - StudyError.MOST} more errors") as raised:
        file.tables("outer", Outer)
    # the line is too long to show
    assert not raised.value.source


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[outer]]\nidd = 1", "some.toml:2:1: idd: unknown key"),
        ("[[outer]]\nnumber = 1", "some.toml:1:3: id: missing\n    [[outer]]\n      ^\n  remedy: add id"),
        ("[[outer]]\nid = 'o'\n[[outer]]\nid = 'o'", "some.toml:4:1: id: of o: this value occurs twice"),
        (
            "[outer]\nid = 'o'",
            "some.toml:1:2: outer: outer is not a list of tables\n    [outer]\n     ^\n  remedy: write [[ou",
        ),
        (
            "[[outr]]\nid = 'o'",
            "some.toml:1:3: outr: unknown table\n    [[outr]]\n      ^\n  remedy: did you mean outer?",
        ),
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


MODELS = [
    Chart, Claim, Comparison, Contradiction, Criterion, Description, GateFile, Key, Manifest, Method, Probe,
    Reason, Reference, Section, Snapshot, Suite, Unavailable,
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_every_value_of_ours_can_be_put_in_words(model: type[BaseModel]) -> None:
    whole = model.model_json_schema()
    for place in places(whole, whole, ()):
        for value in (None, "x", [], [1]):
            assert expected(model, place, value)


def places(schema: dict[str, Any], whole: dict[str, Any], base: Place) -> Iterator[Place]:
    """Every place below ``base``, those in tables, lists and tables of free keys too."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    yield base
    inner = [((*base, key), one) for key, one in schema.get("properties", {}).items()]
    inner += [(base, one) for one in schema.get("anyOf", ())]
    inner += [((*base, index), one) for index, one in enumerate(schema.get("prefixItems", ()))]
    inner += [((*base, "1"), one) for one in schema.get("patternProperties", {}).values()]
    for key, step in (("items", 0), ("additionalProperties", "free")):
        if isinstance(one := schema.get(key), dict):
            inner.append(((*base, step), one))
    for place, one in inner:
        yield from places(one, whole, place)
