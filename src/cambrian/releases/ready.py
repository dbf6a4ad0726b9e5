"""Releases to measure: chosen, and built one after the other; some do not build with our endpoint."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from cambrian.command import CommandFailed
from cambrian.run import trust
from cambrian.run.study import look_in
from cambrian.stacks import build, catalogue, registry, releases
from cambrian.stacks.catalogue import Stack
from cambrian.study import hints
from cambrian.study.errors import StudyError
from cambrian.trial import wall

_NO_BUILD = "does not build with this endpoint"


def stack_of(name: str) -> Stack:
    """The stack with this name, which has releases; the folder ``stacks/`` here counts.

    Raises:
        ManifestError, StudyError: there is none, or it has no releases.
    """
    look_in([Path.cwd() / "stacks"])
    known = catalogue.load()
    if name in known.broken or name not in known or releases.SEPARATOR in name:
        having = [one for one, stack in known.items() if stack.manifest.releases is not None]
        problem = "no stack of this name has releases"
        remedy = hints.for_name(name, having, "the stacks with releases are")
        raise StudyError(file=name, problem=problem, remedy=remedy)
    registry.package(known[name])
    return known[name]


def check_cca(stack: Stack, cca: str) -> None:
    """See that a stack has a CCA, now or at some releases.

    Raises:
        StudyError: it has not.
    """
    own = stack.manifest.releases
    differences = own.different if own is not None else ()
    ccas = [*stack.manifest.ccas, *(name for one in differences for name in one.ccas)]
    if cca not in ccas:
        raise StudyError(
            file=stack.name,
            key=cca,
            problem="no release of the stack has this CCA",
            remedy=hints.for_name(cca, ccas, "its CCAs are"),
        )


def trusted(stack: Stack, around: Path) -> None:
    """Check that a stack may be built here.

    Raises:
        cambrian.run.trust.Untrusted: it is beside a study, or here, and needs the user's trust.
    """
    trust.check(trust.with_receiver(stack.name), around / "stacks", wall.find())


def chosen(stack: Stack, pattern: str) -> list[str]:
    """The releases that match a pattern, oldest first.

    Raises:
        ManifestError: none matches.
    """
    return [releases.split(name)[1] or "" for name in registry.expanded(stack, pattern)]


def why_not(name: str, cca: str) -> str | None:
    """Build ``STACK@RELEASE``; None if it is built and has the CCA, else why not, in one line.

    A release that did not build with this source and compiler is not built again.

    Raises:
        MissingTool: no compiler.
    """
    stack = catalogue.load()[name]
    if cca not in stack.manifest.ccas:
        return f"has no {cca}"
    status = build.status(stack)
    if status.state == "fails":
        return f"{_NO_BUILD}: {status.detail}"
    try:
        build.ensure(stack)
    except CommandFailed as failed:
        status = build.status(stack)
        if status.state == "fails":
            return f"{_NO_BUILD}: {status.detail}"
        # nothing was recorded of the release itself, as where the registry does not answer
        return f"could not be built now: {reason(str(failed))}"
    return None


def reason(text: str) -> str:
    """The line of a failed command that says why."""
    lines = [line.strip() for line in text.splitlines()]
    for line, after in pairwise([*lines, ""]):
        if line.startswith(("error", "go: ")):
            # the go command names the importer first, and what it lacks on the next line
            return f"{line} {after}" if line.endswith(" imports") else line
    return lines[0]
