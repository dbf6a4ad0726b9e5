"""What became of a fragment's lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cambrian.kernel.configure import lost, options

NAMES = st.from_regex(r"CONFIG_[A-Z0-9_]{1,12}", fullmatch=True)
VALUES = st.sampled_from(["y", "m", "1000", '"text"'])


def test_lines_that_did_not_survive_are_named() -> None:
    fragment = (
        "# a comment\nCONFIG_A=y\nCONFIG_B=y\nCONFIG_HZ=1000\n# CONFIG_D is not set\n# CONFIG_E is not set\n"
    )
    config = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_HZ=100\nCONFIG_E=y\n"
    assert lost(fragment, config) == ("CONFIG_B=y", "CONFIG_HZ=1000", "CONFIG_E=n")


def test_an_unset_option_may_be_absent() -> None:
    assert lost("# CONFIG_D is not set\n", "CONFIG_A=y\n") == ()


@given(st.dictionaries(NAMES, VALUES))
def test_a_config_loses_nothing_of_itself(wanted: dict[str, str]) -> None:
    text = "".join(f"{name}={value}\n" for name, value in wanted.items())
    assert options(text) == wanted
    assert lost(text, "CONFIG_OTHER=y\n" + text) == ()
    assert len(lost(text, "")) == len(wanted)
