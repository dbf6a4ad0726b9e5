"""Print what a hunt found: a sentence with the evidence, and the study that repeats it."""

from __future__ import annotations

import shlex
from pathlib import Path

from cambrian.hunt.search import FRESH_SEEDS, SEEDS, Counterexample
from cambrian.hunt.trials import Runner
from cambrian.stacks import catalogue
from cambrian.study.naming import slug


def written(found: Counterexample, runner: Runner, folder: Path) -> Path:
    """Write the study that repeats a counterexample; returns its path."""
    text = runner.study(found.broken, found.situation, SEEDS + FRESH_SEEDS)
    # an endpoint's error may have several lines, and colours of a terminal, which TOML does not allow
    lines = [f"# {_printable(line)}" for line in sentences(found, runner)]
    path = folder / f"hunted-{slug(runner.contestant)}-{found.broken.name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, text]), encoding="utf-8")
    return path


def _printable(text: str) -> str:
    words = " ".join(text.split())
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in words)


def again(path: Path, runner: Runner, *, trust: bool) -> str:
    """The command that runs the study in ``path``; a stack in ``stacks/`` here needs its folder."""
    words = [
        "cambrian",
        "run",
        str(path),
        "--out",
        str(path.with_suffix("")),
        *(["--trust"] if trust else []),
    ]
    here = Path.cwd() / "stacks"
    stack = catalogue.load()[runner.contestant.partition("/")[0]]
    before = f"CAMBRIAN_STACKS={shlex.quote(str(here))} " if stack.file.is_relative_to(here) else ""
    return before + shlex.join(words)


def sentences(found: Counterexample, runner: Runner) -> list[str]:
    """What is broken, where, and what the trials of more seeds showed."""
    evidence = found.evidence
    kernel = f"tcp {runner.reference}"
    keys = ", ".join(found.situation.unusual) or "none"
    other = found.elsewhere
    needs_client = other is not None and all(excess <= 0 for excess in other.excess)
    who = f"{runner.contestant} with its own client" if needs_client else runner.contestant
    lines = [
        f"{who} breaks {found.broken.name}: {found.broken.says}",
        f"Source: {found.broken.source}.",
        f"Where: {found.situation} (unusual keys: {keys}).",
        f"It: {evidence.typical} (in the middle of {len(evidence.excess)} trials); broken in all of them, "
        f"{FRESH_SEEDS} of the seeds new to the search.",
    ]
    if evidence.kernel_shows:
        there = "there, one seed and the next" if found.broken.with_kernel else "there"
        lines.append(f"Kernel ({kernel}) {there}: {evidence.kernel_typical}.")
    if other is not None:
        why = ". So its own client has a part in it" if needs_client else ""
        lines.append(f"To {runner.other_receiver}'s client instead: {other.typical}{why}.")
    return lines
