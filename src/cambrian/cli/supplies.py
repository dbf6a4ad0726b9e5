"""Commands about what trials are made of: studies, stacks, the kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cambrian.cli.shared import (
    JobsOption,
    JsonOption,
    MarkdownOption,
    StackNames,
    at_a_time,
    err,
    fail,
    out,
    stacks_named,
)

commands = typer.Typer()
stacks_app = typer.Typer(help="The stacks: what there is, and building them.", invoke_without_command=True)
kernel_app = typer.Typer(
    help="The virtual-time kernel: what is there, and building it.", no_args_is_help=True
)
commands.add_typer(stacks_app, name="stacks")
commands.add_typer(kernel_app, name="kernel")


@commands.command()
def studies(as_json: JsonOption = False) -> None:
    """List the built-in studies, and the suites with their parts."""
    from cambrian.study import builtin
    from cambrian.suites import find

    found = builtin.builtin_studies()
    suites = [one.suite for one in find.suites()]
    if as_json:
        listed = [{"name": item.name, "title": item.title, "description": item.description} for item in found]
        print(json.dumps(listed + [suite.model_dump(mode="json") for suite in suites]))
        return
    table = Table("study", "what it asks")
    for item in found:
        table.add_row(item.name, item.title)
    out.print(table)
    table = Table("suite", "what it asks", "parts")
    for suite in suites:
        table.add_row(suite.name, suite.title, ", ".join(suite.parts))
    out.print(table)


@stacks_app.callback()
def stacks(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the stacks: versions, congestion controllers, what each confirms and exports."""
    if context.invoked_subcommand is None:
        from cambrian.stacks import listing

        listing.show(out, as_json=as_json)


@stacks_app.command("build")
def stacks_build(names: StackNames = None) -> None:
    """Build stacks that are not built yet, and print where each lies."""
    from cambrian.stacks import build

    for stack in stacks_named(names):
        print(f"{stack.name}  {build.ensure(stack).binary}")


@stacks_app.command("test")
def stacks_test(
    names: StackNames = None,
    as_json: JsonOption = False,
    markdown: MarkdownOption = False,
    jobs: JobsOption = 0,
) -> None:
    """Try each controller of a stack: throughput, loss, the same bytes twice, and that it runs as asked.

    Each transfers alone over 20 Mbps and 50 ms for 20 s, twice over a clean path and once with
    1 % of random loss. Exit status 1 if anything misses that no cause in the manifest explains.
    """
    from cambrian.proof import rows, stacks, table

    found = stacks.run(stacks_named(names), jobs=at_a_time(jobs), console=err)
    if as_json:
        print(json.dumps([row.record() for row in found], indent=1))
    elif markdown:
        print(table.markdown(found), end="")
    else:
        out.print(table.terminal(found))
        for remark in table.remarks(found):
            out.print(remark, markup=False, soft_wrap=True)
    err.print(rows.summary(found), markup=False)
    if not all(row.ok for row in found):
        raise typer.Exit(1)


@stacks_app.command("add")
def stacks_add(
    manifest: Annotated[Path, typer.Argument(help="A stack's TOML file (docs/how-to/add-a-stack.md).")],
    test: Annotated[bool, typer.Option("--test/--no-test", help="Try it at once.")] = True,
) -> None:
    """Check a stack's manifest and keep it in your configuration, so that every study knows it."""
    from cambrian.stacks import adding

    added = adding.add(manifest)
    err.print(f"{added.name} is kept in {added.file}", markup=False, soft_wrap=True)
    if test:
        stacks_test([added.name])


@kernel_app.command("build")
def kernel_build(
    source: Annotated[
        Path | None, typer.Option(help="A kernel source tarball; default: newest of the Debian mirror.")
    ] = None,
) -> None:
    """Build the kernel if it is not there yet, and print its path."""
    from cambrian.kernel import locate

    print(locate.ensure(archive=source).path)


@kernel_app.command("show")
def kernel_show() -> None:
    """Print what the kernel is and what it can do."""
    from dataclasses import asdict

    from cambrian.kernel import locate

    found = locate.find()
    if found is None:
        fail("no kernel is built yet; remedy: cambrian kernel build", 1)
    print(json.dumps(asdict(found), indent=1, default=str))
