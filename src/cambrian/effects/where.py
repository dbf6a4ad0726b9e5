"""Select the rows that meet conditions on columns."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cambrian.effects.errors import EffectError
from cambrian.effects.model import Bounds, Condition, Scalar, Where
from cambrian.study import hints


def require_columns(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Raise :class:`EffectError` for the first of ``columns`` that ``frame`` does not have."""
    for name in columns:
        if name not in frame.columns:
            near = hints.nearest(name, frame.columns)
            raise EffectError(f"no column {name}" + (f"; did you mean {near}?" if near else ""))


def matching(frame: pl.DataFrame, where: Where) -> pl.DataFrame:
    """The rows of ``frame`` that meet all of ``where``.

    Raises:
        EffectError: a column is missing, or a value has another type than its column.
    """
    require_columns(frame, list(where))
    kept = frame
    for name, condition in where.items():
        kept = kept.filter(_expression(frame.schema[name], name, condition))
    return kept


def _expression(kind: pl.DataType, name: str, condition: Condition) -> pl.Expr:
    if not isinstance(condition, Bounds):
        return _one_of(kind, name, condition)
    column = pl.col(name)
    found = pl.lit(True)
    numbers = (condition.at_least, condition.at_most, condition.above, condition.below)
    if any(number is not None for number in numbers) and not kind.is_numeric():
        raise EffectError(f"column {name} holds no numbers: bounds need numbers")
    if condition.at_least is not None:
        found &= column >= condition.at_least
    if condition.at_most is not None:
        found &= column <= condition.at_most
    if condition.above is not None:
        found &= column > condition.above
    if condition.below is not None:
        found &= column < condition.below
    if condition.not_ is not None:
        found &= ~_one_of(kind, name, condition.not_)
    if condition.given is not None:
        found &= column.is_not_null() if condition.given else column.is_null()
    return found


def _one_of(kind: pl.DataType, name: str, condition: Scalar | tuple[Scalar, ...]) -> pl.Expr:
    """True or false for each row, never null."""
    values = condition if isinstance(condition, tuple) else (condition,)
    found = pl.lit(False)
    for value in values:
        if kind != pl.Null:
            _check_kind(kind, name, value)
            found |= pl.col(name).eq_missing(pl.lit(value))
    return found


def _check_kind(kind: pl.DataType, name: str, value: Scalar) -> None:
    if isinstance(value, bool):
        fits = kind == pl.Boolean
    elif isinstance(value, str):
        fits = kind in (pl.String, pl.Categorical, pl.Enum)
    else:
        fits = kind.is_numeric()
    if not fits:
        raise EffectError(f"column {name} holds {str(kind).lower()}: {value!r} has another type")
