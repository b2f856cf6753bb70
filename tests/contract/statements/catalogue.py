"""Every Cypher statement of this project by name.

They are found in the modules that hold them, so that none is left unchecked.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from drift.graph.cypher import clauses as graph_clauses
from drift.graph.cypher import legs as legs_module
from drift.graph.cypher import (
    nearest,
    node_search,
    node_writing,
    overview,
    passages,
    primer,
    reading,
    said,
    search,
    unprepared,
    vector_copy,
    versions,
    whole,
)
from drift.graph.cypher import schema as cypher_schema
from drift.graph.cypher.legs import GIVEN, PERSONAL, Leg
from drift.graph.cypher.schema import DEFAULT, V1, Schema
from drift.graph.indexes import ENTITY_INDEX, IndexNames
from drift.graph.versions import FIRST, LOCAL, VectorVersion
from drift.graph.writing import clauses, lease_statements, state_statements
from drift.graph.writing import document_statements as write
from drift.local.exchange import project_statements as exchange
from drift.local.ingest.neo4j import ddl, document_vectors
from drift.local.ingest.neo4j import knowledge_statements as knowledge
from drift.local.prepare import looking_statements as looking
from drift.local.prepare import preparing_statements as prepare
from drift.local.prepare import unseen_statements as unseen
from drift.local.prepare import upgrade_statements as upgrade
from drift.local.prepare import vector_statements as vectors
from drift.local.prepare.kinds import every_text, kinds
from drift.local.retrieval import document_search as retrieval

CALENDAR = "CYPHER 25"
"""How a statement begins that only servers of the calendar versions understand."""

NAMES = IndexNames()
CHUNK = ("__Chunk__", "id")

MODULES: dict[str, ModuleType] = {
    "search": search,
    "state": state_statements,
    "ddl": ddl,
    "documents": document_vectors,
    "exchange": exchange,
    "knowledge": knowledge,
    "lease": lease_statements,
    "looking": looking,
    "prepare": prepare,
    "nodes": node_search,
    "own_nodes": node_writing,
    "passages": passages,
    "primer": primer,
    "overview": overview,
    "reading": reading,
    "said": said,
    "retrieval": retrieval,
    "unprepared": unprepared,
    "unseen": unseen,
    "upgrade": upgrade,
    "vector_copy": vector_copy,
    "vectors": vectors,
    "versions": versions,
    "whole": whole,
    "write": write,
}
"""The modules that hold whole statements, by the name that the catalogue gives them."""

CLAUSES = {
    name
    for module in (clauses, graph_clauses, cypher_schema, legs_module, nearest)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, str)
}
"""Parts of statements, and names, that such a module takes from elsewhere."""

SCHEMAS: dict[str, Schema] = {"default": DEFAULT, "v1": V1}
WITHIN = DEFAULT.filtered
KINDS = {
    f"{schema} {kind.label}": kind
    for schema, one in SCHEMAS.items()
    for kind in kinds(one)
    if schema == "v1" or kind.label == "__Chunk__"  # by default all are found in the same way
}
CHUNKS = {"": ("__Chunk__",)}
KNOWLEDGE = ("__Entity__", "__Community__")
SECOND = VectorVersion("second")
EMBEDDED = {
    f"{name} {label} {version.name}": (schema, label, version)
    for name, schema in SCHEMAS.items()
    for label in every_text(schema)
    for version in (FIRST, SECOND)
}


def legs(schema: Schema, *, searches: bool = False) -> tuple[Leg, ...]:
    """Return how a search of nodes of every kind looks where the writer has made its indexes."""
    indexes = {
        "__Chunk__": NAMES.chunk,
        "__Entity__": ENTITY_INDEX,
        "__Community__": NAMES.community,
        PERSONAL: NAMES.nodes,
    }
    labels = [*indexes] if schema.has_projects else ["__Chunk__", "__Community__"]
    return tuple(Leg(label, indexes[label], searches=searches) for label in labels)


ARGUMENTS: dict[str, dict[str, tuple[Any, ...]]] = {
    "primer.primer": {"": (DEFAULT,), "filtered": (WITHIN,), "v1": (V1,)},
    "search.followup": {
        "": (None,),
        "searching": (NAMES.chunk,),
        "given": (GIVEN,),
        "filtered": (None, WITHIN),
        "filtered searching": (NAMES.chunk, WITHIN),
        "v1": (None, V1),
    },
    "search.topics": {"": (), "filtered": (WITHIN,)},
    "search.positions": {"": (), "filtered": (WITHIN,), "v1": (V1,)},
    "search.named": {"": (), "filtered": (WITHIN,), "v1": (V1,)},
    "said.allowed": {"": ()},
    **{
        f"overview.{name}": {"": (), "filtered": (WITHIN,), "v1": (V1,)}
        for name in ("overview", "about", "largest")
    },
    **{
        f"reading.{name}": {"": (), "filtered": (WITHIN,), "v1": (V1,)}
        for name in (
            "version",
            "documents",
            "communities",
            "document",
            "chunk",
            "entity",
        )
    },
    "passages.passages": {"": (), "filtered": (WITHIN,), "v1": (V1,)},
    "passages.around": {"": (), "filtered": (WITHIN,), "v1": (V1,)},
    "whole.whole": {"": (DEFAULT,), "filtered": (WITHIN,), "v1": (V1,)},
    "said.filter_keys": {"": (), "filtered": (WITHIN,)},
    "nodes.nearest_nodes": {
        "": (legs(DEFAULT),),
        "searching": (legs(DEFAULT, searches=True),),
        "given": (tuple(replace(leg, index=GIVEN) for leg in legs(DEFAULT)),),
        "filtered": (legs(DEFAULT)[:1], WITHIN),
        "filtered searching": (legs(DEFAULT, searches=True)[:1], WITHIN),
        "v1": (legs(V1), V1),
    },
    "nodes.cosines": {
        name: (tuple(Leg(leg.label) for leg in legs(schema)), schema)
        for name, schema in (("", DEFAULT), ("v1", V1))
    },
    "retrieval.nearest_documents": {
        name: (Leg("__Document__", NAMES.documents, bool(name), "Document"),)
        for name in ("", "searching")
    },
    "retrieval.passages_saying": {"": ()},
    "unprepared.held": {"": (DEFAULT,), "v1": (V1,)},
    "unseen.usable": {"": (DEFAULT,), "local": (replace(DEFAULT, vector=LOCAL.vector),)},
    "ddl.wanted_indexes": {name: (schema, NAMES) for name, schema in SCHEMAS.items()},
    "ddl.vector_indexes": {
        name: (schema, NAMES.of(SECOND), SECOND.vector) for name, schema in SCHEMAS.items()
    },
    "ddl.drop_constraint": {"": ("drift_entity_key",)},
    "ddl.drop_index": {"": (NAMES.fulltext,)},
    "knowledge.link": {
        " ".join(ends): ends
        for ends in [
            ("__Chunk__", "HAS_ENTITY", "__Entity__"),
            *(
                (label, "IN_COMMUNITY", "__Community__")
                for label in ("__Chunk__", "__Entity__", "__Community__")
            ),
        ]
    },
    "knowledge.drop_other_generations": {label: (label,) for label in KNOWLEDGE},
    "knowledge.reinstate": {label: (label,) for label in KNOWLEDGE},
    "knowledge.link_documents": {label: (label,) for label in knowledge.DOCUMENT_EDGES},
    "knowledge.retire": {label: (label,) for label in KNOWLEDGE},
    "exchange.places": {label: (label,) for label in exchange.LISTED},
    "exchange.page": {label: (label,) for label in exchange.KINDS},
    "exchange.hide": {label: (label,) for label in ("__Document__", "__Chunk__")},
    "exchange.drop": {label: (label,) for label in (*KNOWLEDGE, "__ModelReply__", *exchange.OWN)},
    "prepare.add_label": {label: (V1, label) for label in ("__Chunk__", "__Entity__")},
    "prepare.count_bare": {label: (V1, label) for label in ("__Chunk__", "__Entity__")},
    "prepare.count_duplicates": {"": CHUNK},
    "looking.count_alike": {"": (["a `label`", "b"], V1)},
    "looking.count_ids": {"": (KINDS["v1 __Chunk__"].source, "id")},
    "looking.count_labels": {"": (["a `label`", "__Chunk__"],)},
    "looking.count_types": {"": (["A `TYPE`", "HAS_CHUNK"],)},
    "looking.kinds_of": {"": (KINDS["v1 __Chunk__"].source,)},
    "looking.sample_edges": {"": (["A `TYPE`", "B"],)},
    "looking.sample_properties": {"": (["a `label`", "b"],)},
    "prepare.count_properties": {
        name: (kind.source, kind.required) for name, kind in KINDS.items()
    },
    "prepare.other_properties": {name: (kind.source, kind.key) for name, kind in KINDS.items()},
    "prepare.long_keys": {name: (kind.source, kind.key) for name, kind in KINDS.items()},
    "prepare.count_states": CHUNKS,
    "prepare.examples_of_state": {"": CHUNK},
    "prepare.count_vectors": {name: (kind.source,) for name, kind in KINDS.items()},
    "prepare.examples_of_vectors": {name: (kind.source, kind.key) for name, kind in KINDS.items()},
    "prepare.count_wrong_types": {
        name: (kind.source, kind.texts, kind.key if name.startswith("default") else None)
        for name, kind in KINDS.items()
    },
    "prepare.examples_of_wrong_types": {
        f"{name} {text}": (kind.source, text, kind.key)
        for name, kind in KINDS.items()
        for text in kind.texts
    },
    "prepare.project_keys": {label: (label,) for label in ("__Chunk__", "__Entity__")},
    "prepare.set_project_keys": {label: (label,) for label in ("__Chunk__", "__Entity__")},
    "prepare.read_titles": {name: (schema,) for name, schema in SCHEMAS.items()},
    "prepare.read_document_titles": {
        name: (schema,) for name, schema in SCHEMAS.items() if schema.titled_label
    },
    "prepare.take_from_edge": CHUNKS,
    "prepare.take_from_neighbours": {
        " ".join(neighbour): neighbour for neighbour in prepare.DERIVATIONS
    },
    "vectors.count_nodes": {name: one[:2] for name, one in EMBEDDED.items()},
    "vectors.count_texts": EMBEDDED,
    "vectors.bare_nodes": EMBEDDED,
    "vectors.read_texts": EMBEDDED,
    "vectors.write_vectors": EMBEDDED,
    "vectors.remove_properties": {"": ("__Chunk__",)},
    "vectors.sample_communities": {name: (schema,) for name, schema in SCHEMAS.items()},
}
"""What the functions are called with, as the adapters call them: by function, then by what tells
its texts apart."""


def functions() -> dict[str, FunctionType]:
    """Return the public functions of those modules."""
    return {
        f"{short}.{name}": function
        for short, module in MODULES.items()
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and not inspect.iscoroutinefunction(function)
        and function not in {node_search.nearest_of, said.said, said.behind}  # parts of statements
    }


def statements() -> dict[str, str]:
    """Return every statement: the constants, and what the functions return for their arguments."""
    found: dict[str, str] = {}
    for short, module in MODULES.items():
        texts = {
            name: value
            for name, value in vars(module).items()
            if _is_constant(name) and isinstance(value, str) and name not in CLAUSES
        }
        found |= {f"{short}.{name}": text for name, text in texts.items()}
    for name, function in functions().items():
        for case, arguments in ARGUMENTS.get(name, {}).items():
            found |= dict(_named(f"{name} {case}".strip(), function(*arguments)))
    return found


ABOUT_ALL = {
    "documents.": "documents of all projects that lack a vector are given one",
    "looking.": "a graph of others is one project, and is looked at whole",
    "prepare.": "a graph of others is one project, and is prepared whole",
    "upgrade.": "what the release before wrote is in no index that this one can name",
    "vectors.": "a model's vectors are made, counted or removed in all projects",
    "versions.": "a format is that of the whole graph",
    "knowledge.HELD_": "the projects are listed with what they hold, each kind in one pass",
    "own_nodes.LABELLED": "what is not yet ours is in no index of ours; a command reads it once",
    "own_nodes.PROJECTS": "the projects of a label are listed, by its nodes; once a run",
    "own_nodes.TAKE_OVER": "nodes of an earlier release are in no index; once a process or run",
    "search.BEHIND": "the first 10,000 projects are asked how far their knowledge is behind",
    "unprepared.held v1": "a graph of others is one project, and is looked at whole",
    "unseen.": "it counts what questions cannot see, up to a bound",
    "vector_copy.BEHIND": "the first 10,000 projects are asked whether a store follows them",
}
"""Why statements look at the whole database on purpose, by their names or how these begin."""

OF_EARLIER_RELEASE = {
    "lease.FORGET": "the rest of a project that holds nothing else is asked for, once a lease",
    "exchange.COUNTS": "once a command",
    "exchange.FACTS": "once a command",
    "exchange.STANDING": "once a command",
    "exchange.drop __Node__": "once for 20,000 of them",
    "exchange.places __Node__": "once a command",
}
"""What reads all nodes of the label that an earlier release gave to people's own, which no index of
ours has: other programs give it to all of theirs."""


def is_about_all(name: str) -> bool:
    """Tell whether a statement looks at the whole database on purpose."""
    return name.startswith(tuple(ABOUT_ALL))


def is_search(name: str) -> bool:
    """Tell whether a statement is one of those that requests run."""
    return name.startswith(
        (
            "primer.",
            "search.followup",
            "search.positions",
            "search.named",
            "nodes.",
            "passages.",
            "whole.",
            "retrieval.",
        )
    )


def is_schema(text: str) -> bool:
    """Tell whether a statement is about indexes and constraints, whose plans say nothing."""
    words = text.removeprefix(CALENDAR).split()
    return words[0] in {"CREATE", "DROP", "SHOW", "EXPLAIN"} or words[:2] == [
        "CALL",
        "db.awaitIndexes($seconds)",
    ]


def compiles_on(text: str, version: str) -> bool:
    """Tell whether the server of that version is meant to understand the statement."""
    return not (text.startswith(CALENDAR) and version.startswith("5."))


def _named(name: str, result: Any) -> Iterator[tuple[str, str]]:
    if isinstance(result, str):
        yield name, result
        return
    for wanted in result:
        for place, text in enumerate(wanted.statements):
            yield f"{name} {wanted.name} {place}", text


def _is_constant(name: str) -> bool:
    return name.isupper() and not name.startswith("_")


STATEMENTS = statements()
