"""A guest is ended for the CPU time that it uses without getting anywhere, never for being slow."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cambrian.study.model import Contestant, Flow, Network, Trial
from cambrian.trace import packets
from cambrian.trial import limits
from cambrian.trial.limits import HUNG_S, Account, Limits

LIMITS = Limits(spare_s=60, cpu_s_per_s=4)


def ended(
    account: Account, cpu_s_per_look: float, virtual_s_per_look: float | None, looks: int = 10_000
) -> tuple[int, str] | None:
    """After how many looks a second apart the guest is ended, and why; None if it never is."""
    for number in range(1, looks + 1):
        reached_s = None if virtual_s_per_look is None else number * virtual_s_per_look
        if reason := account.look(number * cpu_s_per_look, reached_s, 1.0):
            return number, reason
    return None


def test_one_that_stands_still_is_ended_when_its_spare_time_is_used() -> None:
    account = Account(LIMITS, duration_s=40)
    account.look(0.0, 3.2, 1.0)
    for used_s in range(1, 61):
        assert account.look(used_s, 3.2, 1.0) is None
    reason = account.look(61, 3.2, 1.0)
    assert reason is not None
    assert "61 s of CPU time" in reason
    assert "3.2 s after boot of a trial of 40 s" in reason
    assert "--cpu-limit" in reason


def test_one_that_creeps_at_ten_processor_seconds_a_second_is_ended() -> None:
    """The debt grows by six of ten: 60 s are used up after a hundred CPU seconds."""
    found = ended(Account(LIMITS, duration_s=40), 1.0, 0.1)
    assert found is not None
    assert found[0] == pytest.approx(101, abs=1)


def test_what_a_guest_did_before_it_stood_still_does_not_count() -> None:
    account = Account(LIMITS, duration_s=10_000)
    assert ended(account, 1.0, 1.0, looks=5_000) is None
    used_s, stuck_s = account.used_s, account.reached_s
    still = [account.look(used_s + more, stuck_s, 1.0) for more in range(1, 62)]
    assert [reason is not None for reason in still] == [False] * 60 + [True]


def test_a_loaded_machine_ends_nothing() -> None:
    """A hundredth of a core: hours of wall-clock time, and hardly any progress in each look."""
    assert ended(Account(LIMITS, duration_s=40), 0.01, 0.2) is None
    assert ended(Account(LIMITS, duration_s=40), 0.01, 0.004) is None


def test_one_that_uses_nothing_hangs() -> None:
    account = Account(LIMITS, duration_s=40)
    account.look(1.0, 3.0, 1.0)
    for _ in range(HUNG_S - 1):
        assert account.look(1.0, 3.0, 1.0) is None
    reason = account.look(1.0, 3.0, 1.0)
    assert reason is not None
    assert "no CPU time for 300 s" in reason
    assert "3.0 s after boot" in reason


def test_without_sight_of_its_clock_a_guest_may_use_what_a_whole_trial_would_earn() -> None:
    found = ended(Account(LIMITS, duration_s=40), 1.0, None)
    assert found is not None
    assert found[0] == 60 + 4 * 40 + 1
    assert "clock is unknown" in found[1]


def test_a_limit_of_ones_own_holds_whatever_the_clock_says() -> None:
    found = ended(Account(limits.limits_of(trial(), 10), duration_s=6), 1.0, 1.0)
    assert found is not None
    assert found[0] == 11


def trial(**more: object) -> Trial:
    flow = Flow(contestant=Contestant(stack="tcp", cca="cubic"))
    network = Network(rate_mbps=20, rtt_ms=50, buffer_bdp=1)
    return Trial.model_validate({"network": network, "flows": (flow,), "duration_s": 6, "seed": 1, **more})


@pytest.mark.parametrize(
    ("network", "duration_s", "carried_bytes"),
    [
        ({"rate_mbps": 1000}, 600, 75e9),
        ({"rate_mbps": 10, "schedule": [{"at_s": 1, "rate_mbps": 1000}]}, 60, 7.5e9),
        # 10,000 packets in the first of ten milliseconds
        ({"trace": "1\n" * 10_000 + "10\n"}, 2, 200 * 10_001 * 1514),
        ({"trace": "1\n" * 10_000 + "10000\n"}, 2, 10_000 * 1514),
    ],
)
def test_a_trial_may_write_in_proportion_to_what_its_link_carries(
    tmp_path: Path, network: dict[str, Any], duration_s: float, carried_bytes: float
) -> None:
    if text := network.pop("trace", None):
        path = tmp_path / "link.trace"
        path.write_text(text)
        network["trace_file"] = str(path)
    made = trial(network={"rtt_ms": 50, "buffer_bdp": 1, **network}, duration_s=duration_s)
    assert limits.capacity_bytes(made) == carried_bytes
    # of each full packet, the capture has a record of its arrival and one of its departure
    least_bytes = 2 * packets.RECORD.itemsize * carried_bytes / 1514
    raw = made.model_copy(update={"raw_capture": True})
    assert limits.limits_of(made).disk_bytes > 2 * 2**30 + 2 * least_bytes
    assert limits.limits_of(raw).disk_bytes > 4 * carried_bytes


def test_real_time_has_the_hosts_clock_for_a_limit() -> None:
    account = Account(limits.limits_of(trial(clock="real")), duration_s=6)
    found = ended(account, 0.0, None)
    assert found is not None
    assert found[0] == 180 + 2 * 6 + 1
    assert "in real time" in found[1]


def test_a_groups_processor_time_has_its_ended_children_too() -> None:
    """A leader that starts a child which works and ends, then works itself."""
    work = "import time; e = time.process_time() + 0.3\nwhile time.process_time() < e: pass\n"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}]);"
    process = subprocess.Popen(
        [sys.executable, "-c", child + work + "print('done', flush=True); time.sleep(60)"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05)
        assert 0.6 <= limits.cpu_s(process.pid) < 5
    finally:
        process.kill()
        process.wait()
    assert limits.cpu_s(process.pid) == 0
