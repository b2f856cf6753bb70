"""What `drift serve` does: it serves the routes until it is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drift.hosting import settings
from drift.offline.commands.console import print_json, stderr
from drift.offline.commands.options import SERVE_PORT, Auth
from drift.offline.commands.work.servers import WITHOUT_KEYS, running, warm_up
from drift.offline.commands.work.trial import (
    TrialKey,
    asking,
    instructions,
    settings_with,
    trial_keys,
)
from drift.offline.hosts.local_host import serving
from drift.offline.stack.stack import StackOptions


@dataclass(frozen=True, slots=True)
class HowToServe:
    """The port, or None for SERVE_PORT or another when that is taken; the names of proxies.

    `auth` says who may ask; None leaves that to AUTH_MODE.
    """

    port: int | None
    allowed: Sequence[str]
    auth: Auth | None


async def serve(options: StackOptions, how: HowToServe, *, as_json: bool) -> None:
    """Serve until cancelled."""
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
            stderr.print(_how_to_ask(url, keys, values.auth_mode), markup=False)
            await stack.wait()


def where_to_look(url: str, keys: Sequence[TrialKey]) -> str:
    """Return the page's address.

    A key stands behind the #, which no browser sends: the page takes it out of the address.
    """
    return f"The page to ask in: {url}/rag{f'#key={keys[0].key}' if keys else ''}"


def _how_to_ask(url: str, keys: Sequence[TrialKey], mode: str) -> str:
    if keys:
        mine, other = keys
        return instructions(url, mine, other)
    if mode == "function":
        return asking(url)
    return (
        f"AUTH_MODE={mode} says who may ask: send such a credential with this. With --auth none "
        f"nobody is asked for one.\n{asking(url)}"
    )
