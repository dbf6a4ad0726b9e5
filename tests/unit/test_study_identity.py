"""A trial's identity: moved by all that matters, and by nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian import source
from cambrian.study.identity import trial_id
from cambrian.study.model import BurstLoss, Change, Contestant, Flow, Network, Trial
from cambrian.trial import environment

TRIAL = Trial(
    network=Network(name="a", rate_mbps=20, rtt_ms=50, buffer_bdp=1),
    flows=(
        Flow(contestant=Contestant(stack="quinn", cca="cubic", options={"b": 1, "a": "x"}), start_ms=12.5),
        Flow(contestant=Contestant(stack="tcp", cca="cubic")),
    ),
    duration_s=60,
)
ENVIRONMENT = {"kernel": "k1", "stack quinn": "q1", "stack tcp": "t1"}


def change(trial: Trial, path: tuple[str | int, ...], value: Any) -> Trial:
    """``trial`` with the value at ``path`` replaced."""
    data = json.loads(trial.model_dump_json())
    inner = data
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return Trial.model_validate_json(json.dumps(data))


def test_it_is_sixteen_hexadecimal_digits_that_never_change() -> None:
    """The same in every Python and on every machine: results are found again by it."""
    assert trial_id(TRIAL, ENVIRONMENT) == "49285041b2400c20"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("positions",), [1, 0]),
        (("network", "rate_mbps"), 20.001),
        (("network", "loss_every_packets"), 100),
        (("kernel_settings",), {"tcp_cubic.beta": 717}),
        (("network", "rtt_ms"), 51),
        (("network", "forward_delay_percent"), 60),
        (("network", "buffer_bdp"), 2),
        (("network", "queue"), "codel"),
        (("network", "loss_percent"), 1),
        (("network", "return_loss_percent"), 1),
        (("network", "burst_loss"), BurstLoss(good_to_bad_percent=1, bad_to_good_percent=9).model_dump()),
        (("network", "jitter_ms"), 1),
        (("network", "reorder_percent"), 1),
        (("network", "duplicate_percent"), 1),
        (("network", "offload"), True),
        (("network", "schedule"), [Change(at_s=1, rtt_ms=9).model_dump()]),
        (("flows", 0, "contestant", "stack"), "quic-go"),
        (("flows", 0, "contestant", "cca"), "bbr"),
        (("flows", 0, "contestant", "receiver"), "quic-go"),
        (("flows", 0, "contestant", "receiver_cpu"), {"per_packet_us": 60}),
        (("flows", 0, "contestant", "tls"), True),
        (("flows", 0, "contestant", "options"), {}),
        (("flows", 0, "contestant", "options", "b"), 2),
        (("flows", 0, "contestant", "options", "b"), True),
        (("flows", 0, "start_ms"), 12.501),
        (("flows", 0, "size_bytes"), 1),
        (("flows", 0, "rtt_ms"), 50),
        (("duration_s",), 61),
        (("seed",), 2),
        (("clock",), "real"),
        (("raw_capture",), True),
    ],
)
def test_whatever_matters_moves_it(path: tuple[str | int, ...], value: Any) -> None:
    assert trial_id(change(TRIAL, path, value), ENVIRONMENT) != trial_id(TRIAL, ENVIRONMENT)


@pytest.mark.parametrize(
    ("path", "value"), [(("network", "name"), "b"), (("flows", 0, "contestant", "label"), "me")]
)
def test_what_is_only_for_the_reader_does_not(path: tuple[str | int, ...], value: str) -> None:
    assert trial_id(change(TRIAL, path, value), ENVIRONMENT) == trial_id(TRIAL, ENVIRONMENT)


def test_the_order_of_flows_matters() -> None:
    assert trial_id(TRIAL.model_copy(update={"flows": TRIAL.flows[::-1]}), ENVIRONMENT) != trial_id(
        TRIAL, ENVIRONMENT
    )


def test_a_trace_counts_by_its_content_not_by_its_path(tmp_path: Path) -> None:
    def identity(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        network = Network(trace_file=str(path), rtt_ms=50, buffer_bdp=1)
        return trial_id(TRIAL.model_copy(update={"network": network}), ENVIRONMENT)

    assert identity("a", "1\n2\n") == identity("b", "1\n2\n")
    assert identity("a", "1\n2\n") != identity("b", "1\n3\n")


HASHES = st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=5)
WORDS = st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,8}", fullmatch=True)


@given(st.dictionaries(WORDS, WORDS, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_dictionaries_does_not_matter(words: dict[str, str], random: Any) -> None:
    shuffled = list(words.items())
    random.shuffle(shuffled)
    assert trial_id(TRIAL, dict(shuffled)) == trial_id(TRIAL, words)
    path = ("flows", 0, "contestant", "options")
    assert trial_id(change(TRIAL, path, dict(shuffled)), {}) == trial_id(change(TRIAL, path, words), {})


@given(HASHES, HASHES)
def test_the_environment_moves_it(one: dict[str, str], other: dict[str, str]) -> None:
    assert (trial_id(TRIAL, one) == trial_id(TRIAL, other)) == (one == other)


@given(st.integers(0, 2**63 - 1), st.floats(0.001, 36_000), st.floats(0, 36_000_000))
def test_a_trial_read_back_from_json_is_the_same_trial(seed: int, duration_s: float, start_ms: float) -> None:
    flow = TRIAL.flows[0].model_copy(update={"start_ms": start_ms})
    trial = Trial(network=TRIAL.network, flows=(flow,), duration_s=duration_s, seed=seed)
    again = Trial.model_validate_json(trial.model_dump_json())
    assert trial_id(again, ENVIRONMENT) == trial_id(trial, ENVIRONMENT)


def _code() -> set[str]:
    """The files whose edit gives every trial a new identity."""
    found = source.files(environment.PACKAGES, facts=False, without=environment.WITHOUT)
    return {path.relative_to(Path(source.__file__).parent).as_posix() for path in found}


@pytest.mark.parametrize(
    "decides",
    [
        "testbed/guest.py",
        "testbed/chromium/drive.py",
        "trial/plan.py",
        "trial/validate.py",
        "metrics/queueing.py",
        "stacks/command.py",
        "pages/site.py",
        "kernel/boot.py",
        "trace/packets.py",
    ],
)
def test_code_that_decides_a_trials_files_is_part_of_its_identity(decides: str) -> None:
    assert decides in _code()


def test_code_that_only_shows_or_schedules_trials_is_no_part_of_it() -> None:
    rooms = ("cli/", "run/", "report/", "stats/", "judging/", "suites/", "probes/", "debian/", "doctor/")
    assert not [path for path in _code() if path.startswith((*rooms, "progress.py"))]


@pytest.mark.parametrize("words", ["study/hints.py", "study/offered.py", "stacks/unavailable.py"])
def test_code_that_only_words_errors_is_no_part_of_it(words: str) -> None:
    assert words not in _code()


def test_certificates_are_part_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for path in environment.CERTIFICATES.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    before = environment.testbed_hash()
    environment.testbed_hash.cache_clear()
    monkeypatch.setattr(environment, "CERTIFICATES", tmp_path)
    assert environment.testbed_hash() == before
    environment.testbed_hash.cache_clear()
    (tmp_path / "cert.pem").write_text("another")
    assert environment.testbed_hash() != before
    environment.testbed_hash.cache_clear()
