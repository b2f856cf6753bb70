"""How a graph is built, as data: which labels, edges and properties stand for what.

A mapping is the name of a known shape, or a JSON object of the fields that differ from
`GraphMapping`'s own. A name becomes part of a statement only after the checks made here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

MOST_CHARACTERS = 4000
"""Of a mapping as JSON."""
_NAME = re.compile(r"[^`\\\x00-\x1f\x7f]{1,200}")


@dataclass(frozen=True, slots=True)
class Edge:
    """The types of an edge, any of them, and whether it points the way that it is read."""

    types: tuple[str, ...]
    is_forward: bool

    @classmethod
    def read(cls, text: str) -> Edge:
        """Return the edge that `TYPE`, `A|B`, or read against its arrow `<TYPE`, writes."""
        return cls(tuple(text.removeprefix("<").split("|")), not text.startswith("<"))

    def arrow(self, *, back: bool = False, times: str = "") -> str:
        """Return it as Cypher, read forth or `back`, once or so many `times`."""
        inner = f"[:{'|'.join(map(quoted, self.types))}{times}]"
        return f"-{inner}->" if self.is_forward != back else f"<-{inner}-"


@dataclass(frozen=True, slots=True)
class GraphMapping:
    """What stands for what in a graph without projects; ValueError names what cannot be.

    Edges are read from the smaller thing to the larger: from a chunk to its entities and its
    document, from an entity or a chunk to its community, from there to the one above. `<TYPE` is
    an edge that points the other way.
    """

    chunk: str = ""
    """Its label; empty: whatever the edges tell, which `prepare` gives a label."""
    text: str = "text"
    id: str = "id"
    """Of chunks and entities; empty: ids are not unique, and the place in the store is taken."""
    embedding: str = "embedding"
    document: str = ""
    """Its label; empty: whatever `part_of` leads to. The label of chunks: each is a document."""
    part_of: str = "PART_OF"
    entity: str = ""
    """Its label; empty: whatever a chunk mentions, which `prepare` gives a label."""
    mention: str = "HAS_ENTITY"
    relation: str = ""
    """Types between two entities; empty: any edge that is none of the others."""
    title: str = "title"
    """Of entities and documents; without it the usual names are looked for."""
    community: str = ""
    member: str = "IN_COMMUNITY"
    parent: str = "IN_COMMUNITY"
    summary: str = "summary"

    def __post_init__(self) -> None:
        """Check every name, and that no label stands for two things."""
        for name, value in asdict(self).items():
            _check(name, value)
        labels = list(self.labels.values())
        if self.document and not self.is_own_document:
            labels.append(self.document)
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"the label {label!r} stands for two things")

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of chunks, entities and communities, by those of this project."""
        return {
            "__Chunk__": self.chunk or "__Chunk__",
            "__Entity__": self.entity or "__Entity__",
            "__Community__": self.community or "__Community__",
        }

    @property
    def is_own_document(self) -> bool:
        """Whether a chunk is its own document."""
        return bool(self.document) and self.document == self.labels["__Chunk__"]

    def edge(self, name: str) -> Edge:
        """Return the edge of a field of that name."""
        return Edge.read(getattr(self, name))

    def given(self) -> dict[str, str]:
        """Return the fields that differ from those of a mapping without any."""
        plain = asdict(GraphMapping())
        return {name: value for name, value in asdict(self).items() if value != plain[name]}

    def document_text(self) -> str:
        """Return what is given as one line of JSON."""
        return json.dumps(self.given(), ensure_ascii=False)


def _check(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{field!r} is no text")  # noqa: TRY004 - read from a setting
    if field in {"text", "id", "embedding", "title", "summary"}:
        if not (
            re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", value) or (field == "id" and not value)
        ):
            raise ValueError(f"{field!r} names the property {value!r}: letters, digits and _ only")
    elif field in {"chunk", "document", "entity", "community"}:
        if value and not _NAME.fullmatch(value):
            raise ValueError(f"{field!r} names the label {value!r}: no backtick, 200 characters")
    elif value or field != "relation":
        types = value.removeprefix("<").split("|")
        if not all(_NAME.fullmatch(one) and "<" not in one for one in types):
            raise ValueError(f"{field!r} names the edge {value!r}: TYPE, A|B or <TYPE")


def is_theirs(label: str) -> bool:
    """Tell whether a label is of others, who may have indexes of their own over it."""
    return not re.fullmatch("__[A-Za-z]+__", label)


def is_name(text: str) -> bool:
    """Tell whether a label or a type can be named in a mapping."""
    return bool(_NAME.fullmatch(text)) and "|" not in text and not text.startswith("<")


def quoted(name: str) -> str:
    """Return a checked name as Cypher writes it."""
    return f"`{name.replace('`', '``')}`" if is_theirs(name) else name


OWN = GraphMapping(
    chunk="__Chunk__",
    document="__Document__",
    part_of="<HAS_CHUNK",
    entity="__Entity__",
    relation="RELATED",
    community="__Community__",
)
"""The graph of this project, of which `project_id` says whose a node is."""

KNOWN: Mapping[str, GraphMapping] = {
    "v1": GraphMapping(part_of="FROM_DOCUMENT", mention="<FROM_CHUNK"),
    "simple-kg-pipeline": GraphMapping(
        chunk="Chunk",
        document="Document",
        part_of="FROM_DOCUMENT",
        entity="__Entity__",
        mention="<FROM_CHUNK",
    ),
    "llm-graph-builder": GraphMapping(
        chunk="Chunk",
        document="Document",
        entity="__Entity__",
        community="__Community__",
        parent="PARENT_COMMUNITY",
    ),
    "ms-graphrag-neo4j": GraphMapping(
        chunk="__Chunk__", document="__Chunk__", mention="MENTIONS", community="__Community__"
    ),
    "langchain": GraphMapping(chunk="Document", document="Document", mention="MENTIONS"),
    "langchain-vector": GraphMapping(chunk="Chunk", document="Chunk"),
    "llama-index": GraphMapping(
        chunk="Chunk", document="Chunk", entity="__Entity__", mention="MENTIONS"
    ),
    "graphiti": GraphMapping(
        chunk="Episodic",
        document="Episodic",
        text="content",
        id="uuid",
        entity="Entity",
        mention="MENTIONS",
        relation="RELATES_TO",
        title="name",
        community="Community",
        member="<HAS_MEMBER",
    ),
}
"""By the value of GRAPH_SCHEMA, beside `default`."""


def read_mapping(value: str) -> GraphMapping:
    """Return the mapping that a value of GRAPH_SCHEMA names or holds; ValueError for none."""
    if value == "default":
        return OWN
    if value in KNOWN:
        return KNOWN[value]
    if not value.startswith("{"):
        raise ValueError(f"must be default, {', '.join(KNOWN)}, or a mapping as a JSON object")
    if len(value) > MOST_CHARACTERS:
        raise ValueError(f"is a mapping of more than {MOST_CHARACTERS:,} characters")
    try:
        read = json.loads(value, object_pairs_hook=_once)
    except RecursionError as error:
        raise ValueError("is a mapping, but nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"is no mapping as JSON: {error}") from error
    known = [field.name for field in fields(GraphMapping)]
    if strange := sorted(read.keys() - set(known)):
        raise ValueError(f"has the field {strange[0]!r}; a mapping has {', '.join(known)}")
    return GraphMapping(**read)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("names a field twice")
    return read
