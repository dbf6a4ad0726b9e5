"""Commands that compare results with earlier ones: a gate for a CI, and two stores."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from cambrian.cli.shared import (
    JobsOption,
    JsonOption,
    check_folder,
    err,
    fail,
    in_words,
    one_format,
    out,
    writing_to,
)

if TYPE_CHECKING:
    from cambrian.gate.carry_out import Result

commands = typer.Typer()


@commands.command()
def gate(
    files: Annotated[
        list[Path], typer.Argument(help="TOML files of gates, each with a contestant.", metavar="GATE...")
    ],
    update: Annotated[
        bool,
        typer.Option("--update", help="Run all seeds, and write the baseline; review it, and commit it."),
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Results directory. Default: results/gate/STACK-CCA.")
    ] = None,
    jobs: JobsOption = 0,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(help="Append a summary in Markdown to this file, such as a CI's job summary."),
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the results as JSON here.")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Build and run the stacks in the folder stacks/ beside the gate.")
    ] = False,
) -> None:
    """Compare a stack with its baseline: is it unchanged, equivalent, better or different?

    The first run is `cambrian gate GATE --update`, with the version to compare with. If the first seeds send
    the baseline's packets, the stack is unchanged. Else all seeds run, and all figures are compared.

    Exit status 0: unchanged, equivalent or better. 1: different. 2: it could not be judged, or an error.
    """
    from cambrian.gate import carry_out, output
    from cambrian.run.study import RunOptions
    from cambrian.stacks import catalogue
    from cambrian.study.naming import slug

    named = os.environ.get("CAMBRIAN_STACKS", "")

    def gate_in(path: Path) -> carry_out.Gate:
        # each gate has the stacks beside it, and not those beside another one
        catalogue.look_only_in(named)
        return carry_out.read(path)

    results: list[carry_out.Result] = []
    failure: Exception | None = None
    opened: dict[Path, IO[bytes]] = {}
    try:
        for report in filter(None, (junit, json_file, markdown)):
            # told now, and not after the last trial; the end of a pipe comes after the last writing
            report.parent.mkdir(parents=True, exist_ok=True)
            opened[report] = _opened(report)
        # an error in any of the files is told before the first trial
        for path in files:
            gate_in(path)
        for path in files:
            one = gate_in(path)
            started_by = shlex.join(["cambrian", "gate", str(path)])
            options = RunOptions(str(path), jobs=jobs, trust=trust, started_by=started_by)
            place = folder or carry_out.default_folder(one)
            if folder and len(files) > 1:
                names = [other.stem for other in files]
                place = folder / (
                    path.stem if names.count(path.stem) == 1 else slug(str(path.with_suffix("")))
                )
            try:
                result = carry_out.run(one, place, options, err, update=update)
            except Exception as error:
                # the results of the other gates count all the same
                failure = error
                result = carry_out.Result(one, "not judged", None, all_seeds=False, errors=(in_words(error),))
            except BaseException:
                # without this gate its reports would show green gates alone
                stopped = carry_out.Result(one, "not judged", None, all_seeds=False, errors=("interrupted",))
                results.append(stopped)
                _report(stopped, markdown)
                raise
            results.append(result)
            if failure is None or len(files) > 1:
                _tell(result, update=update)
            _report(result, markdown)
    finally:
        # after Ctrl-C and such an error too: a CI must not read the reports of an earlier run
        if junit is not None and junit in opened:
            output.write_junit(junit, results)
        if json_file is not None and json_file in opened:
            output.write_json(json_file, results)
        for file in opened.values():
            file.close()
    if failure is not None and len(files) == 1:
        raise failure
    raise typer.Exit(_status(results, update=update))


def _opened(path: Path) -> IO[bytes]:
    """The file for a report, opened to append to it; the command ends if it is a named pipe without a reader.

    Raises:
        OSError: it cannot be written to.
    """
    try:
        # O_NONBLOCK: the open of a named pipe would wait for its reader
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
        return os.fdopen(os.open(path, flags, 0o666), "ab")
    except OSError as error:
        if error.errno == errno.ENXIO:
            fail(f"{path}: this is a named pipe, and nothing reads it; remedy: give an ordinary file")
        raise


def _status(results: Sequence[Result], *, update: bool) -> int:
    if update:
        # what differs from the old baseline is what the user wants to keep
        return 2 if any(result.errors for result in results) else 0
    statuses = {result.status for result in results}
    return 1 if 1 in statuses else max(statuses)


def _report(result: Result, markdown: Path | None) -> None:
    """Append one gate's summary to the file, and print annotations for GitHub Actions."""
    from cambrian.gate import output

    if markdown is not None:
        compared = result.compared
        markdown.parent.mkdir(parents=True, exist_ok=True)
        text = output.failed(result)
        if compared:
            text = output.markdown(_title(result), compared, errors=result.errors)
        with markdown.open("a", encoding="utf-8", errors="replace") as summary:
            summary.write(text)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in output.github_lines(result):
            print(line)


def _title(result: Result) -> str:
    from cambrian.gate import output

    return f"{result.gate.contestant}: {output.headline(result)}"


def _tell(result: Result, *, update: bool) -> None:
    """Print one gate's result."""
    from cambrian.gate import output

    if result.compared is not None:
        output.terminal(out, result.compared)
    for text in result.errors:
        out.print(f"could not run: {text}", markup=False, highlight=False)
    out.print(_title(result), markup=False, highlight=False)
    if update and not result.errors:
        out.print(f"wrote {result.gate.baseline}", markup=False, highlight=False)
    elif not update and (text := output.remedy(result)):
        out.print(text, markup=False, highlight=False)


@commands.command()
def compare(
    before: Annotated[Path, typer.Argument(help="A results directory that `cambrian run` made.")],
    after: Annotated[Path, typer.Argument(help="Another one, of the same study.")],
    contestants: Annotated[
        list[str] | None,
        typer.Option(
            "--contestant",
            metavar="NAME",
            help="Only this contestant: STACK/CCA, or its name on pages, such as a label. If "
            "repeated, the first of BEFORE is compared with the second of AFTER.",
        ),
    ] = None,
    as_json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    to: Annotated[
        Path | None,
        typer.Option("--page", metavar="DIR", help="Also write a page to this folder: DIR/index.html."),
    ] = None,
) -> None:
    """Compare two results directories: what differs, by how much, and how sure that is.

    BEFORE and AFTER may be the same folder, to compare two contestants. Exit status 0 for any result.
    """
    import json
    from dataclasses import asdict

    from cambrian.gate import output
    from cambrian.report import page as pages
    from cambrian.report.compared import page
    from cambrian.report.compared import settings as of_studies

    one_format(json=as_json, markdown=markdown)
    if to is not None and to.exists() and not to.is_dir():
        fail(f"--page {to}: is a file; remedy: give a folder")
    if to is not None:
        pages.check(to)
    names = contestants or []
    if len(names) > len(("before", "after")):
        fail("give --contestant once or twice")
    for folder in (before, after):
        check_folder(folder)
    one, two = (names[0], names[-1]) if names else (None, None)
    changes = page.compare(before, after, (one, two))
    compared = changes.compared
    if not compared.figures and not compared.same and not compared.changed:
        fail(f"{before} and {after} have no trial and no figure in common")
    studies = changes.before.study, changes.after.study
    settings = [one.short for one in of_studies.settings(*studies)]
    if as_json:
        print(json.dumps(asdict(compared) | {"settings": settings}, indent=1, ensure_ascii=False))
    elif markdown:
        print(output.markdown(f"{before} → {after}", compared, settings), end="")
        if text := output.more_seeds(compared):
            print(f"\n{text}")
    else:
        for text in settings:
            out.print(f"the studies differ: {text}", markup=False, highlight=False)
        output.terminal(out, compared)
        if text := output.more_seeds(compared):
            out.print(text, markup=False, highlight=False)
    if to is not None:
        with writing_to(to):
            written = page.write(changes, to)
        # standard output is for the comparison
        err.print(f"wrote {written}", markup=False)
