"""`drift bench cache`: how long an embedding takes that is kept already."""

from __future__ import annotations

from dataclasses import asdict

from drift.offline.commands.console import print_result
from drift.offline.commands.options import Json
from drift.offline.commands.run import run


def cache(as_json: Json = False) -> None:
    """Look embeddings up in the process and in a Valkey of its own, one and four at once."""
    from drift.offline.evals.embedding_cache import measure_cache
    from drift.offline.servers.valkey_server import ValkeyServer

    with ValkeyServer() as valkey:
        for one in run(measure_cache(valkey.url)):
            print_result(asdict(one), as_json=as_json)
