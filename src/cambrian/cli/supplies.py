"""Commands about the inputs of trials: studies, stacks, the kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cambrian import paths
from cambrian.cli.shared import (
    JobsOption,
    JsonOption,
    MarkdownOption,
    StackNames,
    at_a_time,
    err,
    fail,
    one_format,
    out,
    stacks_named,
)

_ADD_A_STACK = paths.page("docs/how-to/add-a-stack.md")

commands = typer.Typer()
stacks_app = typer.Typer(help="List, build, test, add and remove stacks.", invoke_without_command=True)
kernel_app = typer.Typer(help="Build or show the virtual-time kernel.", no_args_is_help=True)
commands.add_typer(stacks_app, name="stacks")
commands.add_typer(kernel_app, name="kernel")


@commands.command()
def studies(as_json: JsonOption = False) -> None:
    """List the built-in studies, and the suites with their parts."""
    from cambrian.study import builtin
    from cambrian.suites import find

    listed = builtin.builtin_studies()
    suites = [found.suite for found in find.suites()]
    if as_json:
        records = [
            {"name": study.name, "title": study.title, "description": study.description} for study in listed
        ]
        print(json.dumps(records + [suite.model_dump(mode="json") for suite in suites]))
        return
    table = Table("study", "question")
    for study in listed:
        table.add_row(study.name, study.title)
    out.print(table)
    table = Table("suite", "question", "parts")
    for suite in suites:
        table.add_row(suite.name, suite.title, ", ".join(suite.parts))
    out.print(table)


@stacks_app.callback()
def stacks(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the stacks: versions, congestion controllers, confirmed and exported values."""
    if context.invoked_subcommand is None:
        from cambrian.stacks import listing

        listing.show(out, as_json=as_json)


@stacks_app.command("build")
def stacks_build(names: StackNames = None) -> None:
    """Build stacks that are not built yet, and print the path of each binary."""
    from cambrian.stacks import build

    for stack in stacks_named(names):
        print(f"{stack.name}  {build.ensure(stack).binary}")


@stacks_app.command("versions")
def stacks_versions(
    name: Annotated[str, typer.Argument(help="A stack with releases, such as quic-go.")],
    as_json: JsonOption = False,
) -> None:
    """List the releases of a stack, newest first, with their dates and the state of their builds here.

    Every release can be named in studies and commands: `quic-go@0.60.0`, or `quic-go@0.6*` for several.
    """
    from cambrian.releases import output, ready

    output.versions(ready.stack_of(name), out, as_json=as_json)


@stacks_app.command("test")
def stacks_test(
    names: StackNames = None,
    as_json: JsonOption = False,
    markdown: MarkdownOption = False,
    jobs: JobsOption = 0,
    keep: Annotated[
        Path | None,
        typer.Option(help="Keep the trials here, with packets, traces and the programs' logs."),
    ] = None,
) -> None:
    """Test each controller of a stack: throughput, loss, reproducibility, and that it runs as asked.

    Each controller transfers alone over 20 Mbps and 50 ms for 20 s: twice over a clean path, once with
    1 % random loss. Kernel TCP runs there too, alone, for comparison. A controller whose first trial carries
    nothing is not tried again. Exit status 1 if a test fails and the manifest gives no cause for it.
    """
    from cambrian.proof import rows, stacks, table

    one_format(json=as_json, markdown=markdown)
    tested = stacks.run(stacks_named(names), jobs=at_a_time(jobs), console=err, keep=keep)
    if as_json:
        print(json.dumps([row.record() for row in tested], indent=1))
    elif markdown:
        print(table.markdown(tested), end="")
    else:
        out.print(table.terminal(tested))
        for remark in table.remarks(tested):
            out.print(remark, markup=False)
    err.print(rows.summary(tested), markup=False)
    if not all(row.ok for row in tested):
        raise typer.Exit(1)


@stacks_app.command("new")
def stacks_new(
    name: Annotated[str, typer.Argument(help="The name of your stack, such as my-quic.")],
) -> None:
    """Print a manifest with comments for your own stack: `cambrian stacks new my-quic > my-quic.toml`."""
    from cambrian.stacks import adding

    print(adding.new(name), end="")


@stacks_app.command("add")
def stacks_add(
    manifest: Annotated[Path, typer.Argument(help=f"A stack's TOML file ({_ADD_A_STACK}).")],
    test: Annotated[bool, typer.Option("--test/--no-test", help="Test the stack now.")] = True,
) -> None:
    """Check a stack's manifest and copy it to your configuration folder, so that every study can use it."""
    from cambrian.stacks import adding

    added = adding.add(manifest)
    err.print(f"{added.name}: manifest copied to {added.file}", markup=False)
    if test:
        stacks_test([added.name])


@stacks_app.command("remove")
def stacks_remove(
    name: Annotated[str, typer.Argument(help="A stack that `cambrian stacks add` copied.")],
) -> None:
    """Delete a stack that you added from your configuration folder, even if its manifest has an error."""
    from cambrian.stacks import adding

    for path in adding.remove(name):
        err.print(f"{name}: deleted {path}", markup=False)


@kernel_app.command("build")
def kernel_build(
    source: Annotated[
        Path | None, typer.Option(help="A kernel source tarball; default: the newest on the Debian mirror.")
    ] = None,
) -> None:
    """Build the kernel if it is not built yet, and print its path."""
    from cambrian.kernel import locate

    print(locate.ensure(archive=source).path)


@kernel_app.command("show")
def kernel_show() -> None:
    """Print the kernel's path, version and features."""
    from dataclasses import asdict

    from cambrian.kernel import locate

    kernel = locate.find()
    if kernel is None:
        fail("no kernel is built yet; remedy: cambrian kernel build", 1)
    print(json.dumps(asdict(kernel), indent=1, default=str))
