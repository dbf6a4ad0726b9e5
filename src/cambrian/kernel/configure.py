"""Configure a source tree: tinyconfig, our fragment on top, and a look at what came of it."""

from __future__ import annotations

import re
from pathlib import Path

from cambrian.command import run
from cambrian.kernel.model import KernelError

#: How every make of a kernel tree starts. Kconfig would ask these tools for their versions, write
#: them into the configuration, and so into the binary, though nothing here is built with them.
MAKE = ("make", "ARCH=um", "RUSTC=false", "BINDGEN=false", "PAHOLE=false")
#: Without these there is no laboratory; everything else may be missing in some kernel version.
ESSENTIAL = (
    "CONFIG_UML_TIME_TRAVEL_SUPPORT",
    "CONFIG_HOSTFS",
    "CONFIG_NET_NS",
    "CONFIG_VETH",
    "CONFIG_NET_SCH_NETEM",
    "CONFIG_NET_SCH_TBF",
    "CONFIG_INET",
)


def configure(tree: Path, fragment: Path, *, log: Path, environment: dict[str, str]) -> tuple[str, ...]:
    """Leave a ``.config`` in ``tree``. Returns the fragment's lines that this kernel did not take.

    Raises :class:`KernelError` when an essential one is among them.
    """
    run([*MAKE, "tinyconfig"], cwd=tree, log=log, environment=environment)
    config = tree / ".config"
    config.write_text(config.read_text() + fragment.read_text())
    run([*MAKE, "olddefconfig"], cwd=tree, log=log, environment=environment)
    gone = lost(fragment.read_text(), config.read_text())
    vital = [line for line in gone if line.partition("=")[0] in ESSENTIAL]
    if vital:
        raise KernelError(f"this kernel source does not take {', '.join(vital)}; configuration log: {log}")
    return gone


def options(text: str) -> dict[str, str]:
    """Option → value of a ``.config`` or a fragment; "n" for ``# CONFIG_X is not set``. Later lines win."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if unset := re.fullmatch(r"# (CONFIG_\w+) is not set", line.strip()):
            found[unset[1]] = "n"
        elif given := re.fullmatch(r"(CONFIG_\w+)=(.*)", line.strip()):
            found[given[1]] = given[2]
    return found


def lost(fragment: str, config: str) -> tuple[str, ...]:
    """``OPTION=value`` of each line of ``fragment`` that ``config`` does not hold ("n": is absent)."""
    have = options(config)
    wanted = options(fragment).items()
    return tuple(f"{name}={value}" for name, value in wanted if have.get(name, "n") != value)
