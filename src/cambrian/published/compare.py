"""Published cells beside measured ones: one row a published cell, in the same unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import scipy

from cambrian.effects import notes
from cambrian.effects.errors import EffectError, NoDataError, NotCompleteError, UndefinedError
from cambrian.effects.model import SummarySpec, Where
from cambrian.effects.summary import Estimate, summary
from cambrian.effects.where import require_columns
from cambrian.published import load
from cambrian.published.agreement import Published, agreement, bound_agreement, sign_agreement
from cambrian.published.model import Comparison

#: two keys are the same if they differ by less than this share: files hold decimals, floats do not
TOLERANCE = 1e-6
CONFIDENCE = 0.95

_SCHEMA = {
    "published": pl.Float64,
    "published_low": pl.Float64,
    "published_high": pl.Float64,
    "published_half_unit": pl.Float64,
    "published_trials": pl.Int64,
    "published_sign": pl.String,
    "measured": pl.Float64,
    "measured_low": pl.Float64,
    "measured_high": pl.Float64,
    "trials": pl.Int64,
    "ratio": pl.Float64,
    "agrees": pl.String,
    "note": pl.String,
    "source": pl.String,
}


@dataclass(frozen=True)
class Compared:
    """A comparison's cells.

    ``frame`` has a column for each key (under the observations' name, in their unit), ``side``
    where the comparison has sides, and: ``published`` with ``_low`` and ``_high`` (95 % Student's
    t interval, from their SD and number of trials), ``_half_unit`` (of the last printed digit; null if exact)
    and ``_trials``, or ``published_sign``;
    ``measured`` with ``_low`` and ``_high`` (95 %) and ``trials``; ``ratio`` of
    measured to published; ``agrees`` in words (:mod:`cambrian.published.agreement`); ``note``: the values
    that ``measured`` lists and no trial has; ``source``.
    """

    comparison: Comparison
    frame: pl.DataFrame

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that name a cell."""
        return tuple(name for name in self.frame.columns if name not in _SCHEMA)

    @property
    def note(self) -> str:
        """What ours are not about, though ``measured`` lists it; empty if they are about all of it."""
        return "; ".join(dict.fromkeys(note for note in self.frame["note"] if note))

    @property
    def ran(self) -> bool:
        """Is any cell measured?"""
        return bool((self.frame["agrees"] != "not run").any())


def compare(comparison: Comparison, paper: Path, observations: pl.DataFrame | None) -> Compared:
    """Put the published cells of ``comparison`` beside ``observations`` (None: not run).

    Raises:
        StudyError: the comparison does not fit its files or the observations.
    """
    rows = load.rows(comparison, paper)
    if observations is not None:
        _require_columns(comparison, paper, observations)
    found = [_cell(comparison, paper, row, observations) for row in rows.to_dicts()]
    keys = {name: None for name in found[0] if name not in _SCHEMA}
    frame = pl.DataFrame(found, schema=dict.fromkeys(keys) | _SCHEMA, infer_schema_length=None)
    return Compared(comparison, frame)


def _require_columns(comparison: Comparison, paper: Path, observations: pl.DataFrame) -> None:
    try:
        require_columns(observations, list(comparison.match.values()))
    except EffectError as error:
        raise load.fault(
            comparison, paper, "match", str(error), "name a column of the observations"
        ) from error


def _cell(
    comparison: Comparison, paper: Path, row: dict[str, Any], observations: pl.DataFrame | None
) -> dict[str, Any]:
    keys = {ours: _key(comparison, paper, theirs, row[theirs]) for theirs, ours in comparison.match.items()}
    side = row[comparison.side_column] if comparison.side_column else None
    spec = (
        _of_side(comparison.measured, comparison.sides[_word(side)])
        if side is not None
        else comparison.measured
    )
    ours, missing = None, "not run"
    if observations is not None:
        ours, missing = _measured(comparison, paper, spec, _observations_of_cell(observations, keys))
    theirs = _published(comparison, paper, row)
    cell = keys | ({"side": _word(side)} if side is not None else {})
    return cell | _beside(comparison, theirs, row, ours, spec, missing)


def _key(comparison: Comparison, paper: Path, column: str, value: Any) -> Any:
    if value is None:
        return None
    if column in comparison.values:
        return comparison.values[column].get(_word(value), value)
    if column not in comparison.factor:
        return value
    return comparison.factor[column] * _as_number(comparison, paper, f"factor.{column}", column, value)


def _word(value: Any) -> str:
    """The value as in a file: true and false, as polars writes a column of them."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_side(spec: SummarySpec, side: Where) -> SummarySpec:
    return spec.model_copy(update={"a": spec.a | side})


def _observations_of_cell(observations: pl.DataFrame, keys: dict[str, Any]) -> pl.DataFrame:
    """The observations of a published cell; a key without a value is no condition."""
    kept = observations
    for name, value in keys.items():
        if value is None:
            continue
        if isinstance(value, (int, float)) and not isinstance(value, bool) and kept.schema[name].is_numeric():
            kept = kept.filter((pl.col(name) - value).abs() <= TOLERANCE * max(1.0, abs(value)))
        else:
            kept = kept.filter(pl.col(name).cast(pl.String) == _word(value))
    return kept


def _measured(
    comparison: Comparison, paper: Path, spec: SummarySpec, observations: pl.DataFrame
) -> tuple[Estimate | None, str]:
    """Our figure, or None and the word that says why."""
    try:
        found = summary(observations, spec)
        if found.cells_cut:
            return None, "not complete"
        return (None, "not defined") if found.cells_left_out or found.cells_without_seed else (found, "")
    except NotCompleteError:
        return None, "not complete"
    except UndefinedError:
        return None, "not defined"
    except NoDataError:
        return None, "not run"
    except EffectError as error:
        raise load.fault(comparison, paper, "measured", str(error), "mend the effect's keys") from error


def _published(comparison: Comparison, paper: Path, row: dict[str, Any]) -> Published:
    if comparison.published is None:
        return Published(None, None, None, None)
    value, scale = _number(comparison, paper, row, "published"), 1.0
    half_unit = float(row[load.HALF_UNIT])
    if comparison.published_of is not None and value is not None:
        whole = _number(comparison, paper, row, "published_of")
        scale = 100 / whole if whole else math.nan
        value = 100 * value / whole if whole else None
    if comparison.published_sd is None or comparison.published_trials is None or value is None:
        return Published(value, None, None, None, half_unit)
    sd = _number(comparison, paper, row, "published_sd")
    trials = _number(comparison, paper, row, "published_trials")
    if sd is None or trials is None or trials < 2:
        return Published(value, None, None, None if trials is None else round(trials), half_unit)
    half = float(scipy.special.stdtrit(trials - 1, (1 + CONFIDENCE) / 2)) * scale * sd / math.sqrt(trials)
    return Published(value, value - half, value + half, round(trials), half_unit)


def _number(comparison: Comparison, paper: Path, row: dict[str, Any], key: str) -> float | None:
    """What the row has in the column that ``key`` names."""
    column = comparison.published_columns[key]
    value = row[column]
    return None if value is None else float(_as_number(comparison, paper, key, column, value))


def _as_number(comparison: Comparison, paper: Path, key: str, column: str, value: Any) -> float:
    if isinstance(value, (int, float)):
        return value
    raise load.fault(
        comparison,
        paper,
        key,
        f"{value!r} in column {column} is no number",
        "leave such rows out by where, or mend the file",
    )


def _beside(
    comparison: Comparison,
    theirs: Published,
    row: dict[str, Any],
    ours: Estimate | None,
    spec: SummarySpec,
    missing: str,
) -> dict[str, Any]:
    sign = None if comparison.published_sign is None else row[comparison.published_sign]
    if ours is None:
        agrees = missing
    elif comparison.published_sign is not None:
        agrees = sign_agreement(sign, ours, 1.0 if spec.kind == "ratio" else 0.0)
    elif comparison.published_bound is not None:
        agrees = bound_agreement(theirs, ours, comparison.published_bound)
    else:
        agrees = agreement(theirs, ours, comparison.near_percent)
    return {
        "published": theirs.value,
        "published_low": theirs.low,
        "published_high": theirs.high,
        "published_half_unit": theirs.half_unit or None,
        "published_trials": theirs.trials,
        "published_sign": None if sign is None else str(sign),
        "measured": None if ours is None else ours.estimate,
        "measured_low": None if ours is None else ours.low,
        "measured_high": None if ours is None else ours.high,
        "trials": None if ours is None else ours.trials,
        "ratio": ours.estimate / theirs.value if ours is not None and theirs.value else None,
        "agrees": agrees,
        "note": None if ours is None else notes.only_at(ours.partial),
        "source": row.get("source"),
    }
