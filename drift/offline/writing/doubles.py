"""Pure: whether a source is one that the project holds already, under another name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from drift.values.records import ProjectState

_LARGE_SHARE = 0.5


def doubled_source(source: str, documents: Mapping[str, str], state: ProjectState) -> str | None:
    """Return the source of which this one would be a second copy.

    The same relative paths, with the same contents.

    `documents` maps paths to content hashes. A source that the project knows is none; neither is
    one that has no more than half of its documents in common with another, such as the same licence
    in two folders.
    """
    if source in state.sources.values():
        return None
    holders: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for name, held_by in state.sources.items():
        # a document's name is its path, or a folder and its path where two sources have the same
        # one
        for path in {name, name.partition("/")[2]}:
            holders[path, _content(state.documents.get(name, ""))].add(held_by)
    shared = Counter(
        holder
        for path, stored in documents.items()
        for holder in holders.get((path, _content(stored)), ())
    )
    other, count = next(iter(shared.most_common(1)), ("", 0))
    return other if count > _LARGE_SHARE * len(documents) else None


def _content(content_hash: str) -> str:
    """Return the part of a hash that is of the document's content, without its address."""
    return content_hash.partition(".")[0]
