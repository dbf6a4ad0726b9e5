"""The sentences at the top of a report, made from its tables; the first one answers the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

import polars as pl

from cambrian.measure import quantities
from cambrian.measure.flow_window import is_sized
from cambrian.report import blocks, placebo, together
from cambrian.report.collect import Collected, everybody
from cambrian.report.conformance.trials import METHOD
from cambrian.report.judged import without_trials
from cambrian.report.layout import joined, number
from cambrian.report.tables import harm
from cambrian.report.tables.flows import not_complete, row_name
from cambrian.report.tables.rows import Row, each
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.states import SAME
from cambrian.study.reference import REFERENCE_STACK

#: what a judged contestant should be like
_EXPECTED = "kernel TCP or the standard"
#: of a comparison whose state is SAME: equal seeds are one replicate
_NOT_TESTED = "one value in all seeds, so not tested"


def counted(count: int, noun: str) -> str:
    """``1 trial``, ``18 trials``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def missing(collected: Collected) -> int:
    """How many trials of the study have not run."""
    return len({name for cell in collected.cells for name in cell.missing})


def what_ran(collected: Collected) -> str:
    """How many trials ran, how many are valid, and how many are missing."""
    records = {record.id: record for cell in collected.cells for record in cell.records}
    valid = sum(record.valid for record in records.values())
    networks = counted(len(collected.networks), "network")
    ran = {cell.network.name for cell in collected.cells if cell.records}
    part = f"{len(ran):,} of " if 0 < len(ran) < len(collected.networks) else ""
    text = f"{counted(len(records), 'trial')} on {part}{networks}: {valid:,} valid"
    rejected = len(records) - valid
    text += f", {rejected:,} invalid (in no average and no figure)" if rejected else ", none invalid"
    return text + (f"; {missing_text(count)}." if (count := missing(collected)) else ".")


def few_seeds(collected: Collected, groups: Collection[str]) -> str:
    """That some of these inconclusive groups have too few seeds to compare means; empty if none.

    ``groups``: their keys.
    """
    # flows alone are judged by parameters and by single trials
    compared = [cell for cell in collected.cells if len(cell.names) > 1 or cell.page]
    seeds = [len(blocks.whole(cell)) for cell in compared if cell.key in groups and cell.trials]
    few = [count for count in seeds if count < FEWEST_SEEDS]
    if not few:
        return ""
    with_few = {0: "Without a seed whose trials are all valid", 1: "With one seed", 2: "With two seeds"}
    who = (
        with_few[few[0]]
        if len(few) == len(seeds) and len({*few}) == 1
        else f"In {len(few)} of the {len(seeds)} groups that are inconclusive"
    )
    return (
        f"{who}, means cannot be compared and stay inconclusive: {FEWEST_SEEDS} seeds or more, "
        "with valid trials, are needed."
    )


def missing_text(count: int) -> str:
    """A clause about trials that the study asks for and that have not run."""
    return (
        f"{counted(count, 'trial')} of the study {'is' if count == 1 else 'are'} missing here (not run yet)"
    )


def unlisted_text(count: int, command: str) -> str:
    """A sentence about trials that are kept, and that the study's last ``command`` did not ask for."""
    by, remedy = "", "the earlier command again"
    if " --only " in command:
        by, remedy = ", which has --only,", "the same command without --only, or with all groups"
    are, them = ("is", "it") if count == 1 else ("are", "them")
    return (
        f"{counted(count, 'more trial')} {are} kept here but {are} not judged: the last command{by} does not "
        f"ask for {them}; remedy: {remedy}"
    )


def measured_interval(collected: Collected) -> str:
    """From when to when trials are measured, as a clause; those without an endless flow by another rule."""
    trials = [trial for cell in collected.cells for trial in cell.trials]
    endless = [trial for trial in trials if not all(map(is_sized, trial.trial.flows))]
    of_sized = "from its first client’s start until its last flow’s end"
    if trials and not endless:
        return f"in each trial {of_sized}"
    from_s = collected.study.measured_from_s
    if from_s is None:
        text = (
            "from the moment when every endless flow has run for 20 of its base round trips until the "
            "trial’s end"
        )
    else:
        text = f"from {from_s:g} s after the trial’s start until its end"
    short = {trial.id for trial in endless if trial.t0_ns == 0}
    if short and from_s != 0:
        verb = "is" if len(short) == 1 else "are"
        text += f"; {counted(len(short), 'trial')} that ended before that moment {verb} measured completely"
    if len(endless) < len(trials):
        text += f"; a trial without an endless flow is measured {of_sized}"
    return text


def answer(collected: Collected, frames: Mapping[str, pl.DataFrame]) -> str:
    """The sentence that answers the study's question, and who has no valid trial; empty without both."""
    parts = (_answer(collected, frames), _late(collected), _no_valid_trial(collected))
    return " ".join(part for part in parts if part)


def _late(collected: Collected) -> str:
    """Which page loads and transfers were not complete at the trial's end; empty if none."""
    loads: list[str] = []
    transfers: list[str] = []
    ended: list[str] = []
    for cell in collected.cells:
        for flow in range(len(cell.names)):
            name = f"{row_name(cell, flow)} on {cell.network.name}"
            if late := cell.late_loads(flow):
                loads.append(f"{late} of {len(cell.records)} loads of {name}")
            elif count := not_complete(cell, flow):
                early = any(trial.flows[flow].ended_early for trial in cell.trials)
                (ended if early else transfers).append(
                    f"{count} of {counted(len(cell.trials), 'transfer')} of {name}"
                )
    longer = ": give a longer duration_s"
    return " ".join(
        f"{what}: {joined(_some(listed, 'other'))}. So these have no mean time{remedy}."
        for what, listed, remedy in (
            ("Not loaded in time", loads, longer),
            ("Not complete at the trial’s end", transfers, longer),
            ("Not complete, and some ended early", ended, ""),
        )
        if listed
    )


def _answer(collected: Collected, frames: Mapping[str, pl.DataFrame]) -> str:
    judged = _judged(collected, frames.get("verdicts"))
    transfers = any(flow.size_bytes for flow in collected.study.every_flow)
    if collected.design == "flows" and (transfers or any(len(cell.names) > 1 for cell in collected.cells)):
        differing = judged if _differing(collected, frames.get("verdicts")) else ""
        return f"{together.answer(collected, frames)} {differing}".strip()
    if "page_loads" in frames:
        return _loads(collected, frames["page_loads"], frames.get("page_changes"))
    if "pairwise" in frames:
        return _pairwise(frames["pairwise"])
    return judged or _throughput(collected, frames["flows"])


def _no_valid_trial(collected: Collected) -> str:
    """Names the contestants without a valid trial, controls left out; empty without one."""
    unmeasured = without_trials(collected)
    listed = [f"{name} ({unmeasured[name]})" for name in unmeasured if name not in controls(collected)]
    if not listed:
        return ""
    return f"No valid trial of {joined(_some(listed, 'other contestant'))}."


def _some(listed: list[str], others: str) -> list[str]:
    """The first ones of a list, and how many ``others`` it has if it is long."""
    rest = len(listed) - together.MOST_NAMED
    return [*listed[: together.MOST_NAMED], counted(rest, others)] if rest > 0 else listed


def placebo_differs(collected: Collected, frames: Mapping[str, pl.DataFrame]) -> list[str]:
    """What the page says of placebos that differ; in a ``pairwise`` study by their harm.

    Besides those whose verdict differs: what tables beside the verdicts do not compare because of a placebo.
    """
    names = set(placebo.names(collected).values())
    found = [
        f"Do not rely on this study: it fails its own test. {row['contestant']}, the kernel’s own "
        f"controller in the place of a contestant, is judged “{row['verdict']}”. {row['text']}"
        for row in each(frames.get("verdicts"))
        if row["contestant"] in names and row["differs"]
    ]
    if collected.design == "pairwise":
        found += [
            f"Harm to {row['victim']} in {row['service']} is not judged on {row['network']}: the placebo "
            f"{row['by']} seems to harm it {row['verdict']}."
            for row in each(frames.get("harm"))
            if row["by"] in names and row["verdict"] in (harm.MORE, harm.LESS)
        ]
    withheld = [
        f"{what} beside {row['reference']} on {row['network']}"
        for row, what in _aside(frames)
        if row["contestant"] in names
    ]
    if withheld:
        found.append(f"Not compared, because the placebo differs there: {joined(_some(withheld, 'other'))}.")
    return found


def _aside(frames: Mapping[str, pl.DataFrame]) -> Iterator[tuple[Row, str]]:
    """The rows that differ in tables from which no verdict comes, with what differs in them."""
    for row in each(frames.get("own_figures")):
        if row["verdict"] == "different":
            yield row, quantities.ALL[row["quantity"]].heading.partition(",")[0].lower()
    for row in each(frames.get("envelope_methods")):
        # the table of conformance has that test, and verdicts come from it
        if row["verdict"] == "different" and row["method"] != METHOD:
            yield row, f"envelopes by {row['method']}"
        if row["verdict_t"] == "different":
            yield row, f"translated envelopes by {row['method']}"


def placebo_holds(collected: Collected) -> str:
    """That no placebo is clearly different, and how many have no valid trial; empty without a placebo."""
    cells = [cell for cell in collected.cells if cell.is_placebo]
    if not cells:
        return ""
    judged, count = sum(bool(cell.trials) for cell in cells), len(cells)
    what = "(kernel TCP against itself, judged like a contestant)"
    if not judged:
        none, verb = ("The placebo", "has") if count == 1 else (f"All {count} placebos", "have")
        return f"{none} {what} {verb} no valid trial: this study has not tested itself."
    if judged < count:
        verb = "has" if count - judged == 1 else "have"
        others = "the other does not clearly differ" if judged == 1 else "none of the others clearly differs"
        return f"{count - judged} of {count} placebos {what} {verb} no valid trial; {others}."
    none = {1: "The placebo", 2: "Neither placebo"}.get(count, f"None of the {count} placebos")
    verb = "does not clearly differ" if count == 1 else "clearly differs"
    return f"{none} {what} {verb}."


def controls(collected: Collected) -> list[str]:
    """The references and placebos of a ``versus-reference`` study: they test the study itself."""
    names = [cell.subject for cell in collected.cells if cell.is_noise_floor or cell.is_placebo]
    return list(dict.fromkeys(names)) if len(names) < len(collected.cells) else []


def _judged(collected: Collected, verdicts: pl.DataFrame | None) -> str:
    """How many contestants with valid trials differ, from the reference or from the standard, and which."""
    if verdicts is None:
        return ""
    left_out = [*controls(collected), *without_trials(collected)]
    everyone = verdicts.filter(~pl.col("contestant").is_in(left_out))
    differing = _differing(collected, verdicts)
    settled = differing or "conformant" in everyone["verdict"]
    judged = everyone.filter(~pl.col("contestant").is_in(_kernels(collected, everyone)))
    counts = Counter(judged["verdict"].to_list())
    others = [
        f"{counts[kind]} {kind}" for kind in ("conformant", "inconclusive", "not judged") if counts[kind]
    ]
    if not judged.height or not (settled or collected.design == "versus-reference"):
        return ""
    rest = f"; {joined(others)}" if others else ""
    if judged.height == 1:
        clearly = "clearly differs" if differing else "does not clearly differ"
        return f"{judged['contestant'][0]} {clearly} from {_EXPECTED}: {judged['verdict'][0]}."
    if not differing:
        return f"None of {counted(judged.height, 'contestant')} clearly differs from {_EXPECTED}{rest}."
    listed = ", ".join(differing[: together.MOST_NAMED]) + (
        " and others" if len(differing) > together.MOST_NAMED else ""
    )
    verb = "differs" if len(differing) == 1 else "differ"
    of_all = f"{len(differing)} of {counted(judged.height, 'contestant')}"
    return f"{of_all} clearly {verb} from {_EXPECTED} ({listed}){rest}."


def _kernels(collected: Collected, judged: pl.DataFrame) -> list[str]:
    """The kernel's controllers that are references, others' or their own; one that differs counts.

    Empty if nobody else is judged.
    """
    names = {one.name for one in everybody(collected.study) if one.stack == REFERENCE_STACK}
    if set(judged["contestant"]) <= names:
        return []
    kernels = {collected.kernel(name) for name in judged["contestant"]}
    chosen = pl.col("contestant").is_in(list(kernels & names)) & ~pl.col("differs")
    return judged.filter(chosen)["contestant"].to_list()


def _differing(collected: Collected, verdicts: pl.DataFrame | None) -> list[str]:
    """The contestants that differ; controls are none."""
    if verdicts is None:
        return []
    judged = verdicts.filter(pl.col("differs") & ~pl.col("contestant").is_in(controls(collected)))
    return judged["contestant"].to_list()


def _pairwise(ratios: pl.DataFrame) -> str:
    known = ratios.filter((pl.col("x") != pl.col("y")) & pl.col("ratio").is_not_null())
    if not known.height:
        return ""
    uneven, even = (known.filter(pl.col("split") == state).height for state in ("different", "equivalent"))
    if SAME in known["split"] or known["p_bh"].is_not_null().any():
        counts = f"{uneven} uneven, {even} even, {_inconclusive(known['split'])}"
        counts = f"Splits between two different contestants: {counts}"
    else:
        counts = "Too few seeds to test whether a split is even"
    # an uneven split first, even if an inconclusive mean is farther from a half
    farthest = known.filter(pl.col("split") != "equivalent").sort(
        pl.col("split") == "different", (pl.col("ratio") - 0.5).abs()
    )
    if not farthest.height:
        return f"{counts}."
    most = farthest.row(-1, named=True)
    winner, loser = ("x", "y") if most["ratio"] > 0.5 else ("y", "x")
    share = number(100 * max(most["ratio"], 1 - most["ratio"]), 0)
    why = {"different": "", SAME: f" (inconclusive: {_NOT_TESTED})"}.get(most["split"], " (inconclusive)")
    text = f"{most[winner]}’s {share} % against {most[loser]} on {most['network']}{why}"
    return f"{counts}; the most uneven one is {text}."


def _loads(collected: Collected, loads: pl.DataFrame, changes: pl.DataFrame | None) -> str:
    """How many page loads differ from the base's, or the mean times if there is nothing to compare."""
    if changes is None:
        cells = {cell.key: cell for cell in collected.cells}
        known = loads.filter(pl.col("plt_ms").is_not_null()).to_dicts()
        if len(known) > together.MOST_NAMED:
            return _range(collected, loads, "plt_ms", "Mean page load time", 1000, "s", 3)
        names = [together.named(cells[row["group"]], row["flow"], collected) for row in known]
        times = [
            f"{name}: {number(row['plt_ms'] / 1000, 3)} s" for name, row in zip(names, known, strict=True)
        ]
        # a pair of equal contestants has the same mean twice
        return f"Mean page load time: {joined(list(dict.fromkeys(times)))}." if times else ""
    different = changes.filter(pl.col("state") == "different")
    faster = different.filter(pl.col("pltc_percent") > 0).height
    equal = changes.filter(pl.col("state") == "equivalent").height
    counts = f"{faster} clearly faster, {different.height - faster} clearly slower, {equal} equally fast"
    # networks may have different bases
    bases = joined([f"{base}’s" for base in changes["base"].unique(maintain_order=True)])
    return f"Page loads compared with {bases}: {counts}, {_inconclusive(changes['state'])}."


def _inconclusive(found: pl.Series) -> str:
    """How many states are inconclusive, as the matrix and the cards count them, and how many have no test."""
    same = (found == SAME).sum()
    count = len(found) - found.is_in(["different", "equivalent"]).sum()
    return f"{count} inconclusive{f' ({same} with {_NOT_TESTED})' if same else ''}"


def _throughput(collected: Collected, flows: pl.DataFrame) -> str:
    """What each flow has, or the range if there are many; groups of controls are left out."""
    tests = [cell.key for cell in collected.cells if cell.subject in controls(collected)]
    known = flows.filter(pl.col("throughput_mbps").is_not_null() & ~pl.col("group").is_in(tests))
    if not known.height:
        return ""
    if known.height > together.MOST_NAMED or known["network"].n_unique() > 1:
        return _range(collected, known, "throughput_mbps", "Mean throughput", 1, "Mbps", 1)
    cells = {cell.key: cell for cell in collected.cells}
    listed = [
        f"{row_name(cells[row['group']], row['flow'])} {number(row['throughput_mbps'], 1)} Mbps"
        for row in known.sort("throughput_mbps", descending=True).iter_rows(named=True)
    ]
    return f"Mean throughput: {joined(listed)}."


def _range(
    collected: Collected, frame: pl.DataFrame, column: str, what: str, per: float, unit: str, digits: int
) -> str:
    """``what`` of a table's flows: from the least, ``column`` / ``per``, to the most; empty without one."""
    cells = {cell.key: cell for cell in collected.cells}
    known = frame.filter(pl.col(column).is_not_null()).sort(column).to_dicts()
    if not known:
        return ""
    ends = [
        f"{number(row[column] / per, digits)} {unit} "
        f"({together.named(cells[row['group']], row['flow'], collected)})"
        for row in (known[0], known[-1])
    ]
    return together.ranged(what, ends)
