"""The score of faults that no parameter describes, for a terminal and for the documentation."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from cambrian.markdown import table_lines
from cambrian.proof.corpus_table import absent
from cambrian.proof.misbehaviours import FaultRow, Score

_HEADS = ("preset", "what it does wrong", "described by", "verdict")


def terminal(score: Score) -> Table:
    """The table with a row for each fault."""
    table = Table(*_HEADS)
    for row in score.faults:
        preset, what, by, verdict = _cells(row)
        wrong = row.state in ("missed", "named otherwise")
        table.add_row(preset, what, Text(by, style="red" if wrong else ""), verdict)
    return table


def markdown(score: Score) -> str:
    """The same table in Markdown."""
    return "\n".join(table_lines(_HEADS, map(_cells, score.faults))) + "\n"


def summary(score: Score) -> list[str]:
    """The acceptance figures, and each accusation of a clean controller."""
    exercised = score.exercised
    share = f" ({100 * score.caught / len(exercised):.1f} %)" if exercised else ""
    quiet = sum(not row.accused for row in score.clean)
    lines = [
        f"{score.caught} of {len(exercised)} faults that no parameter describes are caught{share}; "
        f"{len(score.faults) - len(exercised)} not exercised",
        f"{quiet} of {len(score.clean)} clean controllers are not accused",
    ]
    lines += absent(score.absent)
    return lines + [f"  {row.contestant}: {', '.join(row.accused)}" for row in score.clean if row.accused]


def _cells(row: FaultRow) -> tuple[str, str, str, str]:
    if row.state == "named otherwise":
        by = f"missed; named instead: {', '.join(row.judgement.named)}"
    elif row.state == "missed" and row.by:
        by = f"{', '.join(row.by)} (not accused)"
    else:
        by = ", ".join(row.by) if row.state == "caught" else row.state
    return row.fault.preset, row.fault.what, by, row.judgement.verdict
