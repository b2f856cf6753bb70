"""Which stored documents are the files of a source, whatever source they came from before.

A file is one document, whether it was ingested alone, with its folder, or with a folder around that
one. It stays that document when it was moved, or its folder renamed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from drift.core.errors import IngestError
from drift.graph.writing.records import ProjectState
from drift.indexing.records import possible_ids
from drift.local.ingest.files import SourceFile, printable
from drift.local.ingest.kinds import is_passed_over, lacks_a_package
from drift.local.ingest.places import REMOTE, are_same, below, is_gone, is_inside, known_as
from drift.local.ingest.sources import Source

_LARGE_SHARE = 0.5
SAME = "has the same text as "


@dataclass(frozen=True, slots=True)
class Identity:
    """The identities of the documents of a source in the project.

    `owner` is the source that they are stored under. `names` are their ids, and `others` what else
    is stored of the same files, both by path. `gone` are stored documents of the source that have
    no file any more, and `kept` those whose file cannot be read now. `left` counts the documents of
    other sources that have no file where it was, beside some that were found here.
    """

    owner: str
    names: Mapping[str, str]
    others: Mapping[str, tuple[str, ...]]
    gone: tuple[str, ...]
    kept: tuple[str, ...]
    left: Mapping[str, int]


def identify(source: Source, hashes: Mapping[str, str], state: ProjectState) -> Identity:
    """Return the identities of a source's documents in the project; `hashes` are theirs, by path.

    Raises:
        IngestError: most documents of a new source are those of another one, at the same paths, and
            stand there as well: they would be in the project twice.
    """
    claims = _ClaimedPaths(source, hashes, state)
    claims.claim_same_files()
    claims.claim_moved_files()
    gone = claims.without_file()
    names = claims.names()
    places = [below(claims.root, file.path) for file in source.skipped if file.unreadable]
    unreadable = [claims.root] if source.is_file and places else places
    kept = [
        name
        for name in gone
        if claims.may_be_inside(name, unreadable) or claims.lacks_a_package(name)
    ]

    return Identity(
        claims.owner,
        names,
        {
            path: tuple(one for one in claimed if one != names[path])
            for path, claimed in claims.by_path.items()
        },
        tuple(sorted(gone - set(kept))),
        tuple(sorted(kept)),
        claims.left,
    )


@lru_cache(maxsize=1024)
def _marks(source: str) -> tuple[str, ...]:
    """Return the prefix of the path in the ids of a source's documents."""
    return possible_ids(source, "")[1:]


def _paths(name: str, source: str) -> list[str]:
    """Return the paths that a document of this id may have in its source, the likeliest first."""
    first, _, rest = name.partition("/")
    is_marked = bool(rest) and f"{first}/" in _marks(source)
    return [name, rest] if is_marked else [name]


def possible_files(name: str, source: str) -> list[str]:
    """Return the files that a stored document may be, the likeliest first."""
    paths = _paths(name, source)
    files = [below(source, path) for path in paths]
    return [source, *files] if PurePosixPath(source).name in paths else files


def copied_from(source: Source, path: str, content: str, state: ProjectState) -> str:
    """Return the document of which a file with this content is known as a copy; empty if none."""
    known, reason = state.skipped.get(below(source.name, path), (None, ""))
    is_same = known is not None and known.content_hash == content
    return reason.removeprefix(SAME) if is_same and reason.startswith(SAME) else ""


def _covers(wide: str, narrow: str) -> bool:
    between = narrow.removeprefix(wide.rstrip("/")).split("/")[1:]
    return is_inside(narrow, wide) and not any(map(is_passed_over, between))


@dataclass(slots=True)
class _ClaimedPaths:
    """Which stored documents were read, by path; each is claimed once."""

    source: Source
    hashes: Mapping[str, str]
    state: ProjectState
    root: str = field(init=False)
    owner: str = field(init=False)
    by_path: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    left: dict[str, int] = field(default_factory=dict)
    _sources: Mapping[str, str] = field(init=False)
    _files: dict[str, list[str]] = field(init=False)
    _read: set[str] = field(init=False)
    _free: set[str] = field(init=False)
    _renamed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        held = self._sources = self.state.sources
        self.root = known_as(self.source.name, held.values())
        around = [one for one in set(held.values()) if one and _covers(one, self.root)]
        self.owner = min(around, key=len, default=self.root)
        self._files = {name: possible_files(name, source) for name, source in held.items()}
        self._free = set(held)
        files = (one for one in self.source.documents if isinstance(one, SourceFile))
        self._read = {printable(str(one.path)) for one in files}

    def _file(self, path: str) -> str:
        return below(self.root, path.partition("/")[2] if self.source.is_file else path)

    def _claim(self, path: str, names: Iterable[str]) -> None:
        for name in names:
            if name in self._free:
                self._free.remove(name)
                self.by_path[path].append(name)

    def may_be_inside(self, name: str, places: Iterable[str]) -> bool:
        """Tell whether the file of a stored document may be one of these places, or be in one."""
        return any(is_inside(file, place) for file in self._files[name] for place in places)

    def lacks_a_package(self, name: str) -> bool:
        """Tell whether the file of a stored document is there, and nothing here can read it."""
        return any(lacks_a_package(file) and not is_gone(file) for file in self._files[name])

    def _is_gone(self, name: str) -> bool:
        return all(map(self._is_left, self._files[name]))

    def _is_left(self, file: str) -> bool:
        """Tell whether nothing is there any more; what was read is known with all that is in it."""
        above = PurePosixPath(file).parents
        return is_gone(file) or any(str(one) in self._read for one in above)

    def claim_same_files(self) -> None:
        """Claim what is stored of the same files."""
        likely: defaultdict[str, list[str]] = defaultdict(list)
        possible: defaultdict[str, list[str]] = defaultdict(list)
        for name, (first, *others) in self._files.items():
            likely[first].append(name)
            for file in others:
                possible[file].append(name)

        for path in self.hashes:
            self._claim(path, likely[self._file(path)])

        for path in self.hashes:
            named = possible[self._file(path)]
            self._claim(path, (one for one in named if self._is_left(self._files[one][0])))

    def claim_moved_files(self) -> None:
        """Claim what has the same content and is no longer where it was.

        Where most of a folder's documents were found here, it has another name now, and its other
        documents are known by their paths. A copy that was there before is not new, and goes on as
        nothing but what it was a copy of. IngestError where most documents stand in both places.
        """
        sizes = Counter(self._sources.values())
        moved: Counter[str] = Counter()
        copied: Counter[str] = Counter()
        for is_at_path in (True, False):
            known = self._stored(is_at_path=is_at_path)
            for path in [path for path in self.hashes if path not in self.by_path]:
                content = self.hashes[path]
                waiting = known.get((path if is_at_path else "", content), [])
                if original := copied_from(self.source, path, content, self.state):
                    waiting = [name for name in waiting if name == original]
                while waiting and path not in self.by_path:
                    name = waiting.pop()
                    if self._has_left(name, path):
                        self._claim(path, [name])
                        moved[self._sources[name]] += 1
                    else:
                        copied[self._sources[name]] += is_at_path

        self._refuse_copy(copied)
        rest: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(self._free):
            rest[self._sources[name]].append(name)

        for other in sorted(moved.keys() - {self.owner, self.root}):
            without = list(filter(self._is_gone, rest[other]))
            if moved[other] > _LARGE_SHARE * sizes[other]:
                self._claim_folder(other, without)
            elif without:
                self.left[other] = len(without)

    def _stored(self, *, is_at_path: bool) -> dict[tuple[str, str], list[str]]:
        """Return the unclaimed documents, by path and content or by content alone."""
        known: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for name in sorted(self._free, reverse=True):
            content = self.state.documents[name].version.content_hash
            paths = _paths(name, self._sources[name]) if is_at_path else [""]
            for path in paths if content else []:
                known[path, content].append(name)

        return known

    def _has_left(self, name: str, path: str) -> bool:
        """Tell whether a stored document has no file any more but this one."""
        if name not in self._free:
            return False
        read = self._file(path)
        return all(self._is_left(file) or are_same(file, read) for file in self._files[name])

    def _refuse_copy(self, copied: Counter[str]) -> None:
        is_known = self.owner in self._sources.values()
        other, count = next(iter(copied.most_common(1)), ("", 0))
        if is_known or count <= _LARGE_SHARE * len(self.hashes):
            return

        raise IngestError(
            f"The project holds the same documents already, from {other}, where they still are: as "
            f"another source they would be in it twice, and nothing was written. Ingest them from "
            f"there, take them out first (drift remove --source), or ingest these into a project "
            f"of their own (--project)."
        )

    def _claim_folder(self, other: str, rest: Sequence[str]) -> None:
        """Claim the rest of a folder that has another name now; what was not read went with it."""
        by_id = {path: name for name in reversed(rest) for path in _paths(name, other)}
        for path, name in by_id.items():
            if path in self.hashes and path not in self.by_path:
                self._claim(path, [name])
        self._renamed |= self._free.intersection(rest)

    def without_file(self) -> set[str]:
        """Return the stored documents of this place that were not read."""
        held = self._sources
        sources = {one for one in held.values() if one}
        inside = {one for one in sources if one == self.root or _covers(self.root, one)}
        gone = {name for name in self._free if held[name] in inside}
        if self.source.only is not None:
            within = {name for name in gone if self.may_be_inside(name, self.source.only)}
            gone = set(filter(self._is_gone, within))
        if self.owner != self.root:
            around = {name for name in self._free if held[name] == self.owner}
            within = {name for name in around if self.may_be_inside(name, [self.root])}
            is_far = self.root.startswith(REMOTE)
            gone |= {name for name in within if is_far or self._is_gone(name)}

        return gone | self._renamed

    def names(self) -> dict[str, str]:
        """Return the id of each document: that of the file, if it has one, else one that is free.

        It is the path, unless a stored document has that path, which may be one that moves now.
        """
        within = {path: self._path_of_owner(path) for path in self.hashes}
        own_paths = set(within.values())
        names: dict[str, str] = {}
        for path, claimed in self.by_path.items():
            known = [name for name in possible_ids(self.owner, within[path]) if name in claimed]
            names |= {path: known[0]} if known else {}

        taken = {*self._sources, *names.values()}
        for path in [path for path in self.hashes if path not in names]:
            first, *others, last = possible_ids(self.owner, within[path])
            free = [first, *(name for name in others if name not in own_paths)]
            names[path] = next((name for name in free if name not in taken), last)
            taken.add(names[path])

        return names

    def _path_of_owner(self, path: str) -> str:
        if self.owner == self.root:
            return path
        return self._file(path).removeprefix(f"{self.owner.rstrip('/')}/")
