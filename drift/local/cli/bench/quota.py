"""`drift bench quota`: how long a quota takes to let requests through and to refuse them."""

from __future__ import annotations

from dataclasses import asdict

from drift.local.cli.console import print_result
from drift.local.cli.options import Json
from drift.local.cli.run import run


def quota(as_json: Json = False) -> None:
    """Measure the gate of a key's quota, with a Valkey of its own and without, and over HTTP."""
    from drift.local.evals.quota import measure_quota
    from drift.local.stack.valkey_server import ValkeyServer

    with ValkeyServer() as valkey:
        for one in run(measure_quota(valkey.url)):
            print_result(asdict(one), as_json=as_json)
