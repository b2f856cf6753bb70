"""Which shape a graph of others has: one that is known by name, or what its samples suggest."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from drift.core.errors import GraphMisconfiguredError
from drift.graph.connection import Connection
from drift.graph.cypher.search import EDGE_TYPES
from drift.graph.mapping import KNOWN, Edge, GraphMapping, is_name
from drift.graph.writing.rows import parts
from drift.local.prepare import looking_statements
from drift.local.prepare import preparing_statements as statements
from drift.local.prepare.kinds import sources

_TEXTS = ("text", "content", "page_content", "body", "chunk")
_SHORTEST = 20
"""Characters that the texts of chunks have in the mean, where no name tells them."""
_LIGHT_RAG = frozenset({"entity_id", "source_id"})
_DOCUMENTS = frozenset(
    {"document", "documents", "doc", "docs", "file", "files", "source", "sources"}
)
"""Words of a label that may be one of documents."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ONCE = 0.9
"""Chunks by edges of which each chunk is said to have one."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a graph is read: a value of GRAPH_SCHEMA, and a line for each thing that says why."""

    value: str
    lines: tuple[str, ...]


async def recognise(connection: Connection) -> Likeness:
    """Look at the graph and say how it is built; nothing is changed.

    GraphMisconfiguredError where nothing tells the chunks, or two graphs stand there.
    """
    facts = await _look_at(connection)
    fitting = {name: one for name, one in KNOWN.items() if _fits(one, facts)}
    own = facts.leads(Edge.read("HAS_CHUNK"), "__Document__", "__Chunk__")
    if own or "__Project__" in facts.labels:
        lines = ["This is the graph of this project: GRAPH_SCHEMA=default."]
        lines += (f"Beside it stands one as of {one}: GRAPH_SCHEMA={one}." for one in fitting)
        return Likeness("default", tuple(lines))

    if len(fitting) > 1:
        raise GraphMisconfiguredError(
            f"Several graphs stand in this database, as of {' and '.join(sorted(fitting))}: set "
            "GRAPH_SCHEMA to the one to search. Nothing was changed."
        )
    name, mapping = next(iter(fitting.items()), ("", None))
    mapping = mapping or _suggested(facts)
    lines = [*_table(mapping, facts, name)]
    if told := await _repeated_ids(connection, mapping):
        mapping, name = replace(mapping, id=""), ""
        lines.append(f"{'id':<10} {told}: they are told apart by their place in the store")
    return Likeness(name or mapping.document_text(), tuple(lines))


async def _repeated_ids(connection: Connection, m: GraphMapping) -> str:
    """Return what several nodes have the same ids of, in words; nothing where ids are unique."""
    for label, name in (("__Chunk__", "chunks"), ("__Entity__", "entities")) if m.id else ():
        if counts := await repeated_ids(connection, sources(m)[label], m.id):
            nodes, ids = counts
            return f"{nodes:,} {name} have {ids:,} ids"
    return ""


def _fits(m: GraphMapping, facts: GraphSamples) -> bool:
    """Tell whether a known shape is there, with every edge that tells it from the others."""
    if m.chunk and not facts.has(m.chunk, m.text):
        return False
    if m == KNOWN["langchain-vector"]:
        linked = facts.between(m.chunk, "")
        return bool(facts.labels[m.chunk].vectors) and not any(linked)
    if not facts.leads(m.edge("mention"), m.chunk, m.entity):
        return False
    if not m.chunk:
        known = (one.chunk for one in KNOWN.values() if one.chunk and one.mention == m.mention)
        return not any(facts.leads(m.edge("mention"), label, "") for label in known)
    return m.is_own_document or facts.leads(m.edge("part_of"), m.chunk, m.document)


def _suggested(facts: GraphSamples) -> GraphMapping:
    """Return the schema of the samples; GraphMisconfiguredError where there are no chunks."""
    chunk, text = _chunks(facts)
    has = facts.labels[chunk]
    embedding = "embedding" if "embedding" in has.vectors else min(has.vectors, default="embedding")
    named = [one for one in facts.labels if "communit" in one.casefold()]
    community = next((one for one in named if facts.has(one, "summary")), "")
    held = (
        (len(_words(one)), one, edge)
        for one in facts.labels
        if _words(one) & _DOCUMENTS
        for edge in facts.between(chunk, one)
        if facts.once(edge, chunk, one) >= _ONCE
    )
    _, document, part_of = min(held, default=(0, chunk, "PART_OF"))
    entity, mention = _entity(facts, chunk, {chunk, document, community})
    member = parent = "IN_COMMUNITY"
    if community:
        member = next(iter(facts.between(entity, community)), member)
        parent = next(iter(facts.between(community, community)), member)
    return GraphMapping(
        chunk=chunk,
        text=text,
        id=next((one for one in ("id", "uuid", "chunk_id") if one in has.texts), ""),
        embedding=embedding,
        document=document,
        part_of=part_of,
        entity=entity,
        mention=mention,
        community=community,
        member=member,
        parent=parent,
    )


def _words(label: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(label)}


def _chunks(facts: GraphSamples) -> tuple[str, str]:
    """Return label and text of the likeliest chunks: with vectors, so called, then longest."""
    found = [
        (bool(seen.vectors), "chunk" in label.casefold(), seen.texts[text], label, text)
        for label, seen in facts.labels.items()
        for text in _TEXTS
        if seen.texts.get(text, 0) >= _SHORTEST
    ]
    if found:
        return max(found)[3:]

    labels = ", ".join(sorted(facts.labels)[:10]) or "none"
    if any(seen.texts.keys() >= _LIGHT_RAG for seen in facts.labels.values()):
        raise GraphMisconfiguredError(
            "This is a graph of LightRAG, which keeps the texts of chunks outside of Neo4j, so "
            "that there is nothing to cite: ingest the documents themselves with `python -m drift "
            "ingest`. Nothing was changed."
        )
    raise GraphMisconfiguredError(
        f"No label has a text that could be cited ({', '.join(_TEXTS)}); the labels there: "
        f"{labels}. Say with GRAPH_SCHEMA how the graph is built. Nothing was changed."
    )


def _entity(facts: GraphSamples, chunk: str, others: set[str]) -> tuple[str, str]:
    """Return the label of what chunks mention, empty for several of them, and the edge."""
    reached: dict[str, set[str]] = {}
    for label in facts.labels.keys() - others:
        for edge in facts.between(chunk, label):
            reached.setdefault(edge, set()).add(label)
    if not reached:
        return "", "HAS_ENTITY"

    mention = max(sorted(reached), key=lambda edge: len(reached[edge]))
    labels = sorted(reached[mention], key=lambda one: -facts.labels[one].nodes)
    return (labels[0] if len(labels) == 1 or "entity" in _words(labels[0]) else ""), mention


def _table(m: GraphMapping, facts: GraphSamples, name: str) -> Iterator[str]:
    """Yield a line for each thing: what stands for it, how much there is, and why."""
    why = f"as {name} writes it" if name else "by its properties and edges"
    yield f"{'document':<10} {_told(m.document if not m.is_own_document else '', facts)}" + (
        "each chunk is its own document" if m.is_own_document else f"by {m.part_of}"
    )
    yield f"{'chunk':<10} {_told(m.chunk, facts)}`{m.text}`, `{m.embedding}`, {why}"
    yield f"{'entity':<10} {_told(m.entity, facts)}by {m.mention}"
    yield f"{'relation':<10} {m.relation or 'any other edge between entities'}"
    community = m.labels["__Community__"]  # named or not, such nodes are searched
    about = f"`{m.summary}`, by {m.member}, nested by {m.parent}"
    if community in facts.labels and not facts.has(community, m.summary):
        about = f"none that is looked at has a `{m.summary}`, without which none is searched"
    told = _told(community, facts)
    yield f"{'community':<10} {told + about if told else 'none'}"


def _told(label: str, facts: GraphSamples) -> str:
    if label not in facts.labels:
        return ""
    return f":{label} ({facts.labels[label].nodes:,}), "


# ----------------------------------------------------------------------------------- what is there
_AT_ONCE = 50
SAMPLED = 200
"""Nodes of a label, and edges of a type, that are looked at."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The nodes of a label: how many, and which properties are texts, or vectors."""

    nodes: int
    texts: Mapping[str, int]
    """The mean length of each, in characters."""
    vectors: frozenset[str]


_Pairs = defaultdict[tuple[str, str], Counter[str]]
"""For each pair of labels how many edges lead from one to the other: their starts and ends too."""


@dataclass(frozen=True, slots=True)
class GraphSamples:
    """Labels with what their nodes have, and from which label to which each type of edge leads."""

    labels: Mapping[str, Seen]
    edges: Mapping[str, _Pairs]

    def has(self, label: str, text: str) -> bool:
        """Tell whether nodes of the label have such a text."""
        return label in self.labels and text in self.labels[label].texts

    def leads(self, edge: Edge, start: str, end: str) -> bool:
        """Tell whether the edge leads so; an empty label is any."""
        pairs = (pair for one in edge.types for pair in self.edges.get(one, ()))
        ordered = (pair if edge.is_forward else pair[::-1] for pair in pairs)
        return any(start in {"", a} and end in {"", b} for a, b in ordered)

    def once(self, text: str, start: str, end: str) -> float:
        """Return how many starts there are by edges, as a mapping writes those: 1 for one each."""
        edge = Edge.read(text)
        pair, of = ((start, end), "starts") if edge.is_forward else ((end, start), "ends")
        seen = sum((self.edges[one][pair] for one in edge.types), Counter())
        return seen[of] / max(1, seen["edges"])

    def between(self, start: str, end: str) -> Iterable[str]:
        """Yield how a mapping writes the edges between two labels; an empty one is any."""
        for name in sorted(self.edges):
            for text in (name, f"<{name}"):
                if is_name(name) and self.leads(Edge.read(text), start, end):
                    yield text


async def _look_at(connection: Connection) -> GraphSamples:
    """Look at up to 300 labels and 300 types; errors as for any read."""
    labels: dict[str, Seen] = {}
    rows = await connection.rows(statements.LABELS)
    for names in parts([row["label"] for row in rows if is_name(row["label"])], _AT_ONCE):
        labels |= await _seen(connection, names)

    edges: defaultdict[str, _Pairs] = defaultdict(lambda: defaultdict(Counter))
    rows = await connection.rows(EDGE_TYPES)
    for names in parts([row["type"] for row in rows if is_name(row["type"])], _AT_ONCE):
        for row in await connection.rows(looking_statements.sample_edges(names), {"most": SAMPLED}):
            counts = {name: row[name] for name in ("edges", "starts", "ends")}
            edges[names[row["place"]]][row["start"], row["end"]] = Counter(counts)
    return GraphSamples(labels, edges)


async def repeated_ids(connection: Connection, source: str, key: str) -> tuple[int, int] | None:
    """Return how many nodes of a source share how many ids; None where each has its own."""
    row = (await connection.rows(looking_statements.count_ids(source, key)))[0]
    return (row["nodes"], row["ids"]) if row["ids"] < row["nodes"] else None


async def counted(
    connection: Connection, names: Sequence[str], counting: Callable[[Sequence[str]], str]
) -> dict[str, int]:
    """Return how many there are of each label or type that is there; errors as for any read."""
    counts: dict[str, int] = {}
    for some in parts(names, _AT_ONCE):
        rows = await connection.rows(counting(some))
        counts |= {some[row["place"]]: row["number"] for row in rows if row["number"]}
    return counts


async def _seen(connection: Connection, labels: Sequence[str]) -> dict[str, Seen]:
    counts = await counted(connection, labels, looking_statements.count_labels)
    sampled = await connection.rows(looking_statements.sample_properties(labels), {"most": SAMPLED})
    seen = {}
    for label, nodes in counts.items():
        own = [row for row in sampled if labels[row["place"]] == label]
        texts = {row["name"]: row["length"] for row in own if row["kind"] == "text"}
        vectors = frozenset(row["name"] for row in own if row["kind"] == "vector")
        seen[label] = Seen(nodes, texts, vectors)
    return seen
