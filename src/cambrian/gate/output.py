"""Print what a comparison found: a table, Markdown, JSON, JUnit XML, and annotations of GitHub Actions."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Column, Table

from cambrian.gate.carry_out import STUDIES, Outcome, Result
from cambrian.gate.differences import MEASURED, ONLY_IN_ONE, Compared, Difference, SettledBy
from cambrian.gate.snapshot import INVALID, OF_HOST, asked_in
from cambrian.markdown import plain, table_lines
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.stats.jackknife import FEWEST_SEEDS

#: characters that XML 1.0 cannot have, such as the colours of a program's log, or a path that is not UTF-8
_NO_XML = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
#: software that moves packets of a stack that did not change → what to call it
_NO_STACKS: Mapping[str, str] = {
    "testbed": "the testbed",
    "kernel": "the testbed",
    **dict.fromkeys(OF_HOST.values(), "the testbed"),
    OF_HOST["browser"]: "the browser",
}
#: most figures that a table shows
_MOST = 25
#: most settings that one line names on each side
_MOST_ITEMS = 5
#: where a setting stands: its key with ``[]`` for the outermost list, and its number there, as of a flow
_Leaf = tuple[str, int | None]
_HEADLINES: dict[Outcome, str] = {
    "unchanged": "unchanged: every trial sent the same packets as the baseline's",
    "equivalent": "equivalent: packets differ, but no figure is different or looks different",
    "better": "better: figures changed, all of them towards the standard or the kernel",
    "different": "different: figures changed by more than their margin",
    "not judged": "not judged: a figure looks different without proof, or trials or figures are missing",
}
_REMEDIES: dict[Outcome, str] = {
    "unchanged": "",
    "equivalent": "To compare packets again from now on, update the baseline: cambrian gate {gate} --update",
    "better": "To keep it, update the baseline: cambrian gate {gate} --update",
    "different": "If this is intended, update the baseline and commit it: cambrian gate {gate} --update",
    "not judged": "",
}
#: what may settle a figure that looks different
_SETTLED: dict[SettledBy, str] = {
    "seeds": "More seeds may settle it: raise seeds in {files}, "
    "and make the baseline again with the old stack",
    "seed": "One seed is far from all others: look at its trial. A stack that did not change shows this, "
    "too, if it stalls in few of its seeds. To accept it: cambrian gate {gate} --update",
    "network": "No seed settles a parameter that too few differing trials show: "
    "let a second network show it, or give its network random losses",
    "baseline": "The baseline cannot judge a figure that is bad now: if an earlier version of Cambrian made "
    "it, make it again with the old stack. To accept the change: cambrian gate {gate} --update",
    "source": "A figure is measured from the stack's log on one side, and from packets on the other: let the "
    "stack log its window as before. To accept the change: cambrian gate {gate} --update",
    "figure": "No seed settles a figure that is missing now: find out why this stack no longer shows it",
}
#: what remains inconclusive with any number of seeds
_NOT_BY_SEEDS: frozenset[SettledBy] = frozenset({"network", "source"})


def headline(result: Result) -> str:
    """The outcome in one sentence."""
    if result.compared is None and not result.errors:
        return "baseline written; there was none to compare with"
    if result.outcome == "unchanged" and not result.all_seeds:
        return "unchanged: the first seeds of every network sent the same packets as the baseline's"
    if _other_study(result):
        return "not judged: the study is not that of the baseline"
    return _HEADLINES[result.outcome]


def _other_study(result: Result) -> list[str]:
    """How the study differs from the baseline's, if the gate is not judged for that reason."""
    if result.compared is None or result.outcome != "not judged":
        return []
    return list(_other_settings(result.compared))


def remedy(result: Result) -> str:
    """What to do now; empty if there is nothing to do."""
    if result.compared is None:
        return ""
    if _other_study(result):
        return f"Restore the studies of {result.gate.path}, or make the baseline again with the old stack"
    if result.outcome == "not judged":
        return "\n".join(_remedies(result, result.compared))
    return _REMEDIES[result.outcome].format(gate=shlex.quote(str(result.gate.path)))


def _remedies(result: Result, compared: Compared) -> Iterator[str]:
    """What to do about each cause for which a gate is not judged."""
    lost = compared.lost.values()
    if any(why.startswith(INVALID) for why in lost):
        yield "No seed settles an invalid trial: repair what its reason names, in the stack or in the study"
    if result.errors:
        yield "Some trials could not run: remove the cause, and run the gate again"
    elif any(not why.startswith(INVALID) for why in lost):
        yield (
            f"The baseline has trials that did not run: restore the studies of {result.gate.path}, "
            "or make the baseline again with the old stack"
        )
    causes = {one.settled_by for one in compared.doubtful} | ({"figure"} if compared.gaps else set())
    files = " and ".join(_files_of_seeds(result, compared))
    for cause, text in _SETTLED.items():
        if cause in causes:
            yield text.format(files=files, gate=shlex.quote(str(result.gate.path)))


def _files_of_seeds(result: Result, compared: Compared) -> list[str]:
    """The files that say how many seeds the figures in doubt have: the gate, or a study beside it."""
    gate = result.gate
    beside = {Path(name).stem: gate.path.parent / name for name in gate.file.studies if name not in STUDIES}
    parts = (one.place.partition("/")[0] for one in compared.doubtful if one.settled_by == "seeds")
    return sorted({str(beside.get(part, gate.path)) for part in parts})


def shown(compared: Compared) -> list[Difference]:
    """The figures that a table shows: what is different or looks so, the most important first."""
    return [one for one in compared.figures if one.state == "different" or one.looks][:_MOST]


def notes(compared: Compared) -> Iterator[str]:
    """Sentences on the whole comparison."""
    yield from islice(_other_settings(compared), _MOST)
    trials = "trial" if compared.same == 1 else "trials"
    yield f"{compared.same} {trials} sent the same packets, {compared.changed} others"
    if compared.figures:
        counts = ", ".join(
            f"{compared.count(state)} {state}" for state in ("different", "equivalent", "inconclusive")
        )
        yield f"{len(compared.figures)} figures: {counts} ({len(compared.doubtful)} look different)"
    for text in compared.gaps[:_MOST]:
        yield f"without a figure now: {text}"
    if compared.missing:
        yield f"figures that are missing now: {len(compared.missing)}, such as {compared.missing[0]}"
    yield from _not_in_both(compared)
    for name, before, after in compared.verdicts:
        yield f"verdict{f', {name}' if name else ''}: {before} → {after}"
    for name, before, after in compared.software:
        yield f"software, {name}: {before} → {after}"
    if text := other_causes(compared):
        yield text


def other_causes(compared: Compared) -> str:
    """That packets may differ although no stack changed; empty if only stacks changed."""
    others = {_NO_STACKS[name] for name, _, _ in compared.software if name in _NO_STACKS}
    verb = "differs" if len(others) == 1 else "differ"
    said = f"{' and '.join(sorted(others))} {verb} too, so packets may differ for that reason alone"
    return said if others else ""


def _other_settings(compared: Compared) -> Iterator[str]:
    for group, before, after in compared.conditions:
        yield f"the study is another one: {group}: {_other_items(before, after)}"


def _other_items(before: str, after: str) -> str:
    """The settings of two texts that differ."""
    old, new = (dict(_leaves(asked_in(text))) for text in (before, after))
    return f"{_only_in(old, new)} → {_only_in(new, old)}"


def _leaves(value: Any, key: str = "", number: int | None = None) -> Iterator[tuple[_Leaf, str]]:
    """(Place, JSON) of each value that holds no others, and of the length of each outermost list."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else name, number)
    elif isinstance(value, list) and number is None:
        yield (f"length of {key}", None), str(len(value))
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{key}[]", place)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{key}[{place}]", number)
    else:
        yield (key, number), json.dumps(value, ensure_ascii=False) if key else value


def _only_in(mine: Mapping[_Leaf, str], other: Mapping[_Leaf, str]) -> str:
    """The settings that the other lacks or has otherwise; equal ones of several flows are named together."""
    numbers: dict[tuple[str, str], list[int]] = {}
    for (key, number), text in mine.items():
        if other.get((key, number)) != text:
            numbers.setdefault((key, text), []).extend(() if number is None else (number,))
    items = [
        f"{key.replace('[]', f'[{_ranges(those)}]', 1)} = {text}" if key else text
        for (key, text), those in numbers.items()
    ]
    more = f" and {len(items) - _MOST_ITEMS} more" if len(items) > _MOST_ITEMS else ""
    return f"{', '.join(items[:_MOST_ITEMS])}{more}" or "nothing"


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in few characters: ``0-3, 7``."""
    starts = [one for one in numbers if one - 1 not in numbers]
    ends = [one for one in numbers if one + 1 not in numbers]
    return ", ".join(f"{a}-{b}" if a < b else f"{a}" for a, b in zip(starts, ends, strict=True))


def _not_in_both(compared: Compared) -> Iterator[str]:
    """Trials that only one of the two has."""
    if compared.figures and compared.lost and compared.unknown and not compared.same + compared.changed:
        yield (
            f"the two have no trial in common, such as with other seeds: {len(compared.lost)} trials before, "
            f"{len(compared.unknown)} now. Their figures are compared as those of independent seeds"
        )
        return
    reasons: dict[str, list[str]] = {}
    for trial, why in compared.lost.items():
        reasons.setdefault(why, []).append(trial)
    for why, trials in sorted(reasons.items(), key=lambda pair: -len(pair[1]))[:_MOST]:
        others = f" and {len(trials) - 1} more" if len(trials) > 1 else ""
        yield f"cannot be compared: {trials[0]}{others}: {why}"
    if compared.unknown:
        yield f"{len(compared.unknown)} trials did not run before, such as {compared.unknown[0]}"


def more_seeds(compared: Compared) -> str:
    """How more seeds may settle what two studies leave open; empty if seeds settle none of it."""
    undecided = [one for one in compared.figures if one.state == "inconclusive"]
    if not (open_ := [one for one in undecided if _needs_seeds(one)]):
        return ""
    figures = f"figure{'' if len(open_) == 1 else 's'}"
    if all(one.why == ONLY_IN_ONE for one in open_):
        return f"The same seeds on both sides may settle the inconclusive {figures}: run the missing ones too"
    # a parameter counts trials that show it, and a study of many seeds may have few of them
    least = min((one.seeds for one in open_ if one.name not in PARAMETERS), default=FEWEST_SEEDS)
    enough = f" to {FEWEST_SEEDS} or more" if least < FEWEST_SEEDS else ""
    raised = f"raise seeds in the study{enough}"
    return f"More seeds may settle the inconclusive {figures}: {raised}, and run it again"


def _needs_seeds(one: Difference) -> bool:
    """May more seeds settle this inconclusive figure? One that is surely missing stays so."""
    is_gone = one.settled_by == "figure" and one.looks
    return one.settled_by not in _NOT_BY_SEEDS and one.why != MEASURED and not is_gone


def cells(one: Difference) -> tuple[str, ...]:
    """A figure's row: state, place, title, before, after, change."""
    state = one.state + {True: ", better", False: ", worse", None: ""}[one.better]
    return state, one.place, one.title, one.before, one.after, change(one)


def change(one: Difference) -> str:
    """``+1.2 Mbps [+0.9, +1.5], margin 0.5``, and the reason why it is inconclusive.

    Of a ratio it is a factor: ``× 0.47 [0.42, 0.53], margin × 1.25``.
    """
    if one.change is None or one.margin is None:
        return one.why
    times = "× " if one.ratio else ""
    ends = [_size(one, end, "+.3g") for end in (one.low, one.high) if end is not None]
    interval = f" [{', '.join(ends)}]" if len(ends) == 2 else ""
    unit = f" {one.unit_of_change}" if one.unit else ""
    changed = f"{times}{_size(one, one.change, '+.3g')}{unit}{interval}"
    why = f"; {one.why}" if one.why and one.state == "inconclusive" else ""
    return f"{changed}, margin {times}{_size(one, one.margin, '.3g')}{why}"


def _size(one: Difference, value: float, digits: str) -> str:
    """A change or a margin in digits; a ratio's is kept as a logarithm."""
    return f"{math.exp(value):.3g}" if one.ratio else f"{value:{digits}}"


_HEADINGS = ("State", "Where", "Figure", "Before", "After", "Change")


def terminal(console: Console, compared: Compared) -> None:
    """Print the table of what differs, then the notes."""
    if rows := shown(compared):
        # few columns, for a terminal of 80 characters
        table = Table("State", Column("Where and what", overflow="fold"), "Before → after", "Change")
        for one in rows:
            state, place, title, before, after, changed = cells(one)
            table.add_row(state, f"{place}\n{title}", f"{before} → {after}", changed)
        console.print(table)
    for note in notes(compared):
        console.print(note, markup=False, highlight=False)


def failed(result: Result) -> str:
    """Markdown of a gate that could not be compared, with the reasons; empty if it was."""
    if result.compared is not None:
        return ""
    reasons = "".join(f"- {plain(line)}\n" for text in result.errors for line in text.splitlines())
    return f"### {plain(result.gate.contestant)}: could not be judged\n\n{reasons}" if reasons else ""


def markdown(title: str, compared: Compared, settings: Sequence[str] = (), errors: Sequence[str] = ()) -> str:
    """The same as Markdown, for a job's summary.

    ``settings``: those of the studies that differ. ``errors``: why trials could not run.
    """
    first = [*(f"setting: {one}" for one in settings), *(f"could not run: {one}" for one in errors)]
    lines = [f"### {plain(title)}", "", *(f"- {plain(line)}" for one in first for line in one.splitlines())]
    if first:
        lines.append("")
    if rows := shown(compared):
        lines += [*table_lines(_HEADINGS, (list(map(plain, cells(one))) for one in rows)), ""]
    lines += [f"- {plain(note)}" for note in notes(compared)]
    return "\n".join(lines) + "\n"


def record(result: Result) -> dict[str, object]:
    """The result as JSON data."""
    return {
        "gate": str(result.gate.path),
        "contestant": result.gate.contestant,
        "outcome": result.outcome,
        "status": result.status,
        "all_seeds": result.all_seeds,
        "errors": list(result.errors),
        "compared": asdict(result.compared) if result.compared else None,
    }


def write_json(path: Path, results: Sequence[Result]) -> None:
    """Write the results of several gates."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps([record(result) for result in results], indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
        # a byte of a path that is not UTF-8 becomes JSON's own escape
        errors="backslashreplace",
    )


def write_junit(path: Path, results: Sequence[Result]) -> None:
    """Write JUnit XML: a test suite for each gate, with a test case for its packets and for each figure.

    A proven difference is a failure, what could not be judged an error. If the study is not that of the
    baseline, each group of trials that is another one is an error, and no figure is a failure.
    """
    root = ElementTree.Element("testsuites", name="cambrian gate")
    for result in results:
        cases = list(_cases(result))
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=result.gate.contestant,
            tests=str(len(cases)),
            failures=str(sum(kind == "failure" for _, _, kind, _ in cases)),
            errors=str(sum(kind == "error" for _, _, kind, _ in cases)),
        )
        for place, name, kind, said in cases:
            text = _NO_XML.sub("", said)
            case = ElementTree.SubElement(suite, "testcase", classname=place, name=_NO_XML.sub("", name))
            if kind:
                ElementTree.SubElement(case, kind, message=text).text = text
    ElementTree.indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _cases(result: Result) -> Iterator[tuple[str, str, str, str]]:
    """(Where, name, ``failure`` or ``error`` or empty, text) of each test case."""
    compared = result.compared
    gate = f"gate {result.gate.contestant}"
    for text in result.errors:
        yield gate, text.partition(":")[0], "error", text
    if compared is None:
        return
    another = _other_study(result)
    told = another or result.errors or compared.lost or compared.gaps or compared.doubtful
    unsaid = result.outcome == "not judged" and not told
    yield gate, "packets", "error" if unsaid else "", headline(result) if unsaid else ""
    for text in another:
        yield gate, text, "error", text
    for trial, why in compared.lost.items():
        yield gate, trial, "error", why
    for text in compared.gaps:
        yield gate, text, "error", f"without a figure now: {text}"
    for one in compared.figures:
        kind = {"different": "" if one.better else "failure", "inconclusive": "error" if one.looks else ""}
        text = f"{one.title}: {one.before} → {one.after} ({change(one)})"
        yield one.place, one.title, "" if another else kind.get(one.state, ""), text


def github_lines(result: Result) -> Iterator[str]:
    """Lines that GitHub Actions shows beside the gate's file."""
    level = {"different": "error", "not judged": "warning"}.get(result.outcome)
    path, who = (
        _github(text).replace(":", "%3A").replace(",", "%2C")
        for text in (str(result.gate.path), result.gate.contestant)
    )
    where = f"file={path},title=cambrian gate {who}"
    for text in result.errors[:10]:
        yield f"::error {where}::could not run: {_github(text)}"
    if level is None or result.compared is None:
        return
    figures = [
        f"{one.place}: {one.title}: {one.before} → {one.after} ({change(one)})"
        for one in shown(result.compared)
    ]
    for text in (_other_study(result) or figures or [headline(result)])[:10]:
        yield f"::{level} {where}::{_github(text)}"


def _github(text: str) -> str:
    """A text on one line of a command of GitHub Actions."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
