"""Identity of a row: its trial, its group, its measured interval."""

from __future__ import annotations

from cambrian.measure.quantity import INTEGER, TEXT, TRUTH, Quantity

QUANTITIES = (
    Quantity("trial", "the trial's identity", TEXT, "study"),
    Quantity("seed", "the unit of every statistic", INTEGER, "study"),
    Quantity("group", "the group's key (NETWORK/…)", TEXT, "study"),
    Quantity("design", "solo, versus-reference, pairwise, flows", TEXT, "study"),
    Quantity(
        "subject",
        "line-up's name, or flow 0's contestant (all of them joined by ' + ' for a flows study without "
        "line-ups)",
        TEXT,
        "study",
    ),
    Quantity("reference", "flow 1's contestant in a pair (both designs), else null", TEXT, "study"),
    Quantity("lineup", "its name, or null", TEXT, "study"),
    Quantity(
        "placebo",
        "the group is the reference in a contestant's place, under the name of a placebo; those of a "
        "`pairwise` study have no rows",
        TRUTH,
        "study",
    ),
    Quantity("duration_s", "duration of the trial", level="study"),
    Quantity("clock", "virtual, real, host", TEXT, "study"),
    Quantity("measured_from_s", "start of the measured interval", level="trial"),
    Quantity("measured_to_s", "end of the measured interval", level="trial"),
)
