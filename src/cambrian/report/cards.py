"""The finding cards at the top of a page: at most five differences, the largest that are certain.

A card states what a table of the page calls *different*. A contestant's own figures become cards only on
networks where the matrix says different, so that no card contradicts a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from cambrian.report import judged, layout, matrix, sides
from cambrian.report.collect import Collected
from cambrian.report.layout import Row
from cambrian.report.matrix import DIFFERENT, Matrix
from cambrian.report.tables import harm, pairwise, rows
from cambrian.report.words import counted

MOST = 5
#: decimals of an interval
_MOST_DIGITS = 6
#: quantity → what a card says of its value, and the unit of a difference
_SAYS = {
    "share_percent": ("{who} takes {value} % of the throughput beside {reference}", "points"),
    "queue_loss_percent": ("{who} loses {value} % of its packets in the queue", "points"),
    "delay_p50_ms": ("{who}’s packets wait {value} ms in the queue (median)", "ms"),
}


@dataclass(frozen=True)
class Card:
    """One difference. ``quantity`` is a quantity's or a parameter's name.

    ``text`` has the value, ``beside`` what it is compared with, ``sure`` its interval, its test and the
    correction. ``effect``: the end of the difference's interval that is nearest to none, or for a flow alone
    the distance of the nearest trials, in percent (of the link, the packets, the base RTT, the load time); 0
    for what has no such scale. ``table`` shows it on the page. ``row`` is the matrix's, if its name is not
    the contestant's; ``base`` is the row of another group that it is compared with. ``groups`` are the keys
    of both, as ``--only`` takes them, so that one command repeats the difference.
    """

    contestant: str
    network: str
    quantity: str
    text: str
    beside: str
    sure: str
    effect: float
    table: str
    row: str = ""
    base: str = ""
    groups: str = ""


def cards(collected: Collected, frames: Mapping[str, pl.DataFrame], shown: Matrix) -> list[Card]:
    """The cards of a page, the most important first."""
    keys = {(matrix.row_name(cell, 0), cell.network.name): cell.key for cell in collected.cells}
    rtt_ms = {network.name: network.rtt_ms for network in collected.networks}
    accused = {(row.name, cell.network) for row, cell in shown.cells if cell.state == DIFFERENT}
    found = [*_own(frames, rtt_ms, accused), *_pairs(frames), *_loads(frames)]
    # what has no common scale speaks for contestants that have no other card; controls have none
    silent = shown.players.keys() - {card.contestant for card in found}
    found += _alone(collected, frames)
    found += [card for card in _others(collected, frames) if card.contestant in silent]
    return [replace(card, groups=_groups(card, keys)) for card in chosen(found)]


def _groups(card: Card, keys: Mapping[matrix.Place, str]) -> str:
    """``keys``: row and network → the key of its group. Empty if the card's own row has none."""
    rows = (card.row or card.contestant, card.base)
    mine, *base = [keys.get((row, card.network), "") for row in rows]
    return ",".join(filter(None, [mine, *base])) if mine else ""


def chosen(found: Sequence[Card]) -> list[Card]:
    """At most five: by effect, each contestant's best one first, and each of its quantities once."""
    ordered = sorted(found, key=lambda card: -card.effect)
    once = {(card.contestant, card.quantity): card for card in reversed(ordered)}
    best = {card.contestant: card for card in reversed(ordered)}
    kept = [card for card in ordered if once[card.contestant, card.quantity] is card]
    first = [card for card in kept if best[card.contestant] is card]
    return (first + [card for card in kept if card not in first])[:MOST]


def nothing(shown: Matrix, verdicts: pl.DataFrame | None, *, together: bool = False) -> str:
    """What a page without a card says instead; empty if it compares nobody.

    ``together``: flows share a link without a reference in their place.
    """
    accused = verdicts is not None and verdicts["differs"].any()
    if accused or any(cell.state == DIFFERENT for _, cell in shown.cells):
        return "The verdicts below say what differs."
    # the flows of a contestant on one network have one state
    compared = {
        (*(row.players if together else ()), "" if together else row.name, cell.network): cell
        for row, cell in shown.cells
        if cell.state
    }
    if not compared:
        return ""
    unsettled = [cell for cell in compared.values() if cell.state == matrix.OPEN]
    numbers = f". The matrix’s numbers ({shown.figure}) are not judged" if shown.figure else ""
    found = (
        f"No controller differs clearly from the standard{numbers}" if together else "Nothing differs clearly"
    )
    noun, each = ("comparisons", " (one for each contestant and network)") if together else ("cells", "")
    text = f"{found}. Inconclusive: {len(unsettled)} of {len(compared)} {noun}{each}."
    more = min((cell.more_seeds for cell in unsettled if cell.more_seeds is not None), default=None)
    if more is None:
        return text
    return f"{text} About {counted(more, 'more seed')} may settle one of these {noun}."


def _own(
    frames: Mapping[str, pl.DataFrame], rtt_ms: Mapping[str, float], accused: set[matrix.Place]
) -> Iterator[Card]:
    harms = _throughput_harms(frames)
    for row in _different(frames, "own_figures", "verdict"):
        if (row["contestant"], row["network"]) not in accused:
            continue
        says, unit = _SAYS[row["quantity"]]
        value, its = (_short(row[name]) for name in ("value", "reference_value"))
        effect = _certain(row, "difference")
        place = (row["network"], row["reference"], row["contestant"])
        harmed = _harmed(row["reference"], harms.get(place)) if row["quantity"] == "share_percent" else ""
        yield Card(
            contestant=row["contestant"],
            network=row["network"],
            quantity=row["quantity"],
            text=says.format(who=row["contestant"], value=value, reference=row["reference"]),
            beside=f"{row['reference']} in its place: {its} {row['unit']}{harmed}",
            sure=_sure("Difference", row, "difference", f" {unit}", row["p_corrected"], "compared_seeds"),
            effect=100 * effect / rtt_ms[row["network"]] if row["unit"] == "ms" else effect,
            table="own_figures",
        )


def _pairs(frames: Mapping[str, pl.DataFrame]) -> Iterator[Card]:
    harms = _throughput_harms(frames)
    for row in _different(frames, "pairwise", "split"):
        first = row["ratio"] > pairwise.EVEN
        winner, loser = (row["x"], row["y"]) if first else (row["y"], row["x"])
        ends = [
            100 * (row[name] if first else 1 - row[name]) for name in ("ratio", "ratio_low", "ratio_high")
        ]
        share = dict(zip(("share", "share_low", "share_high"), (ends[0], *sorted(ends[1:])), strict=True))
        yield Card(
            contestant=winner,
            network=row["network"],
            quantity=f"share_percent beside {loser}",
            text=f"{winner} takes {layout.number(share['share'], 0)} % of the throughput beside {loser}",
            beside=f"Even split: 50 %{_harmed(loser, harms.get((row['network'], loser, winner)))}",
            sure=_sure("Share", row | share, "share", " %", row["p_bh"], null=100 * pairwise.EVEN),
            effect=_certain(share, "share", 100 * pairwise.EVEN),
            table="pairwise",
            row=f"{row['x']} + {row['y']}",
        )


def _throughput_harms(frames: Mapping[str, pl.DataFrame]) -> dict[tuple[str, str, str], str]:
    """Network, victim and competitor → the verdict on the victim's throughput."""
    return {
        (row["network"], row["victim"], row["by"]): row["verdict"]
        for row in rows.each(frames.get("harm"))
        if row["service"].startswith("throughput")
    }


def _harmed(loser: str, verdict: str | None) -> str:
    """What the loser has beside a second flow of itself, if measured: it may be able to use no more."""
    said = {
        harm.MORE: f"Beside a second {loser} flow, {loser} carries clearly more",
        harm.LESS: f"Beside a second {loser} flow, {loser} carries clearly less",
        matrix.EQUIVALENT: f"Beside a second {loser} flow, {loser} carries as much",
        matrix.OPEN: f"Harm to {loser}'s throughput, which has a test of its own: inconclusive",
    }
    return f". {said[verdict]}" if verdict in said else ""


def _loads(frames: Mapping[str, pl.DataFrame]) -> Iterator[Card]:
    for row in _different(frames, "page_changes", "state"):
        change = row["pltc_percent"]
        yield Card(
            contestant=row["contestant"],
            network=row["network"],
            quantity=f"pltc_percent of {row['page']}",
            text=f"{row['contestant']} loads {row['page']} {layout.number(abs(change), 1)} % "
            f"{'faster' if change > 0 else 'slower'} than {row['base']}",
            beside="",
            sure=_sure("Change", row, "pltc_percent", " %", row["p_bh"]),
            effect=_certain(row, "pltc_percent"),
            table="page_changes",
            row=f"{row['contestant']} · {row['page']}",
            base=f"{row['base']} · {row['page']}",
        )


def _alone(collected: Collected, frames: Mapping[str, pl.DataFrame]) -> Iterator[Card]:
    """Results of a flow alone unlike the reference's."""
    for verdict in _different(frames, "verdicts", "plausibility"):
        name = verdict["contestant"]
        for network in collected.networks:
            for one in judged.implausible(collected, name, verdict["judged_as"], network.name):
                yield Card(
                    contestant=name,
                    network=network.name,
                    quantity=f"{one.name} alone",
                    text=f"{name} alone: {one.text}",
                    beside="",
                    sure=_in_trials(one.trials, one.confirmed_on),
                    effect=one.effect,
                    table="flows",
                    base=collected.kernel(name),
                )


def _others(collected: Collected, frames: Mapping[str, pl.DataFrame]) -> Iterator[Card]:
    """What else a verdict comes from; these differences have no scale in common."""
    for row in _different(frames, "parameters", "status", "off"):
        sure = f"{counted(row['events'], 'event')} in {_in_trials(row['trials'], row['confirmed_on'])}"
        yield Card(
            contestant=row["contestant"],
            network=row["network"],
            quantity=row["parameter"],
            text=f"{row['contestant']}: {row['title']} is {row['shown']}",
            beside=f"Expected: {row['should_be']}",
            sure=sure,
            effect=0.0,
            table="parameters",
        )
    for one in sides.findings(frames):
        if one.state == DIFFERENT:
            text = f"{one.contestant}: {one.text}"
            # parameters are compared with a standard, the other tables with kernel TCP
            base = collected.kernel(one.contestant)
            yield Card(one.contestant, one.network, one.text, text, "", "", 0.0, one.table, base=base)


def _in_trials(trials: int, confirms: str | None) -> str:
    """How many trials differ, and which network ``confirms`` what one trial shows."""
    return counted(trials, "differing trial") + (f", confirmed on {confirms}" if confirms else "")


def _different(
    frames: Mapping[str, pl.DataFrame], table: str, column: str, value: str = DIFFERENT
) -> Iterator[Row]:
    return (row for row in rows.each(frames.get(table)) if row[column] == value)


def _short(value: float) -> str:
    """Two significant digits, and all of those before the decimal point."""
    return layout.number(value, layout.decimals(value))


def _certain(row: Row, name: str, null: float = 0.0) -> float:
    """The distance from ``null`` of the interval's nearer end; 0 if it contains ``null``."""
    return float(max(row[f"{name}_low"] - null, null - row[f"{name}_high"], 0.0))


def _sure(
    what: str, row: Row, name: str, unit: str, p: float, seeds: str = "seeds", null: float = 0.0
) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    digits = layout.decimals((high - low) / 2)
    nearest = low if low > null else high
    # an end that differs from none is not printed as none
    while nearest != null and digits < _MOST_DIGITS and round(nearest, digits) == round(null, digits):
        digits += 1
    interval = layout.interval(row, name, digits)
    return f"{what} {interval}{unit}, {row[seeds]} seeds, {layout.p_words(p)} corrected"
