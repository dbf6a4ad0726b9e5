"""A contestant's options: what a manifest says that they may be, and how a wrong one is told of."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from cambrian import paths
from cambrian.stacks import catalogue, checks, reference
from cambrian.stacks.command import role
from cambrian.stacks.manifest import Option, Role
from cambrian.study.errors import StudyError
from cambrian.study.load import parse_study
from cambrian.study.model import Study

HEAD = 'name = "a"\ntitle = "a"\n[[network]]\nrate_mbps = 1\nrtt_ms = 10\nbuffer_bdp = 1\n'
CONTESTANT = '[[contestant]]\nstack = "{stack}"\ncca = "{cca}"\noptions = {{ {options} }}\n'
LINEUP = (
    '[[lineup]]\nname = "one"\n[[lineup.flows]]\nstack = "tcp"\ncca = "cubic"\n'
    '[[lineup.flows]]\nstack = "quinn"\ncca = "cubic"\noptions = { mtu = 1400 }\n'
)


def read(text: str) -> Study:
    return parse_study(text, "a.toml", Path(), catalogue.ccas(), catalogue.reference_of, checks)


def solo(stack: str, cca: str, options: str) -> Study:
    return read('design = "solo"\n' + HEAD + CONTESTANT.format(stack=stack, cca=cca, options=options))


@pytest.mark.parametrize(
    ("stack", "cca", "options", "key", "said"),
    [
        ("quinn", "cubic", "initial_window = 32", "initial_window", "did you mean initial_window_packets?"),
        ("quinn", "cubic", "pacing = false", "pacing", "quinn has no such option"),
        ("nginx", "builtin", "pacing = false", "pacing", "leave options out"),
        ("msquic", "cubic", 'pacing = "off"', "pacing", "give true or false"),
        ("msquic", "cubic", "pacing = 1", "pacing", "1 is not possible"),
        ("msquic", "cubic", "initial_window_packets = 1", "initial_window_packets", "from 2 to 100,000"),
        ("msquic", "cubic", "initial_window_packets = 2.5", "initial_window_packets", "a whole number"),
        ("msquic", "cubic", "initial_window_packets = nan", "initial_window_packets", "nan is not possible"),
        ("s2n-quic", "cubic", "bbr_cwnd_gain_percent = 200", "bbr_cwnd_gain_percent", "it is for bbr"),
        ("quinn-lab", "bbr", "beta = 0.5", "beta", "is no option of bbr"),
        ("quinn-lab", "cubic", 'flavour = "bsd"', "flavour", 'give "linux" or "rfc9438"'),
        ("tcp", "cubic", "tls = true", "tls", "beside stack and cca"),
    ],
)
def test_a_wrong_option_is_named_with_its_line_and_remedy(
    stack: str, cca: str, options: str, key: str, said: str
) -> None:
    with pytest.raises(StudyError, match=r"(?s).") as caught:
        solo(stack, cca, options)
    assert (caught.value.line, caught.value.key) == (11, key)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("stack", "cca", "options"),
    [
        ("quinn", "cubic", "initial_window_packets = 32"),
        ("quinn-lab", "gquic-cubic-n2", 'max_window_packets = "unlimited", pacing = false'),
        ("quinn-lab", "cubic", "max_window_packets = 107, beta = 0.8"),
        ("quiche", "reno", "hystart = false"),
    ],
)
def test_a_right_option_is_kept(stack: str, cca: str, options: str) -> None:
    assert solo(stack, cca, options).contestants[0].options


def test_an_option_in_a_lineup_is_named_where_it_stands() -> None:
    with pytest.raises(StudyError, match="quinn has no such option") as caught:
        read('design = "flows"\n' + HEAD + LINEUP)
    assert (caught.value.line, caught.value.key) == (16, "mtu")


@pytest.mark.parametrize(
    "wrong",
    [{"type": "word"}, {"type": "boolean", "minimum": 1}, {"type": "switch"}],
)
def test_an_option_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Option.model_validate({"meaning": "x", **wrong})


def test_a_boolean_reaches_the_program_as_a_word_and_an_integer_without_decimals() -> None:
    quinn = catalogue.load()["quinn"]
    built = type("Built", (), {"stack": quinn})()
    options = {"path_mtu_discovery": False, "version": 2.0, "initial_window_packets": 1e2}
    filled = role(built, Role(command=("x",)), {}, options)
    assert filled.argv[1::2] == ["--set"] * 3
    assert filled.argv[2::2] == ["initial_window_packets=100", "path_mtu_discovery=false", "version=2.0"]


def test_every_default_is_a_value_that_its_option_takes() -> None:
    for stack in catalogue.load().values():
        for name, option in (stack.manifest.options or {}).items():
            if option.default is not None and not isinstance(option.default, str):
                assert option.takes(option.default), f"{stack.name}: {name}"


def test_what_means_the_same_has_the_same_type_everywhere() -> None:
    types: dict[str, set[str]] = {}
    for stack in catalogue.load().values():
        for name, option in (stack.manifest.options or {}).items():
            types.setdefault(name, set()).add("boolean" if option.type == "boolean" else "other")
    assert [name for name, kinds in types.items() if len(kinds) > 1] == []


def test_the_lab_page_has_every_preset() -> None:
    page = (paths.data() / "docs/reference/lab-stack.md").read_text()
    missing = [cca for cca in catalogue.load()["quinn-lab"].manifest.ccas if f"`{cca}`" not in page]
    assert missing == []


def test_what_a_meaning_calls_below_has_a_link() -> None:
    sections = reference.page().split("\n## ")
    assert all("](" in section.split("| option |")[0] for section in sections if "see below" in section)
