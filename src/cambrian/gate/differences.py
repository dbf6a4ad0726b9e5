"""Compare two snapshots: what differs, by how much, and how sure that is.

Each figure has one of the three states of every comparison (:mod:`cambrian.stats.states`):

* *equivalent*: the whole 95 % interval of the change lies within the margin of no practical effect, or both
  snapshots have the same trials behind the figure, with the same packets;
* *different*: the change is larger than the margin, and proven: for a figure by seed the paired test rejects
  "no change"; for a parameter or probe the interval of the change lies outside the margin, and a test rejects
  every change within it. Both are corrected by Holm's method, for the number of figures by seed and for the
  number of parameters and probes. A kind, such as "paced", is different if Fisher's exact test over the
  trials says so at 1 %. All need so many seeds that no coin shows the change (:func:`_no_coins`);
* *inconclusive*: neither. It *looks* different if the change is larger than the margin, and its interval (not
  corrected) does not contain "no change". A figure by seed also does if a seed lies far beyond all earlier
  ones (:func:`_outlier`), whatever the mean: one seed of twenty that stalls changes the mean little. Such a
  figure is not equivalent. A parameter or probe that is off or different now also does if the earlier
  snapshot has no figure of it, or too few events.

Where the trials of a figure that are in both snapshots sent the same packets, it is neither different nor
looks so. Trials of one snapshot alone show no change: the figure is that of the seeds in common.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

import numpy as np
import scipy

from cambrian.gate.quantities import MARGINS
from cambrian.gate.snapshot import INVALID, OF_HOST, Parameter, Place, Probe, Snapshot, group_of
from cambrian.judging import references
from cambrian.judging.findings import AGREEING_SHARE, with_interval
from cambrian.measure import quantities
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import FEWEST_TRIALS as BY_TRIALS
from cambrian.probes.table import Probe as Defined
from cambrian.probes.table import probes
from cambrian.stats import compare, correction
from cambrian.stats.interval import Interval
from cambrian.stats.jackknife import FEWEST_SEEDS
from cambrian.stats.states import LEVEL

State = Literal["equivalent", "different", "inconclusive"]
Fate = Literal["same", "changed", "lost", "unknown"]
#: of a figure's valid trials: all are in both snapshots with the same packets, or only those in common are
Same = Literal["all", "common"]
SettledBy = Literal["seeds", "seed", "network", "baseline", "source", "figure"]
#: a change of a parameter within this part of its earlier value has no practical effect
PARAMETER_PART = 0.05
#: a seed that lies beyond all earlier ones by more than so many margins may look different
LARGE = 3
#: chance that one stack shows two kinds, at most: with five trials on each side all must agree
KIND_LEVEL = 0.01
#: reason of a figure that a stack with two behaviours shows by chance
_COIN = "with so few seeds, a stack that has two behaviours can show this difference by chance"
#: reason of a parameter that only few trials show, or trials that do not differ
UNCONFIRMED = "too few differing trials show it, and no other network confirms it"
#: reason of a parameter or probe that is off or different now, and has no figure before
NEW = "bad now, and not judged before"
#: reason of a figure of several trials together, of which only some are in both snapshots
ONLY_IN_ONE = "its trials in both sent the same packets; other trials are only in one"
#: reason of a figure of trials that are all in both snapshots with the same packets
MEASURED = "its trials sent the same packets, so it is only measured in another way"
#: a parameter that was judged from so many times the fewest events does not vanish by chance
SURE = 3
#: nor is it one of few events: a mean of 12 gives none in one of 160,000 cases
SURE_EVENTS = 12
#: what a snapshot lacks
_NO_PARAMETER = Parameter(trials=0, events=0, status="missing")
_NO_PROBE = Probe(state="missing")
_GOOD, _BAD = ("as it should be", "equivalent"), ("off", "different")
#: status of a judged parameter
_JUDGED = ("as it should be", "other choice", "off")


@dataclass(frozen=True)
class Difference:
    """One compared figure.

    ``before`` and ``after``: the figures, in words. ``change`` from ``low`` to ``high`` with ``margin`` in
    ``unit``, or the logarithm of a factor if it is a ``ratio``; None where they do not apply. Of a probe it
    is the change of its effect: of its distance from a bound, or of its figure beside kernel TCP's.
    ``looks``: it looks different. ``better``: the judgement by the
    standard or by kernel TCP became good, or bad; None if neither. ``p`` is not corrected, ``p_holm`` is.
    ``seeds``: behind the comparison; of a parameter: its trials. ``settled_by``: what may settle it if it is
    inconclusive: more seeds, a look at one seed, another network, a baseline that has the figure, one source
    on both sides, or a stack that shows the figure.
    """

    place: str
    name: str
    title: str
    before: str
    after: str
    state: State
    looks: bool = False
    better: bool | None = None
    unit: str = ""
    change: float | None = None
    low: float | None = None
    high: float | None = None
    margin: float | None = None
    p: float | None = None
    p_holm: float | None = None
    seeds: int = 0
    why: str = ""
    settled_by: SettledBy = "seeds"
    ratio: bool = False

    @property
    def unit_of_change(self) -> str:
        """The unit of ``change`` and ``margin``: percents differ by percentage points."""
        return "percentage points" if self.unit == "%" else self.unit

    @property
    def is_changed(self) -> bool:
        """Is the change larger than the margin, with an interval that does not contain "no change"?

        Of one without an interval the change alone counts, and without a change whether it looks different.
        """
        if self.change is None or self.margin is None:
            return self.looks
        inside = self.low is not None and self.high is not None and self.low <= 0 <= self.high
        return abs(self.change) > self.margin and not inside

    @property
    def rank(self) -> tuple[int, int, float]:
        """Sorts by importance: different before what looks so, worse before better, large before small."""
        order = {"different": 0, "inconclusive": 1 if self.looks else 2, "equivalent": 3}[self.state]
        size = abs(self.change / self.margin) if self.change is not None and self.margin else 0.0
        return order, 1 if self.better else 0, -size


@dataclass(frozen=True)
class Compared:
    """Two snapshots, compared.

    ``same``, ``changed``: number of trials with the same packets, and with others. ``lost``: trial → why it
    cannot be compared: it is invalid now, or did not run. ``unknown``: trials that the earlier snapshot
    lacks. ``verdicts`` and ``software``: (name, before, after) of those that changed. ``missing``: figures
    that only the earlier snapshot has. ``gaps``: figures by seed that now lack seeds, in words.
    ``conditions``: (group of trials, before, after) of those that ran on another network, for another time,
    with other flows or other settings: then the study is another one, and the stack may be the same.
    """

    same: int
    changed: int
    lost: Mapping[str, str]
    unknown: tuple[str, ...]
    verdicts: tuple[tuple[str, str, str], ...]
    software: tuple[tuple[str, str, str], ...]
    figures: tuple[Difference, ...] = ()
    missing: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    conditions: tuple[tuple[str, str, str], ...] = ()

    @property
    def different(self) -> list[Difference]:
        """The figures that are proven to differ."""
        return [one for one in self.figures if one.state == "different"]

    @property
    def doubtful(self) -> list[Difference]:
        """The figures that look different without proof."""
        return [one for one in self.figures if one.state == "inconclusive" and one.looks]

    def count(self, state: State) -> int:
        """Number of figures in this state."""
        return sum(one.state == state for one in self.figures)


def fate(before: str | None, after: str) -> Fate:
    """What became of a trial, by its texts in two snapshots; without it: None before, empty after."""
    if after == before:
        return "same"
    if after.startswith(INVALID) or not after:
        return "lost"
    return "unknown" if before is None else "changed"


def packets(before: Snapshot, after: Mapping[str, str]) -> Compared:
    """Compare packet hashes only; ``after``: trial → hash, of the trials that were to run."""
    same = changed = 0
    lost: dict[str, str] = {}
    unknown: list[str] = []
    for trial, text in after.items():
        if text.startswith(INVALID):
            # whatever it was before: it sent no packets that count
            lost[trial] = text
            continue
        match fate(before.packets.get(trial), text):
            case "same":
                same += 1
            case "lost":
                lost[trial] = text or "did not run"
            case "unknown":
                unknown.append(trial)
            case "changed":
                changed += 1
    return Compared(same, changed, lost, tuple(unknown), (), ())


def all_packets(before: Snapshot, after: Snapshot) -> Compared:
    """Compare packet hashes only, of all trials of both snapshots.

    A seed that a stopping rule needed before and does not need now is not lost.
    """
    gone = {trial: "" for trial in before.packets if group_of(trial) not in after.stopped}
    return packets(before, gone | after.packets)


def snapshots(before: Snapshot, after: Snapshot, *, comparisons: int = 1) -> Compared:
    """Compare everything that both snapshots have; the most important difference comes first.

    ``comparisons``: how many of them one page shows; the tests are corrected for all of them.
    """
    found = all_packets(before, after)
    same_of = cache(partial(_same, _Trials(before), _Trials(after)))
    same = {place: same_of(_groups(before, after, place)) for place in before.places}
    coins = max(len(_groups_changed(before.packets, after.packets)), 1) * comparisons
    values = list(_values(before, after, same))
    values = list(_no_coins([_proven(one) for one in _with_holm(values, comparisons)], coins))
    others = _no_coins(list(_others(before, after, comparisons)), coins)
    figures = [_of_same_packets(one, same[one.place]) for one in (*values, *others)]
    return replace(
        found,
        verdicts=_changed(before.verdicts, after.verdicts),
        software=_other_software(before, after),
        figures=tuple(sorted(figures, key=lambda one: one.rank)),
        missing=tuple(sorted(set(_names(before)) - set(_names(after)))),
        gaps=tuple(_gaps(before, after)),
        conditions=other_conditions(before, after.conditions, after.settings),
    )


def other_conditions(
    before: Snapshot, conditions: Mapping[str, str], settings: Mapping[str, str]
) -> tuple[tuple[str, str, str], ...]:
    """``conditions`` of :class:`Compared`: how the conditions and settings of the groups differ by now."""
    return tuple(
        (group, text, now[group])
        for old, now in ((before.conditions, conditions), (before.settings, settings))
        for group, text in old.items()
        if now.get(group, text) != text
    )


class _Trials:
    """A snapshot's trials by their groups, because a suite's snapshot has thousands of both."""

    def __init__(self, one: Snapshot) -> None:
        self._all = one.packets
        self._of_group: dict[str, dict[str, str]] = defaultdict(dict)
        for trial, text in one.packets.items():
            self._of_group[group_of(trial)][trial] = text

    def of(self, groups: frozenset[str]) -> Mapping[str, str]:
        """Trial → packet hash, or why it is invalid, of these groups; of all without groups."""
        if not groups:
            return self._all
        found = (self._of_group[group] for group in groups & self._of_group.keys())
        return {trial: text for trials in found for trial, text in trials.items()}

    def valid(self, groups: frozenset[str]) -> dict[str, str]:
        """Those of them that are valid."""
        return {trial: text for trial, text in self.of(groups).items() if not text.startswith(INVALID)}


def _groups(before: Snapshot, after: Snapshot, place: str) -> frozenset[str]:
    """The groups of the trials behind a place's figures; none with snapshots of an earlier version."""
    return frozenset((*before.groups.get(place, ()), *after.groups.get(place, ())))


def _same(before: _Trials, after: _Trials, groups: frozenset[str]) -> Same | None:
    """Which trials of these groups are in both with the same packets; None if one has others."""
    old, new = before.valid(groups), after.valid(groups)
    common = old.keys() & new.keys()
    if not common or any(old[trial] != new[trial] for trial in common):
        return None
    return "all" if old.keys() == new.keys() else "common"


def _of_same_packets(one: Difference, same: Same | None) -> Difference:
    """The figure with what its trials' packets say of it."""
    if same is None or one.state == "equivalent":
        return one
    # a figure by seed is that of the seeds in common
    if one.before == one.after and (same == "all" or one.name in MARGINS):
        # few seeds or events of the same packets leave nothing open; invalid trials are in no figure
        return replace(one, state="equivalent", looks=False, why="")
    return replace(one, state="inconclusive", looks=False, why=ONLY_IN_ONE if same == "common" else MEASURED)


def _gaps(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Figures that some seeds no longer have, as where downloads no longer complete.

    Of seeds that ran again: trials that did not run are named as such.
    """
    trials = _Trials(after)

    @cache
    def seeds_of(groups: frozenset[str]) -> set[str]:
        return {trial.rpartition(" seed ")[2].partition(" ")[0] for trial in trials.of(groups)}

    for name, place in before.places.items():
        ran = seeds_of(_groups(before, after, name))
        now = after.places.get(name, Place()).values
        for quantity, seeds in place.values.items():
            if gone := (seeds.keys() & ran) - now.get(quantity, {}).keys():
                numbers = ", ".join(sorted(gone, key=int))
                # a baseline of another version may have a quantity that this one lacks
                title = MARGINS[quantity].title if quantity in MARGINS else quantity
                yield f"{title} ({name}): seed{'s' if len(gone) > 1 else ''} {numbers}"


def _names(one: Snapshot) -> Iterator[str]:
    for place, figures in one.places.items():
        for name in (*figures.values, *figures.parameters, *figures.probes):
            yield f"{name} ({place})"


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    names = [*before, *(name for name in after if name not in before)]
    return tuple(
        (name, before.get(name, "–"), after.get(name, "–"))
        for name in names
        if before.get(name) != after.get(name)
    )


def _other_software(before: Snapshot, after: Snapshot) -> tuple[tuple[str, str, str], ...]:
    """The software that changed; what only one side names of the host's is no change, but unknown."""
    known = [
        {
            name: text
            for name, text in one.made_with.items()
            if name not in OF_HOST.values() or name in other.made_with
        }
        for one, other in ((before, after), (after, before))
    ]
    return _changed(*known)


def _both(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, Place, Place]]:
    for name, place in before.places.items():
        if name in after.places:
            yield name, place, after.places[name]


def _gone(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, Place, Place]]:
    """The places that give no figure at all any more although their trials ran again, beside an empty one.

    A place whose trials give figures under another name is not gone: a second rival changes the name.
    """
    named = {group for groups in after.groups.values() for group in groups}
    trials = _Trials(after)
    for name in sorted(before.places.keys() - after.places.keys()):
        groups = frozenset(before.groups.get(name, ()))
        # a snapshot of an earlier version does not say which trials these are
        renamed = groups & named if groups else after.places.keys() - before.places.keys()
        if trials.valid(groups) and not renamed:
            yield name, before.places[name], Place()


def _values(before: Snapshot, after: Snapshot, same: Mapping[str, Same | None]) -> Iterator[Difference]:
    for place, old, new in _both(before, after):
        for name in (name for name in MARGINS if name in old.values and name in new.values):
            yield _value(place, name, old.values[name], new.values[name], same[place])


def _value(
    place: str, name: str, old: Mapping[str, float], new: Mapping[str, float], same: Same | None = None
) -> Difference:
    common = old.keys() & new.keys()
    # other seeds have other starts and losses: without a test their means show no change, and where the
    # seeds in common sent the same packets there is none
    if common and (same is not None or min(len(old), len(new)) < FEWEST_SEEDS):
        old, new = ({seed: one[seed] for seed in one if seed in common} for one in (old, new))
    found = compare.compare(_by_number(new), _by_number(old))
    if found.test == "paired":
        # the seeds of both sides alone, as the test has them
        old, new = ({seed: one[seed] for seed in one if seed in common} for one in (old, new))
    earlier = math.fsum(old.values()) / len(old)
    margin = MARGINS[name].margin(earlier)
    interval = found.difference
    outlier = _outlier(new, old, margin)
    moved = abs(interval.estimate) > margin and not interval.low <= 0 <= interval.high
    one = Difference(
        place=place,
        name=name,
        title=MARGINS[name].title,
        before=f"{earlier:.4g}",
        after=f"{math.fsum(new.values()) / len(new):.4g}",
        state="inconclusive",
        looks=bool(outlier) or moved,
        unit=quantities.ALL[name].unit,
        change=interval.estimate,
        low=_finite(interval.low),
        high=_finite(interval.high),
        margin=margin,
        p=found.p,
        seeds=min(len(old), len(new)),
        why=outlier if math.isfinite(interval.low) else _too_few(min(len(old), len(new))),
        settled_by="seed" if outlier and not moved and math.isfinite(interval.low) else "seeds",
    )
    if not found.varies and one.seeds >= FEWEST_SEEDS:
        # the same change in every seed
        return replace(one, state="different" if one.is_changed else "equivalent", why="")
    if _within(interval, margin) and not outlier:
        return replace(one, state="equivalent")
    return one


def _too_few(seeds: int) -> str:
    return f"{seeds} seed{'' if seeds == 1 else 's'}; three are needed"


def _outlier(new: Mapping[str, float], old: Mapping[str, float], margin: float) -> str:
    """The seed that lies far beyond all earlier ones, in words; empty without one.

    It lies beyond them by more than three margins, and by more than they differ from each other: the seeds of
    a stack that did not change may lie far apart, too.
    """
    lowest, highest = min(old.values()), max(old.values())
    seed, value = max(new.items(), key=lambda pair: max(pair[1] - highest, lowest - pair[1]))
    if max(value - highest, lowest - value) <= max(LARGE * margin, highest - lowest):
        return ""
    return f"seed {seed} has {value:.4g}, all earlier seeds {lowest:.4g} to {highest:.4g}"


def _within(interval: Interval, margin: float) -> bool:
    return -margin <= interval.low and interval.high <= margin


def _groups_changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """The groups with a valid trial whose packets are not those before."""
    fates = ((trial, fate(before.get(trial), text)) for trial, text in after.items())
    return {group_of(trial) for trial, one in fates if one in ("changed", "unknown")}


def _proven(one: Difference) -> Difference:
    """A figure by seed with its state, from its corrected test."""
    chance = one.p_holm is None or one.p_holm > LEVEL
    if one.state == "inconclusive" and one.is_changed and not chance:
        return replace(one, state="different", why="")
    return _with_reason(one)


def _no_coins(found: Sequence[Difference], coins: int) -> Iterator[Difference]:
    """The figures, without differences that one stack with two behaviours shows by chance.

    With n seeds it shows one behaviour before and the other after in at most 2 of 4ⁿ comparisons, on any of
    ``coins`` groups of trials. The same change of one contestant on several networks is one, of all their
    seeds. Fewer than three trials of a parameter are judged by :func:`_is_confirmed`.
    """
    alike: dict[object, list[int]] = defaultdict(list)
    for one in found:
        if one.state == "different" and one.seeds >= BY_TRIALS:
            alike[_kind_of_change(one)].append(one.seeds)
    for one in found:
        if one.state == "different" and one.seeds >= BY_TRIALS:
            seeds = alike[_kind_of_change(one)]
            ways = math.comb(max(coins, len(seeds)), len(seeds))
            # the logarithm, because the number of ways may exceed every float
            if math.log(2 * ways) - sum(seeds) * math.log(4) > math.log(LEVEL):
                yield replace(one, state="inconclusive", why=_COIN)
                continue
        yield one


def _kind_of_change(one: Difference) -> object:
    """What is the same where a contestant changes the same way on several networks."""
    way = one.after if one.change is None else one.change > 0
    return one.name, _who(one.place), way


def _with_holm(found: list[Difference], comparisons: int) -> list[Difference]:
    """The same figures with p corrected for the number of those that are tested in all comparisons."""
    adjusted = iter(correction.holm([one.p for one in found if one.p is not None]))
    return [
        one if one.p is None else replace(one, p_holm=min(1.0, comparisons * float(next(adjusted))))
        for one in found
    ]


def _with_reason(one: Difference) -> Difference:
    if one.state != "inconclusive" or one.why:
        return one
    return replace(one, why="the seeds vary too much to tell")


def _others(before: Snapshot, after: Snapshot, comparisons: int) -> Iterator[Difference]:
    """Parameters and probes, with the tests corrected for their number."""
    found = []
    known = {probe.name for probe in probes()}
    kind_level = min(KIND_LEVEL, LEVEL / comparisons)
    places = [*_both(before, after), *_gone(before, after)]
    for place, old, new in places:
        seeds = min(old.seeds, new.seeds)
        found += [
            _parameter(place, name, one, new.parameters.get(name, _NO_PARAMETER), kind_level)
            for name, one in old.parameters.items()
            if name in PARAMETERS and (name in new.parameters or _is_sure(name, one))
        ]
        found += [
            _parameter(place, name, _NO_PARAMETER, one, kind_level)
            for name, one in new.parameters.items()
            if name in PARAMETERS and name not in old.parameters and _is_accused(name, _NO_PARAMETER, one)
        ]
        found += [
            _probe(place, name, one, new.probes.get(name, _NO_PROBE), seeds)
            for name, one in old.probes.items()
            if name in known
        ]
        found += [
            _probe(place, name, _NO_PROBE, one, seeds)
            for name, one in new.probes.items()
            if name in known and name not in old.probes and one.state in _BAD and seeds >= FEWEST_SEEDS
        ]
    proven = [
        replace(one, state="inconclusive", why="may be chance among so many figures")
        if one.state == "different" and one.p_holm is not None and one.p_holm > LEVEL
        else one
        for one in _with_holm(found, comparisons)
    ]
    fewest = {name: min(old.seeds, new.seeds) for name, old, new in places}
    for one in proven:
        # a place of parameters alone, as beside a rival, has no figure by seed
        behind = fewest[one.place] or max(fewest.values())
        if one.state != "different" or one.name not in PARAMETERS or one.seeds >= BY_TRIALS:
            yield one
        elif 0 < behind < FEWEST_SEEDS:
            yield replace(one, state="inconclusive", why=_too_few(behind))
        elif not _is_confirmed(one, proven):
            yield replace(one, state="inconclusive", why=UNCONFIRMED, settled_by="network")
        else:
            yield one


def _is_confirmed(one: Difference, found: Sequence[Difference]) -> bool:
    """Do other networks confirm a parameter's difference that fewer than three trials show?

    Events of one trial are not independent, so they do not say how much trials differ. The contestant must
    change the same way on a network with three trials, or on all others that have a figure.
    """
    others = [
        other
        for other in found
        if (other.name, _who(other.place)) == (one.name, _who(one.place))
        and other.place != one.place
        and other.change is not None
    ]
    alike = [
        other.state == "different" and (other.change or 0.0) * (one.change or 0.0) > 0 for other in others
    ]
    by_trials = [same for other, same in zip(others, alike, strict=True) if other.seeds >= BY_TRIALS]
    return any(by_trials) or (bool(alike) and all(alike))


def _who(place: str) -> str:
    """The contestant in a place's name; empty if the snapshot is of one contestant."""
    return place.partition(" ")[2]


def _parameter(place: str, name: str, old: Parameter, new: Parameter, kind_level: float) -> Difference:
    definition = PARAMETERS[name]
    one = Difference(
        place=place,
        name=name,
        title=definition.title,
        before=_parameter_text(old, definition.digits),
        after=_parameter_text(new, definition.digits),
        state="inconclusive",
        better=_improves(old.status, new.status),
        unit=definition.unit,
        seeds=min(old.trials, new.trials),
    )
    events = min(old.events, new.events)
    accused = _is_accused(name, old, new)
    if events < definition.fewest:
        why = f"{new.events} events, {old.events} before; a judgement needs {definition.fewest}"
        if accused:
            return replace(one, why=f"{NEW}: {why}", looks=True, settled_by="baseline")
        return replace(one, why=why, looks=_is_sure(name, old), settled_by="figure")
    if old.label is not None or new.label is not None:
        found = _kind(one, old, new, kind_level, accused=accused)
    elif old.value is None or new.value is None:
        found = replace(one, why="without a value", looks=accused)
    else:
        margin = max(PARAMETER_PART * abs(old.value), _tolerance(name))
        values = min(_values_of(old), _values_of(new))
        found = _judged(one, new.value - old.value, (_arm(old), _arm(new)), margin, values)
    if old.source and new.source and old.source != new.source:
        # the two sources of one trial differ, too: that proves nothing
        why = f"measured from the {new.source} now, and from the {old.source} before"
        worse = accused or (one.better is False and _is_no_chance(name, new))
        return replace(one, why=why, looks=worse or found.state == "different", settled_by="source")
    return found


def _kind(one: Difference, old: Parameter, new: Parameter, level: float, *, accused: bool) -> Difference:
    """``one``, a parameter whose values are kinds, judged."""
    if old.label == new.label:
        return replace(one, state="equivalent")
    agreement = min(old.agreement or 1.0, new.agreement or 1.0)
    if "inconclusive" in (old.status, new.status) or agreement < AGREEING_SHARE:
        return replace(one, why="too few of its events agree on one kind", looks=accused)
    if _kinds_by_chance(old, new) > level:
        return replace(one, why="too few of its trials agree on one kind", looks=agreement == 1)
    return replace(one, state="different", looks=True)


def _kinds_by_chance(old: Parameter, new: Parameter) -> float:
    """p of Fisher's exact test that trials of one stack have these two kinds.

    A trial counts once, because its events are not independent. A kind can be a coin: whether a trial leaves
    slow start by HyStart or by a loss, for example.
    """
    agree = [math.floor((one.agreement or 1.0) * one.trials + 1e-9) for one in (old, new)]
    table = np.array([[agree[0], old.trials - agree[0]], [new.trials - agree[1], agree[1]]])
    return float(scipy.stats.fisher_exact(table).pvalue)


def _is_sure(name: str, one: Parameter) -> bool:
    """Was it judged, from so many events that it cannot vanish by chance?"""
    return one.status in _JUDGED and one.events >= max(SURE_EVENTS, SURE * PARAMETERS[name].fewest)


def _is_accused(name: str, old: Parameter, new: Parameter) -> bool:
    """Is it off now, from so many events that it is no chance, and was it not judged before?"""
    return new.status == "off" and old.status not in _JUDGED and _is_no_chance(name, new)


def _is_no_chance(name: str, one: Parameter) -> bool:
    """Was it judged from many events, or from several trials if a trial has one event?"""
    return _is_sure(name, one) or (PARAMETERS[name].fewest == 1 and one.trials >= BY_TRIALS)


def _values_of(one: Parameter) -> int:
    """Number of values behind the interval: of trials, or of events in few trials."""
    return one.trials if one.trials >= BY_TRIALS else one.events


def _tolerance(name: str) -> float:
    """The largest tolerance of a parameter's reference in any family; 0 without a reference."""
    known = (references.for_family(family).get(name) for family in references.families())
    return max((one.tolerance for one in known if one is not None), default=0.0)


def _arm(one: Parameter | Probe) -> float | None:
    """Half the length of the interval; None without bounds."""
    return None if one.low is None or one.high is None else (one.high - one.low) / 2


def _judged(
    one: Difference, change: float, arms: tuple[float | None, float | None], margin: float, values: int
) -> Difference:
    """The state of a change whose two figures have independent Student's intervals of ``values`` each.

    ``p`` is of the hypothesis that the change is within the margin. Its state may still change, because p is
    not corrected yet.
    """
    looks = abs(change) > margin
    old_arm, new_arm = arms
    if old_arm is None or new_arm is None:
        return replace(one, change=change, margin=margin, looks=looks, why="without an interval")
    arm = math.hypot(old_arm, new_arm)
    looks = looks and abs(change) > arm
    p = _p(abs(change) - margin, arm, values)
    one = replace(one, change=change, low=change - arm, high=change + arm, margin=margin, looks=looks, p=p)
    if abs(change) + arm <= margin:
        return replace(one, state="equivalent")
    if abs(change) - arm > margin:
        return replace(one, state="different")
    return replace(one, why="the interval contains changes with and without effect")


def _p(beyond: float, arm: float, values: int) -> float:
    """The chance of a change by ``beyond`` or more, if half of its 95 % Student's interval is ``arm``."""
    if beyond <= 0 or arm == 0:
        return float(beyond <= 0)
    degrees = max(values - 1, 1)
    quantile = scipy.special.stdtrit(degrees, 1 - LEVEL / 2)
    return float(2 * scipy.special.stdtr(degrees, -quantile * beyond / arm))


def _probe(place: str, name: str, old: Probe, new: Probe, seeds: int) -> Difference:
    probe = next(probe for probe in probes() if probe.name == name)
    ratio = probe.compare == "ratio"
    # without one's figure both are said in one way, so that equal ones have equal words
    measured = all(side.mine is not None for side in (old, new) if side.effect is not None)
    one = Difference(
        place=place,
        name=name,
        title=probe.title,
        before=_probe_text(probe, old, measured=measured),
        after=_probe_text(probe, new, measured=measured),
        state="inconclusive",
        better=_improves(old.state, new.state),
        unit="" if ratio else probe.unit,
        seeds=seeds,
        ratio=ratio,
    )
    if old.effect is None or new.effect is None:
        if old.effect is None and new.state in _BAD and seeds >= FEWEST_SEEDS:
            return replace(one, why=NEW, looks=True, settled_by="baseline")
        gone = old.effect is not None and old.state in (*_GOOD, *_BAD) and seeds >= FEWEST_SEEDS
        return replace(one, why="without a figure", looks=gone, settled_by="figure")
    if ratio and min(old.effect, new.effect) <= 0:
        same = old.effect == new.effect
        return replace(
            one, state="equivalent" if same else "inconclusive", looks=not same, why="a ratio of 0"
        )
    # a change as large as the margin around kernel TCP's figure; a ratio on the logarithmic scale
    ends = [
        abs(math.log(end)) if ratio else abs(end) for end in (probe.low, probe.high) if _usable(end, ratio)
    ]
    change = math.log(new.effect / old.effect) if ratio else new.effect - old.effect
    if ratio:
        old, new = _logarithm(old), _logarithm(new)
    return _judged(one, change, (_arm(old), _arm(new)), min(ends, default=math.inf), seeds)


def _usable(end: float, ratio: bool) -> bool:
    """Is this end of a margin a limit, and not a formality?"""
    return math.isfinite(end) and (end > 0 and end != 1 if ratio else end != 0)


def _logarithm(one: Probe) -> Probe:
    ends = {
        key: math.log(value) if value is not None and value > 0 else None
        for key, value in (("low", one.low), ("high", one.high))
    }
    return one.model_copy(update=ends)


def _improves(before: str, after: str) -> bool | None:
    """Did the judgement become good, or bad? None if neither."""
    if before in _BAD and after in _GOOD:
        return True
    return False if before in _GOOD and after in _BAD else None


def _parameter_text(one: Parameter, digits: int) -> str:
    """``digits``: decimals of the parameter."""
    if one.label is not None:
        return one.label
    if one.value is None:
        return "–"
    arm = _arm(one)
    return f"{one.value:.4g}" if arm is None else with_interval(one.value, arm, digits)


def _probe_text(probe: Defined, one: Probe, *, measured: bool) -> str:
    """``8.67 packets (equivalent)``; ``53.4 %, 46.6 below kernel TCP's (different)``.

    ``measured``: is its figure known? Else only a bound gives it.
    """
    if one.effect is None:
        return one.state
    figure = one.mine if measured else from_effect(probe, one)
    words = [] if figure is None else [f"{figure:.4g} {probe.unit}".rstrip()]
    if probe.compare == "ratio":
        words.append(f"{one.effect:.3g} × kernel TCP's")
    elif probe.compare == "difference":
        side = "below" if one.effect < 0 else "above"
        words.append(f"{abs(one.effect):.3g} {side} kernel TCP's" if one.effect else "like kernel TCP's")
    return f"{', '.join(words)} ({one.state})"


def from_effect(probe: Defined, one: Probe) -> float | None:
    """A probe's figure, from its distance from a bound; None without a bound."""
    return None if probe.bound is None or one.effect is None else probe.bound + one.effect


def _by_number(values: Mapping[str, float]) -> dict[int, float]:
    return {int(seed): value for seed, value in values.items()}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
