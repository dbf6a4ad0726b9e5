"""Makes the command line that boots a guest; a pure function, the caller runs the command.

The guest's root is the host's file tree, read-only; ``KEY=VALUE`` words become init's
environment. The caller must give standard input from /dev/null, kill a guest that spins, and have a
TMPDIR (or /dev/shm) that is not mounted noexec, because it holds the guest's memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cambrian.kernel.model import Kernel
from cambrian.study.model import Clock

#: User-mode Linux puts a guest's memory into the first of these that is set, else /dev/shm, else /tmp
MEMORY_VARIABLES = ("TMPDIR", "TMP", "TEMP")
#: longest command line of the kernel (COMMAND_LINE_SIZE of arch/um); it would cut off the rest
COMMAND_LINE_BYTES = 4096
#: most environment words that the kernel passes to init (CONFIG_INIT_ENV_ARG_LIMIT, minus HOME and TERM)
ENVIRONMENT_WORDS = 126
#: default start of virtual time: in January 2027, when all our certificates are valid
START_NS = 1_800_000_000 * 10**9


def command(
    kernel: Kernel,
    *,
    init: Path,
    run_directory: Path,
    memory_mb: int = 512,
    seed: int = 1,
    clock: Clock = "virtual",
    start_ns: int = START_NS,
    environment: Mapping[str, str] | None = None,
    settings: Mapping[str, int] | None = None,
    arguments: Sequence[str] = (),
    core: int | None = None,
    seccomp: bool = True,
) -> list[str]:
    """The words that boot ``kernel`` with ``init`` (an absolute host path) as its first program.

    ``settings`` are parameters of built-in modules (``tcp_cubic.beta``: 717); ``arguments``
    are those of ``init``. ``run_directory`` is a writable folder only for this guest,
    for the kernel's pid file (by default it goes to the user's home). ``memory_mb`` is
    the guest's memory in 2^20 bytes. ``seed`` decides the guest's randomness, ``start_ns`` is
    the date at boot (nanoseconds since 1970; virtual clock only). ``core`` pins kernel and
    programs to one core: only one of them runs at a time, so they are three times faster on
    one core. ``seccomp`` false uses ptrace, as does a kernel without seccomp mode: slower, with the
    same results.

    Raises:
        ValueError: a word that the kernel's command line cannot have.
    """
    words = [str(kernel.path.absolute())]
    if clock == "virtual":
        words += ["time-travel=inf-cpu", f"time-travel-start={start_ns}"]
        if kernel.features.vdso_clock:
            words.append("cambrian.vdso_clock=1")
        if kernel.features.tsc:
            words.append("cambrian.tsc=1")
    if kernel.features.seccomp:
        words.append(f"seccomp={'on' if seccomp else 'off'}")
    if kernel.features.seed:
        words.append(f"cambrian.seed={seed}")
    words += [
        "norandmaps",
        f"mem={memory_mb}M",
        f"uml_dir={_path(run_directory)}/",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        f"init={_path(init)}",
        "con=null",
        "con0=fd:0,fd:1",
        "quiet",
    ]
    words += [f"{name}={value}" for name, value in (settings or {}).items()]
    words += _environment_words(environment or {})
    if any(re.search(r"[\s\"']", argument) for argument in arguments):
        raise ValueError(
            f"no blanks or quotes in the guest's arguments (a path of the installation?): {list(arguments)}"
        )
    if arguments:
        words += ["--", *arguments]
    if sum(len(word.encode()) + 1 for word in words[1:]) > COMMAND_LINE_BYTES:
        raise ValueError(f"the guest's command line is longer than {COMMAND_LINE_BYTES} bytes")
    return words if core is None else ["taskset", "--cpu-list", str(core), *words]


def _path(path: Path) -> str:
    text = str(path)
    if not path.is_absolute() or re.search(r"[\s\"',=]", text):
        raise ValueError(f"{text!r}: the guest needs an absolute path without blanks, quotes, commas or '='")
    return text


def _environment_words(environment: Mapping[str, str]) -> list[str]:
    if len(environment) > ENVIRONMENT_WORDS:
        raise ValueError(
            f"{len(environment)} environment words: the kernel passes at most {ENVIRONMENT_WORDS}"
        )
    for name, value in environment.items():
        # a name with a dot would be a module's parameter, a lower-case name could be the kernel's
        if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
            raise ValueError(f"environment name {name!r}: capitals, digits and _ only")
        if re.search(r"[\s\"']", value):
            raise ValueError(f"environment {name}={value!r}: no blanks or quotes on a kernel command line")
    return [f"{name}={value}" for name, value in environment.items()]
