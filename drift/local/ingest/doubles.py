"""Files with the same bytes in one folder: one document with several places.

A copy says nothing more, and bears nothing out. What is said of it, as by a file beside it, has to
be the same as well, so that a filter finds each text by all that is said of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from drift.graph.writing.records import DocumentRecord, ProjectState
from drift.indexing.documents import FORMATS, PAGES, SourceDocument, ending_of
from drift.local.ingest.files import SourceFile
from drift.local.ingest.identity import SAME, Identity, copied_from, possible_files
from drift.local.ingest.places import below
from drift.local.ingest.sources import Source
from drift.local.ingest.versions import superseding
from drift.model.attributes import MOST_PLACES, Attributes


@dataclass(frozen=True, slots=True)
class Doubles:
    """Which files of a source are another's copies: why they are left out, by their paths.

    `places` are those of the copies, by the path of the file that is read, and `newer` the newest
    versions of others.
    """

    reasons: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    newer: Mapping[str, str] = field(default_factory=dict)

    def told(self, document: SourceFile | SourceDocument) -> SourceFile | SourceDocument:
        """Return a document with the places of its copies and of its newest version."""
        also_at, newer = self.places.get(document.id, ()), self.newer.get(document.id, "")
        if not (also_at or newer):
            return document
        found = Attributes(also_at=also_at, superseded_by=newer)
        return replace(document, given=found.over(document.given))


def doubles_of(source: Source, identity: Identity, state: ProjectState) -> Doubles:
    """Return which files of a source are copies: of others in it, or of what stays stored.

    Of several the one is read whose words could be cited, else the one that was switched off, since
    they are not to be cited from another place either, else one that is stored, else that with the
    shortest path. What is switched off stays stored, so that it is off whatever it says later.
    Those in different folders are no copies: who may read one folder is told no name of another.
    """
    held = {
        path: [n for n in (name, *identity.others.get(path, ())) if n in state.documents]
        for path, name in identity.names.items()
    }
    groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for one in source.documents:
        if not one.content_hash.startswith("etag "):  # which tells nothing of what others hold
            said = _kind(one.id), repr(one.given), _folder(one.id)
            groups[one.content_hash, *said].append(one.id)

    reasons: dict[str, str] = {}
    places: dict[str, tuple[str, ...]] = {}
    taken = {name for names in held.values() for name in names} | {*identity.gone}
    for (content, *_), paths in groups.items():
        stored = {path: [state.documents[n] for n in held[path]] for path in paths}
        original = {p: state.documents.get(copied_from(source, p, content, state)) for p in paths}
        ranks = {path: _rank(stored[path], original[path], content) for path in paths}
        first, *rest = sorted(paths, key=lambda p: (ranks[p], len(p), p))
        others = [path for path in rest if not any(one.is_off for one in stored[path])]
        places[first] = tuple(identity.names[one] for one in others[:MOST_PLACES])
        reasons |= dict.fromkeys(others, f"{SAME}{identity.names[first]}")
        stays = original[first]
        if stays and stays.id not in taken and stays.version.content_hash == content:
            files = possible_files(stays.id, stays.source)
            if _folder(below(source.name, first)) in map(_folder, files):
                reasons |= dict.fromkeys((first, *others), f"{SAME}{stays.id}")
    return Doubles(reasons, places, _newer(source, identity, state, reasons))


def _rank(
    stored: Sequence[DocumentRecord], original: DocumentRecord | None, content: str
) -> tuple[bool, bool, bool]:
    """Return which of several copies counts, the first one, by what is stored of it."""
    is_off = any(one.is_off for one in (*stored, original) if one)
    is_same = any(one.version.content_hash == content for one in stored)
    if is_same or original:
        return False, is_off, not is_same
    return True, not stored, is_off


def _newer(
    source: Source, identity: Identity, state: ProjectState, copies: Mapping[str, str]
) -> dict[str, str]:
    """Return the ids of newest versions; of what no question sees, there is none."""
    off = {name for name, one in state.documents.items() if one.is_off}
    read = [
        one
        for one in source.documents
        if one.id not in copies and identity.names[one.id] not in off
    ]
    said = {one.id: supersedes(one) for one in read}
    paths = [one.id for one in read]
    dated = filter(source.selection.newest.match_file, paths)
    newer = superseding(paths, {path: names for path, names in said.items() if names}, dated)
    return {path: identity.names[newest] for path, newest in newer.items()}


def supersedes(one: SourceFile | SourceDocument) -> str:
    """Return what is said that a document supersedes, with commas between several."""
    return str(getattr(one, "supersedes", "") or one.given.metadata.get("supersedes", ""))


def _kind(name: str) -> str:
    """Return what is the same of endings that are read alike."""
    ending = ending_of(name)
    return ending if ending in PAGES else FORMATS.get(ending, ending)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
