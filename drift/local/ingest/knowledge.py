"""Pure: the knowledge of a project: its topics, found or followed, and what they say."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from drift.graph.writing.records import (
    CommunityRecord,
    DocumentRecord,
    KeptTopics,
    KnowledgeBatch,
    Member,
)
from drift.local.ingest.communities import Read, TopicTree, by_parent, tell
from drift.local.ingest.digests import KNOWLEDGE_VERSION, is_current
from drift.local.ingest.repeated import repeated
from drift.local.ingest.topics import (
    Kept,
    Points,
    count,
    directions_from,
    divide,
    find_topics,
    follow_changes,
    mean,
    mean_of,
    points_of,
)

TIMES = 2
"""Topics are found anew in a project with so many times the chunks that it had, or that share."""


def fingerprint(documents: Iterable[DocumentRecord], embedding: str) -> str:
    """Return a hash that changes with the documents, whatever they are called, or the vectors."""
    # What is said of a document beside its text makes no knowledge: it comes last of the version.
    made_of = ((one.key, one.title, *astuple(one.version)[:-1]) for one in documents)
    lines = sorted(map("\x1f".join, made_of))
    return hashlib.sha256("\x1e".join([KNOWLEDGE_VERSION, embedding, *lines]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Assignment:
    """The topic of each member, and those that have to be read again because their chunks changed.

    A member of no topic says what several documents say.

    The others stay as they are, with their summaries.
    """

    topics: Sequence[int | None]
    affected: frozenset[int]


def assign(members: Sequence[Member], new: Read, kept: KeptTopics) -> Assignment | None:
    """Return where chunks belong after a change; None where all topics are to be found anew.

    `new` are the members without a topic, of which those stay without that are repeated, or that
    had none before. Topics are found anew when a project has doubled or halved since they were
    found, or by other rules.
    """
    leaves = [one for one in kept.communities.values() if not one.level and one.mean]
    if not all(is_current(leaf.digest) for leaf in leaves):
        return None
    if not leaves or not kept.clustered / TIMES < len(members) < kept.clustered * TIMES:
        return None

    places = {leaf.community: place for place, leaf in enumerate(leaves)}
    if not places.keys() >= set(kept.topic_of.values()):
        return None

    was_in = [kept.topic_of.get(member.chunk_id) for member in members]
    sizes = Counter(was_in)
    groups = {parent: number for number, parent in enumerate({one.parent for one in leaves})}
    topics = [
        Kept(
            np.array(leaf.mean, dtype=np.float32),
            sizes[leaf.community],
            kept.sizes[leaf.community],
            groups[leaf.parent],
        )
        for leaf in leaves
    ]
    if not any(sizes[one] for one in places):
        return None

    means = [None if topic is None else topics[places[topic]].mean for topic in was_in]
    points = _new_points(members, new, means, mean_of(topics))
    rows = np.array([*points.values()], dtype=np.float32).reshape(-1, len(leaves[0].mean))
    joined, now = follow_changes(topics, rows)
    joins = dict(zip(points, joined.tolist(), strict=True))
    found = [
        joins.get(member.chunk_id) if topic is None else now[places[topic]]
        for member, topic in zip(members, was_in, strict=True)
    ]
    changed = {leaves[place].community for place in joined}
    for place, leaf in enumerate(leaves):
        is_other = now[place] not in {-1, place}
        if is_other:
            changed.add(leaves[now[place]].community)
        if leaf.community in kept.stale or topics[place].size != topics[place].was:
            changed.add(leaf.community)

    named = [None if place is None else leaves[place].community for place in found]
    return Assignment(named, frozenset(changed))


def _new_points(
    members: Sequence[Member], new: Read, places: Sequence[Points | None], mean: Points
) -> dict[str, Points]:
    """Return the point of each new chunk that a topic may have, by its id.

    It leans to its document as that is now: the chunks that have a topic stand there by its mean.
    """
    placed = {
        one.document_id for one, place in zip(members, places, strict=True) if place is not None
    }
    # A document that was off, and is on again, was not written since, and has no topic at all.
    joining = {
        one.chunk_id
        for one in without_repeated(members, new)
        if one.is_new or one.document_id not in placed
    }
    touched = {one.document_id for one in members if one.chunk_id in joining}
    near = [
        (one, new[one.chunk_id][1] if place is None else place)
        for one, place in zip(members, places, strict=True)
        if one.document_id in touched and (place is not None or one.chunk_id in joining)
    ]
    if not near:
        return {}
    vectors = np.array([row for _, row in near], dtype=np.float32)
    points = points_of(vectors, [one.document_id for one, _ in near], mean)
    pairs = zip(near, points, strict=True)
    return {one.chunk_id: point for (one, _), point in pairs if one.chunk_id in joining}


def derive(
    members: Sequence[Member],
    chunks: Read,
    stamp: str,
    kept: KeptTopics | None = None,
    assignment: Assignment | None = None,
) -> KnowledgeBatch:
    """Return a project's topics as communities, each with its summary and the mean of its chunks.

    `members` stand in their order, document by document. `chunks` are those of the topics that an
    assignment affects, with their vectors; without an assignment all chunks, and topics are found
    anew.
    """
    if not members:
        return KnowledgeBatch((), (), (), stamp, clustered=0)
    if kept is None or assignment is None:
        told = tell(_found(members, chunks), chunks, {})
        return KnowledgeBatch((), (), told, stamp, clustered=len(members))

    tree = _followed(members, chunks, kept, assignment)
    told = tell(tree, chunks, _untouched(tree, kept, assignment))
    return KnowledgeBatch((), (), told, stamp, clustered=kept.clustered, questions=kept.questions)


def without_repeated(members: Sequence[Member], chunks: Read) -> list[Member]:
    """Return the members that a topic may have, of those that were read.

    Text that stands in several documents is in no topic: it says nothing of what they are about.
    """
    sizes = Counter(one.document_id for one in members)
    read = [chunks[one.chunk_id][0] for one in members if one.chunk_id in chunks]
    left_out = repeated(read, sizes)
    return [one for one in members if one.chunk_id in chunks and one.chunk_id not in left_out]


def _found(members: Sequence[Member], chunks: Read) -> TopicTree:
    members = without_repeated(members, chunks) or members
    vectors = np.array([chunks[one.chunk_id][1] for one in members], dtype=np.float32)
    points = points_of(vectors, [member.document_id for member in members])
    levels = find_topics(points)
    held: dict[int, list[str]] = defaultdict(list)
    for member, topic in zip(members, levels[0].tolist(), strict=True):
        held[topic].append(member.chunk_id)

    names = [_name([held[topic]]) for topic in sorted(held)]
    tree = TopicTree(dict(zip(names, (held[topic] for topic in sorted(held)), strict=True)), {})
    for level in levels[1:]:
        below: dict[int, list[int]] = defaultdict(list)
        for name, parent in zip(names, level.tolist(), strict=True):
            below[parent].append(name)
        names = []
        for parent in sorted(below):
            names.append(_name([["group"], below[parent]]))
            tree.parents |= dict.fromkeys(below[parent], names[-1])

    return tree


def _followed(
    members: Sequence[Member], chunks: Read, kept: KeptTopics, assignment: Assignment
) -> TopicTree:
    tree = TopicTree(defaultdict(list), {})
    for member, topic in zip(members, assignment.topics, strict=True):
        if topic is not None:
            tree.chunk_ids[topic].append(member.chunk_id)

    for topic in sorted(assignment.affected & tree.chunk_ids.keys()):
        _divide(topic, tree, chunks, kept)

    for topic in tree.chunk_ids:
        known = kept.communities.get(topic)
        if known and known.parent is not None:
            tree.parents[topic] = known.parent
    for group in sorted(set(tree.parents.values())):
        above = kept.communities[group].parent
        if above is not None:
            tree.parents[group] = above

    if len({tree.parents.get(topic) for topic in tree.chunk_ids}) == 1:
        tree.parents = {}  # one group holds all of it, and says nothing more
    return tree


def _divide(topic: int, tree: TopicTree, chunks: Read, kept: KeptTopics) -> None:
    """Divide a topic that has grown too large; its first part keeps its number."""
    ids = tree.chunk_ids[topic]
    vectors = np.array([chunks[id_][1] for id_ in ids])
    leaves = [one for one in kept.communities.values() if not one.level and one.mean]
    centre = mean([leaf.mean for leaf in leaves], [kept.sizes[leaf.community] for leaf in leaves])
    parts = divide(directions_from(vectors, centre))
    if parts is None:
        return

    parent = kept.communities[topic].parent
    for part in range(count(parts)):
        own = [id_ for id_, number in zip(ids, parts.tolist(), strict=True) if number == part]
        name = _name([own]) if part else topic
        tree.chunk_ids[name] = own
        if parent is not None:
            tree.parents[name] = parent


def _untouched(
    tree: TopicTree, kept: KeptTopics, assignment: Assignment
) -> dict[int, CommunityRecord]:
    """Return the communities that stay as they are: nothing below them has changed."""
    changed = set(assignment.affected)
    was_below = by_parent((name, one.parent) for name, one in kept.communities.items())
    is_below = by_parent(tree.parents.items())
    for name, one in sorted(kept.communities.items(), key=lambda item: item[1].level):
        below = set(is_below.get(name, ()))
        if one.level and (below != set(was_below.get(name, ())) or below & changed):
            changed.add(name)

    return {
        name: replace(known, parent=tree.parents.get(name))
        for name, known in kept.communities.items()
        if name not in changed and (name in tree.chunk_ids or name in is_below)
    }


def _name(members: Sequence[Sequence[object]]) -> int:
    """Return the number of a new community, which is made of its children.

    It keeps its number while it changes. A question that began before the knowledge was derived
    anew may name a community afterwards: a running number would mean other members.
    """
    told = "\x1d".join("\x1e".join(sorted(map(str, part))) for part in members)
    return int(hashlib.sha256(told.encode()).hexdigest()[:12], 16)
