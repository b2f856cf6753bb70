"""Pure: what the nodes and edges of a project may hold: an export writes no other, a restore none.

What other programs or people have put there is free, but for names that are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from drift.graph.cypher.legs import EARLIER, OF_INGESTION
from drift.graph.writing.clauses import OFF, STAGED
from drift.graph.writing.rows import read_defines, read_skipped
from drift.local.exchange.project_statements import KINDS, OF_LEASE, OWN
from drift.local.prepare.findings import LEFT_OUT

Row = Mapping[str, Any]

LABELS = frozenset({*KINDS, *OF_INGESTION.split("|"), STAGED, "__DriftFormat__"})
"""The labels that are ours; a node has the one of its kind."""
MOST = 2**53
"""Of a count: up to here a number is the same wherever it is read."""
MOST_KEY_BYTES = 8164
"""Of a key with its project's id: no index holds more."""
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999  # of the years 1 and 9999


def _is_whole(value: object, least: int = -1, most: int = MOST) -> bool:
    return type(value) is int and least <= value <= most


def _is_number(value: object) -> bool:
    return type(value) in {int, float}


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _are_lines(read: Callable[[Any], object], value: object) -> bool:
    try:
        return _are_texts(value) and bool(read(value) or True)
    except (ValueError, TypeError, RecursionError):
        return False


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "lists of text": _are_texts,
    "text, or a list of it": lambda value: isinstance(value, str) or _are_texts(value),
    "true or false": lambda value: isinstance(value, bool),
    "a number": _is_number,
    "a list of numbers": lambda value: isinstance(value, list) and all(map(_is_number, value)),
    "a number or text": lambda value: _is_number(value) or isinstance(value, str),
    f"a whole number up to {MOST:,}": _is_whole,
    f"a whole number from 0 to {MOST:,}": lambda value: _is_whole(value, 0),
    "milliseconds since 1970": lambda value: _is_whole(value, 0, _LAST_MS),
    "milliseconds since 1970, or before": lambda value: _is_whole(value, _FIRST_MS, _LAST_MS),
    "definitions": lambda value: _are_lines(read_defines, value),
    "files that hold no document": lambda value: _are_lines(
        lambda lines: [read_skipped(one) for one in lines], value
    ),
}
"""What a property may be, in words."""
(
    _TEXT,
    _TEXTS,
    _SAID,
    _BOOL,
    _NUMBER,
    _VECTOR,
    _PLACE,
    _WHOLE,
    _COUNT,
    _TIME,
    _ANY_TIME,
    _DEFINES,
    _SKIPPED,
) = _TYPES


def _named(types: Mapping[str, str]) -> dict[str, str]:
    """Return the type of each property, of the properties of each type."""
    return {name: type_ for type_, names in types.items() for name in names.split()}


_CHUNK = _named(
    {
        _VECTOR: "embedding",
        _TEXT: "text heading name_words project_key",
        _NUMBER: "ordinal",
        _PLACE: "start end page_number",
        _COUNT: "first_line",
        _TEXTS: "names links",
        _DEFINES: "defines",
    }
)
TYPES: Mapping[str, Mapping[str, str]] = {
    "__Document__": _named(
        {
            _VECTOR: "embedding",
            _TEXT: "source key content_hash rules embedding_version source_uri path title_key "
            "media_type attributes_hash superseded_by",
            _TEXTS: "tags also_at",
            _ANY_TIME: "created_at",
            _SAID: "title",
            _WHOLE: "chunks",
            _TIME: "indexed_at",
            _BOOL: "is_off",
        }
    ),
    "__Chunk__": _CHUNK,
    OFF: _CHUNK,
    "__Entity__": _named(
        {
            _VECTOR: "embedding",
            _TEXT: "title_key project_key stamp path",
            _SAID: "title description type",
            _TEXTS: "also",
            _COUNT: "first_line last_line",
        }
    ),
    "__Community__": _named(
        {
            _VECTOR: "embedding mean",
            _TEXT: "stamp digest",
            _SAID: "title summary",
            _WHOLE: "level published_level",
            _COUNT: "chunks",
            _BOOL: "says stale",
        }
    ),
    "__ModelReply__": _named({_TEXT: "key kind model text", _TEXTS: "parts", _COUNT: "tokens"}),
    EARLIER: _named({_TEXT: "embedding_hash embedding_model"}),
    "__Project__": _named(
        {
            _TEXT: "fingerprint vectors_at chunk_namespace",
            _COUNT: "format generation behind entities relations communities clustered_chunks",
            _TIME: "written_at derived_at vectors_noted",
            _TEXTS: "embedding_models questions",
            _SKIPPED: "skipped",
        }
    ),
    "RELATED": _named({_NUMBER: "weight", _TEXT: "sentence chunk_id", _SAID: "description"}),
}
"""The types of what is written here, by label or type of edge."""
REQUIRED = {"__ModelReply__": {*TYPES["__ModelReply__"]}, EARLIER: {*TYPES[EARLIER]}}
NOT_OF_PROJECT = frozenset({*OF_LEASE, "building", "deleting", "restoring"})
"""What a project's node says of this place and moment."""
_NOT_OF_NODES = frozenset({"project_id", LEFT_OUT})

_CHUNKS = ("__Chunk__", OFF)
_ENDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "HAS_CHUNK": (("__Document__",), _CHUNKS),
    "HAS_ENTITY": (_CHUNKS, ("__Entity__",)),
    "RELATED": (("__Entity__",), ("__Entity__",)),
    "IN_COMMUNITY": ((*_CHUNKS, "__Entity__", "__Community__"), ("__Community__",)),
}
"""What an edge of ours leads from and to, unless one end is a node of people's own."""


# ---------------------------------------------------------------------------------------- required
def require_project(properties: Row) -> None:
    """Raise ValueError for properties that no export tells of a project's node."""
    _require_properties("__Project__", properties, NOT_OF_PROJECT)


def require_node(row: Row, generation: int, room: int = MOST_KEY_BYTES) -> None:
    """Raise ValueError for a node that no export writes; its properties are read already.

    `generation` is the project's, and `room` are the bytes that a key may have beside its id.
    """
    kind, properties = row["kind"], row["properties"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError("its kind is none of a project")
    _require_labels(kind, row["labels"])
    if type(row["in_project"]) is not bool:
        raise ValueError("`in_project` has to be true or false")
    _require_key(row["key"], properties.get(KINDS[kind]), room)
    if kind in {"__Entity__", "__Document__"}:
        _require_short(properties.get("title_key"), room)
    _require_properties(kind, properties, {"project_id"} if kind in OWN else _NOT_OF_NODES)
    if kind in {"__Entity__", "__Community__"}:
        written, until = properties.get("generation", 0), properties.get("until", math.inf)
        if not (_is_number(written) and _is_number(until) and written <= generation < until):
            raise ValueError(f"it is not of the project's generation, {generation:,}")


def require_edge(row: Row) -> None:
    """Raise ValueError for an edge that no export writes; its properties are read already."""
    type_, start, end = row["type"], row["from"][0], row["to"][0]
    if not _is_token(type_) or type_ == "IN_PROJECT":
        raise ValueError(f"{_shown(type_)} is no type of an edge of a project")
    is_ours = not {start, end} & {*OWN}
    sources, targets = _ENDS.get(type_, ((start,), (end,)))
    if is_ours and not (start in sources and end in targets):
        raise ValueError(f"{type_} leads from {' or '.join(sources)} to {' or '.join(targets)}")
    _require_properties(type_ if is_ours else "", row["properties"], frozenset())


def _require_labels(kind: str, labels: object) -> None:
    if not isinstance(labels, list) or kind not in labels or not all(map(_is_token, labels)):
        raise ValueError(f"its labels have to be a list of names with {kind} in it")
    # LlamaIndex gives `__Node__`, that of an earlier release of ours, to all of its nodes.
    others = LABELS - {kind, EARLIER} | ({"Chunk"} if kind == EARLIER else set())
    if wrong := others & {*labels}:
        raise ValueError(f"no node {kind} has the label {min(wrong)}")
    if len(set(labels)) < len(labels):
        raise ValueError("a label is there twice")


def _require_key(key: object, named: object, room: int) -> None:
    if not (isinstance(key, str) or (_is_number(key) and key == key)):  # noqa: PLR0124 - NaN
        raise ValueError("its key has to be text or a number")
    if type(named) is not type(key) or named != key:
        raise ValueError("its key has to be that of its properties")
    _require_short(key, room)


def _require_short(key: object, room: int) -> None:
    if len(str(key).encode()) > room:
        raise ValueError(f"an index holds no key of more than {room:,} bytes")


def _require_properties(kind: str, properties: Row, reserved: Collection[str]) -> None:
    for name, value in properties.items():
        if not _is_token(name):
            raise ValueError(f"{_shown(name)} is no name of a property")
        if name in reserved:
            raise ValueError(f"`{name}` is set by this program alone")
        wanted = TYPES.get(kind, {}).get(name)
        if wanted and not _TYPES[wanted](value):
            raise ValueError(f"`{name}` has to be {wanted}")
    if missing := REQUIRED.get(kind, set()) - properties.keys():
        raise ValueError(f"it lacks `{min(missing)}`")


def _is_token(name: object) -> bool:
    """Tell whether the graph takes this as the name of a label, a type or a property."""
    return isinstance(name, str) and bool(name) and not any(map(_is_unwritable, name))


def _is_unwritable(letter: str) -> bool:
    return letter == "\0" or "\ud800" <= letter <= "\udfff"


def _shown(name: object) -> str:
    return repr(name[:60]) if isinstance(name, str) else "what is no text"
