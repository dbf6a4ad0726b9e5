"""Which contestants are limited by something other than their controller: nobody is accused of that.

A sender that waits for its application, its receiver's credit, room in its buffer or a configured rate leaves
its window unused, and shows little of its controller. A log with window and bytes in flight says so. Without
one, two things do: a link that it leaves unused for no reason that the network shows, and, beside other
flows, a flight that does not grow while none of its packets is dropped or marked.

A client that sends its data to the server sends it around the bottleneck: only acknowledgements are measured.
A TCP program with several connections has a controller for each. What the flow does as a whole, and a log
with the rows of all of them, show none of these controllers.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Sequence

from cambrian.measure import quantities
from cambrian.measure.quantity import Quantity
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.gates import exemptions
from cambrian.metrics.window_use import LIMITED_SHARE, USED
from cambrian.probes import table
from cambrian.report import hints
from cambrian.report.collect import Cell, Collected, everybody
from cambrian.report.tables.rows import Row
from cambrian.study.model import Network

#: controllers whose window limits what is in flight
_BY_WINDOW = ("cubic", "reno")
#: limits by rate, and by a window of two or three times what that needs
_BY_RATE = "bbr"
#: no BBR of the 20 stacks has less than 114 % in any trial of fingerprint's quick profile; the lab's under
#: fixed rates of 3 and 17 Mbps has 101 to 108 %
PEAK_PERCENT = 110.0
#: CUBIC and Reno grow by about half a packet a round trip and more: 0.42 is the least of the stock ones, in
#: 712 flows (quiche CUBIC, whose log tells and most of whose frames are small, has 0.26). Limited ones beside
#: kernel TCP have a trial with 0.28 or less, but not behind a fixed rate in a deep buffer
LEAST_GROWTH_PACKETS = 0.3
#: a flow of fixed size leaves its window unused during its handshake and its last round trip: 26 % of the
#: time of 1 MB (kernel CUBIC at 50 Mbps and 100 ms), and nearly all of 15 kB's
FEWEST_ROUND_TRIPS = 20
#: a link of which more is used has no room for a probe that is seen
FULL_SHARE = 0.95
#: a control connection and one of data, as iperf3 has them
MOST_CONNECTIONS = 2
#: receivers that leave the sender to its controller: its stack's own, and the project's
_OWN = ("own", "reference")
#: how the gate begins that fails only where nothing in the network explains an unused link
_SATURATION = "saturation: "
_PEAK = quantities.ALL["rate_peak_percent"]
_GROWTH = quantities.ALL["flight_growth_packets"]
_BACK = quantities.ALL["back_percent"]
_CONNECTIONS = quantities.ALL["tcp_connections"]
_UNUSED = quantities.ALL["window_unused_percent"]
_COMPLETION = quantities.ALL["completion_s"]


def limited(collected: Collected, contestant: str, network: str) -> str:
    """What shows that something other than its controller decides there; empty if nothing does."""
    family = collected.families.get(contestant)
    if max(_values(_BACK, collected, contestant, network), default=0.0) > 100:
        return (
            "its client sent more bytes than its server, and only data from the server to the client passes "
            "the bottleneck: give its client the option with which it receives"
        )
    if family is not None and family.protocol == "tcp":
        most = max(_values(_CONNECTIONS, collected, contestant, network), default=0)
        if most > MOST_CONNECTIONS:
            return (
                f"its program made up to {most} TCP connections in a trial, and each has a controller of "
                "its own"
            )
    if family is not None and family.reference == _BY_RATE:
        return _constant_rate(collected, contestant, network)
    if family is None or family.reference not in _BY_WINDOW:
        return ""
    # a flow of fixed size leaves its window unused at its beginning and end: endless ones tell more
    shares = _values(_UNUSED, collected, contestant, network, sized=False)
    has_log = bool(shares or _values(_UNUSED, collected, contestant, network))
    shares = shares or _values(_UNUSED, collected, contestant, network, fewest_round_trips=FEWEST_ROUND_TRIPS)
    if has_log and not shares:
        return ""
    if not shares:
        return _unknown(collected, contestant, network)
    if max(shares) < 100 * LIMITED_SHARE:
        return ""
    return (
        f"in up to {max(shares):.0f} % of the time its application, its receiver or another limit decides "
        f"what it sends, because by its log less than {100 * USED:.0f} % of its window is in flight"
    )


def _values(
    quantity: Quantity,
    collected: Collected,
    contestant: str,
    network: str,
    *,
    sized: bool = True,
    fewest_round_trips: float = 0,
) -> list[float]:
    """The known values of all its flows there that load no page.

    ``sized``: those of fixed size too, if completion takes ``fewest_round_trips`` or more.
    """
    return [
        value
        for cell in collected.cells
        if cell.network.name == network and not cell.page
        for number, name in enumerate(cell.names)
        if name == contestant
        for trial in cell.trials
        if not trial.trial.flows[number].size_bytes
        or (sized and _round_trips(trial, number, cell.network) >= fewest_round_trips)
        if (value := quantity.value(trial, number)) is not None
    ]


def _round_trips(trial: TrialMeasures, number: int, network: Network) -> float:
    """Of a flow of fixed size, until it is complete; infinite if it is not."""
    completion_s = _COMPLETION.value(trial, number)
    if completion_s is None:
        return math.inf
    return 1000 * float(completion_s) / trial.trial.flows[number].base_rtt_ms(network)


def _shows_use(cell: Cell) -> bool:
    """Does the gate *saturation* judge this group, and has it valid trials?"""
    endless = any(not trial.trial.flows[0].size_bytes for trial in cell.trials)
    return endless and "saturation" not in exemptions(cell.network)


def _constant_rate(collected: Collected, contestant: str, network: str) -> str:
    """What shows that a limit outside a BBR sets its rate there; empty if nothing does.

    BBR probes for bandwidth with a quarter more than its rate. One whose rate never rises, below the link's,
    has a limit of its own, such as Linux's SO_MAX_PACING_RATE, or does not probe: packets do not tell which.
    """
    cells = [cell for cell in collected.alone(contestant) if cell.network.name == network]
    trials = [trial for cell in cells for trial in cell.trials]
    peaks = [peak for trial in trials if (peak := _PEAK.value(trial, 0)) is not None]
    full = any(trial.utilisation is None or trial.utilisation > FULL_SHARE for trial in trials)
    if full or not peaks or statistics.median(peaks) > PEAK_PERCENT:
        return ""
    return (
        "its rate never rises by more than a tenth, though the link has room: a limit outside it may set it"
    )


def _unknown(collected: Collected, contestant: str, network: str) -> str:
    """Why a contestant without a log of its window may be limited; empty if it fills each link and grows.

    Where a network itself loses packets, they do not show whether a flow that carries little is limited.
    Alone, a flight that grows too slowly is the controller's, and its growth is judged.
    """
    alone = collected.alone(contestant)
    unused = (
        cell.network.name
        for cell in alone
        for record in cell.records
        # a program that ended early leaves a link unused as well, and its reason stands beside this one
        if record.reasons and all(reason.startswith(_SATURATION) for reason in record.reasons)
    )
    if where := next(unused, ""):
        sign = f"on {where} it left a part of the link unused without a congestion signal"
    elif (
        table.is_for_probes_alone(network)
        and any(cell.network.name == network for cell in alone)
        and not any(map(_shows_use, alone))
    ):
        sign = "it ran on no network that shows whether it fills a link alone"
    elif (
        not any(cell.network.name == network for cell in alone)
        and (growths := _values(_GROWTH, collected, contestant, network))
        and min(growths) < LEAST_GROWTH_PACKETS
    ):
        sign = (
            "while none of its packets is dropped or marked, its flight grows by as little as "
            f"{max(min(growths), 0.0):.1f} packets a round trip, and CUBIC's and Reno's by about half a "
            "packet and more"
        )
    else:
        return ""
    return (
        f"{sign}, and no log of its window shows whether its application, its receiver or another limit "
        "decides what it sends"
    )


def by_receiver(collected: Collected, contestant: str) -> str:
    """Why a contestant's receiver may decide what it sends; empty if it leaves that to the controller.

    A study gave it another receiver than its own, or one with a slow CPU.
    """
    for one in everybody(collected.study):
        if one.name == contestant and (one.receiver not in _OWN or one.receiver_cpu):
            what = "has a slow CPU (receiver_cpu)" if one.receiver_cpu else f"is {one.receiver}"
            return f"its receiver {what}, whose windows and acknowledgements shape what it sends"
    return ""


def withheld(collected: Collected, contestant: str, network: str) -> str:
    """Why results alone, behaviour and impact accuse a contestant of nothing there; empty if they may."""
    return by_receiver(collected, contestant) or limited(collected, contestant, network)


def withhold(
    rows: Sequence[Row],
    collected: Collected,
    who: str,
    differs: Collection[str],
    column: str = "verdict",
    *,
    more: Collection[str] = (),
) -> None:
    """Make inconclusive, in place, what the verdict of a row accuses a limited contestant of.

    ``who``: the column that names it. ``differs``: the verdicts in ``column`` that accuse. ``more``: those
    that say it does more than others, which a receiver can cause and no other limit. More seeds would not
    lead to such a verdict either.
    """
    for row in rows:
        said = {row[column], row.get("settles_as")}
        if (said & {*differs} and withheld(collected, row[who], row["network"])) or (
            said & {*more} and by_receiver(collected, row[who])
        ):
            row[column] = "inconclusive"
            hints.forget(row)
