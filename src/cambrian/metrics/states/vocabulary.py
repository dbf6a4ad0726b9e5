"""One vocabulary for the states of all congestion controllers.

Loss-based controllers: the states that Kakhki et al. (IMC 2017, figure 3) give for QUIC, which are
qlog's congestion states and more; HyStart++'s conservative slow start (RFC 9406). BBR: the states of
draft-cardwell-iccrg-bbr-congestion-control, with ProbeBW's four phases if a stack distinguishes them.

An unknown word is kept: ``unknown: WORD``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

import polars as pl

INIT = "init"
SLOW_START = "slow_start"
CONSERVATIVE_SLOW_START = "conservative_slow_start"
CONGESTION_AVOIDANCE = "congestion_avoidance"
CONGESTION_AVOIDANCE_MAXED = "congestion_avoidance_maxed"
APPLICATION_LIMITED = "application_limited"
RECOVERY = "recovery"
TAIL_LOSS_PROBE = "tail_loss_probe"
RETRANSMISSION_TIMEOUT = "retransmission_timeout"
STARTUP = "startup"
DRAIN = "drain"
PROBE_BW = "probe_bw"
PROBE_BW_DOWN = "probe_bw_down"
PROBE_BW_CRUISE = "probe_bw_cruise"
PROBE_BW_REFILL = "probe_bw_refill"
PROBE_BW_UP = "probe_bw_up"
PROBE_RTT = "probe_rtt"

#: every state, in the order in which a person reads them
STATES = (
    INIT,
    SLOW_START,
    CONSERVATIVE_SLOW_START,
    CONGESTION_AVOIDANCE,
    CONGESTION_AVOIDANCE_MAXED,
    APPLICATION_LIMITED,
    RECOVERY,
    TAIL_LOSS_PROBE,
    RETRANSMISSION_TIMEOUT,
    STARTUP,
    DRAIN,
    PROBE_BW,
    PROBE_BW_DOWN,
    PROBE_BW_CRUISE,
    PROBE_BW_REFILL,
    PROBE_BW_UP,
    PROBE_RTT,
)
#: Startup and Drain together, where a difference cannot tell one from the other
STARTUP_AND_DRAIN = "startup_and_drain"
PHASES = (PROBE_BW_DOWN, PROBE_BW_CRUISE, PROBE_BW_REFILL, PROBE_BW_UP)

_UNKNOWN = "unknown: "
#: other spellings, after lower case and underscores
_ALSO = {
    "initial": INIT,
    "slowstart": SLOW_START,
    "css": CONSERVATIVE_SLOW_START,
    "congestionavoidance": CONGESTION_AVOIDANCE,
    "congestionavoidancemaxed": CONGESTION_AVOIDANCE_MAXED,
    "ca_maxed": CONGESTION_AVOIDANCE_MAXED,
    "applicationlimited": APPLICATION_LIMITED,
    "app_limited": APPLICATION_LIMITED,
    "recovery_period": RECOVERY,
    "fast_recovery": RECOVERY,
    "cwr": RECOVERY,
    "loss": RETRANSMISSION_TIMEOUT,
    "taillossprobe": TAIL_LOSS_PROBE,
    "tlp": TAIL_LOSS_PROBE,
    "retransmissiontimeout": RETRANSMISSION_TIMEOUT,
    "rto": RETRANSMISSION_TIMEOUT,
    "persistent_congestion": RETRANSMISSION_TIMEOUT,
    "probebw": PROBE_BW,
    "probertt": PROBE_RTT,
}
#: what a controller's window follows, as far as its states differ by it
Family = Literal["bbr", "additive", "other"]


def state_of(word: str) -> str:
    """Our name for a stack's word; ``unknown: WORD`` without one."""
    plain = re.sub(r"[-\s:.]+", "_", word.strip().lower())
    # the draft's own names: ProbeBW_DOWN
    plain = re.sub(r"^probe_?bw_?(down|cruise|refill|up)$", r"probe_bw_\1", plain)
    return plain if plain in STATES else _ALSO.get(plain, _UNKNOWN + word)


def words_of(states: pl.Series, *which: str) -> list[str]:
    """The words of a log's column that stand for one of these states."""
    return [word for word in states.drop_nulls().unique() if state_of(word) in which]


def family(cca: str) -> Family:
    """``bbr``; ``additive``: CUBIC and Reno, whose window always grows in congestion avoidance; ``other``."""
    name = cca.lower()
    if "bbr" in name:
        return "bbr"
    return "additive" if "cubic" in name or "reno" in name else "other"


def is_first_bbr(cca: str) -> bool:
    """A BBR of version 1, whose ProbeRTT leaves four packets in flight."""
    return family(cca) == "bbr" and re.search(r"bbrv?[2-9]", cca.lower()) is None


def order(states: Iterable[str]) -> list[str]:
    """Distinct states in :data:`STATES`' order, unknown ones at the end by name."""
    places: dict[str, float] = {state: place for place, state in enumerate(STATES)}
    places[STARTUP_AND_DRAIN] = places[STARTUP]
    return sorted(set(states), key=lambda state: (places.get(state, len(places)), state))


def words(state: str) -> str:
    """A state as a sentence names it."""
    named = {
        PROBE_BW: "ProbeBW",
        PROBE_BW_DOWN: "ProbeBW down",
        PROBE_BW_CRUISE: "ProbeBW cruise",
        PROBE_BW_REFILL: "ProbeBW refill",
        PROBE_BW_UP: "ProbeBW up",
        PROBE_RTT: "ProbeRTT",
        STARTUP: "Startup",
        DRAIN: "Drain",
        STARTUP_AND_DRAIN: "Startup and Drain",
        CONGESTION_AVOIDANCE_MAXED: "congestion avoidance at its maximum",
    }
    return named.get(state, state.replace("_", " "))


def folding(one: Iterable[str], other: Iterable[str], *, is_inferred: bool) -> Mapping[str, str]:
    """The states to join so that two machines of different detail can be compared: state → joined state.

    If only one source distinguishes the phases of ProbeBW, all are ProbeBW. If one machine is inferred,
    Startup and Drain are one state, because a window and a flight show the border between them badly.
    """
    one, other = set(one), set(other)
    detailed = [bool(states & set(PHASES)) for states in (one, other)]
    plain = [PROBE_BW in states for states in (one, other)]
    mixed = (detailed[0] and plain[1]) or (detailed[1] and plain[0])
    joined = dict.fromkeys(PHASES, PROBE_BW) if mixed else {}
    return joined | (dict.fromkeys((STARTUP, DRAIN), STARTUP_AND_DRAIN) if is_inferred else {})
