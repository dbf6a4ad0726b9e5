"""Find the release in which a figure changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from cambrian.gate.differences import UNCONFIRMED
from cambrian.gate.snapshot import Snapshot
from cambrian.probes.table import probes
from cambrian.releases import ready, search, verdicts
from cambrian.releases.search import Range, State
from cambrian.releases.trials import Bench, invalid
from cambrian.releases.verdicts import Figure, Like
from cambrian.stacks import registry, releases
from cambrian.stacks.catalogue import Stack
from cambrian.study import hints
from cambrian.study.errors import StudyError

#: the built-in study that has the networks of all probes of a flow alone
PROBED = "fingerprint"


def probe_networks() -> dict[str, str]:
    """The probes that `cambrian bisect` takes in a study's place → the pattern of their networks."""
    return {
        probe.name: pattern
        for probe in probes()
        if probe.flows == 1 and probe.page is None
        for pattern in probe.networks
    }


@dataclass(frozen=True)
class Ends:
    """The releases that others are compared with; ``between`` are all from the older to the newer one."""

    good: str
    bad: str
    between: tuple[str, ...]

    @property
    def older_is_good(self) -> bool:
        """Did the behaviour change from good to bad, and not the other way?"""
        return self.between[0] == self.good


@dataclass(frozen=True)
class Tried:
    """One release: whose behaviour it has (None: it could not be tested), and its figure, or why not.

    ``nearer``: as in :class:`cambrian.releases.verdicts.Verdict`.
    """

    release: str
    like: Like | None
    shows: str
    same_packets: str = ""
    nearer: str = ""

    @property
    def words(self) -> str:
        """Whose behaviour, in words."""
        return f"neither, nearer to {self.nearer}" if self.nearer else self.like or "skipped"


@dataclass
class Result:
    """``change``: where the behaviour changed, as releases of ``ends.between``.

    ``is_clear``: the pair itself differs in the figure, and not only from the ends.
    """

    ends: Ends
    figure: Figure
    #: the figure at good and bad, in words
    good_shows: str
    bad_shows: str
    others: str = ""
    tried: list[Tried] = field(default_factory=list)
    change: Range | None = None
    is_clear: bool = True

    @property
    def pair(self) -> tuple[str, str]:
        """The last release with the old behaviour, and the first tested one without it."""
        assert self.change is not None
        return self.ends.between[self.change.last_old], self.ends.between[self.change.first_new]

    @property
    def skipped(self) -> list[str]:
        """Releases between the pair, which could not be tested."""
        assert self.change is not None
        return [self.ends.between[place] for place in self.change.skipped]


def ends_of(stack: Stack, good: str, bad: str) -> Ends:
    """The releases from ``good`` to ``bad``, in the order of their versions, without pre-releases between.

    Raises:
        StudyError: one is no release of the stack, or there is none between them.
    """
    known = {one.version: one for one in registry.listed(stack)}
    for key, version in (("--good", good), ("--bad", bad)):
        if version not in known:
            remedy = hints.for_name(version, known, f"releases of {registry.package(stack)} are")
            raise StudyError(file=stack.name, key=key, problem=f"no release {version}", remedy=remedy)
    if good == bad:
        remedy = "give two releases"
        raise StudyError(file=stack.name, key="--bad", problem=f"{bad} is the good release", remedy=remedy)
    older, newer = releases.ordered([good, bad])
    listed = list(known)
    inside = listed[listed.index(older) + 1 : listed.index(newer)]
    between = [one for one in inside if not known[one].yanked and releases.matches("*", one)]
    return Ends(good, bad, (older, *between, newer))


def run(bench: Bench, ends: Ends, figure: str | None, console: Console) -> Result:
    """Find the change between the ends of ``figure`` (None: the figure that differs most).

    Raises:
        StudyError: an end does not build or has invalid trials, or nothing differs clearly between the ends.
        Errors of :meth:`Bench.measure`.
    """
    for end in (ends.good, ends.bad):
        _end(bench, end, console)
    snapshots = bench.measure([ends.good, ends.bad], console)
    for end in (ends.good, ends.bad):
        if why := invalid(snapshots[end]):
            raise _no_end(bench, end, why)
    result = _question(bench, ends, snapshots[ends.good], snapshots[ends.bad], figure)
    between = ends.between
    most = search.most_tests(len(between))
    shown = f"{result.figure}: good {result.good_shows}, bad {result.bad_shows}"
    left = f"{len(between) - 2} releases between, at most {most} to test"
    console.print(f"{shown}; {left}", markup=False, highlight=False)
    known: dict[int, State] = {}
    for place in _places(len(between), known):
        tried = _try(bench, between[place], result.figure, ends, snapshots, console)
        result.tried.append(tried)
        known[place] = state(tried, older_is_good=ends.older_is_good)
        line = f"{tried.release}: {tried.words}: {tried.shows}"
        console.print(line, markup=False, highlight=False)
    result.change = search.narrowed(len(between), known)
    last, first = result.pair
    result.is_clear = verdicts.differ(result.figure, snapshots[last], snapshots[first])
    return result


def _places(count: int, known: dict[int, State]) -> Iterator[int]:
    while (place := search.next_place(count, known)) is not None:
        yield place


def state(tried: Tried, *, older_is_good: bool) -> State:
    """What a release says about where the change lies.

    A release that is like neither end counts as the nearer one: among many releases with few seeds, one of
    the same behaviour differs from its own end by chance. Without a nearer end (a kind, not a number) the old
    behaviour has ended.
    """
    if tried.like in (None, "unclear"):
        return "skipped"
    end = tried.nearer if tried.like == "neither" else tried.like
    return "old" if end == ("good" if older_is_good else "bad") else "new"


def _end(bench: Bench, release: str, console: Console) -> None:
    console.print(f"{bench.contestant(release)}", markup=False, highlight=False)
    if why := ready.why_not(releases.joined(bench.stack, release), bench.cca):
        raise _no_end(bench, release, why)


def _no_end(bench: Bench, release: str, why: str) -> StudyError:
    remedy = f"choose another one: cambrian stacks versions {bench.stack}"
    return StudyError(file=bench.contestant(release), problem=why, remedy=remedy)


def _question(bench: Bench, ends: Ends, good: Snapshot, bad: Snapshot, figure: str | None) -> Result:
    """The figure to follow, which differs clearly between the ends."""
    found = verdicts.compared(good, bad)
    clear = verdicts.clear(found, figure)
    if not clear:
        here = [one for one in found.figures if figure in (None, one.name)]
        shown = verdicts.names(here[:5]) or "there is no such figure"
        reasons = list(dict.fromkeys(one.why for one in here[:5] if one.why))
        subject = f"{figure} does not differ" if figure else "nothing differs"
        raise StudyError(
            file=f"{bench.contestant(ends.good)} and {ends.bad}",
            problem=f"{subject} clearly by the rule of cambrian gate: {'; '.join([shown, *reasons])}",
            remedy=_clearer(reasons, verdicts.names(found.different[:5])),
        )
    one = clear[0]
    others = verdicts.names(verdicts.clear(found, None)[:6])
    return Result(ends, Figure(one.name, one.place), one.before, one.after, others)


def _clearer(reasons: Sequence[str], others: str) -> str:
    """What may make a figure differ clearly. ``others``: figures that do."""
    remedies = [f"ask for a figure that does: {others}"] if others else []
    if UNCONFIRMED in reasons:
        remedies.append("let a second network show it, or give this one random losses, so that seeds differ")
    return "; or ".join(remedies) or "give more --seeds, or another study"


def _try(
    bench: Bench,
    release: str,
    figure: Figure,
    ends: Ends,
    snapshots: dict[str, Snapshot],
    console: Console,
) -> Tried:
    """Measure a release into ``snapshots``, which has the ends, and say whose behaviour it has."""
    if why := ready.why_not(releases.joined(bench.stack, release), bench.cca):
        return Tried(release, None, why)
    tried = bench.measure([ends.good, ends.bad, release], console)[release]
    if why := invalid(tried):
        return Tried(release, None, why)
    snapshots[release] = tried
    verdict = verdicts.judge(figure, snapshots[ends.good], snapshots[ends.bad], tried)
    return Tried(release, verdict.like, verdict.shows, verdict.same_packets, verdict.nearer)
