"""What a study file means."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.study.errors import StudyError
from cambrian.study.load import parse_study
from cambrian.study.model import Study

CATALOGUE = {"tcp": ["cubic", "reno", "bbr"], "quinn": ["cubic", "reno", "bbr"]}


def load(text: str, folder: Path = Path()) -> Study:
    return parse_study(text, "x.toml", folder, CATALOGUE)


def with_network(network: str) -> Study:
    return load(
        f'name = "x"\ntitle = "X"\n[[network]]\n{network}\n[[contestant]]\nstack = "tcp"\ncca = "bbr"\n'
    )


def names(study: Study) -> list[str]:
    return [network.name for network in study.networks]


def test_defaults() -> None:
    study = with_network("rate_mbps = 20\nrtt_ms = 50\nbuffer_bdp = 1")
    assert (study.design, study.duration_s, study.seeds, study.start_spread_ms) == (
        "versus-reference",
        60,
        5,
        0,
    )
    assert study.networks[0].queue == "droptail"
    assert study.contestants[0].name == "tcp bbr"
    assert study.profiles == {}


def test_lists_make_a_grid_in_file_order() -> None:
    study = with_network("rate_mbps = [20, 100]\nrtt_ms = 50\nbuffer_bdp = [0.5, 1]")
    assert names(study) == [
        "20mbps-50ms-0.5bdp",
        "20mbps-50ms-1bdp",
        "100mbps-50ms-0.5bdp",
        "100mbps-50ms-1bdp",
    ]


def test_names_tell_what_differs_from_the_defaults() -> None:
    study = with_network(
        "rate_mbps = 2.5\nrtt_ms = 10\nbuffer_packets = 30\n"
        "queue = ['pie', 'fq_codel']\necn = [false, true]\n"
        "loss_percent = 0.1\nschedule = [{ at_s = 1, rtt_ms = 20 }]"
    )
    assert names(study)[0] == "2.5mbps-10ms-30packets-pie-0.1loss-schedule"
    assert names(study)[3] == "2.5mbps-10ms-30packets-fq_codel-ecn-0.1loss-schedule"


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (f'name = "{"n" * 101}"\nrate_mbps = 9', "name has 101 characters"),
        # it would name files, and Linux limits these to 255 bytes
        (f'name = "{"{rate_mbps}-" * 30}x"\nrate_mbps = 9.123456', "name has 271 characters"),
        (
            "rate_mbps = 9.123456789012345\nloss_percent = 0.123456789012345\njitter_ms = 0.123456789012345\n"
            "reorder_percent = 0.123456789012345\nduplicate_percent = 0.123456789012345",
            "give a name of at most 100",
        ),
    ],
)
def test_a_name_has_at_most_100_characters(network: str, said: str) -> None:
    rest = "\nrtt_ms = 5\nbuffer_bdp = 1"
    with pytest.raises(StudyError, match=said):
        with_network(network + rest)
    assert names(with_network(f'name = "{"n" * 100}"\nrate_mbps = 9{rest}')) == ["n" * 100]


def test_a_name_may_be_a_template() -> None:
    study = with_network(
        "name = '{queue}-{ecn}-{rtt_ms}'\nrate_mbps = 9\nrtt_ms = 5\nbuffer_bdp = 1\nqueue = ['pie']"
    )
    assert names(study) == ["pie-no-ecn-5"]


def test_contestants_may_list_stacks_and_ccas() -> None:
    study = load(
        'name = "x"\ntitle = "X"\n[[network]]\nrate_mbps = 1\nrtt_ms = 1\nbuffer_bdp = 1\n'
        '[[contestant]]\nstack = ["tcp", "quinn"]\ncca = ["cubic", "bbr"]\n'
        "options = { initial_window = 10 }\n"
    )
    assert [player.name for player in study.contestants] == [
        "tcp cubic",
        "tcp bbr",
        "quinn cubic",
        "quinn bbr",
    ]
    assert study.contestants[3].options == {"initial_window": 10}


def test_flows_put_a_contestants_keys_beside_their_own() -> None:
    study = load(
        'name = "x"\ntitle = "X"\ndesign = "flows"\n[[network]]\nrate_mbps = 1\nrtt_ms = 1\nbuffer_bdp = 1\n'
        '[[flow]]\nstack = "tcp"\ncca = "cubic"\ntls = true\n'
        '[[flow]]\nstack = "quinn"\ncca = "bbr"\nstart_ms = 5000\nsize_bytes = 100\nrtt_ms = 80\n'
    )
    first, second = study.flows
    assert (first.contestant.tls, first.start_ms) == (True, 0)
    assert (second.contestant.name, second.start_ms, second.size_bytes, second.rtt_ms) == (
        "quinn bbr",
        5000,
        100,
        80,
    )


def test_a_trace_is_relative_to_the_study(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "My Link.trace").write_text("1\n2\n")
    text = 'name = "x"\ntitle = "X"\n[[network]]\nrtt_ms = 50\nbuffer_bdp = 1\n'
    text += 'trace_file = "traces/My Link.trace"\n'
    study = load(text + '[[contestant]]\nstack = "tcp"\ncca = "bbr"\n', tmp_path)
    assert study.networks[0].trace_file == str(tmp_path / "traces" / "My Link.trace")
    assert names(study) == ["my-link-50ms-1bdp"]


def test_profiles() -> None:
    study = load(
        'name = "x"\ntitle = "X"\n[profile.quick]\nseeds = 1\nnetworks = ["1mbps-*"]\n'
        "[[network]]\nrate_mbps = [1, 2]\nrtt_ms = 1\nbuffer_bdp = 1\n"
        '[[contestant]]\nstack = "tcp"\ncca = "bbr"\n'
    )
    assert study.profiles["quick"].seeds == 1
    assert study.profiles["quick"].networks == ("1mbps-*",)


RATES = st.floats(0.01, 100)


@given(
    rates=st.lists(RATES, min_size=1, max_size=3, unique=True),
    rtts=st.lists(st.integers(1, 1000), min_size=1, max_size=3, unique=True),
    buffers=st.lists(st.integers(1514, 10**8), min_size=1, max_size=3, unique=True),
)
def test_a_grid_is_the_cartesian_product_and_names_it_apart(
    rates: list[float], rtts: list[int], buffers: list[int]
) -> None:
    study = with_network(f"rate_mbps = {rates}\nrtt_ms = {rtts}\nbuffer_bytes = {buffers}")
    cells = [(network.rate_mbps, network.rtt_ms, network.buffer_bytes) for network in study.networks]
    assert cells == list(itertools.product(rates, rtts, buffers))
    assert len(set(names(study))) == len(cells)
