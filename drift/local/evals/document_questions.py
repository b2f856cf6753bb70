"""Questions about a folder of documents, each with the documents that hold its answer.

A line is `{"id", "question", "type", "answer" | "statements", "documents"}`. `documents` are paths
below the folder, `statements` the sentences that an answer consists of (or one `answer`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from drift.core.errors import IngestError
from drift.local.evals.lines import Line, read_lines

_Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class DocumentQuestion:
    """A question, the documents that hold its answer, and the statements of that answer."""

    id: str
    text: str
    type: str
    statements: tuple[str, ...]
    documents: frozenset[str]


class _Line(Line):
    id: _Text
    question: _Text
    type: _Text
    answer: str | None = None
    statements: list[str] | None = None
    documents: Annotated[frozenset[_Text], Field(min_length=1)]


def read_document_questions(path: Path) -> tuple[DocumentQuestion, ...]:
    """Return the questions of a file in its order.

    Raises:
        IngestError: when the file cannot be read, holds no question, or a line is no question; the
            line is named.
    """
    read = read_lines(path, _Line)
    if not read:
        raise IngestError(f"The file {path} holds no question: one JSON object a line is expected.")

    found = []
    for line in read:
        said = (*(line.statements or ()), *([line.answer] if line.answer else ()))
        found.append(DocumentQuestion(line.id, line.question, line.type, said, line.documents))

    return tuple(found)
