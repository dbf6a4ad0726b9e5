"""Do other machines give the same packets? Virtual machines with other Debian releases and other processors.

    sudo .venv/bin/python benchmarks/other_machines.py [--release bookworm] [--release trixie]
        [--cpu Haswell] [--cpu max | --no-cpu] [--accel tcg | kvm]

Needs root, the Debian packages mmdebstrap, qemu-system-x86 and bubblewrap, the machine's Debian mirror and
Python index, about 8 GB in $TMPDIR (or /tmp), and 5 GB of memory.

For each release: a Debian root with its own Python, libc, compiler and kernel, this checkout, a copy of the
kernel and the stacks of this user's cache, and a virtual environment from the lock. What depends on the
release is built there: kernel TCP's program, the testbed's, and stacks of C in Debian packages (ngtcp2). Then
``cambrian selftest --only shipped`` runs on this machine, in the plain root (on this machine's kernel and
processor), and for each --cpu in a virtual machine of the root without any network. The processors are QEMU's
(``qemu-system-x86_64 -cpu help``), in software, which is slow. They need the level x86-64-v3, as duckdb and
polars do. --accel kvm is faster, where it works; it can only hide features of this machine's processor.

A row a machine: release, Python, libc, compiler, kernel, processor with its x86-64 level and features, and
whether the packets have the hashes of the repository, or the first packet that differs. The exit status is 1
if anything differs or could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from cambrian import paths, progress
from cambrian.command import CommandFailed, run
from cambrian.debian import apt_sources, packages
from cambrian.kernel import locate
from cambrian.selftest import shipped
from cambrian.stacks import build, catalogue
from cambrian.stacks.catalogue import REFERENCE_STACK

#: program → its Debian package
TOOLS = {
    "mmdebstrap": "mmdebstrap",
    "qemu-system-x86_64": "qemu-system-x86",
    "mke2fs": "e2fsprogs",
    "bwrap": "bubblewrap",
}
#: what a root has besides the essential packages
PACKAGES: tuple[str, ...] = ("linux-image-cloud-amd64", "initramfs-tools", "iproute2", "udev", "bubblewrap")
PACKAGES += ("make", "gcc", "libc6-dev", "libssl-dev", "python3", "python3-venv")
#: places in a root
CHECKOUT, CACHE, INIT = "cambrian", "root/.cache/cambrian", "cambrian-init"
#: features of a processor that libc and cryptography look for
FEATURES = ("fsgsbase", "erms", "aes", "pclmulqdq", "avx2", "adx", "sha_ni", "vaes", "avx512f")
COLUMNS = ("release", "python", "libc", "gcc", "kernel", "processor")
#: begins the line of an answer
MARK = "cambrian machine: "
HERE = ("benchmarks/other_machines.py", "--here")
#: makes the virtual environment as scripts/setup does
VENV = """set -e
python3 -m venv .venv
pip=".venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps"
$pip --require-hashes --requirement requirements/runtime.txt
$pip --no-build-isolation --editable .
"""
#: the virtual machine's first program; through cat, standard error is no terminal
START = f"""#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
mkdir -p /dev/shm
for place in /tmp /run /dev/shm; do mount -t tmpfs tmpfs $place; done
ip link set lo up
cd /{CHECKOUT}
.venv/bin/python {" ".join(HERE)} 2>&1 | cat
echo o >/proc/sysrq-trigger
sleep 60
"""
#: for its kernel. mitigations: slow in software. cx16: QEMU 7.2 ends Linux 6.12 at this instruction (double
#: fault); only the kernel's own use is off. no_timer_check: a busy machine fails it
KERNEL = "console=ttyS0 quiet panic=-1 mitigations=off clearcpuid=cx16 no_timer_check root=/dev/vda rw"
#: how long each step takes on two idle cores, for the progress
SECONDS = {"root": 120, "venv": 60, "stacks": 30, "disk": 30, "plain": 30, "tcg": 1800, "kvm": 120}
#: a virtual machine that takes longer hangs
PATIENCE_S = 12 * 3600

Answer = dict[str, str]


def here() -> Answer:
    """What this machine is, and what the self-test says.

    ``trials``: how many have the shipped packets. ``differs``: the words about those that have others, empty
    if none have; ``apart``: about those that cannot be compared here.
    """
    # an emulated processor needs more CPU time than a trial may have
    argv = ["-m", "cambrian", "selftest", "--only", "shipped", "--json", "--cpu-limit", str(PATIENCE_S)]
    rows = [
        row for row in json.loads(_said(sys.executable, *argv))["checks"] if row["name"] != shipped.NOT_BUILT
    ]
    cpu = dict(re.findall(r"^(model name|flags)\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE))
    level = re.search(
        r"^\s*(x86-64-v\d) \(supported", _said("/lib64/ld-linux-x86-64.so.2", "--help"), re.MULTILINE
    )
    features = " ".join(name for name in FEATURES if name in cpu["flags"].split())
    return {
        "release": apt_sources.codename(),
        "python": platform.python_version(),
        "libc": platform.libc_ver()[1],
        "gcc": _said("gcc", "-dumpfullversion").strip(),
        "kernel": platform.release(),
        "processor": f"{cpu['model name'].strip()}, {level[1] if level else 'x86-64-v1'}, {features}",
        "trials": str(sum(row["ok"] is True for row in rows)),
        "differs": "; ".join(f"{row['name']}: {row['measured']}" for row in rows if row["ok"] is False),
        "apart": "; ".join(f"{row['name']}: {row['measured']}" for row in rows if row["ok"] is None),
    }


def _said(*argv: str) -> str:
    return subprocess.run(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False
    ).stdout


def step(title: str, kind: str, argv: Sequence[str], log: Path) -> Answer:
    """Run a command with progress; returns the answer in its output, if there is one.

    Raises:
        CommandFailed: a status other than 0.
    """
    found: Answer = {}

    def look(line: str) -> None:
        if line.startswith(MARK):
            found.update(json.loads(line.removeprefix(MARK)))

    with progress.step(title, total=float(SECONDS[kind])) as shown:
        environment = os.environ | {"TMPDIR": str(log.parent)}
        run(argv, log=log, environment=environment, on_line=look, on_tick=shown.reach)
    return found


def ask(title: str, kind: str, argv: Sequence[str], log: Path) -> Answer:
    """The answer of a machine; without one, the end of its output goes to standard error."""
    log.unlink(missing_ok=True)
    try:
        if answer := step(title, kind, argv, log):
            return answer
        print(*log.read_text(errors="replace").splitlines()[-30:], sep="\n", file=sys.stderr)
    except CommandFailed as failed:
        print(failed, file=sys.stderr)
    return {"differs": "it gave no answer; standard error has the reason"}


def inside(root: Path, argv: Sequence[str], *, network: bool = False) -> list[str]:
    """``argv`` with ``root`` as its file tree; no mount is left, whatever ends it."""
    words = ["bwrap", "--bind", str(root), "/", "--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc"]
    # with these rights the guests' own walls stand inside this one
    words += ["--ro-bind", "/sys", "/sys", "--tmpfs", "/tmp", "--cap-add", "ALL", "--die-with-parent"]
    words += ["--setenv", "PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "--setenv", "HOME", "/root"]
    words += ["--unsetenv", "TMPDIR", "--unsetenv", "PYTHONPATH", "--chdir", f"/{CHECKOUT}"]
    if not network:
        return [*words, "--unshare-net", "--", *argv]
    # pip's settings, and what finds and trusts its index
    words += ["--ro-bind-try", str(Path.home() / ".config" / "pip"), "/root/.config/pip"]
    for place in ("/etc/pip.conf", "/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs"):
        words += ["--ro-bind-try", place, place]
    return [*words, "--", *argv]


def make_root(release: str, root: Path, log: Path) -> None:
    """A Debian root with the checkout, its virtual environment, and what the cache has.

    Raises:
        CommandFailed: a mirror, a package or a Python package cannot be had.
    """
    # this machine's proxies and certificates
    settings = [line for line in _said("apt-config", "dump").splitlines() if line.startswith("Acquire::http")]
    # in namespaces of its own: with bubblewrap all its processes and mounts end
    argv = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--die-with-parent"]
    argv += ["--cap-add", "ALL", "--", "mmdebstrap", "--mode=root", "--variant=minbase"]
    argv += [f"--include={','.join(PACKAGES)}", "--dpkgopt=force-unsafe-io"]
    argv += [f"--aptopt={line}" for line in settings]
    mirrors = apt_sources.debian_mirrors(apt_sources.entries(packages.SOURCES), apt_sources.codename())
    if not mirrors:
        raise SystemExit(f"{packages.SOURCES} names no Debian mirror; remedy: add one")
    step(f"{release}: root", "root", [*argv, release, str(root), mirrors[0]], log)
    unneeded = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "results", "site")
    shutil.copytree(paths.data(), root / CHECKOUT, symlinks=True, ignore=unneeded)
    step(f"{release}: Python packages", "venv", inside(root, ["sh", "-c", VENV], network=True), log)
    names = shipped.built() - {REFERENCE_STACK}
    cached = [build.ensure(stack).folder for name, stack in catalogue.load().items() if name in names]
    for folder in (locate.ensure().path.parent, *cached):
        shutil.copytree(folder, root / CACHE / folder.relative_to(paths.cache()), symlinks=True)
    # those whose build depends on the machine's release
    argv = [".venv/bin/python", "-m", "cambrian", "stacks", "build", *sorted(names)]
    step(f"{release}: stacks", "stacks", inside(root, argv, network=True), log)
    (root / INIT).write_text(START)
    (root / INIT).chmod(0o755)


def virtual(root: Path, image: Path, cpu: str, accel: str) -> list[str]:
    """The command of a virtual machine that does not change its disk."""
    (kernel,), (initrd,) = root.glob("boot/vmlinuz-*"), root.glob("boot/initrd.img-*")
    argv = ["timeout", str(PATIENCE_S), "qemu-system-x86_64", "-cpu", cpu, "-smp", "2", "-m", "4096"]
    argv += [
        "-accel",
        "tcg,thread=multi" if accel == "tcg" else accel,
        "-display",
        "none",
        "-serial",
        "stdio",
    ]
    argv += [
        "-nic",
        "none",
        "-no-reboot",
        "-kernel",
        str(kernel),
        "-initrd",
        str(initrd),
        "-append",
        f"{KERNEL} init=/{INIT}",
    ]
    return [*argv, "-drive", f"file={image},if=virtio,format=raw,snapshot=on"]


def answers(
    releases: Sequence[str], cpus: Sequence[str], accel: str, folder: Path
) -> Iterator[tuple[str, Answer]]:
    """Each machine's name and answer, one machine after another."""
    log, root, image = folder / "log", folder / "root", folder / "disk"
    script = str(paths.data() / HERE[0])
    yield "this machine", ask("this machine", "plain", [sys.executable, script, *HERE[1:]], log)
    for release in releases:
        make_root(release, root, log)
        size_kb = int(_said("du", "-sk", str(root)).split()[0]) * 5 // 4 + 2**20
        step(
            f"{release}: disk",
            "disk",
            ["mke2fs", "-q", "-t", "ext4", "-d", str(root), str(image), f"{size_kb}k"],
            log,
        )
        plain = inside(root, [".venv/bin/python", *HERE])
        yield "plain root", ask(f"{release}: plain root", "plain", plain, log)
        for cpu in cpus:
            title = f"{release} on {cpu}"
            yield f"QEMU {accel} {cpu}", ask(title, accel, virtual(root, image, cpu, accel), log)
        shutil.rmtree(root)
        image.unlink()


def main() -> None:
    """Print a row a machine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--release", action="append", choices=apt_sources.RELEASES)
    cpu = parser.add_mutually_exclusive_group()
    cpu.add_argument("--cpu", action="append")
    cpu.add_argument("--no-cpu", action="store_const", const=[], dest="cpu", help="no virtual machines")
    parser.add_argument("--accel", choices=("tcg", "kvm"), default="tcg")
    parser.add_argument("--here", action="store_true", help="only this machine, as one line")
    asked = parser.parse_args()
    if asked.here:
        print(MARK + json.dumps(here()))
        return
    if missing := sorted(package for tool, package in TOOLS.items() if not shutil.which(tool)):
        raise SystemExit(f"programs are missing; remedy: apt-get install {' '.join(missing)}")
    if os.geteuid():
        raise SystemExit(f"only root can make a Debian root; remedy: sudo {sys.executable} {HERE[0]}")
    # the temporary folder is removed then too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(
        f"| machine | {' | '.join(COLUMNS)} | packets |",
        f"{'|---' * (len(COLUMNS) + 2)}|",
        sep="\n",
        flush=True,
    )
    releases = asked.release or ["bookworm", "trixie"]
    cpus = ["Haswell", "max"] if asked.cpu is None else asked.cpu
    wrong = False
    with tempfile.TemporaryDirectory(prefix="cambrian-machines-") as name:
        for machine, answer in answers(releases, cpus, asked.accel, Path(name)):
            told = answer["differs"] or f"the same in {answer['trials']} trials"
            if answer.get("apart"):
                told += f"; not compared: {answer['apart']}"
            print(
                "|",
                " | ".join([machine, *(answer.get(each, "?") for each in COLUMNS), told]),
                "|",
                flush=True,
            )
            wrong |= bool(answer["differs"])
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
