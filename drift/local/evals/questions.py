"""Questions from disk, a JSON object a line, which is checked as it is read.

About a folder of documents: `{"id", "question", "type", "answer" | "statements", "documents"}`.
`documents` are paths below the folder, `statements` the sentences that an answer consists of (or
one `answer`).

A labelled set is a folder with `documents.jsonl` {id, title, text}, `questions.jsonl` {id,
question, supporting_ids, decomposition?} and either `triples.jsonl` {id, entities, triples} or
`heuristic_entities.jsonl` {id, entities}, all keyed by the passage's id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from drift.core.errors import IngestError
from drift.core.names import normalised_title

DOCUMENTS, QUESTIONS = "documents.jsonl", "questions.jsonl"
_STEP = re.compile(r"#(\d+)")

Triple = tuple[str, str, str]
_Text = Annotated[str, Field(min_length=1)]


class JsonLine(BaseModel):
    """A line; ids and answers may be numbers."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


Shape = TypeVar("Shape", bound=JsonLine)


def read_lines(path: Path, shape: type[Shape]) -> list[Shape]:
    """Return the lines of a file in its order; empty ones are left out.

    Raises:
        IngestError: when the file cannot be read, or a line is not of this shape; it is named.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise IngestError(f"{path} cannot be read: {error}.") from error

    read = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                read.append(shape.model_validate_json(line))
        except ValidationError as error:
            reason = " ".join(str(error).split())
            raise IngestError(f"{path}, line {number}: {reason}.") from error

    return read


# ------------------------------------------------------------------------- about people's documents
class DocumentQuestion(JsonLine):
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


# ---------------------------------------------------------------------------------- labelled sets
@dataclass(frozen=True, slots=True)
class LabelledPassage:
    """A passage.

    `entities` are titles of what it mentions; `triples` say what it says, as (subject, predicate,
    object).
    """

    id: str
    title: str
    text: str
    entities: tuple[str, ...]
    triples: tuple[Triple, ...]


class _Step(JsonLine):
    question: str
    answer: str


class LabelledQuestion(JsonLine):
    """A question, the ids of what answers it, and its sub-questions with their answers."""

    id: str
    text: str = Field(alias="question")
    supporting: frozenset[str] = Field(alias="supporting_ids")
    decomposition: list[_Step] | None = None

    @property
    def steps(self) -> list[str]:
        """The sub-questions, with earlier answers in."""
        steps = self.decomposition or []
        answers = {str(place): step.answer for place, step in enumerate(steps, start=1)}
        return [
            _STEP.sub(lambda match: answers.get(match[1], match[0]), step.question)
            for step in steps
        ]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """One folder."""

    name: str
    passages: tuple[LabelledPassage, ...]
    questions: tuple[LabelledQuestion, ...]


class _PassageLine(JsonLine):
    id: str
    title: str
    text: str


class _Mentions(JsonLine):
    id: str
    entities: tuple[str, ...] = ()
    triples: list[list[Any]] | None = None


def read_question_sets(folder: Path) -> tuple[QuestionSet, ...]:
    """Return every set below the folder, by name.

    Raises:
        IngestError: when the folder holds no set, or a file is not as described; it names the file
            and the line.
    """
    folders = sorted(path.parent for path in folder.glob(f"*/{QUESTIONS}"))
    if not folders:
        raise IngestError(
            f"{folder} holds no question set: expected folders with {DOCUMENTS} and {QUESTIONS}."
        )
    return tuple(_read_set(path) for path in folders)


def _read_set(folder: Path) -> QuestionSet:
    stated = folder / "triples.jsonl"
    mentioned = stated if stated.exists() else folder / "heuristic_entities.jsonl"
    mentions = {one.id: one for one in read_lines(mentioned, _Mentions)}

    documents = read_lines(folder / DOCUMENTS, _PassageLine)
    passages = [_passage(one, mentions.get(one.id, _Mentions(id=one.id))) for one in documents]
    questions = read_lines(folder / QUESTIONS, LabelledQuestion)
    return QuestionSet(folder.name, tuple(passages), tuple(questions))


def _passage(document: _PassageLine, mentions: _Mentions) -> LabelledPassage:
    """Join a passage with what was found in it; a triple of other than three texts is left out."""
    triples = list(_about_title(document.title, mentions.entities))
    if mentions.triples is not None:
        triples = list(_whole(mentions.triples))

    ends = [end for subject, _, object_ in triples for end in (subject, object_)]
    names = [name for name in (*ends, *mentions.entities) if normalised_title(name)]
    titles = {normalised_title(name): name for name in reversed(names)}
    entities = tuple(reversed(titles.values()))

    return LabelledPassage(document.id, document.title, document.text, entities, tuple(triples))


def _whole(stated: Sequence[list[Any]]) -> Iterator[Triple]:
    for triple in stated:
        match triple:
            case [subject, predicate, object_] if all(triple):
                yield str(subject), str(predicate), str(object_)


def _about_title(title: str, mentioned: Sequence[str]) -> Iterator[Triple]:
    """Yield triples for a passage without any: its title has to do with all that it mentions."""
    for other in mentioned:
        if normalised_title(other) != normalised_title(title):
            yield title, "has to do with", other
