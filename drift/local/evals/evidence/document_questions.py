"""Questions about a folder of documents, each with the documents that hold its answer.

A line is `{"id", "question", "type", "answer" | "statements", "documents"}`. `documents` are paths
below the folder, `statements` the sentences that an answer consists of (or one `answer`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from drift.core.errors import IngestError

_Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class DocumentQuestion:
    """A question, the documents that hold its answer, and the statements of that answer."""

    id: str
    text: str
    type: str
    statements: tuple[str, ...]
    documents: frozenset[str]


class _Line(BaseModel):
    id: _Text
    question: _Text
    type: _Text
    answer: str | None = None
    statements: list[str] | None = None
    documents: Annotated[list[_Text], Field(min_length=1)]


def read_document_questions(path: Path) -> tuple[DocumentQuestion, ...]:
    """Return the questions of a file in its order.

    Raises:
        IngestError: when the file cannot be read, holds no question, or a line is no question; the
            line is named.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise IngestError(f"The questions {path} cannot be read: {error}.") from error

    found = tuple(
        _question(path, number, line) for number, line in enumerate(lines, 1) if line.strip()
    )
    if not found:
        raise IngestError(f"The file {path} holds no question: one JSON object a line is expected.")
    return found


def _question(path: Path, number: int, line: str) -> DocumentQuestion:
    try:
        read = _Line.model_validate(json.loads(line))
    except (json.JSONDecodeError, ValidationError) as error:
        reason = " ".join(str(error).split())
        raise IngestError(f"Line {number} of {path} is no question: {reason}.") from error

    statements = [*(read.statements or ()), *([read.answer] if read.answer else ())]
    return DocumentQuestion(
        read.id, read.question, read.type, tuple(statements), frozenset(read.documents)
    )
