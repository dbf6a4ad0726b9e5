"""What a study asks of a stack that the stack cannot do is an error before the first trial."""

from __future__ import annotations

import pytest

from cambrian.stacks import checks
from cambrian.study.model import Contestant, Network

DROPTAIL = Network(name="plain", rate_mbps=10, rtt_ms=50, buffer_bdp=1)
CODEL = Network(name="marks", rate_mbps=10, rtt_ms=50, buffer_bdp=1, queue="codel", ecn=True)


@pytest.mark.parametrize(
    ("contestant", "network", "page", "key"),
    [
        (Contestant(stack="quinn", cca="cubic", tls=True), DROPTAIL, False, "tls"),
        (Contestant(stack="tcp-h2", cca="cubic", tls=True), DROPTAIL, False, "tls"),
        (Contestant(stack="tcp", cca="cubic", tls=True), DROPTAIL, False, None),
        (Contestant(stack="msquic", cca="cubic"), DROPTAIL, True, "stack"),
        (Contestant(stack="msquic", cca="cubic"), DROPTAIL, False, None),
        (Contestant(stack="tcp", cca="dctcp"), DROPTAIL, False, "cca"),
        (Contestant(stack="tcp-h2", cca="dctcp"), CODEL.model_copy(update={"ecn": False}), False, "cca"),
        (Contestant(stack="tcp", cca="dctcp"), CODEL, False, None),
    ],
)
def test_what_a_stack_cannot_do(
    contestant: Contestant, network: Network, page: bool, key: str | None
) -> None:
    found = checks.use_problem(contestant, network, page=page)
    assert (found and found[0]) == key
    assert found is None or all(found)
