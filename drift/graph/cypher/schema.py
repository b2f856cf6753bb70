"""The two graph schemas that can be searched, as the few patterns in which their statements differ.

DEFAULT is the graph of this project:
`(:__Document__)-[:HAS_CHUNK]->(:__Chunk__)-[:HAS_ENTITY]->(:__Entity__)`, RELATED between entities,
chunks and entities IN_COMMUNITY, and `project_id` on every node.

V1 has no projects: `(entity)-[:FROM_CHUNK]->(:__Chunk__)` and
`(entity)-[:IN_COMMUNITY]->(:__Community__)`, communities nested by IN_COMMUNITY. An entity is
whatever comes from a chunk, a relation any other edge between two entities. Every property but
`text` and `embedding` may be missing, and names and levels may be of any type. The lexical graph of
neo4j-graphrag's SimpleKGPipeline has this shape, without communities and with documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

MAX_LEVELS = 12

FILE_NAMES = ("`metadata.file_name`", "file_name")
"""Where pipelines leave the name of a document's file when the document has no title."""

SchemaName = Literal["default", "v1"]

FIRST_VECTOR = "embedding"
FALLBACK_VECTOR = "embedding_local"
"""The property of a second vector, by a local model (`EMBED_FALLBACK`)."""

Of = Callable[[str], str]
"""Cypher about the node, or relation, of that name."""


@dataclass(frozen=True, slots=True)
class Schema:
    """How statements say what they need: arrows between nodes, and expressions about one."""

    # Conditions: what belongs to the project.
    project_chunk: Of
    project_entity: Of
    project_community: Of
    project_related: Of
    """Of what an entity of the project is related to."""
    project_step: Of
    """Of a chunk or an entity that a walk may go to."""

    # Bodies of subqueries.
    visible: str
    """Gives the `generation` of what is made of all documents together, whether another one is
    `building`, and the models that the vectors are `made_by`, where the project says so."""
    chunk_count: str

    seek: Callable[..., str]
    """Stands behind a pattern: how to find a node, of its name, its label and its keys."""

    # Arrows.
    below: str
    """From a community to a chunk at any depth."""
    above: str
    """From a chunk to a community at any height."""
    member_of: str
    """From a chunk to the communities that it is directly in."""
    mentions: str
    """From a chunk to an entity."""
    mentioned_in: str
    """From an entity to a chunk."""
    related: Of
    """The relation, named or not, between two entities."""
    walked: str
    """What a walk goes along, either way."""

    # Expressions.
    chunk_id: Of
    entity_id: Of
    community_id: Of
    is_asked: Of
    """Whether a community is among `$asked.communities`."""
    is_entity: Of
    """Where the node is known to be an entity or a chunk."""
    title: Of
    description: Of
    """Of a relation."""
    weight: Of
    """Of a relation."""
    degree: Of
    """How many edges a walk could go along."""
    told: Of
    """How many relations begin at the entity."""
    targets: Of
    """The list of what they end at."""
    ordinal: Of
    """A chunk's place in its document, from 0; null where it is no number."""
    document: str
    """The documents of `ch`: a row for each, with `d`, its `title` and its `id`; null for none."""
    document_title: Of
    document_id: Of
    chunks_of: Of
    """How many chunks a document has."""
    holds: str
    """The arrow from a document to a chunk."""

    text_properties: frozenset[str]
    """What the full-text index has to hold."""
    name_properties: frozenset[str]
    """What the index of titles has to hold."""
    has_projects: bool
    vector: str = FIRST_VECTOR
    """The property of chunks and communities that is compared with a question's vector."""


def _property(name: str) -> Of:
    return lambda n: f"{n}.{name}"


def _first_text(*names: str) -> Of:
    """Return the first of these properties that can be written as text; lists cannot."""
    return lambda n: f"coalesce({', '.join(f'toStringOrNull({n}.{name})' for name in names)})"


def _first_integer(*names: str) -> Of:
    """Return the first of these properties that is an integer, or null."""
    return lambda n: (
        f"head([number IN [{', '.join(f'{n}.{name}' for name in names)}] "
        "WHERE number IS :: INTEGER NOT NULL])"
    )


def _first_not_blank(*names: str) -> Of:
    """Return the first of these properties, as text, that says something."""
    return lambda d: (
        f"head([name IN [{', '.join(f'toStringOrNull({d}.{name})' for name in names)}] "
        "WHERE trim(name) <> ''])"
    )


_id = _first_not_blank("id")
_title = _first_not_blank("title", *FILE_NAMES)
_title_v1 = _first_not_blank("title", "path", "name", *FILE_NAMES)


def _of_project(n: str) -> str:
    return f"{n}.project_id = $asked.project_id"


def _of_generation(n: str) -> str:
    """Return the condition that a node is of the generation to read; elsewhere it has no number."""
    return f"coalesce({n}.generation, 0) = generation"


def _known(n: str) -> str:
    return f"{_of_project(n)} AND {_of_generation(n)}"


def _degree(n: str) -> str:
    # A chunk's entities are counted one by one only while it has some that no question sees yet.
    return f"""CASE
      WHEN building AND {n}:__Chunk__
      THEN COUNT {{ ({n})-[:HAS_ENTITY]->(x) WHERE {_of_generation("x")} }}
      ELSE COUNT {{ ({n})-[:HAS_ENTITY]-() }} + COUNT {{ ({n})-[:RELATED]-() }} END"""


def _seek(n: str, label: str, *keys: str) -> str:
    """Return the hint without which a scan looks as cheap where one project holds most nodes."""
    return f" USING INDEX SEEK {n}:{label}({', '.join(('project_id', *keys))})"


def is_key(property_: str) -> str:
    """Return the condition that a property is text or a number; it holds for a missing one too."""
    return " OR ".join(f"{property_} IS :: {kind}" for kind in ("STRING", "INTEGER", "FLOAT"))


def _community_id(c: str) -> str:
    """Return the first property that can tell one community from another."""
    usable = (f"CASE WHEN {is_key(key)} THEN {key} END" for key in (f"{c}.community", f"{c}.id"))
    return f"coalesce({', '.join(usable)}, elementId({c}))"


DEFAULT = Schema(
    # An index may hold other nodes too.
    project_chunk=lambda n: f"{n}:__Chunk__ AND {_of_project(n)}",
    project_entity=_known,
    project_community=_known,
    # No relation leaves its generation.
    project_related=_of_project,
    project_step=lambda n: f"{_of_project(n)} AND ({n}:__Chunk__ OR {_of_generation(n)})",
    visible="""OPTIONAL MATCH (p:__Project__ {id: $asked.project_id})
  RETURN coalesce(p.generation, 0) AS generation, p.building IS NOT NULL AS building,
    p.embedding_models AS made_by""",
    seek=_seek,
    # Counting stops at a limit: beyond it, more would change little.
    chunk_count=f"""MATCH (ch:__Chunk__){_seek("ch", "__Chunk__")}
  WHERE ch.project_id = $asked.project_id
  WITH ch LIMIT $count_limit
  RETURN count(ch) AS chunk_count""",
    below=f"<-[:IN_COMMUNITY*1..{MAX_LEVELS}]-",
    above=f"-[:IN_COMMUNITY*1..{MAX_LEVELS}]->",
    member_of="-[:IN_COMMUNITY]->",
    mentions="-[:HAS_ENTITY]->",
    mentioned_in="<-[:HAS_ENTITY]-",
    related=lambda r: f"[{r}:RELATED]",
    walked="-[:HAS_ENTITY|RELATED]-",
    chunk_id=_property("id"),
    entity_id=_property("id"),
    # Pipelines may call it `id`; until `prepare` copies it, follow-ups look in the whole project.
    community_id=_community_id,
    is_asked=lambda c: f"{c}.community IN $asked.communities",
    is_entity=lambda n: f"{n}:__Entity__",
    title=_first_text("title", "id"),
    description=_property("description"),
    weight=lambda r: f"toFloatOrNull({r}.weight)",
    degree=_degree,
    told=lambda n: f"COUNT {{ ({n})-[:RELATED]->() }}",
    targets=lambda n: f"COLLECT {{ MATCH ({n})-[:RELATED]->(x) RETURN x }}",
    ordinal=_first_integer("ordinal"),
    document=f"""MATCH (d)-[:HAS_CHUNK]->(ch)
    WITH DISTINCT d
    WHERE d:__Document__ AND d.project_id = $asked.project_id
    WITH d, {_title("d")} AS title, {_id("d")} AS id""",
    document_title=_title,
    document_id=_id,
    # While a big document is written anew, edges lead to chunks that no question sees yet.
    chunks_of=lambda d: (
        f"CASE WHEN {d}.chunks IS :: INTEGER NOT NULL THEN {d}.chunks "
        f"ELSE COUNT {{ ({d})-[:HAS_CHUNK]->() }} END"
    ),
    holds="-[:HAS_CHUNK]->",
    text_properties=frozenset({"text", "project_key"}),
    name_properties=frozenset({"title_key", "project_key"}),
    has_projects=True,
)

# Other edges between two entities are relations, PART_OF among them: what a thing is part of is
# often worth telling.
_LEXICAL = "!FROM_DOCUMENT&!NEXT_CHUNK"
_RELATION = f"!FROM_CHUNK&!IN_COMMUNITY&{_LEXICAL}"
_ABOVE_MENTIONS = f"<-[:FROM_CHUNK*0..1]-()-[:IN_COMMUNITY*1..{MAX_LEVELS}]->"


def _comes_from_a_chunk(n: str) -> str:
    return f"EXISTS {{ ({n})-[:FROM_CHUNK]->() }}"


def _name(n: str) -> str:
    return f"coalesce(toStringOrNull({n}.id), elementId({n}))"


V1 = Schema(
    project_chunk=lambda n: f"{n}:__Chunk__",
    project_entity=_comes_from_a_chunk,
    project_community=lambda n: f"{n}:__Community__",
    project_related=_comes_from_a_chunk,
    project_step=lambda n: f"({n}:__Chunk__ OR {_comes_from_a_chunk(n)})",
    visible="RETURN 0 AS generation, false AS building, [] AS made_by",
    seek=lambda *_: "",
    # The server keeps this count.
    chunk_count="MATCH (ch:__Chunk__) RETURN count(ch) AS chunk_count",
    # Chunks may be in communities themselves.
    below=f"<-[:IN_COMMUNITY*1..{MAX_LEVELS}]-()-[:FROM_CHUNK*0..1]->",
    above=_ABOVE_MENTIONS,
    member_of="<-[:FROM_CHUNK*0..1]-()-[:IN_COMMUNITY]->",
    mentions="<-[:FROM_CHUNK]-",
    mentioned_in="-[:FROM_CHUNK]->",
    related=lambda r: f"[{r}:{_RELATION}]",
    walked=f"-[:!IN_COMMUNITY&{_LEXICAL}]-",
    chunk_id=_name,
    entity_id=_name,
    community_id=_community_id,
    is_asked=lambda c: f"{_community_id(c)} IN $asked.communities",
    is_entity=lambda n: f"NOT {n}:__Chunk__",
    title=_first_text("title", "name", "id"),
    description=lambda r: f"coalesce({_first_not_blank('description')(r)}, type({r}))",
    weight=lambda r: f"toFloatOrNull({r}.weight)",
    # Degrees by type are read off the node; parallel edges count, as they do in the walk itself.
    degree=lambda n: (
        f"COUNT {{ ({n})--() }} - COUNT {{ ({n})-[:IN_COMMUNITY|FROM_DOCUMENT|NEXT_CHUNK]-() }}"
    ),
    told=lambda n: f"COUNT {{ ({n})-->() }} - COUNT {{ ({n})-[:FROM_CHUNK|IN_COMMUNITY]->() }}",
    # Going along edges of any type means going along all of them, a hub's mentions too.
    targets=lambda n: (
        f"CASE WHEN COUNT {{ ({n})-->() }} <= 1000 THEN COLLECT {{ MATCH ({n})-[:{_RELATION}]->(x) "
        f"RETURN x }} ELSE [] END"
    ),
    # The lexical graph of neo4j-graphrag calls it `index`.
    ordinal=_first_integer("ordinal", "index"),
    document=f"""MATCH (ch)-[:FROM_DOCUMENT]->(d)
    WITH DISTINCT d
    WITH d, {_title_v1("d")} AS title, {_id("d")} AS id""",
    document_title=_title_v1,
    # A pipeline may name a document by its path alone.
    document_id=lambda d: f"coalesce({_id(d)}, elementId({d}))",
    chunks_of=lambda d: f"COUNT {{ ({d})<-[:FROM_DOCUMENT]-() }}",
    holds="<-[:FROM_DOCUMENT]-",
    text_properties=frozenset({"text"}),
    name_properties=frozenset({"title_key"}),
    has_projects=False,
)

SCHEMAS: Mapping[SchemaName, Schema] = {"default": DEFAULT, "v1": V1}
"""By the value of GRAPH_SCHEMA."""
