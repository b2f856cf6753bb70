"""How well documents are read, beside what people labelled: titles, cells, questions and sites.

`python -m tests.bench.labelled --folder FOLDER` reads titles.jsonl, cells.jsonl, questions.jsonl,
the folder of the questions and the folders of `sites` there. What is found in chunks may still not
be found by a search: that is measured elsewhere. Labels name files below the folder.
"""

from __future__ import annotations

import json
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.reading_process import ReadingProcess
from drift.indexing.records import cut_up
from drift.local.ingest.files import SourceFile, read_document
from drift.local.ingest.sources import read_source
from tests.bench.command import Options, read_options, run, show

Label = dict[str, Any]
_SIGNS = re.compile(r"[\W_]+")


def words(text: str) -> str:
    """Return the letters and digits of a text in small letters, with one space around each word."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return f" {_SIGNS.sub(' ', plain).strip()} "


def letters(text: str) -> str:
    """Return the letters and digits alone: how lines are broken counts for nothing."""
    return words(text).replace(" ", "")


def holds(text: str, parts: Iterable[str]) -> bool:
    """Tell whether all of these stand in a text, as whole words."""
    found = words(text)
    return all(words(part) in found for part in parts)


def labels(folder: Path, name: str) -> list[Label]:
    """Return what a file says, one label a line."""
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


class Files:
    """The documents of some files, each read once in a process of its own."""

    def __init__(self, process: ReadingProcess) -> None:
        """Read nothing yet."""
        self._process = process
        self._read: dict[Path, SourceDocument | Skipped] = {}

    def document(self, path: Path) -> SourceDocument | Skipped:
        """Return the document of a file, with its pieces, or why it is none."""
        if path not in self._read:
            read = read_document(path, path.name, self._process.guarded)
            self._read[path] = read if isinstance(read, Skipped) else cut_up(read)
        return self._read[path]

    def documents(self, folder: Path) -> list[SourceDocument]:
        """Return the documents of a folder, with those in its mail."""
        read = (one.read() for one in read_source(folder).documents if isinstance(one, SourceFile))
        return [cut_up(one) for one in read if isinstance(one, SourceDocument)]


def chunks(read: SourceDocument | Skipped) -> list[str]:
    """Return the texts of a document's chunks, each behind its heading."""
    if isinstance(read, Skipped):
        return []
    return [f"{one.heading}\n{read.text[one.start : one.end]}" for one in read.pieces]


def titles(folder: Path, files: Files) -> Label:
    """Return how many titles are right, and those that are not."""
    wrong, asked = {}, labels(folder, "titles.jsonl")
    for one in asked:
        read = files.document(folder / one["path"])
        title = read.reason if isinstance(read, Skipped) else read.title
        if letters(title) not in map(letters, (one["title"], *one["alternatives"])):
            wrong[one["path"]] = title
    return {"titles": len(asked) - len(wrong), "of": len(asked), "wrong": wrong}


def cells(folder: Path, files: Files) -> Label:
    """Return how many cells stand with their row in a chunk, with their column too, in one line."""
    asked, counts = labels(folder, "cells.jsonl"), Counter[str]()
    missing = []
    for one in asked:
        parts = (one["row"], one["value"])
        texts = chunks(files.document(folder / one["pdf"]))
        # A chunk holds whole tables; a line tells which row and column the value is of.
        lines = [line for text in texts for line in text.splitlines()]
        counts["named in one line"] += any(holds(line, (*parts, one["column"])) for line in lines)
        if any(holds(text, parts) for text in texts):
            counts[one["kind"]] += 1
        else:
            missing.append("{pdf} {page}: {row}, {column}: {value}".format_map(one))
    found = {"cells": len(asked) - len(missing), "of": len(asked)}
    return {**found, **dict(sorted(counts.items())), "missing": missing}


def questions(folder: Path, files: Files) -> Label:
    """Return how many questions have their answer in a chunk of their file, and nothing wrong."""
    wrong, asked = {}, labels(folder, "questions.jsonl")
    held = files.documents(folder / "folder")
    for one in asked:
        own = [r for r in held if r.id == one["file"] or r.id.startswith(f"{one['file']}/")]
        texts = [text for read in own for text in chunks(read)]
        places = [line for text in texts for line in text.splitlines()] if "line" in one else texts
        told = [part for part in one["not"] if any(holds(text, [part]) for text in texts)]
        if not own:
            wrong[one["question"]] = f"{one['file']} is not read"
        elif told:
            wrong[one["question"]] = f"{one['file']} tells what is no evidence: {told}"
        elif not any(holds(place, one["answer"]) for place in places):
            wrong[one["question"]] = f"{one['file']} does not tell {one['answer']}"
    return {"questions": len(asked) - len(wrong), "of": len(asked), "wrong": wrong}


def site(folder: Path, process: ReadingProcess) -> Label:
    """Return how many documents a folder gives, and those whose text an earlier one has."""
    source = read_source(folder, guard=process.guarded)
    held: Sequence[SourceFile] = [one for one in source.documents if isinstance(one, SourceFile)]
    documents, seen, doubles = 0, dict[str, str](), []
    # Files of the same bytes are one document with several places.
    for one in {one.content_hash: one for one in reversed(held)}.values():
        read = process.guarded(one.id, one.read)
        if isinstance(read, Skipped):
            continue
        documents += 1
        first = seen.setdefault(letters(read.text), read.id)
        if first != read.id:
            doubles.append(f"{read.id} = {first}")
    ignored = {f"{one.kind}: {one.reason}": one.count for one in source.ignored}
    found = {"site": folder.name, "files": len(held), "documents": documents}
    return {**found, "doubles": doubles, "ignored": ignored}


async def bench(asked: Options) -> None:
    """Measure what is labelled, then each folder of the sites and that of the questions."""
    folder = asked.folder
    with ReadingProcess() as process:
        files = Files(process)
        for measure in (titles, cells, questions):
            began = time.perf_counter()
            found = measure(folder, files)
            show({**found, "seconds": round(time.perf_counter() - began, 1)}, asked)
        for one in (*sorted((folder / "sites").iterdir()), folder / "folder"):
            show(site(one, process), asked)


if __name__ == "__main__":
    run(bench, read_options(__doc__, folder=(Path, "where the labels and their files are")))
