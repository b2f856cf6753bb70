"""The statements that read a project whole, write it anew, and take it out.

What no question may see yet, or no more, has the label of staged chunks and an edge to its project.
Entities and communities are of a generation that the project's node names; -1 is none.
"""

from __future__ import annotations

from drift.graph.cypher import clauses, legs, nearest
from drift.graph.cypher.expressions import of_generation
from drift.graph.writing.clauses import DOCUMENTS, KEYS, OFF, STAGED, UPDATED_AT

OWN = (legs.PERSONAL, legs.EARLIER)
KINDS = {**KEYS, **dict.fromkeys((OFF, *OWN), "id")}
"""The labels of a project's nodes, each with the property that names a node."""
SEEN_AT_ONCE = ("__Document__", "__Chunk__", *OWN)  # whatever their project says
LISTED = (OFF, legs.EARLIER)
"""Labels without an index: their nodes are found once, and then read by their places."""

_OF_GENERATIONS = ("__Entity__", "__Community__")
_PROJECT = "MATCH (p:__Project__ {id: $project_id})"
_DROP_SOME = """LIMIT $most
DETACH DELETE n
RETURN count(*) AS dropped"""
OF_LEASE = ("id", "project_id", "writer", "writer_name", "writer_since", "writer_until")
"""The properties that a project's node has while it is written and holds nothing."""
OF_COPY = ("vectors_at", "vectors_noted")  # how far a store beside the graph follows


def _all(label: str, key: str = "") -> str:
    """Return what binds the project's nodes of a label as `n`; with a key, behind `$after`."""
    if label == OFF:
        return f"""{DOCUMENTS} AND d.is_off
MATCH (d)-[:HAS_CHUNK]->(n)
WITH DISTINCT n
WHERE n:{OFF}"""
    if label == legs.EARLIER:
        return f"""MATCH (n:{label})
WHERE n.project_id = $project_id AND {legs.of_earlier_release("n")}"""

    # Own nodes may have been written before there was an index of them.
    keys = f"project_id, {key}" if key else "project_id"
    seek = "" if label == legs.PERSONAL else f" USING INDEX SEEK n:{label}({keys})"
    behind = f" AND n.{key} > $after" if key else ""
    return f"MATCH (n:{label}){seek}\nWHERE n.project_id = $project_id{behind}"


def _seen(label: str, key: str = "") -> str:
    visible = f" AND {of_generation('n', '$generation')}" if label in _OF_GENERATIONS else ""
    return f"{_all(label, key)}{visible}"


# ------------------------------------------------------------------------------------- what is held
COUNTS = f"""
RETURN {{{", ".join(f"{k}: COUNT {{ {_seen(k)} RETURN n }}" for k in KINDS)}}} AS nodes
"""

_EVERY = "\n  UNION ALL\n  ".join(f"{_seen(label)}\n  RETURN n" for label in KINDS)
_FLOATS = """reduce(
    floats = 0, name IN [one IN keys(n) WHERE one STARTS WITH 'mean' OR one STARTS WITH 'embedding']
    | floats + CASE WHEN n[name] IS :: LIST<ANY> THEN size(n[name]) ELSE 0 END
  )"""

# A server cannot count the bytes of a text, so its characters are counted.
FACTS = f"""
{_PROJECT}
CALL (p) {{
  {DOCUMENTS}
  RETURN min(d.indexed_at) AS first_indexed, max(d.indexed_at) AS last_indexed,
    count(CASE WHEN d.indexed_at > p.derived_at THEN 1 END) AS behind
}}
CALL () {{
  CALL () {{
  {_EVERY}
  }}
  RETURN sum(size(coalesce(toStringOrNull(n.text), toStringOrNull(n.summary),
    toStringOrNull(n.description), ''))) AS text_characters, 4 * sum({_FLOATS}) AS vector_bytes
}}
RETURN first_indexed, last_indexed, behind, text_characters, vector_bytes,
  p.derived_at AS derived_at, p.embedding_models AS embedding_models,
  p.clustered_chunks IS NOT NULL AND coalesce(p.fingerprint, '') = '' AS is_behind
"""

LIST_DOCUMENTS = f"""
{DOCUMENTS}
RETURN d.id AS id, coalesce(d.source, '') AS source, coalesce(d.is_off, false) AS off,
  COUNT {{ (d)-[:HAS_CHUNK]->() }} AS chunks, {UPDATED_AT} AS updated_at
ORDER BY id
"""

_GONE = "($source IS NULL OR coalesce(d.source, '') = $source)"
_STAYS = "$source IS NOT NULL AND coalesce(x.source, '') <> $source"


def _only_there(edge: str, label: str) -> str:
    """Return the count of nodes that only chunks of the documents of `$source` lead to."""
    return f"""COUNT {{
    {DOCUMENTS} AND {_GONE}
    MATCH (d)-[:HAS_CHUNK]->()-[:{edge}]->(n)
    WITH DISTINCT n
    WHERE n:{label} AND {of_generation("n", "$generation")}
      AND NOT EXISTS {{ (n)<-[:{edge}]-()<-[:HAS_CHUNK]-(x) WHERE {_STAYS} }}
    RETURN n
  }}"""


# All that only documents of one source, or of all sources, have made.
WOULD_GO = f"""
RETURN COUNT {{
    {DOCUMENTS} AND {_GONE}
    MATCH (d)-[:HAS_CHUNK]->(n)
    WITH DISTINCT n
    WHERE NOT EXISTS {{ (n)<-[:HAS_CHUNK]-(x) WHERE {_STAYS} }}
    RETURN n
  }} AS chunks,
  {_only_there("HAS_ENTITY", "__Entity__")} AS entities,
  {_only_there("IN_COMMUNITY*1..12", "__Community__")} AS communities
"""

# ------------------------------------------------------------------------------------------ reading
GENERATION = f"""
{_PROJECT}
RETURN coalesce(p.generation, 0) AS generation, p {{.*}} AS properties
"""


def _named(label: str) -> str:
    more = {
        **dict.fromkeys(_OF_GENERATIONS, of_generation("m", "$generation")),
        OFF: "EXISTS { (:__Document__ {project_id: $project_id, is_off: true})-[:HAS_CHUNK]->(m) }",
        legs.EARLIER: legs.of_earlier_release("m"),
    }
    return f"WHEN m:{label} AND {more.get(label, 'true')} THEN ['{label}', m.{KINDS[label]}]"


def places(label: str) -> str:
    """Return the statement of where the nodes of a label without an index are, by their keys."""
    return f"""
{_all(label)} AND n.{KINDS[label]} IS NOT NULL
RETURN elementId(n) AS place ORDER BY n.{KINDS[label]}
"""


def page(label: str) -> str:
    """Return the statement of the next nodes of a label, by their keys, each with its edges.

    Those are what leaves it, and what leads to it from outside of the project; an end outside of
    the project is null. Where no index finds the next ones, they are those in `$places`.
    """
    key, named = KINDS[label], "\n      ".join(map(_named, KINDS))
    is_there = f"""UNWIND $places AS place
MATCH (n) WHERE elementId(n) = place AND '{label}' IN labels(n)"""
    return f"""
{is_there if label in LISTED else _seen(label, key)}
WITH n ORDER BY n.project_id, n.{key} LIMIT $most
RETURN n.{key} AS key, labels(n) AS labels, properties(n) AS properties,
  EXISTS {{ (n)-[:IN_PROJECT]->(:__Project__) }} AS in_project,
  COLLECT {{
    MATCH (n)-[r:!IN_PROJECT]-(m)
    WITH r, startNode(r) = n AS leaves, CASE
      WHEN coalesce(m.project_id <> $project_id, true) THEN null
      {named}
    END AS other
    WHERE leaves OR other IS NULL
    RETURN {{type: type(r), to: other, properties: properties(r)}}
  }} AS edges
"""


# ------------------------------------------------------------------------------------------ writing
STANDING = f"""
{_PROJECT}
RETURN p.restoring AS restoring, COUNT {{ (p)--() }} AS edges,
  any(name IN keys(p) WHERE NOT name IN $of_lease) OR EXISTS {{ (p)--() }}
    OR {" OR ".join(f"EXISTS {{ {_all(label)} RETURN n }}" for label in KINDS)} AS is_there
"""

BEGIN_RESTORE = f"""
{_PROJECT}
SET p.restoring = $restoring, p.generation = -1
"""

PUT_NODES = f"""
{_PROJECT}
UNWIND $rows AS row
CREATE (n)
SET n = row.properties, n:$(row.labels)
FOREACH (edge IN row.in_project | CREATE (n)-[r:IN_PROJECT]->(p) SET r = edge)
WITH n, row
CALL (n, row) {{
  UNWIND row.vectors AS vector
  CALL db.create.setNodeVectorProperty(n, vector.name, vector.floats)
}}
RETURN row.place AS place, elementId(n) AS id
"""

PUT_EDGES = """
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.from
MATCH (b) WHERE elementId(b) = row.to
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
"""

REVEAL = f"""
{_PROJECT}
MATCH (p)<-[r:IN_PROJECT]-(n:{STAGED})
WITH n, r, r.labels AS labels, r.alone AS alone LIMIT $most
SET n:$(labels)
REMOVE n:{STAGED}, r.labels, r.alone
FOREACH (_ IN CASE WHEN alone THEN [1] ELSE [] END | DELETE r)
RETURN count(*) AS revealed
"""

END_RESTORE = f"""
{_PROJECT}
SET p += $properties, p.generation = $generation, {clauses.TOUCHED}
REMOVE p.restoring
"""

# --------------------------------------------------------------------------------------- taking out
BEGIN_DELETE = f"""
{_PROJECT}
SET p.deleting = true, p.generation = -1, p.fingerprint = '', {clauses.TOUCHED}
REMOVE p.restoring
"""


def hide(label: str) -> str:
    """Return the statement after which no question sees up to $most documents or chunks."""
    return f"""
{_PROJECT}
CALL (p) {{
  {_all(label)}
  RETURN n LIMIT $most
}}
MERGE (n)-[:IN_PROJECT]->(p)
SET n:{STAGED}
REMOVE n:{label}
RETURN count(*) AS dropped
"""


def drop(label: str) -> str:
    """Return the statement that removes up to $most nodes of a label, and counts them."""
    return f"""
{_all(label)}
WITH n {_DROP_SOME}
"""


HIDING = (hide("__Chunk__"), *map(drop, OWN), hide("__Document__"))
"""After these no question sees anything of a project whose generation is none."""

# Chunks of documents that others wrote may have no edge to their project.
DROP_OFF = f"""
{_PROJECT}
MATCH (p)<-[:IN_PROJECT]-(d)-[:HAS_CHUNK]->(n)
WHERE d:{STAGED} AND n:{OFF}
WITH DISTINCT n {_DROP_SOME}
"""

DROP_MEMBERS = f"""
{_PROJECT}
MATCH (p)<-[:IN_PROJECT]-(n)
WHERE n:{STAGED}|{"|".join(label for label in KINDS if label not in OWN)}
WITH n {_DROP_SOME}
"""

# The node itself goes when the lease is given back.
FORGET = f"""
{_PROJECT}
CALL (p) {{
  MATCH (p)-[r]-()
  DELETE r
}}
SET p = p {{{nearest.listed(*OF_LEASE)}}}
"""

# -------------------------------------------------------------------------------------- differences
# What others wrote may have no document; a chunk of ours has the words of its document's name.
_IS_ORPHAN = "n.name_words IS NOT NULL AND NOT EXISTS { (n)<-[:HAS_CHUNK]-() }"
_IS_OTHER = """CASE WHEN n[$vector] IS NULL THEN false
    WHEN n[$vector] IS :: LIST<ANY> THEN size(n[$vector]) <> $dimensions ELSE true END"""


DIFFERENCES = f"""
RETURN COLLECT {{
    {DOCUMENTS}
    WITH d, COUNT {{ (d)-[:HAS_CHUNK]->() }} AS chunks
    WHERE coalesce(d.chunks, chunks) <> chunks
    RETURN d.id AS id ORDER BY id
  }} AS broken,
  COUNT {{ {_seen("__Chunk__")} AND {_IS_ORPHAN} RETURN n }} AS orphans,
  COUNT {{ {_seen("__Chunk__")} AND {_IS_OTHER} RETURN n }}
    + COUNT {{ {_seen("__Community__")} AND {_IS_OTHER} RETURN n }} AS others
"""

DROP_ORPHANS = f"""
{_PROJECT}
SET p.fingerprint = '', {clauses.TOUCHED}
WITH p
CALL (p) {{
  {_all("__Chunk__")} AND {_IS_ORPHAN}
  RETURN n LIMIT $most
}}
CALL (n) {{
  MATCH (n)-[:IN_COMMUNITY]->(c)
  SET c.stale = true
}}
DETACH DELETE n
RETURN count(*) AS dropped
"""
