"""How cells of tables read."""

from __future__ import annotations

import pytest

from cambrian.report import layout


@pytest.mark.parametrize(
    ("p", "words"), [(0.00049, "p < 0.001"), (0.0007, "p = 0.001"), (0.0123, "p = 0.012"), (1.0, "p = 1.000")]
)
def test_a_p_value_reads_alike_in_a_sentence_and_in_a_table(p: float, words: str) -> None:
    assert layout.p_words(p) == words
    assert layout.p_text(p) == words.removeprefix("p ").removeprefix("= ")


def test_a_missing_p_value_is_a_dash() -> None:
    assert layout.p_text(None) == layout.NOTHING
