"""The statements of what is made of all documents together, and of what a project holds.

Knowledge that changes is written beside the old, in the next generation, and what it replaces is
marked as no part of that. One write moves the number on the project's node: then questions see the
new, and what stays as it was is part of both.
"""

from __future__ import annotations

from drift.graph.cypher import clauses, legs, nearest
from drift.graph.cypher.edges import MAX_LEVELS
from drift.graph.cypher.expressions import has_its_edges, of_generation
from drift.graph.writing.clauses import DOCUMENTS, SET_VECTOR, one

KNOWLEDGE_STATE = f"""
CALL () {{
  MATCH (e:__Entity__) USING INDEX SEEK e:__Entity__(project_id)
  WHERE e.project_id = $project_id AND {of_generation("e", "$generation")}
  RETURN count(e) AS entities, sum(COUNT {{
    MATCH (e)-[:RELATED]->(other) WHERE {of_generation("other", "$generation")}
  }}) AS relations
}}
CALL () {{
  MATCH (c:__Community__) USING INDEX SEEK c:__Community__(project_id)
  WHERE c.project_id = $project_id AND {of_generation("c", "$generation")}
  WITH c.level AS level, count(c) AS number
  RETURN collect([level, number]) AS communities
}}
RETURN entities, relations, communities
"""

# Asked of graphs that have no index yet as well, so no index is named.
HELD_PROJECTS = """
MATCH (p:__Project__)
WHERE $project_id IS NULL OR p.id = $project_id
RETURN toString(p.id) AS id,
  COLLECT {
    MATCH (d:__Document__ {project_id: p.id})
    WITH toString(coalesce(d.source, '')) AS source, count(*) AS number
    RETURN [source, number]
  } AS sources,
  COUNT { (:__Chunk__ {project_id: p.id}) } AS chunks
ORDER BY id
"""

# Those of all projects are counted at once: nothing finds the nodes of an earlier release but
# their label, which would be read for each project.
HELD_NODES = f"""
MATCH (n:{legs.PERSONAL}|{legs.EARLIER})
WHERE ($project_id IS NULL OR n.project_id = $project_id) AND {legs.is_personal("n")}
RETURN toStringOrNull(n.project_id) AS id, count(*) AS nodes
"""

# Told a chunk's label or project, the planner may begin with all chunks, once a document.
READ_MEMBERS = f"""
OPTIONAL MATCH (p:__Project__ {{id: $project_id}})
WITH p.derived_at AS derived
{DOCUMENTS}
WITH d, derived ORDER BY d.id
RETURN d.id AS document_id, coalesce(d.title, '') AS title,
  coalesce(d.indexed_at >= derived, true) AS is_new, COLLECT {{
  MATCH (d)-[:HAS_CHUNK]->(ch)
  WHERE '__Chunk__' IN labels(ch)
  WITH ch ORDER BY ch.ordinal, ch.id
  RETURN [ch.id, coalesce(ch.defines, []), coalesce(ch.names, [])]
}} AS chunks
"""

READ_CHUNKS = f"""
UNWIND $rows AS row
{one("n", "__Chunk__", "id")}
RETURN n.id AS id, n.ordinal AS ordinal, n.heading AS heading, n.text AS text,
  n.links AS links, n[$vector] AS embedding
"""

# Communities of an earlier release have no `stamp`: they are all found anew.
READ_TOPICS = f"""
MATCH (p:__Project__ {{id: $project_id}})
WHERE p.clustered_chunks IS NOT NULL
RETURN p {{.embedding_models, .clustered_chunks, .questions}} AS held, COLLECT {{
  MATCH (c:__Community__) USING INDEX SEEK c:__Community__(project_id)
  WHERE c.project_id = $project_id AND {of_generation("c", "p.generation")} AND c.stamp IS NOT NULL
  OPTIONAL MATCH (c)-[:IN_COMMUNITY]->(parent:__Community__)
  WHERE {of_generation("parent", "p.generation")}
  RETURN c {{.community, .level, .title, .summary, .digest, .chunks, .stale,
    .says, mean: c[$mean], parent: parent.community,
    members: [(c)<-[:IN_COMMUNITY]-(ch) WHERE ch:__Chunk__ | ch.id]}}
}} AS communities
"""

# What has no vector of this model, or holds what has none, is not as it would be.
_IS_EMBEDDED = "({n}[$vector] IS NOT NULL OR coalesce({n}.says = false, false))"
_IS_OWN = f"""is_own AND (NOT has_versions OR {_IS_EMBEDDED.format(n="n")} AND NOT EXISTS {{
    MATCH (n)<-[:IN_COMMUNITY*1..{MAX_LEVELS}]-(m)
    WHERE NOT m:__Chunk__ AND NOT {_IS_EMBEDDED.format(n="m")}
  }})"""

DOCUMENT_EDGES = {
    "Symbol": "(d)-[:REFERS_TO]->(e)",
    "URL": "(d)-[:LINKS_TO]->(e)",
    "Tool": "(e)-[:DEFINED_IN]->(d)",
}
"""How a document is connected to what it defines or leads to, by the label of that."""

# A node that lost an edge is not as it was, and each document of its chunks leads to what has a
# label.
_LACKS_A_DOCUMENT = " OR ".join(
    f"(n:{label} AND NOT {edge.replace('(e)', '(n)')})" for label, edge in DOCUMENT_EDGES.items()
)

READ_STAMPS = f"""
MATCH (p:__Project__ {{id: $project_id}})
WITH p, {clauses.HAS_VERSIONS} AS has_versions, $vector <> 'embedding'
  OR coalesce(p.embedding_models, []) = coalesce($embedding_models, []) AS is_own
RETURN COLLECT {{
  MATCH (n:__Entity__) USING INDEX SEEK n:__Entity__(project_id)
  WHERE n.project_id = $project_id AND {of_generation("n", "coalesce(p.generation, 0)")}
  RETURN [n.id, CASE WHEN {_IS_OWN} AND {has_its_edges("n", "HAS_ENTITY")}
    AND NOT EXISTS {{ MATCH (n)<-[:HAS_ENTITY]-()<-[:HAS_CHUNK]-(d) WHERE {_LACKS_A_DOCUMENT} }}
    THEN n.stamp ELSE '' END]
}} AS entities, COLLECT {{
  MATCH (n:__Community__) USING INDEX SEEK n:__Community__(project_id)
  WHERE n.project_id = $project_id AND {of_generation("n", "coalesce(p.generation, 0)")}
  RETURN [n.community, CASE WHEN {_IS_OWN} AND {has_its_edges("n", "IN_COMMUNITY")}
    THEN n.stamp ELSE '' END]
}} AS communities
"""

READ_ENTITY_VECTORS = f"""
MATCH (p:__Project__ {{id: $project_id}})
WHERE $vector <> 'embedding' OR p.embedding_models = $embedding_models
MATCH (e:__Entity__) USING INDEX SEEK e:__Entity__(project_id)
WHERE e.project_id = $project_id AND {of_generation("e", "p.generation")}
  AND ($titles IS NULL OR e.title IN $titles)
RETURN e.title AS title, e.description AS description, e[$vector] AS embedding
"""

READ_REPLIES = """
MATCH (r:__ModelReply__) USING INDEX SEEK r:__ModelReply__(project_id)
WHERE r.project_id = $project_id
RETURN r.kind AS kind, r.model AS model, r.parts AS parts, r.text AS text, r.tokens AS tokens
ORDER BY r.key
"""

# ---------------------------------------------------------------------------------------- knowledge
# `building` is set while nodes of more than one generation are there.
BEGIN_KNOWLEDGE = """
MATCH (p:__Project__ {id: $project_id})
WITH p, coalesce(p.generation, 0) AS visible, coalesce(p.building, 0) AS left_over
WITH p, visible, CASE WHEN left_over > visible THEN left_over ELSE visible END AS newest
SET p.fingerprint = '', p.building = 1 + newest
RETURN p.building AS generation, coalesce(p.generation, 0) AS visible
"""

UNSETTLED = """
MATCH (p:__Project__ {id: $project_id})
WHERE p.building IS NOT NULL OR p.restoring IS NOT NULL OR p.deleting
RETURN coalesce(p.generation, 0) AS generation, p.restoring IS NOT NULL AS is_restoring,
  coalesce(p.deleting, false) AS is_deleting
"""

_SET_LABEL = "\n".join(
    f"FOREACH (_ IN CASE row.label WHEN '{label}' THEN [1] ELSE [] END | SET n:{label})"
    for label in DOCUMENT_EDGES
)

PUT_ENTITIES = f"""
MATCH (p:__Project__ {{id: $project_id}})
UNWIND $rows AS row
CREATE (n:__Entity__ {{
  project_id: $project_id, project_key: $project_key, generation: $generation
}})-[:IN_PROJECT]->(p)
SET n += row.properties
{_SET_LABEL}
{SET_VECTOR}
"""

PUT_COMMUNITIES = f"""
MATCH (p:__Project__ {{id: $project_id}})
UNWIND $rows AS row
CREATE (n:__Community__ {{project_id: $project_id, generation: $generation}})-[:IN_PROJECT]->(p)
SET n += row.properties
{SET_VECTOR}
"""

SWITCH = f"""
MATCH (p:__Project__ {{id: $project_id}})
SET p.generation = $generation, p.fingerprint = $fingerprint, {clauses.TOUCHED},
  p.entities = $entities, p.relations = $relations, p.communities = $communities,
  p.embedding_models = CASE WHEN $vector <> 'embedding' THEN p.embedding_models
    WHEN $embedding_model <> '' THEN [$embedding_model] END,
  p.clustered_chunks = $clustered, p.questions = $questions, p.derived_at = {clauses.NOW}
REMOVE p.behind
"""

# What was read again is not stale any more, whether it was written anew or not.
FRESHEN = """
MATCH (c:__Community__) USING INDEX SEEK c:__Community__(project_id)
WHERE c.project_id = $project_id AND c.stale
REMOVE c.stale
"""

SETTLE = "MATCH (p:__Project__ {id: $project_id}) REMOVE p.building"

# Questions that began before the switch still read the old generation.
SHOW_READERS = """
SHOW TRANSACTIONS YIELD transactionId, metaData
WHERE metaData.access = 'read'
RETURN transactionId AS id
"""


def link(source: str, edge: str, target: str) -> str:
    """Return the statement that creates edges of one kind, between labels, from $rows."""
    return f"""
UNWIND $rows AS row
{_end("a", source, "from")}
{_end("b", target, "to")}
CREATE (a)-[:{edge}]->(b)
"""


def _end(n: str, label: str, column: str) -> str:
    text = one(n, label, column)
    if label == "__Chunk__":
        return text
    return f"{text}\nWHERE {of_generation(n, '$generation')}"


def link_documents(label: str) -> str:
    """Return the statement that connects entities of a label to the documents of their chunks."""
    return f"""
UNWIND $rows AS row
{_end("e", "__Entity__", "id")}
MATCH (e)<-[:HAS_ENTITY]-()<-[:HAS_CHUNK]-(d)
WITH DISTINCT d, e
CREATE {DOCUMENT_EDGES[label]}
"""


def retire(label: str) -> str:
    """Return the statement that has nodes of the generation $visible be no part of $generation."""
    return f"""
UNWIND $rows AS row
{one("n", label, "id")}
WHERE {of_generation("n", "$visible")}
SET n.until = $generation
"""


def drop_other_generations(label: str) -> str:
    """Return the statement that removes up to $most nodes that are no part of $generation."""
    return f"""
MATCH (n:{label}) USING INDEX SEEK n:{label}(project_id)
WHERE n.project_id = $project_id AND NOT ({of_generation("n", "$generation")})
WITH n LIMIT $most
DETACH DELETE n
RETURN count(*) AS dropped
"""


def reinstate(label: str) -> str:
    """Return the statement that keeps nodes which a run that broke was about to replace."""
    return f"""
MATCH (n:{label}) USING INDEX SEEK n:{label}(project_id)
WHERE n.project_id = $project_id AND n.until IS NOT NULL
REMOVE n.until
"""


PUT_RELATIONS = f"""
UNWIND $rows AS row
{_end("a", "__Entity__", "from")}
{_end("b", "__Entity__", "to")}
CREATE (a)-[r:RELATED]->(b)
SET r = row.properties
"""

# Outside the generations: what a run that broke was told is not asked for again.
KEEP_REPLIES = """
UNWIND $rows AS row
MERGE (r:__ModelReply__ {project_id: $project_id, key: row.key})
SET r += row.properties
"""

DROP_REPLIES = f"""
UNWIND $rows AS row
{one("r", "__ModelReply__", "key")}
DELETE r
"""

KEPT_THRESHOLD = f"""
MATCH (p:__Project__ {{id: $project_id}})
RETURN p {{{nearest.listed(*nearest.THRESHOLD)}}} AS threshold, p.written_at AS written_at
"""

KEEP_THRESHOLD = """
MATCH (p:__Project__ {id: $project_id})
SET p += $threshold
"""
