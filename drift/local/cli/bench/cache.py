"""`drift bench cache`: how long an embedding takes that is kept already."""

from __future__ import annotations

from typing import Annotated

import typer

from drift.local.cli.options import Json
from drift.local.cli.run import run


def cache(
    embed_ms: Annotated[
        float, typer.Option(min=0, help="What the model takes for an embedding, milliseconds.")
    ] = 490,
    as_json: Json = False,
) -> None:
    """Look embeddings up in the process and in a Valkey of its own, one and four at once.

    Then embed texts that are not kept, with a model server that takes its time: what is ours of it.
    """
    from drift.local.cli.work import embedding

    run(embedding.bench(embed_ms, as_json=as_json))
