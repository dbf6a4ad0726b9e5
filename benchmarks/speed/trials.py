"""The trials whose speed is measured."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.command import MissingTool
from cambrian.pages import browser
from cambrian.stacks import catalogue
from cambrian.study.model import Contestant, Flow, Network, Page, Trial
from cambrian.study.pages import catalogue as pages
from cambrian.trial import plan

#: in duels, unless other contestants are asked for
DUELLISTS = ("tcp:cubic", "quinn:cubic", "quic-go:cubic", "google-quiche:cubic")
#: their pages are loaded, unless others are asked for
PAGES = ("tcp-h2:cubic", "quic-go:cubic")
PAGE = "beta-medium"
COUNTED_S = 10.0
#: as good as nothing happens
EMPTY_S = 0.1


def network(rate_mbps: float) -> Network:
    """The network of all trials but for its rate."""
    return Network(rate_mbps=rate_mbps, rtt_ms=50, buffer_bdp=1)


def contestant(name: str) -> Contestant:
    """``STACK:CCA``, or ``STACK`` with its first controller."""
    stack, _, cca = name.partition(":")
    return Contestant(stack=stack, cca=cca or first(stack))


def named(name: str) -> str:
    """``STACK:CCA`` of both forms."""
    one = contestant(name)
    return f"{one.stack}:{one.cca}"


def first(stack: str) -> str:
    """CUBIC, or the first controller that the stack has.

    Raises:
        ValueError: there is no such stack.
    """
    known = catalogue.ccas()
    if stack not in known:
        raise ValueError(f"no stack {stack}; there are {', '.join(sorted(known))}")
    return "cubic" if "cubic" in known[stack] else next(iter(known[stack]))


def every_stack() -> list[str]:
    """``STACK:CCA`` of each stack of the catalogue."""
    return [named(stack) for stack in sorted(catalogue.load())]


def alone(name: str, *, seconds: float = COUNTED_S) -> Trial:
    """One flow of a contestant, whose entries into the guest's kernel are counted."""
    return Trial(network=network(20), flows=(Flow(contestant=contestant(name)),), duration_s=seconds)


def together(name: str, flows: int, rate_mbps: float, seconds: float) -> Trial:
    """Some flows of the same contestant."""
    flow = Flow(contestant=contestant(name))
    return Trial(network=network(rate_mbps), flows=(flow,) * flows, duration_s=seconds)


def empty() -> Trial:
    """The fixed cost of a trial."""
    flow = Flow(contestant=contestant("tcp:cubic"), size_bytes=1)
    return Trial(network=network(20), flows=(flow,), duration_s=EMPTY_S)


def page_load(name: str) -> Trial:
    """Chromium loads a page from a contestant."""
    page = Page.model_validate(pages()[PAGE])
    flow = Flow(contestant=contestant(name), page=page)
    return Trial(network=network(20), flows=(flow,), duration_s=60)


def long(seconds: float) -> Trial:
    """A million packets in a minute."""
    flows = (Flow(contestant=contestant("tcp:cubic")), Flow(contestant=contestant("tcp:reno"), start_ms=500))
    return Trial(network=Network(rate_mbps=200, rtt_ms=10, buffer_bdp=1), flows=flows, duration_s=seconds)


def serving(names: Sequence[str]) -> list[str]:
    """Those of the contestants that serve pages; none without a browser."""
    known = catalogue.load()
    return [name for name in names if has_browser() and known[contestant(name).stack].manifest.pages]


def has_browser() -> bool:
    """Is Chromium installed here?"""
    try:
        browser.find()
    except MissingTool:
        return False
    return True


def stacks(trial: Trial) -> frozenset[str]:
    """All that run in it."""
    return frozenset(plan.stack_names(trial))
