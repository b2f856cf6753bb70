"""Every Cypher statement that reads: text with $parameters, one story for both graph schemas.

The plain form is Cypher 5 and runs from Neo4j 5.26 on. Where the chunk index has `project_id` as a
filter property, the searching form puts a SEARCH with an in-index filter in the place of the index
procedure.

What the statements hold to, each because a real server does otherwise:
- `collect` and `UNWIND` stand between a match on a unique key with a list and any DISTINCT. Without
  them Neo4j takes the unique key for "one row at most", drops the DISTINCT, and chunks below both a
  community and its parent appear twice.
- Filter first, then rank. An index without filter properties is asked only above the exact limit,
  and when its best rows hold too few of the project's chunks, the project is scored exactly: no
  project starves beside a larger one.
- What is reached along edges is filtered behind a WITH DISTINCT. In the pattern itself, a label or
  a project would let the planner begin at an index of chunks instead, once for each row.
- Scores of an index are quantised, so its rows are scored again.
- What a question brings stands inside one map, `$asked`: a statement is planned anew, for up to
  seconds, for each order of magnitude of the length of a text or list that is a parameter of its
  own.
- Every step names what belongs to the project; every list is bounded before the next step; no
  embedding is returned.
"""

from __future__ import annotations

from drift.graph.cypher import followup as followup_text
from drift.graph.cypher import positions as positions_text
from drift.graph.cypher import primer as primer_text
from drift.graph.cypher.nearest import index_hits, search_hits
from drift.graph.cypher.schema import DEFAULT, Schema

SHOW_INDEXES = """
SHOW INDEXES YIELD name, type, state, populationPercent, entityType, labelsOrTypes, properties,
  owningConstraint, options
WHERE entityType = 'NODE' AND type <> 'LOOKUP'
RETURN name, type, state, populationPercent AS percent, labelsOrTypes AS labels, properties,
  owningConstraint IS NOT NULL AS unique,
  options.indexConfig['vector.dimensions'] AS dimensions,
  options.indexConfig['vector.similarity_function'] AS similarity
ORDER BY name
"""

CYPHER_25 = "CYPHER 25 EXPLAIN RETURN 1"
"""Compiles only where the server speaks the newer language."""


def primer(search_index: str | None, schema: Schema = DEFAULT) -> str:
    """Return the primer's statement.

    With the name of a searchable index, that index filters by project itself.
    """
    if search_index is None:
        return primer_text.primer(schema, index_hits(schema))
    return "CYPHER 25\n" + primer_text.primer(schema, search_hits(search_index))


def followup(search_index: str | None, schema: Schema = DEFAULT) -> str:
    """Return the follow-up's statement, in the same two forms."""
    if search_index is None:
        return followup_text.followup(schema, index_hits(schema))
    return "CYPHER 25\n" + followup_text.followup(schema, search_hits(search_index))


def positions(schema: Schema = DEFAULT) -> str:
    """Return the statement that looks for what stands where a follow-up wished."""
    return positions_text.positions(schema)
