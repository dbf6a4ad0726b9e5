"""What a study asks of the stacks: options that exist, and receivers that speak their protocol."""

from __future__ import annotations

from cambrian.stacks import catalogue, receivers
from cambrian.stacks.manifest import ManifestError
from cambrian.study import hints
from cambrian.study.errors import StudyError
from cambrian.study.model import Contestant, Network


def receiver_problem(contestant: Contestant) -> str | None:
    """Why a contestant cannot have its receiver; None if it can."""
    try:
        receivers.choose(catalogue.load()[contestant.stack], contestant.receiver)
    except receivers.NoReceiver as none:
        return str(none)
    return None


def problem(contestant: Contestant) -> str | None:
    """What is wrong with a contestant that no reader of studies has checked: problem and remedy.

    Raises:
        ManifestError: the manifest of one of its stacks has an error.
    """
    known = catalogue.ccas()
    named = [contestant.stack, *({contestant.receiver} - {"own", "reference"})]
    for name in named:
        if name in known.broken:
            raise ManifestError(known.broken[name])
        if name not in known:
            return f"unknown stack {name}; remedy: {known.remedy(name)}"
    offered = known[contestant.stack]
    if contestant.cca not in offered:
        remedy = hints.for_name(contestant.cca, offered, f"{contestant.stack} has")
        return f"{contestant.stack} has no CCA {contestant.cca}; remedy: {remedy}"
    if wrong := option_problem(contestant):
        key, what, remedy = wrong
        return f"options.{key}: {what}; remedy: {remedy}"
    return None


def check_named(contestant: str, said_in: str = "--contestant") -> None:
    """Raise :class:`StudyError` if no usable stack has this ``stack/cca``; ``said_in``: where it is given."""
    stack, slash, cca = contestant.partition("/")
    if not (stack and slash and cca):
        what, remedy = "no contestant", "write stack/cca, such as quinn/cubic"
    elif found := problem(Contestant(stack=stack, cca=cca)):
        what, _, remedy = found.partition("; remedy: ")
    else:
        return
    raise StudyError(file=said_in, key=contestant, problem=what, remedy=remedy)


def use_problem(contestant: Contestant, network: Network, *, page: bool) -> tuple[str, str, str] | None:
    """Why a contestant cannot do what a study asks of it on a network: the key, the problem and the remedy.

    ``page``: it serves a page.
    """
    known = catalogue.load()
    manifest = known[contestant.stack].manifest
    if contestant.tls and contestant.stack != catalogue.REFERENCE_STACK:
        return "tls", f"{contestant.stack} always encrypts", "leave tls out: it is for the stack tcp"
    if page and manifest.pages is None:
        serving = hints.choices(name for name, stack in known.items() if stack.manifest.pages)
        return "stack", f"{contestant.stack} serves no pages", f"give {serving}"
    if manifest.ccas[contestant.cca].needs_ecn and not network.ecn:
        problem = f"without ECN {contestant.cca} is another algorithm, and {network.name} has no ECN"
        return "cca", problem, 'give a network an AQM and ecn = true, such as queue = "codel"'
    return None


def option_problem(contestant: Contestant) -> tuple[str, str, str] | None:
    """The first option that a contestant's stack does not take: its key, the problem and the remedy."""
    stack = contestant.stack
    known = catalogue.load()[stack].manifest.options
    if known is None:
        return None
    for key, value in contestant.options.items():
        if key == "tls" and stack == catalogue.REFERENCE_STACK:
            return key, "is not an option", "write tls = true beside stack and cca: both sides need it"
        option = known.get(key)
        if option is None:
            remedy = hints.for_name(key, known, f"{stack} has") if known else "leave options out"
            return key, f"{stack} has no such option", remedy
        if not option.belongs_to(contestant.cca):
            having = [cca for cca in catalogue.ccas()[stack] if option.belongs_to(cca)]
            remedy = f"leave it out; it is for {hints.choices(having)}"
            return key, f"is no option of {contestant.cca}", remedy
        if not option.takes(value):
            shown = str(value).lower() if isinstance(value, bool) else repr(value)
            return key, f"{shown} is not possible", f"give {option.values}"
    return None
