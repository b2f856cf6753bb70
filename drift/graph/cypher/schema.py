"""How statements speak of a graph, from the mapping that says how it is built.

DEFAULT is the graph of this project, whose nodes have a `project_id`:
`(:__Document__)-[:HAS_CHUNK]->(:__Chunk__)-[:HAS_ENTITY]->(:__Entity__)`, RELATED between entities,
chunks and entities IN_COMMUNITY.

A graph of others has no projects: the database is one. Every property but the text and the
embedding of a chunk may be missing, and names and levels may be of any type.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from drift.graph.cypher import allowed
from drift.graph.cypher.edges import Edges
from drift.graph.cypher.expressions import (
    first_integer,
    first_key,
    first_not_blank,
    first_text,
    is_known,
    of_generation,
    of_project,
)
from drift.graph.mapping import KNOWN, OWN, GraphMapping, quoted, read_mapping

FILE_NAMES = ("`metadata.file_name`", "file_name")
"""Where pipelines leave the name of a document's file when the document has no title."""

FIRST_VECTOR = "embedding"
FALLBACK_VECTOR = "embedding_local"
"""The property of a second vector, by a local model (`EMBED_FALLBACK`)."""


@dataclass(frozen=True, slots=True)
class Schema(Edges):
    """The few patterns in which the statements of graphs differ: edges, and Cypher about `n`."""

    vector: str
    """The property of chunks and communities that is compared with a question's vector."""
    is_filtered: bool = False
    """Whether only documents of `$asked.allowed` are read, and what is made of them alone."""

    # ------------------------------------------------------------------------------------- names
    @property
    def first_vector(self) -> str:
        """The same property of the first version of vectors."""
        return self.mapping.embedding

    @property
    def is_first(self) -> bool:
        """Whether it searches the first version of vectors."""
        return self.vector == self.first_vector

    @property
    def text(self) -> str:
        """The property of a chunk's text."""
        return self.mapping.text

    @property
    def summary(self) -> str:
        """The property of a community's text."""
        return self.mapping.summary

    @property
    def id(self) -> str:
        """What chunks and entities are found by; empty: by nothing but their place in the store."""
        return self.mapping.id

    def named(self, ours: str) -> str:
        """Return a label as it is, by that of DEFAULT."""
        return self.mapping.labels.get(ours, ours)

    def label(self, ours: str) -> str:
        """Return a label as Cypher writes it, by that of DEFAULT."""
        return quoted(self.named(ours))

    @property
    def chunk(self) -> str:
        """The label of chunks, as Cypher writes it."""
        return self.label("__Chunk__")

    @property
    def entity(self) -> str:
        """The label of entities."""
        return self.label("__Entity__")

    @property
    def community(self) -> str:
        """The label of communities."""
        return self.label("__Community__")

    @property
    def titled_label(self) -> str:
        """The label of documents that are found by their titles; empty where they have none."""
        return "__Document__" if self.has_projects else self.mapping.document

    @property
    def text_properties(self) -> frozenset[str]:
        """What the full-text index has to hold."""
        return frozenset({self.text, "project_key"} if self.has_projects else {self.text})

    @property
    def name_properties(self) -> frozenset[str]:
        """What the index of titles has to hold."""
        return frozenset({"title_key", "project_key"} if self.has_projects else {"title_key"})

    # ----------------------------------------------------------------- what belongs to the project
    def project_chunk(self, n: str) -> str:
        """Return the condition; an index may hold other nodes too."""
        if not self.has_projects:
            return f"{n}:{self.chunk}"
        return f"{n}:{self.chunk} AND {of_project(n)}{self._if_filtered(allowed.chunk(n))}"

    def project_document(self, d: str) -> str:
        """Return the condition, which stands only where there are projects."""
        return f"{of_project(d)}{self._if_filtered(allowed.document(d))}"

    def project_entity(self, n: str) -> str:
        """Return the condition; without a label, what chunks mention is an entity."""
        if self.has_projects:
            return f"{is_known(n)}{self._if_filtered(allowed.entity(n))}"
        if self.mapping.entity:
            return f"{n}:{self.entity}"
        return f"EXISTS {{ ({n}){self.mentioned_in}() }}"

    def project_community(self, n: str) -> str:
        """Return the condition."""
        if not self.has_projects:
            return f"{n}:{self.community}"
        return f"{is_known(n)}{self._if_filtered(allowed.community(n))}"

    def project_related(self, n: str) -> str:
        """Return the condition of what an entity is related to: no relation leaves a generation."""
        if not self.has_projects:
            return self.project_entity(n)
        return f"{of_project(n)}{self._if_filtered(allowed.entity(n))}"

    def project_step(self, n: str) -> str:
        """Return the condition of a chunk or an entity that a walk may go to."""
        if self.has_projects:
            chunk = f"{n}:__Chunk__{self._if_filtered(allowed.chunk(n))}"
            known = f"{of_generation(n)}{self._if_filtered(f'{n}:__Entity__')}"
            entity = f"{known}{self._if_filtered(allowed.entity(n))}"
            return f"{of_project(n)} AND ({chunk} OR {entity})"
        return f"({n}:{self.chunk} OR {self.project_entity(n)})"

    @property
    def filtered(self) -> Schema:
        """The same schema, of which only what a filter leaves is read."""
        return replace(self, is_filtered=True)

    def _if_filtered(self, condition: str) -> str:
        return f" AND {condition}" if self.is_filtered else ""

    @property
    def visible(self) -> str:
        """The body of a subquery: what is to be read of what is made of all documents together.

        It gives the `generation`, whether another one is `building`, and the models that the
        vectors are `made_by`, where the project says so.
        """
        if not self.has_projects:
            return "RETURN 0 AS generation, false AS building, [] AS made_by"
        return """OPTIONAL MATCH (p:__Project__ {id: $asked.project_id})
  RETURN coalesce(p.generation, 0) AS generation, p.building IS NOT NULL AS building,
    p.embedding_models AS made_by"""

    def seek(self, n: str, label: str, *keys: str) -> str:
        """Return the hint that stands behind a pattern: find `n` by its label and these keys.

        Without it a scan looks as cheap where one project holds most nodes.
        """
        if not self.has_projects:
            return ""
        return f" USING INDEX SEEK {n}:{label}({', '.join(('project_id', *keys))})"

    # ------------------------------------------------------------------------------ of one node
    def node_id(self, n: str) -> str:
        """Return what tells a chunk or an entity from others: its place where ids do not."""
        if self.has_projects:
            return f"{n}.id"
        if not self.id:
            return f"elementId({n})"
        return f"coalesce(toStringOrNull({n}.{self.id}), elementId({n}))"

    def community_id(self, c: str) -> str:
        """Return the first property that can tell one community from another."""
        if self.id not in {"", "id"}:
            return self.node_id(c)
        # Until `prepare` copies an `id`, follow-ups look in the whole project.
        return first_key(c, "community", "id")

    def is_asked(self, c: str) -> str:
        """Return the condition that a community is among `$asked.communities`."""
        key = f"{c}.community" if self.has_projects else self.community_id(c)
        return f"{key} IN $asked.communities"

    def is_entity(self, n: str) -> str:
        """Return the condition that what is known to be an entity or a chunk is an entity."""
        return f"{n}:__Entity__" if self.has_projects else f"NOT {n}:{self.chunk}"

    def title(self, n: str) -> str:
        """Return an entity's name: the first that can be written as text; of a list its first."""
        if self.has_projects:
            return f"coalesce(toStringOrNull({n}.title), toStringOrNull({n}.id))"
        return first_text(n, self.mapping.title, "title", "name", "id")

    def entity_text(self, e: str) -> str:
        """Return what is said of an entity."""
        if self.has_projects:
            return f"{e}.description"
        return f"coalesce({first_not_blank(e, 'description', 'summary')}, '')"

    def ordinal(self, n: str) -> str:
        """Return a chunk's place in its document, from 0; null where it is no number."""
        if self.has_projects:
            return first_integer(n, "ordinal")
        counted = first_integer(n, "ordinal", "index", "chunk_index")
        # LLM Graph Builder counts from 1.
        return f"coalesce({counted}, {first_integer(n, 'position')} - 1)"

    def links(self, n: str) -> str:
        """Return the first links that are stored beside a chunk's text."""
        if not self.has_projects:
            return "[]"
        is_list = f"{n}.links IS :: LIST<STRING NOT NULL> NOT NULL"
        return f"CASE WHEN {is_list} THEN {n}.links[0..$most_links] ELSE [] END"

    def description(self, r: str) -> str:
        """Return what is said of a relation; of others at least its type."""
        if self.has_projects:
            return f"{r}.description"
        return f"coalesce({first_not_blank(r, 'description', 'summary', 'fact')}, type({r}))"

    def weight(self, r: str) -> str:
        """Return the weight of a relation."""
        return f"toFloatOrNull({r}.weight)"

    # ----------------------------------------------------------------------------- documents
    @property
    def document(self) -> str:
        """The documents of `ch`: a row for each, with `d`, its `title` and its `id`, or null."""
        if self.mapping.is_own_document:
            rows = "UNWIND [ch] AS d"
        else:
            label = self.mapping.document
            conditions = [f"d:{quoted(label)}"] if label else []
            conditions += [self.project_document("d")] if self.has_projects else []
            checked = f"\n    WHERE {' AND '.join(conditions)}" if conditions else ""
            arrow = self.mapping.edge("part_of").arrow()
            rows = f"MATCH (ch){arrow}(d)\n    WITH DISTINCT d{checked}"
        return f"{rows}\n    WITH d, {self.document_title('d')} AS title, {self._own_id('d')} AS id"

    def document_title(self, d: str) -> str:
        """Return the first name that says something."""
        if self.has_projects:
            return first_not_blank(d, "title", *FILE_NAMES)
        names = ("title", "path", "name", "fileName", *FILE_NAMES, "source", "url")
        return first_not_blank(d, *dict.fromkeys((self.mapping.title, *names)))

    def document_id(self, d: str) -> str:
        """Return its id; a pipeline of others may name a document by its path alone."""
        own = self._own_id(d)
        return own if self.has_projects else f"coalesce({own}, elementId({d}))"

    def _own_id(self, d: str) -> str:
        # Where ids repeat, no chunk is a document by its own.
        repeats = self.mapping.is_own_document and not self.id
        return "null" if repeats else first_not_blank(d, self.id or "id")

    def chunks_of(self, d: str) -> str:
        """Return how many chunks a document has; null where it is its own."""
        if self.mapping.is_own_document:
            return "null"
        held = f"COUNT {{ ({d}){self.holds}() }}"
        if not self.has_projects:
            return held
        # While a big document is written anew, edges lead to chunks that no question sees yet.
        return f"CASE WHEN {d}.chunks IS :: INTEGER NOT NULL THEN {d}.chunks ELSE {held} END"


def schema_of(mapping: GraphMapping) -> Schema:
    """Return how statements speak of a graph of others that is built like this."""
    return Schema(mapping, has_projects=False, vector=mapping.embedding)


DEFAULT = Schema(OWN, has_projects=True, vector=FIRST_VECTOR)
V1 = schema_of(KNOWN["v1"])


def schema_named(value: str) -> Schema:
    """Return the schema of a value of GRAPH_SCHEMA; ValueError as for `read_mapping`."""
    return DEFAULT if value == "default" else schema_of(read_mapping(value))
