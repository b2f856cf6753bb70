"""Questions about a folder of documents, each with the documents that hold its answer.

A line is `{"id", "question", "type", "answer" | "statements", "documents"}`. `documents` are paths
below the folder, `statements` the sentences that an answer consists of (or one `answer`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from drift.core.errors import IngestError
from drift.local.evals.lines import Line, read_lines

_Text = Annotated[str, Field(min_length=1)]


class DocumentQuestion(Line):
    """A question, the documents that hold its answer, and what that answer says."""

    id: _Text
    text: Annotated[str, Field(min_length=1, alias="question")]
    type: _Text
    documents: Annotated[frozenset[_Text], Field(min_length=1)]
    answer: str | None = None
    statements: tuple[str, ...] | None = None

    @property
    def said(self) -> tuple[str, ...]:
        """The statements of the answer."""
        return (*(self.statements or ()), *([self.answer] if self.answer else ()))


def read_document_questions(path: Path) -> list[DocumentQuestion]:
    """Return the questions of a file in its order.

    Raises:
        IngestError: when the file cannot be read, holds no question, or a line is no question; the
            line is named.
    """
    questions = read_lines(path, DocumentQuestion)
    if not questions:
        raise IngestError(f"The file {path} holds no question: one JSON object a line is expected.")
    return questions
