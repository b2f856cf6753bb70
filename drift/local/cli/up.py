"""`drift up`: the local servers, and the environment that leads to them."""

from __future__ import annotations

from drift.local.cli import options
from drift.local.cli.console import print_json, stderr
from drift.local.cli.run import command, until_stopped


@command(until_stopped)
async def up(stack_options: options.StackOptions, as_json: options.Json = False) -> None:
    """Start the local servers and print the environment they provide; Ctrl-C ends them.

    Neo4j, Valkey and the model server run on loopback, for all commands on the same data folder.
    """
    from drift.local.cli.servers import running, take_documents

    async with running(stack_options) as (stack, values):
        await take_documents(stack, values)
        if as_json:
            print_json({"env": stack.env, "pids": stack.pids})
        else:
            for name, value in stack.env.items():
                print(f"{name}={value}", flush=True)  # noqa: T201 - the command's output
        stderr.print("[green]Ready.[/] Ctrl-C ends them, when no other command uses them.")
        await stack.wait()
