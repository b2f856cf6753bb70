"""Communities of entities by the hierarchical Leiden algorithm, the same for any order of input.

Source: Traag, Waltman, van Eck, "From Louvain to Leiden" (2019), as implemented by
graspologic-native.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graspologic_native import hierarchical_leiden

from drift.local.ingest.entities import FoundEntity, Reading
from drift.local.ingest.relations import Relation

SMALLEST_LIMIT, LARGEST_LEAF = 5, 30
"""A community with more entities than LARGEST_LEAF is divided again. The limit is lower where
entities are few for the number of chunks, so that leaves stay small in chunks too."""

RESOLUTIONS = (0.5, 1.0, 2.0)
"""Tried in order until no leaf is over its limit. Below 1 the top level is coarser: 0.5 gave about
a dozen roots and three levels for 500 KB of reference text, while text in which a few names are
everywhere does not fall apart below 1."""

_SEED = 20240705


@dataclass(slots=True)
class Group:
    """A community: `level` is its height above the leaves (0 = leaf); only leaves have members."""

    id: int
    parent: int | None = None
    level: int = 0
    children: list[int] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    chunks: list[int] = field(default_factory=list)


def find_communities(
    readings: Sequence[Reading], entities: Sequence[FoundEntity], relations: Iterable[Relation]
) -> tuple[Group, ...]:
    """Return the communities, roots before their children.

    Every entity and every chunk is in exactly one leaf. A chunk belongs to the leaf that its
    entities weigh most for. A chunk without entities joins the nearest one of its document, and a
    document without entities joins one community of the rest.
    """
    limit = LARGEST_LEAF * len(entities) // max(1, len(readings))
    leaf_of, inner = _cluster(relations, min(LARGEST_LEAF, max(SMALLEST_LIMIT, limit)))
    places = _place_chunks(readings, leaf_of)

    # An entity without relations is alone in its chunks, and goes where they go.
    for entity in entities:
        leaf_of.setdefault(entity.key, places[min(entity.chunks)])

    return _tree(leaf_of, places, inner)


Key = tuple[int, ...]
"""The numbers of the clusters around a cluster, the outermost first, and its own number at the
end. The empty key holds the rest."""


def _cluster(relations: Iterable[Relation], largest: int) -> tuple[dict[str, Key], set[Key]]:
    """Return the leaf of each entity, and all inner clusters."""
    edges = sorted((relation.source, relation.target, relation.weight) for relation in relations)
    if not edges:
        return {}, set()

    for resolution in RESOLUTIONS:
        clusters = hierarchical_leiden(
            edges, resolution=resolution, iterations=3, max_cluster_size=largest, seed=_SEED
        )
        parent_of = {cluster.cluster: cluster.parent_cluster for cluster in clusters}
        leaf_of = {c.node: _key(c.cluster, parent_of) for c in clusters if c.is_final_cluster}
        if max(Counter(leaf_of.values()).values()) <= largest:
            break

    return leaf_of, {leaf[:depth] for leaf in leaf_of.values() for depth in range(1, len(leaf))}


def _key(cluster: int, parent_of: Mapping[int, int | None]) -> Key:
    parent = parent_of[cluster]
    return (cluster,) if parent is None else (*_key(parent, parent_of), cluster)


def _place_chunks(readings: Sequence[Reading], leaf_of: Mapping[str, Key]) -> list[Key]:
    """Return the leaf of each chunk."""
    leaves = [_heaviest(reading, leaf_of) for reading in readings]
    by_document: defaultdict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        by_document[reading.chunk.document_id].append(place)

    for places in by_document.values():
        known = [place for place in places if leaves[place]]
        for place in places:
            if not leaves[place] and known:
                at = bisect(known, place)
                beside = known[max(0, at - 1) : at + 1]
                leaves[place] = leaves[min(beside, key=lambda other: abs(other - place))]

    return leaves


def _heaviest(reading: Reading, leaf_of: Mapping[str, Key]) -> Key:
    votes: defaultdict[Key, float] = defaultdict(float)
    for key, weight in sorted(reading.weights.items()):
        if leaf := leaf_of.get(key):
            votes[leaf] += weight
    return min(votes, key=lambda leaf: (-votes[leaf], leaf)) if votes else ()


def _tree(leaf_of: Mapping[str, Key], places: Sequence[Key], inner: set[Key]) -> tuple[Group, ...]:
    """Number the clusters by size, roots first, and hang members on leaves."""
    members: dict[Key, list[str]] = {leaf: [] for leaf in (*leaf_of.values(), *places)}
    chunks: dict[Key, list[int]] = {leaf: [] for leaf in members}
    for entity, leaf in sorted(leaf_of.items()):
        members[leaf].append(entity)

    for place, leaf in enumerate(places):
        chunks[leaf].append(place)

    order = _by_size(members, inner)
    numbers = {key: number for number, key in enumerate(order)}
    groups = [
        Group(
            numbers[key],
            numbers.get(key[:-1]) if len(key) > 1 else None,
            0,
            [],
            members.get(key, []),
            chunks.get(key, []),
        )
        for key in order
    ]
    for group in groups:
        if group.parent is not None:
            groups[group.parent].children.append(group.id)

    for group in reversed(groups):
        if group.parent is not None:
            parent = groups[group.parent]
            parent.level = max(parent.level, group.level + 1)

    return tuple(groups)


def _by_size(members: Mapping[Key, Sequence[str]], inner: Iterable[Key]) -> list[Key]:
    """Return all clusters, outer before inner, large before small, the rest at the end."""
    sizes = dict.fromkeys(inner, 0)
    first: dict[Key, str] = {}
    for leaf, entities in members.items():
        for depth in range(1, len(leaf) + 1):
            above = leaf[:depth]
            sizes[above] = sizes.get(above, 0) + len(entities)
            first[above] = min((*entities[:1], *filter(None, [first.get(above)])), default="")

    order = sorted(sizes, key=lambda key: (len(key), -sizes[key], first[key], key))
    return [*order, ()] if () in members else order


def below(groups: Sequence[Group], group: Group) -> Iterator[Group]:
    """Yield the leaves of a community, itself when it is one."""
    if not group.children:
        yield group
    for child in group.children:
        yield from below(groups, groups[child])
