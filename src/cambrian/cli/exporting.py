"""The command that writes a trial's files for other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cambrian.cli.shared import JsonOption, err, fail, writing_to

if TYPE_CHECKING:
    from cambrian.store.results import TrialResult

commands = typer.Typer()


@commands.command()
def export(
    trial: Annotated[Path, typer.Argument(help="A trial's folder, such as results/first/trials/ID.")],
    as_qlog: Annotated[
        bool, typer.Option("--qlog", help="flowN.qlog for each flow, kernel TCP too; qvis opens it.")
    ] = False,
    as_pcapng: Annotated[
        bool,
        typer.Option(
            "--pcapng",
            help="before-queue.pcapng, after-queue.pcapng: whole packets, with the keys. Repeats the trial.",
        ),
    ] = False,
    with_keys: Annotated[
        bool, typer.Option("--keys", help="keys.log, the TLS secrets (SSLKEYLOGFILE). Repeats the trial.")
    ] = False,
    to: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output folder. Default: export/ID here.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a trial's files for other tools: qlog for qvis, pcapng for Wireshark, TLS keys.

    A results directory holds no payload. For pcapng and keys the trial runs again, with the same kernel and
    stacks; the files are written only if its packets have the stored hash. Exit status 0: all files are
    written; 1: the trial has other packets than the stored one; 2: an error.
    """
    from cambrian.export.errors import NotTheSame
    from cambrian.export.export import Kind
    from cambrian.export.export import export as carry_out

    asked = {Kind.qlog: as_qlog, Kind.pcapng: as_pcapng, Kind.keys: with_keys}
    kinds = [kind for kind, wanted in asked.items() if wanted]
    if not kinds:
        fail("say what to export: --qlog, --pcapng, --keys, or several of them")
    stored = _stored(trial)
    folder = to or Path("export") / stored.id
    records = []
    try:
        with writing_to(folder):
            for written in carry_out(stored, kinds, folder, lambda text: err.print(text, markup=False)):
                records.append(written.record())
                if as_json:
                    continue
                counts = ", ".join(f"{count:,} {name}" for name, count in written.counts.items())
                print(f"{written.path}  {counts}")
                if written.note:
                    err.print(f"  {written.note}", markup=False)
    except NotTheSame as error:
        fail(str(error), 1)
    if as_json:
        print(json.dumps({"trial": stored.id, "files": records}, indent=1))


def _stored(folder: Path) -> TrialResult:
    """The trial in a folder: of results or a copy of it elsewhere; a link or ``.`` may name it."""
    from cambrian.store.reading import Damaged, Unread
    from cambrian.store.results import TrialResult

    if (folder / "study.json").exists() or (folder / "trials").is_dir():
        example = next((folder / "trials").glob("[0-9a-f]*"), folder / "trials" / "ID")
        fail(f"{folder} is a results directory; give one of its trials, such as {example}")
    if not (folder / "manifest.json").exists():
        fail(f"{folder} is no trial: it has no manifest.json; give a folder such as results/first/trials/ID")
    stored = TrialResult(folder.resolve())
    try:
        stored.check()
    except Damaged as error:
        if stored.folder.parent.name == "trials" or isinstance(error, Unread):
            raise
        # no results directory is around it, so `cambrian doctor` mends nothing
        fail(f"{error.path}: {error.why}; remedy: copy the trial's folder again, whole and under its name")
    return stored
