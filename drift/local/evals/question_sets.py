"""Question sets from disk: passages, what they mention, and questions with what supports them.

A set is a folder with `documents.jsonl` {id, title, text}, `questions.jsonl` {id, question,
supporting_ids, decomposition?} and either `triples.jsonl` {id, entities, triples} or
`heuristic_entities.jsonl` {id, entities}, all keyed by the passage's id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from drift.core.errors import IngestError
from drift.core.names import normalised_title
from drift.local.evals.lines import Line, read_lines

DOCUMENTS, QUESTIONS = "documents.jsonl", "questions.jsonl"
_STEP = re.compile(r"#(\d+)")

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage.

    `entities` are titles of what it mentions; `triples` say what it says, as (subject, predicate,
    object).
    """

    id: str
    title: str
    text: str
    entities: tuple[str, ...]
    triples: tuple[Triple, ...]


class _Step(Line):
    question: str
    answer: str


class LabelledQuestion(Line):
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
    passages: tuple[Passage, ...]
    questions: tuple[LabelledQuestion, ...]


class _Document(Line):
    id: str
    title: str
    text: str


class _Mentions(Line):
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

    documents = read_lines(folder / DOCUMENTS, _Document)
    passages = [_passage(one, mentions.get(one.id, _Mentions(id=one.id))) for one in documents]
    questions = read_lines(folder / QUESTIONS, LabelledQuestion)
    return QuestionSet(folder.name, tuple(passages), tuple(questions))


def _passage(document: _Document, mentions: _Mentions) -> Passage:
    """Join a passage with what was found in it; a triple of other than three texts is left out."""
    triples = list(_about_title(document.title, mentions.entities))
    if mentions.triples is not None:
        triples = list(_whole(mentions.triples))

    ends = [end for subject, _, object_ in triples for end in (subject, object_)]
    names = [name for name in (*ends, *mentions.entities) if normalised_title(name)]
    titles = {normalised_title(name): name for name in reversed(names)}
    entities = tuple(reversed(titles.values()))

    return Passage(document.id, document.title, document.text, entities, tuple(triples))


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
