"""Fills the words of a manifest's templates."""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORD = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


def fill(text: str, words: Mapping[str, str]) -> str:
    """Replace ``{word}`` for each known word; other braces stay, because YAML and JSON use them."""
    return _WORD.sub(lambda match: words.get(match[1], match[0]), text)
