"""Configures a source tree: tinyconfig plus our fragment, and a check of the result."""

from __future__ import annotations

import re
from pathlib import Path

from cambrian.command import run
from cambrian.kernel.model import KernelError

#: first words of every make command in a kernel tree. Kconfig would write the versions of these tools
#: into the configuration, and so into the binary, although they build nothing here.
MAKE = ("make", "ARCH=um", "RUSTC=false", "BINDGEN=false", "PAHOLE=false")
#: options that the laboratory cannot work without; a kernel version may lack the others
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
    """Write ``.config`` in ``tree``. Returns the lines of the fragment that this kernel did not accept.

    Raises :class:`KernelError` if one of them is essential.
    """
    run([*MAKE, "tinyconfig"], cwd=tree, log=log, environment=environment)
    config = tree / ".config"
    config.write_text(config.read_text() + fragment.read_text())
    run([*MAKE, "olddefconfig"], cwd=tree, log=log, environment=environment)
    rejected = lost(fragment.read_text(), config.read_text())
    vital = [line for line in rejected if line.partition("=")[0] in ESSENTIAL]
    if vital:
        raise KernelError(f"this kernel source does not accept {', '.join(vital)}; configuration log: {log}")
    return rejected


def options(text: str) -> dict[str, str]:
    """Option → value of a ``.config`` or a fragment; "n" for ``# CONFIG_X is not set``. Later lines win."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        if unset := re.fullmatch(r"# (CONFIG_\w+) is not set", line.strip()):
            values[unset[1]] = "n"
        elif given := re.fullmatch(r"(CONFIG_\w+)=(.*)", line.strip()):
            values[given[1]] = given[2]
    return values


def lost(fragment: str, config: str) -> tuple[str, ...]:
    """``OPTION=value`` for each line of ``fragment`` that is not in ``config`` (an absent option is "n")."""
    have = options(config)
    wanted = options(fragment).items()
    return tuple(f"{name}={value}" for name, value in wanted if have.get(name, "n") != value)
