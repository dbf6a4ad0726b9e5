"""``--clock host`` on a kernel that has all it needs: in a guest, whose kernel is the host's own there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cambrian import paths
from cambrian.kernel import locate
from cambrian.metrics.throughput import total_throughput_mbps
from cambrian.run import prepare
from cambrian.store.results import Results
from cambrian.study.model import Clock
from cambrian.trial import real_time
from tests.integration.boots import first_script, output
from tests.integration.conftest import duel, flow

RATE_MBPS = 5.0
SECOND = 1_000_000_000
#: the shell's commands in the guest. Namespaces are those of its processes, and those that a mount keeps
SCRIPT = """
mount -t sysfs sysfs /sys
mount -o remount,rw /
# inside the wall, root may not enter closed folders of the user who runs the tests
results=/mnt
mount -t tmpfs tmpfs $results
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1 HOME={home}
export PYTHONPATH={source} CAMBRIAN_CACHE={cache}
programs() {{
    cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -c -e bwrap -e cambrian
}}
traces() {{
    echo "$1: $(readlink /proc/[0-9]*/ns/net | sort -u | wc -l) namespaces," \\
        "$(grep -c nsfs /proc/mounts) mounts, $(tc qdisc | wc -l) queues," \\
        "$(ip -o link | wc -l) devices, $(programs) programs"
}}
few=$(programs)
traces before
{python} -m cambrian trial {short} --out $results/short > {out}.said 2>&1
echo trial $?
cp -r $results/short {out}
traces after
{python} -m cambrian trial {long} --out $results/long > {out}.killed.said 2>&1 &
run=$!
tries=0
until [ "$(readlink /proc/[0-9]*/ns/net | sort -u | wc -l)" -ge 4 ] || [ $tries -ge 300 ]; do
    sleep 0.5
    tries=$((tries + 1))
done
traces during
kill -9 $run
tries=0
until [ "$(programs)" -le "$few" ] || [ $tries -ge 120 ]; do
    sleep 0.5
    tries=$((tries + 1))
done
traces killed
true
"""


def _run_in_guest(tmp_path: Path, clock: Clock) -> tuple[dict[str, str], Results]:
    """What the guest printed, by the first word of each line, and the results folder."""
    prepare.ensure({"tcp"})
    files = {}
    for name, seconds in (("short", 6), ("long", 600)):
        trial = duel(flow("tcp", "cubic"), seconds=seconds, rate_mbps=RATE_MBPS, rtt_ms=40, offload=True)
        files[name] = tmp_path / f"{name}.json"
        files[name].write_text(trial.model_copy(update={"clock": "host"}).model_dump_json())
    out = tmp_path / "out"
    script = SCRIPT.format(
        home=tmp_path,
        source=Path(prepare.__file__).parents[2],
        cache=paths.cache(),
        python=sys.executable,
        out=out,
        **files,
    )
    init = first_script(script, tmp_path)
    lines = output(locate.ensure(), init, tmp_path / "boot", clock=clock, memory_mb=1536, timeout_s=540)
    said = {word: rest for word, _, rest in (line.partition(" ") for line in lines)}
    return said, Results(out)


@pytest.mark.parametrize(
    ("clock", "tolerance"),
    [
        pytest.param("virtual", 0.01, marks=pytest.mark.long),
        # the machine's own scheduling is part of the figure
        pytest.param("real", 0.1, marks=pytest.mark.slow),
    ],
)
def test_a_trial_runs_in_namespaces_of_the_kernel_and_leaves_nothing(
    tmp_path: Path, clock: Clock, tolerance: float
) -> None:
    said, results = _run_in_guest(tmp_path, clock)
    (folder,) = (tmp_path / "out" / "trials").iterdir()
    result = results.trial(folder.name)
    assert said["after:"] == said["before:"]
    assert said["during:"] != said["before:"], (tmp_path / "out.killed.said").read_text()
    assert said["killed:"] == said["before:"]
    manifest = result.manifest
    behind = real_time.behind(manifest["guest"])
    if clock == "real" and behind and not result.verdict["valid"]:
        pytest.skip(f"{behind}: {result.verdict['reasons']}")
    assert result.verdict["valid"], result.verdict["reasons"]
    assert said["trial"] == "0"
    carried = total_throughput_mbps(result.packets, 2 * SECOND, 6 * SECOND)
    assert carried == pytest.approx(RATE_MBPS, rel=tolerance)
    assert manifest["trial"]["clock"] == "host"
    assert manifest["kernel"]["key"] == "host"
    assert manifest["kernel"]["version"] == locate.ensure().version != os.uname().release
    assert manifest["guest"]["lateness"]["waits"] > 100
