"""Fills the words of a manifest's templates, and finds wrong ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from cambrian.study import hints

#: what every command, environment and file of a flow may have; a CCA's ``values`` are further words
WORDS = frozenset(
    {
        "address",
        "alpn",
        "bin",
        "bytes",
        "cca",
        "cert",
        "dir",
        "key",
        "path",
        "port",
        "python",
        "qlog",
        "receive_buffer_bytes",
        "seed",
        "transport_log",
        "work",
        "www",
    }
)
_WORD = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
#: what its author meant as a word; ``${name}`` is a shell's variable
_MEANT = re.compile(r"(?<!\$)\{ *([A-Za-z_][\w-]*) *\}")


def fill(text: str, words: Mapping[str, str]) -> str:
    """Replace ``{word}`` for each known word; other braces stay, because YAML and JSON use them."""
    return _WORD.sub(lambda match: words.get(match[1], match[0]), text)


def problem(text: str, known: Collection[str]) -> tuple[str, str] | None:
    """What is wrong with a template on a command line, and the remedy; None if nothing is."""
    for meant in _MEANT.finditer(text):
        word = meant[0].strip("{}")
        if word not in known:
            remedy = hints.for_name(word.strip(), known, "the words are")
            return f'"{meant[0]}" is no word that Cambrian replaces', remedy
    if text.count("{") != text.count("}"):
        missing, there = ("}", "{") if text.count("{") > text.count("}") else ("{", "}")
        return f'"{there}" without its "{missing}"', 'write words such as "{bin}", with both braces'
    return None
