"""The sentences at the top of a report, made from its tables; the first one answers the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import polars as pl

from cambrian.report import placebo
from cambrian.report.collect import Collected
from cambrian.report.layout import number
from cambrian.report.tables import harm
from cambrian.report.tables.flows import row_name

#: what a judged contestant should be like
_EXPECTED = "kernel TCP or the standard"
#: flows that a sentence lists one by one
_MOST_NAMED = 6


def counted(count: int, noun: str) -> str:
    """``1 trial``, ``18 trials``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def joined(items: list[str]) -> str:
    """``a, b and c``."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def missing(collected: Collected) -> int:
    """How many trials of the study have not run."""
    return len({name for cell in collected.cells for name in cell.missing})


def what_ran(collected: Collected) -> str:
    """How many trials ran, how many are valid, and how many are missing."""
    records = {record.id: record for cell in collected.cells for record in cell.records}
    valid = sum(record.valid for record in records.values())
    text = (
        f"{counted(len(records), 'trial')} on {counted(len(collected.networks), 'network')}: {valid:,} valid"
    )
    rejected = len(records) - valid
    text += f", {rejected:,} invalid (in no average and no figure)" if rejected else ", none invalid"
    return text + (f"; {missing_text(count)}." if (count := missing(collected)) else ".")


def missing_text(count: int) -> str:
    """A clause about trials that the study asks for and that have not run."""
    return (
        f"{counted(count, 'trial')} of the study {'is' if count == 1 else 'are'} missing here (not run yet)"
    )


def measured_interval(collected: Collected) -> str:
    """From when to when endless flows are measured, as a clause."""
    from_s = collected.study.measured_from_s
    if from_s is None:
        text = "from the moment when every flow has run for 20 of its base round trips until the trial’s end"
    else:
        text = f"from {from_s:g} s after the trial’s start until its end"
    short = {trial.id for cell in collected.cells for trial in cell.trials if trial.t0_ns == 0}
    if not short or from_s == 0:
        return text
    verb = "is" if len(short) == 1 else "are"
    return f"{text}; {counted(len(short), 'trial')} that ended before that moment {verb} measured completely"


def answer(collected: Collected, frames: Mapping[str, pl.DataFrame]) -> str:
    """The one sentence that answers the study's question; empty without a figure."""
    if "pairwise" in frames:
        return _pairwise(frames["pairwise"])
    if "page_loads" in frames:
        return _loads(frames["page_loads"], frames.get("page_changes"))
    return _judged(collected, frames.get("verdicts")) or _throughput(collected, frames["flows"])


def placebo_differs(
    collected: Collected, verdicts: pl.DataFrame | None, harms: pl.DataFrame | None = None
) -> list[str]:
    """A sentence for each placebo that is judged to differ; in a ``pairwise`` study by its harm."""
    names = set(placebo.names(collected).values())
    rows = verdicts.iter_rows(named=True) if verdicts is not None else ()
    judged = [
        f"Do not rely on this study: it fails its own test. {row['contestant']}, the kernel’s own "
        f"controller in the place of a contestant, is judged “{row['verdict']}”. {row['text']}"
        for row in rows
        if row["contestant"] in names and row["differs"]
    ]
    if collected.design != "pairwise" or harms is None:
        return judged
    failed = harms.filter(pl.col("by").is_in(list(names)) & pl.col("verdict").is_in([harm.MORE, harm.LESS]))
    return judged + [
        f"Harm to {row['victim']} in {row['service']} is not judged on {row['network']}: the placebo "
        f"{row['by']} seems to harm it {row['verdict']}."
        for row in failed.iter_rows(named=True)
    ]


def placebo_holds(collected: Collected) -> str:
    """How many placebos there are, none of them clearly different; empty without one."""
    count = sum(cell.is_placebo for cell in collected.cells)
    if not count:
        return ""
    no_placebo = {1: "The placebo", 2: "Neither placebo"}.get(count, f"None of the {count} placebos")
    verb = "does not clearly differ" if count == 1 else "clearly differs"
    return f"{no_placebo} (kernel TCP against itself, judged like a contestant) {verb}."


def controls(collected: Collected) -> list[str]:
    """The references and placebos of a ``versus-reference`` study: they test the study itself."""
    names = [cell.subject for cell in collected.cells if cell.is_noise_floor or cell.is_placebo]
    return list(dict.fromkeys(names)) if len(names) < len(collected.cells) else []


def _judged(collected: Collected, verdicts: pl.DataFrame | None) -> str:
    """How many contestants differ, from the reference or from the standard, and which."""
    if verdicts is None:
        return ""
    judged = verdicts.filter(~pl.col("contestant").is_in(controls(collected)))
    differing = judged.filter(pl.col("differs"))["contestant"].to_list()
    counts = Counter(judged["verdict"].to_list())
    others = [
        f"{counts[kind]} {kind}" for kind in ("conformant", "inconclusive", "not judged") if counts[kind]
    ]
    settled = differing or counts["conformant"]
    if not judged.height or not (settled or collected.design == "versus-reference"):
        return ""
    rest = f"; {joined(others)}" if others else ""
    if judged.height == 1:
        clearly = "clearly differs" if differing else "does not clearly differ"
        return f"{judged['contestant'][0]} {clearly} from {_EXPECTED}: {judged['verdict'][0]}."
    if not differing:
        return f"None of {counted(judged.height, 'contestant')} clearly differs from {_EXPECTED}{rest}."
    listed = ", ".join(differing[:_MOST_NAMED]) + (" and others" if len(differing) > _MOST_NAMED else "")
    verb = "differs" if len(differing) == 1 else "differ"
    of_all = f"{len(differing)} of {counted(judged.height, 'contestant')}"
    return f"{of_all} clearly {verb} from {_EXPECTED} ({listed}){rest}."


def _pairwise(ratios: pl.DataFrame) -> str:
    known = ratios.filter((pl.col("x") != pl.col("y")) & pl.col("ratio").is_not_null())
    if not known.height:
        return ""
    uneven = known.sort((pl.col("ratio") - 0.5).abs()).row(-1, named=True)
    winner, loser = ("x", "y") if uneven["ratio"] > 0.5 else ("y", "x")
    share = number(100 * max(uneven["ratio"], 1 - uneven["ratio"]), 0)
    most = (
        f"the most uneven one is {uneven[winner]}’s {share} % against {uneven[loser]} on {uneven['network']}"
        + ("" if uneven["split"] == "different" else " (inconclusive)")
    )
    if not known["p_bh"].is_not_null().any():
        return f"Too few seeds to test whether a split is even; {most}."
    uneven_count, even = (
        known.filter(pl.col("split") == state).height for state in ("different", "equivalent")
    )
    open_ = known.height - uneven_count - even
    counts = f"{uneven_count} uneven, {even} even, {open_} inconclusive"
    return f"Splits between two different contestants: {counts}; {most}."


def _loads(loads: pl.DataFrame, changes: pl.DataFrame | None) -> str:
    """How many page loads differ from the base's, or the mean times if there is nothing to compare."""
    if changes is None:
        known = loads.filter(pl.col("plt_ms").is_not_null()).iter_rows(named=True)
        times = [f"{row['contestant']} {number(row['plt_ms'] / 1000, 3)} s ({row['page']})" for row in known]
        return f"Mean page load time: {joined(times[:_MOST_NAMED])}." if times else ""
    different = changes.filter(pl.col("state") == "different")
    faster = different.filter(pl.col("pltc_percent") > 0).height
    equal = changes.filter(pl.col("state") == "equivalent").height
    counts = f"{faster} clearly faster, {different.height - faster} clearly slower, {equal} equally fast"
    open_ = changes.height - different.height - equal
    return f"Page loads compared with {changes['base'][0]}’s: {counts}, {open_} inconclusive."


def _throughput(collected: Collected, flows: pl.DataFrame) -> str:
    """Designs ``solo`` and ``flows``: mean throughputs, or their range if there are many."""
    known = flows.filter(pl.col("throughput_mbps").is_not_null())
    if not known.height:
        return ""
    rates = known.sort("throughput_mbps", descending=True).to_dicts()
    if len(rates) <= _MOST_NAMED and known["network"].n_unique() == 1:
        cells = {cell.key: cell for cell in collected.cells}
        names = [row_name(cells[row["group"]], row["flow"]) for row in rates]
        listed = [
            f"{name} {number(row['throughput_mbps'], 1)} Mbps" for name, row in zip(names, rates, strict=True)
        ]
        return f"Mean throughput: {joined(listed)}."
    most, least = rates[0], rates[-1]
    return (
        f"Mean throughput ranged from {number(least['throughput_mbps'], 1)} Mbps ({least['contestant']} on "
        f"{least['network']}) to {number(most['throughput_mbps'], 1)} Mbps ({most['contestant']} on "
        f"{most['network']})."
    )
