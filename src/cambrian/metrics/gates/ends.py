"""How each flow ended, and whether the trial still counts.

A flow that does not last is a valid result: a contestant that starves its rivals until they give up must not
look better because of it. So a flow that ends early counts with the bytes that it carried, over the whole
measured interval, if the network can explain the end: competition, loss, or a change of the path. Any other
early end is a fault: of a program (a crash, an unexpected exit), or of a stack that ends alone on a clean
link, which is a finding about the stack but no sample of its congestion control. docs/reference/metrics.md
has the rule in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from cambrian.metrics.columns import NS_PER_S, Int64Array
from cambrian.study.model import Network

Outcome = Literal["ran", "finished", "gave up", "fell silent", "never sent", "failed"]
#: of these the trial may count all the same
ENDED_EARLY: tuple[Outcome, ...] = ("gave up", "fell silent", "never sent")

#: Share of its lifetime that an unfinished flow may be silent at the end, or so many round trips if that is
#: longer: a sender in slow start sends once in a round trip.
SILENCE_ALLOWED = 0.1
_SILENT_ROUND_TRIPS = 2
#: a timer that backs off waits twice as long each time (RFC 6298, section 5.5; RFC 9002, section 6.2.1);
#: less, for the time that its packets take to come
_GROWTH = 1.5
#: so many intervals in a row that grow make a timer's back-off of the last packets
_FEWEST_INTERVALS = 3
#: a probe is two packets (RFC 9002, section 6.2.4), and acknowledgements may come between
_PACKETS_A_TRY = 5
#: so many dropped packets are no accident
_FEWEST_DROPS = 3
#: a first timeout (RFC 6298, section 2)
_FIRST_TRY_NS = NS_PER_S
#: a packet that closes a connection (RFC 9000, section 10.2) has fewer bytes, frame and all
_CLOSE_BYTES = 200
#: a flow has come to nothing when it sends fewer packets a second
_FEW_PACKETS = 10
#: how long before that the network may have been the cause
_BEFORE_ROUND_TRIPS = 20
_BEFORE_NS = NS_PER_S


@dataclass(frozen=True)
class Closing:
    """A program's report of why its connection ended, and when, since the trial's zero."""

    time_ns: int
    text: str


@dataclass(frozen=True)
class FlowEnd:
    """``ended_s`` is since the trial's zero, None for a flow that ran on to the trial's end.

    ``counts``: does the flow's end leave the trial valid? ``text`` is one sentence without the flow's name.
    """

    outcome: Outcome
    ended_s: float | None
    counts: bool
    text: str


@dataclass(frozen=True)
class Life:
    """The facts about one flow's life. Times are nanoseconds since the trial's zero.

    ``packets`` are the flow's at the bottleneck, ``others`` those of the other flows. ``tries_ns``: times at
    which the sender retransmitted or probed, by its log, in order, each once. ``connected``: None if neither
    program reports it. ``random_losses``: packets that its link lost before the bottleneck and on the way
    back. ``fault``: the fault of its programs. ``excusable`` is False for a page: only a loaded page has
    figures.
    """

    packets: pl.DataFrame
    others: pl.DataFrame
    start_ns: int
    end_ns: int
    rtt_ns: int
    complete_ns: int | None = None
    closing: Closing | None = None
    connected: bool | None = None
    random_losses: int = 0
    fault: str | None = None
    tries_ns: Sequence[int] = ()
    excusable: bool = True


def flow_end(life: Life, network: Network) -> FlowEnd:
    """How a flow ended."""
    if life.fault:
        return FlowEnd("failed", None, counts=False, text=life.fault)
    if life.complete_ns is not None:
        done_s = life.complete_ns / NS_PER_S
        return FlowEnd("finished", done_s, counts=True, text=f"was complete at {done_s:.3f} s")
    arrivals = life.packets.get_column("arrival_ns").drop_nulls().sort().to_numpy()
    if life.connected is False or life.packets.get_column("departure_ns").is_null().all():
        return _never_sent(life, network, arrivals)
    last_ns = int(arrivals[-1])
    tail = _tries_in_vain_ns(life, arrivals)
    closes = False
    if not len(tail) and not life.tries_ns and _last_bytes(life) < _CLOSE_BYTES:
        # perhaps its last packet closed the connection after retries, and was lost too
        tail = _tries_in_vain_ns(life, arrivals[:-1])
        closes = len(tail) > 0
    sent = f"sent its last packet at {_s(last_ns)} of {_s(life.end_ns)}"
    if life.closing:
        said = f"gave up at {_s(life.closing.time_ns)} of {_s(life.end_ns)} ({life.closing.text})"
        why = _explained(life, network, life.closing.time_ns)
        return _early("gave up", life.closing.time_ns, life, said, why)
    if last_ns >= _latest_ok_ns(life, network):
        return FlowEnd("ran", None, counts=True, text=sent)
    if not closes and (tried_ns := _still_trying_ns(life, network, arrivals, tail)) is not None:
        return FlowEnd("ran", None, counts=True, text=f"{sent}, and retried until {_s(tried_ns)}")
    dark_ns = _dark_until_ns(life, network, last_ns)
    if dark_ns is not None and life.end_ns <= dark_ns + max(2 * (dark_ns - last_ns), _FIRST_TRY_NS):
        return FlowEnd(
            "ran", None, counts=True, text=f"{sent}; its path lost all packets until {_s(dark_ns)}"
        )
    why = _explained(life, network, last_ns)
    retried = True
    if dark_ns is not None:
        # what it still sent, retries or a last word, was lost before the capture
        why = f"its path lost all packets until {_s(dark_ns)}"
    elif closes:
        sent += ", a short one after retries with growing timeouts, none of them answered"
    elif len(tail):
        sent += ", the last of its retries with growing timeouts, none of them answered"
    else:
        # a program that had nothing more to send looks like this too
        retried = _handover_s(network, last_ns) is not None or _last_in_vain(life, network, last_ns) > 0
    return _early("fell silent", last_ns, life, f"{sent}, and its programs continued to run", why, retried)


def _early(
    outcome: Outcome, ended_ns: int | None, life: Life, text: str, why: str | None, retried: bool = True
) -> FlowEnd:
    """An early end. ``why``: the network's cause; it explains nothing if the sender has not ``retried``."""
    ended_s = None if ended_ns is None else ended_ns / NS_PER_S
    if not life.excusable:
        return FlowEnd(outcome, ended_s, counts=False, text=text)
    if why and retried:
        return FlowEnd(outcome, ended_s, counts=True, text=f"{text}; {why}; it counts with the bytes carried")
    if why:
        few = f"fewer than {_FEWEST_INTERVALS} retries with growing timeouts"
        cause = f"{why}, but it sent {few}, so the network does not explain its end"
    else:
        dropped = life.packets.filter(pl.col("outcome") == "dropped").height
        lost = dropped + life.random_losses
        if outcome == "never sent" and lost:
            none = f"{lost} lost packet{' is' if lost == 1 else 's are'} too few for it"
        elif dropped and not life.others.height:
            none = f"it was alone, and lost {dropped} packets to the queue that it filled"
        else:
            none = "no loss beside another flow, random loss or change of the path before it"
        cause = f"the network does not explain it: {none}"
    return FlowEnd(outcome, ended_s, counts=False, text=f"{text}; {cause}")


def _never_sent(life: Life, network: Network, arrivals: Int64Array) -> FlowEnd:
    """Its handshake came to nothing, or none of its packets left the bottleneck.

    A wrong certificate or protocol looks the same, but for the packets: those came through.
    """
    if not life.closing and life.start_ns >= _latest_ok_ns(life, network):
        late = f"began at {_s(life.start_ns)} of {_s(life.end_ns)}, within two round trips of the end"
        return FlowEnd("ran", None, counts=True, text=late)
    dropped = life.packets.filter(pl.col("outcome") == "dropped").height
    through = life.packets.get_column("departure_ns").drop_nulls().len()
    why = None
    if not len(arrivals):
        text = "never sent a packet"
        if life.random_losses >= _tries(life):
            why = f"its link lost {life.random_losses} packets at random"
    else:
        text = f"failed at its start: {through} of {len(arrivals)} packets left the bottleneck"
        if life.connected is False:
            text += ", and its connection was never established"
        if life.random_losses >= max(through, _tries(life)):
            why = f"its link lost {life.random_losses} packets at random"
        elif dropped and life.others.height and (dropped >= through or _loses_large_ones(life)):
            why = f"the bottleneck, which it shared, dropped {dropped} of them"
    if life.closing:
        text += f"; {life.closing.text}"
    ended_ns = life.closing.time_ns if life.closing else None
    return _early("never sent", ended_ns, life, text, why)


def _tries(life: Life) -> int:
    """How many losses at least it takes to keep a sender silent until the trial's end.

    A timer that backs off tries at 0, 1, 3 and 7 s, or a round trip later. Of several losses, three are no
    accident.
    """
    until_s = (life.end_ns - life.start_ns - life.rtt_ns) / _FIRST_TRY_NS
    return min(_FEWEST_DROPS, max(1, sum((1 << tries) - 1 < until_s for tries in range(_FEWEST_DROPS))))


def _loses_large_ones(life: Life) -> bool:
    """Were several packets dropped that were larger than each of the flow's packets that came through?

    A full queue still has room for small packets, and a handshake needs its large ones.
    """
    passed = pl.col("size_bytes").filter(pl.col("departure_ns").is_not_null()).max().fill_null(0)
    larger = (pl.col("outcome") == "dropped") & (pl.col("size_bytes") > passed)
    return life.packets.filter(larger).height >= _FEWEST_DROPS


def _last_bytes(life: Life) -> int:
    """Bytes of a flow's last packet."""
    return int(life.packets.sort("arrival_ns").get_column("size_bytes")[-1])


def _longest_trip_ns(life: Life, network: Network) -> int:
    """The flow's longest round trip without queueing."""
    return round(network.most("rtt_ms", life.rtt_ns / 1e6) * 1e6)


def _latest_ok_ns(life: Life, network: Network) -> float:
    share_ns = SILENCE_ALLOWED * (life.end_ns - life.start_ns)
    return life.end_ns - max(share_ns, _SILENT_ROUND_TRIPS * _longest_trip_ns(life, network))


def _still_trying_ns(life: Life, network: Network, arrivals: Int64Array, tail: Int64Array) -> int | None:
    """When the sender last tried in vain, if its next try is due after the trial's end.

    A sender is not dead whose last act was a try that was lost, before the bottleneck or, within a
    round trip, in its queue. A try that came through and was not answered excuses nothing.
    """
    last_ns = int(arrivals[-1])
    if life.tries_ns and last_ns - life.tries_ns[-1] <= life.rtt_ns:
        tried_ns = life.tries_ns[-1]
        before_ns = max(life.start_ns, *arrivals[arrivals <= tried_ns][-1:].tolist(), *life.tries_ns[-2:-1])
    elif len(tail):
        # a sender that says nothing of its timers is known by its packets
        before_ns, tried_ns = (int(time_ns) for time_ns in tail[-2:])
    else:
        return None
    since = life.packets.filter(pl.col("arrival_ns") >= tried_ns)
    if not since.get_column("departure_ns").is_null().all():
        return None
    next_ns = tried_ns + 2 * (tried_ns - before_ns)
    sends_on = tried_ns >= _latest_ok_ns(life, network) or next_ns >= life.end_ns
    return tried_ns if sends_on else None


def _tries_in_vain_ns(life: Life, arrivals: Int64Array) -> Int64Array:
    """The tries at the end of what a sender did, by its log or, where that tells of none, by its packets.

    Empty where there were none, or where it sent much besides.
    """
    logged = _backed_off_ns(np.asarray(life.tries_ns, np.int64), life.rtt_ns)
    if len(logged):
        packets = int((arrivals > logged[0]).sum())
        return logged if packets <= _PACKETS_A_TRY * len(logged) else logged[:0]
    return _backed_off_ns(arrivals, life.rtt_ns)


def _backed_off_ns(acts_ns: Int64Array, rtt_ns: int) -> Int64Array:
    """Times at which a timer fired with growing intervals, at the end of a sender's activity.

    ``acts_ns``: its packets and tries in order. What lies within a round trip is one act. The first of the
    times is the act from which the timer ran; empty where the last intervals do not grow.
    """
    pauses = np.flatnonzero(np.diff(acts_ns) > rtt_ns)
    before_ns, after_ns = acts_ns[pauses], acts_ns[pauses + 1]
    waited_ns = after_ns - before_ns
    grown = 1
    while grown < len(waited_ns) and waited_ns[-grown] >= _GROWTH * waited_ns[-grown - 1]:
        grown += 1
    if grown < _FEWEST_INTERVALS:
        return acts_ns[:0]
    fired_ns: Int64Array = np.r_[before_ns[-grown], after_ns[-grown:]]
    return fired_ns


def _dark_until_ns(life: Life, network: Network, last_ns: int) -> int | None:
    """When a time ends in which the path to the bottleneck loses every packet, and that follows the last one.

    Retries within that time are lost before the capture. Each waits twice as long as the one before, so the
    first one that comes through may be due as long after it as the flow was silent, and a timeout more.
    """
    round_trip_ns = _longest_trip_ns(life, network)
    for from_s, to_s in network.lost_spans_s("loss_percent"):
        until_ns = round(min(to_s * NS_PER_S, life.end_ns))
        if from_s * NS_PER_S - 2 * round_trip_ns <= last_ns < until_ns:
            return until_ns
    return None


def _handover_s(network: Network, until_ns: int) -> float | None:
    """When the receivers last got another address."""
    times_s = [change.at_s for change in network.schedule if change.handover_overlap_ms is not None]
    return max((at_s for at_s in times_s if at_s * NS_PER_S <= until_ns), default=None)


def _came_to_nothing_ns(life: Life, ended_ns: int) -> int:
    """The last second with as many packets as a live flow sends; the flow's start without one."""
    arrivals = life.packets.get_column("arrival_ns").drop_nulls().sort().to_numpy()
    lasts = arrivals[_FEW_PACKETS - 1 :]
    lively = (lasts - arrivals[: len(lasts)] <= NS_PER_S) & (lasts <= ended_ns)
    return int(lasts[lively].max(initial=life.start_ns))


def _last_in_vain(life: Life, network: Network, ended_ns: int) -> int:
    """How many packets the flow sent after it came to nothing, if an AQM dropped all of them; else 0.

    RED also drops what comes into an empty queue. A drop-tail queue has no room only where others, or the
    flow itself, have filled it. Two timers that back off side by side, one for each packet number space,
    have intervals that do not grow, so this needs no such intervals.
    """
    if network.queue == "droptail":
        return 0
    nothing_ns = _came_to_nothing_ns(life, ended_ns)
    last = life.packets.filter(pl.col("arrival_ns").is_between(nothing_ns, ended_ns, closed="right"))
    all_dropped = (last.get_column("outcome") == "dropped").all()
    return last.height if all_dropped and last.height >= _FEWEST_DROPS else 0


def _explained(life: Life, network: Network, ended_ns: int) -> str | None:
    """The network's cause that can explain an early end, in words; None without one."""
    if (handover_s := _handover_s(network, ended_ns)) is not None:
        return f"its receiver's address had changed at {handover_s:g} s"
    if life.random_losses:
        return f"its link lost {life.random_losses} packets at random"
    since_ns = _came_to_nothing_ns(life, ended_ns) - _BEFORE_ROUND_TRIPS * life.rtt_ns - _BEFORE_NS
    changes_s = [change.at_s for change in network.schedule]
    if changed := [at_s for at_s in changes_s if since_ns <= at_s * NS_PER_S <= ended_ns]:
        return f"its path had changed at {changed[-1]:g} s"
    then = pl.col("arrival_ns").is_between(since_ns, ended_ns)
    dropped = life.packets.filter(then & (pl.col("outcome") == "dropped")).height
    beside = life.others.filter(then)
    if not dropped:
        return None
    if not beside.height:
        in_vain = _last_in_vain(life, network, ended_ns)
        return f"the bottleneck dropped all of its last {in_vain} packets" if in_vain else None
    count = beside.get_column("flow").n_unique()
    whom = "another flow" if count == 1 else f"{count} other flows"
    return (
        f"the bottleneck, shared with {whom}, had dropped {dropped} of its packets "
        f"in the {(ended_ns - since_ns) / NS_PER_S:.1f} s before"
    )


def _s(time_ns: float) -> str:
    return f"{time_ns / NS_PER_S:.3f} s"
