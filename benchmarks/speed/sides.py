"""A side of a measurement: a checkout's Python that runs trials on one core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: one core, as in a study with one trial a core; libraries read this when they are imported
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
WORKER = Path(__file__).with_name("worker.py")


class SideError(RuntimeError):
    """A side cannot do what it was asked; the text says why."""


class Side:
    """``python`` of a checkout, in its folder ``root``; ``kernel``: not the checkout's own."""

    def __init__(
        self,
        name: str,
        core: int,
        *,
        root: Path = ROOT,
        python: Path = Path(sys.executable),
        kernel: Path | None = None,
    ) -> None:
        self.name, self.root, self.python = name, root, python
        self.environment = os.environ | ONE_THREAD
        if kernel is not None:
            self.environment["CAMBRIAN_KERNEL"] = str(kernel.absolute())
        # not the checkout's own copy of the file: both sides must do the same
        argv = [str(python), "-I", str(WORKER), str(core)]
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root, env=self.environment
        )

    @classmethod
    def of_checkout(cls, name: str, core: int, folder: Path) -> Side:
        """Another checkout, with its own Python.

        Raises:
            SideError: it has none.
        """
        python = folder.absolute() / ".venv" / "bin" / "python"
        if not python.exists():
            raise SideError(f"{python} does not exist; remedy: cd {folder} && scripts/setup dev")
        return cls(name, core, root=folder.absolute(), python=python)

    @property
    def pid(self) -> int:
        """The process whose descendants are the guests of this side."""
        return self._process.pid

    def prepare(self, stacks: Collection[str]) -> None:
        """Build what these stacks need, with progress on standard error."""
        self.ask("prepare", stacks=sorted(stacks))

    def ask(self, do: str, **task: Any) -> dict[str, Any]:
        """Have a task done (:class:`benchmarks.speed.worker.Worker`).

        Raises:
            SideError: it failed.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(json.dumps({"do": do, **task}), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise SideError(f"{self.name}: its Python ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise SideError(f"{self.name}: {answer['error']}")
        return answer

    def close(self) -> None:
        """Let its Python end."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
