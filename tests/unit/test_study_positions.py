"""Places in TOML text, against texts whose places are known and against tomllib."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.study.positions import Path, Positions

TEXT = '''# a comment
name = "x"
"odd key" = 1
a.b.c = [1,
  2,  # two
  { d = 3 }]

[[network]]
rtt_ms = [10, 50]
[network.deep]
q = """
two lines"""

[[network]]
  schedule = [ { at_s = 1 }, { at_s = 2, "é" = 1, rate_mbps = 3 } ]
[profile.quick]
seeds = 2
'''


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("name",), (2, 1)),
        (("odd key",), (3, 1)),
        (("a", "b", "c"), (4, 1)),
        (("a", "b", "c", 1), (5, 3)),
        (("a", "b", "c", 2, "d"), (6, 5)),
        (("network",), (8, 3)),
        (("network", 0), (8, 3)),
        (("network", 0, "rtt_ms"), (9, 1)),
        (("network", 0, "rtt_ms", 1), (9, 15)),
        (("network", 0, "deep"), (10, 2)),
        (("network", 0, "deep", "q"), (11, 1)),
        (("network", 1), (14, 3)),
        (("network", 1, "schedule"), (15, 3)),
        (("network", 1, "schedule", 1, "at_s"), (15, 32)),
        (("network", 1, "schedule", 1, "rate_mbps"), (15, 51)),
        (("profile", "quick", "seeds"), (17, 1)),
    ],
)
def test_each_key_has_its_place(path: Path, place: tuple[int, int]) -> None:
    assert Positions(TEXT).find(path) == place


def test_a_missing_key_is_placed_at_its_table() -> None:
    assert Positions(TEXT).find(("network", 1, "rtt_ms")) == (14, 3)


KEYS = st.one_of(st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True), st.text(min_size=1, max_size=4))
SCALARS = st.one_of(st.integers(-9, 9), st.booleans(), st.text(max_size=6))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=4)


def quoted(text: str) -> str:
    """A TOML basic string; JSON's escapes are TOML's, but for surrogates and DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{quoted(key)} = {inline(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ",\n  ".join(inline(item) for item in value) + "]"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def lines_of(table: dict[str, Any]) -> str:
    return "".join(f"{quoted(key)} = {inline(value)} # note\n" for key, value in table.items())


def paths(value: object, base: Path = ()) -> Iterator[Path]:
    yield base
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*base, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths(item, (*base, index))


@given(top=TABLES, networks=st.lists(TABLES, max_size=3), nested=st.dictionaries(KEYS, TABLES, max_size=2))
def test_every_path_that_tomllib_sees_has_a_place_where_it_is_written(
    top: dict[str, Any], networks: list[dict[str, Any]], nested: dict[str, dict[str, Any]]
) -> None:
    top = {key: value for key, value in top.items() if key not in ("network", "nested")}
    text = lines_of(top)
    text += "".join(f"[[network]]\n{lines_of(table)}" for table in networks)
    text += "".join(f"[nested.{quoted(key)}]\n{lines_of(table)}" for key, table in nested.items())
    positions = Positions(text)
    lines = text.split("\n")
    for path in paths(tomllib.loads(text)):
        assert path in positions
        line, column = positions.find(path)
        if (
            path
            and isinstance(path[-1], str)
            and path[-1] not in ("network", "nested")
            and path[0] != "nested"
        ):
            assert lines[line - 1][column - 1 :].startswith(quoted(path[-1]))


@given(st.lists(TABLES, min_size=2, max_size=4))
def test_file_order_is_position_order(networks: list[dict[str, Any]]) -> None:
    positions = Positions("".join(f"[[network]]\n{lines_of(table)}" for table in networks))
    places = [
        positions.find(("network", index, *key))
        for index, table in enumerate(networks)
        for key in ((), *((name,) for name in table))
    ]
    assert places == sorted(places)
    assert len(set(places)) == len(places)
