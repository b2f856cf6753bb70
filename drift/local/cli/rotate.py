"""`drift rotate`: another secret for a deployed function, without a gap."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drift.local.cli import options
from drift.local.cli.console import say
from drift.local.cli.run import run


def rotate(
    setting: Annotated[str, typer.Argument(callback=options.checked_text, show_default=False)],
    user: Annotated[str | None, options.text("The graph's new user, for NEO4J_PASSWORD.")] = None,
    file: Annotated[Path | None, typer.Option(help="The new list, for PROJECT_KEYS.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say the steps alone.")] = False,
) -> None:
    """Replace the secret of a SETTING of the deployed function, and ask whether it works.

    The old one stays valid until the new one is in use. A step that fails is the last one.

    With NEO4J_PASSWORD, this shell has NEO4J_USERNAME and NEO4J_PASSWORD of somebody who may make
    users of the graph. With PROJECT_KEYS, SMOKE_KEY is one of the new keys. With others, such as
    ANTHROPIC_KEY, the new secret is in the variable of that name.

    It runs in the root of the repository, by the Azure CLI, with azd's environment or the variables
    AZURE_RESOURCE_GROUP, AZURE_FUNCTION_NAME and SERVICE_API_URI.
    """
    options.refuse((setting == "NEO4J_PASSWORD") != bool(user), "--user goes with NEO4J_PASSWORD")
    options.refuse((setting == "PROJECT_KEYS") != bool(file), "--file goes with PROJECT_KEYS")

    async def work() -> None:
        from drift.core.errors import LocalStackError
        from drift.graph.connection import Connection
        from drift.http.settings import environment
        from drift.local.cli import key_files
        from drift.local.infra.azd import azd_environment
        from drift.local.infra.rotation import DeployedFunction, of_graph, of_secret

        given = environment()
        given = {**azd_environment(Path(), given).values, **given}
        if file:
            key_files.entries_of(file)
        value = key_files.text_of(file) if file else given.get(setting, "")
        if not value:
            raise LocalStackError(f"{setting} is not set in this shell.")

        function, signed_in = DeployedFunction(given, Path()), given.get("NEO4J_USERNAME", "neo4j")
        async with Connection(given.get("NEO4J_URI", ""), signed_in, value, "system") as admin:
            made = of_graph(function, admin, user) if user else of_secret(function, setting, value)
            for number, (says, make) in enumerate(await made, 1):
                say(f"{number}. {says}")
                if not dry_run:
                    await make()

    run(work())
