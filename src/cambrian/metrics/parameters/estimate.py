"""Estimates of a parameter from one trial, and pooled over several trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

#: where a figure comes from: the stack's own window (and pacing rate, states), or packets alone
Source = Literal["window", "packets"]
CONFIDENCE = 0.95
#: fewest trials for a spread over trials; with fewer, the spread of the events within them counts
FEWEST_TRIALS = 3


@dataclass(frozen=True)
class Estimate:
    """The estimate of one parameter from one trial.

    ``samples``: one value for each event (a congestion event, a round, a cycle…), at least one; the
    trial's value is their median. ``events``: number of events behind a single sample that is
    a share or a sum of them. ``resolution``: the half-width that the method cannot
    resolve with any number of events (a packet of a window, an ACK's delay), in the
    parameter's unit; it widens every interval. ``label``: for a parameter that is a kind and
    no number, the word for it; its samples are each event's code in
    :mod:`cambrian.metrics.parameters.definitions`, and ``label`` is the word of most. ``lower_by``: so much
    lower it is, in its unit, in a sender to which the standard's value applies in another allowed way.
    """

    parameter: str
    samples: tuple[float, ...]
    resolution: float
    source: Source
    label: str | None = None
    events: int | None = None
    lower_by: float = 0.0

    def __post_init__(self) -> None:
        if not self.samples or not all(map(math.isfinite, self.samples)):
            raise ValueError(f"{self.parameter}: give finite samples, at least one; say Missing otherwise")
        if self.resolution < 0:
            raise ValueError(f"{self.parameter}: resolution is {self.resolution}; it must not be negative")

    @property
    def value(self) -> float:
        """The trial's value: the median of its events."""
        return float(np.median(self.samples))

    @property
    def count(self) -> int:
        """Number of events behind the estimate."""
        return len(self.samples) if self.events is None else self.events

    @property
    def agreement(self) -> float:
        """Share of the events with the commonest kind, in [0, 1]; 1 for a number."""
        _, counts = np.unique(self.samples, return_counts=True)
        return float(counts.max() / len(self.samples))


def of_kind(parameter: str, codes: Sequence[int], kinds: Sequence[str], source: Source) -> Estimate:
    """The estimate of a kind: ``codes`` are the events' places in ``kinds``, the commonest is the label."""
    values, counts = np.unique(np.asarray(codes, dtype=np.int64), return_counts=True)
    word = kinds[int(values[counts.argmax()])]
    return Estimate(parameter, tuple(float(code) for code in codes), 0.0, source, word)


def of_share(parameter: str, these: int, count: int, source: Source) -> Estimate:
    """``these`` of ``count`` events (at least one); resolved to two standard errors and half an event."""
    share = these / count
    error = 2 * math.sqrt(share * (1 - share) / count) + 0.5 / count
    return Estimate(parameter, (share,), error, source, events=count)


@dataclass(frozen=True)
class Missing:
    """A parameter without an estimate in this trial; ``why``, in words."""

    parameter: str
    why: str
    source: Source = "window"


@dataclass(frozen=True)
class Measured:
    """One parameter of one contestant on one network, over trials.

    [``low``, ``high``]: 95 % interval of the mean over trials, widened by the method's
    resolution; from the events' spread where there are fewer than 3 trials (``by`` says which).
    ``trials``: differing trials that show it, of ``of_trials`` that ran. ``events``: over those.
    ``agreement``: of a kind, the share of events that are of the kind ``label``; 1 of a number.
    ``agreeing``: trials whose own kind is ``label``; all of them for a number. ``shown``: trials that
    show it, of ``ran``; here identical trials count each. ``lower_by``: what each trial's own allows.
    """

    parameter: str
    value: float
    low: float
    high: float
    trials: int
    events: int
    source: Source
    by: Literal["trials", "events"]
    agreeing: int
    label: str | None = None
    agreement: float = 1.0
    of_trials: int = 0
    shown: int = 0
    ran: int = 0
    lower_by: float = 0.0


#: largest difference of equal values of a parameter, relative to its resolution or to itself
SAME_RESOLUTION, SAME_SHARE = 0.1, 0.005


def differing(
    trials: Sequence[Sequence[Estimate | Missing]], lone: Sequence[bool], *, draws: bool
) -> list[Sequence[Estimate | Missing]]:
    """One trial of each set of replicates, with each estimate of the first replicate that shows it.

    A sender alone on a path without randomness does the same for every seed, except for its start. Small
    causes may make its replicates differ a little, which makes no second experiment of them. All other trials
    are replicates only if they have equal estimates.

    Parameters:
        lone: of each trial, whether the sender was alone on such a path.
        draws: the sender itself draws random numbers, as BBR does for its phases. Then lone trials are
            replicates if their estimates are about equal.
    """
    kept: list[tuple[dict[tuple[str, Source], Estimate], bool, list[Estimate | Missing]]] = []
    for trial, is_lone in zip(trials, lone, strict=True):
        said = {(one.parameter, one.source): one for one in trial if isinstance(one, Estimate)}
        for other, other_lone, whole in kept:
            if said == other or (is_lone and other_lone and (not draws or _same_estimates(said, other))):
                more = {place: one for place, one in said.items() if place not in other}
                other.update(more)
                whole.extend(more.values())
                break
        else:
            kept.append((said, is_lone, list(trial)))
    return [trial for _, _, trial in kept]


def _same_estimates(
    one: dict[tuple[str, Source], Estimate], other: dict[tuple[str, Source], Estimate]
) -> bool:
    """Do two trials have the same parameters with the same values?"""
    return one.keys() == other.keys() and all(
        abs(mine.value - other[key].value)
        <= max(SAME_RESOLUTION * mine.resolution, SAME_SHARE * abs(mine.value))
        for key, mine in one.items()
    )


def pooled(estimates: Sequence[Estimate], of_trials: int = 0) -> Measured:
    """One parameter over trials, from one estimate for each trial. ``of_trials``: trials that ran, if more.

    Raises:
        ValueError: no estimate, or several parameters or sources.
    """
    if len({(one.parameter, one.source) for one in estimates}) != 1:
        raise ValueError("pool the estimates of one parameter and one source, at least one")
    first = estimates[0]
    by_trial = np.array([one.value for one in estimates])
    events = np.concatenate([one.samples for one in estimates])
    # a share's error, or a sum's, is in its resolution
    single = np.empty(0) if any(one.events for one in estimates) else events
    values = by_trial if len(by_trial) >= FEWEST_TRIALS else single
    centre = float(np.mean(by_trial))
    # two trials may differ by more than the events within each of them do
    half = max(_half_width(values), float(np.ptp(by_trial)) / 2) + max(one.resolution for one in estimates)
    label, agreement = _commonest(estimates)
    return Measured(
        parameter=first.parameter,
        value=centre,
        low=centre - half,
        high=centre + half,
        trials=len(estimates),
        events=sum(one.count for one in estimates),
        source=first.source,
        by="trials" if len(by_trial) >= FEWEST_TRIALS else "events",
        label=label,
        agreeing=sum(one.label == label for one in estimates),
        agreement=agreement,
        of_trials=max(of_trials, len(estimates)),
        shown=len(estimates),
        ran=max(of_trials, len(estimates)),
        lower_by=common_lower_by(estimates, centre),
    )


def common_lower_by(estimates: Sequence[Estimate], value: float) -> float:
    """How much lower than in the standard's way the common ``value`` may be, by each of the estimates.

    The standard's value is one for all of them: what one of them excludes, another does not allow.
    """
    return max(0.0, min(one.value + one.lower_by for one in estimates) - value)


def _commonest(estimates: Sequence[Estimate]) -> tuple[str | None, float]:
    """The label of most events, and their share; None and 1 for a number."""
    labelled = [(one, one.label) for one in estimates if one.label is not None]
    if not labelled:
        return None, 1.0
    found: dict[str, float] = {}
    for one, label in labelled:
        found[label] = found.get(label, 0.0) + one.agreement * one.count
    word = max(found, key=lambda label: found[label])
    return word, found[word] / sum(one.count for one, _ in labelled)


def _half_width(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Half-width of the mean's 95 % Student interval; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    quantile = scipy.special.stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)
    return float(quantile * np.std(values, ddof=1) / math.sqrt(len(values)))
