"""The families of the stacks that come with the project, and of another transport."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cambrian.judging import families
from cambrian.stacks import catalogue
from cambrian.study.model import Contestant


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


@pytest.mark.parametrize(
    ("stack", "protocol", "other"), [("quinn", "quic", False), ("mine", "quic", True), ("mine", "tcp", False)]
)
def test_an_older_record_does_not_say_whether_a_stack_is_quic(stack: str, protocol: str, other: bool) -> None:
    kept = {"families": {f"{stack} cubic": {"reference": "cubic", "protocol": protocol}}}
    found = families.recorded(kept, Contestant(stack=stack, cca="cubic"))
    assert found == families.Family("cubic", protocol, other_transport=other)


def test_a_record_says_whether_a_stack_is_quic() -> None:
    record = families.record([Contestant(stack="quinn", cca="cubic")])
    assert record == {"quinn cubic": {"reference": "cubic", "protocol": "quic", "other_transport": False}}
    assert families.recorded({"families": record}, Contestant(stack="quinn", cca="cubic")) is not None
