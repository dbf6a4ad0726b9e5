"""Line and column of each key and value in a TOML text.

``tomllib`` gives values without positions, so tree-sitter's TOML grammar parses the text a
second time. Each path (``("network", 0, "rate_mbps")``) maps to the line and column of
its key; an element of a list maps to its own.
"""

from __future__ import annotations

import tomllib
from typing import NamedTuple

import tree_sitter
import tree_sitter_toml

Path = tuple[str | int, ...]

#: bytes of the longest line with a text: a list can have a line of a megabyte, with thousands of errors
LONGEST = 1000
_LANGUAGE = tree_sitter.Language(tree_sitter_toml.language())
_KEYS = frozenset({"bare_key", "quoted_key", "dotted_key"})
_TABLES = frozenset({"table", "table_array_element"})


class Position(NamedTuple):
    """A position in a text; both numbers count from 1, columns in characters."""

    line: int
    column: int


class Positions:
    """Positions of all keys in one valid TOML text."""

    def __init__(self, text: str) -> None:
        # tree-sitter counts only \n as a line end
        whole = text.replace("\r\n", "\n").encode()
        self._lines = whole.split(b"\n")
        #: path → row and byte, both from 0; columns in characters are computed when they are asked for,
        #: because the line of a long list is long
        self._places: dict[Path, tuple[int, int]] = {(): (0, 0)}
        self._table_counts: dict[Path, int] = {}
        root = tree_sitter.Parser(_LANGUAGE).parse(whole).root_node
        for child in root.named_children:
            if child.type == "pair":
                self._add_pair((), child)
            elif child.type in _TABLES:
                self._add_table(child)

    def find(self, path: Path) -> Position:
        """Position of ``path``, or of its nearest ancestor in the text."""
        while path not in self._places:
            path = path[:-1]
        row, byte = self._places[path]
        column = len(self._lines[row][:byte].decode(errors="replace"))
        return Position(row + 1, column + 1)

    def line(self, number: int) -> str:
        """The text of a line, empty for one of more than ``LONGEST`` bytes; lines count from 1."""
        line = self._lines[number - 1]
        return line.decode(errors="replace").rstrip("\r") if len(line) <= LONGEST else ""

    def __contains__(self, path: Path) -> bool:
        return path in self._places

    def _add_table(self, node: tree_sitter.Node) -> None:
        header, *body = [child for child in node.named_children if child.type != "comment"]
        keys = _key_parts(header)
        base: Path = ()
        for depth, key in enumerate(keys):
            base = (*base, key)
            last = depth == len(keys) - 1
            if last and node.type == "table_array_element":
                self._table_counts[base] = self._table_counts.get(base, 0) + 1
            self._note(base, header)
            if base in self._table_counts:
                # [a.b] after [[a]] belongs to the newest element of a
                base = (*base, self._table_counts[base] - 1)
                self._note(base, header)
        for child in body:
            if child.type == "pair":
                self._add_pair(base, child)

    def _add_pair(self, base: Path, node: tree_sitter.Node) -> None:
        key, value = [child for child in node.named_children if child.type != "comment"]
        for part in _key_parts(key):
            base = (*base, part)
            self._note(base, key)
        self._add_value(base, value)

    def _add_value(self, base: Path, node: tree_sitter.Node) -> None:
        children = [child for child in node.named_children if child.type != "comment"]
        if node.type == "array":
            for index, child in enumerate(children):
                self._note((*base, index), child)
                self._add_value((*base, index), child)
        elif node.type == "inline_table":
            for child in children:
                self._add_pair(base, child)

    def _note(self, path: Path, node: tree_sitter.Node) -> None:
        """Record the first position of ``path``."""
        self._places.setdefault(path, (node.start_point.row, node.start_point.column))


def _key_parts(node: tree_sitter.Node) -> tuple[str, ...]:
    """``a."b c".d`` → ``("a", "b c", "d")``."""
    if node.type == "dotted_key":
        return tuple(part for child in node.named_children for part in _key_parts(child))
    text = (node.text or b"").decode()
    if node.type == "quoted_key":
        return tuple(tomllib.loads(f"{text} = 0"))
    return (text,)
