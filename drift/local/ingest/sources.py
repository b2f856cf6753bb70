"""Documents read from a file or a folder, with the reason for each one that is left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from drift.core import source_uri
from drift.core.errors import IngestError
from drift.indexing.documents import Skipped, SourceDocument, ending_of
from drift.indexing.reading_process import Guard, guarded, words_of
from drift.local.ingest.files import SourceFile, printable, read_document
from drift.local.ingest.formats import OF_SEVERAL
from drift.local.ingest.kinds import ENDINGS, Ignored, ranked, why_not
from drift.local.ingest.mailboxes import look_at_all, without_repeats
from drift.local.ingest.selection import EVERYTHING, Selection
from drift.local.ingest.sidecars import document_beside, read_sidecar
from drift.local.ingest.walk import Walk
from drift.model.attributes import NOTHING_SAID, Attributes

_OUTSIDE = "they are outside of the folder"
TO_EMPTY = " What a project holds of it stays there: --yes takes out what is not there any more."


@dataclass(frozen=True, slots=True)
class Source:
    """All that one place holds; `name` tells it from other sources of the same project.

    A place that `is_file` is one document itself, with what is in it, and no folder of documents.
    Of one that was read in part, `only` are the places that were looked at, and `wider` reads
    further ones as well.
    """

    name: str
    documents: tuple[SourceDocument | SourceFile, ...]
    skipped: tuple[Skipped, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    is_file: bool = False
    only: tuple[str, ...] | None = None
    wider: Callable[[Sequence[Path]], Source] | None = None
    selection: Selection = EVERYTHING

    def saying(self, said: Attributes) -> Source:
        """Return it with this said of each document, which counts for more than what was."""
        told = tuple(replace(one, given=said.over(one.given)) for one in self.documents)
        wider = self.wider
        again = wider and (lambda further: wider(further).saying(said))
        return replace(self, documents=told, wider=again)


def source_name(path: Path) -> str:
    """Return the name of the source at a path: where it is, or was, whatever led there."""
    try:
        return printable(str(path.resolve()))
    except (OSError, RuntimeError, ValueError):
        return printable(os.path.abspath(path))  # noqa: PTH100 - of what cannot be resolved


def read_source(
    path: Path,
    uri_prefix: str = "",
    *,
    may_be_empty: bool = False,
    guard: Guard = guarded,
    selection: Selection = EVERYTHING,
) -> Source:
    """Return the documents of a folder (recursively) or of one file, in the order of their ids.

    Links are not followed; hidden folders, those of packages, what patterns leave out and what
    programs make are no documents. With a prefix, each document has the address of its path behind
    it. A place that `may_be_empty` gives no documents where nothing can be read. Each file is read
    under the guard.

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

    walk = Walk(root, selection)
    walk.run()
    source = _source_of(walk, uri_prefix, guard)
    if not source.documents and not may_be_empty:
        raise IngestError(nothing_read(source, source.skipped))
    return source


def read_changed(
    folder: Path,
    changed: Sequence[Path],
    uri_prefix: str = "",
    *,
    guard: Guard = guarded,
    selection: Selection = EVERYTHING,
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

    walk, only = Walk(root, selection), []
    for file in changed:
        place = Path(os.path.abspath(file))  # noqa: PTH100 - links are not followed
        place = place.parent.resolve() / place.name
        around = next(one for one in place.parents if os.path.lexists(one))
        place = around if around.is_file() else document_beside(place) or place
        if root not in place.parents:
            walk.ignored[printable(ending_of(place.name)), _OUTSIDE] += 1
        else:
            only.append(printable(str(place)))
            walk.look(place)

    def wider(further: Sequence[Path]) -> Source:
        return read_changed(
            folder, [*changed, *further], uri_prefix, guard=guard, selection=selection
        )

    source = _source_of(walk, uri_prefix, guard)
    return replace(source, only=tuple(sorted(set(only))), wider=wider)


def _source_of(walk: Walk, uri_prefix: str, guard: Guard) -> Source:
    """Return the files of a walk; a file that several of its paths led to is there once."""
    root = walk.root
    named = [(found, found.relative_to(root).as_posix()) for found in walk.files]
    read = list(look_at_all(named, guard))
    files = {}
    for file in read:
        if isinstance(file, Ignored):
            walk.ignored[file.kind, file.reason] += 1
        elif isinstance(file, SourceFile):
            if file.made_by and file.path not in walk.wanted:
                walk.ignored[ending_of(file.id), file.made_by] += 1
            else:
                files[file.id] = file
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
        selection=walk.selection,
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
        mail = _source_of(Walk(path.parent, files=[path], wanted={path}), uri_prefix, guard)
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
