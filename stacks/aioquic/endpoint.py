"""The aioquic endpoint of the endpoint contract (docs/reference/endpoint-contract.md), over hq-interop.

Run as ``python -I endpoint.py server|client|describe …``; the libraries are in ``site`` beside it.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "site")]

import client  # noqa: E402
import options  # noqa: E402
import server  # noqa: E402
from events import Emitter  # noqa: E402


def main(arguments: list[str]) -> int:
    """Run one role to its end; the exit status is the contract's."""
    emit = Emitter(sys.stdout)
    try:
        match options.parse(arguments):
            case options.Server() as wanted:
                return server.run(wanted, emit)
            case options.Client() as wanted:
                return client.run(wanted, emit)
            case options.Describe():
                emit.write(options.description())
                return 0
    except options.Refused as refused:
        print(f"cambrian-aioquic: {refused}", file=sys.stderr)
        return refused.status
    except OSError as error:
        print(f"cambrian-aioquic: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
