"""The three states of every comparison, and the margins of equivalence.

========================  ==================================================================
equivalent                the whole 95 % interval lies within the margin: two one-sided tests
                          at 2.5 % each reject a difference as large as the margin
different                 not equivalent, and the test, corrected for its family, rejects
                          "no difference" (p ≤ 0.05)
inconclusive              neither
========================  ==================================================================

Replicates that cannot differ count as one, and are not tested: their interval has length 0, and their state
is :data:`SAME`.
Sources: Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987), for the two tests; Westlake (1981).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from cambrian.stats.interval import Interval

State = Literal["different", "equivalent", "inconclusive", "the same in every seed"]
#: the state if all seeds gave the same value: without variation, no test is possible
SAME: Literal["the same in every seed"] = "the same in every seed"
#: probability of a false alarm, after the correction
LEVEL = 0.05


@dataclass(frozen=True)
class Margin:
    """A difference between ``low`` and ``high`` has no practical effect; ``why`` gives the reason."""

    low: float
    high: float
    why: str


#: of a share of 0 to 1, from an equal share
SHARE = Margin(-0.05, 0.05, "45 to 55 of 100: Jain's index of such a split is 0.99")
#: of a share in percent
SHARE_PERCENT = Margin(-5.0, 5.0, SHARE.why)
#: the same as a part of an equal share, or of the rest if that is less
SHARE_PART = 0.1
#: of a harm of 0 to 1, from that of the victim's own kind
HARM = Margin(-0.1, 0.1, "a tenth of the service: a share of 45 instead of 50 of 100 is a harm of 0.1")
#: of a victim's packet loss in percentage points, in addition to harm, which is meaningless for a loss near 0
LOSS_PERCENT = Margin(-0.05, 0.05, "one packet in 2,000: a CUBIC flow alone behind one BDP loses as much")
#: of a victim's delay in ms, in addition to harm
DELAY_MS = Margin(-1.0, 1.0, "1 ms: less than the time of one packet at 10 Mbps (1.2 ms)")
#: of the ratio of two figures, minus 1
RATIO = Margin(-0.01, 0.01, "1 %: less than the effect of headers (42 or 66 bytes of 1,514 are 1.6 % apart)")
#: of the difference of two figures in percent, page load times included
PERCENT = Margin(-1.0, 1.0, f"{RATIO.why}; for a page load of 1 s less than one frame of a 60 Hz screen")
#: of a deficit: a higher conformance than the noise floor is no difference
CONFORMANCE = Margin(
    -math.inf, 0.1, "0.1: two trials of the same kernel differ by more (0.78 to 0.95 at half a BDP)"
)
#: of a state's share of the time, in 0 to 1
STATE_TIME = Margin(-0.005, 0.005, "half a percent of the time: 0.3 s of a minute")


def of_share(equal: float) -> Margin:
    """The margin of a share in percent, from an ``equal`` one: of 20 flows 4.5 to 5.5 of 100."""
    arm = SHARE_PART * min(equal, 100 - equal)
    return Margin(-arm, arm, SHARE.why)


def state(interval: Interval | None, margin: Margin | None, p: float | None, null: float = 0.0) -> State:
    """The state of a figure that is ``null`` without a difference.

    ``p`` is corrected for its family; None if not tested. A figure without a ``margin`` is never equivalent.
    """
    if interval is None or math.isnan(interval.low) or math.isnan(interval.high):
        return "inconclusive"
    if interval.low == interval.high:
        return SAME
    if margin and null + margin.low <= interval.low and interval.high <= null + margin.high:
        return "equivalent"
    if p is not None and p <= LEVEL:
        return "different"
    return "inconclusive"
