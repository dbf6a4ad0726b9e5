"""What a trial's plan provides for: the largest path of its schedule, and a capture that loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from cambrian.kernel.model import Features, Kernel
from cambrian.stacks import catalogue, template
from cambrian.stacks.built import Built
from cambrian.study.model import Change, Contestant, Flow, Network, Trial
from cambrian.testbed.contract import Plan
from cambrian.trial import boot, guest_packages, plan
from cambrian.trial.environment import Native
from cambrian.trial.wall import Wall

FLOW = Flow(contestant=Contestant(stack="quinn", cca="cubic"))
STEPS = (Change(at_s=5, rate_mbps=500), Change(at_s=10, rtt_ms=200))


def planned(network: Network, tmp_path: Path, flow: Flow = FLOW, **asked: int) -> Plan:
    trial = Trial(network=network, flows=(flow,), duration_s=20)
    stack = catalogue.load()["quinn"]
    built = {"quinn": Built(stack, tmp_path, tmp_path / "server", "0" * 64)}
    return plan.make(trial, built, Native(tmp_path, "0" * 64), **asked)


def network(*steps: Change) -> Network:
    return Network(name="n", rate_mbps=10, rtt_ms=50, buffer_bdp=1, schedule=steps)


def ring_kib(made: Plan) -> int:
    argv = made["capture"]["argv"]
    return int(argv[argv.index("--ring-kib") + 1])


def test_a_manifest_may_have_just_the_words_that_a_plan_fills(tmp_path: Path) -> None:
    stack = catalogue.load()["quinn"]
    built = Built(stack, tmp_path, tmp_path / "server", "0" * 64)
    trial = Trial(network=network(), flows=(FLOW,), duration_s=20)
    assert set(plan._words(built, trial, 0, "sender", "h3", 1)) == template.WORDS


def test_options_in_another_order_are_the_same_command(tmp_path: Path) -> None:
    """They have the same identity."""
    options = {"packet_threshold": 4, "initial_window_packets": 32}
    commands = []
    for items in (options.items(), reversed(options.items())):
        flow = Flow(contestant=Contestant(stack="quinn", cca="cubic", options=dict(items)))
        commands.append(planned(network(), tmp_path, flow)["flows"][0]["sender"]["argv"])
    assert commands[0] == commands[1]
    assert commands[0][-4:] == ["--set", "initial_window_packets=32", "--set", "packet_threshold=4"]


def test_the_ring_is_for_the_largest_path_of_the_schedule(tmp_path: Path) -> None:
    # 500 Mbps and 200 ms are 12.5 MB, eight times 8,256 packets of 256 bytes
    assert ring_kib(planned(network(), tmp_path)) == 256
    assert ring_kib(planned(network(*STEPS), tmp_path)) > 16_000


def test_bodies_are_for_the_highest_rate_of_the_schedule() -> None:
    trials = [Trial(network=one, flows=(FLOW,), duration_s=20) for one in (network(), network(*STEPS))]
    sizes = [min(plan._bodies(trial, FLOW).values()) for trial in trials]
    assert sizes[1] == 50 * sizes[0]


def test_a_ring_that_overflowed_grows_to_its_largest_size(tmp_path: Path) -> None:
    sizes = [256]
    while (
        larger := plan.larger_ring_kib(planned(network(), tmp_path, least_ring_kib=sizes[-1]))
    ) is not None:
        sizes.append(larger)
    assert sizes == [256, 4096, 65536]


@pytest.mark.parametrize(("size_kib", "more_mb"), [(256, 0), (4096, 8), (65536, 128)])
def test_a_large_ring_has_memory_of_its_own(size_kib: int, more_mb: int, tmp_path: Path) -> None:
    plain = planned(network(), tmp_path)["memory_mb"]
    assert planned(network(), tmp_path, least_ring_kib=size_kib)["memory_mb"] == plain + more_mb


def test_of_a_traces_folder_only_the_trace_is_behind_the_wall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("testbed", "ensure"):
        monkeypatch.setattr(guest_packages, name, lambda: Path("/code"))
    private = tmp_path / "private"
    private.mkdir()
    trace = private / "link.trace"
    trace.write_text("1\n2\n")
    (private / "diary.txt").write_text("secret")
    made = planned(Network(trace_file=str(trace), rtt_ms=50, buffer_bytes=50_000), tmp_path)
    kernel = Kernel(tmp_path / "linux", "6", "k", "0" * 64, Features(True, True, True, True))

    def view(around: Wall) -> boot._View:
        return boot._View.of(kernel, made, tmp_path / "out", tmp_path / "scratch", around, ())

    walled = view(Wall("/usr/bin/bwrap"))
    assert private not in walled.readable.values()
    (inside,) = (place for place, path in walled.readable.items() if path == trace)
    assert walled.mounts["/run/cambrian/trace"] == str(inside.parent)
    assert "/run/cambrian/trace/link.trace" in made["bottleneck"]["tracelink"]["argv"]
    assert view(Wall(None)).mounts["/run/cambrian/trace"] == str(private)
