"""What an error says about the name of an unknown stack."""

from __future__ import annotations

import pytest

from cambrian.stacks import catalogue, unavailable


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cloudflare-quiche", "its name here is quiche"),
        ("Chromium", "its name here is google-quiche"),
        ("picoquic", "picoquic cannot be installed from a package: crates.io has"),
        ("firefox", "neqo (Mozilla) cannot be installed"),
        ("quin", "did you mean quinn? stacks are: "),
        ("nobody-knows", "stacks are: "),
        ("quic-go@0.1", "name a stack with releases"),
        ("tcp/cubic", 'give the two in keys of their own: stack = "tcp", cca = "cubic"'),
        ("tcp/new-one", "stacks are: "),
    ],
)
def test_a_known_name_has_its_own_remedy(name: str, said: str) -> None:
    assert catalogue.ccas().remedy(name).startswith(said)


def test_a_stack_of_one_s_own_may_be_unknown_here() -> None:
    assert "CAMBRIAN_STACKS=FOLDER" in catalogue.ccas().remedy("nobody-knows")


def test_every_other_name_is_of_a_stack_that_is_known() -> None:
    known = {*catalogue.ccas(), *unavailable.load()}
    assert set(unavailable.ALSO_CALLED.values()) <= known
    assert not known & set(unavailable.ALSO_CALLED)
