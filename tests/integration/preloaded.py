"""A process that imports the commands once, and becomes ``python -m cambrian`` for each request by a fork.

A request is a folder and a command's words in JSON, with its standard output and error as files; the answer
is the exit status. No function of Cambrian runs before the fork, so nothing is kept from command to command.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing.process
import os
import runpy
import signal
import socket
import sys
import threading

from cambrian.parallel import end_with

#: what the commands of the tests import late
MODULES = (
    "cambrian.cli",
    "cambrian.export.export",
    "cambrian.gate.carry_out",
    "cambrian.gate.output",
    "cambrian.report.compared.page",
    "cambrian.report.study_page",
    "cambrian.run.local",
    "cambrian.run.study",
    "cambrian.store.merge",
    "cambrian.suites.run",
)


def become_a_command() -> None:
    """Answer requests; returns in a process that is to be a command, once for each."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    end_with(int(sys.argv[2]))
    # ended by Ctrl-C without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for name in MODULES:
        importlib.import_module(name)
    assert threading.active_count() == 1, "a fork copies one thread alone"
    here = os.getpid()
    while True:
        request, files, *_ = socket.recv_fds(asked, 2**16, 2)
        if not request:
            sys.exit()
        if child := os.fork():
            for file in files:
                os.close(file)
            asked.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            continue
        end_with(here)
        asked.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for file, standard in zip(files, (1, 2), strict=True):
            os.dup2(file, standard)
            os.close(file)
        folder, *words = json.loads(request)
        os.chdir(folder)
        # as Python starts with -m, and multiprocessing a worker
        sys.path[0] = multiprocessing.process.ORIGINAL_DIR = folder  # type: ignore[attr-defined]
        sys.argv = ["cambrian", *words]
        return


if __name__ == "__main__":
    become_a_command()
    runpy.run_module("cambrian", run_name="__main__", alter_sys=True)
