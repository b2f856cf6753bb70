"""What `drift serve` does: it serves the routes until it is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from drift.http import settings
from drift.local.cli.console import print_json, stderr
from drift.local.cli.options import DEMO_PROJECT, SERVE_PORT, Auth
from drift.local.cli.work.servers import WITHOUT_KEYS, projects_of, running, warm_up
from drift.local.cli.work.trial import (
    TrialKey,
    asking,
    ingest_command,
    instructions,
    settings_with,
    trial_keys,
)
from drift.local.hosts.local_host import serving
from drift.local.stack.loopback import check_port
from drift.local.stack.stack import StackOptions

_CREDENTIAL = (
    "AUTH_MODE={mode} says who may ask: send such a credential with this. With --auth none nobody "
    "is asked for one.\n"
)


@dataclass(frozen=True, slots=True)
class HowToServe:
    """The port, or None for SERVE_PORT or another when that is taken; the names of proxies.

    `auth` says who may ask; None leaves that to AUTH_MODE.
    """

    port: int | None
    allowed: Sequence[str]
    auth: Auth | None


async def serve(options: StackOptions, how: HowToServe, *, as_json: bool) -> None:
    """Serve until cancelled.

    Raises:
        LocalStackError: the port is taken, which is known before anything starts; or a server
            cannot be started.
    """
    if how.port:
        check_port(how.port)
    access = {} if how.auth is None else WITHOUT_KEYS
    async with running(options, access) as (stack, values):
        keys: Sequence[TrialKey] = ()
        if how.auth == "keys":
            keys = await trial_keys(values)
            settings.export(settings_with(keys))

        async with serving(how.port, SERVE_PORT, how.allowed) as url:
            if how.port is None and not url.endswith(f":{SERVE_PORT}"):
                stderr.print(f"Port {SERVE_PORT} is taken: another one is used.")
            if as_json:
                shown = {"keys": {one.project: one.key for one in keys}} if keys else {}
                print_json({"env": stack.env, "pids": stack.pids, "url": url, **shown})

            await warm_up(values)
            stderr.print(
                f"[green]Ready.[/] The function's routes are at {url}; Ctrl-C ends all of it."
            )
            stderr.print(where_to_look(url, keys), markup=False)
            folder = options.data_dir if stack.pids["neo4j"] else None
            projects = await projects_of(values)
            stderr.print(how_to_ask(url, keys, values.auth_mode, projects, folder), markup=False)
            await stack.wait()


def where_to_look(url: str, keys: Sequence[TrialKey]) -> str:
    """Return the page's address.

    A key stands behind the #, which no browser sends: the page takes it out of the address.
    """
    return f"The page to ask in: {url}/rag{f'#key={keys[0].key}' if keys else ''}"


def how_to_ask(
    url: str,
    keys: Sequence[TrialKey],
    mode: str,
    projects: Sequence[str] | None,
    folder: Path | None,
) -> str:
    """Return a command that finds something, or the one that fills a graph without projects.

    `projects` is None where they are not known, `folder` that of a graph of ours.
    """
    if keys:
        mine, other = keys
        return instructions(url, mine, other, folder)
    how = "" if mode == "function" else _CREDENTIAL.format(mode=mode)
    if projects == ():
        sample = ingest_command("--sample", folder)
        return (
            "It holds nothing to ask about yet. This fills it with a sample, the Python reference "
            f"manual, in another terminal; then reload the page:\n\n  {sample}\n\n{how}"
            f"Then:\n\n{asking(url)}"
        )
    if projects is None or DEMO_PROJECT not in projects:
        project = projects[0] if projects else "PROJECT"
        return f"{how}With a question of yours:\n\n{asking(url, None, project, 'QUESTION')}"
    return f"{how}{asking(url)}"
