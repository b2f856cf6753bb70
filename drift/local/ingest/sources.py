"""Documents read from a file or a folder, with the reason for each one that is left out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, starmap
from pathlib import Path

from drift.core import source_uri
from drift.core.errors import IngestError
from drift.indexing.documents import Skipped, SourceDocument, ending_of
from drift.indexing.reading_process import Guard, guarded, words_of
from drift.local.ingest.files import SourceFile, printable, read_document
from drift.local.ingest.formats import OF_SEVERAL
from drift.local.ingest.git_ignore import BY_GIT, GitIgnore
from drift.local.ingest.kinds import ENDINGS, Ignored, is_read_in, ranked, why_ignored, why_not
from drift.local.ingest.mailboxes import look_at_all, without_repeats
from drift.local.ingest.sidecars import document_beside, read_sidecar
from drift.local.ingest.site_files import OF_SITES, generated_in
from drift.model.attributes import NOTHING_SAID, Attributes

_OUTSIDE = "they are outside of the folder"
TO_EMPTY = " What a project holds of it stays there: --yes takes out what is not there any more."


@dataclass(frozen=True, slots=True)
class Source:
    """All that one place holds; `name` tells it from other sources of the same project.

    A place that `is_file` is one document itself, with what is in it, and no folder of documents.
    Of one that was read in part, `only` are the places that were looked at.
    """

    name: str
    documents: tuple[SourceDocument | SourceFile, ...]
    skipped: tuple[Skipped, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    is_file: bool = False
    only: tuple[str, ...] | None = None

    def saying(self, said: Attributes) -> Source:
        """Return it with this said of each document, which counts for more than what was."""
        told = (replace(one, given=said.over(one.given)) for one in self.documents)
        return replace(self, documents=tuple(told))


def source_name(path: Path) -> str:
    """Return the name of the source at a path: where it is, or was, whatever led there."""
    try:
        return printable(str(path.resolve()))
    except (OSError, RuntimeError, ValueError):
        return printable(os.path.abspath(path))  # noqa: PTH100 - of what cannot be resolved


def read_source(
    path: Path, uri_prefix: str = "", *, may_be_empty: bool = False, guard: Guard = guarded
) -> Source:
    """Return the documents of a folder (recursively) or of one file, in the order of their ids.

    Links are not followed; hidden folders, node_modules and what Git ignores are left out. With a
    prefix, each document has the address of its path behind it. A place that `may_be_empty` gives
    no documents where nothing can be read. Each file is read under the guard.

    Raises:
        IngestError: when there is no such path, nothing in it can be read, or the one file cannot
            be.
    """
    try:
        root = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        # A RuntimeError is a link to itself, before Python 3.13.
        is_gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        if is_gone and may_be_empty:
            return Source(source_name(path), ())
        raise IngestError(
            f"{printable(str(path))} cannot be read: {words_of(error)}. Name a folder or a file "
            f"that exists.{TO_EMPTY if is_gone else ''}"
        ) from error

    if not root.is_dir():
        return _read_single(root, guard, uri_prefix, may_be_empty=may_be_empty)

    walk = _Walk(root)
    walk.run()
    source = _source_of(walk, uri_prefix, guard)
    if not source.documents and not may_be_empty:
        raise IngestError(nothing_read(source, source.skipped))
    return source


def read_changed(
    folder: Path, changed: Sequence[Path], uri_prefix: str = "", *, guard: Guard = guarded
) -> Source:
    """Return the documents of a folder that are among some files, or in some folders.

    Those that are not there any more are known by `only`. Files outside of the folder are counted
    as ignored. IngestError when there is no such folder.
    """
    try:
        root = folder.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise IngestError(
            f"{printable(str(folder))} cannot be read: {words_of(error)}. Name the folder that the "
            f"changed files are in."
        ) from error

    walk, only = _Walk(root), []
    for file in changed:
        place = Path(os.path.abspath(file))  # noqa: PTH100 - links are not followed
        place = place.parent.resolve() / place.name
        place = document_beside(place) or place
        if root not in place.parents:
            walk.ignored[printable(ending_of(place.name)), _OUTSIDE] += 1
        else:
            only.append(printable(str(place)))
            walk.look(place)

    return replace(_source_of(walk, uri_prefix, guard), only=tuple(sorted(set(only))))


def _source_of(walk: _Walk, uri_prefix: str, guard: Guard) -> Source:
    """Return the files of a walk; a file that several of its paths led to is there once."""
    root = walk.root
    named = [(found, found.relative_to(root).as_posix()) for found in walk.files]
    read = list(look_at_all(named, guard))
    files = {file.id: file for file in read if isinstance(file, SourceFile)}
    walk.ignored.update((one.kind, one.reason) for one in read if isinstance(one, Ignored))
    paths = dict(named)
    given = {path: read_sidecar(path, paths[path]) for path in {f.path for f in files.values()}}
    others = [one for one in (*read, *given.values()) if isinstance(one, Skipped)]
    return Source(
        printable(str(root)),
        tuple(
            replace(
                file,
                source_uri=source_uri.below(uri_prefix, paths[file.path]),
                given=_said(given[file.path], is_part=file.id != paths[file.path]),
            )
            for file in without_repeats([file for _, file in sorted(files.items())])
        ),
        tuple(sorted((*walk.skipped, *others), key=lambda one: one.path)),
        ranked(walk.ignored),
    )


def _said(given: Attributes | Skipped, *, is_part: bool = False) -> Attributes:
    if isinstance(given, Skipped):
        return NOTHING_SAID
    return replace(given, title="") if is_part else given


def nothing_read(source: Source, skipped: Sequence[Skipped]) -> str:
    """Return the sentences about a folder of which nothing could be read."""
    reasons = "".join(f" {one.path}: {one.reason}." for one in skipped[:10])
    ignored = ", ".join(f"{one.count} {one.kind}" for one in source.ignored)
    reasons += f" Ignored: {ignored}." if ignored else ""
    return (
        f"{source.name} holds no file that can be read. Looked for {ENDINGS} and files without an "
        f"ending, in all its folders.{reasons}{TO_EMPTY}"
    )


def _read_single(path: Path, guard: Guard, uri_prefix: str, *, may_be_empty: bool) -> Source:
    name = printable(str(path))
    if reason := why_not(path.name):
        raise IngestError(
            f"{name} is not a kind of file that is read: {reason}. Give a folder, or a file that "
            f"ends with {ENDINGS}, or has no ending."
        )

    if ending_of(path.name) in OF_SEVERAL:
        mail = _source_of(_Walk(path.parent, [path]), uri_prefix, guard)
        if mail.ignored or any(one.id != path.name for one in mail.documents):
            return replace(mail, name=name, is_file=True)
    read = read_document(path, path.name, guard)
    if not isinstance(read, Skipped):
        address, given = source_uri.below(uri_prefix, read.id), read_sidecar(path, read.id)
        skipped = (given,) if isinstance(given, Skipped) else ()
        document = replace(read, source_uri=address, given=_said(given))
        return Source(name, (document,), skipped, is_file=True)
    if may_be_empty:
        return Source(name, (), (read,), is_file=True)

    raise IngestError(f"{name} cannot be ingested: {read.reason}.{TO_EMPTY}")


@dataclass(slots=True)
class _Walk:
    """One pass over a folder: the files to read, what is skipped, and counts of the rest."""

    root: Path
    files: list[Path] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    ignored: Counter[tuple[str, str]] = field(default_factory=Counter)
    _git: GitIgnore = field(init=False)
    _generated: dict[Path, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._git = GitIgnore(self.root, self._skip)

    def run(self, begin: Path | None = None) -> None:
        """Look at all folders, without recursion, because they may be nested very deep."""
        waiting = [begin or self.root]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
                waiting += [Path(entry.path) for entry in found if self._is_folder_to_read(entry)]
            except OSError as error:
                self._skip(folder, f"cannot be read: {words_of(error)}", unreadable=True)

    def look(self, place: Path) -> None:
        """Look at one file, or at all in one folder, as if it had been found on the way."""
        if not os.path.lexists(place):
            return
        above = pairwise(("", *place.relative_to(self.root).parts[:-1]))
        folders = [one for one in place.parents if self.root in one.parents]
        if not all(starmap(is_read_in, above)) or self._git.hides_above(place):
            return
        if any(map(self._is_generated, folders)):
            return
        with os.scandir(place.parent) as entries:
            entry = next((one for one in entries if one.name == place.name), None)
        if entry is not None and self._is_folder_to_read(entry):
            self.run(place)

    def _is_folder_to_read(self, entry: os.DirEntry[str]) -> bool:
        """Sort one entry in, and tell whether it is a folder to look at."""
        path = Path(entry.path)
        folder = "" if path.parent == self.root else path.parent.name
        is_read = is_read_in(folder, entry.name)
        is_folder = entry.is_dir(follow_symlinks=False)
        suffix = ending_of(entry.name)
        if is_read and self._git.hides(path, is_folder=is_folder):
            self.ignored["folder" if is_folder else printable(suffix), BY_GIT] += 1
        elif is_read and self._is_generated(path):
            self.ignored["folder" if is_folder else printable(suffix), OF_SITES] += 1
        elif is_read and is_folder:
            return True
        elif (
            is_read and entry.is_symlink() and (not why_not(entry.name) or _leads_to_folder(entry))
        ):
            self._skip(path, _about_link(path, self.root))
        elif is_read and document_beside(path) is not None:
            pass  # it is read with its document
        elif kind := why_ignored(printable(f"{folder}/{entry.name}" if folder else entry.name)):
            self.ignored[kind] += 1
        else:
            self.files.append(path)

        return False

    def _is_generated(self, path: Path) -> bool:
        if path.parent not in self._generated:
            self._generated[path.parent] = generated_in(one.name for one in path.parent.iterdir())
        return path.name in self._generated[path.parent]

    def _skip(self, path: Path, reason: str, *, unreadable: bool = False) -> None:
        is_inside = self.root in (path, *path.parents)
        name = printable((path.relative_to(self.root) if is_inside else path).as_posix())
        self.skipped.append(Skipped(name, reason, unreadable))


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _about_link(link: Path, root: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "is a link that leads nowhere or to itself"

    inside = target == root or root in target.parents
    return (
        "is a link within the folder: what it names is read in its own place"
        if inside
        else "is a link that leaves the folder"
    )
