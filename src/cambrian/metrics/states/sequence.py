"""A flow's states row by row: exported by its stack, or else inferred.

Kernel TCP exports its recovery machine, not the law that the window follows: ``open`` and ``disorder``
become slow start or congestion avoidance by the kernel's own test, cwnd < ssthresh (``tcp_in_slow_start``);
``cwr`` (a reduction without loss) is recovery, ``loss`` a retransmission timeout. BBR ignores the threshold,
and its states are inferred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cambrian.metrics.columns import BoolArray, Int64Array
from cambrian.metrics.states import infer, infer_bbr, vocabulary
from cambrian.metrics.states.rows import Rows, of_flow, rows
from cambrian.metrics.states.vocabulary import (
    APPLICATION_LIMITED,
    CONGESTION_AVOIDANCE,
    CONGESTION_AVOIDANCE_MAXED,
    CONSERVATIVE_SLOW_START,
    DRAIN,
    INIT,
    PROBE_BW,
    PROBE_RTT,
    RECOVERY,
    RETRANSMISSION_TIMEOUT,
    SLOW_START,
    STARTUP,
    TAIL_LOSS_PROBE,
    Family,
)

Codes = NDArray[np.int16]
_NONE = -1


@dataclass(frozen=True)
class Sequence:
    """States row by row: ``names[codes[i]]`` holds from ``time_ns[i]`` until the next row.

    ``inferred[i]``: our rules give the state. ``unobservable``: states that the source may have been in
    without a trace, because it exported no word or event for them. ``uncertain``: states that the window of
    this flow may hide; their time counts as another state's.
    """

    time_ns: Int64Array
    codes: Codes
    inferred: BoolArray
    names: tuple[str, ...]
    unobservable: frozenset[str]
    uncertain: frozenset[str] = frozenset()


def sequence(transport: pl.DataFrame, flow: int, cca: str, *, undisturbed: bool = True) -> Sequence | None:
    """States of one flow; None if its stack exports no states, and no window that shows them.

    Parameters:
        transport: columns ``flow``, ``time_ns``, ``event``, ``cwnd_bytes``, ``ssthresh_bytes``,
            ``in_flight_bytes``, ``srtt_us``, ``state``.
        cca: the controller's name; it selects the rules.
        undisturbed: no other flow shares the bottleneck, and the path stays as it is.
    """
    mine = of_flow(transport, flow)
    if not mine.height:
        return None
    read = rows(mine)
    said = mine["state"].drop_nulls().unique().to_list()
    if not said and not read.has_window:
        return None
    builder = _Builder(mine["state"], said)
    family = vocabulary.family(cca)
    is_kernel = bool({"open", "disorder"} & set(said))
    if is_kernel:
        _kernel(builder, read, cca)
    else:
        _exported(builder, read, cca, undisturbed=undisturbed)
    if family != "bbr":
        _used_and_unused(builder, read, family)
    unknown = builder.open
    first = int(np.argmin(unknown))
    # a window that does not show the state of a BBR shows it nowhere
    if unknown.all() or (read.has_window and unknown[first:].any()):
        return None
    # a trace without a window begins with its first word, and a word holds until the next one
    held = np.maximum.accumulate(np.where(unknown, 0, np.arange(len(read))))
    builder.codes, builder.inferred = builder.codes[held], builder.inferred[held]
    # a log with acknowledgements may have rows of transmissions as well, and the probe is one; an
    # acknowledgement that shows a loss is a row of the loss
    answers = (read.acked | read.lost) if read.acked.any() else ~(read.probe | read.timeout | read.lost)
    builder.put(TAIL_LOSS_PROBE, infer.until_answered(read.probe, answers), inferred=False)
    builder.put(RETRANSMISSION_TIMEOUT, infer.until_answered(read.timeout, answers), inferred=False)
    return Sequence(
        read.time_ns[first:],
        builder.codes[first:],
        builder.inferred[first:],
        tuple(builder.names),
        _unobservable(builder, read, cca, is_kernel),
        frozenset(builder.uncertain),
    )


def _unobservable(builder: _Builder, read: Rows, cca: str, is_kernel: bool) -> frozenset[str]:
    # the kernel's probes have no event
    silent = {TAIL_LOSS_PROBE, INIT}
    if not is_kernel:
        silent |= {RETRANSMISSION_TIMEOUT, CONSERVATIVE_SLOW_START}
        # a cut of the window shows recovery to who has no word for it
        if not read.has_window:
            silent.add(RECOVERY)
    if vocabulary.family(cca) == "bbr" and not vocabulary.is_first_bbr(cca):
        silent.add(PROBE_RTT)
    unseen = {state for state in silent if not builder.at(state).any()}
    # a stack's own word means other things than our rule, which takes long lulls alone
    return frozenset(unseen if APPLICATION_LIMITED in builder.said else unseen | {APPLICATION_LIMITED})


class _Builder:
    """Collects the states: first the stack's words, then the inferred states."""

    def __init__(self, states: pl.Series, said: list[str]) -> None:
        self.names = list(vocabulary.STATES)
        self.said = {vocabulary.state_of(word) for word in said if word not in ("open", "disorder")}
        for state in vocabulary.order(self.said):
            if state not in self.names:
                self.names.append(state)
        codes = {word: self.names.index(vocabulary.state_of(word)) for word in said if word not in _OPEN}
        self.codes: Codes = (
            states.replace_strict(codes, default=_NONE, return_dtype=pl.Int16)
            .fill_null(_NONE)
            .to_numpy(writable=True)
            if codes
            else np.full(len(states), _NONE, np.int16)
        )
        self.inferred = np.zeros(len(states), bool)
        self.uncertain: set[str] = set()

    def put(self, state: str, where: BoolArray, *, inferred: bool = True) -> None:
        self.codes[where] = self.names.index(state)
        self.inferred[where] = inferred

    def at(self, *states: str) -> BoolArray:
        # the table's last entry stands for "no state"
        table = np.zeros(len(self.names) + 1, bool)
        table[[self.names.index(state) for state in states]] = True
        return np.asarray(table[self.codes])

    @property
    def open(self) -> BoolArray:
        return np.asarray(self.codes == _NONE)


_OPEN = ("open", "disorder")


def _kernel(builder: _Builder, read: Rows, cca: str) -> None:
    if vocabulary.family(cca) == "bbr":
        builder.codes[builder.at(RECOVERY)] = _NONE
        _bbr(builder, read, cca, infer_bbr.kernel_probe_rtt)
        return
    below = read.cwnd_bytes < read.ssthresh_bytes
    unsaid = builder.open
    builder.put(SLOW_START, unsaid & below, inferred=False)
    builder.put(CONGESTION_AVOIDANCE, unsaid & ~below, inferred=False)


def _exported(builder: _Builder, read: Rows, cca: str, *, undisturbed: bool) -> None:
    unsaid = builder.open
    if vocabulary.family(cca) == "bbr":
        _bbr(builder, read, cca, infer_bbr.probe_rtt if undisturbed else _untold)
        return
    if unsaid.any() and read.has_window:
        slow = infer.slow_start(read)
        builder.put(SLOW_START, unsaid & slow)
        builder.put(CONGESTION_AVOIDANCE, unsaid & ~slow)
    if RECOVERY not in builder.said:
        # the stack does not export recovery, but its window was cut
        steady = builder.at(CONGESTION_AVOIDANCE, SLOW_START, CONSERVATIVE_SLOW_START)
        builder.put(RECOVERY, infer.recovery(read) & steady)


def _untold(read: Rows, probing: int) -> None:
    """ProbeRTT where the window does not show it."""


def _bbr(builder: _Builder, read: Rows, cca: str, probe_rtt: Callable[[Rows, int], BoolArray | None]) -> None:
    unsaid = builder.open
    if not unsaid.any() or not read.has_window:
        return
    place = np.arange(len(read))
    found = infer_bbr.startup_and_drain(read)
    if STARTUP in builder.said:
        # a stack that exports only Startup also exports its end by that
        draining = min(int(np.flatnonzero(builder.at(STARTUP))[-1]) + 1, len(read))
        probing = max(found[1] if found else 0, draining)
    elif found:
        draining, probing = found
    else:
        return
    builder.put(STARTUP, unsaid & (place < draining))
    builder.put(DRAIN, unsaid & (place >= draining) & (place < probing))
    builder.put(PROBE_BW, unsaid & (place >= probing))
    if vocabulary.is_first_bbr(cca):
        held = probe_rtt(read, probing)
        if held is not None:
            builder.put(PROBE_RTT, unsaid & held)
        elif PROBE_RTT not in builder.said:
            builder.uncertain.add(PROBE_RTT)


def _used_and_unused(builder: _Builder, read: Rows, family: Family) -> None:
    if not read.has_window:
        return
    if APPLICATION_LIMITED not in builder.said:
        builder.put(
            APPLICATION_LIMITED,
            infer.application_limited(read) & builder.at(SLOW_START, CONGESTION_AVOIDANCE),
        )
    if family == "additive" and CONGESTION_AVOIDANCE_MAXED not in builder.said:
        builder.put(CONGESTION_AVOIDANCE_MAXED, infer.maxed(read, builder.at(CONGESTION_AVOIDANCE)))
