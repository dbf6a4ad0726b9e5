"""Turns a study into groups of trials: for each seed, one trial in every order of the flows.

The seeds and the start offsets are the same in every group, so comparisons
between groups are paired.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from cambrian.study import draw
from cambrian.study.errors import StudyError
from cambrian.study.limits import MOST_TRIALS
from cambrian.study.model import (
    Clock,
    Contestant,
    Design,
    Flow,
    Group,
    Network,
    Page,
    Profile,
    Study,
    Trial,
    clock_problem,
)
from cambrian.study.naming import matches, slug
from cambrian.study.reference import ReferenceOf, reference_contestant

#: name of the reference where it is judged like a contestant
PLACEBO = "placebo"
_LARGEST_SEED = 2**63 - 1
_Thing = TypeVar("_Thing", bound="_Named")


def expand(
    study: Study,
    *,
    profile: str | None = None,
    seed_base: int = 1,
    reference_of: ReferenceOf,
    clock: Clock = "virtual",
    only: str | None = None,
) -> list[Group]:
    """All groups of ``study``, in the order of its file: networks, then contestants.

    Each group has the seeds ``seed_base``, ``seed_base + 1``… (with ``[stopping]``, ``max_seeds`` of them),
    and for each seed one trial in every order of its flows (:func:`cambrian.study.draw.orders`).
    ``profile`` is ``"quick"``, ``"full"`` or None for the study as written;
    ``"full"`` equals None if the study has no such profile. ``only`` selects
    groups (see :func:`select`).

    Raises:
        StudyError: the study lacks the profile, a seed is outside [0, 2^63), a
            contestant of a ``versus-reference`` study has no reference, a slow CPU
            is used on a real clock, ``only`` matches no group, or the study has too many trials.
    """
    study = with_profile(study, profile)
    seeds = study.stopping.max_seeds if study.stopping else study.seeds
    if not 0 <= seed_base <= _LARGEST_SEED - seeds:
        remedy = f"give a whole number from 0 to {_LARGEST_SEED - seeds:,}"
        raise StudyError(file=study.name, key="--seed", problem=f"{seed_base} is not possible", remedy=remedy)
    everyone = [*study.contestants, *(flow.contestant for flow in study.every_flow)]
    slow = any(contestant.receiver_cpu for contestant in everyone)
    trace = any(network.trace_file for network in study.networks)
    loads = study.page_load is not None or any(flow.page for flow in study.every_flow)
    problem = clock_problem(clock, slow_receiver=slow, trace=trace, page=loads)
    if problem:
        other = "" if slow else " (or give --clock real)"
        loading = "[page_load]" if study.page_load else "page"
        what = "receiver_cpu" if slow else "trace_file" if trace else loading
        remedy = f"remove --clock{other}, or remove {what} from the study"
        raise StudyError(file=study.name, key="--clock", problem=problem, remedy=remedy)
    line_ups = _line_ups(study, reference_of)
    _check_size(study, line_ups, seeds)
    groups = []
    for network in study.networks:
        for line_up, page in itertools.product(line_ups, _pages(study)):
            flows = _loading(line_up.flows, study, page)
            orders = _orders(study, line_up)
            trials = tuple(
                _trial(study, network, flows, seed_base + index, positions, clock)
                for index in range(seeds)
                for positions in orders
            )
            groups.append(
                Group(
                    key="/".join([network.name, line_up.key, *([page.name] if page else [])]),
                    design=line_up.design,
                    network=network.name,
                    subject=line_up.subject,
                    reference=line_up.reference,
                    trials=trials,
                    orders=len(orders),
                    page=page.name if page else None,
                    stopping=study.stopping,
                    measured_from_s=study.measured_from_s,
                    placebo=line_up.first_position > 0,
                )
            )
    return select(groups, only) if only is not None else groups


def _check_size(study: Study, line_ups: Sequence[_LineUp], seeds: int) -> None:
    """Refuse a study with too many trials, before there are so many objects."""
    orders = sum(_number_of_orders(study, line_up) for line_up in line_ups)
    trials = len(study.networks) * orders * len(_pages(study)) * seeds
    if trials > MOST_TRIALS:
        problem = (
            f"{trials:,} trials ({len(study.networks):,} networks, {seeds:,} seeds); "
            f"a study can have {MOST_TRIALS:,}"
        )
        remedy = "give fewer networks, contestants or seeds, or divide the study"
        raise StudyError(file=study.name, problem=problem, remedy=remedy)


def with_profile(study: Study, profile: str | None) -> Study:
    """``study`` with the changes of ``profile``: seeds, duration, a selection of what it runs.

    A profile with ``seeds`` disables the study's ``[stopping]``.

    Raises:
        StudyError: ``profile`` is unknown, or the study has no ``"quick"`` profile.
    """
    if profile is None:
        return study
    if profile not in ("quick", "full"):
        problem = f"unknown profile {profile}"
        raise StudyError(file=study.name, key="--profile", problem=problem, remedy="give quick or full")
    changes = {str(name): changes for name, changes in study.profiles.items()}.get(profile)
    if changes is None:
        if profile == "full":
            return study
        raise StudyError(
            file=study.name,
            key="--profile",
            problem="the study has no quick profile",
            remedy="remove --profile, or add to the study: [profile.quick] with seeds = 2",
        )
    return _changed(study, changes)


def select(groups: Sequence[Group], pattern: str) -> list[Group]:
    """The groups whose key or contestant matches ``pattern`` (shell style: ``*``, ``?``, ``[]``).

    Commas separate patterns; a group is kept if one of them matches. A name in full matches itself,
    whatever characters it has.

    In a ``versus-reference`` study only the contestant under test is matched, and each kept
    group also keeps its noise floor and its placebo.

    Raises:
        StudyError: no group matches.
    """
    patterns = _patterns(pattern, {name for group in groups for name in _names(group)})
    kept = [
        group for group in groups if any(matches(name, one) for name in _names(group) for one in patterns)
    ]
    if not kept:
        raise StudyError(
            file="--only",
            key=pattern,
            problem=f"no match among {len(groups)} groups",
            remedy="give a pattern for a key or a contestant: " + ", ".join(_examples(groups)),
        )
    keys = {group.key for group in kept}
    floors = {(group.network, group.reference) for group in kept if group.design == "versus-reference"}
    return [
        group
        for group in groups
        if group.key in keys or (_is_control(group) and (group.network, group.reference) in floors)
    ]


def _changed(study: Study, changes: Profile) -> Study:
    update: dict[str, object] = {}
    if changes.seeds is not None:
        update |= {"seeds": changes.seeds, "stopping": None}
    if changes.duration_s is not None:
        update["duration_s"] = changes.duration_s
    update["networks"] = _kept(study.networks, changes.networks)
    update["contestants"] = _kept(study.contestants, changes.contestants)
    update["lineups"] = _kept(study.lineups, changes.lineups)
    if study.page_load is not None:
        pages = _kept(study.page_load.pages, changes.pages)
        update["page_load"] = study.page_load.model_copy(update={"pages": pages})
    return study.model_copy(update=update)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def _kept(things: tuple[_Thing, ...], patterns: Sequence[str] | None) -> tuple[_Thing, ...]:
    """The things whose name matches a pattern; all of them without patterns."""
    if patterns is None:
        return things
    return tuple(thing for thing in things if any(matches(thing.name, pattern) for pattern in patterns))


@dataclass(frozen=True)
class _LineUp:
    """The flows of a group; ``key`` is the second half of the group's key.

    ``counts``: number of flows of each entry of the study (empty: one each).
    ``first_position``: position of flow 0 in the testbed; the other flows follow it.
    """

    key: str
    design: Design
    subject: str
    reference: str | None
    flows: tuple[Flow, ...]
    counts: tuple[int, ...] = ()
    first_position: int = 0


def _line_ups(study: Study, reference_of: ReferenceOf) -> list[_LineUp]:
    """The line-ups that run on each network."""
    players = study.contestants
    if study.design == "solo":
        return [_meeting("solo", player) for player in players]
    if study.design == "pairwise":
        alone = players if study.solo else ()
        pairs = itertools.combinations_with_replacement(players, 2)
        return [
            *(_meeting("solo", player) for player in alone),
            *(_meeting("pairwise", *pair) for pair in pairs),
            *(_placebo("pairwise", player) for player in _placebo_references(study)),
        ]
    if study.design == "versus-reference":
        return _versus_reference(study, reference_of)
    if study.lineups:
        return [
            _LineUp(lineup.name, "flows", lineup.name, None, lineup.flows, lineup.counts)
            for lineup in study.lineups
        ]
    names = [flow.contestant.name for flow in study.flows]
    return [_LineUp("flows", "flows", " + ".join(names), None, study.flows, study.counts)]


def _versus_reference(study: Study, reference_of: ReferenceOf) -> list[_LineUp]:
    """Each reference against itself, then against its placebo, then each contestant against its reference."""
    references = [_reference(study, player, reference_of) for player in study.contestants]
    distinct = [
        reference for index, reference in enumerate(references) if reference not in references[:index]
    ]
    floors = [_meeting("versus-reference", reference, reference) for reference in distinct]
    arms = [
        _meeting("versus-reference", player, reference)
        for player, reference in zip(study.contestants, references, strict=True)
        if player != reference
    ]
    return floors + [_placebo("versus-reference", reference) for reference in distinct] + arms


def _placebo_references(study: Study) -> list[Contestant]:
    """The references that get a placebo in a ``pairwise`` study; none for pages, which have no harm."""
    kernel = [player for player in study.contestants if player == reference_contestant(player.cca)]
    return [] if study.page_load else kernel


def _placebo(design: Design, reference: Contestant) -> _LineUp:
    """The reference against itself, in the place of a contestant and under the placebo's name.

    It has other positions than the noise floor, so other start offsets and other random losses on
    the same seeds: a second sample of the same behaviour. A judge that accuses the placebo is wrong.
    """
    player = reference.model_copy(update={"label": f"{PLACEBO} ({reference.name})"})
    return replace(_meeting(design, player, reference), first_position=2)


def _reference(study: Study, player: Contestant, reference_of: ReferenceOf) -> Contestant:
    cca = reference_of(player.stack, player.cca)
    if cca is None:
        raise StudyError(
            file=study.name,
            key=player.name,
            problem="has no kernel reference",
            remedy='choose another CCA, or design = "solo" or "pairwise"',
        )
    return reference_contestant(cca)


def _meeting(design: Design, *players: Contestant) -> _LineUp:
    names = [player.name for player in players]
    reference = names[1] if len(names) > 1 else None
    flows = tuple(Flow(contestant=player) for player in players)
    return _LineUp("+".join(slug(name) for name in names), design, names[0], reference, flows)


def _pages(study: Study) -> Sequence[Page | None]:
    return study.page_load.pages if study.page_load else (None,)


def _loading(flows: tuple[Flow, ...], study: Study, page: Page | None) -> tuple[Flow, ...]:
    """The flows, each loading ``page``."""
    if page is None or study.page_load is None:
        return flows
    how = {"page": page, "client": study.page_load.client, "netlog": study.page_load.netlog}
    return tuple(flow.model_copy(update=how) for flow in flows)


def _number_of_orders(study: Study, line_up: _LineUp) -> int:
    """The length of :func:`_orders`."""
    if study.solo and len(line_up.flows) == 1:
        return 2
    starts_ms = [flow.start_ms for flow in line_up.flows]
    return draw.number_of_orders(starts_ms, study.start_spread_ms, line_up.counts)


def _orders(study: Study, line_up: _LineUp) -> list[tuple[int, ...]]:
    """Positions of the flows in each trial of a seed."""
    if study.solo and len(line_up.flows) == 1:
        # a pair is compared with each contestant alone at both positions of the pair
        return [(0,), (1,)]
    orders = draw.orders([flow.start_ms for flow in line_up.flows], study.start_spread_ms, line_up.counts)
    return [tuple(position + line_up.first_position for position in positions) for positions in orders]


def _trial(
    study: Study,
    network: Network,
    flows: tuple[Flow, ...],
    seed: int,
    positions: tuple[int, ...],
    clock: Clock,
) -> Trial:
    offsets_ms = [
        draw.start_offset_ms(study.name, seed, position, study.start_spread_ms) for position in positions
    ]
    started = tuple(
        flow.model_copy(update={"start_ms": flow.start_ms + offset_ms})
        for flow, offset_ms in zip(flows, offsets_ms, strict=True)
    )
    return Trial(
        network=network,
        flows=started,
        positions=positions,
        duration_s=study.duration_s,
        seed=seed,
        clock=clock,
        raw_capture=study.raw_capture,
    )


def _is_control(group: Group) -> bool:
    """Is this a noise floor or a placebo?"""
    return group.design == "versus-reference" and (group.placebo or group.subject == group.reference)


def _names(group: Group) -> set[str]:
    """What a pattern may match: the group's key, and the contestants under test."""
    if group.design == "versus-reference":
        return {group.key, group.subject}
    return {group.key, *(flow.contestant.name for flow in group.trials[0].flows)}


def _patterns(text: str, names: Collection[str]) -> list[str]:
    """The patterns that commas separate; a comma of a name in full separates none."""
    parts, found = text.split(","), []
    most = max(name.count(",") for name in names) + 1
    while parts:
        count = next((n for n in range(most, 1, -1) if ",".join(parts[:n]) in names), 1)
        found.append(",".join(parts[:count]))
        parts = parts[count:]
    return found


def _examples(groups: Iterable[Group]) -> list[str]:
    """A few keys and contestants that a pattern could match."""
    subjects = list(dict.fromkeys(group.subject for group in groups))
    keys = [group.key for group in groups]
    return [*keys[:2], *subjects[:6]]
