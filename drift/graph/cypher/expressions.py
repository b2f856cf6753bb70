"""Conditions and expressions about one node, which the statements share."""

from __future__ import annotations

from drift.graph.mapping import quoted


def types(*names: str) -> str:
    """Return types of edges as Cypher writes any of them."""
    return "|".join(map(quoted, dict.fromkeys(names)))


def any_but(*names: str) -> str:
    """Return every type of edge but these."""
    return "&".join(f"!{quoted(name)}" for name in dict.fromkeys(names))


def of_project(n: str) -> str:
    """Return the condition that a node is of the project."""
    return f"{n}.project_id = $asked.project_id"


def of_generation(n: str, generation: str = "generation") -> str:
    """Return the condition that a node is part of a generation; elsewhere it has no numbers.

    It is from the generation that it was written in, `until` the one that has it no more.
    """
    return f"""coalesce({n}.generation, 0) <= {generation}
    AND coalesce({n}.until, {generation} + 1) > {generation}"""


def is_known(n: str) -> str:
    """Return the condition that a node is of the project, and of its generation."""
    return f"{of_project(n)} AND {of_generation(n)}"


def degree_of_generation(n: str) -> str:
    """Return how many mentions and relations a node of the project has."""
    # A chunk's entities are counted one by one only while it has some that no question sees yet.
    return f"""CASE
      WHEN building AND {n}:__Chunk__
      THEN COUNT {{ ({n})-[:HAS_ENTITY]->(x) WHERE {of_generation("x")} }}
      WHEN building
      THEN COUNT {{ ({n})-[:HAS_ENTITY]-() }}
        + COUNT {{ ({n})-[:RELATED]-(x) WHERE {of_generation("x")} }}
      ELSE COUNT {{ ({n})-[:HAS_ENTITY]-() }} + COUNT {{ ({n})-[:RELATED]-() }} END"""


def is_key(property_: str) -> str:
    """Return the condition that a property is text or a number; it holds for a missing one too."""
    return " OR ".join(f"{property_} IS :: {kind}" for kind in ("STRING", "INTEGER", "FLOAT"))


def first_key(n: str, *names: str) -> str:
    """Return the first of these properties that can tell one node from another."""
    usable = (f"CASE WHEN {is_key(f'{n}.{name}')} THEN {n}.{name} END" for name in names)
    return f"coalesce({', '.join(usable)}, elementId({n}))"


def first_integer(n: str, *names: str) -> str:
    """Return the first of these properties that is an integer, or null."""
    listed = ", ".join(f"{n}.{name}" for name in names)
    return f"head([number IN [{listed}] WHERE number IS :: INTEGER NOT NULL])"


def milliseconds(moment: str) -> str:
    """Return a stored time in milliseconds since 1970; earlier releases stored it so."""
    return f"""CASE WHEN {moment} IS :: ZONED DATETIME NOT NULL
      THEN {moment}.epochMillis ELSE {moment} END"""


def first_not_blank(n: str, *names: str) -> str:
    """Return the first of these properties, as text, that says something."""
    listed = ", ".join(f"toStringOrNull({n}.{name})" for name in names)
    return f"head([name IN [{listed}] WHERE trim(name) <> ''])"


def first_text(n: str, *names: str) -> str:
    """Return the first of these that can be written as text; of a list its first item."""
    listed = []
    for name in dict.fromkeys(names):
        one = f"{n}.{name}"
        first = f"CASE WHEN {one} IS :: LIST<ANY> NOT NULL THEN toStringOrNull(head({one})) "
        listed.append(f"{first}ELSE toStringOrNull({one}) END")

    return f"coalesce({', '.join(listed)})"
