"""What one set of results says: packet hashes, verdicts, figures by seed, parameters and probes."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from cambrian.gate.quantities import MARGINS
from cambrian.measure import quantities
from cambrian.report.collect import lineup
from cambrian.report.evidence import Evidence
from cambrian.store.results import Results, TrialResult
from cambrian.study import hints, identity
from cambrian.study.errors import StudyError
from cambrian.study.model import Contestant, Flow, Frozen, Network, Study, Trial
from cambrian.study.naming import slug

#: characters of a packet hash, and significant digits of a figure, in a snapshot
_HASH_DIGITS, _DIGITS = 16, 6
#: more software that decides a trial's bytes: its key in the manifest's environment → its name in a snapshot.
#: No stack has such a name: those have neither blanks nor capitals.
OF_HOST: Mapping[str, str] = {
    "native": "programs of the testbed",
    "python": "Python",
    "pyroute2": "Python's pyroute2",
    "browser": "web browser",
}
#: start of the text of a trial that is invalid, in place of its packet hash
INVALID = "invalid: "
#: start of a key in the text of conditions or settings
_ASKED = re.compile(r"(?:, )?(\w+) = ")


#: seed → a figure's mean over the seed's trials
BySeed = Annotated[dict[Annotated[str, Field(pattern=r"^[0-9]+$")], float], Field(min_length=1)]


class Parameter(Frozen):
    """A parameter's estimate with its 95 % interval, or its kind; ``status`` is its judgement.

    ``agreement``: of a kind, the share of events that are of it. ``source``: what it was measured from, such
    as the stack's window; None in a snapshot of an earlier version.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    label: str | None = None
    agreement: float | None = None
    trials: int
    events: int
    status: str
    source: str | None = None


class Probe(Frozen):
    """A probe's figure in its unit, its effect with its interval, and its state against kernel TCP.

    ``mine``: None in a snapshot of an earlier version. ``effect``: the ratio to kernel TCP's figure, or the
    distance from it or from a bound.
    """

    mine: float | None = None
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    state: str


class Place(Frozen):
    """One contestant on one network. ``values``: quantity → seed → mean over the seed's trials."""

    values: dict[str, BySeed] = Field(default_factory=dict)
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    probes: dict[str, Probe] = Field(default_factory=dict)

    @property
    def seeds(self) -> int:
        """The number of seeds, by the figure that has the most."""
        return max(map(len, self.values.values()), default=0)


class Snapshot(Frozen):
    """What one set of results says.

    ``contestant`` is None for all contestants of a store. ``made_with``: name → version of Cambrian, kernel,
    stacks and :data:`OF_HOST`, or all versions if trials differ; an earlier version has none of the last.
    ``conditions``: group of trials → network, duration and flows, in words. ``settings``: the same of what
    else the study asks for; a snapshot of an earlier version has none. ``packets``: trial's name → packet
    hash, or why it is invalid. ``verdicts``: part (or contestant) → verdict. ``places``: name → figures.
    ``groups``: name of a place → the groups of trials that its figures are of; a snapshot of an earlier
    version has none. ``stopped``: the groups that their stopping rule ended, with all trials that it asked
    for; a baseline has none.
    """

    contestant: str | None = None
    made_with: dict[str, str]
    conditions: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, str] = Field(default_factory=dict)
    packets: dict[str, str]
    verdicts: dict[str, str] = Field(default_factory=dict)
    places: dict[str, Place] = Field(default_factory=dict)
    groups: dict[str, list[str]] = Field(default_factory=dict)
    stopped: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Subject:
    """What a place is about: a contestant on a network; ``against`` is the rival beside it, or None.

    ``detail``: the page or the line-up, where the contestant has several on the network.
    """

    network: str
    contestant: str
    against: str | None = None
    detail: str = ""

    def place(self, part: str, *, alone: bool, rivals: int = 1) -> str:
        """The name of the place; ``alone``: the snapshot is of this contestant alone.

        Its only rival on a network goes unnamed then, so that it can be compared with another contestant
        and that one's rival. ``rivals``: their number; running without a rival counts as one.
        """
        who = "" if alone else f" {self.contestant}"
        beside = f" beside {self.against}" if self.against and (not alone or rivals > 1) else ""
        detail = f" {self.detail}" if self.detail else ""
        return _joined(part, f"{self.network}{who}{beside}{detail}")


def trials(
    parts: Mapping[str, Path], contestant: str | None = None
) -> Iterator[tuple[str, TrialResult | None]]:
    """Name and result of every trial of the parts (name → results folder); None if it has not run.

    Only the trials of one contestant, if it is given.

    A name is ``PART/GROUP seed N``, with ``order K`` if the seed has several trials. A part whose name is
    empty adds nothing to it.

    Raises:
        FileNotFoundError, Damaged: a folder holds no results, or a file cannot be used.
    """
    for part, folder in parts.items():
        results = Results(folder)
        for group in results.study()["groups"]:
            orders = int(group.get("orders", 1))
            for number, trial in enumerate(group["trials"]):
                result = results.checked(trial) if results.has(trial) else None
                # the trials of a group are seed after seed, each in all orders
                seed = result.manifest["trial"]["seed"] if result else f"#{number // orders + 1}"
                if result is not None and contestant is not None and not is_of(contestant, result):
                    continue
                order = f" order {number % orders + 1}" if orders > 1 else ""
                yield f"{_joined(part, group['key'])} seed {seed}{order}", result


def is_of(contestant: str, result: TrialResult) -> bool:
    """Is one of the trial's flows of this ``stack/cca``, or has it this name on pages, such as a label?"""
    return contestant in _contestants(result)


def _contestants(result: TrialResult) -> set[str]:
    return {name for flow in result.manifest["trial"]["flows"] for name in _called(flow["contestant"])}


def _called(contestant: Mapping[str, Any]) -> tuple[str, ...]:
    """The names by which a reader can ask for a contestant: ``stack/cca``, and the one that pages show."""
    return f"{contestant['stack']}/{contestant['cca']}", Contestant.model_validate(contestant).name


def packets_of(result: TrialResult) -> str:
    """A trial's packet hash, shortened; or ``invalid: `` and the reasons."""
    if not result.verdict["valid"]:
        return INVALID + "; ".join(result.verdict["reasons"])
    return str(result.manifest["packets_sha256"])[:_HASH_DIGITS]


def group_of(trial: str) -> str:
    """The group of a trial, by its name."""
    return trial.rpartition(" seed ")[0]


def conditions(result: TrialResult) -> str:
    """What a trial was asked for, apart from contestants, seed and starts: ``rate_mbps = 8, rtt_ms = 40``."""
    trial = Trial.model_validate(result.manifest["trial"])
    asked = _of_network(trial)
    if (trace := trial.network.trace_file) is not None:
        asked["trace_file"] = f"{Path(trace).name} {_trace_content(result, trial)}".strip()
    asked |= trial.model_dump(mode="json", include={"duration_s", "clock", "kernel_settings"})
    endless = kind_of_flow(None, None, trial.network.rtt_ms)
    kinds = [kind_of(flow, trial.network) for flow in trial.flows]
    if any(kind != endless for kind in kinds):
        asked["flows"] = kinds
    # a baseline of an earlier version has no zeros here: they are in settings
    return _in_words({key: value for key, value in asked.items() if value})


def _of_network(trial: Trial) -> dict[str, Any]:
    """What a trial asks of its network, apart from name and trace file."""
    return trial.network.model_dump(mode="json", exclude_defaults=True, exclude={"name", "trace_file"})


def _trace_content(result: TrialResult, trial: Trial) -> str:
    """The hash of the trial's trace file, shortened, or that its content is unknown; empty without a file."""
    path = Path(trial.network.trace_file or "")
    if not path.is_file():
        return ""
    if identity.trial_id(trial, result.manifest["environment"]) != result.id:
        return "of unknown content"
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def settings(study: Study, group: dict[str, Any], result: TrialResult) -> str:
    """What else a study asks: zeros of the network, the interval, starts, pages, contestants, their settings.

    ``group`` is from study.json. These count apart from :func:`conditions`, which earlier versions have too.
    """
    trial = Trial.model_validate(result.manifest["trial"])
    asked = {key: value for key, value in _of_network(trial).items() if not value}
    if study.measured_from_s is not None:
        asked["measured_from_s"] = study.measured_from_s
    if study.start_spread_ms:
        # the offsets of a seed follow from the study's name
        asked |= {"start_spread_ms": study.start_spread_ms, "study": study.name}
    flows_of_study = lineup(group, study)
    if any(starts_ms := [flow.start_ms for flow in flows_of_study]):
        asked["starts_ms"] = starts_ms
    # the name of another design's group has the contestants
    who = {"stack", "cca"} if flows_of_study else set()
    of_contestant = {"receiver", "receiver_cpu", "tls", "options"} | who
    include: Any = {"contestant": of_contestant, "page": {"objects"}, "client": True}
    flows = [flow.model_dump(mode="json", exclude_defaults=True, include=include) for flow in trial.flows]
    if any(flow != {"contestant": {}} for flow in flows):
        asked["flows"] = flows
    return _in_words(asked)


def asked(
    parts: Mapping[str, Path], listed: Iterable[tuple[str, TrialResult]]
) -> tuple[dict[str, str], dict[str, str]]:
    """``conditions`` and ``settings`` of :class:`Snapshot`, of these trials of the parts."""
    # the trials of a group differ in seed and starts alone
    one_of = {group_of(name): result for name, result in listed}
    found: dict[str, str] = {}
    for part, folder in parts.items():
        record = Results(folder).study()
        study = Study.model_validate(record["study"])
        for group in record["groups"]:
            if (result := one_of.get(key := _joined(part, group["key"]))) is not None:
                found[key] = settings(study, group, result)
    return {group: conditions(result) for group, result in one_of.items()}, found


def _in_words(asked: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {json.dumps(value, separators=(',', ':'))}" for key, value in asked.items())


def asked_in(words: str) -> dict[str, Any]:
    """Key → value of a text of conditions or settings; all under an empty key if it cannot be read."""
    found: dict[str, Any] = {}
    at = 0
    try:
        while match := _ASKED.match(words, at):
            found[match[1]], at = json.JSONDecoder().raw_decode(words, match.end())
    except json.JSONDecodeError:
        return {"": words}
    return found if at == len(words) else {"": words}


def software(results: Iterator[TrialResult]) -> dict[str, str]:
    """Name → version and hash of what made these trials: Cambrian, its testbed, the kernel, the stacks.

    And of what else decides their packets (:data:`OF_HOST`), such as the browser of page loads.
    What differs among the trials has all its values: ``0.11 HASH/HASH``, ``0.11/0.12 HASH/HASH``.
    """
    found: dict[str, list[dict[str, None]]] = {}
    for result in results:
        manifest = result.manifest
        parts = {
            "cambrian": [manifest["cambrian"]],
            "testbed": [manifest["environment"]["testbed"][:_HASH_DIGITS]],
            **{
                name: [one["version"], one["sha256"][:_HASH_DIGITS]]
                for name, one in {"kernel": manifest["kernel"], **manifest["stacks"]}.items()
                if name != "tcp"
            },
            # last: a page names the first few changes, and a stack's explains most
            **{
                name: _of_host(manifest["environment"][key])
                for key, name in OF_HOST.items()
                if key in manifest["environment"]
            },
        }
        for name, values in parts.items():
            for seen, value in zip(found.setdefault(name, [{} for _ in values]), values, strict=True):
                seen[str(value)] = None
    return {name: " ".join("/".join(sorted(seen)) for seen in parts) for name, parts in found.items()}


def _of_host(text: str) -> list[str]:
    """The version and the shortened hash of one of :data:`OF_HOST`, or one of the two if it has no other."""
    version, _, last = text.rpartition(" ")
    return [version, last[:_HASH_DIGITS]] if version else [last[:_HASH_DIGITS]]


def mixed(stores: Sequence[Results]) -> dict[str, dict[str, list[Path]]]:
    """What differs in the software of these results: name → its versions → the folders that have them."""
    found: dict[str, dict[str, list[Path]]] = {}
    for results in stores:
        names = dict.fromkeys(name for group in results.study()["groups"] for name in group["trials"])
        made = software(results.trial(name) for name in names if results.has(name))
        for name, versions in made.items():
            found.setdefault(name, {}).setdefault(versions, []).append(results.folder)

    def is_one(where: Mapping[str, object]) -> bool:
        # of several builds the hashes, at the end, are joined by a slash
        return len(where) == 1 and "/" not in next(iter(where)).rpartition(" ")[2]

    return {name: where for name, where in found.items() if not is_one(where)}


def take(parts: Mapping[str, Path], contestant: str | None = None) -> Snapshot:
    """Measure the trials of the parts (name → results folder), of one contestant or of all.

    For one contestant the places are named ``PART/NETWORK``, for all ``PART/NETWORK CONTESTANT``, with
    `` beside RIVAL`` in trials of two flows (of one contestant: if it has several rivals on the network), and
    with the page or line-up if it has several. If a part has one contestant under several names, as with
    labels or receivers, the places of all but the plain name have the name too.

    Raises:
        FileNotFoundError, Damaged: a folder holds no results, or a file cannot be used.
        StudyError: there is no trial of the contestant.
    """
    listed = [(name, result) for name, result in trials(parts, contestant) if result is not None]
    if contestant is not None and not listed:
        everyone = {
            name for _, result in trials(parts) if result is not None for name in _contestants(result)
        }
        where = ", ".join(map(str, parts.values()))
        # a plain name differs from stack/cca by its blank alone
        listed_once = sorted(name for name in everyone if name.replace(" ", "/", 1) not in everyone - {name})
        remedy = hints.for_name(contestant, listed_once, "its contestants are")
        raise StudyError(file=where, key=contestant, problem="no trial of this contestant", remedy=remedy)
    of_conditions, of_settings = asked(parts, listed)
    stopped: set[str] = set()
    verdicts: dict[str, str] = {}
    places: dict[str, dict[str, dict[str, Any]]] = {}
    groups: dict[str, set[str]] = {}
    for part, folder in parts.items():
        mine = names(contestant, folder)
        results = Results(folder)
        for group in results.study()["groups"]:
            key = _joined(part, group["key"])
            if (group.get("stopping") or {}).get("stopped") and all(map(results.has, group["trials"])):
                stopped.add(key)
        evidence = Evidence(folder.absolute())
        evidence.measure()
        frame = evidence.frame()
        if frame is None:
            continue
        homes: dict[tuple[str, str], str] = {}
        for name, quantity, seed, value, group, who in _values(frame, part, mine):
            homes.setdefault((group, who), name)
            place = places.setdefault(name, {})
            place.setdefault("values", {}).setdefault(quantity, {})[seed] = value
            groups.setdefault(name, set()).add(_joined(part, group))
        tables = evidence.tables()
        for kind, rows in (("parameters", _parameters), ("probes", partial(_probes, homes=homes))):
            table = tables.get(kind)
            for name, key, row in rows(table, part, mine) if table is not None else ():
                places.setdefault(name, {}).setdefault(kind, {})[key] = row
        for name, group in _whole_groups(frame, part, mine):
            groups.setdefault(name, set()).add(_joined(part, group))
        judged = tables.get("verdicts")
        for row in judged.to_dicts() if judged is not None else ():
            if mine is None or row["contestant"] in mine.found:
                unnamed = mine is not None and mine.place_without(row["contestant"])
                verdicts[part if unnamed else _joined(part, row["contestant"])] = row["verdict"]
    return Snapshot(
        contestant=contestant,
        made_with=software(result for _, result in listed),
        conditions=of_conditions,
        settings=of_settings,
        stopped=frozenset(stopped),
        packets={name: packets_of(result) for name, result in listed},
        verdicts=verdicts,
        places={name: Place.model_validate(place) for name, place in sorted(places.items())},
        groups={name: sorted(groups.get(name, ())) for name in sorted(places)},
    )


def renamed(before: Snapshot, contestant: str) -> Snapshot:
    """A contestant's snapshot with its trials named as those of another one, to compare the two."""
    assert before.contestant is not None
    named = {
        field: {renamed_trial(name, before.contestant, contestant): text for name, text in texts.items()}
        for field, texts in (("packets", before.packets), ("conditions", before.conditions))
    }
    groups = {
        place: [renamed_trial(group, before.contestant, contestant) for group in those]
        for place, those in before.groups.items()
    }
    # options of one contestant are no settings of the other
    return before.model_copy(update={**named, "groups": groups, "settings": {}})


def renamed_trial(name: str, old: str, new: str) -> str:
    """The name that a trial, or a group of trials, has for the contestant ``new`` in the place of ``old``."""
    return re.sub(rf"(?<=[/+]){re.escape(slug(old))}(?=[ +/]|$)", slug(new), name)


@dataclass(frozen=True)
class Names:
    """The names of one ``stack/cca`` in a part: the plain one, and all that occur, as labels do."""

    plain: str
    found: frozenset[str]

    def place_without(self, name: str) -> bool:
        """Do the places of this name go without it? So two contestants' places can be compared."""
        return name == self.plain or len(self.found) == 1


def names(contestant: str | None, folder: Path) -> Names | None:
    """The names of a contestant in a part; None for all contestants."""
    if contestant is None:
        return None
    found = (result for _, result in trials({"": folder}, contestant) if result is not None)
    flows = (flow["contestant"] for result in found for flow in result.manifest["trial"]["flows"])
    mine = [flow for flow in flows if contestant in _called(flow)]
    shown = frozenset(Contestant.model_validate(one).name for one in mine)
    return Names(contestant if contestant in shown else contestant.replace("/", " "), shown)


def check_one_name(contestant: str, folder: Path) -> None:
    """Check that a contestant has one name in a folder, so that it can be compared with another contestant.

    Raises:
        StudyError: several contestants have this stack and controller, as with labels.
    """
    found = names(contestant, folder)
    if found is not None and len(found.found) > 1:
        raise StudyError(
            file=str(folder),
            key=contestant,
            problem=f"{len(found.found)} contestants have this stack and controller",
            remedy=f"give one name: {', '.join(sorted(found.found))}",
        )


def detail(group: str, kind: str, *, groups: int, kinds: int) -> str:
    """What distinguishes a place from others of the same contestants; empty if there is no other.

    That is the page or line-up if the contestants have several ``groups`` of trials, and the ``kind`` of flow
    if the contestant has several ``kinds`` in the group.
    """
    return " ".join([group.rpartition("/")[2]] * (groups > 1) + [kind] * (kinds > 1))


def kind_of_flow(size_bytes: int | None, page: str | None, rtt_ms: float) -> str:
    """The kind of a flow in a line-up, such as "2000000 bytes 40 ms"; flows of one kind share figures."""
    what = f"page {page}" if page else f"{size_bytes} bytes" if size_bytes else "endless"
    return f"{what} {rtt_ms:g} ms"


def kind_of(flow: Flow, network: Network) -> str:
    """The kind of a study's flow on a network."""
    page = flow.page.name if flow.page else None
    return kind_of_flow(flow.size_bytes, page, flow.base_rtt_ms(network))


def _values(
    frame: pl.DataFrame, part: str, names: Names | None
) -> Iterator[tuple[str, str, str, float, str, str]]:
    """(Place, quantity, seed, mean over its trials, group, contestant) of every quantity with a margin."""
    mine = frame.filter(~pl.col("placebo"))
    if names is not None:
        mine = mine.filter(pl.col("contestant").is_in(list(names.found)))
    figures = [name for name in MARGINS if name in frame.columns]
    rivals = dict(mine.group_by("network").agg(pl.col("against").n_unique()).iter_rows())
    kinds = [kind_of_flow(*flow) for flow in mine.select("size_bytes", "page", "flow_rtt_ms").iter_rows()]
    mine = mine.with_columns(pl.Series("kind", kinds, dtype=pl.String))
    same = ["network", "contestant", "against"]
    groups, of_group = _counts(mine, same, "group"), _counts(mine, [*same, "group"], "kind")
    seed = [*same, "group", "kind", "seed"]
    complete = [name for name in figures if quantities.ALL[name].of_complete]
    others = [name for name in figures if not quantities.ALL[name].of_complete]
    # the mean over some orders of a seed would depend on the order, and that of some downloads on which end
    by_trial = mine.group_by([*seed, "trial"], maintain_order=True).agg(
        pl.col(others).mean(), _whole_mean(complete)
    )
    for row in by_trial.group_by(seed, maintain_order=True).agg(_whole_mean(figures)).sort("seed").to_dicts():
        who = tuple(row[name] for name in same)
        several = {"groups": groups[who], "kinds": of_group[*who, row["group"]]}
        place = _place(part, row, names, rivals[row["network"]], detail(row["group"], row["kind"], **several))
        following = _following(row, several["kinds"])
        for name in figures:
            if name not in following and (value := _rounded(row[name])) is not None:
                yield place, name, str(row["seed"]), value, row["group"], row["contestant"]


def _whole_groups(frame: pl.DataFrame, part: str, names: Names | None) -> Iterator[tuple[str, str]]:
    """(Place, group) of the places of parameters and probes, which are of a contestant on a network."""
    rows = frame.select("network", "contestant", "group").unique(maintain_order=True)
    for row in rows.to_dicts():
        if names is None or row["contestant"] in names.found:
            yield _place(part, row, names), row["group"]


def _following(row: Mapping[str, Any], kinds: int) -> set[str]:
    """The quantities of the row that follow from others.

    Alone, or beside a flow of its own contestant and kind, a flow's mean share is a constant. Beside another
    rival the throughput follows from the share, if there is one. The fetch time of a page is its load time.
    """
    found = {"fetch_s"} if row.get("plt_ms") is not None else set()
    if row["against"] is None or (row["against"] == row["contestant"] and kinds == 1):
        return found | {"share_percent"}
    return found | {"throughput_mbps"} if row.get("share_percent") is not None else found


def _counts(frame: pl.DataFrame, keys: list[str], counted: str) -> dict[tuple[Any, ...], int]:
    """Values of ``keys`` → number of different values of ``counted``."""
    return {
        tuple(key): count for *key, count in frame.group_by(keys).agg(pl.col(counted).n_unique()).iter_rows()
    }


def _whole_mean(figures: list[str]) -> pl.Expr:
    """The means of the columns; null where a row has no value."""
    return pl.when(pl.col(figures).null_count() == 0).then(pl.col(figures).mean())


def _parameters(
    table: pl.DataFrame, part: str, names: Names | None
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for row in table.filter(pl.col("status").is_not_null()).to_dicts():
        if names is None or row["contestant"] in names.found:
            figures = {key: _rounded(row[key]) for key in ("value", "low", "high")}
            kept = {key: row[key] for key in ("label", "trials", "events", "status", "source")}
            if row["label"] is not None:
                kept["agreement"] = _rounded(row["agreement"])
            yield _place(part, row, names), row["parameter"], figures | kept


def _probes(
    table: pl.DataFrame, part: str, names: Names | None, homes: Mapping[tuple[str, str], str]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(Place, probe, figures). A probe is of one group of trials; several on a network have several places.

    ``homes``: (group, contestant) → the place of its figures by seed.
    """
    # of all groups: the place must not depend on which of them have a figure
    groups = _counts(table, ["network", "contestant"], "group")
    for row in table.filter(pl.col("state").is_not_null()).to_dicts():
        who = row["contestant"]
        if names is None or who in names.found:
            figures = {key: _rounded(row[key]) for key in ("mine", "effect", "low", "high")}
            place = homes.get((row["group"], who)) if groups[row["network"], who] > 1 else None
            yield place or _place(part, row, names), row["probe"], figures | {"state": row["state"]}


def _place(part: str, row: Mapping[str, Any], names: Names | None, rivals: int = 1, detail: str = "") -> str:
    subject = Subject(row["network"], row["contestant"], row.get("against"), detail)
    return subject.place(
        part, alone=names is not None and names.place_without(row["contestant"]), rivals=rivals
    )


def _joined(part: str, name: str) -> str:
    return f"{part}/{name}" if part else name


def _rounded(value: float | None) -> float | None:
    """``value`` with few digits; None for NaN and infinities."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{_DIGITS}g}")
