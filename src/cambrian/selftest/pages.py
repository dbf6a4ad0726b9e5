"""Checks that Chromium loads the β study's pages over HTTP/3 and HTTP/2 completely and reproducibly."""

from __future__ import annotations

from collections.abc import Iterator

from cambrian.command import MissingTool
from cambrian.metrics.pageload import page_loads
from cambrian.pages import browser
from cambrian.selftest.bench import Bench, packets_sha256
from cambrian.selftest.check import Check
from cambrian.store.results import TrialResult
from cambrian.study.model import Contestant, Flow, Network, Page, Trial
from cambrian.study.pages import catalogue

PAGES = ("beta-small", "beta-medium", "beta-large")
#: HTTP version → stack of the server
SERVERS = {"h3": "google-quiche", "h2": "tcp-h2"}
NETWORK = Network(rate_mbps=5, rtt_ms=50, buffer_bdp=1)
REPEATS = 5


def trials() -> list[Trial]:
    """Each page over each HTTP version, with one seed."""
    return [_trial(stack, page) for stack in SERVERS.values() for page in PAGES]


def _trial(stack: str, page: str) -> Trial:
    loading = Flow(
        contestant=Contestant(stack=stack, cca="cubic"), page=Page.model_validate(catalogue()[page])
    )
    return Trial(network=NETWORK, flows=(loading,), duration_s=60, seed=7)


def checks(bench: Bench) -> Iterator[Check]:
    """A row for each page and HTTP version."""
    names = [f"pages: {page} over {version}" for version in SERVERS for page in PAGES]
    try:
        browser.find()
    except MissingTool as missing:
        for name in names:
            yield Check(name, "loaded by Chromium", f"not checked: {missing}", None)
        return
    asked = trials()
    repeats = [bench.run(asked, f"pages{repeat}") for repeat in range(REPEATS)]
    for name, *results in zip(names, *repeats, strict=True):
        yield _check(name, results)


def _check(name: str, results: list[TrialResult]) -> Check:
    loads = [page_loads(result.objects, result.page_loads)[0] for result in results]
    times = {load.plt_ms for load in loads}
    traces = {packets_sha256(result) for result in results}
    fewest = min(load.complete for load in loads)
    objects = loads[0].objects
    return Check(
        name,
        f"{objects} of {objects} objects; one load time and packet trace in {REPEATS} repeats",
        f"{fewest} of {objects}; {', '.join(f'{time} ms' for time in times)}; {len(traces)} trace(s)",
        fewest == objects and len(times) == 1 and None not in times and len(traces) == 1,
    )
