"""A study with other contestants than its own."""

from __future__ import annotations

import pytest

from cambrian.run import study as studies
from cambrian.run.study import RunOptions
from cambrian.study.errors import StudyError


def subjects(study: str, *names: str, profile: str | None = None) -> set[str]:
    _, groups = studies.expanded(RunOptions(study, profile, contestants=names))
    return {group.subject for group in groups}


@pytest.mark.parametrize("profile", [None, "quick"])
def test_alone_kernel_tcp_stays_with_the_ccas_that_are_compared(profile: str | None) -> None:
    found = subjects("fingerprint", "quic-go/cubic", "s2n-quic/bbr", profile=profile)
    assert found == {"tcp cubic", "tcp bbr", "quic-go cubic", "s2n-quic bbr"}


def test_against_the_reference_the_reference_follows() -> None:
    assert subjects("quickstart", "s2n-quic/bbr", profile="quick") == {
        "s2n-quic bbr",
        "tcp bbr",
        "placebo (tcp bbr)",
    }


def test_the_reference_itself_is_there_once() -> None:
    assert subjects("fingerprint", "tcp/cubic") == {"tcp cubic"}


@pytest.mark.parametrize(
    ("name", "said"),
    [("quic-go", "stack/cca"), ("quic-og/cubic", "did you mean quic-go"), ("quic-go/bbr", "quic-go has")],
)
def test_an_unknown_contestant_is_named_with_the_remedy(name: str, said: str) -> None:
    with pytest.raises(StudyError) as error:
        subjects("fingerprint", name)
    assert said in str(error.value) and name in str(error.value)


def test_flows_do_not_take_a_contestant() -> None:
    with pytest.raises(StudyError, match="does not take it"):
        subjects("latecomer", "quinn/cubic")


def test_the_command_that_repeats_a_run_has_the_contestants() -> None:
    assert "--contestant quinn/cubic" in RunOptions("fingerprint", contestants=("quinn/cubic",)).command
