"""How indexes and constraints are created: the best form first, which older servers refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from drift.graph.mapping import quoted

Kind = Literal["constraint", "range", "vector", "fulltext"]


def creations(name: str, kind: Kind, label: str, properties: Sequence[str]) -> tuple[str, ...]:
    """Return statements that create what is not there yet, of which a server needs one.

    A vector index is over `$dimensions` floats of the first property; the others are its filters.
    """
    nodes = f"IF NOT EXISTS FOR (n:{quoted(label)})"
    listed = ", ".join(f"n.{one}" for one in properties)
    match kind:
        case "constraint":
            return (f"CREATE CONSTRAINT {name} {nodes} REQUIRE ({listed}) IS UNIQUE",)
        case "range":
            return (f"CREATE INDEX {name} {nodes} ON ({listed})",)
        case "fulltext":
            return (f"CREATE FULLTEXT INDEX `{name}` {nodes} ON EACH [{listed}]",)
        case "vector":
            return _vector(f"CREATE VECTOR INDEX `{name}` {nodes} ON ", *properties)


def _vector(head: str, vector: str, *filters: str) -> tuple[str, ...]:
    """Return the forms of a vector index.

    Quantisation is stated, because the newest servers' default (binary) finds 82 of 100 where
    scalar finds 99.
    """
    listed = ", ".join(f"n.{one}" for one in filters)
    newer = f"CYPHER 25 {head}" + (f"n.{vector} WITH [{listed}] " if filters else f"(n.{vector}) ")
    config = "`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine'"
    stated = (
        f"{config}, `vector.quantization.type`: 'scalar', "
        "`vector.default_search_expansion_factor`: 2.0"
    )

    return (
        f"{newer}OPTIONS {{indexConfig: {{{stated}}}}}",
        f"{newer}OPTIONS {{indexConfig: {{{config}}}}}",
        f"{head}(n.{vector}) OPTIONS {{indexConfig: {{{config}}}}}",
    )
