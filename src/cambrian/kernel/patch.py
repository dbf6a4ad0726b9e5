"""Applies our patches to a source tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cambrian.command import CommandFailed, run
from cambrian.kernel.model import KernelError


def apply(tree: Path, patches: Sequence[Path], *, log: Path, environment: dict[str, str]) -> None:
    """Apply each patch in turn. Raises :class:`KernelError` for the first that does not apply completely."""
    for path in patches:
        # little fuzz, because a hunk in the wrong function is worse than a failure
        argv = ["patch", "-p1", "--forward", "--batch", "--fuzz=1", "--no-backup-if-mismatch"]
        argv += ["-i", str(path)]
        try:
            run(argv, cwd=tree, log=log, environment=environment)
        except CommandFailed as error:
            raise KernelError(
                f"{path.name} does not fit this kernel source. Use another (CAMBRIAN_KERNEL_SOURCE=…) "
                f"or correct the patch.\n{error}"
            ) from error
