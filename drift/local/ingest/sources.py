"""Documents read from a file or a folder, with the reason for each one that is left out."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from drift.core import source_uri
from drift.core.errors import IngestError
from drift.local.ingest.documents import (
    FORMATS,
    Guard,
    Skipped,
    SourceDocument,
    guarded,
    printable,
    read_document,
    words_of,
)

ENDINGS = ", ".join(sorted(filter(None, FORMATS)))

_PACKAGES = {"node_modules", "__pycache__"}
_OTHER_ENDING = f"only {ENDINGS} and files without an ending are read"
_HIDDEN = "their names begin with a dot"
_OF_PACKAGES = "folders of packages hold no documents of yours"
_TO_EMPTY = " What a project holds of it stays there: --yes takes out what is not there any more."


@dataclass(frozen=True, slots=True)
class Ignored:
    """How many files or folders of one kind, such as `.pdf`, were not looked at, and why."""

    kind: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Source:
    """All that one place holds; `name` tells it from other sources of the same project.

    A place that `is_file` is one document itself, and no folder of documents.
    """

    name: str
    documents: tuple[SourceDocument, ...]
    skipped: tuple[Skipped, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    is_file: bool = False


def source_name(path: Path) -> str:
    """Return the name of the source at a path: where it is, or was, whatever led there."""
    try:
        return printable(str(path.resolve()))
    except (OSError, RuntimeError, ValueError):
        return printable(os.path.abspath(path))  # noqa: PTH100 - of what cannot be resolved


def is_passed_over(name: str) -> bool:
    """Tell whether files and folders of this name are not read."""
    return name.startswith(".") or name in _PACKAGES


def read_source(
    path: Path, uri_prefix: str = "", *, may_be_empty: bool = False, guard: Guard = guarded
) -> Source:
    """Return the documents of a folder (recursively) or of one file, in the order of their ids.

    Links are not followed, hidden folders and node_modules are left out. With a prefix, each
    document has the address of its path behind it. A place that `may_be_empty` gives no documents
    where nothing is there, or nothing can be read. Each file is read under the guard.

    Raises:
        IngestError: when there is no such path, nothing in it can be read, or the one file cannot
            be.
    """
    try:
        root = path.resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError) as error:
        if may_be_empty:
            return Source(source_name(path), ())
        raise IngestError(
            f"{printable(str(path))} cannot be read: {words_of(error)}. Name a folder or a file "
            f"that exists.{_TO_EMPTY}"
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        # A RuntimeError is a link to itself, before Python 3.13.
        raise IngestError(
            f"{printable(str(path))} cannot be read: {words_of(error)}. Name a folder or a file "
            f"that exists."
        ) from error

    read = _read_folder if root.is_dir() else _read_single
    source = read(root, guard, may_be_empty=may_be_empty)
    return replace(
        source,
        documents=tuple(
            replace(document, source_uri=source_uri.below(uri_prefix, document.id))
            for document in source.documents
        ),
    )


def _read_folder(root: Path, guard: Guard, *, may_be_empty: bool) -> Source:
    walk = _Walk(root)
    walk.run()
    documents: list[SourceDocument] = []
    for found in walk.files:
        read = read_document(found, found.relative_to(root).as_posix(), guard)
        if isinstance(read, Skipped):
            walk.skipped.append(read)
        else:
            documents.append(read)

    if not documents and not may_be_empty:
        raise IngestError(
            f"{printable(str(root))} holds no file that can be read. Looked for {ENDINGS} "
            f"and files without an ending, in all its folders.{_reasons(walk)}{_TO_EMPTY}"
        )

    return Source(
        printable(str(root)),
        tuple(sorted(documents, key=lambda document: document.id)),
        tuple(sorted(walk.skipped, key=lambda skipped: skipped.path)),
        walk.ignored(),
    )


def _reasons(walk: _Walk) -> str:
    skipped = "".join(f" {one.path}: {one.reason}." for one in walk.skipped[:10])
    ignored = ", ".join(f"{one.count} {one.kind}" for one in walk.ignored())
    return f"{skipped} Ignored: {ignored}." if ignored else skipped


def _read_single(path: Path, guard: Guard, *, may_be_empty: bool) -> Source:
    name = printable(str(path))
    if path.suffix.lower() not in FORMATS:
        raise IngestError(
            f"{name} is not a kind of file that is read. Give a folder, or a file that ends with "
            f"{ENDINGS}, or has no ending."
        )

    read = read_document(path, path.name, guard)
    if not isinstance(read, Skipped):
        return Source(name, (read,), is_file=True)
    if may_be_empty:
        return Source(name, (), (read,), is_file=True)

    raise IngestError(f"{name} cannot be ingested: {read.reason}.{_TO_EMPTY}")


@dataclass(slots=True)
class _Walk:
    """One pass over a folder: the files to read, what is skipped, and counts of the rest."""

    root: Path
    files: list[Path] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    _ignored: Counter[tuple[str, str]] = field(default_factory=Counter)

    def run(self) -> None:
        """Look at all folders, without recursion, because they may be nested very deep."""
        waiting = [self.root]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
                waiting += [Path(entry.path) for entry in found if self._is_folder_to_read(entry)]
            except OSError as error:
                self.skipped.append(
                    Skipped(
                        self._name(folder), f"cannot be read: {words_of(error)}", unreadable=True
                    )
                )

    def ignored(self) -> tuple[Ignored, ...]:
        """Return the counts, the largest first."""
        ranked = sorted(self._ignored.items(), key=lambda item: (-item[1], item[0]))
        return tuple(Ignored(kind, count, reason) for (kind, reason), count in ranked)

    def _is_folder_to_read(self, entry: os.DirEntry[str]) -> bool:
        """Sort one entry in, and tell whether it is a folder to look at."""
        is_folder = entry.is_dir(follow_symlinks=False)
        suffix = Path(entry.name).suffix.lower()
        if is_passed_over(entry.name):
            is_hidden = entry.name.startswith(".")
            kind = ("hidden", _HIDDEN) if is_hidden else (entry.name, _OF_PACKAGES)
            self._ignored[kind] += 1
        elif is_folder:
            return True
        elif entry.is_symlink() and (suffix in FORMATS or _leads_to_folder(entry)):
            self.skipped.append(
                Skipped(self._name(Path(entry.path)), _about_link(Path(entry.path), self.root))
            )
        elif suffix in FORMATS:
            self.files.append(Path(entry.path))
        else:
            self._ignored[printable(suffix), _OTHER_ENDING] += 1

        return False

    def _name(self, path: Path) -> str:
        return printable(path.relative_to(self.root).as_posix())


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
