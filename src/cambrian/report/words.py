"""The sentences at the top of a report, made from its tables."""

from __future__ import annotations

from collections import Counter

import polars as pl

from cambrian.report import placebo
from cambrian.report.collect import Collected
from cambrian.report.layout import number
from cambrian.report.tables import harm

#: flows that a sentence lists one by one
_MOST_NAMED = 6


def counted(count: int, noun: str) -> str:
    """``1 trial``, ``18 trials``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def joined(items: list[str]) -> str:
    """``a, b and c``."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]


def what_ran(collected: Collected) -> str:
    """How many trials ran, how many are valid, and how many are missing."""
    records = {record.id: record for cell in collected.cells for record in cell.records}
    missing = {name for cell in collected.cells for name in cell.missing}
    valid = sum(record.valid for record in records.values())
    text = (
        f"{counted(len(records), 'trial')} on {counted(len(collected.networks), 'network')}: {valid:,} valid"
    )
    rejected = len(records) - valid
    text += f", {rejected:,} invalid (in no average and no figure)" if rejected else ", none invalid"
    return text + (f"; {missing_text(len(missing))}." if missing else ".")


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


def findings(
    collected: Collected,
    conformance: pl.DataFrame | None,
    flows: pl.DataFrame,
    ratios: pl.DataFrame | None,
    loads: pl.DataFrame | None = None,
    orders: pl.DataFrame | None = None,
    verdicts: pl.DataFrame | None = None,
    harms: pl.DataFrame | None = None,
) -> list[str]:
    """A few sentences on the results."""
    held = [] if placebo_differs(collected, verdicts, harms) else _placebo_holds(collected)
    if conformance is not None:
        return [*_judged(collected, verdicts), *_versus(collected, conformance, flows), *held]
    if ratios is not None:
        return [*_pairwise(ratios, orders), *held]
    if loads is not None:
        return _loads(loads)
    return _alone_or_listed(flows)


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


def _placebo_holds(collected: Collected) -> list[str]:
    count = sum(cell.is_placebo for cell in collected.cells)
    if not count:
        return []
    no_placebo = {1: "The placebo", 2: "Neither placebo"}.get(count, f"None of the {count} placebos")
    verb = "does not differ" if count == 1 else "differs"
    return [f"{no_placebo} (kernel TCP against itself, judged like a contestant) {verb}."]


def controls(collected: Collected) -> list[str]:
    """The references and placebos of a ``versus-reference`` study: they test the study itself."""
    names = [cell.subject for cell in collected.cells if cell.is_noise_floor or cell.is_placebo]
    return list(dict.fromkeys(names)) if len(names) < len(collected.cells) else []


def _judged(collected: Collected, verdicts: pl.DataFrame | None) -> list[str]:
    """How many contestants differ, from the reference or from the standard, and which."""
    if verdicts is None:
        return []
    judged = verdicts.filter(~pl.col("contestant").is_in(controls(collected)))
    differing = judged.filter(pl.col("differs"))["contestant"].to_list()
    counts = Counter(judged["verdict"].to_list())
    others = [
        f"{counts[kind]} {kind}" for kind in ("conformant", "inconclusive", "not judged") if counts[kind]
    ]
    if not judged.height:
        return []
    rest = f"; {joined(others)}" if others else ""
    if not differing:
        return [f"None of {counted(judged.height, 'contestant')} clearly differs{rest}."]
    listed = ", ".join(differing[:_MOST_NAMED]) + (" and others" if len(differing) > _MOST_NAMED else "")
    verb = "differs" if len(differing) == 1 else "differ"
    return [f"{len(differing)} of {counted(judged.height, 'contestant')} clearly {verb} ({listed}){rest}."]


def _versus(collected: Collected, conformance: pl.DataFrame, flows: pl.DataFrame) -> list[str]:
    conformance = conformance.filter(~pl.col("contestant").is_in(list(placebo.names(collected).values())))
    if not conformance.height:
        return ["Every contestant is its own reference here, so the study shows only the noise floor."]
    verdicts = conformance["verdict"].to_list()
    judged = {"different", "equivalent", "inconclusive", placebo.WITHHELD}
    groups = (
        (
            verdicts.count("different"),
            "has a different performance envelope from its reference",
            "have a different performance envelope from their reference",
        ),
        (
            verdicts.count("equivalent"),
            "has the same performance envelope as its reference",
            "have the same performance envelope as their reference",
        ),
        (
            verdicts.count("inconclusive"),
            "is inconclusive by its performance envelope",
            "are inconclusive by their performance envelopes",
        ),
        (
            verdicts.count(placebo.WITHHELD),
            "has no verdict, because the placebo differs",
            "have no verdict, because the placebo differs",
        ),
        (
            sum(verdict not in judged for verdict in verdicts),
            "has no envelopes to compare",
            "have no envelopes to compare",
        ),
    )
    parts = [f"{count} {singular if count == 1 else plural}" for count, singular, plural in groups if count]
    what = "pairs of contestant and network" if len(collected.networks) > 1 else "contestants"
    if conformance.height == 1:
        only = next(singular for count, singular, _ in groups if count)
        sentence = f"{conformance['contestant'][0]} {only}."
    elif len(parts) == 1:
        sentence = f"All {conformance.height} {what} {next(plural for count, _, plural in groups if count)}."
    else:
        sentence = f"Of {conformance.height} {what}, {joined(parts)}."
    return [sentence, *_extremes(collected, flows)]


def _extremes(collected: Collected, flows: pl.DataFrame) -> list[str]:
    """Which contestants have the largest and the smallest share of throughput against their reference."""
    floors = [cell.key for cell in collected.cells if cell.is_noise_floor or cell.is_placebo]
    tests = flows.filter(
        (pl.col("flow") == 0) & ~pl.col("group").is_in(floors) & pl.col("share_percent").is_not_null()
    ).sort("share_percent")
    if tests.height < 2:
        return []
    least, most = tests.row(0, named=True), tests.row(-1, named=True)
    place = {
        row["group"]: f" on {row['network']}" if len(collected.networks) > 1 else "" for row in (least, most)
    }
    return [
        f"The largest mean share of throughput against its reference was {most['contestant']}’s, "
        f"{number(most['share_percent'], 0)} %{place[most['group']]}; the smallest {least['contestant']}’s, "
        f"{number(least['share_percent'], 0)} %{place[least['group']]} (50 % is an even split)."
    ]


def _pairwise(ratios: pl.DataFrame, orders: pl.DataFrame | None) -> list[str]:
    known = ratios.filter((pl.col("x") != pl.col("y")) & pl.col("ratio").is_not_null())
    if not known.height:
        return []
    states = ("different", "equivalent", "inconclusive")
    counts = {state: known.filter(pl.col("split") == state).height for state in states}
    tested = known.filter(pl.col("p_bh").is_not_null()).height
    uneven = known.sort((pl.col("ratio") - 0.5).abs()).row(-1, named=True)
    winner, loser = ("x", "y") if uneven["ratio"] > 0.5 else ("y", "x")
    share = max(uneven["ratio"], 1 - uneven["ratio"])
    most = (
        f"The most uneven pair: {uneven[winner]} takes {number(100 * share, 0)} % against {uneven[loser]} on "
        f"{uneven['network']}."
    )
    if not tested:
        return [f"Too few seeds to test whether a split is even. {most}"]
    return [
        f"{counted(sum(counts.values()), 'pair')} of two different contestants: the split is uneven in "
        f"{counts['different']} (corrected for the number of pairs), even in "
        f"{counts['equivalent']} and inconclusive in {counts['inconclusive']}. {most}",
        *_order(orders),
    ]


def _order(orders: pl.DataFrame | None) -> list[str]:
    """Whether "takes more than" is transitive. All cycles, of three or more, lie within knots."""
    if orders is None:
        return []
    intransitive, transitive = (int(orders[name].sum()) for name in ("intransitive", "transitive"))
    circling = orders.filter(pl.col("knots") != "")
    if not transitive and not circling.height:
        return []
    if not circling.height:
        chains = "1 chain" if transitive == 1 else f"{transitive:,} chains"
        return [
            f"“Takes more than” is transitive where the splits are conclusive: {chains} of three, no cycle."
        ]
    if not intransitive:
        knot = circling.row(0, named=True)
        return [f"“Takes more than” has a cycle among {knot['knots']} on {knot['network']}."]
    first = orders.filter(pl.col("intransitive") > 0).row(0, named=True)
    return [
        f"“Takes more than” has {counted(intransitive, 'cycle')} of three contestants, such as "
        f"{first['cycles'].partition('; ')[0]} on {first['network']}."
    ]


def _loads(loads: pl.DataFrame) -> list[str]:
    """For each network and page, the fastest and the slowest contestant."""
    sentences = []
    for network in loads["network"].unique(maintain_order=True):
        clauses = []
        for page in loads["page"].unique(maintain_order=True):
            here = loads.filter(
                (pl.col("network") == network) & (pl.col("page") == page) & pl.col("plt_ms").is_not_null()
            ).sort("plt_ms")
            if here.height:
                ends = [here.row(index, named=True) for index in ((0, -1) if here.height > 1 else (0,))]
                named = [f"{row['contestant']} {number(row['plt_ms'] / 1000, 3)} s" for row in ends]
                clauses.append(f"{page} {' to '.join(named)}")
        sentences.append(f"Mean page load times on {network}: {'; '.join(clauses)}.")
    return sentences[:_MOST_NAMED]


def _alone_or_listed(flows: pl.DataFrame) -> list[str]:
    """Designs ``solo`` and ``flows``: mean throughputs, or their range if there are many."""
    known = flows.filter(pl.col("throughput_mbps").is_not_null())
    if not known.height:
        return []
    rates = known.sort("throughput_mbps", descending=True).to_dicts()
    if len(rates) <= _MOST_NAMED and known["network"].n_unique() == 1:
        flow_counts = Counter(row["contestant"] for row in rates)
        names = [
            row["contestant"] + (f" (flow {row['flow']})" if flow_counts[row["contestant"]] > 1 else "")
            for row in rates
        ]
        listed = [
            f"{name} {number(row['throughput_mbps'], 1)} Mbps" for name, row in zip(names, rates, strict=True)
        ]
        return [f"Mean throughput: {joined(listed)}."]
    most, least = rates[0], rates[-1]
    return [
        f"Mean throughput ranged from {number(least['throughput_mbps'], 1)} Mbps ({least['contestant']} on "
        f"{least['network']}) to {number(most['throughput_mbps'], 1)} Mbps ({most['contestant']} on "
        f"{most['network']})."
    ]
