"""Names, patterns and the order of releases; stacks at a release."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.stacks import catalogue, checks, releases
from cambrian.stacks.catalogue import Stack
from cambrian.stacks.manifest import Cca, Difference, ManifestError, Releases
from cambrian.study.errors import StudyError

NUMBERS = st.tuples(*[st.integers(0, 40)] * 3)


def test_a_pre_release_is_older_than_its_release() -> None:
    given = ["1.0.0", "0.9.12", "1.0.0-rc.2", "1.0.0-alpha.10", "0.10.0", "1.0.0-rc.10"]
    expected = ["0.9.12", "0.10.0", "1.0.0-alpha.10", "1.0.0-rc.2", "1.0.0-rc.10", "1.0.0"]
    assert releases.ordered(given) == expected


@given(st.lists(NUMBERS, min_size=1, unique=True))
def test_releases_are_ordered_by_number(numbers: list[tuple[int, int, int]]) -> None:
    texts = [".".join(map(str, one)) for one in numbers]
    assert releases.ordered(texts) == [".".join(map(str, one)) for one in sorted(numbers)]


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("0.11.*", ["0.11.0", "0.11.19"], ["0.10.1", "0.110.0", "0.11.0-rc.1"]),
        ("0.11.9", ["0.11.9"], ["0.11.90"]),
        ("*", ["0.1.0", "2.0.0"], ["2.0.0-rc.1"]),
        (">=0.57, <0.64", ["0.57.0", "0.63.4"], ["0.56.9", "0.64.0"]),
        (">0.57.1", ["0.58.0"], ["0.57.1"]),
        ("1.0.0-*", ["1.0.0-rc.1"], ["1.0.0"]),
    ],
)
def test_patterns(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [one for one in yes + no if releases.matches(pattern, one)] == yes


def test_a_limit_that_is_no_version_is_an_error() -> None:
    with pytest.raises(ValueError, match="not valid SemVer"):
        releases.matches(">=new", "1.0.0")


def test_a_name_is_split_at_the_sign() -> None:
    assert releases.split("quic-go@0.60.0") == ("quic-go", "0.60.0")
    assert releases.split("quiche-0.24") == ("quiche-0.24", None)
    assert releases.is_exact("0.24.6")
    assert not releases.is_exact("0.24")
    assert not releases.is_exact("0.24.*")


def test_the_catalogue_has_a_stack_at_a_release_and_lists_only_the_stack() -> None:
    known = catalogue.load()
    found = known["quic-go@0.60.0"]
    assert (found.name, found.release, found.manifest.version) == ("quic-go@0.60.0", "0.60.0", "0.60.0")
    assert found.file == known["quic-go"].file
    assert "quic-go@0.60.0" in known
    assert known.find("quic-go@0.60.0") == found
    assert not [name for name in known if "@" in name]
    # no release, no version, no stack with releases
    for name in ("quic-go@", "quic-go@0.60", "quic-go@0.6*", "tcp@1.0.0", "nothing@1.0.0"):
        assert name not in known
        assert known.find(name) is None
        with pytest.raises(KeyError):
            known[name]


def test_a_release_is_checked_like_a_contestant() -> None:
    checks.check_named("quic-go@0.60.0/reno")
    with pytest.raises(StudyError, match="has no CCA bbr"):
        checks.check_named("quic-go@0.60.0/bbr")
    assert catalogue.reference_of("quic-go@0.60.0", "reno") == "reno"


def test_differences_of_releases_change_the_manifest() -> None:
    own: Stack = catalogue.load()["quic-go"]
    wanted = Releases(
        package="p",
        different=(Difference(releases="<0.5", ccas={"older": Cca(reference="bbr")}, notes=("older",)),),
    )
    manifest = own.manifest.model_copy(update={"releases": wanted})
    assert list(manifest.at("0.4.9").ccas) == [*own.manifest.ccas, "older"]
    assert manifest.at("0.4.9").notes == ("older",)
    assert manifest.at("0.5.0").ccas == own.manifest.ccas
    assert manifest.at("0.5.0").notes == own.manifest.notes


def test_a_manifest_with_limits_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ValueError, match="not valid SemVer"):
        Difference(releases="<latest")
    assert issubclass(ManifestError, ValueError)
