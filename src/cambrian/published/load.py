"""published/PAPER/comparisons.toml and the CSV files that it names."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path

import polars as pl

from cambrian import paths
from cambrian.effects.errors import EffectError
from cambrian.effects.where import matching
from cambrian.published.model import Comparison
from cambrian.study import hints
from cambrian.study.errors import StudyError
from cambrian.study.positions import Path as Place
from cambrian.study.toml_file import TomlFile

FILE = "comparisons.toml"
#: column of :func:`rows`: half a unit of the last printed digit of the published figure; 0 if it is exact
HALF_UNIT = "__half_unit"


def folder(paper: str) -> Path:
    """Where a paper's tables lie."""
    return paths.data() / "published" / paper


def comparisons(paper: Path) -> dict[str, Comparison]:
    """All comparisons of a paper's folder, by name; none where it has no comparisons.toml.

    Raises:
        StudyError: the file or one of its comparisons cannot be used; with line, key and remedy.
    """
    path = paper / FILE
    if not path.exists():
        return {}
    file = _toml(path)
    file.check_keys(["comparison"])
    found = file.tables("comparison", Comparison)
    file.unique("comparison", "name")
    return {one.name: one for one in found}


def rows(comparison: Comparison, paper: Path) -> pl.DataFrame:
    """The published cells of a comparison, as printed, in the order of its files.

    Raises:
        StudyError: a file, a column or a side that the comparison names is not there.
    """
    frames = [_read(comparison, paper, name) for name in comparison.files]
    whole = pl.concat(frames, how="diagonal_relaxed")
    try:
        kept = matching(whole, comparison.where)
    except EffectError as error:
        raise fault(comparison, paper, "where", str(error), "use the columns of the files") from error
    if comparison.side_column is not None:
        words = kept[comparison.side_column].cast(pl.String)
        if absent := [side for side in comparison.sides if side not in set(words)]:
            raise fault(
                comparison,
                paper,
                f"sides.{absent[0]}",
                f"no row has this in {comparison.side_column}",
                f"the words there are {hints.choices(set(words.drop_nulls()))}",
            )
        kept = kept.filter(words.is_in(list(comparison.sides)))
    if kept.is_empty():
        raise fault(comparison, paper, "where", "no published row is left", "loosen it")
    return kept


def fault(comparison: Comparison, paper: Path, at: str | Place, problem: str, remedy: str) -> StudyError:
    """A comparison that cannot be used as it stands; ``at``: a key of its own, ``match.rate``, or a place."""
    # a comparison does not know its line, so the file is asked once more
    file = _toml(paper / FILE)
    index = [one["name"] for one in file.listed("comparison")].index(comparison.name)
    steps = at.split(".", 1) if isinstance(at, str) else at
    return file.error(("comparison", index, *steps), problem, remedy)


def _toml(path: Path) -> TomlFile:
    return TomlFile(path, "docs/reference/suites.md")


def _read(comparison: Comparison, paper: Path, name: str) -> pl.DataFrame:
    path = paper / name
    if not path.is_file():
        known = [one.name for one in paper.glob("*.csv")]
        remedy = hints.for_name(name, known, "the files there are")
        raise fault(comparison, paper, "files", f"there is no {name}", remedy)
    frame = pl.read_csv(path, infer_schema_length=None, glob=False)
    for key, column in comparison.published_columns.items():
        if column not in frame.columns:
            remedy = hints.for_name(column, frame.columns, "its columns are")
            raise fault(comparison, paper, key, f"{name} has no column {column}", remedy)
    if comparison.published is None or not comparison.is_rounded:
        return frame.with_columns(pl.lit(0.0).alias(HALF_UNIT))
    printed = pl.read_csv(path, columns=[comparison.published], infer_schema=False, glob=False)
    halves = [_half_unit(text) for text in printed[comparison.published]]
    return frame.with_columns(pl.Series(HALF_UNIT, halves, dtype=pl.Float64))


def _half_unit(text: str | None) -> float:
    """Half a unit of the last digit of a number as it is printed; 0 for another text."""
    try:
        exponent = Decimal((text or "").strip()).as_tuple().exponent
    except InvalidOperation:
        return 0.0
    return 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0
