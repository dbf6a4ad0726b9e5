"""The families of the stacks that come with the project, and of another transport."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cambrian.judging import families
from cambrian.stacks import catalogue


def test_no_stack_of_the_project_is_another_transport() -> None:
    stacks = catalogue.load()
    found = [families.family_of(name, cca) for name in stacks for cca in stacks[name].manifest.ccas]
    known = [family for family in found if family is not None]
    assert len(known) > 50
    assert not any(family.other_transport for family in known)


@pytest.mark.parametrize(("alpns", "other"), [(("sctp",), True), ((), True), (("x", "h3"), False)])
def test_a_stack_without_an_application_protocol_of_quic(
    alpns: tuple[str, ...], other: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = catalogue.load()["quinn"].manifest.model_copy(update={"alpns": alpns})
    found = SimpleNamespace(find=lambda name: SimpleNamespace(manifest=manifest))
    monkeypatch.setattr(catalogue, "load", lambda: found)
    assert families.family_of("mine", "cubic") == families.Family("cubic", "quic", other_transport=other)
