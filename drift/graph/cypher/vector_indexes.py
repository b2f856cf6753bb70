"""How indexes are created: of vectors the best form first, which older servers refuse."""

from __future__ import annotations

from drift.graph.mapping import quoted


def create_vector_index(
    name: str, label: str, *, is_filtered: bool, vector: str = "embedding"
) -> tuple[str, ...]:
    """Return statements that create an index over `$dimensions` floats, if it is not there.

    Where there are projects, `project_id` is its filter property. Quantisation is stated, because
    the newest servers' default (binary) finds 82 of 100 where scalar finds 99.
    """
    head = f"CREATE VECTOR INDEX `{name}` IF NOT EXISTS FOR (n:{quoted(label)}) ON "
    newer = f"CYPHER 25 {head}" + (
        f"n.{vector} WITH [n.project_id] " if is_filtered else f"(n.{vector}) "
    )
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


def create_key(name: str, label: str, *properties: str) -> str:
    """Return the statement that makes properties of a label a key, if it is not there."""
    listed = ", ".join(f"n.{one}" for one in properties)
    head = f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{label})"
    return f"{head} REQUIRE ({listed}) IS UNIQUE"


def create_range(name: str, label: str, *properties: str) -> str:
    """Return the statement that creates an index over properties of a label, if it is not there."""
    listed = ", ".join(f"n.{one}" for one in properties)
    return f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{quoted(label)}) ON ({listed})"
