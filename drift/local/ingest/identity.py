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
from drift.local.ingest.graph_records import ProjectState
from drift.local.ingest.places import are_same, below, is_gone, is_inside, known_as
from drift.local.ingest.records import possible_ids
from drift.local.ingest.sources import Source, is_passed_over

_LARGE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Identity:
    """What the documents of a source are in the project.

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
    """Return what the documents of a source are in the project.

    Args:
        source: what was read.
        hashes: the content hash of each of its documents, by path.
        state: what the project holds.

    Raises:
        IngestError: most documents of a new source are those of another one, at the same paths, and
            stand there as well: they would be in the project twice.
    """
    claims = _Claims(source, hashes, state)
    claims.claim_same_files()
    claims.claim_moved_files()
    gone = claims.without_file()
    names = claims.names()
    places = [below(claims.root, file.path) for file in source.skipped if file.unreadable]
    unreadable = [claims.root] if source.is_file and places else places
    kept = [name for name in gone if claims.may_be_inside(name, unreadable)]

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


def _content(content_hash: str) -> str:
    """Return the part of a hash that is of the document's content, without its address."""
    return content_hash.partition(".")[0]


@lru_cache(maxsize=1024)
def _marks(source: str) -> tuple[str, ...]:
    """Return what stands before the path in the ids of a source's documents."""
    return possible_ids(source, "")[1:]


def _paths(name: str, source: str) -> list[str]:
    """Return the paths below its source that a document of this id may have, the likeliest first.

    An id is the path, or the path behind a name of the source where another document has the path.
    """
    first, _, rest = name.partition("/")
    is_marked = bool(rest) and f"{first}/" in _marks(source)
    return [name, rest] if is_marked else [name]


def _files(name: str, source: str) -> list[str]:
    """Return the files that a stored document may be, the likeliest first."""
    paths = _paths(name, source)
    files = [below(source, path) for path in paths]
    return [source, *files] if PurePosixPath(source).name in paths else files


def _covers(wide: str, narrow: str) -> bool:
    """Tell whether reading one place reads the other as well."""
    between = narrow.removeprefix(wide.rstrip("/")).split("/")[1:]
    return is_inside(narrow, wide) and not any(map(is_passed_over, between))


@dataclass(slots=True)
class _Claims:
    """Which stored documents were read, by path; each is claimed once."""

    source: Source
    hashes: Mapping[str, str]
    state: ProjectState
    root: str = field(init=False)
    owner: str = field(init=False)
    by_path: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    left: dict[str, int] = field(default_factory=dict)
    _files: dict[str, list[str]] = field(init=False)
    _free: set[str] = field(init=False)
    _renamed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        held = self.state.sources
        self.root = known_as(self.source.name, held.values())
        around = [one for one in set(held.values()) if one and _covers(one, self.root)]
        self.owner = min(around, key=len, default=self.root)
        self._files = {name: _files(name, source) for name, source in held.items()}
        self._free = set(held)

    def _file(self, path: str) -> str:
        return self.root if self.source.is_file else below(self.root, path)

    def _claim(self, path: str, names: Iterable[str]) -> None:
        for name in names:
            if name in self._free:
                self._free.remove(name)
                self.by_path[path].append(name)

    def may_be_inside(self, name: str, places: Iterable[str]) -> bool:
        """Tell whether the file of a stored document may be one of these places, or be in one."""
        return any(is_inside(file, place) for file in self._files[name] for place in places)

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
            self._claim(path, (one for one in named if not _is_there(self._files[one][0])))

    def claim_moved_files(self) -> None:
        """Claim what has the same content and is no longer where it was.

        Where most of a folder's documents were found here, it has another name now, and its other
        documents are known by their paths.

        Raises:
            IngestError: most of the documents stand in both places.
        """
        sizes = Counter(self.state.sources.values())
        moved: Counter[str] = Counter()
        copied: Counter[str] = Counter()
        for is_at_path in (True, False):
            known = self._stored(is_at_path=is_at_path)
            for path in [path for path in self.hashes if path not in self.by_path]:
                content = _content(self.hashes[path])
                waiting = known.get((path if is_at_path else "", content), [])
                while waiting and path not in self.by_path:
                    name = waiting.pop()
                    if self._has_left(name, path):
                        self._claim(path, [name])
                        moved[self.state.sources[name]] += 1
                    else:
                        copied[self.state.sources[name]] += is_at_path

        self._refuse_copy(copied)
        rest: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(self._free):
            rest[self.state.sources[name]].append(name)

        for other in sorted(moved.keys() - {self.owner, self.root}):
            without = [name for name in rest[other] if all(map(is_gone, self._files[name]))]
            if moved[other] > _LARGE_SHARE * sizes[other]:
                self._claim_folder(other, without)
            elif without:
                self.left[other] = len(without)

    def _stored(self, *, is_at_path: bool) -> dict[tuple[str, str], list[str]]:
        """Return what is not claimed, by path and content or by content alone."""
        known: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for name in sorted(self._free, reverse=True):
            content = _content(self.state.documents.get(name, ""))
            paths = _paths(name, self.state.sources[name]) if is_at_path else [""]
            for path in paths if content else []:
                known[path, content].append(name)

        return known

    def _has_left(self, name: str, path: str) -> bool:
        """Tell whether a stored document has no file any more but this one."""
        if name not in self._free:
            return False
        read = self._file(path)
        return all(is_gone(file) or are_same(file, read) for file in self._files[name])

    def _refuse_copy(self, copied: Counter[str]) -> None:
        is_known = self.owner in self.state.sources.values()
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
        """Return what is stored of this place, and was not read."""
        held = self.state.sources
        inside = {
            one
            for one in set(held.values())
            if one == self.root or (one and _covers(self.root, one))
        }
        gone = {name for name in self._free if held[name] in inside}
        if self.owner != self.root:
            gone |= {
                name
                for name in self._free
                if held[name] == self.owner
                and self.may_be_inside(name, [self.root])
                and all(map(is_gone, self._files[name]))
            }

        return gone | self._renamed

    def names(self) -> dict[str, str]:
        """Return the id of each document: that of the file, if it has one, else one that is free.

        It is the path, unless another document of the project has that path.
        """
        within = {path: self._path_of_owner(path) for path in self.hashes}
        own_paths = set(within.values())
        names: dict[str, str] = {}
        for path, claimed in self.by_path.items():
            known = [name for name in possible_ids(self.owner, within[path]) if name in claimed]
            names |= {path: known[0]} if known else {}

        taken = self._free.union(names.values())
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


def _is_there(file: str) -> bool:
    return not is_gone(file)
