"""What a run over a part of a folder reads beside it: the files that are read in the light of it.

Copies share their bytes, messages what they answer, and versions a name, or what one of them says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path, PurePosixPath

from drift.graph.writing.records import ProjectState
from drift.indexing.documents import SourceDocument
from drift.local.ingest.doubles import supersedes
from drift.local.ingest.files import SourceFile
from drift.local.ingest.identity import SAME, possible_files
from drift.local.ingest.places import is_inside
from drift.local.ingest.sources import Source
from drift.local.ingest.versions import named_in, names_of, version_in
from drift.model.attributes import Value

Ties = set[object]
"""What files that depend on each other have in common."""


def with_related(source: Source, state: ProjectState) -> Source:
    """Return a part of a source together with what depends on the files in it, or that were."""
    if source.only is None or source.wider is None:
        return source
    only, held = {*source.only}, dict(_held(source, state))
    waiting = {tie for one in source.documents for tie in _ties_of(source, one)}
    tied: defaultdict[object, list[str]] = defaultdict(list)
    further: set[str] = set()
    for place, ties in held.items():
        if not only.isdisjoint((place, *map(str, PurePosixPath(place).parents))):
            waiting |= ties
            continue
        for tie in ties:
            tied[tie].append(place)
    while waiting:
        for place in tied.pop(waiting.pop(), ()):
            further.add(place)
            waiting |= held[place] & tied.keys()
    return source.wider([*map(Path, sorted(further))]) if further else source


def _held(source: Source, state: ProjectState) -> Iterator[tuple[str, Ties]]:
    """Yield the files of a source that a project knows, with their ties."""
    for name, one in state.documents.items():
        place, said = possible_files(name, one.source)[0], one.attributes
        if is_inside(place, source.name):
            ids = name, said.superseded_by
            yield place, _ties(source, place, one.version.content_hash, said.metadata, *ids)
    for place, (version, why) in state.skipped.items():
        if why.startswith(SAME) and is_inside(place, source.name):
            yield place, _ties(source, place, version.content_hash, {})


def _ties_of(source: Source, one: SourceFile | SourceDocument) -> Ties:
    said = {"supersedes": supersedes(one)}
    if isinstance(one, SourceFile):
        said |= {"message-id": one.talk.id, "in-reply-to": one.talk.answers}
    return _ties(source, one.id, one.content_hash, said)


def _ties(
    source: Source, path: str, content_hash: str, said: Mapping[str, Value], *ids: str
) -> Ties:
    path = path.removeprefix(f"{source.name.rstrip('/')}/")
    folder = path.rpartition("/")[0]
    version = version_in(path, is_dated=source.selection.newest.match_file(path))
    named = named_in(path, str(said.get("supersedes", "")))
    talk = said.get("message-id"), said.get("in-reply-to")
    copies = content_hash and (folder, content_hash)
    family = version and version.family
    ties: Ties = {copies, family, *names_of(path), *chain(*named), *talk, *ids}
    return ties - {None, ""}
